"""Exercises of chapter 05: scaled scores, the whole layer, keys and values under a mask, a softmax too many."""

import numpy as np
from keras import ops

from attention_by_hand.exercises.framework import Function, Question


def _sizes(rng, count):
    """Sizes that are all different, none of them small, so that a swapped axis shows."""
    return rng.permutation(np.arange(3, 3 + count + 2))[:count]


def _normal(rng, *shape):
    return rng.normal(size=shape).astype("float32")


def _softmax(x, axis=-1):
    return ops.softmax(x, axis=axis)


def _product(query, key):
    return ops.einsum("btd,bsd->bts", query, key)  # (B, Tq, Tv)


def _root(x):
    return float(x.shape[-1]) ** 0.5


def _scores(query, key):
    return _product(query, key) / _root(query)


def _score_inputs(rng):
    batch, query_length, value_length, width = _sizes(rng, 4)
    return _normal(rng, batch, query_length, width), _normal(rng, batch, value_length, width)


def _layer_inputs(rng):
    """Query, value and key of one width, so that exchanged arguments run and show in the numbers."""
    query, value = _score_inputs(rng)
    return query, value, _normal(rng, *value.shape)


def _attend(query, value, key, scale=1.0, axis=-1):
    return ops.matmul(_softmax(scale * _scores(query, key), axis), value)


def _project_inputs(rng):
    """Query, items, W_K, W_V of one shape, and a mask (B, Tv) with a visible and a masked item in every row."""
    batch, query_length, value_length, query_width, item_width = _sizes(rng, 5)
    visible = rng.permuted(np.arange(value_length) < rng.integers(1, value_length, size=(batch, 1)), axis=1)
    return (
        _normal(rng, batch, query_length, query_width),
        _normal(rng, batch, value_length, item_width),
        _normal(rng, item_width, query_width),
        _normal(rng, item_width, query_width),
        visible,
    )


def _project(query, items, key_kernel, value_kernel, mask, scale=1.0, weights=None):
    """Upgrade 3 with a mask; `weights(scores, mask)` is where the mistakes differ."""
    scores = scale * _scores(query, ops.matmul(items, key_kernel))  # (B, Tq, Tv)
    return ops.matmul((weights or _masked_weights)(scores, mask), ops.matmul(items, value_kernel))


def _masked(scores, mask, fill=-1e9):
    return ops.where(mask[:, None, :], scores, fill)


def _masked_weights(scores, mask):
    return _softmax(_masked(scores, mask))


def _with_weights(weights):
    return lambda *arguments: _project(*arguments, weights=weights)


_TABLE = np.array([[0.1, 0.2, 0.3, 0.4], [0.2, 0.1, 0.4, 0.3]])  # transformer, attention × 전력, 영화, 음악, AI
_EXP = np.exp(_TABLE)
_ROWS = _EXP / _EXP.sum(axis=1, keepdims=True)

EXERCISES = [
    Function(
        id="5.1",
        inputs=_score_inputs,
        solution=_scores,
        mistakes={
            "missing_scale": _product,
            "double_scale": lambda q, k: _product(q, k) / _root(q) ** 2,
            "times_root": lambda q, k: _product(q, k) * _root(q),
            "divided_by_length": lambda q, k: _product(q, k) / float(k.shape[1]) ** 0.5,
            "query_key_swapped": lambda q, k: _scores(k, q),
            "weights_instead": lambda q, k: _softmax(_scores(q, k)),
            "keys_summed": lambda q, k: ops.zeros_like(_scores(q, k)) + ops.sum(_scores(q, k), axis=-1, keepdims=True),
        },
    ),
    Function(
        id="5.2",
        inputs=_layer_inputs,
        solution=_attend,
        mistakes={
            "missing_scale": lambda q, v, k: _attend(q, v, k, scale=_root(q)),
            "double_scale": lambda q, v, k: _attend(q, v, k, scale=1 / _root(q)),
            "softmax_axis": lambda q, v, k: _attend(q, v, k, axis=1),
            "missing_softmax": lambda q, v, k: ops.matmul(_scores(q, k), v),
            "value_key_swapped": lambda q, v, k: _attend(q, k, v),
            "key_fetched": lambda q, v, k: _attend(q, k, k),
            "value_matched": lambda q, v, k: _attend(q, v, v),
            "second_softmax": lambda q, v, k: ops.matmul(_softmax(_softmax(_scores(q, k))), v),
            "weights_instead": lambda q, v, k: _softmax(_scores(q, k)),
            "uniform": lambda q, v, k: _attend(q, v, k, scale=0.0),
        },
    ),
    Function(
        id="5.3",
        inputs=_project_inputs,
        solution=_project,
        mistakes={
            "missing_scale": lambda q, *rest: _project(q, *rest, scale=_root(q)),
            "double_scale": lambda q, *rest: _project(q, *rest, scale=1 / _root(q)),
            "kernels_swapped": lambda q, x, wk, wv, m: _project(q, x, wv, wk, m),
            "key_fetched": lambda q, x, wk, wv, m: _project(q, x, wk, wk, m),
            "value_matched": lambda q, x, wk, wv, m: _project(q, x, wv, wv, m),
            "mask_inverted": _with_weights(lambda e, m: _masked_weights(e, ops.logical_not(m))),
            "mask_after_softmax": _with_weights(lambda e, m: _masked(_softmax(e), m, 0.0)),
            "mask_missing": _with_weights(lambda e, m: _softmax(e)),
            "mask_multiplied": _with_weights(lambda e, m: _softmax(_masked(e, m, 0.0))),
            "softmax_axis": _with_weights(lambda e, m: _softmax(_masked(e, m), axis=1)),
            "softmax_axis_masked_after": _with_weights(lambda e, m: _masked(_softmax(e, axis=1), m, 0.0)),
            "second_softmax": _with_weights(lambda e, m: _softmax(_masked_weights(e, m))),
            "missing_softmax": _with_weights(lambda e, m: _masked(e, m, 0.0)),
        },
    ),
    Question(
        id="5.4",
        expected=float(_ROWS[0, 3]),
        mistakes={
            "not_applied": 0.4,
            "softmax_axis": float(_EXP[0, 3] / _EXP[:, 3].sum()),
            "not_divided": float(_EXP[0, 3]),
            "wrong_cell": float(_ROWS[0, 0]),
            "other_row": float(_ROWS[1, 3]),
            "even": 0.25,
        },
        tolerance=4e-3,
    ),
]
