"""Exercises of chapter 11: rows of the table of distances, skewing, rotating pairs, slopes."""

import numpy as np
from keras import ops

from attention_by_hand.exercises.framework import Function


def _normal(rng, *shape):
    return rng.normal(size=shape).astype("float32")


def _distance(queries, keys):
    """j − i, (Tq, Tv)."""
    return ops.expand_dims(ops.arange(keys), 0) - ops.expand_dims(ops.arange(queries), 1)


def _clip(distance, most):
    return ops.clip(distance, -most, most)


INDEX = Function(
    "11.1",
    inputs=lambda rng: (int(rng.integers(5, 7)), int(rng.integers(8, 10)), int(rng.integers(2, 4))),
    solution=lambda t, s, k: _clip(_distance(t, s), k) + k,
    mistakes={
        "query_minus_key": lambda t, s, k: _clip(-_distance(t, s), k) + k,
        "not_shifted": lambda t, s, k: _clip(_distance(t, s), k),
        "not_clipped": lambda t, s, k: _distance(t, s) + k,
        "shifted_then_clipped": lambda t, s, k: _clip(_distance(t, s) + k, k),
        "absolute": lambda t, s, k: _clip(ops.abs(_distance(t, s)), k) + k,
        "absolute_not_shifted": lambda t, s, k: _clip(ops.abs(_distance(t, s)), k),
        "by_length": lambda t, s, k: _distance(t, s) + t - 1,
        "remainder": lambda t, s, k: ops.mod(_distance(t, s), 2 * k + 1),
        "shifted_by_one": lambda t, s, k: _clip(_distance(t, s), k) + k + 1,
    },
)


def _skew(products, column=0):
    """Pad a column (in front when 0, behind when −1), read it as (T + 1, T), drop the first row."""
    batch, length, _ = products.shape
    padding = [(0, 0), (0, 0), (1, 0) if column == 0 else (0, 1)]
    return ops.reshape(ops.pad(products, padding), (batch, length + 1, length))[:, 1:]


def _pad_row(products):
    batch, length, _ = products.shape
    padded = ops.pad(products, [(0, 0), (1, 0), (0, 0)])
    return ops.reshape(ops.reshape(padded, (batch, length, length + 1))[..., 1:], products.shape)


def _drop_last(products):
    batch, length, _ = products.shape
    return ops.reshape(ops.pad(products, [(0, 0), (0, 0), (1, 0)]), (batch, length + 1, length))[:, :-1]


def _drop_column(products):
    """No reshape between padding and cutting: the cut takes away what the padding brought."""
    return ops.pad(products, [(0, 0), (0, 0), (1, 0)])[..., :-1]


def _below(scores):
    """What skewing promises: entries with j ≤ i; the others are no scores and count as 0 here."""
    return ops.tril(scores)


SKEW = Function(
    "11.2",
    inputs=lambda rng: (_normal(rng, 3, 6, 6),),
    solution=lambda p: _below(_skew(p)),
    mistakes={
        "not_skewed": _below,
        "above_kept": _skew,
        "column_behind": lambda p: _below(_skew(p, column=-1)),
        "row_padded": lambda p: _below(_pad_row(p)),
        "last_row_dropped": lambda p: _below(_drop_last(p)),
        "no_reshape": lambda p: _below(_drop_column(p)),
        "transposed_table": lambda p: _below(_skew(ops.transpose(p, (0, 2, 1)))),
        "flipped": lambda p: _below(ops.flip(p, axis=-1)),
        "axes_exchanged": lambda p: ops.transpose(_below(_skew(p)), (0, 2, 1)),
    },
)


def _rotation_inputs(rng):
    """Vectors (T, d), positions (T,) that do not start at 0, and the speed of each pair (d/2,)."""
    position = rng.integers(2, 9) + np.arange(5)
    return _normal(rng, 5, 8), position.astype("float32"), rng.uniform(0.2, 1.2, size=4).astype("float32")


def _interleave(even, odd):
    return ops.reshape(ops.stack([even, odd], axis=-1), (even.shape[0], 2 * even.shape[1]))


def _turn(even, odd, position, speed, sign=1.0):
    angle = ops.expand_dims(position, 1) * speed  # (T, d/2)
    cos, sin = ops.cos(angle), sign * ops.sin(angle)
    return even * cos - odd * sin, even * sin + odd * cos


def _rotate(x, position, speed, sign=1.0):
    return _interleave(*_turn(x[:, 0::2], x[:, 1::2], position, speed, sign))


def _rotate_halves(x, position, speed):
    half = x.shape[1] // 2
    return ops.concatenate(_turn(x[:, :half], x[:, half:], position, speed), axis=1)


def _both_minus(x, position, speed):
    angle = ops.expand_dims(position, 1) * speed
    even, odd, cos, sin = x[:, 0::2], x[:, 1::2], ops.cos(angle), ops.sin(angle)
    return _interleave(even * cos - odd * sin, odd * cos - even * sin)


def _in_place(x, position, speed):
    """The classic slip of code that overwrites: the odd feature is computed from the even one already turned."""
    angle = ops.expand_dims(position, 1) * speed
    cos, sin = ops.cos(angle), ops.sin(angle)
    even = x[:, 0::2] * cos - x[:, 1::2] * sin
    return _interleave(even, even * sin + x[:, 1::2] * cos)


def _scaled_only(x, position, speed):
    angle = ops.expand_dims(position, 1) * speed
    return _interleave(x[:, 0::2] * ops.cos(angle), x[:, 1::2] * ops.cos(angle))


ROTATE = Function(
    "11.3",
    inputs=_rotation_inputs,
    solution=_rotate,
    mistakes={
        "backwards": lambda x, p, w: _rotate(x, p, w, sign=-1.0),
        "halves": _rotate_halves,
        "concatenated": lambda x, p, w: ops.concatenate(_turn(x[:, 0::2], x[:, 1::2], p, w), axis=1),
        "both_minus": _both_minus,
        "overwritten": _in_place,
        "cosine_only": _scaled_only,
        "added": lambda x, p, w: x + _interleave(*_waves(p, w)),
        "position_from_zero": lambda x, p, w: _rotate(x, p - p[0], w),
        "one_speed": lambda x, p, w: _rotate(x, p, w * 0 + w[0]),
        "unchanged": lambda x, p, w: x,
    },
)


def _waves(position, speed):
    angle = ops.expand_dims(position, 1) * speed
    return ops.sin(angle), ops.cos(angle)


def _slopes(heads, first=1, exponent=8.0):
    """2^(−exponent · h/H) for h = first, first + 1, …, (H, 1, 1)."""
    slope = 2.0 ** (-exponent * np.arange(first, first + heads) / heads)
    return ops.convert_to_tensor(slope.astype("float32").reshape(-1, 1, 1))


def _bias(heads, length, slopes=None, sign=-1.0):
    slopes = _slopes(heads) if slopes is None else slopes
    return sign * slopes * ops.cast(ops.abs(_distance(length, length)), "float32")


def _signed(heads, length):
    return _slopes(heads) * ops.cast(_distance(length, length), "float32")


BIAS = Function(
    "11.4",
    inputs=lambda rng: (int(rng.integers(3, 6)), int(rng.integers(7, 10))),
    solution=_bias,
    mistakes={
        "reward": lambda h, t: _bias(h, t, sign=1.0),
        "head_zero": lambda h, t: _bias(h, t, _slopes(h, first=0)),
        "not_divided": lambda h, t: _bias(h, t, _slopes(h, exponent=8.0 * h)),
        "one_for_eight": lambda h, t: _bias(h, t, _slopes(h, exponent=1.0 * h)),
        "slopes_reversed": lambda h, t: _bias(h, t, ops.flip(_slopes(h), axis=0)),
        "growing": lambda h, t: _bias(h, t, 1.0 / _slopes(h)),
        "signed": _signed,
        "signed_reversed": lambda h, t: -_signed(h, t),
        "heads_last": lambda h, t: ops.transpose(_bias(h, t), (1, 2, 0)),
        "exponential": lambda h, t: ops.exp(_bias(h, t)),
        "squared": lambda h, t: -_slopes(h) * ops.cast(ops.square(_distance(t, t)), "float32"),
    },
)

EXERCISES = [INDEX, SKEW, ROTATE, BIAS]
