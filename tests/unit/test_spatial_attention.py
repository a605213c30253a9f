"""SpatialSelfAttention against Keras's Conv2D and Attention on the flattened grid, and against loops."""

import keras
import numpy as np
import pytest
from keras import ops

from attention_by_hand import backend
from attention_by_hand.layers import SpatialSelfAttention

B, H, W, C, REDUCTION = 2, 3, 5, 8, 4
INNER = C // REDUCTION
JIT = "auto" if keras.backend.backend() == "torch" else True


def built(rng, gamma=0.7, **options):
    """A layer with random weights, biases included, and its weights by name."""
    layer = SpatialSelfAttention(REDUCTION, **options)
    layer.build((None, None, None, C))
    for weight in layer.weights:
        weight.assign(rng.normal(0, 0.5, weight.shape))
    layer.gamma.assign(gamma)
    return layer, {w.name: backend.to_numpy(w) for w in layer.weights}


def grid_of(rng, height=H, width=W):
    return rng.normal(size=(B, height, width, C)).astype("float32")


def by_hand(grid, w):
    """Output and weights, number by number."""
    batch, height, width, channels = grid.shape
    output, weights = grid.astype("float64").copy(), np.zeros((batch, height, width, height, width))
    for b in range(batch):
        for i, j in np.ndindex(height, width):
            query = grid[b, i, j] @ w["query_kernel"]
            scores = {
                (k, m): query @ (grid[b, k, m] @ w["key_kernel"]) for k, m in np.ndindex(height, width)
            }  # no 1/√D
            total = sum(np.exp(s) for s in scores.values())
            mean = np.zeros(w["value_kernel"].shape[1])
            for (k, m), s in scores.items():
                weights[b, i, j, k, m] = np.exp(s) / total
                mean += weights[b, i, j, k, m] * (grid[b, k, m] @ w["value_kernel"])
            output[b, i, j] += w["gamma"] * (mean @ w["output_kernel"])
    return output, weights


def test_equals_the_loops_at_gamma_0_7(rng):
    layer, arrays = built(rng)
    grid = grid_of(rng)
    output, weights = layer(grid, return_attention_scores=True)
    expected, maps = by_hand(grid, arrays)
    np.testing.assert_allclose(backend.to_numpy(output), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(backend.to_numpy(weights), maps, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(backend.to_numpy(layer(grid)), expected, rtol=1e-5, atol=1e-5)


def test_equals_1x1_convolutions_and_the_built_in_attention_in_outputs_weights_and_gradients(rng):
    layer, arrays = built(rng, use_bias=True)
    convolutions = {}
    for name in ("query", "key", "value", "output"):
        convolutions[name] = keras.layers.Conv2D(C if name == "output" else INNER, 1, data_format="channels_last")
        convolutions[name].build((None, None, None, INNER if name == "output" else C))
        convolutions[name].set_weights([arrays[f"{name}_kernel"][None, None], arrays[f"{name}_bias"]])
    attention = keras.layers.Attention()
    gamma = keras.Variable(0.7)
    weighting = ops.convert_to_tensor(grid_of(rng))

    def builtin(grid):
        query, key, value = (
            ops.reshape(convolutions[name](grid), (B, H * W, INNER)) for name in ("query", "key", "value")
        )
        y, weights = attention([query, value, key], return_attention_scores=True)
        output = grid + gamma * convolutions["output"](ops.reshape(y, (B, H, W, INNER)))
        return ops.sum(weighting * output), (output, ops.reshape(weights, (B, H, W, H, W)))

    def ours(grid):
        output, weights = layer(grid, return_attention_scores=True)
        return ops.sum(weighting * output), (output, weights)

    theirs = [w for name in ("query", "key", "value", "output") for w in convolutions[name].weights] + [gamma]
    grid = grid_of(rng)
    mine = backend.differentiate(ours, layer.trainable_variables)([grid])
    other = backend.differentiate(builtin, theirs)([grid])
    flat = [[array for part in found[1:] for array in part] for found in (mine, other)]
    assert len(flat[0]) == 2 + 1 + 9
    for a, b in zip(*flat, strict=True):
        assert np.abs(b).max() > 1e-6 or a.shape == (INNER,)  # the bias of the keys cancels
        np.testing.assert_allclose(a, b.reshape(a.shape), rtol=1e-4, atol=2e-5)


def test_a_new_layer_changes_nothing_and_only_gamma_learns_at_first(rng):
    layer = SpatialSelfAttention(REDUCTION)
    grid = grid_of(rng)
    np.testing.assert_array_equal(backend.to_numpy(layer(grid)), grid)
    weighting = ops.convert_to_tensor(grid_of(rng))
    _, _, gradients = backend.value_and_grad(lambda x: ops.sum(weighting * layer(x)), [grid], layer.trainable_variables)
    moved = {w.name for w, g in zip(layer.trainable_variables, gradients, strict=True) if np.abs(g).max() > 0}
    assert moved == {"gamma"}


def test_one_model_takes_grids_of_every_size_and_survives_saving(rng, tmp_path):
    x = keras.Input((None, None, C))
    output, weights = SpatialSelfAttention(REDUCTION, name="spatial")(x, return_attention_scores=True)
    assert output.shape == (None, None, None, C) and weights.shape == (None,) * 5
    model = keras.Model(x, [output, weights])
    for weight in model.weights:
        weight.assign(rng.normal(0, 0.5, weight.shape))
    arrays = {w.name: backend.to_numpy(w) for w in model.weights}
    model.save(tmp_path / "spatial.keras")
    again = keras.models.load_model(tmp_path / "spatial.keras")
    model.compile(jit_compile=JIT)
    for height, width in ((3, 5), (4, 1)):
        grid = grid_of(rng, height, width)
        for found in (model.predict_on_batch(grid), again(grid)):
            for part, expected in zip(found, by_hand(grid, arrays), strict=True):
                np.testing.assert_allclose(backend.to_numpy(part), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("policy", ["float16", "mixed_bfloat16"])
def test_half_precision_keeps_its_dtype_and_is_near_the_loops(rng, policy):
    layer, arrays = built(rng, dtype=policy)
    grid = grid_of(rng)
    found = layer(grid, return_attention_scores=True)
    for part, expected, error in zip(found, by_hand(grid, arrays), (0.1, 0.05), strict=True):
        assert keras.backend.standardize_dtype(part.dtype) == layer.compute_dtype
        np.testing.assert_allclose(backend.to_numpy(ops.cast(part, "float32")), expected, atol=error)
    again = SpatialSelfAttention.from_config(layer.get_config())
    assert again.get_config() == layer.get_config() and again.dtype_policy.name == policy


@pytest.mark.parametrize(
    ("options", "grid", "message"),
    [
        ({"reduction": 0}, None, "reduction must be a positive integer; got 0"),
        ({"reduction": 3}, np.zeros((B, H, W, C), "float32"), "reduction must divide the channels of grid, 8; got 3"),
        ({}, np.zeros((B, H, C), "float32"), r"grid must have shape \(batch, height, width, channels\)"),
        ({}, np.zeros((B, H, W, C), "int32"), "grid must be floating point"),
    ],
)
def test_bad_input_is_refused_by_name(options, grid, message):
    with pytest.raises(ValueError, match=message):
        SpatialSelfAttention(**options)(grid)
