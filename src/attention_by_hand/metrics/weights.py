"""Scores for attention weights: how even they are, and how much of them lies where the gold label says.

Weights are arrays or tensors `(…, Tv)`, each row a distribution over the keys; means are over all rows.
"""

import numpy as np

from attention_by_hand.backend import to_numpy


def entropy(weights):
    """Mean entropy of the rows: how evenly a query spreads its weight over the keys.

        H = −Σ_i a_i ln a_i

    Args:
        weights: (…, Tv), non-negative; a weight of 0 adds 0.

    Returns:
        A float in nats: 0 when each row has one key with weight 1, ln Tv when all keys weigh the same.

    Raises:
        ValueError: a weight is negative or not finite.
    """
    weights = checked_weights(weights)
    logarithms = np.log(weights, where=weights > 0, out=np.zeros_like(weights))
    return float(np.mean(np.sum(-weights * logarithms, axis=-1)))


def mass_on_gold(weights, position):
    """Mean weight that falls on the gold key.

        mean over queries of a[position]

    Args:
        weights: (…, Tv), non-negative.
        position: integers (…), the index of the gold key of every row. A query axis of size 1 may be
            missing: weights (N, 1, Tv) go with positions (N,).

    Returns:
        A float in [0, 1]; the plain mean over n keys reaches 1/n.

    Raises:
        ValueError: shapes do not match, a position is outside 0 … Tv − 1, or a weight is negative or not finite.
    """
    weights, position = _rows(weights, position)
    return float(np.mean(np.take_along_axis(weights, position[:, None], axis=-1)))


def top1_position_accuracy(weights, position):
    """Share of queries whose largest weight lies on the gold key.

    A row in which k keys share the largest weight counts 1/k if the gold key is one of them, so that even
    weights over n keys score 1/n and not what the order of the keys happens to give.

    Args:
        weights: (…, Tv), non-negative.
        position: integers (…), as in `mass_on_gold`.

    Returns:
        A float in [0, 1].

    Raises:
        ValueError: as `mass_on_gold`.
    """
    weights, position = _rows(weights, position)
    largest = weights == weights.max(axis=-1, keepdims=True)  # (N, Tv)
    hit = np.take_along_axis(largest, position[:, None], axis=-1)[:, 0]  # (N,)
    return float(np.mean(hit / largest.sum(axis=-1)))


def linear_probe(vectors, hidden):
    """How well a linear map reads a hidden quantity from vectors: R² on examples it was not fitted on.

        R² = 1 − Σ (hidden − prediction)² / Σ (hidden − mean)²

    A least-squares map with a constant is fitted on the first half of the examples and scored on the second.

    Args:
        vectors: (N, D), what is read from.
        hidden: (N, K), what should, or should not, be found there.

    Returns:
        A float: 1 when everything can be read, about 0 (also a little below) when nothing can.

    Raises:
        ValueError: the two are not matrices with one row an example, or a half has no more rows than D + 1.
    """
    vectors, hidden = (
        np.asarray(x if isinstance(x, np.ndarray) else to_numpy(x), "float64") for x in (vectors, hidden)
    )
    if vectors.ndim != 2 or hidden.ndim != 2 or len(vectors) != len(hidden):
        raise ValueError(f"vectors and hidden must be (N, D) and (N, K); got {vectors.shape} and {hidden.shape}")
    half = len(vectors) // 2
    if half <= vectors.shape[1] + 1:
        raise ValueError(f"vectors must have more than {2 * (vectors.shape[1] + 1)} rows; got {len(vectors)}")
    inputs = np.concatenate([vectors, np.ones((len(vectors), 1))], axis=1)  # (N, D + 1)
    fitted = np.linalg.lstsq(inputs[:half], hidden[:half], rcond=None)[0]  # (D + 1, K)
    missed = np.sum((hidden[half:] - inputs[half:] @ fitted) ** 2)
    return float(1 - missed / np.sum((hidden[half:] - hidden[:half].mean(axis=0)) ** 2))


def checked_weights(weights):
    """The weights as a float64 array, checked."""
    weights = np.asarray(weights if isinstance(weights, (np.ndarray, list, tuple)) else to_numpy(weights), "float64")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(f"weights must be finite and at least 0; the smallest is {weights.min()}")
    return weights


def _rows(weights, position):
    """Weights (N, Tv) and positions (N,), checked."""
    weights, position = checked_weights(weights), np.asarray(position)
    shape = weights.shape[:-1]
    if position.shape not in (shape, shape[:-1] if shape[-1:] == (1,) else shape):
        raise ValueError(
            f"position must have the shape of weights without the last axis, {shape}; got {position.shape}"
        )
    if not np.issubdtype(position.dtype, np.integer):
        raise ValueError(f"position must hold integers; got dtype {position.dtype}")
    length = weights.shape[-1]
    if position.size and not (0 <= position.min() and position.max() < length):
        raise ValueError(f"position must be between 0 and {length - 1}; got {position.min()} … {position.max()}")
    return weights.reshape(-1, length), position.reshape(-1)
