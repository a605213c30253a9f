"""Sampling draws from the distribution that temperature, top-k and top-p say, and greedy is its limit."""

import numpy as np
import pytest

from attention_by_hand import decoding

P = np.array([[0.5, 0.05, 0.25, 0.2], [0.1, 0.2, 0.3, 0.4]])  # known distributions of two rows
LOG_P = np.log(P)


class Chain:
    """A Markov chain over 4 tokens: row w of the table is what follows token w. Token 0 ends."""

    table = np.array([[1.0, 0, 0, 0], [0.1, 0.2, 0.3, 0.4], [0.25, 0.05, 0.6, 0.1], [0.3, 0.3, 0.2, 0.2]])

    def begin(self, inputs):
        return {"steps": np.asarray(inputs)[:, 0]}

    def step(self, tokens, state):
        log_probs = np.log(np.maximum(self.table[tokens], 1e-30))
        return log_probs, {"steps": state["steps"] + 1}, state["steps"][:, None]


def share(**options):
    """How often each token follows token 1 in 4000 draws."""
    found = decoding.sample(Chain(), np.zeros((4000, 1)), 1, 0, 1, **options)
    first = [tokens[0] if tokens else 0 for tokens in found.tokens]
    return np.bincount(first, minlength=4) / 4000


def test_temperature_raises_probabilities_to_a_power():
    expected = P**2 / (P**2).sum(axis=1, keepdims=True)
    assert decoding.next_distribution(LOG_P, temperature=0.5) == pytest.approx(expected)
    flat = P**0.25 / (P**0.25).sum(axis=1, keepdims=True)
    assert decoding.next_distribution(LOG_P, temperature=4) == pytest.approx(flat)


def test_top_k_keeps_the_largest_and_divides_by_their_sum():
    expected = [[0.5 / 0.75, 0, 0.25 / 0.75, 0], [0, 0, 0.3 / 0.7, 0.4 / 0.7]]
    assert decoding.next_distribution(LOG_P, top_k=2) == pytest.approx(np.array(expected))


@pytest.mark.parametrize(
    ("top_p", "kept"),
    [(0.4, [1, 0, 0, 0]), (0.6, [1, 0, 1, 0]), (0.8, [1, 0, 1, 1]), (0.97, [1, 1, 1, 1]), (1.0, [1, 1, 1, 1])],
)
def test_top_p_keeps_the_fewest_whose_sum_reaches_it(top_p, kept):
    expected = P[0] * kept / np.sum(P[0] * kept)
    assert decoding.next_distribution(LOG_P[:1], top_p=top_p)[0] == pytest.approx(expected)


def test_top_p_counts_what_temperature_and_top_k_have_left():
    # squared: .25 .0025 .0625 .04; the three largest: .709 .177 .113; .85 needs two of them
    found = decoding.next_distribution(LOG_P[:1], temperature=0.5, top_k=3, top_p=0.85)[0]
    assert found == pytest.approx(np.array([0.25, 0, 0.0625, 0]) / 0.3125)


def test_equal_tokens_do_not_slip_through_the_cut():
    assert (decoding.next_distribution(np.zeros((1, 5)), top_k=2) > 0).sum() == 2
    assert decoding.next_distribution(np.zeros((1, 5)), temperature=0).tolist() == [[1, 0, 0, 0, 0]]


def test_impossible_tokens_stay_impossible():
    scores = np.array([[-np.inf, 0.0, -1.0]])
    assert decoding.next_distribution(scores, temperature=3)[0, 0] == 0
    assert np.isfinite(decoding.next_distribution(scores, temperature=1e-3, top_p=0.9)).all()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [0.1, 0.2, 0.3, 0.4]),
        ({"top_k": 2}, [0, 0, 3 / 7, 4 / 7]),
        ({"top_p": 0.85}, [0, 2 / 9, 3 / 9, 4 / 9]),
        ({"temperature": 0.5}, [1 / 30, 4 / 30, 9 / 30, 16 / 30]),
    ],
)
def test_draws_are_as_frequent_as_they_should_be(options, expected):
    expected = np.array(expected)
    found = share(seed=3, **options)
    assert np.abs(found - expected).max() < 4 * np.sqrt(0.25 / 4000)  # four standard errors
    assert (found[expected == 0] == 0).all()


@pytest.mark.parametrize("options", [{"temperature": 0}, {"top_k": 1}, {"temperature": 1e-6}, {"top_p": 1e-6}])
def test_the_limit_is_greedy_search(options):
    inputs = np.zeros((3, 1))
    expected = decoding.greedy(Chain(), inputs, 1, 0, 6)
    found = decoding.sample(Chain(), inputs, 1, 0, 6, seed=5, **options)
    assert (found.tokens, found.finished.tolist()) == (expected.tokens, expected.finished.tolist())
    assert found.scores == pytest.approx(expected.scores)
    assert all((a == b).all() for a, b in zip(found.weights, expected.weights, strict=True))


def test_scores_are_those_of_the_model_and_count_the_end():
    found = decoding.sample(Chain(), np.zeros((50, 1)), 1, 0, 8, temperature=2.0, seed=1)
    for tokens, score, ended, weights in zip(found.tokens, found.scores, found.finished, found.weights, strict=True):
        path = [1, *tokens, *([0] if ended else [])]
        logs = [np.log(Chain.table[a, b]) for a, b in zip(path[:-1], path[1:], strict=True)]
        assert score == pytest.approx(sum(logs)) and 0 not in tokens and len(tokens) <= 8
        assert weights[:, 0].tolist() == list(range(len(tokens) + 1))


def test_the_same_seed_gives_the_same_draws_and_another_one_others():
    draw = lambda seed: decoding.sample(Chain(), np.zeros((20, 1)), 1, 0, 9, seed=seed).tokens  # noqa: E731
    assert draw(0) == draw(0) != draw(1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": -1}, "temperature must be at least 0; got -1"),
        ({"temperature": np.nan}, "temperature must be at least 0; got nan"),
        ({"top_k": 0}, "top_k must be at least 1, or None; got 0"),
        ({"top_p": 0.0}, r"top_p must be in \(0, 1\], or None; got 0.0"),
        ({"top_p": 1.5}, r"top_p must be in \(0, 1\], or None; got 1.5"),
        ({"max_length": 0}, "max_length must be at least 1; got 0"),
        ({"inputs": np.zeros((0, 1))}, "inputs must have at least one row"),
    ],
)
def test_bad_arguments_are_named(options, message):
    arguments = {"inputs": np.zeros((2, 1)), "start": 1, "end": 0, "max_length": 3, **options}
    with pytest.raises(ValueError, match=message):
        decoding.sample(Chain(), **arguments)
