"""What an alignment is worth without attention: chance, the diagonal, and the oldest statistical model."""

import random

import numpy as np

from attention_by_hand.metrics.alignment import links_from_weights, scored_words


def uniform_weights(sources, targets):
    """The same weight for every source word: list of (target words, source words)."""
    return [np.full((len(t), len(s)), 1 / len(s)) for s, t in _pairs(sources, targets)]


def uniform_links(sources, targets, seed=0):
    """Chance: every target word linked to a source word drawn at random, punctuation left out."""
    draw = random.Random(seed)
    return [{(i, int(draw.random() * len(s))) for i in scored_words(t)} for s, t in _pairs(sources, targets)]


def diagonal_weights(sources, targets):
    """Word t of T all on source word ⌊(t + ½) · S / T⌋: as if both languages had the same order."""
    result = []
    for source, target in _pairs(sources, targets):
        column = ((np.arange(len(target)) + 0.5) * len(source) / len(target)).astype(int)
        result.append(np.eye(len(source))[column])
    return result


def diagonal_links(sources, targets):
    """The links of `diagonal_weights`."""
    return links_from_weights(diagonal_weights(sources, targets), sources, targets)


class IBMModel1:
    """Which word translates which, from parallel sentences alone: IBM Model 1 (Brown et al. 1993).

        p(target word f | source word e) starts even; then, in rounds of expectation and maximisation,
        share of e in f of a sentence  =  p(f | e) / Σ_e' p(f | e')        over the source words e' of the sentence
        p(f | e)  =  all shares of e in f, summed, divided by their sum over f

    The order of the words plays no part. There is no empty word: each target word comes from the source words.
    """

    def __init__(self, rounds=10):
        """
        Args:
            rounds: number of rounds, at least 1.

        Raises:
            ValueError: fewer.
        """
        if rounds < 1:
            raise ValueError(f"rounds must be at least 1; got {rounds}")
        self.rounds = rounds

    def fit(self, sources, targets):
        """Learn from pairs of sentences; returns self.

        Args:
            sources, targets: N sentences each, as sequences of words.

        Raises:
            ValueError: none, or not as many of one as of the other.
        """
        pairs = _pairs(sources, targets)
        self._source = {word: i for i, word in enumerate(sorted({w for s, _ in pairs for w in s}))}
        self._target = {word: i for i, word in enumerate(sorted({w for _, t in pairs for w in t}))}
        words, sizes = [], []  # every target word of the text beside every source word of its sentence
        for source, target in pairs:
            ids = [self._source[w] for w in source]
            words += [(self._target[w], i) for w in target for i in ids]
            sizes += [len(source)] * len(target)
        f, e = np.array(words).T
        shape = len(self._target), len(self._source)
        occurrence = np.repeat(np.arange(len(sizes)), sizes)
        table = np.full(shape, 1 / shape[0])  # p(f | e), columns sum to 1
        for _ in range(self.rounds):
            share = table[f, e]
            share /= np.bincount(occurrence, share)[occurrence]
            counts = np.bincount(f * shape[1] + e, share, minlength=shape[0] * shape[1]).reshape(shape)
            table = counts / counts.sum(axis=0)
        self.table = table
        return self

    def weights(self, sources, targets):
        """Shares of the source words in every target word: list of (target words, source words), rows sum to 1.

        Raises:
            ValueError: not fitted yet; a word that was not in the sentences it learned from.
        """
        if not hasattr(self, "table"):
            raise ValueError("the model has not seen any sentences yet: call fit(sources, targets) first")
        result = []
        for source, target in _pairs(sources, targets):
            rows = self._ids(target, self._target, "targets")
            share = self.table[np.ix_(rows, self._ids(source, self._source, "sources"))]
            total = share.sum(axis=1, keepdims=True)  # 0 for words that never met
            result.append(np.where(total > 0, share / np.where(total > 0, total, 1), 1 / len(source)))
        return result

    def links(self, sources, targets):
        """One link for each target word, to the source word with the largest share."""
        return links_from_weights(self.weights(sources, targets), sources, targets)

    @staticmethod
    def _ids(words, known, name):
        missing = [word for word in words if word not in known]
        if missing:
            raise ValueError(f"{name}: the model has never seen the word {missing[0]!r}; fit it on sentences with it")
        return [known[word] for word in words]


def _pairs(sources, targets):
    if len(sources) != len(targets) or not len(sources):
        raise ValueError(f"sources and targets must be as many, and at least one; got {len(sources)}, {len(targets)}")
    for n, pair in enumerate(zip(sources, targets, strict=True)):
        if any(isinstance(words, str) or not len(words) for words in pair):
            raise ValueError(f"sources and targets must be sequences of words, none empty; see sentence {n}")
    return list(zip(sources, targets, strict=True))
