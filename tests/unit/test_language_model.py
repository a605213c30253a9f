"""The language model: causal, windowed, the same with a cache and without; searches run on it; bad input is named."""

import keras
import numpy as np
import pytest

from attention_by_hand import decoding
from attention_by_hand.backend import to_numpy
from attention_by_hand.models import LanguageModel

V, L, N, END = 11, 9, 3, 8


@pytest.fixture(scope="module")
def model():
    keras.utils.set_random_seed(0)
    found = LanguageModel(V, L, width=8, num_layers=2, num_heads=2, seed=4)
    rng = np.random.default_rng(5)
    for weight in found.model.weights:  # biases and gains, too
        weight.assign(rng.normal(0, 0.4, tuple(weight.shape)))
    return found


@pytest.fixture(scope="module")
def texts():
    return np.random.default_rng(6).integers(0, V, size=(N, L)).astype("int32")


def logits(model, tokens, window=L):
    return to_numpy(model.model.predict_on_batch({"tokens": tokens, "window": np.full((len(tokens), 1), window)}))


def log_softmax(x):
    return x - np.log(np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)) - x.max(-1, keepdims=True)


def test_a_later_symbol_changes_no_earlier_prediction(model, texts):
    changed = texts.copy()
    changed[:, 5] = (changed[:, 5] + 1) % V
    gap = np.abs(logits(model, texts) - logits(model, changed)).max(axis=(0, 2))  # (L,)
    assert gap[:5].max() < 1e-5 and gap[5:].min() > 1e-4


@pytest.mark.parametrize("window", [1, 3])
def test_a_window_hides_what_lies_farther_back(model, texts, window):
    changed = texts.copy()
    changed[:, 1] = (changed[:, 1] + 1) % V
    gap = np.abs(logits(model, texts, window) - logits(model, changed, window)).max(axis=(0, 2))
    reach = 1 + 2 * (window - 1)  # two blocks, one after the other
    assert gap[1] > 1e-4 and gap[reach] > 1e-4 and gap[reach + 1 :].max() < 1e-5


def test_the_weights_are_those_of_each_block(model, texts):
    inputs = {"tokens": texts, "window": np.full((N, 1), 4)}
    first, second = (to_numpy(w) for w in model.attention_model.predict_on_batch(inputs))
    assert first.shape == second.shape == (N, 2, L, L) and np.abs(first - second).max() > 1e-3
    past = np.arange(L)[:, None] - np.arange(L)
    for weights in (first, second):
        assert weights.sum(axis=-1) == pytest.approx(np.ones((N, 2, L)), abs=1e-5)
        assert (weights[..., (past < 0) | (past >= 4)] == 0).all()


def test_step_by_step_gives_the_log_probabilities_of_one_pass(model, texts):
    expected = log_softmax(logits(model, texts).astype("float64"))  # (N, L, V)
    for cached in (True, False):
        model.cached = cached
        state, found = model.begin(texts[:, :0]), []
        for column in texts.T:
            log_probs, state, weights = model.step(column, state)
            found.append(np.asarray(log_probs))
            assert weights is None
        assert np.abs(np.stack(found, axis=1) - expected).max() < 1e-4
        assert "cache" in state if cached else "tokens" in state
    model.cached = True


@pytest.mark.parametrize("search", ["greedy", "beam", "sample"])
def test_a_search_with_a_cache_finds_what_it_finds_without(model, texts, search):
    def run():
        if search == "beam":
            return decoding.beam_search(model, texts[:, :2], 3, END, 5, beams=2)
        if search == "sample":
            return decoding.sample(model, texts[:, :2], 3, END, 5, temperature=1.5, top_p=0.9, seed=2)
        return decoding.greedy(model, texts[:, :2], 3, END, 5)

    one = run()
    model.cached = False
    other = run()
    model.cached = True
    assert one.tokens == other.tokens and one.scores == pytest.approx(other.scores, abs=1e-4)
    assert any(one.tokens)


def test_what_was_read_before_the_start_counts(model, texts):
    state = model.begin(texts[:, :4])
    found = np.asarray(model.step(texts[:, 4], state)[0])
    assert np.abs(found - log_softmax(logits(model, texts))[:, 4]).max() < 1e-4


def test_a_seed_gives_the_same_start_and_restart_gives_it_again():
    one, other = (LanguageModel(V, L, width=8, num_layers=1, num_heads=2, seed=s) for s in (1, 1))
    first = [np.array(to_numpy(w)) for w in one.model.weights]  # a copy
    assert all((a == to_numpy(b)).all() for a, b in zip(first, other.model.weights, strict=True))
    one.model.compile("adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    one.model.optimizer.build(one.model.trainable_variables)
    inputs = {"tokens": np.ones((2, L), "int32"), "window": np.full((2, 1), L)}
    losses = []
    for _ in range(2):
        losses.append([float(np.asarray(one.model.train_on_batch(inputs, inputs["tokens"]))) for _ in range(3)])
        assert max(np.abs(a - to_numpy(b)).max() for a, b in zip(first, one.model.weights, strict=True)) > 1e-4
        one.restart(1)
        assert all((a == to_numpy(b)).all() for a, b in zip(first, one.model.weights, strict=True))
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)  # the optimizer has forgotten, too
    one.restart(2)
    assert not all((a == to_numpy(b)).all() for a, b in zip(first, one.model.weights, strict=True))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda m: LanguageModel(0, 5), "symbols must be a positive integer; got 0"),
        (lambda m: LanguageModel(5, 5, width=6, num_heads=4), "num_heads must divide the width of x, 6"),
        (lambda m: m.begin(np.zeros((2, L), int)), r"inputs must be \(N, P\) with P below 9; got shape \(2, 9\)"),
        (lambda m: m.begin(np.zeros(2, int)), r"inputs must be \(N, P\) with P below 9; got shape \(2,\)"),
        (lambda m: m.step([1], {"position": [L], "cache": None}), "tokens must be at most 9 a row"),
    ],
)
def test_bad_input_is_named(model, make, message):
    with pytest.raises(ValueError, match=message):
        make(model)
