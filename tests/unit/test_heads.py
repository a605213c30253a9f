"""Scores of heads: equal to loops, chosen on one half and scored on the other, silent about special tokens."""

import numpy as np
import pytest

from attention_by_hand.metrics import best_head, even_score, gold_pairs, head_scores

TOKENS = np.array([[2, 5, 6, 5, 7, 3, 0], [2, 8, 8, 3, 0, 0, 0], [2, 4, 9, 4, 9, 4, 3]])
MASK = TOKENS > 0


def relations(name, tokens, length, t, s):
    inner = all(0 < i < length - 1 for i in (t, s))
    rule = {"previous": s == t - 1, "next": s == t + 1, "same": s != t and tokens[s] == tokens[t]}
    return inner and rule[name]


@pytest.fixture
def weights(rng):
    drawn = rng.uniform(size=(3, 2, 4, 7, 7)) * MASK[:, None, None, None, :]
    return drawn / drawn.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("name", ["previous", "next", "same"])
def test_pairs_are_those_of_a_loop(name):
    gold = gold_pairs(TOKENS, MASK)[name]
    for n, t, s in np.ndindex(gold.shape):
        assert gold[n, t, s] == relations(name, TOKENS[n], MASK[n].sum(), t, s)
    assert gold.any(axis=(1, 2)).all()


def test_scores_are_those_of_a_loop(weights):
    gold = gold_pairs(TOKENS, MASK)["same"]
    found = head_scores(weights, gold)
    for n, layer, head in np.ndindex(found.shape):
        asked = [t for t in range(7) if gold[n, t].any()]
        expected = np.mean([sum(weights[n, layer, head, t, s] for s in range(7) if gold[n, t, s]) for t in asked])
        assert found[n, layer, head] == pytest.approx(expected)


def test_a_perfect_head_scores_one_and_an_even_one_what_even_score_says(weights):
    gold = gold_pairs(TOKENS, MASK)["previous"]
    weights = weights.copy()
    weights[:, 1, 2] = np.eye(7, k=-1)
    weights[:, 0, 3] = (MASK / MASK.sum(axis=1, keepdims=True))[:, None, :]
    found = head_scores(weights, gold)
    np.testing.assert_allclose(found[:, 1, 2], 1)
    np.testing.assert_allclose(found[:, 0, 3], [1 / 6, 1 / 4, 1 / 7])
    assert even_score(MASK, gold) == pytest.approx(np.mean([1 / 6, 1 / 4, 1 / 7]))


def test_the_best_head_is_chosen_on_even_examples_and_scored_on_odd_ones():
    scores = np.zeros((5, 2, 3))
    scores[0::2, 1, 0], scores[1::2, 1, 0] = 0.8, 0.2  # best where it is chosen
    scores[1::2, 0, 2] = 0.9  # best on the other half only
    head = best_head(scores)
    assert (head.layer, head.head, head.name) == (1, 0, "L1H0")
    assert (head.before, head.score) == pytest.approx((0.8, 0.2))
    assert head.every.shape == (2, 3) and head.every[0, 2] == pytest.approx(0.9)


def test_wrong_arguments_are_named(weights):
    gold = gold_pairs(TOKENS, MASK)["same"]
    with pytest.raises(ValueError, match=r"tokens and a boolean mask must have one shape \(N, T\)"):
        gold_pairs(TOKENS, MASK[:, 1:])
    with pytest.raises(ValueError, match="a boolean mask .*; got .*int64"):
        gold_pairs(TOKENS, MASK.astype("int64"))
    with pytest.raises(ValueError, match="weights and a boolean gold must be"):
        head_scores(weights[0], gold)
    with pytest.raises(ValueError, match="weights and a boolean gold must be"):
        head_scores(weights, gold[:, :6])
    with pytest.raises(ValueError, match="gold must have a pair in every example; example 1 has none"):
        head_scores(weights, gold & (np.arange(3) != 1)[:, None, None])
    with pytest.raises(ValueError, match=r"scores must be \(N, L, H\) with at least two examples"):
        best_head(np.zeros((1, 2, 3)))
