"""Multi-head attention and its variants as loops over NumPy numbers, and the layers that are tested against them."""

import math

import numpy as np
import numpy_loops as loops
from numpy_loops import DV, TQ, TV, B, D

from attention_by_hand.layers import AlibiAttention, MultiHeadAttention, RelativePositionAttention, RotaryAttention

H, KEY_DIM, VALUE_DIM, KEY_WIDTH, OUT = 6, 8, 9, 10, 11  # distinct from each other and from B, TQ, TV, D, DV
SHAPES = ((B, TQ, D), (B, TV, DV), (B, TV, KEY_WIDTH))
VALUE_MASK = np.array([[True, True, False, True, False], [False, True, True, True, True]])
QUERY_MASK = np.array([[True, False, True], [True, True, False]])

VARIANTS = {
    "plain": lambda **options: MultiHeadAttention(H, KEY_DIM, **options),
    "other value_dim": lambda **options: MultiHeadAttention(H, KEY_DIM, VALUE_DIM, **options),
    "Shaw": lambda **options: RelativePositionAttention(H, KEY_DIM, 2, **options),
    "Shaw, keys only": lambda **options: RelativePositionAttention(H, KEY_DIM, 1, use_value_term=False, **options),
    "rotary": lambda **options: RotaryAttention(H, KEY_DIM, base=100.0, **options),
    "ALiBi": lambda **options: AlibiAttention(H, KEY_DIM, **options),
}


def inputs(rng):
    """query, value and key: all of another width."""
    return tuple(loops.normal(rng, *shape) for shape in SHAPES)


def built(layer, rng, shapes=SHAPES):
    """The layer's weights, drawn at random, as float64 arrays."""
    layer.build(*shapes)
    return [array.astype("float64") for array in loops.randomise(layer, rng)]


def heads(x, kernel, bias):
    """(B, T, D) with (D, H, d) and (H, d) → (B, T, H, d), number by number."""
    result = np.zeros((*x.shape[:2], *kernel.shape[1:]))
    for b, t, h, u in np.ndindex(*result.shape):
        result[b, t, h, u] = bias[h, u]
        for d in range(kernel.shape[0]):
            result[b, t, h, u] += float(x[b, t, d]) * kernel[d, h, u]
    return result


def clipped(distance, most):
    """A distance that is at most `most` in either direction."""
    if distance > most:
        return most
    return -most if distance < -most else distance


def rotated(vector, position, base):
    """Each pair of numbers turned by the angle position / base^(2j/d)."""
    result = np.zeros(len(vector))
    for j in range(len(vector) // 2):
        angle = position / base ** (2 * j / len(vector))
        even, odd = vector[2 * j], vector[2 * j + 1]
        result[2 * j] = even * math.cos(angle) - odd * math.sin(angle)
        result[2 * j + 1] = even * math.sin(angle) + odd * math.cos(angle)
    return result


def attention(layer, arrays, query, value, key, mask=True):
    """What `layer` must give with the weights `arrays`: `(output, weights)`, before any query mask."""
    tables = arrays[8:] if layer.use_bias else arrays[4:]
    if layer.use_bias:
        (wq, bq), (wk, bk), (wv, bv), (wo, bo) = (arrays[i : i + 2] for i in (0, 2, 4, 6))
    else:
        wq, wk, wv, wo = arrays[:4]
        bq, bk, bv, bo = (np.zeros(shape) for shape in (wq.shape[1:], wk.shape[1:], wv.shape[1:], wo.shape[2:]))
    q, k, v = heads(query, wq, bq), heads(key, wk, bk), heads(value, wv, bv)
    sizes = (q.shape[0], q.shape[2], q.shape[1], k.shape[1])
    mask, scores, weights = np.broadcast_to(mask, sizes), np.zeros(sizes), np.zeros(sizes)
    for b, h, i, j in np.ndindex(*sizes):
        one, other = q[b, i, h], k[b, j, h]
        if isinstance(layer, RotaryAttention):
            one, other = rotated(one, i, layer.rotary.base), rotated(other, j, layer.rotary.base)
        if isinstance(layer, RelativePositionAttention):
            other = other + tables[0][clipped(j - i, layer.max_distance) + layer.max_distance]
        for d in range(len(one)):
            scores[b, h, i, j] += one[d] * other[d] / math.sqrt(len(one))
        if isinstance(layer, AlibiAttention):
            scores[b, h, i, j] -= layer.slopes[h] * abs(i - j)
    output = np.zeros((sizes[0], sizes[2], wo.shape[2])) + bo
    for h in range(sizes[1]):
        weights[:, h] = loops.attend(scores[:, h], v[:, :, h], mask[:, h])[1]
    for b, h, i, j in np.ndindex(*sizes):
        one = v[b, j, h]
        if len(tables) == 2:
            one = one + tables[1][clipped(j - i, layer.max_distance) + layer.max_distance]
        output[b, i] += weights[b, h, i, j] * (one @ wo[h])
    return output, weights
