"""Models of the two relations, side by side: they differ in the attention layer and share nothing but the inputs."""

import keras
from keras import ops

from attention_by_hand import masks
from attention_by_hand.datasets.tastes import FRUITS, RELATIONS, WIDTH
from attention_by_hand.layers import UniformAttention


class ChunkHeads(keras.layers.Layer):
    """Heads in the lecture's form: head h sees only chunk h of the features, and a matrix mixes the heads.

        output = Σ_h softmax(q_h k_hᵀ / √key_dim) v_h W_o[h],   q_h = query[chunk h] W_q[h] + b_q[h], …

    The same as `MultiHeadAttention` with block-diagonal kernels, and with no bias but the queries'.

    Args:
        num_heads: number of chunks H; it must divide all three widths.
        key_dim: width of queries, keys and values in a head.

    Raises:
        ValueError: a width cannot be cut into `num_heads` equal chunks.
    """

    def __init__(self, num_heads, key_dim, **kwargs):
        super().__init__(**kwargs)
        self.num_heads, self.key_dim = num_heads, key_dim

    def build(self, query_shape, value_shape, key_shape):
        heads, shapes = self.num_heads, {"query": query_shape, "key": key_shape, "value": value_shape}
        for name, shape in shapes.items():
            if shape[-1] % heads:
                raise ValueError(f"num_heads must divide the width of {name}, {shape[-1]}; got {heads}")
        self.kernels = [
            self.add_weight(shape=(shape[-1] // heads, heads, self.key_dim), name=f"{name}_kernel")
            for name, shape in shapes.items()
        ]
        self.output_kernel = self.add_weight(shape=(heads, self.key_dim, query_shape[-1]), name="output_kernel")
        self.query_bias = self.add_weight(shape=(heads, 1, self.key_dim), initializer="zeros", name="query_bias")

    def call(self, query, value, key, value_mask=None, return_attention_scores=False):
        """Output (B, Tq, Dq); if asked for, also weights (B, H, Tq, Tv)."""
        inputs = zip((query, key, value), self.kernels, strict=True)
        q, k, v = (self.project(x, kernel) for x, kernel in inputs)  # (B, H, Tq, Dk), (B, H, Tv, Dk) twice
        scores = ops.einsum("bhtk,bhsk->bhts", (q + self.query_bias) * self.key_dim**-0.5, k)
        mask = None if value_mask is None else value_mask[:, None, None, :]
        weights = masks.masked_softmax(scores, mask)  # (B, H, Tq, Tv)
        context = ops.einsum("bhts,bhsk->bthk", weights, v)  # (B, Tq, H, Dk)
        output = ops.tensordot(context, self.output_kernel, axes=2)  # (B, Tq, Dq)
        return (output, weights) if return_attention_scores else output

    def project(self, x, kernel):
        """Chunk h of (B, T, D) times the kernel (D/H, H, Dk) of head h: (B, H, T, Dk)."""
        length = ops.shape(x)[1] if x.shape[1] is None else x.shape[1]
        parts = ops.reshape(x, (-1, length, self.num_heads, kernel.shape[0]))  # (B, T, H, D/H)
        return ops.einsum("bthc,chk->bhtk", parts, kernel)


class UniformHead(keras.layers.Layer):
    """The control: one head that weighs every note the same, its output projected as a head's would be."""

    def build(self, query_shape, value_shape, key_shape):
        self.attention, self.dense = UniformAttention(), keras.layers.Dense(query_shape[-1], use_bias=False)
        self.attention.build(query_shape, value_shape, key_shape)
        self.dense.build(value_shape)

    def call(self, query, value, key, value_mask=None, return_attention_scores=False):
        output, weights = self.attention(query, value, key, value_mask=value_mask, return_attention_scores=True)
        output, weights = self.dense(output), ops.expand_dims(weights, axis=1)  # (B, Tq, Dq), (B, 1, Tq, Tv)
        return (output, weights) if return_attention_scores else output


def taste_race(contestants, embed=()):
    """Models of `datasets.likes_and_dislikes` that differ in the attention layer; the read-out is linear.

    Args:
        contestants: `{name: layer}`, called as `layer(query, value, key, value_mask=…, return_attention_scores=True)`.
        embed: names of contestants whose vectors first pass through learned linear maps of the same width.

    Returns:
        `(model, full_model)`, sharing all weights. Both take what `datasets.taste_vectors` returns; the first
        gives `{name: logits (B, 2, fruits)}`, the second `{"logits": the same, "weights": {name: (B, H, 1, Tv)}}`.
    """
    widths = {"query": WIDTH, "key": WIDTH, "value": len(FRUITS)}
    inputs = {name: keras.Input((None, width), name=name) for name, width in widths.items()}
    inputs["mask"] = keras.Input((None,), dtype="bool", name="mask")
    logits, weights = {}, {}
    for name, attention in contestants.items():
        query, key, value = (inputs[part] for part in widths)
        if name in embed:
            match, fetch = (
                keras.layers.Dense(WIDTH, use_bias=False, name=f"{part}_{name}") for part in ("match", "fetch")
            )
            query, key, value = match(query), match(key), fetch(value)
        output, weights[name] = attention(query, value, key, value_mask=inputs["mask"], return_attention_scores=True)
        read = keras.layers.Dense(len(RELATIONS) * len(FRUITS), name=f"read_out_{name}")(output[:, 0])
        logits[name] = ops.reshape(read, (-1, len(RELATIONS), len(FRUITS)))  # (B, 2, fruits)
    return keras.Model(inputs, logits), keras.Model(inputs, {"logits": logits, "weights": weights})
