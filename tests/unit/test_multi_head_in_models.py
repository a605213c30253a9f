"""Multi-head attention and its variants: saving, compilation, symbolic shapes, implicit masks, bad input."""

import keras
import multi_head_loops as by_hand
import numpy as np
import numpy_loops as loops
import pytest
from keras import ops
from multi_head_loops import KEY_DIM, KEY_WIDTH, OUT, VALUE_DIM, VARIANTS, H
from numpy_loops import DV, TQ, TV, B, D

from attention_by_hand import backend
from attention_by_hand.layers import AdditiveAttention, MultiHeadAttention

JIT = "auto" if keras.backend.backend() == "torch" else True
CONFIGURATIONS = [(name, {}) for name in VARIANTS] + [
    ("plain", {"use_bias": False, "output_shape": OUT}),
    ("other value_dim", {"dropout": 0.3, "seed": 4}),
    ("Shaw", {"dtype": "mixed_bfloat16", "dropout": 0.3}),
    ("rotary", {"dtype": "mixed_float16", "output_shape": OUT, "value_dim": VALUE_DIM}),
    ("ALiBi", {"slopes": np.linspace(0, 1, H), "use_bias": False, "seed": 1}),
]


def functional(layer, scored=True, fixed=False):
    """A model over query, value, key and a value mask, with the weights as second output if `scored`."""
    sizes = ((TQ, D), (TV, DV), (TV, KEY_WIDTH)) if fixed else ((None, D), (None, DV), (None, KEY_WIDTH))
    x = [keras.Input(size) for size in sizes]
    mask = keras.Input((TV if fixed else None,), dtype="bool")
    result = layer(*x, value_mask=mask, return_attention_scores=scored)
    return keras.Model([*x, mask], list(result) if scored else result)


def data(rng, query_length=TQ, value_length=TV, batch=B):
    shapes = ((batch, query_length, D), (batch, value_length, DV), (batch, value_length, KEY_WIDTH))
    return [*(loops.normal(rng, *shape) for shape in shapes), rng.random((batch, value_length)) < 0.8]


def weights_of(layer):
    return [array.astype("float64") for array in layer.get_weights()]


@pytest.mark.parametrize(("name", "options"), CONFIGURATIONS)
def test_configuration_survives_a_round_trip(name, options):
    layer = VARIANTS[name](name="attend", **options)
    config = layer.get_config()
    again = type(layer).from_config(config)
    assert again.get_config() == config
    for option, value in options.items():
        if option != "dtype":
            np.testing.assert_array_equal(config[option], value)
    assert again.dtype_policy.name == options.get("dtype", "float32")


@pytest.mark.parametrize(("name", "options"), CONFIGURATIONS)
def test_saved_model_gives_the_same_bits(rng, tmp_path, name, options):
    layer = VARIANTS[name](name="attend", **options)
    model = functional(layer)
    loops.randomise(layer, rng)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    x = data(rng)
    for before, after in zip(model(x), loaded(x), strict=True):
        before, after = (backend.to_numpy(ops.cast(y, "float32")) for y in (before, after))
        np.testing.assert_array_equal(before, after)
    assert loaded.get_layer("attend").get_config() == layer.get_config()


@pytest.mark.parametrize("name", VARIANTS)
def test_one_compiled_model_runs_and_learns_at_any_length_and_batch(rng, name):
    layer = VARIANTS[name]()
    model = functional(layer, scored=False)
    loops.randomise(layer, rng)
    model.compile("sgd", "mse", jit_compile=JIT)
    for query_length, value_length, batch in ((3, 5, 2), (1, 7, 3), (6, 1, 1)):
        query, value, key, mask = x = data(rng, query_length, value_length, batch)
        expected = by_hand.attention(layer, weights_of(layer), query, value, key, mask[:, None, None, :])[0]
        np.testing.assert_allclose(model.predict_on_batch(x), expected, rtol=1e-5, atol=1e-5)
        model.reset_metrics()  # an older Keras gives the mean over all calls since
        loss = model.train_on_batch(x, np.ones((batch, query_length, D), "float32"))
        np.testing.assert_allclose(loss, np.mean((expected - 1) ** 2), rtol=1e-4)


def test_compiled_fit_lowers_the_loss_with_dropout(rng):
    x, mask = keras.Input((None, D)), keras.Input((None,), dtype="bool")
    layer = MultiHeadAttention(H, KEY_DIM, VALUE_DIM, dropout=0.1, seed=0)
    model = keras.Model([x, mask], layer(x, x, value_mask=mask, use_causal_mask=True))
    model.compile(keras.optimizers.Adam(0.01), "mse", jit_compile=JIT)
    tokens = loops.normal(rng, 32, TV, D)
    target = np.cumsum(tokens, axis=1) / np.arange(1, TV + 1)[:, None]  # the mean of what was there so far
    history = model.fit([tokens, np.ones((32, TV), bool)], target, batch_size=8, epochs=8, verbose=0).history["loss"]
    assert np.isfinite(history).all()
    assert history[-1] < 0.5 * history[0]


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("name", VARIANTS)
def test_symbolic_shapes_are_the_real_ones(rng, name, fixed):
    layer = VARIANTS[name](output_shape=OUT)
    model = functional(layer, fixed=fixed)
    lengths = (TQ, TV) if fixed else (None, None)
    assert [y.shape for y in model.outputs] == [(None, lengths[0], OUT), (None, H, *lengths)]
    assert [tuple(y.shape) for y in model(data(rng))] == [(B, TQ, OUT), (B, H, TQ, TV)]
    assert layer.compute_output_shape(*by_hand.SHAPES) == (B, TQ, OUT)


@pytest.mark.parametrize("policy", ["float16", "mixed_bfloat16"])
@pytest.mark.parametrize("name", VARIANTS)
def test_output_has_the_compute_dtype_of_the_policy(rng, name, policy):
    layer = VARIANTS[name](dtype=policy)
    assert {y.dtype for y in functional(layer).outputs} == {policy.removeprefix("mixed_")}
    for real in layer(*by_hand.inputs(rng), return_attention_scores=True):
        assert keras.backend.standardize_dtype(real.dtype) == layer.compute_dtype
    assert keras.backend.standardize_dtype(layer(*by_hand.inputs(rng)).dtype) == layer.compute_dtype


def test_masks_may_be_given_by_position(rng):
    x, mask = keras.Input((None, D)), keras.Input((None,), dtype="bool")
    for layer in (MultiHeadAttention(H, KEY_DIM), AdditiveAttention()):
        model = keras.Model([x, mask], layer(x, x, x, mask, mask))
        data, visible = loops.normal(rng, B, TV, D), rng.random((B, TV)) < 0.7
        expected = layer(data, data, query_mask=visible, value_mask=visible)
        np.testing.assert_allclose(model.predict_on_batch([data, visible]), backend.to_numpy(expected), atol=1e-6)


TOKENS = np.array([[3, 1, 0, 2, 0], [0, 4, 2, 1, 1]])


def masked_formula(layer, memory, query, mask, query_mask=None):
    output = by_hand.attention(layer, weights_of(layer), query, memory, memory, mask[:, None, None, :])[0]
    return output if query_mask is None else np.where(query_mask[..., None], output, 0)


@pytest.mark.parametrize("name", VARIANTS)
def test_two_layers_can_read_one_masked_tensor(rng, name):
    memory = keras.layers.Embedding(6, D, mask_zero=True)(TOKENS)
    query = loops.normal(rng, B, TQ, D)
    for layer in (VARIANTS[name](), VARIANTS[name]()):
        expected_shape = (B, TQ, D)
        output = backend.to_numpy(layer(query, memory))
        assert output.shape == expected_shape
        expected = masked_formula(layer, backend.to_numpy(memory), query, TOKENS != 0)
        np.testing.assert_allclose(output, expected, rtol=1e-5, atol=1e-5)


def test_a_functional_model_can_read_one_masked_tensor_twice(rng):
    tokens, query = keras.Input((None,), dtype="int32"), keras.Input((None, D))
    embedding = keras.layers.Embedding(6, D, mask_zero=True)
    memory, layers = embedding(tokens), [MultiHeadAttention(H, KEY_DIM), MultiHeadAttention(2, KEY_DIM)]
    first = layers[0](query, memory)
    second = layers[1](first, memory)
    again = layers[0](memory, memory)
    model = keras.Model([query, tokens], [first, second, again])
    data = loops.normal(rng, B, TQ, D)
    outputs = model.predict_on_batch([data, TOKENS])
    embedded, mask = backend.to_numpy(embedding(TOKENS)), TOKENS != 0
    expected_first = masked_formula(layers[0], embedded, data, mask)
    expected_second = masked_formula(layers[1], embedded, expected_first, mask)
    expected_again = masked_formula(layers[0], embedded, embedded, mask, mask)
    for output, expected in zip(outputs, (expected_first, expected_second, expected_again), strict=True):
        np.testing.assert_allclose(output, expected, rtol=1e-5, atol=1e-5)


def test_output_carries_the_mask_of_the_query():
    embedding = keras.layers.Embedding(6, D, mask_zero=True)
    memory = np.array([[1, 2, 3], [1, 0, 0]])
    output, weights = MultiHeadAttention(H, KEY_DIM)(embedding(TOKENS), embedding(memory), return_attention_scores=True)
    np.testing.assert_array_equal(backend.to_numpy(keras.src.backend.get_keras_mask(output)), TOKENS != 0)
    assert keras.src.backend.get_keras_mask(weights) is None


class FloatMask(keras.Model):
    """A model that hands its layer a mask of floats, made while it runs."""

    def __init__(self, hidden):
        super().__init__()
        self.hidden = hidden
        self.attention = MultiHeadAttention(H, KEY_DIM)

    def call(self, x):
        mask = ops.where(x[..., 0] > 0, 1.0, self.hidden)
        return self.attention(x, x, value_mask=mask)


def test_float_mask_of_zeros_and_ones_is_accepted_while_its_values_can_be_seen(rng):
    model, x = FloatMask(hidden=0.0), loops.normal(rng, B, TV, D)
    output = backend.to_numpy(model(x))
    expected = masked_formula(model.attention, x, x, x[..., 0] > 0)
    np.testing.assert_allclose(output, expected, rtol=1e-5, atol=1e-5)


def test_additive_mask_is_refused_while_its_values_can_be_seen(rng):
    with pytest.raises(ValueError, match="value_mask must be boolean or hold only 0 and 1; got a float32 mask with -1"):
        FloatMask(hidden=-1e9)(loops.normal(rng, B, TV, D))


@pytest.mark.parametrize("train", [False, True])
def test_float_mask_in_a_compiled_function_is_refused(rng, train):
    model, x = FloatMask(hidden=0.0), loops.normal(rng, B, TV, D)
    model(x)  # its weights exist: what follows is the compiled step alone
    model.compile("sgd", "mse", jit_compile=JIT)
    run = (lambda: model.train_on_batch(x, x)) if train else (lambda: model.predict(x, verbose=0))
    if backend.name() == "torch":  # runs step by step, so that the values are there
        run()
        model.hidden = -1e9
        with pytest.raises(ValueError, match="value_mask must be boolean or hold only 0 and 1"):
            run()
    else:
        with pytest.raises(ValueError, match="value_mask is a float32 mask whose values cannot be seen while tracing"):
            run()
