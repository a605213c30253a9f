"""Scores of attention weights, or of links, against gold word alignments.

Links are a set of (t, s) for each sentence: target word t comes from source word s. Weights are a list of (Tq, Tv)
for each sentence, or one array (N, Tq, Tv): row t belongs to target word t, column s to source word s. What lies
beyond the words (the stop token, padding) is left out, and so are rows of punctuation.
"""

import unicodedata

import numpy as np

from attention_by_hand.backend import to_numpy


def alignment_error_rate(links, sure, possible):
    """Alignment error rate of a whole set of sentences: 0 is perfect, 1 is all wrong.

        AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)

    A are the links that are scored, S the sure and P the possible gold links (S is part of P). Numbers are summed
    over all sentences before they are divided. (Och and Ney 2003, "A systematic comparison of various statistical
    alignment models", section 5.)

    Args:
        links, sure, possible: lists with one set of (t, s) a sentence.

    Returns:
        A float in [0, 1].

    Raises:
        ValueError: the lists differ in length, a sure link is not possible, or there is no link at all.
    """
    links, sure, possible = ([set(one) for one in each] for each in (links, sure, possible))
    _same_length(links=links, sure=sure, possible=possible)
    for n, (s, p) in enumerate(zip(sure, possible, strict=True)):
        if not s <= p:
            raise ValueError(f"every sure link must be possible; in sentence {n} these are not: {sorted(s - p)}")
    total = sum(map(len, links)) + sum(map(len, sure))
    if not total:
        raise ValueError("links and sure must not both be empty")
    right = sum(len(a & s) + len(a & p) for a, s, p in zip(links, sure, possible, strict=True))
    return 1 - right / total


def links_from_weights(weights, sources, targets):
    """One link for each target word: to the source word with the largest weight (the first of several).

    Args:
        weights: (N, Tq, Tv), or a list of N arrays (Tq, Tv); see the module.
        sources, targets: N sentences each, as sequences of words without start and end.

    Returns:
        A list of N sets of (t, s).

    Raises:
        ValueError: numbers of sentences differ, weights are too small for their words, negative or not finite.
    """
    return [
        {(t, int(np.argmax(rows[t]))) for t in scored_words(target)}
        for rows, _, target in _sentences(weights, sources, targets)
    ]


def sure_accuracy(weights, sources, targets, sure):
    """Share of the target words with a sure link whose largest weight lies on it.

    Where k source words share the largest weight and the right one is among them, that counts 1/k.

    Args:
        weights, sources, targets: as `links_from_weights`.
        sure: list of N sets of (t, s).

    Returns:
        A float in [0, 1].

    Raises:
        ValueError: as `links_from_weights`; a link is outside its sentence; no word has a link.
    """
    hits = []
    for rows, gold in _gold_rows(weights, sources, targets, sure, "sure"):
        for t, columns in gold.items():
            largest = rows[t] == rows[t].max()
            hits.append(largest[columns].sum() / largest.sum())
    return _mean(hits, "sure")


def mass_on_links(weights, sources, targets, links):
    """Mean weight that lies on the gold links, over the target words that have any.

    Args:
        weights, sources, targets: as `links_from_weights`.
        links: list of N sets of (t, s), the sure or the possible ones.

    Returns:
        A float in [0, 1] for weights whose rows sum to 1.

    Raises:
        ValueError: as `sure_accuracy`.
    """
    masses = []
    for rows, gold in _gold_rows(weights, sources, targets, links, "links"):
        masses += [rows[t][columns].sum() for t, columns in gold.items()]
    return _mean(masses, "links")


def scored_words(words):
    """Positions of the words that are scored: all but those made of punctuation marks only."""
    return [i for i, word in enumerate(words) if not all(unicodedata.category(c).startswith("P") for c in word)]


def _gold_rows(weights, sources, targets, links, name):
    """For each sentence: its weights, and a dictionary of t → list of gold columns of the scored words."""
    weights = _sentences(weights, sources, targets)
    _same_length(weights=weights, **{name: links})
    for n, ((rows, source, target), gold) in enumerate(zip(weights, links, strict=True)):
        scored, columns = set(scored_words(target)), {}
        for t, s in sorted(gold):
            if not (0 <= t < len(target) and 0 <= s < len(source)):
                raise ValueError(
                    f"{name}: link {(t, s)} of sentence {n} is outside its {len(target)} target and "
                    f"{len(source)} source words"
                )
            if t in scored:
                columns.setdefault(t, []).append(s)
        yield rows, columns


def _sentences(weights, sources, targets):
    """List of (weights of the words only, source, target), checked."""
    weights = [_array(one) for one in (weights if isinstance(weights, (list, tuple)) else _array(weights))]
    _same_length(weights=weights, sources=sources, targets=targets)
    result = []
    for n, (rows, source, target) in enumerate(zip(weights, sources, targets, strict=True)):
        if isinstance(source, str) or isinstance(target, str) or not len(source) or not len(target):
            raise ValueError(f"sources and targets must be sequences of words, none empty; see sentence {n}")
        if rows.ndim != 2 or rows.shape[0] < len(target) or rows.shape[1] < len(source):
            raise ValueError(
                f"weights of sentence {n} must be at least ({len(target)}, {len(source)}), a row for every target "
                f"word and a column for every source word; got {rows.shape}"
            )
        rows = rows[: len(target), : len(source)]
        if not np.isfinite(rows).all() or (rows < 0).any():
            raise ValueError(f"weights must be finite and at least 0; the smallest of sentence {n} is {rows.min()}")
        result.append((rows, source, target))
    return result


def _array(x):
    return np.asarray(x if isinstance(x, (np.ndarray, list, tuple)) else to_numpy(x), "float64")


def _same_length(**lists):
    lengths = {name: len(each) for name, each in lists.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"there must be one entry a sentence in each; got {lengths}")


def _mean(values, name):
    if not values:
        raise ValueError(f"{name} must have at least one link to a word that is scored; got none")
    return float(np.mean(values))
