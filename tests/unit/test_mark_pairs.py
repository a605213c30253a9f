"""Chapter 12's pictures with two marks, the networks that read them, and the figures."""

import hashlib
import re
from pathlib import Path

import keras
import numpy as np
import pytest

from attention_by_hand import backend, plots
from attention_by_hand.datasets import mark_cells, mark_pairs, without_second
from attention_by_hand.datasets.mark_pairs import RGB
from attention_by_hand.layers import SpatialSelfAttention
from attention_by_hand.models import UniformGrid, pair_race, wide_field

CARD = Path(__file__).parents[2] / "data" / "mark_pairs.md"
N = 60


def checksum(data):
    """SHA-256 over names, dtypes, shapes and little-endian bytes of all arrays."""
    digest = hashlib.sha256()
    for name in sorted(data):
        array = data[name].astype(data[name].dtype.newbyteorder("<"))
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


@pytest.fixture(params=[0, 1, 2])
def data(request):
    return mark_pairs(N, seed=request.param)


def test_the_marks_lie_where_the_gold_says_in_the_colours_it_says(data):
    for image, colour, corner in zip(data["image"], data["colour"], data["corner"], strict=True):
        for c, (row, column) in zip(colour, corner, strict=True):
            assert (image[row : row + 4, column : column + 4] == RGB[c]).all()


def test_dots_of_each_colour_lie_outside_the_marks(data):
    same = (data["image"][:, :, :, None] == RGB).all(axis=-1)  # (N, 32, 32, 4)
    for row, column, n in ((*corner, n) for n, pair in enumerate(data["corner"]) for corner in pair):
        same[n, row : row + 4, column : column + 4] = False
    shares = same.mean(axis=(0, 1, 2)) * 32**2 / (32**2 - 2 * 4**2)
    np.testing.assert_allclose(shares, 0.04 / 4, rtol=0.2)


def test_the_label_says_whether_the_colours_agree_and_is_balanced(data):
    assert ((data["colour"][:, 0] == data["colour"][:, 1]) == data["same"]).all()
    assert data["same"].sum() == N / 2


@pytest.mark.parametrize("apart", [4, 10, 28])
def test_marks_are_as_far_apart_as_asked(apart):
    data = mark_pairs(N, apart=apart)
    steps = np.abs(data["corner"][:, 0] - data["corner"][:, 1])
    assert (steps.max(axis=1) == data["distance"]).all()
    assert data["distance"].min() >= apart


def test_removing_the_second_mark_changes_its_pixels_only(data):
    without = without_second(data)
    for before, after, corner in zip(data["image"], without["image"], data["corner"], strict=True):
        row, column = corner[1]
        mark = np.zeros(before.shape[:2], bool)
        mark[row : row + 4, column : column + 4] = True
        assert (before[~mark] == after[~mark]).all()
        assert (np.abs(after[mark] - 127.5) < 100).all(axis=-1).sum() >= 10  # of 16 pixels; the others are dots


@pytest.mark.parametrize("cells", [8, 4])
def test_cells_hold_the_share_that_a_mark_covers(data, cells):
    shares, step = mark_cells(data["corner"], cells), 32 // cells
    for n, mark in np.ndindex(N, 2):
        picture = np.zeros((32, 32))
        row, column = data["corner"][n, mark]
        picture[row : row + 4, column : column + 4] = 1
        expected = picture.reshape(cells, step, cells, step).mean(axis=(1, 3))
        np.testing.assert_allclose(shares[n, mark], expected)


@pytest.mark.parametrize(("count", "apart"), [(3, 10), (0, 10), (2, 3), (2, 29)])
def test_wrong_sizes_are_refused(count, apart):
    with pytest.raises(ValueError, match="count" if apart == 10 else "apart"):
        mark_pairs(count, apart=apart)


def test_the_checksums_of_the_card():
    rows = re.findall(r"`mark_pairs\((\d+), seed=(\d+)\)` \| `(\w+)`", CARD.read_text(encoding="utf-8"))
    assert len(rows) == 3
    for count, seed, expected in rows:
        assert checksum(mark_pairs(int(count), seed=int(seed))) == expected


def test_no_picture_is_in_two_splits():
    splits = [mark_pairs(N, seed=seed)["image"] for seed in (0, 1, 2)]
    assert len({image.tobytes() for images in splits for image in images}) == 3 * N


def test_each_contestant_has_its_own_logit():
    model, parts = pair_race({"plain": None, "attention": SpatialSelfAttention(4), "mean": UniformGrid(4)})
    images = mark_pairs(4)["image"]
    logits = backend.to_numpy(model(images))
    for number, name in enumerate(("plain", "attention", "mean")):
        np.testing.assert_allclose(backend.to_numpy(parts[name][1](images))[:, 0], logits[:, number], atol=1e-5)
    assert parts["plain"][0](images).shape == (4, 8, 8, 32)


def test_a_race_without_contestants_is_refused():
    with pytest.raises(ValueError, match="contestants"):
        pair_race({})


def test_the_uniform_block_adds_the_mean_of_all_cells():
    layer, rng = UniformGrid(2), np.random.default_rng(0)
    grid = rng.normal(size=(2, 3, 5, 4)).astype("float32")
    layer.build(grid.shape)
    value, output = rng.normal(size=(4, 2)), rng.normal(size=(2, 4))
    layer.value_kernel.assign(value)
    layer.output_kernel.assign(output)
    layer.gamma.assign(0.7)
    expected = grid + 0.7 * (grid.mean(axis=(1, 2)) @ value @ output)[:, None, None]
    np.testing.assert_allclose(backend.to_numpy(layer(grid)), expected, rtol=1e-4, atol=1e-5)


def test_the_wide_control_reaches_every_cell_from_every_cell():
    control = wide_field()
    grid = np.ones((1, 8, 8, 32), "float32")
    control(grid)
    for layer in control.layers[::3]:  # all positive: no ReLU closes the way
        layer.kernel.assign(np.full(layer.kernel.shape, 1 / 300, "float32"))
    for row, column in ((0, 0), (7, 0), (7, 7)):
        changed = grid.copy()
        changed[0, row, column] = 5
        assert (backend.to_numpy(control(changed)) > backend.to_numpy(control(grid))).all()


def test_the_wide_control_has_at_least_the_parameters_of_attention():
    layers = wide_field(), SpatialSelfAttention(1)
    for layer in layers:
        layer(keras.ops.ones((1, 8, 8, 32)))
    assert layers[0].count_params() >= layers[1].count_params()


def test_the_map_of_a_cell_frames_the_other_mark_and_marks_the_cell():
    data = mark_pairs(2, seed=5)
    figure = plots.cell_maps(data["image"], np.ones((2, 8, 8)), [[1, 2], [3, 4]], data["corner"][:, 1])
    for ax, cell, corner in zip(figure.axes, [[1, 2], [3, 4]], data["corner"][:, 1], strict=False):
        np.testing.assert_allclose(ax.get_lines()[0].get_xydata(), [[cell[1] * 4 + 2, cell[0] * 4 + 2]])
        assert tuple(ax.patches[-1].get_xy()) == (corner[1], corner[0])


def test_figures_refuse_lists_of_different_lengths():
    data = mark_pairs(2)
    with pytest.raises(ValueError, match="colour"):
        plots.pair_sheet(data["image"], data["colour"][:1], data["distance"])
    with pytest.raises(ValueError, match="asked"):
        plots.cell_maps(data["image"], np.ones((2, 8, 8)), [[1, 2]], data["corner"][:, 1])
