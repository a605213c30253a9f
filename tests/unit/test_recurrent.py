"""The GRU equals Keras's, in outputs and gradients, forwards and both ways, with padding and without."""

import keras
import numpy as np
import pytest
from keras import ops

from attention_by_hand import backend
from attention_by_hand.layers import GRU, gru_step

B, T, D, U = 3, 5, 4, 6


def weights_of(rng, directions):
    """Random weights of every direction in Keras's order, biases included."""
    shapes = ((D, 3 * U), (U, 3 * U), (2, 3 * U))
    return [[rng.normal(0, 0.4, shape).astype("float32") for shape in shapes] for _ in range(directions)]


def ours_and_keras(rng, bidirectional):
    """Our layer and Keras's with the same weights."""
    ours = GRU(U, bidirectional=bidirectional)
    ours.build((None, None, D))
    drawn = weights_of(rng, 2 if bidirectional else 1)
    ours.set_weights([np.stack(parts) for parts in zip(*drawn, strict=True)])
    layer = keras.layers.GRU(U, return_sequences=True, return_state=True)
    if bidirectional:
        layer = keras.layers.Bidirectional(layer)
    layer.build((None, None, D))
    layer.set_weights([array for parts in drawn for array in parts])
    return ours, layer


def real_steps(rng):
    """A padding mask with rows of different lengths, one of them full."""
    return np.arange(T)[None] < np.array([[T], [2], [4]])


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_equals_the_gru_of_keras_in_outputs_and_gradients(rng, bidirectional, masked):
    ours, builtin = ours_and_keras(rng, bidirectional)
    x = rng.normal(size=(B, T, D)).astype("float32")
    mask = real_steps(rng) if masked else None
    real = mask if masked else np.ones((B, T), bool)
    upstream = rng.normal(size=(B, T, ours.width)).astype("float32") * real[..., None]
    upstream, upstream_last = (
        ops.convert_to_tensor(a, "float32") for a in (upstream, rng.normal(size=(B, ours.width)))
    )

    def loss_ours(x):
        states, last = ours(x, mask=mask)
        return ops.sum(states * upstream) + ops.sum(last * upstream_last)

    def loss_keras(x):
        states, *last = builtin(x, mask=None if mask is None else ops.convert_to_tensor(mask))
        return ops.sum(states * upstream) + ops.sum(ops.concatenate(last, axis=-1) * upstream_last)

    value, (by_x,), by_weights = backend.value_and_grad(loss_ours, [x], ours.trainable_variables)
    expected, (expected_x,), expected_weights = backend.value_and_grad(loss_keras, [x], builtin.trainable_variables)
    states, expected_states = backend.to_numpy(ours(x, mask=mask)[0]), backend.to_numpy(loss_states(builtin, x, mask))
    np.testing.assert_allclose(states * real[..., None], expected_states * real[..., None], atol=1e-5)
    np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(by_x, expected_x, atol=2e-5)
    for number, found in enumerate(by_weights):  # kernel, recurrent kernel, bias; each with all directions
        for direction in range(ours.directions):
            np.testing.assert_allclose(found[direction], expected_weights[3 * direction + number], atol=5e-5)


def loss_states(builtin, x, mask):
    """The sequence that Keras's layer returns."""
    return builtin(x, mask=None if mask is None else ops.convert_to_tensor(mask))[0]


def test_step_equals_the_formula_written_with_numpy(rng):
    inputs, recurrent, state = (rng.normal(size=(B, n)).astype("float32") for n in (3 * U, 3 * U, U))
    sigmoid = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
    z = sigmoid(inputs[:, :U] + recurrent[:, :U])
    r = sigmoid(inputs[:, U : 2 * U] + recurrent[:, U : 2 * U])
    n = np.tanh(inputs[:, 2 * U :] + r * recurrent[:, 2 * U :])
    expected = z * state + (1 - z) * n
    found = gru_step(*(ops.convert_to_tensor(a) for a in (inputs, recurrent, state)))
    np.testing.assert_allclose(backend.to_numpy(found), expected, atol=1e-6)


def test_initial_state_is_where_it_starts(rng):
    ours, builtin = ours_and_keras(rng, False)
    x, start = rng.normal(size=(B, T, D)).astype("float32"), rng.normal(size=(B, U)).astype("float32")
    states, last = ours(x, initial_state=start)
    expected, expected_last = builtin(x, initial_state=ops.convert_to_tensor(start))
    np.testing.assert_allclose(backend.to_numpy(states), backend.to_numpy(expected), atol=1e-5)
    np.testing.assert_allclose(backend.to_numpy(last), backend.to_numpy(expected_last), atol=1e-5)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_padding_changes_nothing_even_if_it_holds_nan(rng, bidirectional):
    layer = GRU(U, bidirectional=bidirectional)
    x = rng.normal(size=(B, T, D)).astype("float32")
    mask = real_steps(rng)
    short, short_last = layer(x[1:2, :2])
    dirty = np.where(mask[..., None], x, np.nan).astype("float32")
    states, last = layer(dirty, mask=mask)
    np.testing.assert_allclose(backend.to_numpy(states)[1, :2], backend.to_numpy(short)[0], atol=1e-6)
    np.testing.assert_allclose(backend.to_numpy(last)[1], backend.to_numpy(short_last)[0], atol=1e-6)


def test_works_in_a_model_of_unknown_batch_and_length_and_survives_saving(rng, tmp_path):
    inputs = keras.Input((None, D))
    states, last = GRU(U, bidirectional=True)(inputs)
    assert states.shape == (None, None, 2 * U) and last.shape == (None, 2 * U)
    model = keras.Model(inputs, [states, last])
    model.save(tmp_path / "gru.keras")
    again = keras.models.load_model(tmp_path / "gru.keras")
    for length in (T, T + 2):
        x = rng.normal(size=(B, length, D)).astype("float32")
        for found, expected in zip(again.predict(x, verbose=0), model(x), strict=True):
            np.testing.assert_allclose(found, backend.to_numpy(expected), atol=1e-6)


def test_trains_with_a_mask_on_batches_of_several_lengths(rng):
    x, mask = keras.Input((None, D)), keras.Input((None,), dtype="bool")
    model = keras.Model([x, mask], keras.layers.Dense(1)(GRU(U, bidirectional=True)(x, mask=mask)[1]))
    model.compile("sgd", "mse", jit_compile=False)
    before = [w.copy() for w in model.get_weights()]
    for length in (T, T + 2, T + 1):
        data = [rng.normal(size=(B, length, D)).astype("float32"), rng.random((B, length)) < 0.7]
        assert np.isfinite(model.train_on_batch(data, rng.normal(size=(B, 1))))
    assert all(np.abs(a - b).max() > 0 for a, b in zip(before, model.get_weights(), strict=True))


@pytest.mark.parametrize("policy", ["float16", "bfloat16", "mixed_float16"])
def test_half_precision_stays_near_float32(rng, policy):
    layer, half = GRU(U), GRU(U, dtype=policy)
    x = rng.normal(size=(B, T, D)).astype("float32")
    for each in (layer, half):
        each.build(x.shape)
    half.set_weights(layer.get_weights())
    found = backend.to_numpy(ops.cast(half(ops.cast(x, half.compute_dtype))[0], "float32"))
    np.testing.assert_allclose(found, backend.to_numpy(layer(x)[0]), atol=0.05)
    assert keras.backend.standardize_dtype(half(ops.cast(x, half.compute_dtype))[1].dtype) == half.compute_dtype


@pytest.mark.parametrize(
    ("arguments", "call", "message"),
    [
        ({"units": 0}, None, "units must be a positive integer"),
        ({"units": U}, {"x": np.zeros((B, D), "float32")}, "x must have shape"),
        ({"units": U}, {"x": np.zeros((B, T, D), "int32")}, "x must be floating point"),
        ({"units": U}, {"x": np.zeros((B, T, D), "float32"), "mask": np.ones((B, T + 1), bool)}, "mask must have"),
        (
            {"units": U},
            {"x": np.zeros((B, T, D), "float32"), "initial_state": np.zeros((B, U + 1), "float32")},
            "initial_state must have shape",
        ),
    ],
)
def test_bad_input_is_refused_by_name(arguments, call, message):
    with pytest.raises(ValueError, match=message):
        GRU(**arguments)(**call)
