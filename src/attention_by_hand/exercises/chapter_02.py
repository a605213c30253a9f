"""Exercises of chapter 02: the score, the masked weights, the whole layer, and the paper's form."""

import numpy as np
from keras import ops

from attention_by_hand.exercises.framework import Function


def _normal(rng, *shape):
    return rng.normal(size=shape).astype("float32")


def _hidden(query, key):
    return ops.tanh(ops.expand_dims(query, 2) + ops.expand_dims(key, 1))  # (B, Tq, Tv, D)


def _scores(query, key, scale=1.0):
    return ops.sum(scale * _hidden(query, key), axis=-1)  # (B, Tq, Tv)


def _swap(x):
    return ops.transpose(x, (0, 2, 1))


def _pair(query, key, join):
    return join(ops.expand_dims(query, 2), ops.expand_dims(key, 1))


SCORES = Function(
    "2.1",
    inputs=lambda rng: (_normal(rng, 2, 3, 4), _normal(rng, 2, 5, 4), _normal(rng, 4)),
    solution=_scores,
    mistakes={
        "query_key_swapped": lambda q, k, s: _scores(k, q, s),
        "missing_tanh": lambda q, k, s: ops.sum(s * _pair(q, k, ops.add), axis=-1),
        "missing_scale_vector": lambda q, k, s: _scores(q, k),
        "scale_inside": lambda q, k, s: ops.sum(ops.tanh(s * _pair(q, k, ops.add)), axis=-1),
        "tanh_after_sum": lambda q, k, s: ops.tanh(ops.sum(s * _pair(q, k, ops.add), axis=-1)),
        "product": lambda q, k, s: ops.sum(s * ops.tanh(_pair(q, k, ops.multiply)), axis=-1),
        "mean_over_features": lambda q, k, s: ops.mean(s * _hidden(q, k), axis=-1),
        "missing_sum": lambda q, k, s: s * _hidden(q, k),
        "sum_over_keys": lambda q, k, s: ops.sum(s * _hidden(q, k), axis=2),
        "weights_instead": lambda q, k, s: ops.softmax(_scores(q, k, s), axis=-1),
    },
)


def _mask_inputs(rng):
    """Scores (B, Tq, Tv) and a mask (B, Tv) that hides one to three of five keys in each example."""
    mask = np.arange(5) < rng.integers(2, 5, size=(2, 1))
    return 3 * _normal(rng, 2, 3, 5), rng.permuted(mask, axis=1)


def _visible(mask):
    return ops.expand_dims(ops.cast(mask, "bool"), 1)  # (B, 1, Tv)


def _masked(scores, visible, axis=-1):
    return ops.softmax(ops.where(visible, scores, -1e30), axis=axis)


def _zeroed(x, visible):
    return ops.where(visible, x, ops.zeros_like(x))


WEIGHTS = Function(
    "2.2",
    inputs=_mask_inputs,
    solution=lambda e, m: _masked(e, _visible(m)),
    mistakes={
        "mask_missing": lambda e, m: ops.softmax(e, axis=-1),
        "mask_inverted": lambda e, m: _masked(e, ops.logical_not(_visible(m))),
        "mask_after_softmax": lambda e, m: _zeroed(ops.softmax(e, axis=-1), _visible(m)),
        "score_zero": lambda e, m: ops.softmax(_zeroed(e, _visible(m)), axis=-1),
        "softmax_axis": lambda e, m: _masked(e, _visible(m), axis=1),
        "softmax_axis_masked_after": lambda e, m: _zeroed(ops.softmax(e, axis=1), _visible(m)),
        "missing_softmax": lambda e, m: _zeroed(e, _visible(m)),
        "raw_masked_scores": lambda e, m: ops.where(_visible(m), e, -1e30),
        "uniform": lambda e, m: _masked(ops.zeros_like(e), _visible(m)),
        "rescaled": lambda e, m: _rescaled(_zeroed(e, _visible(m))),
    },
)


def _rescaled(scores):
    return scores / ops.sum(scores, axis=-1, keepdims=True)


def _attend(query, value, key, axis=-1):
    return ops.matmul(ops.softmax(_scores(query, key), axis=axis), value)


ATTEND = Function(
    "2.3",
    # One width for all three, so that a wrong order runs, as it does in a real model; lengths and batch differ.
    inputs=lambda rng: (_normal(rng, 2, 3, 4), _normal(rng, 2, 5, 4), _normal(rng, 2, 5, 4)),
    solution=_attend,
    mistakes={
        "value_key_swapped": lambda q, v, k: _attend(q, k, v),
        "key_ignored": lambda q, v, k: _attend(q, v, v),
        "key_fetched": lambda q, v, k: _attend(q, k, k),
        "softmax_axis": lambda q, v, k: _attend(q, v, k, axis=1),
        "missing_softmax": lambda q, v, k: ops.matmul(_scores(q, k), v),
        "query_key_swapped": lambda q, v, k: _attend(k, q, q),
        "uniform": lambda q, v, k: ops.matmul(ops.softmax(ops.zeros_like(_scores(q, k)), axis=-1), v),
        "mean_of_weighted": lambda q, v, k: _attend(q, v, k) / v.shape[1],
        "double_softmax": lambda q, v, k: ops.matmul(ops.softmax(ops.softmax(_scores(q, k), axis=-1), axis=-1), v),
        "weights_instead": lambda q, v, k: ops.softmax(_scores(q, k), axis=-1),
    },
)


def _paper(query, key, query_kernel, key_kernel, v):
    return _scores(ops.matmul(query, query_kernel), ops.matmul(key, key_kernel), v)


PAPER = Function(
    "2.4",
    # Query and key have one width D, so that exchanged kernels run; U is another number.
    inputs=lambda rng: (
        _normal(rng, 2, 3, 4),
        _normal(rng, 2, 5, 4),
        _normal(rng, 4, 6),
        _normal(rng, 4, 6),
        _normal(rng, 6),
    ),
    solution=_paper,
    mistakes={
        "kernels_swapped": lambda q, k, a, b, v: _paper(q, k, b, a, v),
        "one_kernel": lambda q, k, a, b, v: _paper(q, k, a, a, v),
        "one_key_kernel": lambda q, k, a, b, v: _paper(q, k, b, b, v),
        "missing_v": lambda q, k, a, b, v: _paper(q, k, a, b, 1.0),
        "v_inside": lambda q, k, a, b, v: ops.sum(ops.tanh(v * _pair(q @ a, k @ b, ops.add)), axis=-1),
        "tanh_each": lambda q, k, a, b, v: ops.sum(v * _pair(ops.tanh(q @ a), ops.tanh(k @ b), ops.add), axis=-1),
        "missing_tanh": lambda q, k, a, b, v: ops.sum(v * _pair(q @ a, k @ b, ops.add), axis=-1),
        "query_key_swapped": lambda q, k, a, b, v: _swap(_paper(q, k, a, b, v)),
        "missing_sum": lambda q, k, a, b, v: v * _hidden(q @ a, k @ b),
        "weights_instead": lambda q, k, a, b, v: ops.softmax(_paper(q, k, a, b, v), axis=-1),
    },
)

EXERCISES = [SCORES, WEIGHTS, ATTEND, PAPER]
