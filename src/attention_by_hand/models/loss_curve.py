"""How the training loss falls, part by part: an epoch is too coarse where two of them are the whole training."""

import keras
import numpy as np


class LossCurve(keras.callbacks.Callback):
    """Keeps the loss of every batch of a `fit`; Keras itself reports the mean since the epoch began.

    Attributes:
        losses: one number for every batch so far.
    """

    def __init__(self):
        super().__init__()
        self.losses, self._sum = [], 0.0

    def on_epoch_begin(self, epoch, logs=None):
        self._sum = 0.0

    def on_train_batch_end(self, batch, logs=None):
        total = float(logs["loss"]) * (batch + 1)
        self.losses.append(total - self._sum)
        self._sum = total

    def parts(self, number):
        """The training in `number` parts of equal length.

        Args:
            number: how many; batches that do not fill a part, at the beginning, are left out.

        Returns:
            `(updates (number,), losses (number,))`: updates done at the end of each part, and its mean loss.

        Raises:
            ValueError: fewer batches than parts, or fewer than one part.
        """
        size = len(self.losses) // number if number > 0 else 0
        if size < 1:
            raise ValueError(f"number must be between 1 and {len(self.losses)}, the batches so far; got {number}")
        first = len(self.losses) - size * number
        losses = np.array(self.losses[first:]).reshape(number, size).mean(axis=1)
        return first + size * np.arange(1, number + 1), losses
