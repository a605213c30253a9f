"""Exercises of chapter 08: cut into heads, join and mix, the whole attention, and how many numbers it learns."""

import numpy as np
from keras import ops

from attention_by_hand.exercises.framework import Function, Question


def _normal(rng, *shape):
    return rng.normal(size=shape).astype("float32")


def _swap(x):
    return ops.transpose(x, (0, 2, 1, 3))  # (B, T, H, d) <-> (B, H, T, d)


def _split(x, heads):
    return _swap(ops.reshape(x, (*x.shape[:2], heads, -1)))  # (B, H, T, Dk)


def _split_reshape(x, heads):
    return ops.reshape(x, (x.shape[0], heads, x.shape[1], -1))


def _split_dealt(x, heads):
    return ops.transpose(ops.reshape(x, (*x.shape[:2], -1, heads)), (0, 3, 1, 2))


def _fold(x):
    return ops.reshape(x, (-1, *x.shape[2:]))  # (B, H, T, Dk) -> (B · H, T, Dk)


SPLIT = Function(
    "8.1",
    inputs=lambda rng: (_normal(rng, 2, 5, 12), 3),
    solution=_split,
    mistakes={
        "reshape_only": _split_reshape,
        "not_transposed": lambda x, h: ops.reshape(x, (*x.shape[:2], h, -1)),
        "dealt": _split_dealt,
        "folded": lambda x, h: _fold(_split(x, h)),
        "folded_reshape": lambda x, h: _fold(_split_reshape(x, h)),
        "heads_first": lambda x, h: ops.transpose(_split(x, h), (1, 0, 2, 3)),
        "steps_last": lambda x, h: ops.transpose(_split(x, h), (0, 1, 3, 2)),
    },
)


def _join(context):
    context = _swap(context)  # (B, T, H, Dv)
    return ops.reshape(context, (*context.shape[:2], -1))  # (B, T, H · Dv)


def _flat(kernel):
    return ops.reshape(kernel, (-1, kernel.shape[-1]))  # (H · Dv, D)


def _mix(context, kernel, bias):
    return ops.matmul(_join(context), _flat(kernel)) + bias


def _mix_reshape(context, kernel, bias):
    batch, heads, length, width = context.shape
    return ops.matmul(ops.reshape(context, (batch, length, heads * width)), _flat(kernel)) + bias


def _mix_dealt(context, kernel, bias):
    context = ops.transpose(context, (0, 2, 3, 1))  # (B, T, Dv, H)
    return ops.matmul(ops.reshape(context, (*context.shape[:2], -1)), _flat(kernel)) + bias


MIX = Function(
    "8.2",
    inputs=lambda rng: (_normal(rng, 2, 3, 5, 4), _normal(rng, 3, 4, 7), _normal(rng, 7)),
    solution=_mix,
    mistakes={
        "bias_missing": lambda c, w, b: ops.matmul(_join(c), _flat(w)),
        "bias_per_head": lambda c, w, b: ops.matmul(_join(c), _flat(w)) + 3 * b,
        "reshape_only": _mix_reshape,
        "dealt": _mix_dealt,
        "not_mixed": lambda c, w, b: _join(c),
        "heads_averaged": lambda c, w, b: _mix(c, w / 3.0, b),
        "first_head": lambda c, w, b: ops.matmul(c[:, 0], w[0]) + b,
        "one_kernel": lambda c, w, b: ops.matmul(ops.sum(c, axis=1), w[0]) + b,
    },
)


def _heads(x, kernel):
    return ops.einsum("btd,dhk->bhtk", x, kernel)  # (B, H, T, Dk)


def _scores(x, query_kernel, key_kernel, scale=None):
    scale = query_kernel.shape[-1] ** -0.5 if scale is None else scale
    return ops.einsum("bhtk,bhsk->bhts", _heads(x, query_kernel), _heads(x, key_kernel)) * scale


def _attend(x, query_kernel, key_kernel, value_kernel, scale=None, axis=-1):
    weights = ops.softmax(_scores(x, query_kernel, key_kernel, scale), axis=axis)
    return _join(ops.matmul(weights, _heads(x, value_kernel)))  # (B, T, H · Dv)


def _one_softmax(x, query_kernel, key_kernel, value_kernel):
    """The heads' scores are added and one softmax serves all: one wide head."""
    scores = ops.sum(_scores(x, query_kernel, key_kernel), axis=1, keepdims=True)  # (B, 1, T, T)
    return _join(ops.matmul(ops.softmax(scores), _heads(x, value_kernel)))


def _chunks(x, *kernels):
    """Head h sees only chunk h of the features: the block-diagonal form."""
    width, heads = kernels[0].shape[:2]
    feature, head = np.arange(width)[:, None] // (width // heads), np.arange(heads)
    block = ops.convert_to_tensor((feature == head)[:, :, None].astype("float32"))  # (D, H, 1)
    return _attend(x, *(kernel * block for kernel in kernels))


def _reshaped(x, query_kernel, key_kernel, value_kernel):
    """Projected in one product, then cut into heads by a reshape without a transpose, and joined in the same way."""
    q, k, v = (
        _split_reshape(ops.matmul(x, ops.reshape(kernel, (kernel.shape[0], -1))), kernel.shape[1])
        for kernel in (query_kernel, key_kernel, value_kernel)
    )
    weights = ops.softmax(ops.einsum("bhtk,bhsk->bhts", q, k) * query_kernel.shape[-1] ** -0.5)
    return ops.reshape(ops.matmul(weights, v), (*x.shape[:2], -1))


ATTEND = Function(
    "8.3",
    # All sizes differ but the width of queries and keys, which is one: B 2, T 5, D 9, H 3, Dk 4, Dv 7.
    inputs=lambda rng: (_normal(rng, 2, 5, 9), *(_normal(rng, 9, 3, width) / 3 for width in (4, 4, 7))),
    solution=_attend,
    mistakes={
        "missing_scale": lambda x, q, k, v: _attend(x, q, k, v, scale=1.0),
        "scale_of_all_heads": lambda x, q, k, v: _attend(x, q, k, v, scale=12**-0.5),
        "scale_of_input": lambda x, q, k, v: _attend(x, q, k, v, scale=9**-0.5),
        "divided_by_width": lambda x, q, k, v: _attend(x, q, k, v, scale=1 / 4),
        "softmax_over_heads": lambda x, q, k, v: _attend(x, q, k, v, axis=1),
        "softmax_axis": lambda x, q, k, v: _attend(x, q, k, v, axis=2),
        "query_key_swapped": lambda x, q, k, v: _attend(x, k, q, v),
        "one_softmax": _one_softmax,
        "chunks": _chunks,
        "reshape_only": _reshaped,
        "missing_softmax": lambda x, q, k, v: _join(ops.matmul(_scores(x, q, k), _heads(x, v))),
    },
)

PARAMETERS = Question(
    "8.4",
    expected=32340,  # MultiHeadAttention(num_heads=5, key_dim=16) on vectors of width 100
    mistakes={
        "key_dim_is_total": 6548,
        "no_bias": 32000,
        "no_output_bias": 32240,
        "output_bias_of_heads": 32320,
        "no_output": 24240,
        "times_length": 646800,
        "chunks": 13140,
    },
)

EXERCISES = [SPLIT, MIX, ATTEND, PARAMETERS]
