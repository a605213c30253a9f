"""Exercises of chapter 10: the table of sinusoids, a shift as a rotation, places under padding, scores of places."""

import numpy as np
from keras import ops

from attention_by_hand.exercises.framework import Function


def _normal(rng, *shape):
    return rng.normal(size=shape).astype("float32")


def _interleave(even, odd):
    """Columns that take turns: (T, K) twice → (T, 2·K)."""
    return ops.reshape(ops.stack([even, odd], axis=-1), (even.shape[0], 2 * even.shape[1]))


def _angles(length, width, first=0, exponent=2.0, base=10000.0):
    """(T, D/2) angles i / base^(exponent · j / D)."""
    position = np.arange(first, first + length)[:, None]
    return ops.convert_to_tensor((position / base ** (exponent * np.arange(width // 2) / width)).astype("float32"))


def _table(length, width, **options):
    angles = _angles(length, width, **options)
    return _interleave(ops.sin(angles), ops.cos(angles))


def _by_column(length, width):
    column = np.arange(width)
    angle = np.arange(length)[:, None] / 10000.0 ** (column / width)
    return ops.convert_to_tensor(np.where(column % 2 == 0, np.sin(angle), np.cos(angle)).astype("float32"))


def _blocks(length, width):
    angles = _angles(length, width)
    return ops.concatenate([ops.sin(angles), ops.cos(angles)], axis=1)


TABLE = Function(
    "10.1",
    inputs=lambda rng: (int(rng.integers(5, 12)), int(2 * rng.integers(7, 10))),
    solution=_table,
    mistakes={
        "sin_cos_swapped": lambda t, d: _interleave(ops.cos(_angles(t, d)), ops.sin(_angles(t, d))),
        "exponent_by_column": _by_column,
        "exponent_halved": lambda t, d: _table(t, d, exponent=1.0),
        "exponent_doubled": lambda t, d: _table(t, d, exponent=4.0),
        "blocks": _blocks,
        "position_from_one": lambda t, d: _table(t, d, first=1),
        "multiplied": lambda t, d: _table(t, d, exponent=-2.0),
        "all_sines": lambda t, d: _interleave(ops.sin(_angles(t, d)), ops.sin(_angles(t, d))),
        "base": lambda t, d: _table(t, d, base=1000.0),
        "no_exponent": lambda t, d: _table(t, d, exponent=0.0),
    },
)


def _shift_inputs(rng):
    """Five rows of a table from an unknown start, the frequencies (3,) and a shift."""
    frequency = np.sort(rng.uniform(0.2, 1.2, size=3))[::-1]
    angles = (rng.integers(3, 40) + np.arange(5))[:, None] * frequency
    table = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(5, 6)
    return table.astype("float32"), frequency.astype("float32"), int(rng.integers(2, 5))


def _turned(table, frequency, shift, sign=-1.0):
    sine, cosine = table[:, 0::2], table[:, 1::2]  # (T, D/2) twice
    s, c = ops.sin(shift * frequency), ops.cos(shift * frequency)  # (D/2,) twice
    return sine * c + cosine * s, cosine * c + sign * sine * s


def _shifted(table, frequency, shift, sign=-1.0):
    return _interleave(*_turned(table, frequency, shift, sign))


def _shifted_blocks(table, frequency, shift):
    half = table.shape[1] // 2
    sine, cosine = table[:, :half], table[:, half:]
    s, c = ops.sin(shift * frequency), ops.cos(shift * frequency)
    return ops.concatenate([sine * c + cosine * s, cosine * c - sine * s], axis=1)


SHIFT = Function(
    "10.2",
    inputs=_shift_inputs,
    solution=_shifted,
    mistakes={
        "backwards": lambda p, w, n: _shifted(p, w, -n),
        "sin_cos_swapped": lambda p, w, n: _interleave(*_turned(p, w, n)[::-1]),
        "plus_for_cosine": lambda p, w, n: _shifted(p, w, n, sign=1.0),
        "cosine_not_shifted": lambda p, w, n: _interleave(_turned(p, w, n)[0], p[:, 1::2]),
        "sine_not_shifted": lambda p, w, n: _interleave(p[:, 0::2], _turned(p, w, n)[1]),
        "one_step": lambda p, w, n: _shifted(p, w, 1),
        "blocks": _shifted_blocks,
        "concatenated": lambda p, w, n: ops.concatenate(_turned(p, w, n), axis=1),
        "unchanged": lambda p, w, n: p,
        "angle_added": lambda p, w, n: p + n * _interleave(w[None], w[None]),
    },
)


def _mask_inputs(rng):
    """A mask (B, T) of sentences that are padded in front, each by another number of steps."""
    pads = rng.permutation(np.arange(1, 5))[:3]
    return (np.arange(7) >= pads[:, None],)


def _count(mask, axis=1):
    return ops.cumsum(ops.cast(mask, "int32"), axis=axis)


def _zero_padding(places, mask):
    return ops.where(mask, places, 0)


PLACES = Function(
    "10.3",
    inputs=_mask_inputs,
    solution=lambda m: _zero_padding(_count(m) - 1, m),
    mistakes={
        "padding_counted": lambda m: _zero_padding(_count(ops.ones_like(m)) - 1, m),
        "from_one": _count,
        "from_the_end": lambda m: _zero_padding(ops.flip(_count(ops.flip(m, axis=1)), axis=1) - 1, m),
        "over_batch": lambda m: _zero_padding(_count(m, axis=0) - 1, m),
        "inverted": lambda m: _zero_padding(_count(ops.logical_not(m)) - 1, ops.logical_not(m)),
        "padding_not_zero": lambda m: _count(m) - 1,
        "whole_length": lambda m: _zero_padding(ops.zeros_like(_count(m)) + _count(m)[:, -1:], m),
    },
)


def _scores(table, query_kernel, key_kernel, divisor=None):
    query, key = ops.matmul(table, query_kernel), ops.matmul(table, key_kernel)  # (T, Dk) twice
    divisor = query_kernel.shape[1] ** 0.5 if divisor is None else divisor
    return ops.matmul(query, ops.transpose(key)) / divisor  # (T, T)


def _gram(table, divisor):
    return ops.matmul(table, ops.transpose(table)) / divisor


SCORES = Function(
    "10.4",
    inputs=lambda rng: (_normal(rng, 7, 6), _normal(rng, 6, 4), _normal(rng, 6, 4)),
    solution=_scores,
    mistakes={
        "query_key_swapped": lambda p, a, b: _scores(p, b, a),
        "missing_scale": lambda p, a, b: _scores(p, a, b, divisor=1.0),
        "divided_by_width": lambda p, a, b: _scores(p, a, b, divisor=a.shape[1]),
        "scale_of_table": lambda p, a, b: _scores(p, a, b, divisor=p.shape[1] ** 0.5),
        "no_kernels": lambda p, a, b: _gram(p, p.shape[1] ** 0.5),
        "no_kernels_unscaled": lambda p, a, b: _gram(p, 1.0),
        "one_kernel": lambda p, a, b: _scores(p, a, a),
        "one_key_kernel": lambda p, a, b: _scores(p, b, b),
        "weights_instead": lambda p, a, b: ops.softmax(_scores(p, a, b), axis=-1),
    },
)

EXERCISES = [TABLE, SHIFT, PLACES, SCORES]
