"""The captioner: its steps are its training pass, NumPy loops give the same, and searches do not depend on batches."""

import numpy as np
import pytest
from keras import ops

from attention_by_hand import backend
from attention_by_hand.decoding import beam_search, greedy
from attention_by_hand.layers import DotProductAttention, UniformAttention
from attention_by_hand.models import Captioner

N, H, W, D, T, WORDS, UNITS, WIDTH = 4, 2, 3, 5, 6, 9, 8, 7
START, END = 1, 2
NORM = ("moving_mean", "moving_variance", "gamma", "beta")


def captioner(rng, **options):
    """A captioner whose weights are all random, biases included."""
    made = Captioner(WORDS, (H, W, D), units=UNITS, width=WIDTH, **options)
    for weight in made.model.weights:
        weight.assign(rng.normal(0, 0.5, weight.shape))
    made.norm.moving_variance.assign(rng.uniform(0.2, 2, UNITS))
    return made


def pictures(rng):
    """Grids, and captions that begin with the start token."""
    caption = np.concatenate([np.full((N, 1), START), rng.integers(4, WORDS, (N, T - 1))], axis=1)
    return {"grid": rng.normal(size=(N, H, W, D)).astype("float32"), "caption": caption.astype("int32")}


KINDS = [
    {},
    {"coordinates": False},
    {"attention": UniformAttention()},
    {"attention": DotProductAttention("learned", "general")},
]


@pytest.mark.parametrize("options", KINDS)
def test_step_by_step_gives_the_log_probabilities_and_weights_of_the_training_pass(rng, options):
    made, data = captioner(rng, **options), pictures(rng)
    expected = backend.to_numpy(ops.log_softmax(made.model(data)))
    rows = backend.to_numpy(made.attention_model(data))
    assert rows.shape == (N, T, H, W)
    state = made.begin({"grid": data["grid"]})
    for t in range(T):
        log_probs, state, weights = made.step(data["caption"][:, t], state)
        np.testing.assert_allclose(log_probs, expected[:, t], atol=2e-5)
        np.testing.assert_allclose(weights, rows[:, t], atol=1e-5)
        np.testing.assert_allclose(weights.sum(axis=(1, 2)), 1, atol=1e-5)


@pytest.mark.parametrize("coordinates", [True, False])
def test_it_computes_what_loops_over_cells_and_steps_compute(rng, coordinates):
    made, data = captioner(rng, coordinates=coordinates), pictures(rng)
    weights = {w.path: backend.to_numpy(w) for w in made.model.weights}
    dense = lambda x, name: x @ weights[f"{name}/kernel"] + weights[f"{name}/bias"]  # noqa: E731
    relu, sigmoid = lambda x: np.maximum(x, 0), lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
    found, maps = (backend.to_numpy(m(data)) for m in (made.model, made.attention_model))
    scored = {name: next(v for k, v in weights.items() if k.endswith(name)) for name in ("query_kernel", "key_kernel")}
    scale = next(v for k, v in weights.items() if k.endswith("/scale"))
    kernel, recurrent, (bias, recurrent_bias) = (
        weights[f"decoder/{name}"] for name in ("kernel", "recurrent_kernel", "bias")
    )
    for n in range(N):
        cells = np.zeros((H, W, UNITS))
        for i, j in np.ndindex(H, W):
            place = [4 * j / (W - 1) - 2, 4 * i / (H - 1) - 2] if coordinates else []
            cells[i, j] = np.tanh(dense(relu(dense(np.array([*data["grid"][n, i, j], *place]), "mix")), "cells"))
        mean, variance, gamma, beta = (weights[f"norm/{name}"] for name in NORM)
        gist = gamma * (cells.mean(axis=(0, 1)) - mean) / np.sqrt(variance + 1e-3) + beta
        state = np.tanh(dense(relu(dense(gist, "gist")), "first_state"))
        for t in range(T):
            scores = np.zeros((H, W))
            for i, j in np.ndindex(H, W):
                scores[i, j] = np.tanh(state @ scored["query_kernel"] + cells[i, j] @ scored["key_kernel"]) @ scale
            a = np.exp(scores) / np.exp(scores).sum()
            context = sum(a[i, j] * cells[i, j] for i, j in np.ndindex(H, W))
            word = weights["embed/embeddings"][data["caption"][n, t]]
            x = np.split(np.concatenate([word, context]) @ kernel + bias, 3)
            h = np.split(state @ recurrent + recurrent_bias, 3)
            z, r = sigmoid(x[0] + h[0]), sigmoid(x[1] + h[1])
            state = z * state + (1 - z) * np.tanh(x[2] + r * h[2])
            logits = dense(relu(dense(np.concatenate([state, context]), "read_out")), "words")
            np.testing.assert_allclose(maps[n, t], a, atol=1e-5)
            np.testing.assert_allclose(found[n, t], logits, rtol=1e-4, atol=1e-4)


def test_without_coordinates_cells_may_change_places_and_with_them_not(rng):
    for coordinates, least, most in ((False, 0, 1e-5), (True, 1e-3, np.inf)):
        made, data = captioner(rng, coordinates=coordinates), pictures(rng)
        order = rng.permutation(H * W)
        moved = data["grid"].reshape(N, H * W, D)[:, order].reshape(N, H, W, D)
        one, other = (backend.to_numpy(made.model({**data, "grid": grid})) for grid in (data["grid"], moved))
        assert least <= np.abs(one - other).max() <= most


def test_uniform_attention_looks_everywhere_alike(rng):
    made = captioner(rng, attention=UniformAttention())
    np.testing.assert_allclose(backend.to_numpy(made.attention_model(pictures(rng))), 1 / (H * W), atol=1e-6)


@pytest.mark.parametrize("beams", [0, 3])
def test_a_search_over_a_batch_is_a_search_one_by_one(rng, beams):
    made, data = captioner(rng), pictures(rng)
    data.pop("caption")
    at_once = beam_search(made, data, START, END, T, beams)
    one_by_one = beam_search(made, data, START, END, T, beams, batch_size=1)
    assert at_once.tokens == one_by_one.tokens
    np.testing.assert_allclose(at_once.scores, one_by_one.scores, atol=1e-5)
    for one, other in zip(at_once.weights, one_by_one.weights, strict=True):
        assert one.shape[1:] == (H, W)
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_a_beam_never_scores_below_greedy(rng):
    made, data = captioner(rng), pictures(rng)
    data.pop("caption")
    one = greedy(made, data, START, END, T, length_penalty=1.0)
    other = beam_search(made, data, START, END, T, 4, length_penalty=1.0)
    assert (other.scores[one.finished] >= one.scores[one.finished] - 1e-6).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"words": 0}, "words must be a positive integer; got 0"),
        ({"units": 1.5}, "units must be a positive integer; got 1.5"),
        ({"width": True}, "width must be a positive integer; got True"),
        ({"grid": (8, 64)}, r"grid must be \(height, width, features\)"),
        ({"grid": (8, 0, 64)}, r"grid must be \(height, width, features\)"),
        ({"attention": "additive"}, "attention must be a layer that scores"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments, message):
    with pytest.raises(ValueError, match=message):
        Captioner(**{"words": WORDS, **arguments})
