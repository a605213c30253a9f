"""Self-attention with its three projections: against loops, and in models."""

import keras
import numpy as np
import numpy_loops as loops
import pytest
from keras import ops
from numpy_loops import TV, B, D

from attention_by_hand import backend
from attention_by_hand.layers import SelfAttention

KEY_DIM, VALUE_DIM, T = 8, 9, TV
PADDING = np.array([[True, True, False, True, False], [False, True, True, True, True]])
ATTENTION_MASK = np.random.default_rng(1).random((B, T, T)) < 0.6
MASKS = {  # call arguments, and the mask that they amount to
    "none": ({}, None),
    "padding": ({"mask": PADDING}, PADDING[:, None, :]),
    "causal": ({"use_causal_mask": True}, loops.causal_mask(T, T)),
    "attention": ({"attention_mask": ATTENTION_MASK}, ATTENTION_MASK),
    "attention for the whole batch": ({"attention_mask": ATTENTION_MASK[0]}, ATTENTION_MASK[:1]),
    "all": (
        {"mask": PADDING, "attention_mask": ATTENTION_MASK, "use_causal_mask": True},
        PADDING[:, None, :] & ATTENTION_MASK & loops.causal_mask(T, T),
    ),
}
OPTIONS = {
    "as it comes": {},
    "value_dim": {"value_dim": VALUE_DIM},
    "biases": {"value_dim": VALUE_DIM, "use_bias": True},
    "dropout": {"dropout": 0.4, "seed": 1},
}
JIT = "auto" if keras.backend.backend() == "torch" else True


def built(layer, rng):
    layer.build((B, T, D))
    return [array.astype("float64") for array in loops.randomise(layer, rng)]


def by_hand(layer, arrays, x, mask=None, query_mask=None):
    """What the layer must give: `(output, weights)`."""
    if layer.use_bias:
        q, k, v = (loops.project(x, arrays[i]) + arrays[i + 1] for i in (0, 2, 4))
    else:
        q, k, v = (loops.project(x, kernel) for kernel in arrays)
    return loops.attend(loops.dot_scores(q, k, q.shape[-1] ** -0.5), v, mask, query_mask)


def close(ours, expected):
    np.testing.assert_allclose(backend.to_numpy(ours), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("options", OPTIONS)
def test_output_and_weights_equal_the_formula(rng, options, name):
    layer, x = SelfAttention(KEY_DIM, **OPTIONS[options]), loops.normal(rng, B, T, D)
    arrays = built(layer, rng)
    given, mask = MASKS[name]
    expected_output, expected_weights = by_hand(layer, arrays, x, mask, given.get("mask"))
    output, weights = layer(x, return_attention_scores=True, **given)
    close(output, expected_output)
    visible = given.get("mask", np.ones((B, T), bool))
    close(backend.to_numpy(weights)[visible], expected_weights[visible])
    close(layer(x, **given), expected_output)


def test_padding_gets_no_weight_and_gives_no_output(rng):
    layer, x = SelfAttention(KEY_DIM, use_bias=True), loops.normal(rng, B, T, D)
    built(layer, rng)
    output, weights = (backend.to_numpy(y) for y in layer(x, mask=PADDING, return_attention_scores=True))
    assert (weights.swapaxes(1, 2)[~PADDING] == 0).all()
    assert (output[~PADDING] == 0).all() and (output[PADDING] != 0).all()


@pytest.mark.parametrize("use_bias", [False, True])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_in_padding_reach_neither_output_nor_gradients(rng, bad, use_bias):
    layer, x = SelfAttention(KEY_DIM, use_bias=use_bias), loops.normal(rng, B, T, D)
    built(layer, rng)

    def results(x):
        value, inputs, variables = backend.value_and_grad(
            lambda x: ops.sum(layer(x, mask=PADDING) ** 2), [x], layer.trainable_variables
        )
        return [np.array(value), *inputs, *variables]

    clean = results(x)
    x[~PADDING] = bad
    for ours, expected in zip(results(x), clean, strict=True):
        np.testing.assert_allclose(ours, expected, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "mixed_float16", "mixed_bfloat16"])
def test_sequence_of_padding_gives_zeros_and_finite_gradients(rng, dtype):
    layer, x = SelfAttention(KEY_DIM, dtype=dtype), loops.normal(rng, B, T, D)
    built(layer, rng)
    mask = np.array([[False] * T, [True] * T])
    output, weights = layer(x, mask=mask, return_attention_scores=True)
    output, weights = (backend.to_numpy(ops.cast(y, "float32")) for y in (output, weights))
    assert (output[0] == 0).all() and (weights[0] == 0).all() and (output[1] != 0).all()
    tensor = ops.cast(ops.convert_to_tensor(x), layer.compute_dtype)
    loss = lambda x: ops.sum(ops.cast(layer(x, mask=mask), "float32") ** 2)  # noqa: E731
    inputs, variables = backend.value_and_grad(loss, [tensor], layer.trainable_variables)[1:]
    assert all(np.isfinite(g.astype("float32")).all() for g in (*inputs, *variables))


def test_implicit_mask_equals_the_explicit_one_and_is_passed_on(rng):
    tokens = np.array([[3, 1, 0, 2, 0], [0, 4, 2, 1, 1]])
    x = keras.layers.Embedding(6, D, mask_zero=True)(tokens)
    layer = SelfAttention(KEY_DIM)
    output = layer(x)
    arrays = [array.astype("float64") for array in layer.get_weights()]
    close(output, by_hand(layer, arrays, backend.to_numpy(x), (tokens != 0)[:, None, :], tokens != 0)[0])
    np.testing.assert_array_equal(backend.to_numpy(keras.src.backend.get_keras_mask(output)), tokens != 0)


@pytest.mark.parametrize("options", OPTIONS)
def test_saved_model_gives_the_same_bits_and_the_same_configuration(rng, tmp_path, options):
    layer = SelfAttention(KEY_DIM, name="look", **OPTIONS[options])
    x, mask = keras.Input((None, D)), keras.Input((None,), dtype="bool")
    model = keras.Model([x, mask], list(layer(x, mask, return_attention_scores=True)))
    loops.randomise(layer, rng)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    data = [loops.normal(rng, B, T, D), PADDING]
    for before, after in zip(model(data), loaded(data), strict=True):
        np.testing.assert_array_equal(backend.to_numpy(before), backend.to_numpy(after))
    again = loaded.get_layer("look")
    assert again.get_config() == layer.get_config()
    for name, value in OPTIONS[options].items():
        assert again.get_config()[name] == value


def test_one_compiled_model_runs_and_learns_at_any_length_and_batch(rng):
    layer = SelfAttention(KEY_DIM, VALUE_DIM)
    x, mask = keras.Input((None, D)), keras.Input((None,), dtype="bool")
    output, weights = layer(x, mask, use_causal_mask=True, return_attention_scores=True)
    assert (output.shape, weights.shape) == ((None, None, VALUE_DIM), (None, None, None))
    assert layer.compute_output_shape((B, T, D)) == (B, T, VALUE_DIM)
    model = keras.Model([x, mask], output)
    model.compile("sgd", "mse", jit_compile=JIT)
    for batch, length in ((2, 5), (3, 1), (1, 7)):
        data = loops.normal(rng, batch, length, D)
        visible = rng.random((batch, length)) < 0.7
        arrays = [array.astype("float64") for array in layer.get_weights()]
        expected = by_hand(layer, arrays, data, visible[:, None, :] & loops.causal_mask(length, length), visible)[0]
        close(model.predict_on_batch([data, visible]), expected)
        model.reset_metrics()  # an older Keras gives the mean over all calls since
        loss = model.train_on_batch([data, visible], np.ones((batch, length, VALUE_DIM), "float32"))
        np.testing.assert_allclose(loss, np.mean((expected - 1) ** 2), rtol=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"key_dim": 0}, "key_dim must be a positive integer; got 0"),
        ({"key_dim": 3, "value_dim": 2.5}, "value_dim must be a positive integer; got 2.5"),
        ({"key_dim": 3, "dropout": 1}, r"dropout must be in \[0, 1\); got 1"),
    ],
)
def test_bad_option_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        SelfAttention(**options)


@pytest.mark.parametrize(
    ("x", "given", "message"),
    [
        (np.ones((B, D)), {}, r"x must have shape \(batch, length, width\) with a known width; got \(2, 4\)"),
        (np.ones((B, T, D), "int32"), {}, "x must be floating point .* got dtype int32"),
        (
            np.ones((B, T, D)),
            {"mask": np.ones((B, 4), bool)},
            r"mask must have shape \(B, T\) = \(2, 5\); got \(2, 4\)",
        ),
        (np.ones((B, T, D)), {"mask": np.full((B, T), -1e9)}, "mask must be boolean or hold only 0 and 1"),
        (np.ones((B, T, D)), {"attention_mask": np.ones((B, T), bool)}, "attention_mask must have shape"),
    ],
)
def test_bad_input_is_named(x, given, message):
    with pytest.raises(ValueError, match=message):
        SelfAttention(3)(x, **given)


def test_bad_input_of_a_model_is_named():
    x = keras.Input((T, D))
    with pytest.raises(ValueError, match=r"mask must have shape \(B, T\) = \(None, 5\); got \(None, 4\)"):
        SelfAttention(3)(x, mask=keras.Input((4,), dtype="bool"))
    with pytest.raises(ValueError, match="x must be floating point"):
        SelfAttention(3)(keras.Input((T, D), dtype="int32"))
