"""Scores of translations and captions as text: exact match, accuracy by word, BLEU and chrF."""

import numpy as np

from attention_by_hand.backend import to_numpy


def exact_match(predicted, expected):
    """Share of sentences that are right in every word.

    Args:
        predicted, expected: N sentences each, as sequences of words.

    Returns:
        A float in [0, 1].

    Raises:
        ValueError: not as many of one as of the other, or none.
    """
    predicted, expected = _sentences(predicted=predicted, expected=expected)
    return sum(p == e for p, e in zip(predicted, expected, strict=True)) / len(expected)


def token_accuracy(predicted, expected, mask=None):
    """Share of the words that are right, place by place, padding left out.

    Args:
        predicted, expected: integers (N, T), ids of words.
        mask: boolean (N, T), True = counts; None counts the places where `expected` is not 0, padding.

    Returns:
        A float in [0, 1].

    Raises:
        ValueError: shapes differ, the mask is not boolean, or nothing is left to count.
    """
    predicted, expected = (
        np.asarray(x if isinstance(x, (np.ndarray, list, tuple)) else to_numpy(x)) for x in (predicted, expected)
    )
    mask = expected != 0 if mask is None else np.asarray(mask if isinstance(mask, np.ndarray) else to_numpy(mask))
    if not predicted.shape == expected.shape == mask.shape:
        raise ValueError(
            f"predicted, expected and mask must have one shape; got {predicted.shape}, {expected.shape}, {mask.shape}"
        )
    if mask.dtype != bool:
        raise ValueError(f"mask must be boolean, True = counts; got dtype {mask.dtype}")
    if not mask.any():
        raise ValueError("mask must leave at least one place to count; it has none")
    return float(np.mean((predicted == expected)[mask]))


def bleu(predicted, expected):
    """BLEU of a set of sentences (Papineni et al. 2002), by sacrebleu, on the words as they are.

    Args:
        predicted, expected: N sentences each, as sequences of words.

    Returns:
        A float in [0, 100]; 100 when all are the same.

    Raises:
        ImportError: sacrebleu is not installed.
        ValueError: as `exact_match`.
    """
    predicted, expected = _joined(predicted, expected)
    # The words are split already, and sacrebleu would warn that they are: both is meant.
    return _sacrebleu().corpus_bleu(predicted, [expected], tokenize="none", force=True).score


def chrf(predicted, expected):
    """chrF of a set of sentences (Popović 2015), by sacrebleu: like BLEU, on runs of characters.

    Args:
        predicted, expected: N sentences each, as sequences of words.

    Returns:
        A float in [0, 100]; 100 when all are the same. Spaces do not count.

    Raises:
        ImportError: sacrebleu is not installed.
        ValueError: as `exact_match`.
    """
    predicted, expected = _joined(predicted, expected)
    return _sacrebleu().corpus_chrf(predicted, [expected]).score


def _sacrebleu():
    try:
        import sacrebleu
    except ImportError as error:
        raise ImportError(
            "BLEU and chrF need the package sacrebleu, which is not installed: pip install sacrebleu"
        ) from error
    return sacrebleu


def _joined(predicted, expected):
    return ([" ".join(words) for words in side] for side in _sentences(predicted=predicted, expected=expected))


def _sentences(**sides):
    """Both sides as lists of tuples of words, checked."""
    for name, side in sides.items():
        if isinstance(side, str) or any(isinstance(words, str) for words in side):
            raise ValueError(f"{name} must be a list of sentences, each a sequence of words; got text: {side!r:.60}")
    predicted, expected = ([tuple(words) for words in side] for side in sides.values())
    if len(predicted) != len(expected) or not expected:
        raise ValueError(
            f"predicted and expected must be as many sentences, and at least one; got {len(predicted)} and "
            f"{len(expected)}"
        )
    return predicted, expected
