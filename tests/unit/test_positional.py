"""Sinusoids and learned tables of positions: values, odd widths, lengths, half precision, masks, gradients, models."""

import math

import keras
import numpy as np
import numpy_loops as loops
import pytest
from keras import ops

from attention_by_hand import backend
from attention_by_hand.backend import to_numpy
from attention_by_hand.layers import LearnedPositionalEmbedding, SinusoidalPositionalEncoding, sinusoids

B, T = 2, 7
JIT = backend.name() != "torch"  # torch compiles for minutes; Keras leaves it eager by default
WIDTHS = [1, 2, 5, 6, 9, 32]  # odd ones lack the last cosine


def closed_form(length, width, base=10000.0):
    """The formula of the paper, number by number."""
    table = np.zeros((length, width))
    for i in range(length):
        for column in range(width):
            angle = i / base ** (2 * (column // 2) / width)
            table[i, column] = math.sin(angle) if column % 2 == 0 else math.cos(angle)
    return table


def as_float32(x):
    return to_numpy(ops.cast(x, "float32"))


def randomised(layer, rng, shape):
    layer.build(shape)
    (table,) = loops.randomise(layer, rng)
    return table


@pytest.mark.parametrize("width", WIDTHS)
def test_table_of_sinusoids_is_the_formula(width):
    np.testing.assert_allclose(sinusoids(11, width), closed_form(11, width), atol=1e-12)


def test_base_of_the_sinusoids_can_be_chosen():
    np.testing.assert_allclose(sinusoids(11, 6, base=50.0), closed_form(11, 6, base=50.0), atol=1e-12)


@pytest.mark.parametrize("width", WIDTHS)
def test_encoding_is_added_to_the_input(rng, width):
    x = loops.normal(rng, B, T, width)
    output = to_numpy(SinusoidalPositionalEncoding()(x))
    np.testing.assert_allclose(output, x + closed_form(T, width), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("width", WIDTHS)
def test_concat_appends_the_encoding_to_the_features(rng, width):
    x = loops.normal(rng, B, T, width)
    output = to_numpy(SinusoidalPositionalEncoding(mode="concat")(x))
    assert output.shape == (B, T, 2 * width)
    np.testing.assert_array_equal(output[..., :width], x)
    expected = np.tile(closed_form(T, width), (B, 1, 1))
    np.testing.assert_allclose(output[..., width:], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("length", [1, 2, 300, 1000])
def test_any_length_works_without_max_len(length):
    layer = SinusoidalPositionalEncoding()
    layer(np.zeros((B, 3, 6), "float32"))  # built on a short one
    output = to_numpy(layer(np.zeros((1, length, 6), "float32")))[0]
    np.testing.assert_allclose(output, closed_form(length, 6), atol=1e-4)


@pytest.mark.parametrize("kind", [SinusoidalPositionalEncoding, LearnedPositionalEmbedding])
def test_a_sequence_as_long_as_max_len_is_accepted(rng, kind):
    assert kind(max_len=T)(loops.normal(rng, B, T, 5)).shape == (B, T, 5)


@pytest.mark.parametrize("kind", [SinusoidalPositionalEncoding, LearnedPositionalEmbedding])
@pytest.mark.parametrize("built_on", [None, 3])
def test_a_sequence_longer_than_max_len_is_an_error_with_both_numbers(rng, kind, built_on):
    layer = kind(max_len=T - 1)
    if built_on:
        layer(loops.normal(rng, B, built_on, 5))
    with pytest.raises(ValueError, match=f"max_len = {T - 1} steps; got {T}"):
        layer(loops.normal(rng, B, T, 5))


@pytest.mark.parametrize("kind", [SinusoidalPositionalEncoding, LearnedPositionalEmbedding])
@pytest.mark.parametrize("max_len", [0, -2, 2.5, "7", True])
def test_max_len_must_be_a_positive_integer(kind, max_len):
    with pytest.raises(ValueError, match="max_len must be a positive integer"):
        kind(max_len=max_len)


@pytest.mark.parametrize("mode", ["sum", "ADD", None])
def test_an_unknown_mode_names_the_known_ones(mode):
    with pytest.raises(ValueError, match="mode must be one of add, concat"):
        SinusoidalPositionalEncoding(mode=mode)


@pytest.mark.parametrize("rate", [-0.1, 1.5])
def test_dropout_outside_zero_and_one_is_an_error(rate):
    with pytest.raises(ValueError):
        SinusoidalPositionalEncoding(dropout=rate)


@pytest.mark.parametrize("kind", [SinusoidalPositionalEncoding, LearnedPositionalEmbedding])
@pytest.mark.parametrize("shape", [(T, 6), (B, T, 6, 1)])
def test_an_input_of_another_rank_is_an_error(kind, shape):
    with pytest.raises(ValueError, match="shape"):
        kind(max_len=9)(np.zeros(shape, "float32"))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("mode", ["add", "concat"])
def test_half_precision_holds_the_float32_table_cast(dtype, mode):
    """Whole numbers above 2048 (float16) and 256 (bfloat16) have no own half-precision number."""
    x = np.zeros((1, 2100, 9), "float32")
    exact = SinusoidalPositionalEncoding(mode=mode)(x)
    half = SinusoidalPositionalEncoding(mode=mode, dtype=dtype)(ops.cast(x, dtype))
    assert keras.backend.standardize_dtype(half.dtype) == dtype
    np.testing.assert_array_equal(as_float32(half), as_float32(ops.cast(exact, dtype)))


@pytest.mark.parametrize(("dtype", "first"), [("float16", 2049), ("bfloat16", 257)])
def test_neighbours_stay_apart_where_half_precision_cannot_count(dtype, first):
    half = SinusoidalPositionalEncoding(dtype=dtype)(ops.zeros((1, first + 40, 32), dtype))
    rows = as_float32(half)[0, first:]
    assert len(np.unique(rows, axis=0)) == len(rows)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
@pytest.mark.parametrize("kind", [SinusoidalPositionalEncoding, LearnedPositionalEmbedding])
def test_mixed_policies_compute_in_half_and_keep_weights_in_float32(rng, kind, policy):
    layer = kind(max_len=9, dtype=policy)
    output = layer(loops.normal(rng, B, T, 5))
    assert keras.backend.standardize_dtype(output.dtype) == policy.removeprefix("mixed_")
    assert {keras.backend.standardize_dtype(w.dtype) for w in layer.weights} <= {"float32"}
    assert np.isfinite(as_float32(output)).all()


@pytest.mark.parametrize(
    "layer",
    [SinusoidalPositionalEncoding(), SinusoidalPositionalEncoding(mode="concat"), LearnedPositionalEmbedding(9)],
)
def test_a_mask_is_passed_on(layer):
    ids = np.array([[3, 1, 2, 0, 0], [4, 2, 1, 3, 0]])
    output = layer(keras.layers.Embedding(5, 6, mask_zero=True)(ids))
    np.testing.assert_array_equal(to_numpy(output._keras_mask), ids != 0)


@pytest.mark.parametrize("kind", ["add", "concat", "learned"])
def test_the_order_of_a_sentence_changes_its_mean(rng, kind):
    """After a squashing function even a mean over the steps can tell two orders apart."""
    layer = LearnedPositionalEmbedding(9) if kind == "learned" else SinusoidalPositionalEncoding(mode=kind)
    x = loops.normal(rng, B, T, 6)
    weights = ops.convert_to_tensor(loops.normal(rng, 12 if kind == "concat" else 6, 4))
    means = [to_numpy(ops.mean(ops.tanh(layer(v) @ weights), axis=1)) for v in (x, x[:, ::-1].copy())]
    assert np.abs(means[0] - means[1]).max() > 1e-2


def test_dropout_acts_on_the_sum_in_training_only(rng):
    x = loops.normal(rng, 20, T, 30)
    layer = SinusoidalPositionalEncoding(dropout=0.25, seed=3)
    expected = x + closed_form(T, 30)
    np.testing.assert_allclose(to_numpy(layer(x)), expected, rtol=1e-5, atol=1e-5)
    dropped = to_numpy(layer(x, training=True))
    kept = dropped != 0
    assert 0.2 < np.mean(~kept) < 0.3
    np.testing.assert_allclose(dropped[kept], (expected / 0.75)[kept], rtol=1e-4, atol=1e-5)


def test_the_same_dropout_seed_drops_the_same(rng):
    x = loops.normal(rng, B, T, 30)
    first, second, other = (
        to_numpy(SinusoidalPositionalEncoding(dropout=0.5, seed=seed)(x, training=True)) for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(first, second)
    assert (first != other).any()


@pytest.mark.parametrize("mode", ["add", "concat"])
def test_gradient_passes_to_the_words_unchanged(rng, mode):
    layer = SinusoidalPositionalEncoding(mode=mode)
    x = loops.normal(rng, B, T, 5)
    factor = loops.normal(rng, B, T, 10 if mode == "concat" else 5)
    layer.build(x.shape)
    _, (gradient,), _ = backend.value_and_grad(lambda v: ops.sum(ops.multiply(layer(v), factor)), [x])
    np.testing.assert_allclose(gradient, factor[..., :5], rtol=1e-5, atol=1e-6)


def test_sinusoids_have_no_weights(rng):
    layer = SinusoidalPositionalEncoding()
    layer(loops.normal(rng, B, T, 5))
    assert layer.weights == []


def test_learned_rows_are_added_to_the_input(rng):
    layer = LearnedPositionalEmbedding(max_len=9)
    table = randomised(layer, rng, (B, T, 5))
    x = loops.normal(rng, B, T, 5)
    expected = np.zeros_like(x)
    for b, t, d in np.ndindex(*x.shape):
        expected[b, t, d] = x[b, t, d] + table[t, d]
    np.testing.assert_allclose(to_numpy(layer(x)), expected, rtol=1e-6, atol=1e-6)


def test_a_learned_row_beyond_the_sequence_gets_no_gradient(rng):
    layer = LearnedPositionalEmbedding(max_len=9)
    randomised(layer, rng, (B, T, 5))
    x, factor = loops.normal(rng, B, T, 5), loops.normal(rng, B, T, 5)
    _, (to_words,), (to_table,) = backend.value_and_grad(
        lambda v: ops.sum(ops.multiply(layer(v), factor)), [x], layer.trainable_variables
    )
    np.testing.assert_allclose(to_table[:T], factor.sum(axis=0), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(to_table[T:], np.zeros((2, 5)))
    np.testing.assert_allclose(to_words, factor, rtol=1e-5, atol=1e-6)


def test_learned_table_starts_as_its_initializer_says(rng):
    layer = LearnedPositionalEmbedding(9, initializer=keras.initializers.Constant(0.5))
    x = loops.normal(rng, B, T, 5)
    np.testing.assert_allclose(to_numpy(layer(x)), x + 0.5, rtol=1e-6, atol=1e-6)
    assert np.std(randomised(LearnedPositionalEmbedding(9), rng, (B, T, 5))) > 0


LAYERS = {
    "add": lambda: SinusoidalPositionalEncoding(max_len=40, dropout=0.1, seed=4, name="p"),
    "concat": lambda: SinusoidalPositionalEncoding(mode="concat"),
    "learned": lambda: LearnedPositionalEmbedding(40, initializer="random_normal"),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_comes_back_from_its_configuration(name):
    layer = LAYERS[name]()
    again = type(layer).from_config(layer.get_config())
    assert again.get_config() == layer.get_config()


@pytest.mark.parametrize("name", LAYERS)
def test_a_saved_model_gives_the_same_output(rng, name, tmp_path):
    inputs = keras.Input((None, 5))
    model = keras.Model(inputs, LAYERS[name]()(inputs))
    x = loops.normal(rng, B, T, 5)
    model.save(tmp_path / "model.keras")
    np.testing.assert_array_equal(to_numpy(keras.saving.load_model(tmp_path / "model.keras")(x)), to_numpy(model(x)))


@pytest.mark.parametrize("name", LAYERS)
def test_batch_and_length_may_be_unknown(rng, name):
    inputs = keras.Input((None, 5))
    layer = LAYERS[name]()
    outputs = layer(inputs)
    width = 10 if name == "concat" else 5
    assert tuple(outputs.shape) == layer.compute_output_shape((None, None, 5)) == (None, None, width)
    model = keras.Model(inputs, outputs)
    for batch, length in ((2, 7), (3, 12), (1, 1)):
        x = loops.normal(rng, batch, length, 5)
        np.testing.assert_allclose(model.predict(x, verbose=0), to_numpy(layer(x)), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", LAYERS)
def test_a_compiled_training_step_runs(rng, name):
    inputs = keras.Input((None, 5))
    model = keras.Model(inputs, keras.layers.Dense(1)(LAYERS[name]()(inputs)))
    model.compile("adam", "mse", jit_compile=JIT)
    x, y = loops.normal(rng, 8, T, 5), loops.normal(rng, 8, T, 1)
    history = model.fit(x, y, batch_size=4, epochs=2, verbose=0).history["loss"]
    assert np.isfinite(history).all() and history[1] != history[0]


def test_jit_gives_the_numbers_of_the_eager_call(rng):
    inputs = keras.Input((None, 5))
    model = keras.Model(inputs, SinusoidalPositionalEncoding()(inputs))
    model.compile(jit_compile=JIT)
    x = loops.normal(rng, B, T, 5)
    np.testing.assert_allclose(model.predict(x, verbose=0), x + closed_form(T, 5), rtol=1e-5, atol=1e-5)
