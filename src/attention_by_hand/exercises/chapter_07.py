"""Exercises of chapter 07: the causal mask, a mask from valid lengths, both in a softmax, and the leak test."""

import numpy as np
from keras import ops

from attention_by_hand.exercises.framework import Function


def _later(query_length, key_length):
    """How many steps key j lies after query i: (Tq, Tv)."""
    return ops.expand_dims(ops.arange(key_length), 0) - ops.expand_dims(ops.arange(query_length), 1)


def _lengths_of(rng):
    """Tq and Tv, either of them the larger by two or more: aligned at the wrong corner, a mask is seen to be."""
    short, long = int(rng.integers(3, 5)), int(rng.integers(6, 9))
    return (short, long) if rng.random() < 0.5 else (long, short)


CAUSAL = Function(
    "7.1",
    inputs=_lengths_of,
    solution=lambda tq, tv: _later(tq, tv) <= 0,
    mistakes={
        "one_too_far": lambda tq, tv: _later(tq, tv) <= 1,
        "no_diagonal": lambda tq, tv: _later(tq, tv) < 0,
        "inverted": lambda tq, tv: _later(tq, tv) > 0,
        "transposed_mask": lambda tq, tv: _later(tq, tv) >= 0,
        "bottom_right": lambda tq, tv: _later(tq, tv) <= tv - tq,
        "window": lambda tq, tv: ops.equal(_later(tq, tv), 0),
        "additive": lambda tq, tv: ops.where(_later(tq, tv) <= 0, 0.0, -1e9),
        "additive_infinity": lambda tq, tv: ops.where(_later(tq, tv) <= 0, 0.0, -np.inf),
    },
)


def _valid_lengths(rng):
    """Distinct lengths of four sequences, all with some padding, and the number of steps T."""
    steps = int(rng.integers(6, 9))
    return rng.choice(np.arange(1, steps), size=4, replace=False).astype("int32"), steps


def _compared(lengths, steps, compare):
    return compare(ops.expand_dims(ops.arange(steps), 0), ops.expand_dims(ops.cast(lengths, "int32"), 1))  # (B, T)


LENGTHS = Function(
    "7.2",
    inputs=_valid_lengths,
    solution=lambda n, t: _compared(n, t, ops.less),
    mistakes={
        "inverted": lambda n, t: _compared(n, t, ops.greater_equal),
        "one_too_many": lambda n, t: _compared(n, t, ops.less_equal),
        "one_too_few": lambda n, t: _compared(n - 1, t, ops.less),
        "left_padding": lambda n, t: _compared(t - n, t, ops.greater_equal),
        "one_step": lambda n, t: _compared(n - 1, t, ops.equal),
        "transposed_mask": lambda n, t: ops.transpose(_compared(n, t, ops.less)),
    },
)


def _scores_and_padding(rng):
    """Scores (B, T, T) and a padding mask (B, T) with the first step of one sequence hidden: a row without a key."""
    real = rng.random((2, 5)) < 0.7
    real[0, 0], real[0, 2], real[1, 0], real[1, 3] = False, True, True, False
    return 2 * rng.normal(size=(2, 5, 5)).astype("float32"), real


def _both(real, late=0, join=ops.logical_and):
    return join(_later(real.shape[1], real.shape[1])[None] <= late, ops.expand_dims(ops.cast(real, "bool"), 1))


def _softmax(scores, mask, axis=-1):
    weights = ops.softmax(ops.where(mask, scores, -1e30), axis=axis)
    return ops.where(mask, weights, ops.zeros_like(weights))


def _nan(scores, mask):
    raised = ops.where(mask, ops.exp(scores), ops.zeros_like(scores))
    return raised / ops.sum(raised, axis=-1, keepdims=True)


def _queries(real):
    return ops.logical_and(_later(real.shape[1], real.shape[1])[None] <= 0, ops.expand_dims(ops.cast(real, "bool"), 2))


WEIGHTS = Function(
    "7.3",
    inputs=_scores_and_padding,
    solution=lambda e, m: _softmax(e, _both(m)),
    mistakes={
        "missing_causal": lambda e, m: _softmax(e, ops.broadcast_to(ops.expand_dims(ops.cast(m, "bool"), 1), e.shape)),
        "missing_padding": lambda e, m: _softmax(e, ops.broadcast_to(_later(5, 5)[None] <= 0, e.shape)),
        "joined_by_or": lambda e, m: _softmax(e, _both(m, join=ops.logical_or)),
        "padding_on_queries": lambda e, m: _softmax(e, _queries(m)),
        "mask_inverted": lambda e, m: _softmax(e, ops.logical_not(_both(m))),
        "empty_rows_even": lambda e, m: ops.softmax(ops.where(_both(m), e, -1e30), axis=-1),
        "empty_rows_nan": lambda e, m: _nan(e, _both(m)),
        "mask_after_softmax": lambda e, m: ops.where(_both(m), ops.softmax(e, axis=-1), ops.zeros_like(e)),
        "score_zero": lambda e, m: ops.softmax(ops.where(_both(m), e, ops.zeros_like(e)), axis=-1),
        "softmax_axis": lambda e, m: _softmax(e, _both(m), axis=1),
        "one_too_far": lambda e, m: _softmax(e, _both(m, late=1)),
        "no_diagonal": lambda e, m: _softmax(e, _both(m, late=-1)),
    },
)


def _leaky_layer(rng):
    """A layer that mixes steps by fixed numbers, the future among them, and a sequence (B, T, D) for it.

    The largest leak is a fall, at a step that is neither the first nor the neighbour of the last.
    """
    mixing = np.tril(rng.normal(size=(5, 5)))
    mixing[:, 4] = rng.uniform(0.9, 1.1, size=5) * [0.6, -2.5, 0.9, 0.3, 4.0]
    mixing, features = (ops.convert_to_tensor(m.astype("float32")) for m in (mixing, rng.uniform(0.1, 0.6, (4, 4))))
    x = rng.normal(size=(3, 5, 4)).astype("float32")
    return lambda x: ops.tanh(0.2 * ops.matmul(ops.einsum("ts,bsd->btd", mixing, x), features)), x


def _raised(x, index):
    """A copy of `x` in which 1 is added at an index."""
    step = np.zeros(tuple(x.shape), "float32")
    step[index] = 1.0
    return x + ops.convert_to_tensor(step)


_LAST, _FIRST, _FEATURE, _EXAMPLE = np.s_[:, -1], np.s_[:, 0], np.s_[..., -1], np.s_[-1]


def _change(layer, x, index=_LAST):
    return layer(_raised(x, index)) - layer(x)


LEAK = Function(
    "7.4",
    inputs=_leaky_layer,
    solution=lambda f, x: ops.max(ops.abs(_change(f, x)[:, :-1])),
    mistakes={
        "present_counted": lambda f, x: ops.max(ops.abs(_change(f, x))),
        "signed": lambda f, x: ops.max(_change(f, x)[:, :-1]),
        "mean_instead": lambda f, x: ops.mean(ops.abs(_change(f, x)[:, :-1])),
        "past_changed": lambda f, x: ops.max(ops.abs(_change(f, x, _FIRST)[:, 1:])),
        "only_first": lambda f, x: ops.max(ops.abs(_change(f, x)[:, 0])),
        "only_neighbour": lambda f, x: ops.max(ops.abs(_change(f, x)[:, -2])),
        "nothing_changed": lambda f, x: ops.max(ops.abs((f(x) - f(x))[:, :-1])),
        "feature_changed": lambda f, x: ops.max(ops.abs(_change(f, x, _FEATURE)[:, :-1])),
        "example_changed": lambda f, x: ops.max(ops.abs(_change(f, x, _EXAMPLE)[:, :-1])),
    },
)

EXERCISES = [CAUSAL, LENGTHS, WEIGHTS, LEAK]
