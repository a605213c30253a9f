"""Exercises of chapter 04: softmax over a grid, the context of a grid, the pointing game, the mass in a box."""

import numpy as np
from keras import ops

from attention_by_hand.exercises.framework import Function, Question


def _normal(rng, *shape):
    return rng.normal(size=shape).astype("float32")


def _flat(x):
    return ops.reshape(x, (*x.shape[:2], -1))  # (B, T, H, W) -> (B, T, H · W)


def _softmax(scores):
    return ops.reshape(ops.softmax(_flat(scores)), scores.shape)


SOFTMAX = Function(
    "4.1",
    inputs=lambda rng: (_normal(rng, 2, 3, 4, 5),),
    solution=_softmax,
    mistakes={
        "each_row": lambda e: ops.softmax(e, axis=-1),
        "each_column": lambda e: ops.softmax(e, axis=-2),
        "over_steps": lambda e: ops.softmax(e, axis=1),
        "over_pictures": lambda e: ops.softmax(e, axis=0),
        "steps_too": lambda e: ops.reshape(ops.softmax(ops.reshape(e, (2, -1))), e.shape),
        "twice": lambda e: ops.softmax(ops.softmax(e, axis=-1), axis=-2),
        "product": lambda e: ops.softmax(e, axis=-1) * ops.softmax(e, axis=-2),
        "still_flat": lambda e: ops.softmax(_flat(e)),
        "not_divided": lambda e: ops.exp(e),
        "missing_softmax": lambda e: e,
    },
)


def _context(weights, grid):
    return ops.einsum("bthw,bhwc->btc", weights, grid)


def _other_order(weights, grid):
    """Cells counted column by column in one of the two, row by row in the other."""
    columns = ops.transpose(grid, (0, 2, 1, 3))  # (B, W, H, C)
    return ops.matmul(_flat(weights), ops.reshape(columns, (grid.shape[0], -1, grid.shape[-1])))


def _weights(rng):
    return rng.dirichlet(np.ones(20), (2, 3)).reshape(2, 3, 4, 5).astype("float32")


CONTEXT = Function(
    "4.2",
    inputs=lambda rng: (_weights(rng), _normal(rng, 2, 4, 5, 6)),
    solution=_context,
    mistakes={
        "mean": lambda a, h: _context(a, h) / 20,
        "other_order": _other_order,
        "weights_ignored": lambda a, h: _context(ops.ones_like(a) / 20, h),
        "not_summed": lambda a, h: ops.expand_dims(a, -1) * ops.expand_dims(h, 1),
        "rows_left": lambda a, h: ops.einsum("bthw,bhwc->bthc", a, h),
        "columns_left": lambda a, h: ops.einsum("bthw,bhwc->btwc", a, h),
        "features_summed": lambda a, h: ops.sum(_context(a, h), axis=-1),
        "steps_summed": lambda a, h: ops.sum(_context(a, h), axis=1),
        "pictures_mixed": lambda a, h: ops.einsum("bthw,nhwc->btc", a, h),
        "largest": lambda a, h: ops.max(ops.expand_dims(a, -1) * ops.expand_dims(h, 1), axis=(2, 3)),
    },
)

_PIXELS = (60, 80)  # height and width of the picture; cells of 15 × 16 pixels on a grid of 4 × 5


def _boxes(rng, count=160):
    start = rng.integers(0, (50, 40), size=(count, 2))  # left, top
    end = np.minimum(start + rng.integers(12, 40, size=(count, 2)), (80, 60))
    return np.concatenate([start, end], axis=1).astype("float32")


def _pointing(swapped=False, at=0.5, pixels=True, mean=False, box=(0, 1, 2, 3), touch=False, least=False):
    """The rule of the pointing game, right or with one mistake."""

    def hits(weights, boxes):
        height, width = weights.shape[1:]
        flat = ops.reshape(weights, (-1, height * width))
        best = ops.argmin(flat, axis=-1) if least else ops.argmax(flat, axis=-1)  # (N,)
        row, column = ops.cast(best // width, "float32"), ops.cast(best % width, "float32")
        down, across = _PIXELS[0] / height, _PIXELS[1] / width  # pixels of a cell
        if mean:  # the weighted mean of the centres instead of the heaviest cell
            row = ops.sum(ops.sum(weights, axis=2) * np.arange(height, dtype="float32"), axis=1)
            column = ops.sum(ops.sum(weights, axis=1) * np.arange(width, dtype="float32"), axis=1)
        row, column = (column, row) if swapped else (row, column)
        y, x = ((row + at) * down, (column + at) * across) if pixels else (row, column)
        left, top, right, bottom = (boxes[:, n] for n in box)
        if touch:
            low, high = (x - across / 2, y - down / 2), (x + across / 2, y + down / 2)
            found = (low[0] < right) & (high[0] > left) & (low[1] < bottom) & (high[1] > top)
        else:
            found = (left <= x) & (x < right) & (top <= y) & (y < bottom)
        return ops.cast(found, "float32")

    return hits


def _maps(rng, count=160):
    return rng.dirichlet(np.full(20, 0.3), count).reshape(count, 4, 5).astype("float32")


POINTING = Function(
    "4.3",
    inputs=lambda rng: (_maps(rng), _boxes(rng)),
    solution=_pointing(),
    mistakes={
        "row_column_swapped": _pointing(swapped=True),
        "corner": _pointing(at=0.0),
        "far_corner": _pointing(at=1.0),
        "cells_not_pixels": _pointing(pixels=False),
        "mean_place": _pointing(mean=True),
        "box_order": _pointing(box=(1, 0, 3, 2)),
        "touch": _pointing(touch=True),
        "least": _pointing(least=True),
        "share": lambda a, b: ops.mean(_pointing()(a, b)),
    },
)

MASS = Question(
    "4.4",
    expected=0.375,  # 0.6 · (8/8 · 4/8) + 0.2 · (4/8 · 6/8) + 0.2 · 0
    mistakes={
        "touching": 0.8,
        "centres": 0.6,
        "first_cell": 0.3,
        "not_weighted": 0.875,
        "across_only": 0.7,
        "down_only": 0.45,
        "row_column_swapped": 0.0,
    },
)

EXERCISES = [SOFTMAX, CONTEXT, POINTING, MASS]
