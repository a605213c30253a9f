"""Positions as vectors: fixed sinusoids (Vaswani et al. 2017) and a learned table (Gehring et al. 2017)."""

import keras
import numpy as np
from keras import ops

from attention_by_hand.layers.base import check_size

MODES = ("add", "concat")


def sinusoids(length, width, base=10000.0):
    """The table of sinusoids, in float64.

        P[i, 2j] = sin(i / base^(2j/width)),  P[i, 2j+1] = cos(i / base^(2j/width))

    Args:
        length: number of positions.
        width: number of columns; with an odd width the last pair lacks its cosine.
        base: 10000 in the paper.

    Returns:
        Array (length, width).
    """
    position = np.arange(length)[:, None]
    pair = np.arange(width) // 2  # columns 2j and 2j + 1 share a frequency
    angle = position / base ** (2 * pair / width)  # (length, width)
    return np.where(np.arange(width) % 2 == 0, np.sin(angle), np.cos(angle))


@keras.saving.register_keras_serializable("attention_by_hand")
class SinusoidalPositionalEncoding(keras.layers.Layer):
    """Adds (or appends) a fixed vector to each position, so that attention can tell order.

        P[i, 2j] = sin(i / 10000^(2j/D)),  P[i, 2j+1] = cos(i / 10000^(2j/D)),  output = dropout(X + P)

    Angles are computed in float32 and only the result is cast, so that positions stay exact in half precision.

    Args:
        max_len: longest sequence that is accepted; None accepts any length.
        mode: `"add"`, or `"concat"`, which appends P to the features and doubles the width.
        dropout: share of the sum dropped in training, in [0, 1).
        seed: integer seed of the dropout.

    Call: `layer(x)` with x (B, T, D) → (B, T, D), or (B, T, 2·D) with concat. A mask is passed on.

    Raises:
        ValueError: an unknown `mode`, a `max_len` that is not a positive integer, `dropout` outside [0, 1), or
            a sequence longer than `max_len`.

    Source: Vaswani et al. 2017, "Attention Is All You Need", §3.5.
    """

    def __init__(self, max_len=None, mode="add", dropout=0.0, seed=None, **kwargs):
        super().__init__(**kwargs)
        if mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}; got {mode!r}")
        self.max_len = None if max_len is None else check_size("max_len", max_len)
        self.mode = mode
        self.supports_masking = True
        self.dropout = keras.layers.Dropout(dropout, seed=seed, dtype=self.dtype_policy)

    def build(self, x_shape):
        _check_input(x_shape, self.max_len)
        width = x_shape[-1]
        pair = np.arange(width) // 2
        self.frequency = (10000.0 ** (-2 * pair / width)).astype("float32")  # (D,)
        self.is_sine = (np.arange(width) % 2 == 0)[None, :]  # (1, D)

    def call(self, x, training=None):
        _check_input(x.shape, self.max_len)
        position = ops.cast(ops.arange(ops.shape(x)[1]), "float32")  # (T,)
        angle = ops.expand_dims(position, axis=1) * ops.convert_to_tensor(self.frequency)  # (T, D)
        encoding = ops.where(self.is_sine, ops.sin(angle), ops.cos(angle))  # (T, D)
        encoding = ops.broadcast_to(ops.cast(encoding, self.compute_dtype), ops.shape(x))  # (B, T, D)
        joined = x + encoding if self.mode == "add" else ops.concatenate([x, encoding], axis=-1)
        return self.dropout(joined, training=training)

    def compute_output_shape(self, x_shape):
        return (*x_shape[:-1], x_shape[-1] * (1 if self.mode == "add" else 2))

    def get_config(self):
        config = {"max_len": self.max_len, "mode": self.mode, "dropout": self.dropout.rate, "seed": self.dropout.seed}
        return {**super().get_config(), **config}


@keras.saving.register_keras_serializable("attention_by_hand")
class LearnedPositionalEmbedding(keras.layers.Layer):
    """Adds a learned vector to each position: output = X + P with P a weight (max_len, D).

    Args:
        max_len: number of rows of the table, the longest sequence.
        initializer: of the table.

    Call: `layer(x)` with x (B, T, D), T ≤ max_len → (B, T, D). A mask is passed on.

    Raises:
        ValueError: `max_len` is not a positive integer, or a sequence is longer than it.

    Source: Gehring et al. 2017, "Convolutional Sequence to Sequence Learning", §3.1.
    """

    def __init__(self, max_len, initializer="glorot_uniform", **kwargs):
        super().__init__(**kwargs)
        self.max_len = check_size("max_len", max_len)
        self.initializer = keras.initializers.get(initializer)
        self.supports_masking = True

    def build(self, x_shape):
        _check_input(x_shape, self.max_len)
        shape = (self.max_len, x_shape[-1])
        self.table = self.add_weight(shape=shape, initializer=self.initializer, name="table")

    def call(self, x):
        _check_input(x.shape, self.max_len)
        return x + self.table[: ops.shape(x)[1]]  # (B, T, D) + (T, D)

    def compute_output_shape(self, x_shape):
        return x_shape

    def get_config(self):
        config = {"max_len": self.max_len, "initializer": keras.initializers.serialize(self.initializer)}
        return {**super().get_config(), **config}


def _check_input(shape, max_len):
    if len(shape) != 3 or shape[-1] is None:
        raise ValueError(f"x must have shape (batch, length, width) with a known width; got {tuple(shape)}")
    if max_len is not None and shape[1] is not None and shape[1] > max_len:
        raise ValueError(f"x must have at most max_len = {max_len} steps; got {shape[1]}")
