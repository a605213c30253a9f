"""Exercises of chapter 11: a NumPy loop is right, a blank is not attempted, each mistake gets its own name."""

import math

import numpy as np
import pytest
from keras import ops

import attention_by_hand as abh
from attention_by_hand import strings
from attention_by_hand.exercises.chapter_11 import EXERCISES

BY_ID = {exercise.id: exercise for exercise in EXERCISES}
MISTAKES = [(exercise.id, name) for exercise in EXERCISES for name in exercise.mistakes]
REQUIRED = {
    "11.1": {"query_minus_key", "not_shifted", "not_clipped", "absolute"},
    "11.2": {"not_skewed", "above_kept", "column_behind", "last_row_dropped"},
    "11.3": {"backwards", "halves", "concatenated", "overwritten"},
    "11.4": {"reward", "head_zero", "not_divided", "signed"},
}

# The same functions, written independently of the solutions.


def index_loop(queries, keys, most):
    out = np.zeros((queries, keys), "int32")
    for i, j in np.ndindex(out.shape):
        out[i, j] = max(-most, min(most, j - i)) + most
    return out


def skew_loop(products):
    out = np.zeros_like(products)
    length = products.shape[1]
    for b, i, j in np.ndindex(out.shape):
        if j <= i:
            out[b, i, j] = products[b, i, (j - i) + length - 1]
    return out


def rotate_loop(x, position, speed):
    out = np.zeros_like(x)
    for t in range(len(x)):
        for pair, omega in enumerate(speed):
            turned = complex(*x[t, 2 * pair : 2 * pair + 2]) * np.exp(1j * position[t] * omega)
            out[t, 2 * pair : 2 * pair + 2] = turned.real, turned.imag
    return out


def bias_loop(heads, length):
    out = np.zeros((heads, length, length))
    for h, i, j in np.ndindex(out.shape):
        out[h, i, j] = -abs(i - j) * math.pow(2, -8 * (h + 1) / heads)
    return out


LOOPS = {"11.1": index_loop, "11.2": skew_loop, "11.3": rotate_loop, "11.4": bias_loop}


def in_numpy(function):
    """The function on tensors whose loops see NumPy arrays; whole numbers stay as they are."""

    def run(*inputs):
        arrays = [x if isinstance(x, int) else abh.backend.to_numpy(x) for x in inputs]
        return ops.convert_to_tensor(np.asarray(function(*arrays), "float32"))

    return run


def test_there_are_two_to_four_exercises():
    assert [exercise.id for exercise in EXERCISES] == ["11.1", "11.2", "11.3", "11.4"]


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


def test_a_table_of_rows_with_exchanged_axes_is_told_so():
    assert abh.check("11.1", in_numpy(lambda *sizes: index_loop(*sizes).T)).mistake == "transposed"


@pytest.mark.parametrize("seed", range(10))
def test_no_sizes_of_one_exercise_are_equal_by_accident(seed):
    queries, keys, most = BY_ID["11.1"].inputs(np.random.default_rng(seed))
    assert len({queries, keys, 2 * most + 1}) == 3 or queries == 2 * most + 1 != keys
    assert queries > most + 1  # some distances are clipped, on both sides
    (products,) = BY_ID["11.2"].inputs(np.random.default_rng(seed))
    assert products.shape[0] != products.shape[1] == products.shape[2]
    x, position, speed = BY_ID["11.3"].inputs(np.random.default_rng(seed))
    assert len({*x.shape, *speed.shape}) == 3 and x.shape == (len(position), 2 * len(speed))
    assert position[0] > 0 and (np.diff(position) == 1).all()
    heads, length = BY_ID["11.4"].inputs(np.random.default_rng(seed))
    assert heads < length


def test_every_sentence_of_the_chapter_belongs_to_a_mistake():
    for exercise in EXERCISES:
        own = strings.table("en")["exercises"][exercise.id.replace(".", "_")]
        assert set(own) <= set(exercise.mistakes)
