"""The translator: its steps are its training pass, padding is not read, and searches do not depend on batches."""

import numpy as np
import pytest
from keras import ops

from attention_by_hand import backend
from attention_by_hand.decoding import beam_search, greedy
from attention_by_hand.layers import DotProductAttention
from attention_by_hand.models import Translator

N, S, T, SOURCE, TARGET, UNITS, WIDTH = 5, 7, 6, 11, 9, 8, 5
START, END = 1, 2


def translator(rng, memory="attention", **options):
    """A translator whose weights are all random, biases included."""
    made = Translator(SOURCE, TARGET, memory, units=UNITS, width=WIDTH, **options)
    for weight in made.model.weights:
        weight.assign(rng.normal(0, 0.5, weight.shape))
    return made


def sentences(rng):
    """Sources of different lengths with their masks, and targets that begin with the start token."""
    mask = np.arange(S)[None] < np.array([[S], [3], [5], [1], [4]])
    source = rng.integers(4, SOURCE, (N, S)) * mask
    target = np.concatenate([np.full((N, 1), START), rng.integers(4, TARGET, (N, T - 1))], axis=1)
    return {"source": source.astype("int32"), "source_mask": mask, "target": target.astype("int32")}


KINDS = [
    ("state", {}),
    ("context", {"bidirectional": True}),
    ("attention", {}),
    ("attention", {"bidirectional": True}),
    ("attention", {"attention": DotProductAttention("learned", "general")}),
]


@pytest.mark.parametrize(("memory", "options"), KINDS)
def test_step_by_step_gives_the_log_probabilities_and_weights_of_the_training_pass(rng, memory, options):
    made, data = translator(rng, memory, **options), sentences(rng)
    expected = backend.to_numpy(ops.log_softmax(made.model(data)))
    rows = None if made.attention_model is None else backend.to_numpy(made.attention_model(data))
    state = made.begin({name: data[name] for name in ("source", "source_mask")})
    for t in range(T):
        log_probs, state, weights = made.step(data["target"][:, t], state)
        np.testing.assert_allclose(log_probs, expected[:, t], atol=2e-5)
        if rows is None:
            assert weights is None
        else:
            np.testing.assert_allclose(weights, rows[:, t], atol=1e-5)
            np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-5)
            assert np.all(weights[~data["source_mask"]] == 0)


@pytest.mark.parametrize(("memory", "options"), KINDS[:4])
def test_what_lies_in_the_padding_changes_nothing(rng, memory, options):
    made, data = translator(rng, memory, **options), sentences(rng)
    other = {**data, "source": np.where(data["source_mask"], data["source"], 7).astype("int32")}
    one, two = (backend.to_numpy(made.model(each)) for each in (data, other))
    np.testing.assert_array_equal(one, two)
    changed = {**data, "source": np.where(data["source_mask"], 4 + data["source"] % 5, 0).astype("int32")}
    assert np.abs(one - backend.to_numpy(made.model(changed))).max() > 1e-3  # what is not padding does


@pytest.mark.parametrize("beams", [0, 3])
def test_a_search_over_a_batch_is_a_search_one_by_one(rng, beams):
    made, data = translator(rng, bidirectional=True), sentences(rng)
    data.pop("target")
    at_once = beam_search(made, data, START, END, T, beams)
    one_by_one = beam_search(made, data, START, END, T, beams, batch_size=1)
    assert at_once.tokens == one_by_one.tokens
    np.testing.assert_allclose(at_once.scores, one_by_one.scores, atol=1e-5)
    for one, other in zip(at_once.weights, one_by_one.weights, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_a_beam_never_scores_below_greedy(rng):
    made, data = translator(rng), sentences(rng)
    data.pop("target")
    one = greedy(made, data, START, END, T, length_penalty=1.0)
    other = beam_search(made, data, START, END, T, 4, length_penalty=1.0)
    assert (other.scores[one.finished] >= one.scores[one.finished] - 1e-6).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"memory": "none"}, "memory must be one of"),
        ({"memory": "state", "attention": DotProductAttention()}, "attention belongs to"),
        ({"units": 0}, "units must be a positive integer"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments, message):
    with pytest.raises(ValueError, match=message):
        Translator(SOURCE, TARGET, **arguments)
