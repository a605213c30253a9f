"""The control of every experiment: attention that cannot choose, the plain mean of the visible values."""

import keras
from keras import ops

from attention_by_hand.layers.base import AttentionPooling


@keras.saving.register_keras_serializable("attention_by_hand")
class UniformAttention(AttentionPooling):
    """Mean of the visible values: every score is 0, so each of n visible keys weighs 1/n.

    It takes the place of an attention layer in a model that is otherwise the same, and shows what the model
    reaches without choosing. Arguments, call and results: see `AttentionPooling`.
    """

    def score(self, query, key):
        tie = ops.matmul(query[..., :1], ops.transpose(key[..., :1], (0, 2, 1)))  # (B, Tq, Tv): the shape only
        return 0.0 * tie  # not a constant: the gradient exists, and is 0
