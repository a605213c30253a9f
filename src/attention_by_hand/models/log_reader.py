"""The model of the delivery log: one self-attention and a read-out; several copies side by side, one mask each."""

import keras
import numpy as np
from keras import ops

from attention_by_hand import masks
from attention_by_hand.layers import SelfAttention


class LogReader(keras.Model):
    """Copies of one small model that share nothing but the inputs, trained in a single `fit`.

        x = one-hot of (kind, article, price);  Y = softmax(mask(x W_Q (x W_K)ᵀ / √key_dim)) x W_V;  logits = Y W_O

    All copies of a product are computed at once, along an axis of length M (the number of copies). An optimizer
    that works weight by weight, as Adam does, and a loss that adds up, train each copy as if it were alone.

    Args:
        copies: `{name of a copy: function}`; a function gets the padding mask `real` (B, T), True for a token, and
            returns the mask of the scores: boolean (B, T, T), (1, T, T) or (B, 1, T), True = may attend.
        after_softmax: names of copies whose mask comes after the softmax: the classic mistake.
        uniform: names of copies that cannot choose: all their scores are 0. The control.
        articles, prices: how many different ones there are; ids start at 1, 0 is padding.
        key_dim: width of queries, keys and values.
        seed: seed of the weights.
    """

    def __init__(self, copies, after_softmax=(), uniform=(), articles=16, prices=8, key_dim=16, seed=0):
        super().__init__()
        self.names, self.functions = list(copies), list(copies.values())
        flags = np.array([[n in after_softmax, n in uniform] for n in copies])[
            :, :, None, None, None
        ]  # (M, 2, 1, 1, 1)
        self.after_softmax, self.chooses = flags[:, 0], (~flags[:, 1]).astype("float32")
        self.sizes = (4, articles + 1, prices + 1)
        count, width = len(copies), sum(self.sizes)
        kernels = (count, width, key_dim)
        draw = lambda spread, number: keras.initializers.RandomNormal(stddev=spread, seed=seed + number)  # noqa: E731
        self.query_kernel = self.add_weight(shape=kernels, initializer=draw(0.3, 0), name="query_kernel")
        self.key_kernel = self.add_weight(shape=kernels, initializer=draw(0.3, 1), name="key_kernel")
        self.value_kernel = self.add_weight(shape=kernels, initializer=draw(0.3, 2), name="value_kernel")
        self.read_out = self.add_weight(shape=(count, key_dim, prices + 1), initializer=draw(0.2, 3), name="read_out")
        self.built = True

    def call(self, inputs):
        """Logits (B, M, T, prices + 1) of `{"tokens": (B, T, 3), "real": (B, T)}`; class 0 stands for "no price".

        The padding mask is an input of its own: computed from the tokens in here, jax compiles ten times as long.
        """
        return self.read(self.one_hot(inputs["tokens"]), inputs["real"])[0]

    def one_hot(self, tokens):
        """Vectors (B, T, D): kind, article and price one-hot, side by side."""
        return ops.concatenate([ops.one_hot(tokens[:, :, i], size) for i, size in enumerate(self.sizes)], axis=-1)

    def read(self, x, real):
        """Logits (B, M, T, prices + 1) and attention weights (B, M, T, T) of vectors (B, T, D), padding (B, T)."""
        shape = (ops.shape(x)[0], ops.shape(x)[1], ops.shape(x)[1])
        mask = ops.stack([ops.broadcast_to(function(real), shape) for function in self.functions])  # (M, B, T, T)
        kernels = (self.query_kernel, self.key_kernel, self.value_kernel)
        q, k, v = (ops.einsum("btd,mdk->mbtk", x, kernel) for kernel in kernels)  # (M, B, T, Dk)
        scores = ops.einsum("mbtk,mbsk->mbts", q, k) * self.query_kernel.shape[-1] ** -0.5
        scores = ops.multiply(scores, self.chooses)  # 0 for the control
        before = ops.logical_or(mask, self.after_softmax)  # all True for a copy that masks too late
        weights = ops.where(mask, masks.masked_softmax(scores, before), 0.0)  # (M, B, T, T)
        logits = ops.matmul(ops.matmul(weights, v), ops.expand_dims(self.read_out, axis=1))
        return ops.transpose(logits, (1, 0, 2, 3)), ops.transpose(weights, (1, 0, 2, 3))

    def attention(self, name):
        """The attention of one copy as a `SelfAttention` layer with the same weights."""
        copy = self.names.index(name)
        width, key_dim = self.query_kernel.shape[1:]
        layer = SelfAttention(int(key_dim))
        layer.build((None, None, int(width)))
        layer.set_weights([kernel[copy] for kernel in (self.query_kernel, self.key_kernel, self.value_kernel)])
        return layer
