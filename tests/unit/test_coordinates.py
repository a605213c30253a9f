"""Coordinate channels: every cell is told where it is, for any batch, and wrong grids are refused."""

import keras
import numpy as np
import pytest

from attention_by_hand.backend import to_numpy, value_and_grad
from attention_by_hand.layers import Coordinates, coordinates

B, H, W, D = 2, 3, 5, 4


def test_cells_are_appended_their_place_column_first(rng):
    grid = rng.normal(size=(B, H, W, D)).astype("float32")
    output = to_numpy(Coordinates()(grid))
    assert output.shape == (B, H, W, D + 2)
    np.testing.assert_array_equal(output[..., :D], grid)
    for b in range(B):
        for i in range(H):
            for j in range(W):
                assert output[b, i, j, D:] == pytest.approx([2 * j / (W - 1) - 1, 2 * i / (H - 1) - 1], abs=1e-6)


def test_corners_are_minus_one_and_one_and_a_single_row_is_zero():
    table = coordinates(1, 4)
    assert table.dtype == np.float32 and not table[..., 1].any()
    assert table[0, 0, 0] == -1 and table[0, -1, 0] == 1


def test_batch_size_may_be_unknown_and_the_model_comes_back_from_a_file(rng, tmp_path):
    inputs = keras.Input((H, W, D))
    output = Coordinates(name="place")(inputs)
    assert output.shape == (None, H, W, D + 2)
    model = keras.Model(inputs, keras.layers.GlobalMaxPooling2D()(output))
    grid = rng.normal(size=(B + 1, H, W, D)).astype("float32")
    found = model.predict(grid, verbose=0)
    np.testing.assert_allclose(found[:, D:], 1.0)
    model.save(tmp_path / "model.keras")
    np.testing.assert_array_equal(keras.saving.load_model(tmp_path / "model.keras").predict(grid, verbose=0), found)


def test_half_precision_stays_half():
    output = Coordinates(dtype="float16")(keras.ops.ones((B, H, W, D), "float16"))
    assert keras.backend.standardize_dtype(output.dtype) == "float16"


def test_it_has_nothing_to_learn_and_hands_gradients_on(rng):
    layer = Coordinates()
    grid, factor = (rng.normal(size=(B, H, W, d)).astype("float32") for d in (D, D + 2))
    _, (gradient,), _ = value_and_grad(lambda x: keras.ops.sum(layer(x) * keras.ops.convert_to_tensor(factor)), [grid])
    np.testing.assert_allclose(gradient, factor[..., :D], atol=1e-6)
    assert layer.weights == []


@pytest.mark.parametrize("shape", [(5, 4), (None, 5, 4), (3, None, 4), (2, 3, 5, 4)])
def test_grids_of_another_rank_or_unknown_size_are_refused(shape):
    with pytest.raises(ValueError, match=r"grid must have shape \(batch, height, width, features\), sizes known; got"):
        Coordinates()(keras.Input(shape))


@pytest.mark.parametrize(("size", "name"), [((0, 3), "height"), ((3, -1), "width")])
def test_sizes_below_one_are_refused(size, name):
    with pytest.raises(ValueError, match=f"{name} must be at least 1"):
        coordinates(*size)


def test_reach_makes_places_larger_and_is_kept_in_the_configuration(rng):
    grid = rng.normal(size=(2, 3, 5, 4)).astype("float32")
    layer = Coordinates(reach=2.5)
    found = to_numpy(layer(grid))
    np.testing.assert_array_equal(found[..., :4], grid)
    np.testing.assert_allclose(found[1, 2, 3, 4:], [2.5 * (2 * 3 / 4 - 1), 2.5])
    assert Coordinates.from_config(layer.get_config()).reach == 2.5


@pytest.mark.parametrize("reach", [0, -1.0])
def test_a_reach_that_is_not_positive_is_refused(reach):
    with pytest.raises(ValueError, match="reach must be positive"):
        Coordinates(reach=reach)
