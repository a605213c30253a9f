"""Layers that read a sequence of notes and answer its question, trained side by side in one `fit`."""

import keras
import numpy as np
from keras import ops

from attention_by_hand.datasets.distance import NAMES, THINGS
from attention_by_hand.layers import UniformAttention
from attention_by_hand.layers.base import check_size
from attention_by_hand.models.race import _embedding, _read_out

WIDTH = 24  # D of the embeddings


def distance_race(contestants, seed=0):
    """Models of `datasets.recall_at_distance` that differ in the layer that reads the sequence.

    Each contestant has its own embeddings of keys and values, which are added, its layer, and a linear read-out of
    the layer's last step. Nothing is shared but the inputs: an optimizer that works weight by weight, as Adam does,
    and a loss that averages over the contestants train each as if it were alone.

    Args:
        contestants: `{name: layer}`, each maps (B, n, 24) to (B, n, F).
        seed: seed of the embeddings and read-outs.

    Returns:
        `(model, embed)`, sharing their embeddings. Both take `{"key": (B, n), "value": (B, n)}`; `model` gives logits
        (B, contestants, values), `embed` what the layers read, `{name: (B, n, 24)}`.

    Raises:
        ValueError: there are no contestants.
    """
    if not contestants:
        raise ValueError("contestants must hold at least one layer, {name: layer}; got none")
    inputs = {name: keras.Input((None,), dtype="int32", name=name) for name in ("key", "value")}
    rng, total = np.random.default_rng(seed), WIDTH * len(contestants)
    sizes = {"key": len(NAMES), "value": len(THINGS)}
    key, value = (
        _embedding(rng.normal(0, 0.5, (size, total)), f"{name}_table")(inputs[name]) for name, size in sizes.items()
    )  # (B, n, ΣD) twice: slices of one wide table, which a backend compiles faster than many tables
    tokens = ops.add(key, value)  # (B, n, ΣD)
    vectors, logits = {}, []
    for number, (name, layer) in enumerate(contestants.items()):
        vectors[name] = tokens[..., number * WIDTH : (number + 1) * WIDTH]  # (B, n, D)
        last = layer(vectors[name])[:, -1]  # (B, F): what the layer says at the question
        logits.append(_read_out(rng, last.shape[-1], len(THINGS) - 1, f"read_out_{name}")(last))  # (B, values)
    return keras.Model(inputs, ops.stack(logits, axis=1)), keras.Model(inputs, vectors)


class UniformReader(keras.layers.Layer):
    """The control: self-attention that cannot choose. Values are projected and averaged, each with the same weight.

    Args:
        value_dim: width of the values and of the output.

    Raises:
        ValueError: `value_dim` is not a positive integer.
    """

    def __init__(self, value_dim, **kwargs):
        super().__init__(**kwargs)
        self.value_dim = check_size("value_dim", value_dim)
        self.attention, self.value = UniformAttention(), keras.layers.Dense(value_dim, use_bias=False)

    def build(self, x_shape):
        self.value.build(x_shape)
        values = (*x_shape[:-1], self.value_dim)
        self.attention.build(x_shape, values, x_shape)

    def call(self, x):
        """Means (B, n, value_dim) of x (B, n, D)."""
        return self.attention(x, self.value(x), x)


def starts(seed=0):
    """Keras's default starts of kernels and of recurrent kernels, drawn by NumPy.

    The same on every backend, and quick: jax compiles its own generator, and the orthogonal one at length, anew for
    every shape.

    Args:
        seed: integer seed.

    Returns:
        Two initializers: Glorot's uniform one (variance 2 / (inputs + outputs)) and the orthogonal one (rows with
        length 1 and right angles between them). Each call draws further numbers.
    """
    rng = np.random.default_rng(seed)

    def glorot(shape, dtype=None):
        taps = int(np.prod(shape[:-2]))  # of a convolution; 1 for a matrix
        limit = (6 / (taps * (shape[-2] + shape[-1]))) ** 0.5
        return ops.convert_to_tensor(rng.uniform(-limit, limit, shape), dtype)

    def orthogonal(shape, dtype=None):
        q, r = np.linalg.qr(rng.normal(size=(shape[1], shape[0])))  # columns at right angles
        return ops.convert_to_tensor((q * np.sign(np.diag(r))).T, dtype)

    return glorot, orthogonal
