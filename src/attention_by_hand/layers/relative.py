"""Positions inside the score: relative embeddings (Shaw et al. 2018), rotations (Su et al. 2021), ALiBi."""

import keras
import numpy as np
from keras import ops

from attention_by_hand import masks
from attention_by_hand.layers.base import check_size
from attention_by_hand.layers.multi_head import MultiHeadAttention


def clipped_distances(query_length, key_length, max_distance):
    """Index of the relative position j − i of every key j from every query i, clipped and shifted to 0 … 2k.

    Args:
        query_length, key_length: Tq and Tv.
        max_distance: k; farther keys share the outermost index.

    Returns:
        Integer tensor (Tq, Tv).
    """
    distance = ops.expand_dims(ops.arange(key_length), 0) - ops.expand_dims(ops.arange(query_length), 1)
    return ops.clip(distance, -max_distance, max_distance) + max_distance


def skew(products):
    """Turn products with relative positions into scores of absolute ones, without a (T, T, d) intermediate.

    Column r of row i belongs to distance r − (T − 1), from −(T − 1) to 0; the result has it at key
    j = i + r − (T − 1). Entries with j > i hold other rows' numbers and must be masked.

    Args:
        products: tensor (…, T, T), `q · tableᵀ` for distances −(T − 1) … 0.

    Returns:
        Tensor (…, T, T), rows queries and columns keys.

    Raises:
        ValueError: the last two sizes differ.

    Source: Huang et al. 2018, "Music Transformer", §3.4.1.
    """
    if products.shape[-1] != products.shape[-2]:
        raise ValueError(f"products must have shape (…, T, T); got {tuple(products.shape)}")
    *batch, rows, columns = ops.shape(products)  # numbers even where a compiled function knows no sizes
    padded = ops.pad(products, [(0, 0)] * (len(batch) + 1) + [(1, 0)])  # (…, T, T + 1)
    return ops.reshape(padded, (*batch, columns + 1, rows))[..., 1:, :]  # (…, T, T)


@keras.saving.register_keras_serializable("attention_by_hand")
class RelativePositionAttention(MultiHeadAttention):
    """Multi-head attention that knows how far apart query and key are.

        E[i, j] = q_i · (k_j + a_K[clip(j − i)]) / √key_dim,   z_i = Σ_j A[i, j] (v_j + a_V[clip(j − i)])

    Both tables have 2·max_distance + 1 rows and are shared by the heads. With tables of zeros it is
    `MultiHeadAttention`.

    Args:
        max_distance: k, the distance from which on keys count as equally far.
        use_value_term: whether values get a table too; Huang et al. 2018 leave it out.
        Others as `MultiHeadAttention`.

    Raises:
        ValueError: as `MultiHeadAttention`, or `max_distance` is not a positive integer.

    Source: Shaw et al. 2018, "Self-Attention with Relative Position Representations", eqs. 3–4.
    """

    can_fuse = False

    def __init__(self, num_heads, key_dim, max_distance, use_value_term=True, **kwargs):
        super().__init__(num_heads, key_dim, **kwargs)
        self.max_distance = check_size("max_distance", max_distance)
        self.use_value_term = use_value_term

    def build(self, query_shape, value_shape, key_shape=None):
        super().build(query_shape, value_shape, key_shape)
        rows = 2 * self.max_distance + 1
        self.key_table = self.add_weight(shape=(rows, self.key_dim), name="key_table")
        if self.use_value_term:
            self.value_table = self.add_weight(shape=(rows, self.value_dim), name="value_table")

    def attend(self, q, k, v, mask, drop):
        q = q * self.key_dim**-0.5
        one_hot = self.one_hot_distances(q, k)  # (Tq, Tv, R): which row of the tables belongs to (i, j)
        scores = ops.einsum("bthd,bshd->bhts", q, k)  # (B, H, Tq, Tv)
        by_distance = ops.einsum("bthd,rd->bhtr", q, self.key_table)  # (B, H, Tq, R): each row once, not per key
        scores = scores + ops.einsum("bhtr,tsr->bhts", by_distance, one_hot)
        weights = masks.masked_softmax(scores, mask)  # (B, H, Tq, Tv)
        dropped = keras.random.dropout(weights, self.dropout, seed=self.seed_generator) if drop else weights
        context = ops.einsum("bhts,bshd->bthd", dropped, v)  # (B, Tq, H, Dv)
        if self.use_value_term:
            by_distance = ops.einsum("bhts,tsr->bhtr", dropped, one_hot)  # weight that goes to each distance
            context = context + ops.einsum("bhtr,rd->bthd", by_distance, self.value_table)
        return context, weights

    def one_hot_distances(self, q, k):
        index = clipped_distances(ops.shape(q)[1], ops.shape(k)[1], self.max_distance)
        return ops.one_hot(index, 2 * self.max_distance + 1, dtype=self.compute_dtype)

    def get_config(self):
        config = {"max_distance": self.max_distance, "use_value_term": self.use_value_term}
        return {**super().get_config(), **config}


@keras.saving.register_keras_serializable("attention_by_hand")
class RotaryEmbedding(keras.layers.Layer):
    """Rotates each pair of features by an angle that grows with the position.

        (x[2j], x[2j+1]) at position i is turned by the angle i / base^(2j/d)

    Then the product of a query at i and a key at j depends on their contents and on j − i alone. At position
    0 nothing is turned.

    Args:
        base: 10000 in the paper.

    Call: `layer(x, start=0)` with x (B, T, d) or (B, T, H, d), d even; `start` is the first step's position.
    Returns a tensor like x.

    Raises:
        ValueError: d is odd, or not that of the first call; x has another rank.

    Source: Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding", eqs. 15 and 34.
    """

    def __init__(self, base=10000.0, **kwargs):
        super().__init__(**kwargs)
        self.base = base
        self.supports_masking = True

    def build(self, x_shape):
        if len(x_shape) not in (3, 4):
            raise ValueError(f"x must have shape (B, T, d) or (B, T, H, d); got {tuple(x_shape)}")
        width = x_shape[-1]
        if width is None or width % 2:
            raise ValueError(f"x must have an even width, as features are rotated in pairs; got {width}")
        self.frequency = (self.base ** (-np.arange(0, width, 2) / width)).astype("float32")  # (d/2,)

    def call(self, x, start=0):
        if x.shape[-1] != 2 * len(self.frequency):
            raise ValueError(
                f"x must have the width this layer was built for, {2 * len(self.frequency)}; got {x.shape[-1]}"
            )
        position = ops.cast(ops.arange(ops.shape(x)[1]) + start, "float32")  # (T,)
        frequency = ops.convert_to_tensor(self.frequency)
        angle = ops.expand_dims(position, axis=1) * frequency  # (T, d/2): float32, exact in half precision
        if len(x.shape) == 4:
            angle = ops.expand_dims(angle, axis=1)  # (T, 1, d/2): the same for every head
        cos, sin = (ops.cast(f(angle), x.dtype) for f in (ops.cos, ops.sin))
        even, odd = x[..., 0::2], x[..., 1::2]  # (B, T, …, d/2) each
        turned = ops.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1)  # (B, T, …, d/2, 2)
        return ops.reshape(turned, ops.shape(x))

    def compute_output_shape(self, x_shape):
        return x_shape

    def get_config(self):
        return {**super().get_config(), "base": self.base}


@keras.saving.register_keras_serializable("attention_by_hand")
class RotaryAttention(MultiHeadAttention):
    """Multi-head attention whose queries and keys are rotated by `RotaryEmbedding` before they meet.

    Args:
        base: of the angles.
        Others as `MultiHeadAttention`; `key_dim` must be even.

    Source: Su et al. 2021, eq. 16.
    """

    def __init__(self, num_heads, key_dim, base=10000.0, **kwargs):
        super().__init__(num_heads, key_dim, **kwargs)
        self.rotary = RotaryEmbedding(base, dtype=self.dtype_policy, name="rotary")

    def build(self, query_shape, value_shape, key_shape=None):
        super().build(query_shape, value_shape, key_shape)
        self.rotary.build((None, None, self.num_heads, self.key_dim))

    def attend(self, q, k, v, mask, drop):
        return super().attend(self.rotary(q), self.rotary(k), v, mask, drop)

    def attend_fused(self, q, k, v, value_mask, attention_mask, use_causal_mask):
        return super().attend_fused(self.rotary(q), self.rotary(k), v, value_mask, attention_mask, use_causal_mask)

    def get_config(self):
        return {**super().get_config(), "base": self.rotary.base}


def alibi_slopes(num_heads):
    """Slope of each head, 2^(−8h/H) for h = 1 … H. Source: Press et al. 2022, §3. Array (H,)."""
    return 2.0 ** (-8.0 * np.arange(1, num_heads + 1) / num_heads)


@keras.saving.register_keras_serializable("attention_by_hand")
class AlibiAttention(MultiHeadAttention):
    """Multi-head attention with a penalty that grows with distance: E[h, i, j] −= slope[h] · |i − j|.

    The penalty is added after the scaling by 1/√key_dim and is not learned. The paper's model is causal, so
    that |i − j| = i − j; without a causal mask this layer is symmetric in time.

    Args:
        slopes: one number a head; those of the paper when None. Zeros give `MultiHeadAttention`.
        Others as `MultiHeadAttention`.

    Raises:
        ValueError: as `MultiHeadAttention`, or the number of slopes is not `num_heads`.

    Source: Press et al. 2022, "Train Short, Test Long", §3.
    """

    can_fuse = False

    def __init__(self, num_heads, key_dim, slopes=None, **kwargs):
        super().__init__(num_heads, key_dim, **kwargs)
        slopes = alibi_slopes(num_heads) if slopes is None else slopes
        if len(slopes) != num_heads:
            raise ValueError(f"slopes must hold one number per head, {num_heads}; got {len(slopes)}")
        self.slopes = [float(slope) for slope in slopes]

    def attend(self, q, k, v, mask, drop):
        scores = ops.einsum("bthd,bshd->bhts", q * self.key_dim**-0.5, k)  # (B, H, Tq, Tv)
        rows, columns = ops.arange(ops.shape(q)[1]), ops.arange(ops.shape(k)[1])
        distance = ops.abs(ops.expand_dims(rows, 1) - ops.expand_dims(columns, 0))  # (Tq, Tv)
        slopes = ops.reshape(ops.convert_to_tensor(self.slopes, "float32"), (-1, 1, 1))  # (H, 1, 1)
        scores = scores - ops.cast(slopes * ops.cast(distance, "float32"), scores.dtype)  # (H, Tq, Tv) to every batch
        weights = masks.masked_softmax(scores, mask)
        dropped = keras.random.dropout(weights, self.dropout, seed=self.seed_generator) if drop else weights
        return ops.einsum("bhts,bshd->bthd", dropped, v), weights

    def get_config(self):
        return {**super().get_config(), "slopes": self.slopes}
