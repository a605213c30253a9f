"""Outputs and weights of the layers against loops over NumPy numbers."""

import keras
import numpy as np
import numpy_loops as loops
import pytest
from numpy_loops import TQ, TV, B, D, U

from attention_by_hand.layers import AdditiveAttention, DotProductAttention

VALUE_MASK = np.array([[True, True, False, True, False], [False, True, True, True, True]])
QUERY_MASK = np.array([[True, False, True], [True, True, False]])
ATTENTION_MASK = np.array(
    [
        [[1, 0, 1, 1, 0], [0, 0, 1, 1, 1], [1, 1, 1, 0, 0]],
        [[0, 1, 0, 1, 1], [1, 1, 0, 0, 0], [0, 1, 1, 1, 0]],
    ],
    bool,
)


def close(ours, expected):
    np.testing.assert_allclose(keras.ops.convert_to_numpy(ours), expected, rtol=1e-5, atol=1e-5)


def built(layer, rng, key_width=D):
    """The layer with random weights, and those weights as float64 arrays."""
    layer.build((B, TQ, D), (B, TV, loops.DV), (B, TV, key_width))
    return [w.astype("float64") for w in loops.randomise(layer, rng)]


def check(layer, scores, query, value, key):
    output, weights = layer(query, value, key, return_attention_scores=True)
    expected_output, expected_weights = loops.attend(scores, value)
    close(output, expected_output)
    close(weights, expected_weights)


def test_additive_score_of_keras_is_a_sum_of_tanh(rng):
    query, value, key = loops.inputs(rng)
    layer = AdditiveAttention(use_scale=False)
    check(layer, loops.additive_scores(query, key), query, value, key)


def test_additive_scale_weights_each_feature(rng):
    query, value, key = loops.inputs(rng)
    layer = AdditiveAttention()
    (scale,) = built(layer, rng)
    check(layer, loops.additive_scores(query, key, scale), query, value, key)


def test_additive_with_units_is_the_score_of_the_paper(rng):
    query, value, key = loops.inputs(rng, key_width=D + 5)
    layer = AdditiveAttention(units=U)
    query_kernel, key_kernel, scale = built(layer, rng, key_width=D + 5)
    check(layer, loops.additive_scores(query, key, scale, query_kernel, key_kernel), query, value, key)


def test_paper_score_with_identity_kernels_is_the_score_of_keras(rng):
    query, value, key = loops.inputs(rng)
    layer = AdditiveAttention(units=D)
    layer.build(query.shape, value.shape, key.shape)
    scale = loops.normal(rng, D)
    layer.set_weights([np.eye(D), np.eye(D), scale])
    check(layer, loops.additive_scores(query, key, scale), query, value, key)


@pytest.mark.parametrize(("scale", "factor"), [(None, 1.0), ("sqrt", D**-0.5), (0.7, 0.7), (2, 2.0)])
def test_dot_product_is_scaled_once(rng, scale, factor):
    query, value, key = loops.inputs(rng)
    check(DotProductAttention(scale), loops.dot_scores(query, key, factor), query, value, key)


def test_learned_scale_starts_at_one(rng):
    query, value, key = loops.inputs(rng)
    check(DotProductAttention("learned"), loops.dot_scores(query, key), query, value, key)


def test_learned_scale_multiplies_the_product(rng):
    query, value, key = loops.inputs(rng)
    layer = DotProductAttention("learned")
    (scale,) = built(layer, rng)
    check(layer, loops.dot_scores(query, key, scale), query, value, key)


@pytest.mark.parametrize(("scale", "factor"), [(None, 1.0), ("sqrt", D**-0.5)])
def test_general_score_joins_query_and_key_of_different_width_by_a_kernel(rng, scale, factor):
    query, value, key = loops.inputs(rng, key_width=D + 5)
    layer = DotProductAttention(scale, score_mode="general")
    (kernel,) = built(layer, rng, key_width=D + 5)
    check(layer, loops.dot_scores(query, key, factor, kernel), query, value, key)


@pytest.mark.parametrize("scale", [None, 0.7])
def test_concat_without_units_is_a_sum_inside_tanh(rng, scale):
    query, value, key = loops.inputs(rng)
    layer = DotProductAttention(scale, score_mode="concat")
    (weight,) = built(layer, rng)
    check(layer, loops.concat_scores(query, key, weight, scale or 1.0), query, value, key)


def test_concat_scales_inside_the_tanh(rng):
    query, value, key = loops.inputs(rng)
    layer = DotProductAttention("learned", score_mode="concat")
    scale, weight = built(layer, rng)
    check(layer, loops.concat_scores(query, key, weight, scale), query, value, key)


def test_concat_with_units_is_the_score_of_luong(rng):
    query, value, key = loops.inputs(rng, key_width=D + 5)
    layer = DotProductAttention(score_mode="concat", units=U)
    kernel, weight = built(layer, rng, key_width=D + 5)
    check(layer, loops.concat_scores(query, key, weight, 1.0, kernel), query, value, key)


def test_values_serve_as_keys_when_no_key_is_given(rng):
    query, value = loops.inputs(rng, with_key=False)
    output = DotProductAttention()(query, value)
    close(output, loops.attend(loops.dot_scores(query, value), value)[0])


MASKS = {
    "value": ({"value_mask": VALUE_MASK}, VALUE_MASK[:, None, :]),
    "attention": ({"attention_mask": ATTENTION_MASK}, ATTENTION_MASK),
    "attention for the whole batch": ({"attention_mask": ATTENTION_MASK[0]}, ATTENTION_MASK[:1]),
    "attention for every query": ({"attention_mask": ATTENTION_MASK[:, :1]}, ATTENTION_MASK[:, :1]),
    "causal": ({"use_causal_mask": True}, loops.causal_mask(TQ, TV)),
    "all": (
        {"value_mask": VALUE_MASK, "attention_mask": ATTENTION_MASK, "use_causal_mask": True},
        VALUE_MASK[:, None, :] & ATTENTION_MASK & loops.causal_mask(TQ, TV),
    ),
}


@pytest.mark.parametrize("name", MASKS)
def test_mask_hides_exactly_the_false_positions(rng, name):
    query, value, key = loops.inputs(rng)
    given, mask = MASKS[name]
    output, weights = DotProductAttention()(query, value, key, return_attention_scores=True, **given)
    expected_output, expected_weights = loops.attend(loops.dot_scores(query, key), value, mask)
    close(output, expected_output)
    close(weights, expected_weights)
    hidden = ~np.broadcast_to(mask, (B, TQ, TV))
    assert (keras.ops.convert_to_numpy(weights)[hidden] == 0).all()


@pytest.mark.parametrize("kind", [AdditiveAttention, DotProductAttention])
def test_query_mask_zeroes_the_row(rng, kind):
    query, value, key = loops.inputs(rng)
    output = keras.ops.convert_to_numpy(kind()(query, value, key, query_mask=QUERY_MASK))
    assert (output[~QUERY_MASK] == 0).all()
    assert (np.abs(output[QUERY_MASK]) > 0).all()


def test_integer_mask_of_zeros_and_ones_is_a_mask(rng):
    query, value, key = loops.inputs(rng)
    output = DotProductAttention()(query, value, key, value_mask=VALUE_MASK.astype("int32"))
    close(output, loops.attend(loops.dot_scores(query, key), value, VALUE_MASK[:, None, :])[0])


def test_masked_score_of_ten_billion_gets_no_weight(rng):
    query, value, key = loops.inputs(rng)
    query[:, :, 0], key[0, 2, 0] = 1e5, 1e5  # the score of (0, :, 2) is 1e10, and it is masked
    weights = DotProductAttention()(query, value, key, value_mask=VALUE_MASK, return_attention_scores=True)[1]
    weights = keras.ops.convert_to_numpy(weights)
    assert (weights[0, :, 2] == 0).all()
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("kind", [AdditiveAttention, DotProductAttention])
def test_masked_score_of_ten_billion_gets_no_weight_under_the_causal_mask(rng, kind):
    query, value, key = loops.inputs(rng)
    query[:, :, 0], key[:, 4, 0] = 1e5, 1e5
    weights = kind()(query, value, key, use_causal_mask=True, return_attention_scores=True)[1]
    assert (keras.ops.convert_to_numpy(weights)[:, :, 4] == 0).all()


def test_visible_keys_with_very_low_scores_still_share_the_weight(rng):
    query, value, key = loops.inputs(rng)
    query[:, :, 0], key[:, :, 0] = 1e5, -1e5  # every score is about -1e10: below many a "minus infinity"
    weights = DotProductAttention()(query, value, key, value_mask=VALUE_MASK, return_attention_scores=True)[1]
    np.testing.assert_allclose(keras.ops.convert_to_numpy(weights).sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("kind", [AdditiveAttention, DotProductAttention])
def test_order_of_keys_does_not_change_the_output(rng, kind):
    query, value, key = loops.inputs(rng)
    order = rng.permutation(TV)
    layer = kind()
    output = layer(query, value, key, value_mask=VALUE_MASK)
    shuffled = layer(query, value[:, order], key[:, order], value_mask=VALUE_MASK[:, order])
    close(output, keras.ops.convert_to_numpy(shuffled))
