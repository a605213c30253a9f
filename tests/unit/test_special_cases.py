"""Positions switched off leave Keras's MultiHeadAttention: the grid, and that a difference would be noticed."""

import numpy as np
import pytest

from attention_by_hand import parity
from attention_by_hand.parity import special_cases
from attention_by_hand.parity.special_cases import KINDS, LENGTHS, MASKS, SHARED


def test_each_special_case_equals_the_built_in_over_the_whole_grid():
    table = parity.run_special_cases()
    print(table)
    table.check()
    assert table.cases == len(parity.special_case_grid()) == len(KINDS) * len(LENGTHS) * len(MASKS) == 48
    assert len(table.groups) == len(KINDS)


def test_quick_run_holds_every_kind_with_padding_and_with_both_masks():
    table = parity.run_special_cases(quick=True).check()
    assert [len(group) for group in table.groups.values()] == [2] * len(KINDS)


def test_outputs_weights_and_gradients_by_inputs_and_shared_weights_are_compared():
    found = parity.compare_special_case(parity.special_case_grid()[1]).differences
    assert {"output", "weights", "d/d query", "d/d value"} <= set(found)
    assert len([name for name in found if name.startswith("d/d weight")]) == SHARED


@pytest.mark.parametrize("kind", ["shaw", "huang", "rotary"])
def test_positions_that_stay_on_are_noticed(kind):
    case = next(c for c in parity.special_case_grid() if c.kind == kind and c.mask == "causal+padding")
    result = parity.compare_special_case(case, switched_off=False)
    assert not result.ok and result.differences["weights"] > 1e-3


def test_slopes_that_are_not_zero_are_noticed(monkeypatch):
    layer, _, switch = KINDS["alibi"]
    monkeypatch.setitem(KINDS, "alibi", (layer, {}, switch))
    case = next(c for c in parity.special_case_grid() if c.kind == "alibi")
    result = parity.compare_special_case(case)
    assert not result.ok and result.differences["weights"] > 1e-3


@pytest.mark.parametrize("part", [0, 2, 5, 7])
def test_a_changed_weight_is_noticed(part, monkeypatch):
    original = special_cases.SpecialCase.layers

    def spoiled(case, shapes, switched_off=True):
        ours, builtin = original(case, shapes, switched_off)
        arrays = builtin.get_weights()
        arrays[part] = arrays[part] + 0.01 * np.random.default_rng(part).normal(size=arrays[part].shape)
        builtin.set_weights(arrays)
        return ours, builtin

    monkeypatch.setattr(special_cases.SpecialCase, "layers", spoiled)
    assert not parity.compare_special_case(parity.special_case_grid()[0]).ok


def test_masks_of_the_grid_hide_something_and_leave_every_query_a_key():
    for case in parity.special_case_grid():
        _, masks = case.data()
        if masks["value_mask"] is not None:
            assert masks["value_mask"][:, 0].all()
        assert (masks["value_mask"] is not None) == ("padding" in case.mask)
        assert masks["use_causal_mask"] == ("causal" in case.mask)
    hidden = [~c.data()[1]["value_mask"] for c in parity.special_case_grid() if "padding" in c.mask]
    assert sum(h.any() for h in hidden) > 0.8 * len(hidden)
