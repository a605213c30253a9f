"""Self-attention: queries, keys and values are three projections of one and the same sequence."""

import keras
from keras import ops

from attention_by_hand import masks
from attention_by_hand.layers.base import check_floating, check_size
from attention_by_hand.layers.dot_product import DotProductAttention


@keras.saving.register_keras_serializable("attention_by_hand")
class SelfAttention(keras.layers.Layer):
    """Every vector of a sequence asks every other one.

        Q = X W_Q,  K = X W_K,  V = X W_V,  Y = softmax(Q Kᵀ / √key_dim) V

    Args:
        key_dim: width of queries and keys.
        value_dim: width of values and of the output; `key_dim` when None.
        use_bias: whether the three projections add a bias.
        dropout: share of weights dropped in training, in [0, 1).
        seed: integer seed of the dropout.

    Raises:
        ValueError: a size is not a positive integer, or `dropout` is outside [0, 1).

    Source: Vaswani et al. 2017, "Attention Is All You Need", eq. 1, with one input; as "intra-attention"
    Cheng et al. 2016, Parikh et al. 2016.
    """

    def __init__(self, key_dim, value_dim=None, use_bias=False, dropout=0.0, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.key_dim = check_size("key_dim", key_dim)
        self.value_dim = check_size("value_dim", key_dim if value_dim is None else value_dim)
        self.use_bias = use_bias
        self.supports_masking = True
        self.attention = DotProductAttention(
            scale="sqrt", dropout=dropout, seed=seed, dtype=self.dtype_policy, name="attention"
        )

    def build(self, x_shape):
        if len(x_shape) != 3 or x_shape[-1] is None:
            raise ValueError(f"x must have shape (batch, length, width) with a known width; got {tuple(x_shape)}")
        width = x_shape[-1]
        for name, size in (("query", self.key_dim), ("key", self.key_dim), ("value", self.value_dim)):
            setattr(self, f"{name}_kernel", self.add_weight(shape=(width, size), name=f"{name}_kernel"))
            bias = self.add_weight(shape=(size,), initializer="zeros", name=f"{name}_bias") if self.use_bias else None
            setattr(self, f"{name}_bias", bias)
        queries, values = (*x_shape[:-1], self.key_dim), (*x_shape[:-1], self.value_dim)
        self.attention.build(queries, values, queries)

    def call(
        self, x, mask=None, attention_mask=None, use_causal_mask=False, return_attention_scores=False, training=None
    ):
        """Attend within a sequence.

        Args:
            x: floating-point tensor (B, T, D).
            mask: boolean (B, T), False for padding: weight exactly 0 as a key, output 0 as a query.
            attention_mask: boolean (B, T, T), or (T, T) for the whole batch.
            use_causal_mask: step i may attend to steps 0 … i only.
            return_attention_scores: also return the weights.
            training: whether dropout acts.

        Returns:
            Output (B, T, value_dim); with `return_attention_scores` also the weights (B, T, T), before dropout.
        """
        check_floating(x=x)
        mask = masks.as_boolean(mask, "mask", {"(B, T)": tuple(x.shape[:2])})
        x = masks.clear(x, mask)  # (B, T, D): padding may hold NaN, which a gradient of W_Q would meet
        query = self.project(x, self.query_kernel, self.query_bias)  # (B, T, key_dim)
        key = self.project(x, self.key_kernel, self.key_bias)  # (B, T, key_dim)
        value = self.project(x, self.value_kernel, self.value_bias)  # (B, T, value_dim)
        return self.attention(
            query,
            value,
            key,
            query_mask=mask,
            value_mask=mask,
            attention_mask=attention_mask,
            use_causal_mask=use_causal_mask,
            return_attention_scores=return_attention_scores,
            training=training,
        )

    def project(self, x, kernel, bias):
        projected = ops.matmul(x, kernel)
        return projected if bias is None else projected + bias

    def compute_output_shape(self, x_shape):
        return (*x_shape[:-1], self.value_dim)

    def compute_output_spec(
        self, x, mask=None, attention_mask=None, use_causal_mask=False, return_attention_scores=False, training=None
    ):
        """Symbolic outputs, from shapes alone."""
        check_floating(x=x)
        batch, length = x.shape[:2]
        full = {"(B, T, T)": (batch, length, length), "(T, T)": (length, length)}
        masks.as_boolean(mask, "mask", {"(B, T)": (batch, length)})
        masks.as_boolean(attention_mask, "attention_mask", full)
        output = keras.KerasTensor(self.compute_output_shape(x.shape), dtype=self.compute_dtype)
        weights = keras.KerasTensor((*x.shape[:-1], x.shape[1]), dtype=self.compute_dtype)
        return (output, weights) if return_attention_scores else output

    def get_config(self):
        attention = self.attention
        config = {"key_dim": self.key_dim, "value_dim": self.value_dim, "use_bias": self.use_bias}
        return {**super().get_config(), **config, "dropout": attention.dropout, "seed": attention.seed}
