"""Exercises of chapter 02: a NumPy loop is right, a blank is not attempted, each mistake gets its own name."""

import numpy as np
import pytest
from keras import ops

import attention_by_hand as abh
from attention_by_hand import strings
from attention_by_hand.exercises.chapter_02 import EXERCISES

BY_ID = {exercise.id: exercise for exercise in EXERCISES}
MISTAKES = [(exercise.id, name) for exercise in EXERCISES for name in exercise.mistakes]
REQUIRED = {
    "2.1": {"query_key_swapped", "missing_tanh", "scale_inside"},
    "2.2": {"softmax_axis", "mask_inverted", "mask_after_softmax", "mask_missing"},
    "2.3": {"value_key_swapped", "query_key_swapped", "softmax_axis"},
    "2.4": {"kernels_swapped", "missing_v", "tanh_each", "query_key_swapped"},
}

# The same functions, written independently of the solutions.


def scores_loop(query, key, scale):
    out = np.zeros((len(query), query.shape[1], key.shape[1]))
    for b, t, s in np.ndindex(out.shape):
        out[b, t, s] = sum(scale[d] * np.tanh(query[b, t, d] + key[b, s, d]) for d in range(query.shape[2]))
    return out


def weights_loop(scores, mask):
    out = np.zeros(scores.shape)
    for b, t in np.ndindex(scores.shape[:2]):
        visible = [s for s in range(scores.shape[2]) if mask[b, s]]
        total = sum(np.exp(float(scores[b, t, s])) for s in visible)
        for s in visible:
            out[b, t, s] = np.exp(float(scores[b, t, s])) / total
    return out


def attend_loop(query, value, key):
    weights = weights_loop(scores_loop(query, key, np.ones(query.shape[2])), np.ones(key.shape[:2], bool))
    out = np.zeros((*query.shape[:2], value.shape[2]))
    for b, t, s in np.ndindex(weights.shape):
        out[b, t] += weights[b, t, s] * value[b, s]
    return out


def paper_loop(query, key, query_kernel, key_kernel, v):
    out = np.zeros((len(query), query.shape[1], key.shape[1]))
    for b, t, s in np.ndindex(out.shape):
        hidden = [np.tanh(query[b, t] @ query_kernel[:, u] + key[b, s] @ key_kernel[:, u]) for u in range(len(v))]
        out[b, t, s] = np.dot(v, hidden)
    return out


LOOPS = {"2.1": scores_loop, "2.2": weights_loop, "2.3": attend_loop, "2.4": paper_loop}


def in_numpy(function):
    """The function on tensors whose loops see NumPy arrays."""
    return lambda *tensors: ops.convert_to_tensor(
        np.asarray(function(*(abh.backend.to_numpy(x) for x in tensors)), "float32")
    )


def test_there_are_two_to_four_exercises():
    assert [exercise.id for exercise in EXERCISES] == ["2.1", "2.2", "2.3", "2.4"]


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_a_loop_written_independently_is_right(exercise_id):
    result = abh.check(exercise_id, in_numpy(LOOPS[exercise_id]))
    assert (result.status, result.mistake) == ("right", None)


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_a_blank_is_not_attempted(exercise_id):
    assert abh.check(exercise_id, lambda *inputs: ...).status == "not attempted"
    assert abh.check(exercise_id, ...).status == "not attempted"


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_the_mistakes_of_the_course_are_among_the_planted_ones(exercise_id):
    assert REQUIRED[exercise_id] <= set(BY_ID[exercise_id].mistakes)
    assert len(BY_ID[exercise_id].mistakes) >= 5


@pytest.mark.parametrize(("exercise_id", "name"), MISTAKES)
def test_a_planted_mistake_is_diagnosed_by_its_own_name(exercise_id, name):
    result = abh.check(exercise_id, BY_ID[exercise_id].mistakes[name])
    assert (result.status, result.mistake) == ("not yet", name)
    assert BY_ID[exercise_id].sentence(name) in result.text


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_garbage_is_not_mistaken_for_a_known_mistake(exercise_id):
    right = LOOPS[exercise_id]
    squared = abh.check(exercise_id, in_numpy(lambda *inputs: right(*inputs) ** 2 + 1))
    assert (squared.status, squared.mistake) == ("not yet", "other")

    def breaks(*inputs):
        raise ZeroDivisionError("no luck")

    assert abh.check(exercise_id, breaks).mistake == "raised"
    assert abh.check(exercise_id, lambda *inputs: "words").mistake == "not_a_tensor"


def test_no_sizes_of_one_exercise_are_equal_by_accident():
    query, key, scale = BY_ID["2.1"].inputs(np.random.default_rng(0))
    assert len({*query.shape, key.shape[1]}) == 4 and scale.shape == query.shape[2:]
    scores, mask = BY_ID["2.2"].inputs(np.random.default_rng(0))
    assert len(set(scores.shape)) == 3 and mask.shape == (scores.shape[0], scores.shape[2])
    query, key, kernel, _, v = BY_ID["2.4"].inputs(np.random.default_rng(0))
    assert len({*query.shape, key.shape[1], kernel.shape[1]}) == 5 and v.shape == kernel.shape[1:]


@pytest.mark.parametrize("seed", range(20))
def test_every_list_of_exercise_2_2_has_visible_and_hidden_keys(seed):
    mask = BY_ID["2.2"].inputs(np.random.default_rng(seed))[1]
    assert mask.any(axis=1).all() and not mask.all(axis=1).any()


def test_every_sentence_of_the_chapter_belongs_to_a_mistake():
    for exercise in EXERCISES:
        own = strings.table("en")["exercises"][exercise.id.replace(".", "_")]
        assert set(own) <= set(exercise.mistakes)
