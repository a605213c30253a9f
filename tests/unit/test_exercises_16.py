"""Exercises of chapter 16: a NumPy loop is right, a blank is not attempted, each mistake gets its own name."""

import numpy as np
import pytest
from keras import ops

import attention_by_hand as abh
from attention_by_hand import strings
from attention_by_hand.exercises.chapter_16 import EXERCISES, PIECES
from attention_by_hand.exercises.framework import Function

BY_ID = {exercise.id: exercise for exercise in EXERCISES}
MISTAKES = [(exercise.id, name) for exercise in EXERCISES for name in exercise.mistakes]
REQUIRED = {
    "16.1": {"shortest", "no_mark", "known_part_kept", "first_only"},
    "16.2": {"not_transposed", "heads_first", "interleaved", "as_output"},
    "16.3": {"padding_averaged", "divided_by_length", "not_divided", "first_token"},
    "16.4": {"next", "first_as_key", "special_tokens_kept", "heads_averaged"},
}

# The same functions, written independently of the solutions.


def pieces_loop(word, number):
    found, rest, mark = [], word, ""
    while rest:
        known = [rest[:n] for n in range(1, len(rest) + 1) if mark + rest[:n] in number]
        if not known:
            return [number["[UNK]"]]
        found.append(number[mark + known[-1]])
        rest, mark = rest[len(known[-1]) :], "##"
    return found


def kernel_loop(weight, heads):
    size = len(weight) // heads
    out = np.zeros((weight.shape[1], heads, size))
    for row, column in np.ndindex(weight.shape):
        out[column, row // size, row % size] = weight[row, column]
    return out


def mean_loop(hidden, mask):
    return np.array(
        [
            np.mean([x for x, real in zip(text, row, strict=True) if real], axis=0)
            for text, row in zip(hidden, mask, strict=True)
        ]
    )


def score_loop(weights):
    T = weights.shape[1]
    return np.array([np.mean([A[t, t - 1] for t in range(2, T - 1)]) for A in weights])


LOOPS = {"16.2": kernel_loop, "16.3": mean_loop, "16.4": score_loop}


def in_numpy(function):
    """The function on tensors whose loops see NumPy arrays; whole numbers stay as they are."""

    def run(*inputs):
        arrays = [x if isinstance(x, int) else abh.backend.to_numpy(x) for x in inputs]
        return ops.convert_to_tensor(np.asarray(function(*arrays), "float32"))

    return run


def test_there_are_two_to_four_exercises():
    assert [exercise.id for exercise in EXERCISES] == ["16.1", "16.2", "16.3", "16.4"]


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_a_loop_written_independently_is_right(exercise_id):
    assert abh.check(exercise_id, in_numpy(LOOPS[exercise_id]))


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_pieces_by_a_loop_are_right_in_a_list_or_an_array(kind):
    assert abh.check("16.1", lambda word, number: kind(pieces_loop(word, number)))


@pytest.mark.parametrize("exercise_id", BY_ID)
def test_a_blank_is_not_attempted(exercise_id):
    def blank(*inputs): ...

    for answer in (..., blank):
        assert abh.check(exercise_id, answer).status == "not attempted"


def test_every_mistake_that_students_make_has_a_name():
    for exercise_id, names in REQUIRED.items():
        assert names <= set(BY_ID[exercise_id].mistakes)


@pytest.mark.parametrize(("exercise_id", "name"), MISTAKES)
def test_each_mistake_is_recognised_by_its_name_and_sentence(exercise_id, name):
    for _ in range(3):  # fresh inputs every time
        result = Function.check(BY_ID[exercise_id], BY_ID[exercise_id].mistakes[name])
        assert (result.status, result.mistake) == ("not yet", name)
        assert BY_ID[exercise_id].sentence(name) in result.text


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_garbage_is_not_mistaken_for_a_known_mistake(exercise_id):
    right = LOOPS[exercise_id]
    squared = abh.check(exercise_id, in_numpy(lambda *inputs: right(*inputs) ** 2 + 0.3 * right(*inputs) + 3))
    assert (squared.status, squared.mistake) == ("not yet", "other")


def test_an_answer_that_breaks_or_is_none_is_told_so():
    def breaks(*inputs):
        raise ZeroDivisionError("no luck")

    for exercise_id in BY_ID:
        assert abh.check(exercise_id, breaks).mistake == "raised"
    assert abh.check("16.1", lambda word, number: "words").mistake == "not_a_tensor"
    assert abh.check("16.1", lambda word, number: ["play", "##ing"]).mistake == "not_a_tensor"
    assert abh.check("16.1", 5).mistake == "not_a_function"


def test_an_answer_cannot_change_the_vocabulary_of_the_check():
    def emptying(word, number):
        found = pieces_loop(word, number)
        number.clear()
        return found

    assert abh.check("16.1", emptying)


@pytest.mark.parametrize("seed", range(5))
def test_inputs_hold_the_cases_that_matter(seed):
    words, number = PIECES.inputs(np.random.default_rng(seed))
    cut = [pieces_loop(word, number) for word in words.split()]
    assert {1, 2, 4} <= {len(pieces) for pieces in cut} and sum(x == [number["[UNK]"]] for x in cut) >= 2
    weight, heads = BY_ID["16.2"].inputs(np.random.default_rng(seed))
    assert weight.shape[0] == weight.shape[1] and heads not in (1, weight.shape[0] // heads)
    hidden, mask = BY_ID["16.3"].inputs(np.random.default_rng(seed))
    assert len({*hidden.shape}) == 3 and len(set(mask.sum(axis=1))) == len(mask)
    assert np.abs(hidden[~mask]).min() > 0
    (weights,) = BY_ID["16.4"].inputs(np.random.default_rng(seed))
    np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)


def test_every_sentence_of_the_chapter_belongs_to_a_mistake():
    for exercise in EXERCISES:
        own = strings.table("en")["exercises"][exercise.id.replace(".", "_")]
        assert set(own) <= set(exercise.mistakes)
