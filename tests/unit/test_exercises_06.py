"""Chapter 06's exercises: a NumPy loop is right, a blank is not attempted, each planted mistake gets its own name."""

import numpy as np
import pytest
from keras import ops

import attention_by_hand as abh
from attention_by_hand import strings
from attention_by_hand.exercises.chapter_06 import EXERCISES
from attention_by_hand.exercises.framework import Function

BY_ID = {exercise.id: exercise for exercise in EXERCISES}
MISTAKES = [(exercise.id, name) for exercise in EXERCISES for name in exercise.mistakes]
REQUIRED = {
    "6.1": {"missing_scale", "query_key_swapped", "one_kernel", "softmax_axis", "value_not_projected"},
    "6.2": {"mask_missing", "keys_only", "queries_only", "mask_inverted", "mask_after_softmax", "wrong_axis"},
    "6.3": {"query_key_swapped", "missing_scale", "inner", "one_kernel"},
    "6.4": {"every_word", "only_bae", "one"},
}

# The same functions, written independently of the solutions.


def layer_loop(x, query_kernel, key_kernel, value_kernel):
    out = np.zeros((*x.shape[:2], value_kernel.shape[1]))
    for b, t in np.ndindex(x.shape[:2]):
        query = x[b, t] @ query_kernel
        scores = [query @ (x[b, s] @ key_kernel) / np.sqrt(len(query)) for s in range(x.shape[1])]
        exponentials = [np.exp(s - max(scores)) for s in scores]
        for s, e in enumerate(exponentials):
            out[b, t] += e / sum(exponentials) * (x[b, s] @ value_kernel)
    return out


def padding_loop(scores, value, mask):
    out = np.zeros(value.shape)
    for b, t in np.argwhere(mask):
        visible = np.flatnonzero(mask[b])
        total = sum(np.exp(float(scores[b, t, s])) for s in visible)
        for s in visible:
            out[b, t] += np.exp(float(scores[b, t, s])) / total * value[b, s]
    return out


def joined_loop(query_kernel, key_kernel):
    width, units = query_kernel.shape
    out = np.zeros((width, width))
    for i, j in np.ndindex(out.shape):
        out[i, j] = sum(query_kernel[i, u] * key_kernel[j, u] for u in range(units)) / np.sqrt(units)
    return out


LOOPS = {"6.1": layer_loop, "6.2": padding_loop, "6.3": joined_loop}


def in_numpy(function):
    """The function on tensors whose loops see NumPy arrays."""
    return lambda *tensors: ops.convert_to_tensor(
        np.asarray(function(*(abh.backend.to_numpy(x) for x in tensors)), "float32")
    )


def test_there_are_two_to_four_exercises():
    assert [exercise.id for exercise in EXERCISES] == ["6.1", "6.2", "6.3", "6.4"]


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_a_loop_written_independently_is_right(exercise_id):
    result = abh.check(exercise_id, in_numpy(LOOPS[exercise_id]))
    assert (result.status, result.mistake) == ("right", None)


def test_the_layer_of_the_course_is_right_in_6_1():
    def layer(x, *kernels):
        ours = abh.layers.SelfAttention(kernels[1].shape[1], value_dim=kernels[2].shape[1])
        ours(x)
        ours.set_weights(kernels)
        return ours(x)

    assert abh.check("6.1", layer)


def test_the_number_of_different_rows_is_what_the_layer_shows():
    """Question 6.4 by running the layer over the sentence."""
    x = np.random.default_rng(0).normal(size=(5, 6)).astype("float32")[list(abh.datasets.bae.SENTENCE_IDS)]
    output = abh.backend.to_numpy(abh.layers.SelfAttention(4)(x[None]))[0].round(4)
    assert abh.check("6.4", len(np.unique(output, axis=0)))


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_a_blank_is_not_attempted(exercise):
    assert abh.check(exercise.id, ...).status == "not attempted"
    if isinstance(exercise, Function):
        assert abh.check(exercise.id, lambda *inputs: ...).status == "not attempted"


@pytest.mark.parametrize("exercise_id", BY_ID)
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


@pytest.mark.parametrize("answer", ["four", 7, (4, 4), True, object()])
def test_a_wrong_answer_to_the_question_is_no_known_mistake(answer):
    assert abh.check("6.4", answer).mistake == "other"


def test_sizes_that_must_differ_differ():
    x, query_kernel, key_kernel, value_kernel = BY_ID["6.1"].inputs(np.random.default_rng(0))
    assert len({*x.shape, query_kernel.shape[1], value_kernel.shape[1]}) == 5
    assert query_kernel.shape == key_kernel.shape
    scores, value, mask = BY_ID["6.2"].inputs(np.random.default_rng(0))
    assert len({*value.shape}) == 3 and mask.shape == scores.shape[:2] and scores.shape[1] == scores.shape[2]


@pytest.mark.parametrize("seed", range(20))
def test_every_sentence_of_exercise_6_2_has_words_and_padding(seed):
    mask = BY_ID["6.2"].inputs(np.random.default_rng(seed))[2]
    assert mask.any(axis=1).all() and not mask.all(axis=1).any()


def test_every_sentence_of_the_chapter_belongs_to_a_mistake():
    for exercise in EXERCISES:
        own = strings.table("en")["exercises"][exercise.id.replace(".", "_")]
        assert set(own) <= set(exercise.mistakes)
