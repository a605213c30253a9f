"""Scores of attention over a picture against gold boxes: the pointing game, the mass in the box, chance for both.

A picture of (height, width) pixels is seen as a grid of H × W cells of the same size. A box is
(left, top, right, bottom) in pixels, right and bottom excluded.
"""

import numpy as np

from attention_by_hand.metrics.weights import checked_weights


def pointing_game(weights, boxes, image_size):
    """Share of the maps whose heaviest cell has its centre in the box (Zhang et al. 2016).

    Where k cells share the largest weight and m of them are hits, that counts m/k, so that an even map scores
    what `pointing_chance` says.

    Args:
        weights: (N, H, W), non-negative.
        boxes: (N, 4), one box a map.
        image_size: (height, width) in pixels, or one number for both.

    Returns:
        A float in [0, 1].

    Raises:
        ValueError: shapes do not match, a box is empty or leaves the picture, a weight is negative or not finite.
    """
    weights, boxes, size = _checked(weights, boxes, image_size)
    largest = weights == weights.max(axis=(1, 2), keepdims=True)  # (N, H, W)
    hits = (largest & _centres_inside(boxes, weights.shape[1:], size)).sum(axis=(1, 2))
    return float(np.mean(hits / largest.sum(axis=(1, 2))))


def mass_in_box(weights, boxes, image_size):
    """Mean weight in the box: every cell's weight times the share of its area that lies inside.

    Args:
        weights: (N, H, W), non-negative, each map summing to 1.
        boxes, image_size: as `pointing_game`.

    Returns:
        A float in [0, 1]; an even map scores what `mass_chance` says.

    Raises:
        ValueError: as `pointing_game`, or a map does not sum to 1.
    """
    weights, boxes, size = _checked(weights, boxes, image_size)
    sums = weights.sum(axis=(1, 2))
    if np.abs(sums - 1).max() > 1e-2:  # half precision rounds that much
        raise ValueError(f"every map of weights must sum to 1; the sums are {sums.min():.3g} … {sums.max():.3g}")
    return float(np.mean((weights * _shares_inside(boxes, weights.shape[1:], size)).sum(axis=(1, 2))))


def pointing_chance(boxes, grid, image_size):
    """What a cell drawn evenly scores in the pointing game: the mean share of cells with their centre in the box.

    Args:
        boxes: (N, 4).
        grid: (H, W), the cells.
        image_size: (height, width) in pixels, or one number for both.

    Returns:
        A float in [0, 1].
    """
    even, boxes, size = _checked(_even(boxes, grid), boxes, image_size)
    return float(np.mean(_centres_inside(boxes, even.shape[1:], size)))


def mass_chance(boxes, image_size):
    """What an even map scores in `mass_in_box`: the mean share of the picture that the box covers.

    Args:
        boxes: (N, 4).
        image_size: (height, width) in pixels, or one number for both.

    Returns:
        A float in [0, 1].
    """
    _, boxes, (height, width) = _checked(_even(boxes, (1, 1)), boxes, image_size)
    return float(np.mean((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])) / (height * width))


def _even(boxes, grid):
    return np.full((len(boxes), *grid), 1 / (grid[0] * grid[1]))


def _centres_inside(boxes, grid, size):
    """(N, H, W): whether the centre of a cell is in the box."""
    x, y = (_edges(axis, grid, size)[:-1] + size[axis] / grid[axis] / 2 for axis in (1, 0))
    left, top, right, bottom = boxes.T[..., None]  # (N, 1) each
    columns, rows = (left <= x) & (x < right), (top <= y) & (y < bottom)
    return rows[:, :, None] & columns[:, None, :]


def _shares_inside(boxes, grid, size):
    """(N, H, W): the share of a cell's area that is in the box."""
    columns, rows = (
        np.clip(np.minimum(boxes[:, axis + 2, None], edges[1:]) - np.maximum(boxes[:, axis, None], edges[:-1]), 0, None)
        / (edges[1] - edges[0])
        for axis, edges in ((0, _edges(1, grid, size)), (1, _edges(0, grid, size)))
    )
    return rows[:, :, None] * columns[:, None, :]


def _edges(axis, grid, size):
    """Where the cells begin, and where the last one ends, along an axis (0 down, 1 across)."""
    return np.linspace(0, size[axis], grid[axis] + 1)


def _checked(weights, boxes, image_size):
    weights, boxes = checked_weights(weights), np.asarray(boxes, "float64")
    size = (image_size, image_size) if np.ndim(image_size) == 0 else tuple(image_size)
    if weights.ndim != 3 or not weights.size:
        raise ValueError(f"weights must be (N, H, W), one map for each box; got {weights.shape}")
    if boxes.shape != (len(weights), 4):
        raise ValueError(f"boxes must be ({len(weights)}, 4), one box for each map; got {boxes.shape}")
    if len(size) != 2 or min(size) <= 0:
        raise ValueError(f"image_size must be (height, width) or one number, in pixels; got {image_size!r}")
    left, top, right, bottom = boxes.T
    outside = (left < 0) | (top < 0) | (right > size[1]) | (bottom > size[0]) | (left >= right) | (top >= bottom)
    if outside.any():
        n = int(np.argmax(outside))
        raise ValueError(
            f"boxes must be (left, top, right, bottom) inside the picture of {size[0]} × {size[1]} pixels; "
            f"box {n} is {boxes[n].tolist()}"
        )
    return weights, boxes, size
