"""How long a translator trains until it translates well: sentences that are right, by updates and by seconds."""

import time

import keras
import numpy as np


class Parts(keras.utils.PyDataset):
    """Batches in parts, so that `fit` comes up for air several times in what was one epoch; their order stays.

    Which part is on is told by `begin`. (Not by Keras's own `on_epoch_end`: that is also called before the first
    epoch, and how much a backend has read by then differs.)

    Args:
        batches: a `PyDataset`, `LengthBatches` for example; its `on_epoch_end` runs after its last part.
        parts: number of parts.

    Raises:
        ValueError: `parts` does not divide the number of batches.
    """

    def __init__(self, batches, parts):
        super().__init__()
        if parts < 1 or len(batches) % parts:
            raise ValueError(f"parts must divide the number of batches, {len(batches)}; got {parts}")
        self.batches, self.parts, self.part = batches, parts, 0

    def __len__(self):
        return len(self.batches) // self.parts

    def __getitem__(self, index):
        return self.batches[self.part * len(self) + index]

    def begin(self, epoch):
        """Turn to the part that belongs to this epoch of `fit`, counted from 0."""
        self.part = epoch % self.parts
        if epoch and not self.part:
            self.batches.on_epoch_end()


class ExactClock(keras.callbacks.Callback):
    """After each epoch of a `fit`: updates and seconds so far, and the share of sentences that are right.

    A sentence counts if, given its right beginning, every next word has the highest score: greedy search would write
    it without a mistake. What this measuring takes is not counted as time of training.

    Args:
        parts: the `Parts` that `fit` trains on.
        inputs, words: as `translation_inputs` gives them; places where `words` is 0 do not count.
        batch_size: rows at a time.

    Attributes:
        updates, seconds, exact: lists, one number for each epoch.
        first: seconds of the first update; where a backend compiles, mostly that. Part of `seconds`.
    """

    def __init__(self, parts, inputs, words, batch_size=256):
        super().__init__()
        self.parts, self.inputs, self.words, self.batch_size = parts, inputs, words, batch_size
        self.updates, self.seconds, self.exact, self.first = [], [], [], None
        self._batches = self._seconds = 0

    def on_epoch_begin(self, epoch, logs=None):
        self.parts.begin(epoch)
        self._start = time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        self._batches += 1
        if self.first is None:
            self.first = time.perf_counter() - self._start

    def on_epoch_end(self, epoch, logs=None):
        self._seconds += time.perf_counter() - self._start
        self.updates.append(self._batches)
        self.seconds.append(self._seconds)
        self.exact.append(forced_exact(self.model, self.inputs, self.words, self.batch_size))

    def reached(self, share):
        """`(updates, seconds)` of the first epoch that ended with at least this share right; `(inf, inf)` if none."""
        for row in zip(self.updates, self.seconds, self.exact, strict=True):
            if row[2] >= share:
                return row[:2]
        return (float("inf"), float("inf"))


def forced_exact(model, inputs, words, batch_size=256):
    """Share of sentences whose every word a model finds, given the right words before it.

    Args:
        model: gives scores (N, T, V) for `inputs`.
        inputs: dictionary of arrays, the rows first.
        words: (N, T), what is right; 0 is padding.
        batch_size: rows at a time.
    """
    right = []
    for first in range(0, len(words), batch_size):
        rows = slice(first, first + batch_size)
        scores = model.predict_on_batch({name: array[rows] for name, array in inputs.items()})  # (N, T, V)
        right += ((scores.argmax(axis=-1) == words[rows]) | (words[rows] == 0)).all(axis=1).tolist()
    return float(np.mean(right))
