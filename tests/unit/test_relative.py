"""Positions inside the score: what Shaw's tables, Huang's skewing, rotations and ALiBi's slopes each must do.

Values, masks and gradients against loops are in test_multi_head.py, for these layers too.
"""

import math

import keras
import multi_head_loops as by_hand
import numpy as np
import numpy_loops as loops
import pytest
from keras import ops
from multi_head_loops import KEY_DIM, VALUE_DIM, H
from numpy_loops import TV, B, D

from attention_by_hand import backend
from attention_by_hand.layers import (
    AlibiAttention,
    MultiHeadAttention,
    RelativePositionAttention,
    RotaryAttention,
    RotaryEmbedding,
    alibi_slopes,
    skew,
)
from attention_by_hand.layers.relative import clipped_distances

MASK = np.array([[True, True, True, False, True], [False, True, True, True, True]])


def close(ours, expected, atol=1e-5):
    np.testing.assert_allclose(backend.to_numpy(ours), expected, rtol=1e-5, atol=atol)


def same_as_plain(layer, rng, arrays):
    """Whether the layer with these weights is multi-head attention, with and without weights asked for."""
    x = by_hand.inputs(rng)
    layer.set_weights(arrays)
    plain = MultiHeadAttention(H, KEY_DIM, VALUE_DIM)
    expected_output, expected_weights = by_hand.attention(plain, arrays[:8], *x, MASK[:, None, None, :])
    output, weights = layer(*x, value_mask=MASK, return_attention_scores=True)
    close(output, expected_output)
    close(weights, expected_weights)
    close(layer(*x, value_mask=MASK), expected_output)


# Shaw et al. 2018


def test_distances_are_key_minus_query_clipped_and_shifted():
    for query_length, key_length, most in ((3, 6, 2), (6, 3, 4), (1, 5, 1), (4, 4, 9)):
        index = backend.to_numpy(clipped_distances(query_length, key_length, most))
        expected = [[by_hand.clipped(j - i, most) + most for j in range(key_length)] for i in range(query_length)]
        np.testing.assert_array_equal(index, expected)


@pytest.mark.parametrize("use_value_term", [True, False])
def test_tables_of_zeros_leave_multi_head_attention(rng, use_value_term):
    layer = RelativePositionAttention(H, KEY_DIM, 2, use_value_term, value_dim=VALUE_DIM)
    arrays = by_hand.built(layer, rng)
    assert [a.shape for a in arrays[8:]] == [(5, KEY_DIM), (5, VALUE_DIM)][: 2 if use_value_term else 1]
    same_as_plain(layer, rng, arrays[:8] + [0 * a for a in arrays[8:]])


def test_keys_beyond_the_largest_distance_count_as_equally_far(rng):
    layer = RelativePositionAttention(1, KEY_DIM, 1)
    x = np.repeat(loops.normal(rng, B, 1, D), 6, axis=1)  # the same vector everywhere: only positions differ
    layer.build(x.shape, x.shape)
    loops.randomise(layer, rng)
    weights = backend.to_numpy(layer(x, x, return_attention_scores=True)[1])[:, 0]
    np.testing.assert_allclose(weights[:, 3, :3], weights[:, 3, :1].repeat(3, axis=1), atol=1e-6)
    np.testing.assert_allclose(weights[:, 3, 4:], weights[:, 3, 4:5].repeat(2, axis=1), atol=1e-6)
    assert len(np.unique(weights[0, 3].round(5))) == 3  # left, the query itself, right


def test_one_row_of_the_value_table_acts_at_its_distance_only(rng):
    layer = RelativePositionAttention(H, KEY_DIM, 2)
    x = loops.normal(rng, B, TV, D)
    layer.build(x.shape, x.shape)
    arrays = loops.randomise(layer, rng)
    before = backend.to_numpy(layer(x, x))
    arrays[9][4] += 1.0  # distance +2 and more: keys at the right
    layer.set_weights(arrays)
    changed = (backend.to_numpy(layer(x, x)) != before).any(axis=-1)
    np.testing.assert_array_equal(changed, [[True] * (TV - 2) + [False] * 2] * B)


# Huang et al. 2018


@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (2, 4, 4), (2, 3, 6, 6)])
def test_skewing_is_gathering_at_and_below_the_diagonal(rng, shape):
    products = loops.normal(rng, *shape)
    skewed = backend.to_numpy(skew(ops.convert_to_tensor(products)))
    assert skewed.shape == shape
    for i in range(shape[-1]):
        for j in range(i + 1):
            np.testing.assert_array_equal(skewed[..., i, j], products[..., i, j - i + shape[-1] - 1])


class Skew(keras.layers.Layer):
    """Skewing as a layer of a model; Keras works out its shapes by tracing."""

    def call(self, products):
        return skew(products)


def test_skewing_works_where_sizes_are_not_known_before_it_runs(rng):
    products = keras.Input((2, None, None))
    model = keras.Model(products, Skew()(products))
    assert len(model.output_shape) == 4
    for batch, length in ((3, 4), (1, 7)):
        x = loops.normal(rng, batch, 2, length, length)
        result = model.predict_on_batch(x)
        for i in range(length):
            for j in range(i + 1):
                np.testing.assert_array_equal(result[..., i, j], x[..., i, j - i + length - 1])


def test_skewed_products_are_the_relative_term_of_causal_attention(rng):
    layer = RelativePositionAttention(H, KEY_DIM, TV, use_value_term=False, use_bias=False)
    x = loops.normal(rng, B, TV, D)
    layer.build(x.shape, x.shape)
    wq, wk, _, _, table = loops.randomise(layer, rng)
    weights = layer(x, x, use_causal_mask=True, return_attention_scores=True)[1]
    none = np.zeros((H, KEY_DIM))
    q, k = by_hand.heads(x, wq, none).swapaxes(1, 2), by_hand.heads(x, wk, none).swapaxes(1, 2)  # (B, H, T, d)
    products = q @ table[1 : TV + 1].T  # rows of the table for the distances −(T − 1) … 0
    scores = (q @ k.swapaxes(2, 3) + backend.to_numpy(skew(ops.convert_to_tensor(products)))) / math.sqrt(KEY_DIM)
    expected = [loops.attend(scores[:, h], x, loops.causal_mask(TV, TV))[1] for h in range(H)]
    close(weights, np.stack(expected, axis=1))


# Su et al. 2021


@pytest.mark.parametrize("shape", [(B, TV, 6), (B, TV, 3, 8)])
def test_rotation_turns_each_pair_by_its_angle(rng, shape):
    x = loops.normal(rng, *shape)
    output = backend.to_numpy(RotaryEmbedding(base=50.0)(x))
    for index in np.ndindex(*shape[:-1]):
        np.testing.assert_allclose(output[index], by_hand.rotated(x[index], index[1], 50.0), atol=1e-5)


def test_rotation_keeps_the_norm_and_leaves_position_zero(rng):
    x = loops.normal(rng, B, 50, 3, 8)
    output = backend.to_numpy(RotaryEmbedding()(x))
    np.testing.assert_allclose(np.linalg.norm(output, axis=-1), np.linalg.norm(x, axis=-1), rtol=1e-5)
    np.testing.assert_array_equal(output[:, 0], x[:, 0])
    assert (np.abs(output[:, 1:] - x[:, 1:]).max(axis=-1) > 1e-3).all()


def test_product_of_rotated_vectors_depends_on_their_distance_alone(rng):
    query, key = (loops.normal(rng, 1, 1, 8).repeat(12, axis=1) for _ in range(2))
    rotary = RotaryEmbedding()
    products = (backend.to_numpy(rotary(query)) @ backend.to_numpy(rotary(key)).swapaxes(1, 2))[0]  # (12, 12)
    for distance in range(-11, 12):
        diagonal = np.diagonal(products, distance)
        np.testing.assert_allclose(diagonal, diagonal[0], atol=1e-4)
    assert np.ptp(products[0]) > 0.1


@pytest.mark.parametrize("start", [3, "tensor"])
def test_rotation_can_start_at_a_later_position(rng, start):
    x = loops.normal(rng, B, 9, 4, 6)
    rotary = RotaryEmbedding()
    start = ops.convert_to_tensor(3, dtype="int32") if start == "tensor" else start
    close(rotary(x[:, 3:], start=start), backend.to_numpy(rotary(x))[:, 3:])


@pytest.mark.parametrize(("dtype", "band"), [("float16", 1e-3), ("bfloat16", 1e-2)])
def test_positions_beyond_what_half_precision_can_count_are_exact(rng, dtype, band):
    x = loops.normal(rng, 1, 3, 4)
    start = 2049  # not a float16, let alone a bfloat16; nor is 2051
    exact = np.stack([by_hand.rotated(x[0, t], start + t, 10000.0) for t in range(3)])
    rotary = RotaryEmbedding(dtype=dtype)
    output = rotary(ops.cast(ops.convert_to_tensor(x), dtype), start=start)
    assert keras.backend.standardize_dtype(output.dtype) == dtype
    np.testing.assert_allclose(backend.to_numpy(ops.cast(output, "float32"))[0], exact, atol=4 * band * np.abs(x).max())


def test_rotation_in_a_model_keeps_shape_mask_and_any_length(rng):
    tokens = keras.Input((None,), dtype="int32")
    embedding, rotary = keras.layers.Embedding(6, 8, mask_zero=True), RotaryEmbedding(base=20.0)
    model = keras.Model(tokens, rotary(embedding(tokens)))
    assert model.output_shape == (None, None, 8)
    for ids in (np.array([[1, 2, 0]]), np.array([[3, 0, 0, 1, 2], [1, 1, 1, 1, 1]])):
        x = backend.to_numpy(embedding(ids))
        expected = [[by_hand.rotated(x[b, t], t, 20.0) for t in range(ids.shape[1])] for b in range(len(ids))]
        np.testing.assert_allclose(model.predict_on_batch(ids), expected, atol=1e-5)
    mask = keras.src.backend.get_keras_mask(rotary(embedding(ids)))
    np.testing.assert_array_equal(backend.to_numpy(mask), ids != 0)
    assert RotaryEmbedding.from_config(rotary.get_config()).base == 20.0


def test_rotary_attention_sees_only_distances(rng):
    layer = RotaryAttention(H, KEY_DIM, base=30.0)
    x = np.repeat(loops.normal(rng, B, 1, D), 7, axis=1)  # the same vector everywhere: only positions differ
    layer.build(x.shape, x.shape)
    loops.randomise(layer, rng)
    weights = backend.to_numpy(layer(x, x, return_attention_scores=True)[1]).astype("float64")
    ratios = np.log(weights[..., 1:] / weights[..., :-1])  # differences of neighbouring scores
    np.testing.assert_allclose(ratios[..., 1:, 1:], ratios[..., :-1, :-1], atol=1e-4)
    assert np.ptp(ratios) > 1e-2


# Press et al. 2022


def test_slopes_are_those_of_the_paper():
    np.testing.assert_allclose(alibi_slopes(8), [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256])
    np.testing.assert_allclose(alibi_slopes(16)[:3], [2**-0.5, 2**-1.0, 2**-1.5])
    np.testing.assert_allclose(alibi_slopes(3), [2 ** (-8 * h / 3) for h in (1, 2, 3)])
    np.testing.assert_array_equal(AlibiAttention(5, KEY_DIM).slopes, alibi_slopes(5))


def test_slopes_of_zero_leave_multi_head_attention(rng):
    layer = AlibiAttention(H, KEY_DIM, slopes=[0.0] * H, value_dim=VALUE_DIM)
    same_as_plain(layer, rng, by_hand.built(layer, rng))


def test_each_head_has_its_own_slope(rng):
    slopes = [0.0, 0.5, 2.0]
    layer = AlibiAttention(3, KEY_DIM, slopes=slopes)
    x = np.repeat(loops.normal(rng, B, 1, D), 6, axis=1)
    layer.build(x.shape, x.shape)
    loops.randomise(layer, rng)
    weights = backend.to_numpy(layer(x, x, return_attention_scores=True)[1]).astype("float64")
    for h, i, j in np.ndindex(3, 6, 6):
        lost = np.log(weights[:, h, i, i] / weights[:, h, i, j])
        np.testing.assert_allclose(lost, slopes[h] * abs(i - j), atol=1e-4)


def test_alibi_has_no_weights_beyond_those_of_multi_head_attention():
    layer, plain = AlibiAttention(H, KEY_DIM), MultiHeadAttention(H, KEY_DIM)
    for one in (layer, plain):
        one.build(*by_hand.SHAPES)
    assert [tuple(w.shape) for w in layer.weights] == [tuple(w.shape) for w in plain.weights]


def test_a_rotary_embedding_says_that_it_was_built_for_another_width(rng):
    rotary = RotaryEmbedding()
    rotary(rng.normal(size=(1, 3, 4)).astype("float32"))
    with pytest.raises(ValueError, match="built for, 4; got 6"):
        rotary(rng.normal(size=(2, 5, 6)).astype("float32"))
