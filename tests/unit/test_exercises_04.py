"""Chapter 04's exercises: a NumPy loop is right, a blank is not attempted, each planted mistake gets its own name."""

import numpy as np
import pytest
from keras import ops

import attention_by_hand as abh
from attention_by_hand import strings
from attention_by_hand.exercises.chapter_04 import EXERCISES

BY_ID = {exercise.id: exercise for exercise in EXERCISES}
MISTAKES = [(exercise.id, name) for exercise in EXERCISES[:3] for name in exercise.mistakes]
VALUES = list(BY_ID["4.4"].mistakes.items())


def softmax_loop(scores):
    out = np.zeros(scores.shape)
    for b, t in np.ndindex(scores.shape[:2]):
        total = sum(np.exp(scores[b, t, i, j]) for i, j in np.ndindex(scores.shape[2:]))
        out[b, t] = np.exp(scores[b, t]) / total
    return out


def context_loop(weights, grid):
    out = np.zeros((*weights.shape[:2], grid.shape[-1]))
    for b, t, i, j in np.ndindex(weights.shape):
        out[b, t] += weights[b, t, i, j] * grid[b, i, j]
    return out


def pointing_loop(weights, boxes):
    """`metrics.pointing_game`, one map at a time, on pictures of 60 × 80 pixels."""
    one = lambda a, box: abh.metrics.pointing_game(a[None], box[None], (60, 80))  # noqa: E731
    return np.array([one(a, box) for a, box in zip(weights, boxes, strict=True)])


LOOPS = {"4.1": softmax_loop, "4.2": context_loop, "4.3": pointing_loop}


def in_numpy(function):
    """The function on tensors whose loops see NumPy arrays."""

    def called(*inputs):
        return ops.convert_to_tensor(function(*map(abh.backend.to_numpy, inputs)), "float32")

    return called


def test_the_chapter_has_four_exercises():
    assert list(BY_ID) == ["4.1", "4.2", "4.3", "4.4"]


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_a_loop_written_independently_is_right(exercise_id):
    result = abh.check(exercise_id, in_numpy(LOOPS[exercise_id]))
    assert (result.status, result.mistake) == ("right", None), result


@pytest.mark.parametrize("exercise_id", BY_ID)
def test_a_blank_is_not_attempted(exercise_id):
    assert abh.check(exercise_id, ...).status == "not attempted"
    if exercise_id in LOOPS:
        assert abh.check(exercise_id, lambda *inputs: ...).status == "not attempted"


@pytest.mark.parametrize("exercise_id", BY_ID)
def test_at_least_five_mistakes_are_planted(exercise_id):
    assert len(BY_ID[exercise_id].mistakes) >= 5


@pytest.mark.parametrize(("exercise_id", "name"), MISTAKES)
def test_a_planted_mistake_is_diagnosed_by_its_own_name(exercise_id, name):
    result = abh.check(exercise_id, BY_ID[exercise_id].mistakes[name])
    assert (result.status, result.mistake) == ("not yet", name)
    assert BY_ID[exercise_id].sentence(name) in result.text


@pytest.mark.parametrize(("name", "value"), VALUES)
def test_a_wrong_mass_is_diagnosed_by_its_own_name(name, value):
    result = abh.check("4.4", value)
    assert (result.status, result.mistake) == ("not yet", name)


def test_the_mass_is_that_of_the_metric():
    weights = np.zeros((1, 8, 8))
    weights[0, 1, 2], weights[0, 2, 3], weights[0, 7, 0] = 0.6, 0.2, 0.2
    assert abh.check("4.4", abh.metrics.mass_in_box(weights, [[16, 12, 28, 22]], 64))
    assert abh.check("4.4", 0.123).mistake == "other"


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_garbage_is_not_mistaken_for_a_known_mistake(exercise_id):
    right = LOOPS[exercise_id]
    squared = abh.check(exercise_id, in_numpy(lambda *inputs: right(*inputs) ** 2 + inputs[0].sum() + 1))
    assert (squared.status, squared.mistake) == ("not yet", "other")

    def breaks(*inputs):
        raise ZeroDivisionError("no luck")

    assert abh.check(exercise_id, breaks).mistake == "raised"
    assert abh.check(exercise_id, lambda *inputs: "words").mistake == "not_a_tensor"


def test_no_sizes_of_one_exercise_are_equal_by_accident():
    rng = np.random.default_rng(0)
    (scores,) = BY_ID["4.1"].inputs(rng)
    assert len(set(scores.shape)) == 4
    weights, grid = BY_ID["4.2"].inputs(rng)
    assert len({*weights.shape, grid.shape[-1]}) == 5 and grid.shape[:3] == (weights.shape[0], *weights.shape[2:])
    np.testing.assert_allclose(weights.sum(axis=(2, 3)), 1, atol=1e-5)
    weights, boxes = BY_ID["4.3"].inputs(rng)
    assert len({*weights.shape, boxes.shape[1], 4}) == 3 and len(boxes) == len(weights)


def test_every_sentence_of_the_chapter_belongs_to_a_mistake():
    for exercise in EXERCISES:
        own = strings.table("en")["exercises"][exercise.id.replace(".", "_")]
        assert set(own) <= set(exercise.mistakes)
