"""Outputs, weights and gradients of multi-head attention and its variants against loops over NumPy numbers."""

import keras
import multi_head_loops as by_hand
import numpy as np
import numpy_loops as loops
import pytest
from keras import ops
from multi_head_loops import KEY_DIM, KEY_WIDTH, OUT, QUERY_MASK, VALUE_DIM, VALUE_MASK, VARIANTS, H
from numpy_loops import DV, TQ, TV, B, D

from attention_by_hand import backend
from attention_by_hand.layers import MultiHeadAttention, RotaryAttention

ATTENTION_MASK = np.random.default_rng(1).random((B, TQ, TV)) < 0.6
ATTENTION_MASK[:, :, 1] = True  # every query sees something
HEAD_MASK = np.random.default_rng(2).random((B, H, TQ, TV)) < 0.6
HEAD_MASK[:, :, :, 1] = True
EMPTY_ROWS = HEAD_MASK.copy()
EMPTY_ROWS[1, 2, 0], EMPTY_ROWS[0, :, 2] = False, False  # one head of one query, and one query in every head
MASKS = {  # call arguments, and the mask that they amount to
    "none": ({}, True),
    "value": ({"value_mask": VALUE_MASK}, VALUE_MASK[:, None, None, :]),
    "causal": ({"use_causal_mask": True}, loops.causal_mask(TQ, TV)),
    "attention": ({"attention_mask": ATTENTION_MASK}, ATTENTION_MASK[:, None]),
    "attention for the whole batch": ({"attention_mask": ATTENTION_MASK[0]}, ATTENTION_MASK[0]),
    "attention of a column of queries": ({"attention_mask": ATTENTION_MASK[:, :1]}, ATTENTION_MASK[:, None, :1]),
    "per head": ({"attention_mask": HEAD_MASK}, HEAD_MASK),
    "per head for the whole batch": ({"attention_mask": HEAD_MASK[:1]}, HEAD_MASK[:1]),
    "per head, with rows of nothing": ({"attention_mask": EMPTY_ROWS}, EMPTY_ROWS),
    "one for all heads": ({"attention_mask": HEAD_MASK[:, :1]}, HEAD_MASK[:, :1]),
    "all": (
        {"value_mask": VALUE_MASK, "attention_mask": HEAD_MASK, "use_causal_mask": True},
        VALUE_MASK[:, None, None, :] & HEAD_MASK & loops.causal_mask(TQ, TV),
    ),
}
OPTIONS = {
    "as it comes": {},
    "value_dim": {"value_dim": VALUE_DIM},
    "output_shape": {"output_shape": OUT},
    "no bias": {"use_bias": False, "value_dim": VALUE_DIM},
    "dropout": {"dropout": 0.4, "seed": 1},
}


def close(ours, expected, atol=1e-5):
    np.testing.assert_allclose(backend.to_numpy(ours), expected, rtol=1e-5, atol=atol)


def check_both_paths(layer, arrays, x, options, mask):
    """The call with and without weights against the loops."""
    expected_output, expected_weights = by_hand.attention(layer, arrays, *x, mask)
    output, weights = layer(*x, return_attention_scores=True, **options)
    close(output, expected_output)
    close(weights, expected_weights)
    hidden = ~np.broadcast_to(mask, weights.shape)
    assert (backend.to_numpy(weights)[hidden] == 0).all()
    close(layer(*x, **options), expected_output)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_equals_its_formula(rng, name):
    layer = VARIANTS[name](output_shape=OUT)
    arrays = by_hand.built(layer, rng)
    check_both_paths(layer, arrays, by_hand.inputs(rng), {}, True)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_obeys_all_masks_together(rng, name):
    layer = VARIANTS[name]()
    arrays = by_hand.built(layer, rng)
    check_both_paths(layer, arrays, by_hand.inputs(rng), *MASKS["all"])


@pytest.mark.parametrize("name", OPTIONS)
def test_options_of_multi_head_attention(rng, name):
    layer = MultiHeadAttention(H, KEY_DIM, **OPTIONS[name])
    arrays = by_hand.built(layer, rng)
    check_both_paths(layer, arrays, by_hand.inputs(rng), *MASKS["value"])


@pytest.mark.parametrize("name", MASKS)
def test_mask_hides_exactly_the_false_positions(rng, name):
    layer = MultiHeadAttention(H, KEY_DIM)
    arrays = by_hand.built(layer, rng)
    check_both_paths(layer, arrays, by_hand.inputs(rng), *MASKS[name])


def test_values_serve_as_keys_when_no_key_is_given(rng):
    layer = MultiHeadAttention(H, KEY_DIM)
    query, value, _ = by_hand.inputs(rng)
    arrays = by_hand.built(layer, rng, (query.shape, value.shape))
    close(layer(query, value), by_hand.attention(layer, arrays, query, value, value)[0])


@pytest.mark.parametrize("scored", [False, True])
@pytest.mark.parametrize("name", VARIANTS)
def test_query_mask_zeroes_the_row_and_leaves_the_others(rng, name, scored):
    layer = VARIANTS[name]()
    arrays = by_hand.built(layer, rng)
    x = by_hand.inputs(rng)
    output = layer(*x, query_mask=QUERY_MASK, return_attention_scores=scored)
    output = backend.to_numpy(output[0] if scored else output)
    assert (output[~QUERY_MASK] == 0).all()
    np.testing.assert_allclose(output[QUERY_MASK], by_hand.attention(layer, arrays, *x)[0][QUERY_MASK], atol=1e-5)


@pytest.mark.parametrize("name", VARIANTS)
def test_gradients_are_the_slopes_of_the_formula(rng, name):
    layer = VARIANTS[name]()
    x, arrays = by_hand.inputs(rng), by_hand.built(layer, rng)
    given, mask = MASKS["all"]
    weighting = rng.normal(size=(B, TQ, D))

    def loss(*tensors):
        return ops.sum(layer(*tensors, **given) * ops.convert_to_tensor(weighting.astype("float32")))

    gradients = backend.value_and_grad(loss, x, layer.trainable_variables)[1:]
    steps = [[rng.normal(size=a.shape) for a in group] for group in (x, arrays)]

    def moved(amount):
        moved_x, moved_arrays = (
            [a + amount * step for a, step in zip(group, direction, strict=True)]
            for group, direction in zip((x, arrays), steps, strict=True)
        )
        return np.sum(by_hand.attention(layer, moved_arrays, *moved_x, mask)[0] * weighting)

    slope = (moved(1e-5) - moved(-1e-5)) / 2e-5
    ours = sum(np.sum(g * s) for pair in zip(gradients, steps, strict=True) for g, s in zip(*pair, strict=True))
    np.testing.assert_allclose(ours, slope, rtol=1e-4, atol=1e-4)


def test_dropout_acts_in_training_only_and_on_the_weights_of_each_head(rng):
    layer = MultiHeadAttention(H, KEY_DIM, dropout=0.5, use_bias=False, seed=3)
    arrays = by_hand.built(layer, rng)
    x = by_hand.inputs(rng)
    expected_output, expected_weights = by_hand.attention(layer, arrays, *x)
    _, weights = layer(*x, return_attention_scores=True, training=True)
    close(weights, expected_weights)  # the returned weights are those before dropout
    close(layer(*x, training=False), expected_output)
    outputs = [backend.to_numpy(layer(*x, training=True)) for _ in range(60)]
    assert np.abs(outputs[0] - expected_output).max() > 1e-2
    share = np.sum(np.mean(outputs, axis=0) * expected_output) / np.sum(expected_output**2)
    np.testing.assert_allclose(share, 1, atol=0.1)  # the rest is divided by 1 - dropout: right on average


@pytest.mark.parametrize("name", VARIANTS)
def test_training_without_dropout_changes_nothing(rng, name):
    layer = VARIANTS[name]()
    arrays = by_hand.built(layer, rng)
    x = by_hand.inputs(rng)
    close(layer(*x, training=True), by_hand.attention(layer, arrays, *x)[0])


def test_order_of_keys_does_not_change_the_output(rng):
    layer = MultiHeadAttention(H, KEY_DIM)
    arrays = by_hand.built(layer, rng)
    query, value, key = by_hand.inputs(rng)
    order = rng.permutation(TV)
    expected = by_hand.attention(layer, arrays, query, value, key, VALUE_MASK[:, None, None, :])[0]
    close(layer(query, value[:, order], key[:, order], value_mask=VALUE_MASK[:, order]), expected)


def test_one_head_with_identity_projections_is_scaled_dot_product_attention(rng):
    layer = MultiHeadAttention(1, D, DV, use_bias=False, output_shape=DV)
    query, value, key = loops.inputs(rng)
    layer.build(query.shape, value.shape, key.shape)
    layer.set_weights([np.eye(D)[:, None], np.eye(D)[:, None], np.eye(DV)[:, None], np.eye(DV)[None]])
    output, weights = layer(query, value, key, return_attention_scores=True)
    expected_output, expected_weights = loops.attend(loops.dot_scores(query, key, D**-0.5), value)
    close(output, expected_output)
    close(weights, expected_weights[:, None])


def test_a_masked_key_gets_no_weight_however_large_its_score(rng):
    layer = MultiHeadAttention(1, D, use_bias=False)
    x = loops.normal(rng, B, TV, D)
    layer.build(x.shape, x.shape)
    layer.set_weights([np.eye(D)[:, None], np.eye(D)[:, None], np.eye(D)[:, None], np.eye(D)[None]])
    x[:, :, 0], mask = 1e5, np.arange(TV) < 3  # every score is about 5e9, before masking and after
    key = x.copy()
    key[:, 3:, 0] = 1e9
    output, weights = layer(x, x, key, value_mask=mask[None].repeat(B, axis=0), return_attention_scores=True)
    fused = layer(x, x, key, value_mask=mask[None].repeat(B, axis=0))
    assert (backend.to_numpy(weights)[..., 3:] == 0).all()
    np.testing.assert_allclose(backend.to_numpy(weights).sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(backend.to_numpy(output)[..., 0], 1e5, rtol=1e-5)
    np.testing.assert_allclose(backend.to_numpy(fused)[..., 0], 1e5, rtol=1e-5)


@pytest.mark.parametrize("kind", [MultiHeadAttention, RotaryAttention])
def test_a_masked_key_gets_no_weight_in_half_precision_either(rng, kind):
    """The masked score, 400 · 300 / √4 = 60000, is more above the visible ones, 0, than float16 masks subtract."""
    layer = kind(1, 4, use_bias=False, dtype="float16")
    query, value = loops.normal(rng, B, 1, 4), loops.normal(rng, B, 1 + TV, 4)
    layer.build(query.shape, value.shape)
    layer.set_weights([np.eye(4)[:, None], np.eye(4)[:, None], np.eye(4)[:, None], np.eye(4)[None]])
    key = np.zeros_like(value)
    query[..., 0], key[:, 0, 0], key[:, 1:, 0] = 400, 300, 0  # position 0 is not rotated
    mask = np.arange(1 + TV) > 0
    output = layer(query, value, key, attention_mask=mask[None])  # padding would have been cleared to 0
    expected = np.float16(value[:, 1:]).astype("float32").mean(axis=1, keepdims=True)  # visible keys score 0 each
    np.testing.assert_allclose(backend.to_numpy(output).astype("float32"), expected, atol=5e-3)


def test_weights_have_the_order_and_shapes_of_keras():
    options = {"value_dim": VALUE_DIM, "output_shape": OUT}
    for use_bias in (True, False):
        ours = MultiHeadAttention(H, KEY_DIM, use_bias=use_bias, **options)
        builtin = keras.layers.MultiHeadAttention(H, KEY_DIM, use_bias=use_bias, **options)
        ours.build(*by_hand.SHAPES)
        builtin.build(*by_hand.SHAPES)
        assert [tuple(w.shape) for w in ours.weights] == [tuple(w.shape) for w in builtin.weights]
        assert ours.count_params() == builtin.count_params()


@pytest.mark.parametrize("use_bias", [True, False])
def test_weights_can_be_exchanged_with_keras_in_both_directions(rng, use_bias):
    ours = MultiHeadAttention(H, KEY_DIM, use_bias=use_bias)
    builtin = keras.layers.MultiHeadAttention(H, KEY_DIM, use_bias=use_bias)
    x = by_hand.inputs(rng)
    arrays = by_hand.built(ours, rng)
    builtin.build(*by_hand.SHAPES)
    builtin.set_weights(ours.get_weights())
    close(builtin(*x), by_hand.attention(ours, arrays, *x)[0])
    arrays = [a.astype("float64") for a in loops.randomise(builtin, rng)]
    ours.set_weights(builtin.get_weights())
    close(ours(*x), backend.to_numpy(builtin(*x)))
    close(ours(*x), by_hand.attention(ours, arrays, *x)[0])


def test_parameters_are_counted_as_the_formula_says():
    layer = MultiHeadAttention(H, KEY_DIM, VALUE_DIM, output_shape=OUT)
    layer.build(*by_hand.SHAPES)
    kernels = D * H * KEY_DIM + KEY_WIDTH * H * KEY_DIM + DV * H * VALUE_DIM + H * VALUE_DIM * OUT
    assert layer.count_params() == kernels + 2 * H * KEY_DIM + H * VALUE_DIM + OUT
