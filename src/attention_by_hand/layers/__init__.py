"""One mechanism, one file. Each layer is a public Keras layer written with `keras.ops` only."""

from attention_by_hand.layers.additive import AdditiveAttention
from attention_by_hand.layers.attention_decoder import AttentionDecoder
from attention_by_hand.layers.base import AttentionPooling
from attention_by_hand.layers.cached_attention import CachedAttention
from attention_by_hand.layers.dot_product import DotProductAttention
from attention_by_hand.layers.multi_head import MultiHeadAttention
from attention_by_hand.layers.positional import LearnedPositionalEmbedding, SinusoidalPositionalEncoding, sinusoids
from attention_by_hand.layers.recurrent import GRU, gru_step
from attention_by_hand.layers.relative import (
    AlibiAttention,
    RelativePositionAttention,
    RotaryAttention,
    RotaryEmbedding,
    alibi_slopes,
    skew,
)
from attention_by_hand.layers.self_attention import SelfAttention
from attention_by_hand.layers.spatial import Coordinates, coordinates
from attention_by_hand.layers.spatial_attention import SpatialSelfAttention
from attention_by_hand.layers.transformer import TransformerEncoder, TransformerEncoderBlock
from attention_by_hand.layers.transformer_decoder import TransformerDecoder, TransformerDecoderBlock
from attention_by_hand.layers.uniform import UniformAttention

__all__ = [
    "GRU",
    "AdditiveAttention",
    "AlibiAttention",
    "AttentionDecoder",
    "AttentionPooling",
    "CachedAttention",
    "Coordinates",
    "DotProductAttention",
    "LearnedPositionalEmbedding",
    "MultiHeadAttention",
    "RelativePositionAttention",
    "RotaryAttention",
    "RotaryEmbedding",
    "SelfAttention",
    "SinusoidalPositionalEncoding",
    "SpatialSelfAttention",
    "TransformerDecoder",
    "TransformerDecoderBlock",
    "TransformerEncoder",
    "TransformerEncoderBlock",
    "UniformAttention",
    "alibi_slopes",
    "coordinates",
    "gru_step",
    "sinusoids",
    "skew",
]
