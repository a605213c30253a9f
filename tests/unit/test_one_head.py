"""Self-attention is one head of Keras's MultiHeadAttention; the comparison that says so can fail."""

import numpy as np
import pytest

import attention_by_hand as abh
from attention_by_hand.parity import one_head as module


def pair(seed=0, **options):
    """Our layer and Keras's with the same weights, and an input of distinct sizes."""
    x = np.random.default_rng(seed).normal(size=(2, 5, 7)).astype("float32")
    ours = abh.layers.SelfAttention(3, value_dim=4, **options)
    ours.build(x.shape)
    abh.parity.draw_weights(ours, np.random.default_rng(seed))
    builtin = abh.parity.one_head_builtin(ours)
    module.copy_to_builtin(ours, builtin)
    return ours, builtin, x


def test_all_ninety_cases_agree():
    table = abh.parity.run_one_head()
    assert table.check().cases == 90
    assert set(table.groups) == {label for label in table.groups if "value_dim" in label} and len(table.groups) == 6


def test_the_quick_run_has_all_sizes_different():
    table = abh.parity.run_one_head(quick=True)
    assert table.check().cases == 15
    sizes = (module.BATCH, module.LENGTH, module.WIDTH, module.KEY_DIM, module.VALUE_DIMS[-1])
    assert len(set(sizes)) == 5 and all("value_dim=4" in label for label in table.groups)


@pytest.mark.parametrize("place", range(6))
def test_a_weight_that_differs_is_noticed(place):
    ours, builtin, x = pair(use_bias=True)
    weights = ours.get_weights()
    weights[place] = weights[place] + 0.1
    ours.set_weights(weights)
    found = module.compare_one_head(ours, builtin, x)
    # A bias of the keys shifts a whole row of scores, which no softmax notices: only its kernel's copy can differ.
    assert found.ok == (place == 3)


def test_a_mask_that_only_one_of_them_sees_is_noticed():
    ours, builtin, x = pair()
    padding = np.array([[True] * 4 + [False], [True] * 3 + [False] * 2])
    assert module.compare_one_head(ours, builtin, x, padding).ok
    call = ours.call
    ours.call = lambda *args, mask=None, **kwargs: call(*args, mask=~mask, **kwargs)
    assert not module.compare_one_head(ours, builtin, x, padding).ok


def test_another_scale_is_noticed():
    ours, builtin, x = pair()
    ours.attention.scale = 1.0
    found = module.compare_one_head(ours, builtin, x)
    assert not found.ok and any(text.startswith("weights") for text in found.mismatches)
