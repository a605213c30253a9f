"""Exact match, accuracy by word, BLEU and chrF, on cases computed by hand."""

import math
import sys

import numpy as np
import pytest
from keras import ops

from attention_by_hand import metrics

RIGHT = [("the", "red", "hat", "is", "new"), ("a", "cup")]


def test_exact_match_counts_whole_sentences():
    assert metrics.exact_match([["the", "red", "hat", "is", "new"], ["a", "hat"]], RIGHT) == 0.5
    assert metrics.exact_match([RIGHT[0][:4], RIGHT[1]], RIGHT) == 0.5  # a missing word is a mistake


def test_token_accuracy_leaves_padding_out():
    expected, predicted = np.array([[5, 6, 7, 0], [8, 0, 0, 0]]), np.array([[5, 9, 7, 4], [8, 4, 4, 4]])
    assert metrics.token_accuracy(predicted, expected) == pytest.approx(3 / 4)
    mask = np.array([[True, True, False, False], [False] * 4])
    assert metrics.token_accuracy(predicted, expected, mask) == pytest.approx(1 / 2)
    assert metrics.token_accuracy(ops.convert_to_tensor(predicted), expected) == pytest.approx(3 / 4)


def test_bleu_by_hand():
    # one sentence of 5 words with the last wrong: matches 4/5, 3/4, 2/3, 1/2; their geometric mean, no penalty
    predicted = [("the", "red", "hat", "is", "old")]
    expected = 100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** (1 / 4)
    assert metrics.bleu(predicted, RIGHT[:1]) == pytest.approx(expected)


def test_bleu_punishes_a_short_translation():
    # all 4 words right, but 4 of 5: exp(1 − 5/4)
    assert metrics.bleu([RIGHT[0][:4]], RIGHT[:1]) == pytest.approx(100 * math.exp(1 - 5 / 4))


def test_bleu_takes_the_words_as_they_are():
    # split again by sacrebleu's own rules, "l'" would be two words
    assert metrics.bleu([("l'", "eau", "est", "froide", "x")], [("l", "'", "eau", "est", "froide")]) < 70


def test_chrf_is_100_for_the_same_and_forgives_a_wrong_ending():
    assert metrics.chrf(RIGHT, RIGHT) == pytest.approx(100)
    ending = metrics.chrf([("las", "casas", "blancos")], [("las", "casas", "blancas")])
    word = metrics.chrf([("las", "casas", "verdes")], [("las", "casas", "blancas")])
    assert word < ending < 100


@pytest.mark.parametrize("score", [metrics.bleu, metrics.chrf])
def test_without_sacrebleu_the_message_says_what_to_install(score, monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(ImportError, match="pip install sacrebleu"):
        score(RIGHT, RIGHT)


@pytest.mark.parametrize("score", [metrics.exact_match, metrics.bleu, metrics.chrf])
@pytest.mark.parametrize(
    ("predicted", "expected", "message"),
    [
        (RIGHT[:1], RIGHT, "as many sentences"),
        ([], [], "at least one"),
        (["the red hat", "a cup"], RIGHT, "each a sequence of words; got text"),
        ("the red hat", RIGHT, "got text"),
    ],
)
def test_wrong_sentences_are_named(score, predicted, expected, message):
    with pytest.raises(ValueError, match=message):
        score(predicted, expected)


@pytest.mark.parametrize(
    ("predicted", "expected", "mask", "message"),
    [
        (np.ones((2, 3), int), np.ones((2, 4), int), None, r"one shape; got \(2, 3\), \(2, 4\)"),
        (np.ones((2, 3), int), np.ones((2, 3), int), np.ones((2, 3)), "mask must be boolean"),
        (np.ones((2, 3), int), np.zeros((2, 3), int), None, "at least one place"),
    ],
)
def test_wrong_tokens_are_named(predicted, expected, mask, message):
    with pytest.raises(ValueError, match=message):
        metrics.token_accuracy(predicted, expected, mask)
