"""Multi-head attention (Vaswani et al. 2017): H heads attend side by side, each in its own projection."""

import keras
from keras import ops

from attention_by_hand import backend, masks
from attention_by_hand.layers.base import check_floating, check_shapes, check_size, checked_masks


@keras.saving.register_keras_serializable("attention_by_hand")
class MultiHeadAttention(keras.layers.Layer):
    """H attentions in parallel, each over its own projection of the whole vectors, then mixed.

        Q_h = query W_q[h] + b_q[h],   K_h = key W_k[h] + b_k[h],   V_h = value W_v[h] + b_v[h]
        A_h = softmax(Q_h K_hᵀ / √key_dim)
        output = Σ_h (A_h V_h) W_o[h] + b_o

    Weights have the order and the shapes of `keras.layers.MultiHeadAttention`: `get_weights` of the one is
    what `set_weights` of the other takes.

    Args:
        num_heads: number of heads H.
        key_dim: width of queries and keys *per head*.
        value_dim: width of values per head; `key_dim` when None.
        dropout: share of weights dropped in training, in [0, 1).
        use_bias: whether the four projections add a bias.
        output_shape: width of the output; that of the query when None.
        seed: integer seed of the dropout.

    Raises:
        ValueError: a size is not a positive integer, or `dropout` is outside [0, 1).

    Source: Vaswani et al. 2017, "Attention Is All You Need", §3.2.2.
    """

    can_fuse = True  # a rung that changes the scores says False

    def __init__(
        self, num_heads, key_dim, value_dim=None, dropout=0.0, use_bias=True, output_shape=None, seed=None, **kwargs
    ):
        super().__init__(**kwargs)
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout must be in [0, 1); got {dropout}")
        self.num_heads = check_size("num_heads", num_heads)
        self.key_dim = check_size("key_dim", key_dim)
        self.value_dim = check_size("value_dim", key_dim if value_dim is None else value_dim)
        self.output_width = None if output_shape is None else check_size("output_shape", output_shape)
        self.dropout = dropout
        self.use_bias = use_bias
        self.seed = seed
        self.supports_masking = True
        if dropout > 0:
            self.seed_generator = keras.random.SeedGenerator(seed)

    def build(self, query_shape, value_shape, key_shape=None):
        key_shape = value_shape if key_shape is None else key_shape
        check_shapes(query_shape, value_shape, key_shape)
        heads, width = self.num_heads, self.output_width or query_shape[-1]
        self.query_kernel, self.query_bias = self.add_projection("query", (query_shape[-1], heads, self.key_dim))
        self.key_kernel, self.key_bias = self.add_projection("key", (key_shape[-1], heads, self.key_dim))
        self.value_kernel, self.value_bias = self.add_projection("value", (value_shape[-1], heads, self.value_dim))
        self.output_kernel, self.output_bias = self.add_projection("output", (heads, self.value_dim, width), (width,))

    def add_projection(self, name, shape, bias_shape=None):
        """Kernel and bias (or None) of one projection; the bias lacks the axis that is summed over."""
        kernel = self.add_weight(shape=shape, initializer="glorot_uniform", name=f"{name}_kernel")
        if not self.use_bias:
            return kernel, None
        return kernel, self.add_weight(shape=bias_shape or shape[1:], initializer="zeros", name=f"{name}_bias")

    def call(
        self,
        query,
        value,
        key=None,
        query_mask=None,
        value_mask=None,
        attention_mask=None,
        use_causal_mask=False,
        return_attention_scores=False,
        training=None,
    ):
        """Attend from every query to every value, once per head.

        Args:
            query: floating-point tensor (B, Tq, Dq).
            value: floating-point tensor (B, Tv, Dv).
            key: floating-point tensor (B, Tv, D); the values when None.
            query_mask: boolean (B, Tq); the output of a False query is 0.
            value_mask: boolean (B, Tv); a False pair of key and value gets weight exactly 0.
            attention_mask: boolean (B, Tq, Tv), (Tq, Tv), or (B, H, Tq, Tv) for one mask a head.
            use_causal_mask: query i may attend to keys 0 … i only.
            return_attention_scores: also return the weights.
            training: whether dropout acts.

        Returns:
            Output (B, Tq, width); with `return_attention_scores` also the weights (B, H, Tq, Tv), before
            dropout. A query that may attend to nothing gets weights 0, and the bias of the output projection.
        """
        key = value if key is None else key
        check_floating(query=query, value=value, key=key)
        query_mask, value_mask, attention_mask = checked_masks(
            query.shape, value.shape, query_mask, value_mask, attention_mask, self.num_heads
        )
        same = key is value
        query = masks.clear(query, query_mask)
        value = masks.clear(value, value_mask)
        key = value if same else masks.clear(key, value_mask)
        q = project(query, self.query_kernel, self.query_bias)  # (B, Tq, H, Dk)
        k = project(key, self.key_kernel, self.key_bias)  # (B, Tv, H, Dk)
        v = project(value, self.value_kernel, self.value_bias)  # (B, Tv, H, Dv)

        drop = self.dropout > 0 and training
        fused = self.can_fuse and backend.has_fused_attention() and self.key_dim == self.value_dim
        if fused and not (return_attention_scores or drop):
            context = self.attend_fused(q, k, v, value_mask, attention_mask, use_causal_mask)  # (B, Tq, H, Dv)
        else:
            mask = self.head_mask(q, k, value_mask, attention_mask, use_causal_mask)
            context, weights = self.attend(q, k, v, mask, drop)  # (B, Tq, H, Dv), (B, H, Tq, Tv)
        output = ops.tensordot(context, self.output_kernel, axes=2)  # (B, Tq, width)
        if self.use_bias:
            output = output + self.output_bias
        output = masks.clear(output, query_mask)
        return (output, weights) if return_attention_scores else output

    def attend(self, q, k, v, mask, drop):
        """Attention of all heads at once, every step visible."""
        q, k, v = (ops.transpose(x, (0, 2, 1, 3)) for x in (q, k, v))  # (B, H, T, d): one product a head
        scores = ops.einsum("bhtd,bhsd->bhts", q * self.key_dim**-0.5, k)  # (B, H, Tq, Tv)
        weights = masks.masked_softmax(scores, mask)  # (B, H, Tq, Tv), rows sum to 1
        dropped = keras.random.dropout(weights, self.dropout, seed=self.seed_generator) if drop else weights
        context = ops.einsum("bhts,bhsd->bhtd", dropped, v)  # (B, H, Tq, Dv)
        return ops.transpose(context, (0, 2, 1, 3)), weights  # (B, Tq, H, Dv)

    def attend_fused(self, q, k, v, value_mask, attention_mask, use_causal_mask):
        """The same numbers from the backend's fused kernel, which keeps no weights."""
        if value_mask is None and attention_mask is None:
            return ops.dot_product_attention(q, k, v, scale=self.key_dim**-0.5, is_causal=use_causal_mask)
        mask = self.head_mask(q, k, value_mask, attention_mask, use_causal_mask)
        if self.compute_dtype == "float16":  # the kernel's mask is a number added, which a large score outweighs
            return MultiHeadAttention.attend(self, q, k, v, mask, drop=False)[0]
        context = ops.dot_product_attention(q, k, v, mask=mask, scale=self.key_dim**-0.5)
        visible = ops.any(mask, axis=-1, keepdims=True)  # (B, H, Tq, 1): kernels average over a row of nothing
        return ops.where(ops.transpose(visible, (0, 2, 1, 3)), context, 0.0)

    def head_mask(self, q, k, value_mask, attention_mask, use_causal_mask):
        """All masks joined, (B, H, Tq, Tv) or with 1 where one is for all; None where nothing is masked."""
        per_head = attention_mask is not None and len(attention_mask.shape) == 4
        mask = masks.score_mask(q, k, value_mask, None if per_head else attention_mask, use_causal_mask)
        if mask is not None:
            mask = ops.expand_dims(mask, axis=1)  # (B, 1, Tq, Tv)
        if per_head:
            mask = attention_mask if mask is None else ops.logical_and(mask, attention_mask)
        return mask

    def compute_output_shape(self, query_shape, value_shape, key_shape=None):
        return (*query_shape[:-1], self.output_width or query_shape[-1])

    def compute_output_spec(
        self,
        query,
        value,
        key=None,
        query_mask=None,
        value_mask=None,
        attention_mask=None,
        use_causal_mask=False,
        return_attention_scores=False,
        training=None,
    ):
        """Symbolic outputs, from shapes alone: (B, Tq, width) and, when asked for, weights (B, H, Tq, Tv)."""
        key = value if key is None else key
        check_shapes(query.shape, value.shape, key.shape)
        check_floating(query=query, value=value, key=key)
        checked_masks(query.shape, value.shape, query_mask, value_mask, attention_mask, self.num_heads)
        output = keras.KerasTensor(self.compute_output_shape(query.shape, value.shape), dtype=self.compute_dtype)
        shape = (query.shape[0], self.num_heads, query.shape[1], value.shape[1])
        weights = keras.KerasTensor(shape, dtype=self.compute_dtype)
        return (output, weights) if return_attention_scores else output

    def get_config(self):
        names = ("num_heads", "key_dim", "value_dim", "dropout", "use_bias", "seed")
        config = {name: getattr(self, name) for name in names}
        return {**super().get_config(), **config, "output_shape": self.output_width}


def project(x, kernel, bias):
    """All heads in one product: (B, T, D) with (D, H, d), plus (H, d) → (B, T, H, d)."""
    projected = ops.tensordot(x, kernel, axes=1)
    return projected if bias is None else projected + bias
