"""Batches of sentence pairs for a translator, sentences of like length together."""

import keras
import numpy as np

from attention_by_hand import backend


def translation_inputs(corpus, pairs, source_length=None, target_length=None, reverse=False):
    """Pairs as arrays for a translator: the target shifted by one as input, and what it must say.

    Args:
        corpus: a `Corpus`; its vocabularies number the words. An unknown word becomes 3.
        pairs: list of N `Pair`s.
        source_length, target_length: widths S and T of the arrays, the end token included; the longest when None.
        reverse: whether the source is read from its last word to its first.

    Returns:
        `({"source": (N, S), "source_mask": (N, S), "target": (N, T)}, words (N, T))`, padded with 0.

    Raises:
        ValueError: a sentence does not fit into its length.
    """
    sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
    words = corpus.target.encode(targets, length=target_length, end=True, unknown="replace")  # (N, T)
    source = corpus.source.encode(sources, length=source_length, reverse=reverse, unknown="replace")  # (N, S)
    target = corpus.target.encode(targets, length=words.shape[1], start=True, unknown="replace")  # (N, T)
    return {"source": source, "source_mask": source != 0, "target": target}, words


class LengthBatches(keras.utils.PyDataset):
    """Shuffled batches for `fit`; on torch, in groups of sentences of like length, so that little is padding.

    Each batch is `(inputs, words, weights)`: see `translation_inputs`; the weight of a word is 1, of padding 0. An
    epoch has every pair once, but for the few that do not fill a batch. jax and tensorflow compile a training step
    for every shape, which takes longer than the padding: there, all sentences are one group. More groups can be asked
    for everywhere; on tensorflow they are padded to one length.
    """

    def __init__(self, corpus, pairs, batch_size=64, seed=0, groups=None, reverse=False):
        """
        Args:
            corpus, pairs, reverse: as in `translation_inputs`.
            batch_size: pairs in a batch.
            seed: integer seed of the order.
            groups: number of groups; chosen by the backend when None.

        Raises:
            ValueError: fewer pairs than one batch a group.
        """
        super().__init__()
        groups = (3 if backend.name() == "torch" else 1) if groups is None else groups
        if batch_size < 1 or groups < 1 or len(pairs) < groups * batch_size:
            raise ValueError(
                f"pairs must fill a batch in each group, batch_size {batch_size} and groups {groups} be at least 1; "
                f"got {len(pairs)} pairs"
            )
        self.batch_size, self.random = batch_size, np.random.default_rng(seed)
        pairs = sorted(pairs, key=lambda pair: (max(len(pair.source), len(pair.target) + 1), pair.source))
        cuts = [round(len(pairs) / batch_size * i / groups) * batch_size for i in range(groups)] + [len(pairs)]
        parts = [pairs[first:last] for first, last in zip(cuts, cuts[1:], strict=False)]
        widths = {}
        if backend.name() == "tensorflow":  # its compiled loops want one length: groups are kept, widths are not
            widths["source_length"] = max(len(pair.source) for pair in pairs)
            widths["target_length"] = max(len(pair.target) for pair in pairs) + 1
        self.groups = [translation_inputs(corpus, part, **widths, reverse=reverse) for part in parts]
        self.on_epoch_end()

    def on_epoch_end(self):
        """A new order: batches stay within a group, groups are mixed."""
        batches = []
        for number, (_, words) in enumerate(self.groups):
            rows = self.random.permutation(len(words))
            ends = range(self.batch_size, len(rows) + 1, self.batch_size)
            batches += [(number, rows[end - self.batch_size : end]) for end in ends]
        self.batches = [batches[i] for i in self.random.permutation(len(batches))]

    def __len__(self):
        return len(self.batches)

    def __getitem__(self, index):
        number, rows = self.batches[index]
        inputs, words = self.groups[number]
        words = words[rows]
        return {name: array[rows] for name, array in inputs.items()}, words, (words != 0).astype("float32")
