"""Attention written as loops over NumPy numbers: slow, plain, and independent of the package under test."""

import math

import numpy as np

B, TQ, TV, D, DV, U = 2, 3, 5, 4, 7, 6  # all distinct, so that a swapped axis is an error


def additive_scores(query, key, scale=None, query_kernel=None, key_kernel=None):
    """Σ_d scale[d] · tanh(query + key)[d], with projections before where kernels are given."""
    query = project(query, query_kernel)
    key = project(key, key_kernel)
    scores = np.zeros((query.shape[0], query.shape[1], key.shape[1]))
    for b, t, s in np.ndindex(*scores.shape):
        for d in range(query.shape[2]):
            factor = 1.0 if scale is None else float(scale[d])
            scores[b, t, s] += factor * math.tanh(query[b, t, d] + key[b, s, d])
    return scores


def dot_scores(query, key, scale=1.0, kernel=None):
    """scale · query · key, or scale · queryᵀ kernel key."""
    query = project(query, kernel)
    scores = np.zeros((query.shape[0], query.shape[1], key.shape[1]))
    for b, t, s in np.ndindex(*scores.shape):
        for d in range(query.shape[2]):
            scores[b, t, s] += scale * query[b, t, d] * key[b, s, d]
    return scores


def concat_scores(query, key, weight, scale=1.0, kernel=None):
    """Luong's concat with a kernel over [query; key], Keras's sum without."""
    scores = np.zeros((query.shape[0], query.shape[1], key.shape[1]))
    for b, t, s in np.ndindex(*scores.shape):
        if kernel is None:
            hidden = query[b, t].astype("float64") + key[b, s]
        else:
            hidden = np.concatenate([query[b, t], key[b, s]]).astype("float64") @ kernel.astype("float64")
        for u in range(len(hidden)):
            factor = float(weight) if np.ndim(weight) == 0 else float(weight[u])
            scores[b, t, s] += factor * math.tanh(scale * hidden[u])
    return scores


def project(x, kernel):
    """x W, number by number; x itself without W."""
    if kernel is None:
        return np.asarray(x, "float64")
    result = np.zeros((*x.shape[:2], kernel.shape[1]))
    for b, t, u in np.ndindex(*result.shape):
        for d in range(kernel.shape[0]):
            result[b, t, u] += float(x[b, t, d]) * float(kernel[d, u])
    return result


def attend(scores, value, mask=None, query_mask=None):
    """Softmax over the visible keys and weighted mean: `(output, weights)`. Rows without a key are 0."""
    mask = np.ones(scores.shape, bool) if mask is None else np.broadcast_to(mask, scores.shape)
    weights = np.zeros(scores.shape)
    output = np.zeros((*scores.shape[:2], value.shape[2]))
    for b, t in np.ndindex(*scores.shape[:2]):
        visible = [s for s in range(scores.shape[2]) if mask[b, t, s]]
        top = max((scores[b, t, s] for s in visible), default=0.0)
        total = sum(math.exp(scores[b, t, s] - top) for s in visible)
        for s in visible:
            weights[b, t, s] = math.exp(scores[b, t, s] - top) / total
            if query_mask is None or query_mask[b, t]:
                output[b, t] += weights[b, t, s] * value[b, s]
    return output, weights


def causal_mask(query_length, key_length):
    """Query i sees keys 0 … i."""
    return np.array([[s <= t for s in range(key_length)] for t in range(query_length)])


def normal(rng, *shape):
    """Random float32 numbers, never constant."""
    return rng.normal(size=shape).astype("float32")


def inputs(rng, key_width=D, with_key=True):
    """query (B, Tq, D), value (B, Tv, Dv), key (B, Tv, key_width); without keys the values have their width."""
    query, key = normal(rng, B, TQ, D), normal(rng, B, TV, key_width)
    return (query, normal(rng, B, TV, DV), key) if with_key else (query, key)


def randomise(layer, rng):
    """Draw every weight from N(0, 0.3) and return them as arrays."""
    arrays = [(0.3 * rng.normal(size=w.shape)).astype("float32") for w in layer.weights]
    layer.set_weights(arrays)
    return arrays
