"""Exercises of chapter 10: a NumPy loop is right, a blank is not attempted, each mistake gets its own name."""

import math

import numpy as np
import pytest
from keras import ops

import attention_by_hand as abh
from attention_by_hand import strings
from attention_by_hand.exercises.chapter_10 import EXERCISES

BY_ID = {exercise.id: exercise for exercise in EXERCISES}
MISTAKES = [(exercise.id, name) for exercise in EXERCISES for name in exercise.mistakes]
REQUIRED = {
    "10.1": {"sin_cos_swapped", "exponent_halved", "exponent_doubled", "blocks", "position_from_one"},
    "10.2": {"backwards", "sin_cos_swapped", "plus_for_cosine", "blocks"},
    "10.3": {"padding_counted", "from_one", "over_batch", "inverted"},
    "10.4": {"query_key_swapped", "missing_scale", "no_kernels", "weights_instead"},
}

# The same functions, written independently of the solutions.


def table_loop(length, width):
    out = np.zeros((length, width))
    for i, c in np.ndindex(out.shape):
        angle = i / 10000 ** (2 * (c // 2) / width)
        out[i, c] = math.cos(angle) if c % 2 else math.sin(angle)
    return out


def shift_loop(table, frequency, shift):
    out = np.zeros(table.shape)
    for i, c in np.ndindex(out.shape):
        j = c // 2
        angle = math.atan2(table[i, 2 * j], table[i, 2 * j + 1]) + shift * frequency[j]
        out[i, c] = math.cos(angle) if c % 2 else math.sin(angle)
    return out


def places_loop(mask):
    out = np.zeros(mask.shape, "int32")
    for b, row in enumerate(mask):
        seen = 0
        for t, real in enumerate(row):
            if real:
                out[b, t] = seen
                seen += 1
    return out


def scores_loop(table, query_kernel, key_kernel):
    out = np.zeros((len(table), len(table)))
    for t, s in np.ndindex(out.shape):
        for k in range(query_kernel.shape[1]):
            out[t, s] += (table[t] @ query_kernel[:, k]) * (table[s] @ key_kernel[:, k])
    return out / math.sqrt(query_kernel.shape[1])


LOOPS = {"10.1": table_loop, "10.2": shift_loop, "10.3": places_loop, "10.4": scores_loop}


def in_numpy(function):
    """The function on tensors whose loops see NumPy arrays; whole numbers stay as they are."""

    def run(*inputs):
        arrays = [x if isinstance(x, int) else abh.backend.to_numpy(x) for x in inputs]
        return ops.convert_to_tensor(np.asarray(function(*arrays), "float32"))

    return run


def test_there_are_two_to_four_exercises():
    assert [exercise.id for exercise in EXERCISES] == ["10.1", "10.2", "10.3", "10.4"]


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_a_loop_written_independently_is_right(exercise_id):
    result = abh.check(exercise_id, in_numpy(LOOPS[exercise_id]))
    assert (result.status, result.mistake) == ("right", None)


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_a_blank_is_not_attempted(exercise_id):
    assert abh.check(exercise_id, lambda *inputs: ...).status == "not attempted"
    assert abh.check(exercise_id, ...).status == "not attempted"


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_the_classic_mistakes_are_among_the_planted_ones(exercise_id):
    assert REQUIRED[exercise_id] <= set(BY_ID[exercise_id].mistakes)
    assert len(BY_ID[exercise_id].mistakes) >= 5


@pytest.mark.parametrize(("exercise_id", "name"), MISTAKES)
def test_a_planted_mistake_is_diagnosed_by_its_own_name(exercise_id, name):
    for _ in range(5):  # inputs are drawn anew each time
        result = abh.check(exercise_id, BY_ID[exercise_id].mistakes[name])
        assert (result.status, result.mistake) == ("not yet", name)
        assert BY_ID[exercise_id].sentence(name) in result.text


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_garbage_is_not_mistaken_for_a_known_mistake(exercise_id):
    right = LOOPS[exercise_id]
    squared = abh.check(exercise_id, in_numpy(lambda *inputs: right(*inputs) ** 2 + 0.3 * right(*inputs) + 3))
    assert (squared.status, squared.mistake) == ("not yet", "other")

    def breaks(*inputs):
        raise ZeroDivisionError("no luck")

    assert abh.check(exercise_id, breaks).mistake == "raised"
    assert abh.check(exercise_id, lambda *inputs: "words").mistake == "not_a_tensor"


def test_a_transposed_table_is_told_so():
    assert abh.check("10.1", in_numpy(lambda *sizes: table_loop(*sizes).T)).mistake == "transposed"


@pytest.mark.parametrize("seed", range(10))
def test_no_sizes_of_one_exercise_are_equal_by_accident(seed):
    length, width = BY_ID["10.1"].inputs(np.random.default_rng(seed))
    assert length != width and width % 2 == 0
    table, frequency, shift = BY_ID["10.2"].inputs(np.random.default_rng(seed))
    assert len({*table.shape, *frequency.shape}) == 3 and table.shape[1] == 2 * len(frequency) and shift > 1
    (mask,) = BY_ID["10.3"].inputs(np.random.default_rng(seed))
    assert len(set(mask.shape)) == 2
    table, query_kernel, key_kernel = BY_ID["10.4"].inputs(np.random.default_rng(seed))
    assert len({*table.shape, query_kernel.shape[1]}) == 3 and query_kernel.shape == key_kernel.shape


@pytest.mark.parametrize("seed", range(20))
def test_every_sentence_of_exercise_10_3_is_padded_in_front_by_another_number(seed):
    (mask,) = BY_ID["10.3"].inputs(np.random.default_rng(seed))
    assert mask[:, -1].all() and not mask[:, 0].any()
    assert len(set(mask.sum(axis=1))) == len(mask)


def test_every_sentence_of_the_chapter_belongs_to_a_mistake():
    for exercise in EXERCISES:
        own = strings.table("en")["exercises"][exercise.id.replace(".", "_")]
        assert set(own) <= set(exercise.mistakes)
