"""The functions of `masks`, each against a loop over plain numbers: shapes, polarity, corners, bad input."""

import inspect

import keras
import numpy as np
import pytest
from keras import ops

from attention_by_hand import masks
from attention_by_hand.backend import to_numpy

B, TQ, TV = 3, 4, 6
LONGER_AND_SHORTER = [(4, 6), (6, 4), (5, 5), (1, 3), (3, 1)]


def loop(shape, rule):
    """A boolean array of a rule about indices."""
    out = np.zeros(shape, bool)
    for index in np.ndindex(*shape):
        out[index] = rule(*index)
    return out


def is_boolean(tensor):
    return keras.backend.standardize_dtype(tensor.dtype) == "bool"


@pytest.mark.parametrize(("query_length", "key_length"), LONGER_AND_SHORTER)
def test_causal_lets_a_query_see_itself_and_earlier_keys(query_length, key_length):
    mask = masks.causal(query_length, key_length)
    assert is_boolean(mask)
    np.testing.assert_array_equal(to_numpy(mask), loop((1, query_length, key_length), lambda _, i, j: j <= i))


def test_causal_without_a_key_length_is_square():
    np.testing.assert_array_equal(to_numpy(masks.causal(5)), to_numpy(masks.causal(5, 5)))


@pytest.mark.parametrize("window", [1, 2, 3, 99])
@pytest.mark.parametrize(("query_length", "key_length"), LONGER_AND_SHORTER)
def test_sliding_window_lets_a_query_see_its_neighbours_on_both_sides(query_length, key_length, window):
    mask = masks.sliding_window(query_length, key_length, window=window)
    assert is_boolean(mask)
    expected = loop((1, query_length, key_length), lambda _, i, j: max(i - j, j - i) < window)
    np.testing.assert_array_equal(to_numpy(mask), expected)


@pytest.mark.skipif(
    "sliding_window" not in inspect.signature(keras.layers.MultiHeadAttention.__init__).parameters,
    reason="not in this Keras",
)
def test_sliding_window_is_the_band_of_the_built_in(rng):
    x = rng.normal(size=(B, TV, 5)).astype("float32")
    builtin = keras.layers.MultiHeadAttention(1, 2, sliding_window=2)
    weights = to_numpy(builtin(x, x, return_attention_scores=True)[1])
    np.testing.assert_array_equal(weights[0, 0] > 0, to_numpy(masks.sliding_window(TV, window=2))[0])


@pytest.mark.parametrize("window", [0, -1])
def test_an_empty_window_is_refused(window):
    with pytest.raises(ValueError, match="window must be at least 1"):
        masks.sliding_window(4, window=window)


@pytest.mark.parametrize("pad", [0, 9])
def test_padding_is_false_exactly_where_the_pad_id_stands(rng, pad):
    ids = rng.choice([0, 1, 2, 9], size=(B, TV))
    mask = masks.padding(ids, pad=pad)
    assert is_boolean(mask)
    np.testing.assert_array_equal(to_numpy(mask), loop((B, TV), lambda b, t: ids[b, t] != pad))


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_from_lengths_marks_the_first_steps(dtype):
    lengths = np.array([0, 2, 6, 5], dtype)
    mask = masks.from_lengths(lengths, TV)
    assert is_boolean(mask)
    np.testing.assert_array_equal(to_numpy(mask), loop((4, TV), lambda b, t: t < int(lengths[b])))


@pytest.mark.parametrize("lengths", [np.array([[1, 2]]), np.array([1.0, 2.0]), np.array(3)])
def test_from_lengths_refuses_what_is_no_vector_of_integers(lengths):
    with pytest.raises(ValueError, match="lengths must be integers of shape"):
        masks.from_lengths(lengths, TV)


def test_combine_is_true_where_every_mask_is(rng):
    a, b, c = rng.random((B, 1, TV)) < 0.6, rng.random((1, TQ, TV)) < 0.6, rng.random((B, TQ, 1)) < 0.6
    mask = masks.combine(*(ops.convert_to_tensor(x) for x in (a, b, c)))
    expected = loop((B, TQ, TV), lambda n, i, j: a[n, 0, j] and b[0, i, j] and c[n, i, 0])
    assert is_boolean(mask)
    np.testing.assert_array_equal(to_numpy(mask), expected)


def test_combine_skips_none_and_of_nothing_makes_none(rng):
    a = ops.convert_to_tensor(rng.random((B, 1, TV)) < 0.6)
    np.testing.assert_array_equal(to_numpy(masks.combine(None, a, None)), to_numpy(a))
    assert masks.combine() is None
    assert masks.combine(None, None) is None


def test_score_mask_joins_padding_free_choice_and_causality(rng):
    query, value = np.zeros((B, TQ, 2), "float32"), np.zeros((B, TV, 5), "float32")
    keys, free = rng.random((B, TV)) < 0.7, rng.random((TQ, TV)) < 0.7
    mask = masks.score_mask(query, value, ops.convert_to_tensor(keys), ops.convert_to_tensor(free), True)
    expected = loop((B, TQ, TV), lambda n, i, j: keys[n, j] and free[i, j] and j <= i)
    np.testing.assert_array_equal(to_numpy(mask), expected)
    assert masks.score_mask(query, value) is None


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint8", "float32", "float16"])
def test_as_boolean_keeps_ones_and_zeros_of_any_dtype(rng, dtype):
    given = rng.random((B, TV)) < 0.5
    mask = masks.as_boolean(ops.convert_to_tensor(given.astype(dtype)), "m", {"(B, Tv)": (B, TV)})
    assert is_boolean(mask)
    np.testing.assert_array_equal(to_numpy(mask), loop((B, TV), lambda b, t: given[b, t] == 1))


def test_as_boolean_takes_lists_and_arrays_and_leaves_none_alone():
    mask = masks.as_boolean([[True, False, True]], "m", {"(B, Tv)": (1, 3)})
    np.testing.assert_array_equal(to_numpy(mask), [[True, False, True]])
    assert masks.as_boolean(None, "m", {"(B, Tv)": (1, 3)}) is None


@pytest.mark.parametrize("shape", [(B, TQ, TV), (1, TQ, TV), (B, 1, TV), (1, 1, TV), (TQ, TV)])
def test_as_boolean_accepts_what_broadcasts(shape):
    shapes = {"(B, Tq, Tv)": (B, TQ, TV), "(Tq, Tv)": (TQ, TV)}
    assert tuple(masks.as_boolean(np.ones(shape, bool), "m", shapes).shape) == shape


@pytest.mark.parametrize("shape", [(TV,), (B, TV), (B, TV, TQ), (B, TQ, TV, 1), (2, TQ, TV)])
def test_as_boolean_refuses_a_wrong_shape_and_says_which_is_right(shape):
    shapes = {"(B, Tq, Tv)": (B, TQ, TV), "(Tq, Tv)": (TQ, TV)}
    with pytest.raises(ValueError) as caught:
        masks.as_boolean(np.ones(shape, bool), "my_mask", shapes)
    for part in ("my_mask", str(shape), "(B, Tq, Tv)", "(Tq, Tv)"):
        assert part in str(caught.value)


@pytest.mark.parametrize("wrong", [-1e9, 2, 0.5, np.nan, -np.inf])
def test_as_boolean_refuses_an_additive_mask_and_names_the_number(wrong):
    mask = np.zeros((B, TV), "float32")
    mask[1, 2] = wrong
    with pytest.raises(ValueError, match="pass booleans, True = may attend") as caught:
        masks.as_boolean(ops.convert_to_tensor(mask), "value_mask", {"(B, Tv)": (B, TV)})
    assert "value_mask" in str(caught.value) and f"{np.float32(wrong)}" in str(caught.value)


def test_as_boolean_refuses_floats_that_cannot_be_seen_but_takes_symbolic_booleans_and_integers():
    shapes = {"(B, Tv)": (None, TV)}
    with pytest.raises(ValueError, match="cannot be seen while tracing"):
        masks.as_boolean(keras.KerasTensor((None, TV), "float32"), "m", shapes)
    for dtype in ("bool", "int32"):
        assert is_boolean(masks.as_boolean(keras.KerasTensor((None, TV), dtype), "m", shapes))


def test_masked_softmax_spreads_over_visible_keys_only(rng):
    scores = 3 * rng.normal(size=(B, TQ, TV)).astype("float32")
    mask = rng.random((B, TQ, TV)) < 0.6
    mask[0, 0] = False
    expected = np.zeros(scores.shape)
    for n, i, j in np.ndindex(*scores.shape):
        total = sum(np.exp(float(scores[n, i, s])) for s in range(TV) if mask[n, i, s])
        expected[n, i, j] = np.exp(float(scores[n, i, j])) / total if mask[n, i, j] else 0
    weights = to_numpy(masks.masked_softmax(ops.convert_to_tensor(scores), ops.convert_to_tensor(mask)))
    np.testing.assert_allclose(weights, expected, atol=1e-6)
    assert (weights[~mask] == 0).all()


def test_a_huge_hidden_score_gets_no_weight():
    scores = np.array([[[1e30, 0.0, 1.0]]], "float32")
    mask = np.array([[[False, True, True]]])
    weights = to_numpy(masks.masked_softmax(ops.convert_to_tensor(scores), ops.convert_to_tensor(mask)))
    assert weights[0, 0, 0] == 0
    np.testing.assert_allclose(weights[0, 0, 1:], [1 / (1 + np.e), np.e / (1 + np.e)], atol=1e-6)


def test_clear_sets_hidden_steps_to_zero_even_where_they_are_not_finite(rng):
    x = rng.normal(size=(B, TV, 2)).astype("float32")
    mask = rng.random((B, TV)) < 0.5
    bad = np.where(mask[..., None], x, np.nan).astype("float32")
    cleared = to_numpy(masks.clear(ops.convert_to_tensor(bad), ops.convert_to_tensor(mask)))
    expected = np.array([[x[b, t] if mask[b, t] else [0, 0] for t in range(TV)] for b in range(B)])
    np.testing.assert_array_equal(cleared, expected)
    assert masks.clear(x, None) is x
