"""Exercises of chapter 13: layer norm, the two orders, the number of weights, the distance from rank one."""

import numpy as np
from keras import ops

from attention_by_hand.exercises.framework import Function

EPSILON = 1e-6


def _normal(rng, *shape):
    return rng.normal(size=shape).astype("float32")


def _standard(x, axis=-1, centre=True, divide=ops.sqrt, ddof=0):
    """x minus its mean, over what `divide` makes of its variance plus ε; both along `axis`."""
    mean = ops.mean(x, axis=axis, keepdims=True)
    size = x.shape[axis] if isinstance(axis, int) else int(np.prod([x.shape[a] for a in axis]))
    variance = ops.sum(ops.square(x - mean), axis=axis, keepdims=True) / (size - ddof)
    return (x - mean if centre else x) / divide(variance + EPSILON)


NORM = Function(
    "13.1",
    # A mean far from 0 and a spread far from 1: without them half of the mistakes would look right.
    inputs=lambda rng: (2.0 + 3.0 * _normal(rng, 3, 5, 8), rng.uniform(0.5, 2.0, 8).astype("float32"), _normal(rng, 8)),
    solution=lambda x, gamma, beta: gamma * _standard(x) + beta,
    mistakes={
        "over_batch": lambda x, gamma, beta: gamma * _standard(x, axis=(0, 1)) + beta,
        "over_steps": lambda x, gamma, beta: gamma * _standard(x, axis=1) + beta,
        "over_example": lambda x, gamma, beta: gamma * _standard(x, axis=(1, 2)) + beta,
        "not_centred": lambda x, gamma, beta: gamma * _standard(x, centre=False) + beta,
        "not_divided": lambda x, gamma, beta: gamma * (x - ops.mean(x, axis=-1, keepdims=True)) + beta,
        "by_variance": lambda x, gamma, beta: gamma * _standard(x, divide=lambda v: v) + beta,
        "unbiased": lambda x, gamma, beta: gamma * _standard(x, ddof=1) + beta,
        "no_gamma": lambda x, gamma, beta: _standard(x) + beta,
        "no_beta": lambda x, gamma, beta: gamma * _standard(x),
        "neither": lambda x, gamma, beta: _standard(x),
        "beta_scaled": lambda x, gamma, beta: gamma * (_standard(x) + beta),
    },
)


def _mlp(x, first, second):
    return ops.matmul(ops.relu(ops.matmul(x, first)), second)


ORDER = Function(
    "13.2",
    inputs=lambda rng: (1.0 + 2.0 * _normal(rng, 2, 5, 6), _normal(rng, 6, 9) / 2, _normal(rng, 9, 6) / 2),
    solution=lambda x, w, v: (x + _mlp(_standard(x), w, v), _standard(x + _mlp(x, w, v))),
    mistakes={
        "exchanged": lambda x, w, v: (_standard(x + _mlp(x, w, v)), x + _mlp(_standard(x), w, v)),
        "skip_of_normed": lambda x, w, v: (
            _standard(x) + _mlp(_standard(x), w, v),
            _standard(x + _mlp(x, w, v)),
        ),
        "no_skip": lambda x, w, v: (_mlp(_standard(x), w, v), _standard(_mlp(x, w, v))),
        "norm_of_function": lambda x, w, v: (x + _mlp(_standard(x), w, v), x + _standard(_mlp(x, w, v))),
        "both_norms": lambda x, w, v: (x + _mlp(_standard(x), w, v), _standard(x + _mlp(_standard(x), w, v))),
        "norm_at_the_end": lambda x, w, v: (_standard(x + _mlp(_standard(x), w, v)), _standard(x + _mlp(x, w, v))),
        "no_relu": lambda x, w, v: (
            x + ops.matmul(ops.matmul(_standard(x), w), v),
            _standard(x + ops.matmul(ops.matmul(x, w), v)),
        ),
        "no_norm": lambda x, w, v: (x + _mlp(x, w, v), x + _mlp(x, w, v)),
    },
)


def _count(width, heads, key_dim, mlp, **leave_out):
    """Weights of a block; `leave_out` names what a mistake forgets or doubles."""
    inner = heads * key_dim
    attention = 4 * width * inner
    biases = 3 * inner + width
    hidden = 2 * width * mlp
    hidden_biases = mlp + width
    norms = leave_out.get("norms", 4) * width
    return attention + leave_out.get("biases", 1) * (biases + hidden_biases) + hidden + norms


COUNT = Function(
    "13.3",
    inputs=lambda rng: (
        int(rng.integers(20, 30)),
        int(rng.integers(3, 6)),
        int(rng.integers(7, 12)),
        int(rng.integers(50, 90)),
    ),
    solution=lambda d, h, k, m: _count(d, h, k, m),
    mistakes={
        "no_biases": lambda d, h, k, m: _count(d, h, k, m, biases=0),
        "no_norms": lambda d, h, k, m: _count(d, h, k, m, norms=0),
        "kernels_only": lambda d, h, k, m: _count(d, h, k, m, biases=0, norms=0),
        "half_norms": lambda d, h, k, m: _count(d, h, k, m, norms=2),
        "one_head": lambda d, h, k, m: _count(d, 1, k, m),
        "heads_divide": lambda d, h, k, m: _count(d, 1, d, m),
        "three_projections": lambda d, h, k, m: _count(d, h, k, m) - d * h * k - d,
        "one_dense": lambda d, h, k, m: _count(d, h, k, m) - d * m - d,
    },
    tolerance=1e-9,
)


def _distance(x, axis=1, squared=False, relative=True):
    rest = x - ops.mean(x, axis=axis, keepdims=True)
    power = lambda y: ops.sum(ops.square(y), axis=(1, 2))  # noqa: E731
    found = power(rest) / power(x) if relative else power(rest)
    return found if squared else ops.sqrt(found)


RANK = Function(
    "13.4",
    inputs=lambda rng: (0.7 + _normal(rng, 3, 5, 8),),
    solution=_distance,
    mistakes={
        "over_features": lambda x: _distance(x, axis=2),
        "over_batch": lambda x: _distance(x, axis=0),
        "over_all": lambda x: _distance(x, axis=(0, 1)),
        "one_number": lambda x: _distance(x, axis=(1, 2)),
        "squared": lambda x: _distance(x, squared=True),
        "absolute": lambda x: _distance(x, relative=False),
        "mean_part": lambda x: ops.sqrt(1 - _distance(x, squared=True)),
        "by_row": lambda x: ops.mean(
            ops.norm(x - ops.mean(x, axis=1, keepdims=True), axis=-1) / ops.norm(x, axis=-1), axis=1
        ),
    },
)

EXERCISES = [NORM, ORDER, COUNT, RANK]
