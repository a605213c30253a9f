"""Exercises of chapter 09: a loop is right, a blank is not attempted, each mistake gets its own name."""

import numpy as np
import pytest
from keras import ops

import attention_by_hand as abh
from attention_by_hand import strings
from attention_by_hand.exercises.chapter_09 import EXERCISES

BY_ID = {exercise.id: exercise for exercise in EXERCISES}
MISTAKES = [(exercise.id, name) for exercise in EXERCISES for name in exercise.mistakes]
REQUIRED = {
    "9.1": {"flipped", "padded_same", "padded_causal", "averaged", "one_kernel_for_all_taps"},
    "9.2": {"strides_ignored", "dilations_ignored", "whole_widths", "own_stride"},
    "9.3": {"no_projections", "no_scores", "no_mean", "once_a_word"},
    "9.4": {"whole_width", "rounded_down", "centred", "powers_of_two"},
}

# The same functions, written independently of the solutions: by counting, not by a formula.


def ngrams_loop(x, kernel):
    width, _, filters = kernel.shape
    out = np.zeros((len(x) - width + 1, filters))
    for t, f in np.ndindex(out.shape):
        for j in range(width):
            out[t, f] += x[t + j] @ kernel[j, :, f]
    return out


def field_loop(widths, dilations, strides):
    """The outermost inputs of output 0, followed down from the last layer to the input."""
    seen = {0}
    for width, dilation, stride in reversed(list(zip(widths, dilations, strides, strict=True))):
        seen = {place * stride + tap * dilation for place in seen for tap in range(width)}
    return max(seen) - min(seen) + 1


def work_loop(n, d, key_dim, value_dim):
    count = 0
    for width in (key_dim, key_dim, value_dim):
        count += sum(d for _ in range(n) for _ in range(width))  # one product of d numbers for each entry
    for _ in range(n * n):
        count += key_dim + value_dim  # a score, and a share of the mean
    return count


def layers_loop(n, k):
    found = []
    for dilation in (lambda layer: 1, lambda layer: k**layer):
        layers, seen = 0, {0}
        while n - 1 not in seen:
            seen = {back + tap * dilation(layers) for back in seen for tap in range(k)}
            layers += 1
        found.append(layers)
    return tuple(found)


LOOPS = {"9.1": ngrams_loop, "9.2": field_loop, "9.3": work_loop, "9.4": layers_loop}


def in_numpy(function):
    """The function on tensors whose loop sees NumPy arrays; numbers and lists stay as they are."""

    def run(*inputs):
        result = function(*(x if isinstance(x, (int, list)) else abh.backend.to_numpy(x) for x in inputs))
        return ops.convert_to_tensor(result.astype("float32")) if isinstance(result, np.ndarray) else result

    return run


def test_there_are_two_to_four_exercises():
    assert [exercise.id for exercise in EXERCISES] == ["9.1", "9.2", "9.3", "9.4"]


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_a_loop_written_independently_is_right(exercise_id):
    for _ in range(5):
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
    for _ in range(12):  # inputs are drawn anew each time
        result = abh.check(exercise_id, BY_ID[exercise_id].mistakes[name])
        assert (result.status, result.mistake) == ("not yet", name)
        assert BY_ID[exercise_id].sentence(name) in result.text


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_no_planted_mistake_is_ever_right_or_equal_to_another(exercise_id):
    exercise = BY_ID[exercise_id]
    for seed in range(40):
        inputs = exercise.inputs(np.random.default_rng(seed))
        answers = [exercise._run(function, inputs) for function in (exercise.solution, *exercise.mistakes.values())]
        for i, a in enumerate(answers):
            assert not any(exercise._same(a, b) for b in answers[i + 1 :]), (seed, i)


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_garbage_is_not_mistaken_for_a_known_mistake(exercise_id):
    right = LOOPS[exercise_id]

    def garbage(*inputs):
        answer = right(*inputs)
        return tuple(7 * x + 3 for x in answer) if isinstance(answer, tuple) else 0.3 * answer**2 + answer + 3

    result = abh.check(exercise_id, in_numpy(garbage))
    assert (result.status, result.mistake) == ("not yet", "other")

    def breaks(*inputs):
        raise ZeroDivisionError("no luck")

    assert abh.check(exercise_id, breaks).mistake == "raised"
    assert abh.check(exercise_id, lambda *inputs: "words").mistake == "not_a_tensor"


@pytest.mark.parametrize("seed", range(10))
def test_no_sizes_of_one_exercise_are_equal_by_accident(seed):
    x, kernel = BY_ID["9.1"].inputs(np.random.default_rng(seed))
    assert len({*x.shape, *kernel.shape, x.shape[0] - len(kernel) + 1}) == 5
    assert len(set(BY_ID["9.3"].inputs(np.random.default_rng(seed)))) == 4


def test_every_sentence_of_the_chapter_belongs_to_a_mistake():
    for exercise in EXERCISES:
        own = strings.table("en")["exercises"][exercise.id.replace(".", "_")]
        assert set(own) <= set(exercise.mistakes)
