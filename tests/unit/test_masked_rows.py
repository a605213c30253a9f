"""Rows without a visible key, numbers in padding, half precision: zeros, never NaN, never a mean of padding."""

import keras
import numpy as np
import numpy_loops as loops
import pytest
from keras import ops
from numpy_loops import DV, TQ, TV, B, D

from attention_by_hand import backend, masks
from attention_by_hand.layers import AdditiveAttention, DotProductAttention

LAYERS = {
    "additive": AdditiveAttention,
    "additive units": lambda **options: AdditiveAttention(units=loops.U, **options),
    "dot": lambda **options: DotProductAttention("sqrt", **options),
    "general": lambda **options: DotProductAttention(score_mode="general", **options),
    "concat": lambda **options: DotProductAttention(score_mode="concat", **options),
}
DTYPES = ("float32", "float16", "bfloat16", "mixed_float16", "mixed_bfloat16", "float64")
NO_KEY = np.array([[False] * TV, [True, True, False, True, True]])  # the first sequence is all padding
BANDS = {"float16": 4e-3, "bfloat16": 4e-2, "mixed_float16": 4e-3, "mixed_bfloat16": 4e-2, "float64": 1e-5}


def gradients(layer, arrays, **options):
    """Gradients of Σ R ⊙ output by query, value, key and by the weights."""
    weighting = np.random.default_rng(3).normal(size=(B, TQ, DV)).astype("float32")

    def loss(query, value, key):
        output = layer(query, value, key, **options)
        return ops.sum(ops.cast(output, "float32") * ops.convert_to_tensor(weighting))

    tensors = [ops.cast(ops.convert_to_tensor(x), layer.compute_dtype) for x in arrays]
    return backend.value_and_grad(loss, tensors, layer.trainable_variables)[1:]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["additive", "dot"])
def test_row_without_a_visible_key_is_zero_in_every_dtype(rng, name, dtype):
    layer = LAYERS[name](dtype=dtype)
    output, weights = layer(*loops.inputs(rng), value_mask=NO_KEY, return_attention_scores=True)
    output, weights = (np.asarray(backend.to_numpy(ops.cast(x, "float32"))) for x in (output, weights))
    assert (weights[0] == 0).all()
    assert (output[0] == 0).all()
    assert (weights[1][:, 2] == 0).all()
    np.testing.assert_allclose(weights[1].sum(-1), 1, atol=2e-2 if "16" in dtype else 1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["additive", "dot"])
def test_row_without_a_visible_key_has_finite_gradients_in_every_dtype(rng, name, dtype):
    layer = LAYERS[name](dtype=dtype)
    arrays = loops.inputs(rng)
    layer.build(*(x.shape for x in arrays))
    loops.randomise(layer, rng)
    inputs, variables = gradients(layer, arrays, value_mask=NO_KEY)
    for gradient in (*inputs, *variables):
        assert np.isfinite(gradient.astype("float32")).all()
    for gradient in inputs:
        assert (gradient[0].astype("float32") == 0).all()
    assert (inputs[1][1, 0].astype("float32") != 0).all()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_left_padding_under_the_causal_mask_leaves_the_first_row_without_keys(rng, dtype):
    mask = np.array([[False, True, True, True, True], [True] * TV])
    layer = DotProductAttention(dtype=dtype)
    options = {"value_mask": mask, "use_causal_mask": True}
    output = ops.cast(layer(*loops.inputs(rng), **options), "float32")
    assert (backend.to_numpy(output)[0, 0] == 0).all()
    assert (backend.to_numpy(output)[0, 1] != 0).all()
    assert all(np.isfinite(g.astype("float32")).all() for g in gradients(layer, loops.inputs(rng), **options)[0])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["additive units", "dot", "concat"])
def test_numbers_in_padding_reach_neither_output_nor_gradients(rng, name, bad):
    value_mask, query_mask = loops.causal_mask(B, TV) | NO_KEY, np.array([[True, True, False], [True, False, True]])
    query, value, key = loops.inputs(rng)
    layer = LAYERS[name]()
    layer.build(query.shape, value.shape, key.shape)
    loops.randomise(layer, rng)
    options = {"value_mask": value_mask, "query_mask": query_mask}
    clean = backend.to_numpy(layer(query, value, key, **options))
    clean_gradients = gradients(layer, (query, value, key), **options)
    value[~value_mask], key[~value_mask], query[~query_mask] = bad, bad, bad
    np.testing.assert_array_equal(backend.to_numpy(layer(query, value, key, **options)), clean)
    for a, b in zip(gradients(layer, (query, value, key), **options), clean_gradients, strict=True):
        for gradient, expected in zip(a, b, strict=True):
            np.testing.assert_allclose(gradient, expected, atol=1e-6)


@pytest.mark.parametrize("dtype", BANDS)
@pytest.mark.parametrize("name", ["additive", "dot", "general"])
def test_half_precision_stays_near_the_float32_result(rng, name, dtype):
    query, value, key = loops.inputs(rng)
    mask = {"value_mask": NO_KEY | loops.causal_mask(B, TV)}
    exact, layer = LAYERS[name](), LAYERS[name](dtype=dtype)
    for one in (exact, layer):
        one.build(query.shape, value.shape, key.shape)
    layer.set_weights(loops.randomise(exact, rng))
    expected = backend.to_numpy(exact(query, value, key, **mask))
    output = layer(query, value, key, **mask)
    wanted = ops.convert_to_tensor(np.zeros(1), dtype=layer.compute_dtype).dtype  # float32 where jax has no float64
    assert output.dtype == wanted
    difference = np.abs(backend.to_numpy(ops.cast(output, "float32")) - expected).max()
    assert difference <= BANDS[dtype]


def test_scale_comes_before_the_product_so_that_float16_does_not_overflow():
    query, key = np.full((1, 2, 64), 60.0), np.full((1, 3, 64), 60.0)  # the product, 230400, is beyond float16
    key[:, 1] = -60.0
    layer = DotProductAttention("sqrt", dtype="float16")
    weights = layer(query, key, return_attention_scores=True)[1]
    np.testing.assert_allclose(backend.to_numpy(ops.cast(weights, "float32"))[0, 0], [0.5, 0.0, 0.5], atol=1e-3)


def test_softmax_of_half_precision_is_computed_in_float32():
    scores = np.linspace(0, 0.02, 3000).reshape(1, 1, 3000).astype("float32")  # steps that float16 sums would lose
    half = masks.masked_softmax(ops.cast(ops.convert_to_tensor(scores), "float16"))
    total = backend.to_numpy(ops.cast(half, "float32")).sum()
    assert keras.backend.standardize_dtype(half.dtype) == "float16"
    np.testing.assert_allclose(total, 1, atol=2e-3)


@pytest.mark.parametrize("kind", [AdditiveAttention, DotProductAttention])
def test_future_token_does_not_change_past_by_value(rng, kind):
    x = loops.normal(rng, B, TV, D)
    changed = x.copy()
    changed[:, 3:] += 1.0
    layer = kind()
    before = backend.to_numpy(layer(x, x, use_causal_mask=True))
    after = backend.to_numpy(layer(changed, changed, use_causal_mask=True))
    np.testing.assert_array_equal(before[:, :3], after[:, :3])
    assert (before[:, 3:] != after[:, 3:]).all()


@pytest.mark.parametrize("kind", [AdditiveAttention, DotProductAttention])
def test_future_token_does_not_change_past_by_gradient(rng, kind):
    layer = kind()
    x = loops.normal(rng, B, TV, D)
    for position in range(TV):

        def loss(x, position=position):
            return ops.sum(layer(x, x, use_causal_mask=True)[:, position] ** 2)

        gradient = backend.value_and_grad(loss, [x], layer.trainable_variables)[1][0]
        assert (gradient[:, position + 1 :] == 0).all()
        assert (gradient[:, : position + 1] != 0).any(axis=-1).all()


def test_causal_mask_is_aligned_at_the_top_left():
    for query_length, key_length in ((3, 5), (4, 2)):
        mask = backend.to_numpy(masks.causal(query_length, key_length))
        np.testing.assert_array_equal(mask[0], loops.causal_mask(query_length, key_length))


def test_implicit_mask_of_an_embedding_equals_the_explicit_one(rng):
    tokens = np.array([[3, 1, 0, 2, 0], [0, 4, 2, 1, 1]])
    embedding = keras.layers.Embedding(6, D, mask_zero=True)
    plain = keras.layers.Embedding(6, D)
    plain.build(tokens.shape)
    x = embedding(tokens)
    plain.set_weights([backend.to_numpy(embedding.weights[0])])
    layer = AdditiveAttention()
    implicit = layer(x, x)
    explicit = layer(plain(tokens), plain(tokens), query_mask=tokens != 0, value_mask=tokens != 0)
    np.testing.assert_array_equal(backend.to_numpy(implicit), backend.to_numpy(explicit))
    assert (backend.to_numpy(implicit)[tokens == 0] == 0).all()


def test_output_carries_the_mask_of_the_query():
    tokens = np.array([[3, 1, 0], [4, 0, 0]])
    values = np.array([[1, 2, 3, 4, 0], [1, 0, 0, 0, 0]])
    embedding = keras.layers.Embedding(6, D, mask_zero=True)
    output, weights = DotProductAttention()(embedding(tokens), embedding(values), return_attention_scores=True)
    np.testing.assert_array_equal(backend.to_numpy(keras.src.backend.get_keras_mask(output)), tokens != 0)
    assert keras.src.backend.get_keras_mask(weights) is None


def test_masked_tensor_can_be_read_by_two_layers():
    tokens = keras.Input((None,), dtype="int32")
    query = keras.Input((None, D))
    embedding = keras.layers.Embedding(6, D, mask_zero=True)
    memory = embedding(tokens)
    layers = [DotProductAttention("sqrt"), DotProductAttention("sqrt")]
    model = keras.Model([query, tokens], [layer(query, memory) for layer in layers])
    data = np.random.default_rng(0).normal(size=(B, TQ, D)).astype("float32"), np.array([[1, 2, 0, 0], [3, 0, 4, 0]])
    first, second = (backend.to_numpy(x) for x in model(data))
    np.testing.assert_array_equal(first, second)
    embedded = backend.to_numpy(embedding(data[1]))
    expected = loops.attend(loops.dot_scores(data[0], embedded, D**-0.5), embedded, (data[1] != 0)[:, None, :])[0]
    np.testing.assert_allclose(second, expected, atol=1e-5)
