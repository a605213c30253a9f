"""Exercises of chapter 06: the layer, its padding, the one matrix behind the scores, and what a set cannot tell."""

import numpy as np
from keras import ops

from attention_by_hand.exercises.framework import Function, Question


def _normal(rng, *shape):
    return rng.normal(size=shape).astype("float32")


def _swap(x):
    return ops.transpose(x, (0, 2, 1))


def _scores(x, query_kernel, key_kernel, scale=None):
    scale = query_kernel.shape[-1] ** -0.5 if scale is None else scale
    return ops.matmul(ops.matmul(x, query_kernel), _swap(ops.matmul(x, key_kernel))) * scale  # (B, T, T)


def _attend(x, query_kernel, key_kernel, value_kernel, scale=None, axis=-1):
    weights = ops.softmax(_scores(x, query_kernel, key_kernel, scale), axis=axis)
    return ops.matmul(weights, ops.matmul(x, value_kernel))  # (B, T, Dv)


LAYER = Function(
    "6.1",
    # Queries and keys have one width, 3; all other sizes differ: B 2, T 5, D 7, Dv 4.
    inputs=lambda rng: (_normal(rng, 2, 5, 7), _normal(rng, 7, 3), _normal(rng, 7, 3), _normal(rng, 7, 4)),
    solution=_attend,
    mistakes={
        "missing_scale": lambda x, q, k, v: _attend(x, q, k, v, scale=1.0),
        "divided_by_width": lambda x, q, k, v: _attend(x, q, k, v, scale=1 / 3),
        "scale_of_input": lambda x, q, k, v: _attend(x, q, k, v, scale=7**-0.5),
        "scale_of_value": lambda x, q, k, v: _attend(x, q, k, v, scale=4**-0.5),
        "query_key_swapped": lambda x, q, k, v: _attend(x, k, q, v),
        "one_kernel": lambda x, q, k, v: _attend(x, q, q, v),
        "one_key_kernel": lambda x, q, k, v: _attend(x, k, k, v),
        "no_kernels": lambda x, q, k, v: ops.matmul(ops.softmax(ops.matmul(x, _swap(x)) * 7**-0.5), ops.matmul(x, v)),
        "softmax_axis": lambda x, q, k, v: _attend(x, q, k, v, axis=1),
        "missing_softmax": lambda x, q, k, v: ops.matmul(_scores(x, q, k), ops.matmul(x, v)),
        "value_not_projected": lambda x, q, k, v: ops.matmul(ops.softmax(_scores(x, q, k)), x),
        "weights_instead": lambda x, q, k, v: ops.softmax(_scores(x, q, k)),
        "uniform": lambda x, q, k, v: ops.matmul(ops.softmax(0 * _scores(x, q, k)), ops.matmul(x, v)),
    },
)


def _mask_inputs(rng):
    """Scores (B, T, T), values (B, T, Dv) and a mask (B, T) that hides one to three of five words."""
    mask = np.arange(5) < rng.integers(2, 5, size=(2, 1))
    return 2 * _normal(rng, 2, 5, 5), _normal(rng, 2, 5, 4), mask


def _columns(mask):
    return ops.expand_dims(ops.cast(mask, "bool"), 1)  # (B, 1, T)


def _rows(mask):
    return ops.expand_dims(ops.cast(mask, "bool"), 2)  # (B, T, 1)


def _keep(x, visible, fill=0.0):
    return ops.where(visible, x, fill * ops.ones_like(x))


def _masked(scores, value, mask):
    weights = ops.softmax(_keep(scores, _columns(mask), -1e30))
    return _keep(ops.matmul(weights, value), _rows(mask))


PADDING = Function(
    "6.2",
    inputs=_mask_inputs,
    solution=_masked,
    mistakes={
        "mask_missing": lambda e, v, m: ops.matmul(ops.softmax(e), v),
        "keys_only": lambda e, v, m: ops.matmul(ops.softmax(_keep(e, _columns(m), -1e30)), v),
        "queries_only": lambda e, v, m: _keep(ops.matmul(ops.softmax(e), v), _rows(m)),
        "wrong_axis": lambda e, v, m: ops.matmul(ops.softmax(_keep(e, _rows(m), -1e30)), v),
        "mask_inverted": lambda e, v, m: _masked(e, v, ops.logical_not(ops.cast(m, "bool"))),
        "mask_after_softmax": lambda e, v, m: _keep(ops.matmul(_keep(ops.softmax(e), _columns(m)), v), _rows(m)),
        "score_zero": lambda e, v, m: _keep(ops.matmul(ops.softmax(_keep(e, _columns(m))), v), _rows(m)),
        "softmax_axis": lambda e, v, m: _keep(
            ops.matmul(ops.softmax(_keep(e, _columns(m), -1e30), axis=1), v), _rows(m)
        ),
        "missing_softmax": lambda e, v, m: _keep(ops.matmul(_keep(e, _columns(m)), v), _rows(m)),
    },
)


def _joined(query_kernel, key_kernel, scale=None):
    scale = query_kernel.shape[-1] ** -0.5 if scale is None else scale
    return ops.matmul(query_kernel, ops.transpose(key_kernel)) * scale  # (D, D)


ONE_MATRIX = Function(
    "6.3",
    inputs=lambda rng: (_normal(rng, 6, 3), _normal(rng, 6, 3)),
    solution=_joined,
    mistakes={
        "query_key_swapped": lambda q, k: _joined(k, q),
        "missing_scale": lambda q, k: _joined(q, k, scale=1.0),
        "divided_by_width": lambda q, k: _joined(q, k, scale=1 / 3),
        "scale_of_input": lambda q, k: _joined(q, k, scale=6**-0.5),
        "inner": lambda q, k: ops.matmul(ops.transpose(q), k) * 3**-0.5,
        "inner_unscaled": lambda q, k: ops.matmul(ops.transpose(q), k),
        "one_kernel": lambda q, k: _joined(q, q),
        "one_key_kernel": lambda q, k: _joined(k, k),
        "elementwise": lambda q, k: q * k,
        "softmax": lambda q, k: ops.softmax(_joined(q, k)),
    },
)

DIFFERENT_ROWS = Question(
    "6.4",
    expected=4,
    mistakes={"every_word": 6, "only_bae": 3, "one": 1, "without_bae": 5, "words_once": 2},
)

EXERCISES = [LAYER, PADDING, ONE_MATRIX, DIFFERENT_ROWS]
