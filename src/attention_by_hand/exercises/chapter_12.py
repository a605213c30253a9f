"""Exercises of chapter 12: scores between cells, the whole block, its parameters, and the size of its map."""

import numpy as np
from keras import ops

from attention_by_hand.exercises.framework import Function, Question


def _normal(rng, *shape):
    return rng.normal(size=shape).astype("float32")


def _sizes(rng):
    """B, H, W, C, C': all different, so that a swapped axis shows."""
    return rng.permutation(np.arange(2, 8))[:5]


def _score_inputs(rng):
    batch, height, width, channels, inner = _sizes(rng)
    return _normal(rng, batch, height, width, channels), *(_normal(rng, channels, inner) for _ in range(2))


def _block_inputs(rng):
    batch, height, width, channels, inner = _sizes(rng)
    grid = _normal(rng, batch, height, width, channels)
    kernels = [0.5 * _normal(rng, channels, inner) for _ in range(3)]
    return grid, *kernels, _normal(rng, inner, channels), np.float32(rng.uniform(0.3, 0.8))


def _cells(grid):
    batch, height, width, channels = grid.shape
    return ops.reshape(grid, (batch, height * width, channels))  # (B, H · W, C)


def _by_columns(grid):
    return _cells(ops.transpose(grid, (0, 2, 1, 3)))


def _mixed(grid):
    """The reshape that forgets where the channels are."""
    batch, height, width, channels = grid.shape
    return ops.reshape(ops.transpose(grid, (0, 3, 1, 2)), (batch, height * width, channels))


def _product(query, key):
    return ops.einsum("btd,bsd->bts", query, key)


def _scores(grid, query_kernel, key_kernel, cells=_cells):
    x = cells(grid)
    return _product(ops.matmul(x, query_kernel), ops.matmul(x, key_kernel))  # (B, H · W, H · W)


def _root(kernel):
    return float(kernel.shape[-1]) ** 0.5


def _attended(grid, wq, wk, wv, wo, scale=1.0, weights=ops.softmax, cells=_cells):
    """What attention brings to every cell, as a grid (B, H, W, C)."""
    value = ops.matmul(cells(grid), wv)
    y = ops.matmul(weights(scale * _scores(grid, wq, wk, cells)), value)  # (B, H · W, C')
    return ops.reshape(ops.matmul(y, wo), grid.shape)


def _block(grid, wq, wk, wv, wo, gamma, **options):
    return grid + gamma * _attended(grid, wq, wk, wv, wo, **options)


def _over_queries(scores):
    return ops.softmax(scores, axis=1)


def _even(scores):
    return ops.softmax(0.0 * scores)


EXERCISES = [
    Function(
        id="12.1",
        inputs=_score_inputs,
        solution=_scores,
        mistakes={
            "scaled": lambda x, wq, wk: _scores(x, wq, wk) / _root(wq),
            "query_key_swapped": lambda x, wq, wk: _scores(x, wk, wq),
            "weights_instead": lambda x, wq, wk: ops.softmax(_scores(x, wq, wk)),
            "by_columns": lambda x, wq, wk: _scores(x, wq, wk, cells=_by_columns),
            "channels_mixed": lambda x, wq, wk: _scores(x, wq, wk, cells=_mixed),
            "one_kernel": lambda x, wq, wk: _scores(x, wq, wq),
            "key_kernel_twice": lambda x, wq, wk: _scores(x, wk, wk),
        },
    ),
    Function(
        id="12.2",
        inputs=_block_inputs,
        solution=_block,
        mistakes={
            "missing_residual": lambda x, q, k, v, o, g: g * _attended(x, q, k, v, o),
            "missing_gamma": lambda x, q, k, v, o, g: x + _attended(x, q, k, v, o),
            "gamma_on_grid": lambda x, q, k, v, o, g: g * x + _attended(x, q, k, v, o),
            "mixed_by_gamma": lambda x, q, k, v, o, g: (1 - g) * x + g * _attended(x, q, k, v, o),
            "softmax_axis": lambda *inputs: _block(*inputs, weights=_over_queries),
            "missing_softmax": lambda *inputs: _block(*inputs, weights=lambda scores: scores),
            "scaled": lambda x, q, *rest: _block(x, q, *rest, scale=1 / _root(q)),
            "query_key_swapped": lambda x, q, k, *rest: _block(x, k, q, *rest),
            "key_fetched": lambda x, q, k, v, *rest: _block(x, q, k, k, *rest),
            "channels_mixed": lambda *inputs: _block(*inputs, cells=_mixed),
            "by_columns": lambda *inputs: _block(*inputs, cells=_by_columns),
            "uniform": lambda *inputs: _block(*inputs, weights=_even),
        },
    ),
    Question(
        id="12.3",
        expected=4 * 64 * 8 + 1,
        mistakes={
            "no_gamma": 4 * 64 * 8,
            "three_kernels": 3 * 64 * 8 + 1,
            "with_biases": 4 * 64 * 8 + 3 * 8 + 64 + 1,
            "not_reduced": 4 * 64 * 64 + 1,
            "three_by_three": 9 * 4 * 64 * 8 + 1,
            "gamma_per_channel": 4 * 64 * 8 + 64,
        },
    ),
    Question(
        id="12.4",
        expected=64**4,
        mistakes={
            "cells": 64**2,
            "one_axis": 64**3,
            "not_twice": 32**4 * 4,
            "bytes": 4 * 64**4,
            "half": 64**2 * (64**2 + 1) // 2,
            "not_changed": 32**4,
        },
    ),
]
