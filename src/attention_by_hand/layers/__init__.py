"""One mechanism, one file. Each layer is a public Keras layer written with `keras.ops` only."""

from attention_by_hand.layers.additive import AdditiveAttention
from attention_by_hand.layers.base import AttentionPooling
from attention_by_hand.layers.dot_product import DotProductAttention
from attention_by_hand.layers.uniform import UniformAttention

__all__ = ["AdditiveAttention", "AttentionPooling", "DotProductAttention", "UniformAttention"]
