"""Our GRU equals Keras's over the whole grid, and a difference would be noticed."""

import numpy as np
import pytest

from attention_by_hand import parity
from attention_by_hand.parity import recurrent


def test_the_gru_equals_the_built_in_over_the_whole_grid():
    table = parity.run_recurrent()
    print(table)
    table.check()
    assert table.cases == len(parity.recurrent_grid()) == 16
    assert len(table.groups) == 4


def test_quick_run_holds_both_directions_with_padding():
    table = parity.run_recurrent(quick=True).check()
    assert [len(group) for group in table.groups.values()] == [1, 1]


def test_outputs_last_state_and_gradients_by_inputs_start_and_weights_are_compared():
    case = next(c for c in parity.recurrent_grid() if c.started and c.bidirectional)
    found = parity.compare_recurrent(case).differences
    assert {"output", "output: last", "d/d query", "d/d key"} <= set(found)
    assert len([name for name in found if name.startswith("d/d weight")]) == 3


@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_changed_weight_is_noticed(part, bidirectional, monkeypatch):
    original = recurrent.RecurrentCase.layers

    def spoiled(case):
        ours, builtin = original(case)
        arrays = builtin.get_weights()
        at = part + 3 * bidirectional
        arrays[at] = arrays[at] + 0.01 * np.random.default_rng(part).normal(size=arrays[at].shape)
        builtin.set_weights(arrays)
        return ours, builtin

    monkeypatch.setattr(recurrent.RecurrentCase, "layers", spoiled)
    case = next(c for c in parity.recurrent_grid() if c.bidirectional == bidirectional and c.masks == "padding")
    result = parity.compare_recurrent(case)
    assert not result.ok and result.differences["output"] > 1e-4


def test_masks_of_the_grid_hide_something_and_leave_every_row_a_step():
    masks = [case.data()[1] for case in parity.recurrent_grid() if case.masks == "padding" and case.length > 1]
    assert all(mask.any(axis=1).all() for mask in masks)
    assert all((~mask).any() for mask in masks)
