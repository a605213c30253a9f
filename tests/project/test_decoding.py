"""Greedy and beam search against every sentence that a small table of probabilities allows."""

import itertools

import numpy as np
import pytest

from attention_by_hand.decoding import beam_search, greedy

START, END, VOCABULARY, LIMIT = 1, 2, 5, 4


class Table:
    """A model that looks its log-probabilities up: they depend on the row, the step and the last two tokens."""

    def __init__(self, rng, number, sharpness=1.5):
        logits = rng.normal(0, sharpness, size=(number, LIMIT + 1, VOCABULARY, VOCABULARY, VOCABULARY))
        logits[..., [0, START]] = -30.0
        self.table = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
        self.largest_batch = 0

    def begin(self, inputs):
        rows = inputs["row"]
        self.largest_batch = max(self.largest_batch, len(rows))
        return {"row": rows, "step": np.zeros(len(rows), int), "before": np.full(len(rows), START)}

    def step(self, tokens, state):
        log_probs = self.table[state["row"], state["step"], state["before"], tokens]
        weights = np.stack([state["row"], state["step"], state["before"], tokens], axis=1)
        return log_probs, {"row": state["row"], "step": state["step"] + 1, "before": tokens}, weights

    def log_prob(self, row, sentence):
        """Log-probability of a whole sentence, token by token."""
        total, before, last = 0.0, START, START
        for step, token in enumerate(sentence):
            total += self.table[row, step, before, last, token]
            before, last = last, token
        return total


def all_sentences():
    """Every sentence of at most LIMIT tokens, with its end."""
    for length in range(LIMIT + 1):
        for tokens in itertools.product([3, 4], repeat=length):
            yield [*tokens, END]


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize("length_penalty", [0.0, 0.7, 1.0])
def test_a_wide_beam_finds_the_best_of_all_sentences(rng, length_penalty):
    model = Table(rng, 30)
    found = beam_search(model, {"row": np.arange(30)}, START, END, LIMIT, 40, length_penalty)
    for row in range(30):
        scored = [(model.log_prob(row, s) / len(s) ** length_penalty, s[:-1]) for s in all_sentences()]
        score, sentence = max(scored)
        assert found.tokens[row] == sentence
        np.testing.assert_allclose(found.scores[row], score)
    assert found.finished.all()


def test_greedy_takes_the_most_probable_token_each_time(rng):
    model = Table(rng, 30)
    found = greedy(model, {"row": np.arange(30)}, START, END, LIMIT)
    for row in range(30):
        before, last, sentence, total = START, START, [], 0.0
        for step in range(LIMIT + 1):
            log_probs = model.table[row, step, before, last]
            token = int(np.argmax(log_probs))
            before, last = last, token
            if token == END or step == LIMIT:
                total += log_probs[token] if token == END else 0.0
                break
            sentence.append(token)
            total += log_probs[token]
        assert found.tokens[row] == sentence
        assert found.finished[row] == (last == END)
        np.testing.assert_allclose(found.scores[row], total)
    assert 0 < found.finished.sum() < 30  # both kinds were there


@pytest.mark.parametrize("beams", [1, 2, 3])
def test_a_beam_never_scores_below_greedy(rng, beams):
    model, inputs = Table(rng, 300, sharpness=0.7), {"row": np.arange(300)}
    one = greedy(model, inputs, START, END, LIMIT, length_penalty=1.0)
    other = beam_search(model, inputs, START, END, LIMIT, beams, length_penalty=1.0)
    ended = one.finished
    assert (other.scores[ended] >= one.scores[ended] - 1e-12).all() and other.finished[ended].all()
    if beams > 1:
        assert (other.scores[ended] > one.scores[ended] + 1e-9).any()


@pytest.mark.parametrize("beams", [0, 3])
def test_batches_change_nothing(rng, beams):
    model, inputs = Table(rng, 11), {"row": np.arange(11)}
    at_once = beam_search(model, inputs, START, END, LIMIT, beams)
    for size in (1, 4):
        model.largest_batch = 0
        found = beam_search(model, inputs, START, END, LIMIT, beams, batch_size=size)
        assert model.largest_batch == size
        assert found.tokens == at_once.tokens
        np.testing.assert_array_equal(found.scores, at_once.scores)
        np.testing.assert_array_equal(found.finished, at_once.finished)
        for one, other in zip(found.weights, at_once.weights, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("beams", [0, 2, 3])
def test_weights_are_those_of_the_sentence_that_won(rng, beams):
    model = Table(rng, 20)
    found = beam_search(model, {"row": np.arange(20)}, START, END, LIMIT, beams)
    for row in range(20):
        sentence = [START, START, *found.tokens[row]]
        expected = [(row, t, sentence[t], sentence[t + 1]) for t in range(len(found.tokens[row]) + 1)]
        np.testing.assert_array_equal(found.weights[row], expected)


def test_a_model_without_weights_gives_none(rng):
    model = Table(rng, 3)
    step = model.step
    model.step = lambda tokens, state: (*step(tokens, state)[:2], None)
    assert greedy(model, {"row": np.arange(3)}, START, END, LIMIT).weights is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_length": 0}, "max_length must be at least 1"),
        ({"beams": -1}, "beams must be at least 0"),
        ({"batch_size": 0}, "batch_size must be at least 1"),
        ({"inputs": {"row": np.zeros(0, int)}}, "inputs must have at least one row"),
    ],
)
def test_bad_arguments_are_refused_by_name(rng, change, message):
    arguments = {"inputs": {"row": np.arange(2)}, "start": START, "end": END, "max_length": LIMIT, **change}
    with pytest.raises(ValueError, match=message):
        beam_search(Table(rng, 2), **arguments)
