"""Stacks of transformer blocks on "the forecast", trained side by side: they share nothing but the inputs."""

import keras
import numpy as np
from keras import ops

from attention_by_hand.datasets.forecast import LEFT, RIGHT, WEATHER
from attention_by_hand.layers import MultiHeadAttention, TransformerEncoderBlock
from attention_by_hand.layers.base import check_size


class UniformHeads(MultiHeadAttention):
    """The control that cannot choose: heads whose scores are all 0, so that each takes the plain mean of the values."""

    can_fuse = False

    def attend(self, q, k, v, mask, drop):
        return super().attend(0.0 * q, k, v, mask, drop)  # not left out: gradients exist, and are 0


class UniformBlock(TransformerEncoderBlock):
    """A `TransformerEncoderBlock` with `UniformHeads` in attention's place; everything else is as in the block."""

    def build(self, x_shape):
        self.width = x_shape[-1]
        self.attention = self.add_attention("attention", UniformHeads, x_shape, x_shape)
        self.add_mlp(x_shape)


class ReadOutMLP(keras.layers.Layer):
    """A block's second sublayer alone, for the end of a stack: x + W_2 relu(W_1 norm(x) + b_1) + b_2.

    Args:
        mlp_dim: width of the hidden layer.

    Raises:
        ValueError: `mlp_dim` is not a positive integer.
    """

    def __init__(self, mlp_dim, **kwargs):
        super().__init__(**kwargs)
        self.mlp_dim = check_size("mlp_dim", mlp_dim)

    def build(self, x_shape):
        width = x_shape[-1]
        self.norm = keras.layers.LayerNormalization(epsilon=1e-6)
        self.hidden, self.output_layer = keras.layers.Dense(self.mlp_dim, "relu"), keras.layers.Dense(width)
        self.norm.build(x_shape)
        self.hidden.build(x_shape)
        self.output_layer.build((*x_shape[:-1], self.mlp_dim))

    def call(self, x):
        """(B, D) → (B, D)."""
        return x + self.output_layer(self.hidden(self.norm(x)))


ANSWERS, CLASSES = 2, len(WEATHER) + 1  # town and weather; ids begin with 1, and there are fewer towns


def forecast_race(contestants, width=32, spread=0.7, seed=0):
    """Models of `datasets.forecast` that differ in their blocks: embed, run them, read two answers off the question.

    A token is two ids; its vector is the sum of a row for each. After pre-norm blocks there is a last norm. An
    optimizer that works weight by weight, as Adam does, and a loss that averages over the contestants, train each
    as if it were alone.

    Args:
        contestants: `{name: (blocks, mlp)}`: a list of blocks, each called as `block(x, return_attention_scores=True)`,
            and a layer (B, D) → (B, D) for the question's vector after them, or None.
        width: D.
        spread: standard deviation of the two rows that a vector is the sum of, at the start.
        seed: seed of the embeddings and read-outs.

    Returns:
        `(model, full_model)`, sharing all weights. Both take tokens (B, T, 2). The first gives logits (B, contestants,
        2, 13) for town and weather; the second `{"logits": the same, "weights": {name: [weights of the question,
        (B, H, T), by block]}, "vectors": {name: [the question's vector, (B, D), after each block]}}`.
    """
    count, rng = len(contestants), np.random.default_rng(seed)
    limit = (6 / (width + CLASSES)) ** 0.5  # Glorot's, of one read-out
    kernels = rng.uniform(-limit, limit, (count, width, ANSWERS, CLASSES))
    start = keras.initializers.Constant  # drawn by NumPy: jax compiles its own generator anew for every shape

    tokens = keras.Input((None, 2), dtype="int32", name="tokens")
    embedded = 0.0
    for column, words in enumerate((LEFT, RIGHT)):
        table = rng.normal(0.0, spread, size=(len(words), count * width))
        rows = keras.layers.Embedding(*table.shape, embeddings_initializer=start(table), name=f"column_{column}")
        embedded = rows(tokens[..., column]) + embedded  # (B, T, contestants · D)
    outputs, weights, vectors = [], {}, {}
    for number, (name, (blocks, mlp)) in enumerate(contestants.items()):
        x, weights[name], vectors[name] = embedded[..., number * width : (number + 1) * width], [], []  # (B, T, D)
        for block in blocks:
            x, found = block(x, return_attention_scores=True)
            weights[name].append(found[:, :, -1])  # (B, H, T)
            vectors[name].append(x[:, -1])  # (B, D)
        x = x[:, -1] if mlp is None else mlp(x[:, -1])  # (B, D)
        outputs.append(keras.layers.LayerNormalization(epsilon=1e-6)(x) if blocks[-1].norm_first else x)
    shape = (count, ANSWERS, CLASSES)
    read_out = keras.layers.EinsumDense(
        "bmd,mdac->bmac", shape, bias_axes="mac", kernel_initializer=start(kernels), name="read_out"
    )
    logits = read_out(ops.stack(outputs, axis=1))  # (B, contestants, 2, 13)
    full = {"logits": logits, "weights": weights, "vectors": vectors}
    return keras.Model(tokens, logits), keras.Model(tokens, full)
