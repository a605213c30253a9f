"""Chapter 08's exercises: a NumPy loop is right, a blank is not attempted, each planted mistake gets its own name."""

import numpy as np
import pytest
from keras import ops

import attention_by_hand as abh
from attention_by_hand import strings
from attention_by_hand.exercises.chapter_08 import EXERCISES
from attention_by_hand.layers import MultiHeadAttention

BY_ID = {exercise.id: exercise for exercise in EXERCISES}
MISTAKES = [(exercise.id, name) for exercise in EXERCISES[:3] for name in exercise.mistakes]
VALUES = list(BY_ID["8.4"].mistakes.items())


def split_loop(x, heads):
    batch, length, width = x.shape
    out = np.zeros((batch, heads, length, width // heads))
    for b, h, t, k in np.ndindex(out.shape):
        out[b, h, t, k] = x[b, t, h * (width // heads) + k]
    return out


def mix_loop(context, kernel, bias):
    batch, heads, length, width = context.shape
    out = np.zeros((batch, length, kernel.shape[2])) + bias
    for b, t, h, v in np.ndindex(batch, length, heads, width):
        out[b, t] += context[b, h, t, v] * kernel[h, v]
    return out


def attend_loop(x, query_kernel, key_kernel, value_kernel):
    batch, length, _ = x.shape
    _, heads, width = value_kernel.shape
    out = np.zeros((batch, length, heads * width))
    for b, h, t in np.ndindex(batch, heads, length):
        query = x[b, t] @ query_kernel[:, h]
        scores = [query @ (x[b, s] @ key_kernel[:, h]) / np.sqrt(len(query)) for s in range(length)]
        weights = np.exp(scores) / np.sum(np.exp(scores))
        for s in range(length):
            out[b, t, h * width : (h + 1) * width] += weights[s] * (x[b, s] @ value_kernel[:, h])
    return out


LOOPS = {"8.1": split_loop, "8.2": mix_loop, "8.3": attend_loop}


def in_numpy(function):
    """The function on tensors whose loops see NumPy arrays."""

    def called(*inputs):
        arrays = [x if isinstance(x, int) else abh.backend.to_numpy(x) for x in inputs]
        return ops.convert_to_tensor(function(*arrays), "float32")

    return called


def test_the_chapter_has_four_exercises():
    assert list(BY_ID) == ["8.1", "8.2", "8.3", "8.4"]


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
def test_a_wrong_count_is_diagnosed_by_its_own_name(name, value):
    result = abh.check("8.4", value)
    assert (result.status, result.mistake) == ("not yet", name)


def test_the_count_is_that_of_the_layer():
    layer = MultiHeadAttention(5, 16)
    layer.build((1, 20, 100), (1, 20, 100))
    assert abh.check("8.4", layer.count_params())
    assert abh.check("8.4", 12345).mistake == "other"


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
    rng = np.random.default_rng(0)
    x, heads = BY_ID["8.1"].inputs(rng)
    assert len({*x.shape[:2], heads, x.shape[2] // heads}) == 4
    context, kernel, bias = BY_ID["8.2"].inputs(rng)
    assert len({*context.shape, len(bias)}) == 5 and kernel.shape == (context.shape[1], context.shape[3], len(bias))
    x, query_kernel, key_kernel, value_kernel = BY_ID["8.3"].inputs(rng)
    assert len({*x.shape, *query_kernel.shape[1:], value_kernel.shape[2]}) == 6
    assert query_kernel.shape == key_kernel.shape


def test_every_sentence_of_the_chapter_belongs_to_a_mistake():
    for exercise in EXERCISES:
        own = strings.table("en")["exercises"][exercise.id.replace(".", "_")]
        assert set(own) <= set(exercise.mistakes)
