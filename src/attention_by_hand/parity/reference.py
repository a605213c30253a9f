"""The Keras layer that one of ours must equal: a built-in, or a built-in fed with projected queries and keys."""

import keras
from keras import ops

from attention_by_hand.layers import AdditiveAttention, DotProductAttention


class Times(keras.layers.Layer):
    """Multiply by a number, or by one learned scalar."""

    def __init__(self, factor, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def build(self, shape):
        if self.factor == "learned":
            self.scalar = self.add_weight(shape=(), initializer="ones", name="scale")

    def call(self, x):
        return x * (self.scalar if self.factor == "learned" else self.factor)


class Projected(keras.layers.Layer):
    """A built-in attention layer behind a `Dense` layer without bias for queries and one for keys.

    Keras's `Attention` and `AdditiveAttention` have no projections inside. With these in front they compute
    the papers' forms, which is what our layers with `units`, or with `score_mode="general"`, must equal.

    Args:
        builtin: `keras.layers.Attention` or `keras.layers.AdditiveAttention`, an instance.
        query_units, key_units: width after the projection; None for no projection.
        scale: None, a number or `"learned"`: what projected queries (with `scale_keys` also keys) are multiplied by.
        scale_keys: see `scale`.
        stacked: whether our layer keeps both kernels in one matrix, the query's above the key's.
    """

    def __init__(self, builtin, query_units=None, key_units=None, scale=None, scale_keys=False, stacked=False):
        super().__init__()
        self.supports_masking = True
        self.query_dense = query_units and keras.layers.Dense(query_units, use_bias=False)
        self.key_dense = key_units and keras.layers.Dense(key_units, use_bias=False)
        self.times = None if scale is None else Times(scale)
        self.builtin = builtin
        self.scale_keys = scale_keys
        self.stacked = stacked

    def build(self, input_shape):
        query_shape, value_shape, key_shape = (*input_shape, input_shape[1])[:3]
        if self.query_dense:
            self.query_dense.build(query_shape)
            query_shape = (*query_shape[:-1], self.query_dense.units)
        if self.key_dense:
            self.key_dense.build(key_shape)
            key_shape = (*key_shape[:-1], self.key_dense.units)
        if self.times:
            self.times.build(query_shape)
        self.builtin.build([query_shape, value_shape, key_shape])

    def call(self, inputs, mask=None, return_attention_scores=False, use_causal_mask=False):
        query, value, key = (*inputs, inputs[1])[:3]
        query = self.query_dense(query) if self.query_dense else query
        key = self.key_dense(key) if self.key_dense else key
        query = self.times(query) if self.times else query
        key = self.times(key) if self.times and self.scale_keys else key
        return self.builtin(
            [query, value, key],
            mask=mask,
            return_attention_scores=return_attention_scores,
            use_causal_mask=use_causal_mask,
        )

    def from_ours(self, arrays):
        """Weights of our layer, in the order and shapes of this one."""
        if not self.stacked:
            return arrays
        rows = self.query_dense.kernel.shape[0]
        return [arrays[0][:rows], arrays[0][rows:], *arrays[1:]]

    def to_ours(self, arrays):
        """Weights (or gradients) of this layer, in the order and shapes of ours."""
        if not self.stacked:
            return arrays
        return [ops.convert_to_numpy(ops.concatenate(arrays[:2], axis=0)), *arrays[2:]]


def reference(ours):
    """The Keras layer that `ours` must equal.

    Args:
        ours: an `AdditiveAttention` or `DotProductAttention` of this package, already built.

    Returns:
        A built-in layer, or a `Projected` one. Its weights are its own: see `parity.copy_weights`.

    Raises:
        ValueError: there is no reference for this type of layer.
    """
    if isinstance(ours, AdditiveAttention):
        builtin = keras.layers.AdditiveAttention(use_scale=ours.use_scale, dropout=ours.dropout)
        return builtin if ours.units is None else Projected(builtin, ours.units, ours.units)
    if not isinstance(ours, DotProductAttention):
        raise ValueError(f"ours must be an AdditiveAttention or DotProductAttention; got {type(ours).__name__}")
    concat, learned = ours.score_mode == "concat", ours.scale == "learned"
    if ours.units is not None:
        builtin = keras.layers.AdditiveAttention(use_scale=True, dropout=ours.dropout)
        return Projected(builtin, ours.units, ours.units, scale=ours.scale, scale_keys=True, stacked=True)
    builtin = keras.layers.Attention(use_scale=learned, score_mode="concat" if concat else "dot", dropout=ours.dropout)
    scale = None if learned else ours.query_width**-0.5 if ours.scale == "sqrt" else ours.scale
    if ours.score_mode == "general":
        return Projected(builtin, query_units=int(ours.kernel.shape[1]), scale=scale)
    return builtin if scale is None else Projected(builtin, scale=scale, scale_keys=concat)
