"""Additive attention (Bahdanau, Cho, Bengio 2015), in the paper's form and in Keras's."""

import keras
from keras import ops

from attention_by_hand.layers.base import AttentionPooling


@keras.saving.register_keras_serializable("attention_by_hand")
class AdditiveAttention(AttentionPooling):
    """Attention whose score is a small neural network over query and key.

    With `units=U`, the paper's score, learned projections included:

        E[t, i] = Σ_u v[u] · tanh(query[t] W_q + key[i] W_k)[u]

    With `units=None`, Keras's score, which has no projections and needs queries and keys of one width D:

        E[t, i] = Σ_d scale[d] · tanh(query[t, d] + key[i, d])

    The first with W_q = W_k = I and v = scale is the second.

    Args:
        units: width U of the hidden layer, or None for Keras's form.
        use_scale: whether `scale` is learned; without it every feature counts 1. With `units` it must stay
            True: v *is* the scale.
        dropout: share of weights dropped in training, in [0, 1).
        seed: integer seed of the dropout.

    Call arguments, results and shapes: see `AttentionPooling.call`.

    Raises:
        ValueError: `units` is not a positive integer; `use_scale=False` is combined with `units`; query and
            key differ in width without `units`.

    Source: Bahdanau et al. 2015, "Neural Machine Translation by Jointly Learning to Align and Translate",
    appendix A.1.2: a(s, h) = vᵀ tanh(W s + U h).
    """

    def __init__(self, units=None, use_scale=True, dropout=0.0, seed=None, **kwargs):
        super().__init__(dropout=dropout, seed=seed, **kwargs)
        if units is not None and (not isinstance(units, int) or isinstance(units, bool) or units < 1):
            raise ValueError(f"units must be a positive integer or None; got {units!r}")
        if units is not None and not use_scale:
            raise ValueError("use_scale=False cannot be combined with units: the vector v is the scale")
        self.units = units
        self.use_scale = use_scale

    def build_score(self, query_width, key_width):
        if self.units is not None:
            self.query_kernel = self.add_weight(shape=(query_width, self.units), name="query_kernel")
            self.key_kernel = self.add_weight(shape=(key_width, self.units), name="key_kernel")
        elif query_width != key_width:
            raise ValueError(
                f"key must have the width of query, {query_width}, when units is None; got {key_width} (or set units)"
            )
        if self.use_scale:
            width = query_width if self.units is None else self.units
            self.scale = self.add_weight(shape=(width,), initializer="glorot_uniform", name="scale")

    def score(self, query, key):
        if self.units is not None:
            query = ops.einsum("btd,du->btu", query, self.query_kernel)  # (B, Tq, U)
            key = ops.einsum("bsd,du->bsu", key, self.key_kernel)  # (B, Tv, U)
        query = ops.expand_dims(query, axis=2)  # (B, Tq, 1, U)
        key = ops.expand_dims(key, axis=1)  # (B, 1, Tv, U)
        hidden = ops.tanh(query + key)  # (B, Tq, Tv, U)
        if not self.use_scale:
            return ops.sum(hidden, axis=-1)  # (B, Tq, Tv)
        return ops.einsum("btsu,u->bts", hidden, self.scale)  # (B, Tq, Tv)

    def step_score(self, key):
        if self.units is None:
            return super().step_score(key)
        query_kernel = ops.convert_to_tensor(self.query_kernel)  # (Dq, U)
        scale = ops.expand_dims(ops.convert_to_tensor(self.scale), axis=1)  # (U, 1)
        key = key @ ops.convert_to_tensor(self.key_kernel)  # (B, Tv, U)

        def score(query):
            query = (query @ query_kernel)[:, None]  # (B, 1, U)
            return (ops.tanh(query + key) @ scale)[..., 0]  # (B, Tv)

        return score

    def get_config(self):
        return {**super().get_config(), "units": self.units, "use_scale": self.use_scale}
