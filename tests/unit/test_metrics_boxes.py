"""Pointing game, mass in the box and chance, on grids small enough to count by hand."""

import numpy as np
import pytest
from keras import ops

from attention_by_hand import metrics

# A picture of 6 × 12 pixels (height × width) under a grid of 2 × 3 cells: each cell is 3 high and 4 wide.
SIZE = (6, 12)
WEIGHTS = np.array([[[0.1, 0.5, 0.0], [0.0, 0.2, 0.2]], [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]])
BOXES = np.array([[5, 0, 12, 2], [2, 4, 4, 6]])


def test_pointing_game_asks_for_the_centre_of_the_heaviest_cell():
    # map 0: cell (0, 1), centre x = 6, y = 1.5, in the box; map 1: cell (1, 0), centre x = 2, y = 4.5, in the box
    assert metrics.pointing_game(WEIGHTS, BOXES, SIZE) == 1
    # right and bottom edges are outside, left and top inside
    assert metrics.pointing_game(WEIGHTS, [[5, 0, 6, 2], [0, 0, 2, 6]], SIZE) == 0
    assert metrics.pointing_game(WEIGHTS, [[6, 1.5, 7, 2], [2, 4.5, 3, 5]], SIZE) == 1


def test_pointing_game_shares_a_tie():
    weights = [[[0.4, 0.4, 0.0], [0.2, 0.0, 0.0]]]  # one of the two heaviest is in the box
    assert metrics.pointing_game(weights, [[0, 0, 3, 3]], SIZE) == pytest.approx(1 / 2)


def test_mass_is_weighted_by_the_share_of_the_cell_inside_the_box():
    # box 0 covers x 5 … 12, y 0 … 2: cell (0, 1) by 3/4 · 2/3 = 1/2, cell (0, 2) by 2/3: 0.5 · 1/2 + 0 = 0.25
    # box 1 covers x 2 … 4, y 4 … 6: cell (1, 0) by 2/4 · 2/3 = 1/3
    assert metrics.mass_in_box(WEIGHTS, BOXES, SIZE) == pytest.approx((0.25 + 1 / 3) / 2)
    assert metrics.mass_in_box(WEIGHTS[:1], BOXES[:1], SIZE) == pytest.approx(0.25)


def test_mass_of_the_whole_picture_is_1():
    assert metrics.mass_in_box(WEIGHTS, [[0, 0, 12, 6]] * 2, SIZE) == pytest.approx(1)


def test_chance_by_hand():
    # centres at x = 2, 6, 10 and y = 1.5, 4.5. Box 0 holds (6, 1.5) and (10, 1.5): 2/6; box 1 holds (2, 4.5): 1/6
    assert metrics.pointing_chance(BOXES, (2, 3), SIZE) == pytest.approx((2 / 6 + 1 / 6) / 2)
    # areas 7 · 2 and 2 · 2 of 72
    assert metrics.mass_chance(BOXES, SIZE) == pytest.approx((14 / 72 + 4 / 72) / 2)


def test_an_even_map_scores_chance(rng):
    corner = rng.uniform(0, 40, size=(50, 2))
    boxes = np.concatenate([corner, corner + rng.uniform(1, 20, size=(50, 2))], axis=1)
    even = np.full((50, 5, 8), 1 / 40)
    assert metrics.pointing_game(even, boxes, 64) == pytest.approx(metrics.pointing_chance(boxes, (5, 8), 64))
    assert metrics.mass_in_box(even, boxes, 64) == pytest.approx(metrics.mass_chance(boxes, 64))


def test_boxes_scores_take_tensors_of_the_backend():
    weights = ops.convert_to_tensor(WEIGHTS, "float32")
    assert metrics.pointing_game(weights, BOXES, SIZE) == 1
    assert metrics.mass_in_box(weights, BOXES, SIZE) == pytest.approx((0.25 + 1 / 3) / 2)


@pytest.mark.parametrize("score", [metrics.pointing_game, metrics.mass_in_box])
@pytest.mark.parametrize(
    ("weights", "boxes", "size", "message"),
    [
        (WEIGHTS[0], BOXES, SIZE, r"weights must be \(N, H, W\)"),
        (WEIGHTS, BOXES[:1], SIZE, r"boxes must be \(2, 4\).*got \(1, 4\)"),
        (WEIGHTS, [[5, 0, 13, 2], [2, 4, 4, 6]], SIZE, "inside the picture.*box 0"),
        (WEIGHTS, [[5, 0, 12, 2], [2, 4, 2, 6]], SIZE, "box 1"),
        (WEIGHTS, BOXES, (6, 12, 3), "image_size"),
        (-WEIGHTS, BOXES, SIZE, "finite and at least 0"),
    ],
)
def test_wrong_input_is_named(score, weights, boxes, size, message):
    with pytest.raises(ValueError, match=message):
        score(weights, boxes, size)


def test_weights_that_do_not_sum_to_1_have_no_mass():
    with pytest.raises(ValueError, match="sum to 1"):
        metrics.mass_in_box(2 * WEIGHTS, BOXES, SIZE)
