"""Dot-product attention: plain, scaled, bilinear ("general") and "concat"."""

import keras
from keras import ops

from attention_by_hand.layers.base import AttentionPooling

SCORE_MODES = ("dot", "general", "concat")


@keras.saving.register_keras_serializable("attention_by_hand")
class DotProductAttention(AttentionPooling):
    """Attention whose score is a product of query and key; for comparison also Luong's other two scores.

        dot:     E[t, i] = scale · query[t] · key[i]
        general: E[t, i] = scale · query[t]ᵀ W key[i]
        concat:  E[t, i] = vᵀ tanh(scale · W [query[t]; key[i]])         with `units`, Luong's
                 E[t, i] = w · Σ_d tanh(scale · (query[t] + key[i]))[d]  without, Keras's: a sum, one weight w

    Args:
        scale: None (1, as Keras), `"sqrt"` (1/√D, D the width of the query; not for concat), a number, or
            `"learned"` (a scalar weight that starts at 1: Keras's `use_scale=True`).
        score_mode: `"dot"`, `"general"` or `"concat"`.
        units: width of the hidden layer of Luong's concat; only with `score_mode="concat"`.
        dropout: share of weights dropped in training, in [0, 1).
        seed: integer seed of the dropout.

    Call arguments, results and shapes: see `AttentionPooling.call`.

    Raises:
        ValueError: an unknown `scale` or `score_mode`; `units` without concat or not a positive integer;
            `scale="sqrt"` with concat; query and key differ in width where the score needs one width.

    Source: Luong et al. 2015, "Effective Approaches to Attention-based Neural Machine Translation", eq. 8;
    1/√D: Vaswani et al. 2017, "Attention Is All You Need", eq. 1.
    """

    def __init__(self, scale=None, score_mode="dot", units=None, dropout=0.0, seed=None, **kwargs):
        super().__init__(dropout=dropout, seed=seed, **kwargs)
        number = isinstance(scale, (int, float)) and not isinstance(scale, bool)
        if scale is not None and scale not in ("sqrt", "learned") and not number:
            raise ValueError(f'scale must be None, "sqrt", "learned" or a number; got {scale!r}')
        if score_mode not in SCORE_MODES:
            raise ValueError(f"score_mode must be one of {', '.join(SCORE_MODES)}; got {score_mode!r}")
        if units is not None and (score_mode != "concat" or not isinstance(units, int) or units < 1):
            raise ValueError(
                f'units must be a positive integer, with score_mode="concat"; got {units!r}, {score_mode!r}'
            )
        if scale == "sqrt" and score_mode == "concat":
            raise ValueError('scale="sqrt" is for products: a tanh is bounded and needs no 1/√D')
        self.scale = scale
        self.score_mode = score_mode
        self.units = units

    def build_score(self, query_width, key_width):
        self.query_width = query_width
        if self.score_mode == "general":
            self.kernel = self.add_weight(shape=(query_width, key_width), name="kernel")
        elif self.units is not None:
            self.kernel = self.add_weight(shape=(query_width + key_width, self.units), name="kernel")
        elif query_width != key_width:
            raise ValueError(f'key must have the width of query, {query_width}; got {key_width} (or use "general")')
        if self.scale == "learned":
            self.learned_scale = self.add_weight(shape=(), initializer="ones", name="scale")
        if self.score_mode == "concat":
            shape = () if self.units is None else (self.units,)
            initializer = "ones" if self.units is None else "glorot_uniform"
            self.score_weight = self.add_weight(shape=shape, initializer=initializer, name="concat_score_weight")

    def scaled(self, x):
        """`x` times the scale, whichever kind was asked for."""
        if self.scale is None:
            return x
        if self.scale == "learned":
            return x * self.learned_scale
        return x * (self.query_width**-0.5 if self.scale == "sqrt" else self.scale)

    def score(self, query, key):
        if self.score_mode == "concat":
            return self.concat_score(query, key)
        query = self.scaled(query)  # (B, Tq, Dq): before the product, so that float16 does not overflow
        if self.score_mode == "general":
            query = ops.einsum("btd,de->bte", query, self.kernel)  # (B, Tq, Dk)
        return ops.einsum("btd,bsd->bts", query, key)  # (B, Tq, Tv)

    def concat_score(self, query, key):
        """W [query; key] = W_q query + W_k key: one product each, before they meet in (B, Tq, Tv, U)."""
        if self.units is not None:
            query = ops.einsum("btd,du->btu", query, self.kernel[: self.query_width])  # (B, Tq, U)
            key = ops.einsum("bsd,du->bsu", key, self.kernel[self.query_width :])  # (B, Tv, U)
        query = ops.expand_dims(self.scaled(query), axis=2)  # (B, Tq, 1, U)
        key = ops.expand_dims(self.scaled(key), axis=1)  # (B, 1, Tv, U)
        hidden = ops.tanh(query + key)  # (B, Tq, Tv, U)
        if self.units is not None:
            return ops.einsum("btsu,u->bts", hidden, self.score_weight)  # (B, Tq, Tv)
        return self.score_weight * ops.sum(hidden, axis=-1)  # (B, Tq, Tv)

    def get_config(self):
        return {**super().get_config(), "scale": self.scale, "score_mode": self.score_mode, "units": self.units}
