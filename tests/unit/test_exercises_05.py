"""Chapter 05's exercises: right answers pass, blanks are not attempted, wrong ones are named."""

import numpy as np
import pytest
from keras import ops

import attention_by_hand as abh
from attention_by_hand import strings
from attention_by_hand.exercises.chapter_05 import EXERCISES
from attention_by_hand.exercises.framework import Function

BY_ID = {exercise.id: exercise for exercise in EXERCISES}
FUNCTIONS = [exercise.id for exercise in EXERCISES if isinstance(exercise, Function)]
MISTAKES = [(exercise.id, name) for exercise in EXERCISES for name in exercise.mistakes]

# Written here, independently of the solutions: NumPy loops over single numbers and rows.


def scores_loop(query, key):
    out = np.zeros((*query.shape[:2], key.shape[1]))
    for b, t, s in np.ndindex(out.shape):
        out[b, t, s] = sum(query[b, t, d] * key[b, s, d] for d in range(query.shape[2])) / np.sqrt(query.shape[2])
    return out


def attend_loop(query, value, key, mask=None):
    scores = scores_loop(query, key)
    out = np.zeros((*query.shape[:2], value.shape[2]))
    for b, t in np.ndindex(query.shape[:2]):
        seen = [s for s in range(key.shape[1]) if mask is None or mask[b, s]]
        total = sum(np.exp(scores[b, t, s]) for s in seen)
        for s in seen:
            out[b, t] += np.exp(scores[b, t, s]) / total * value[b, s]
    return out


def project_loop(query, items, key_kernel, value_kernel, mask):
    key, value = (np.stack([rows @ kernel for rows in items]) for kernel in (key_kernel, value_kernel))
    return attend_loop(query, value, key, mask)


LOOPS = {"5.1": scores_loop, "5.2": attend_loop, "5.3": project_loop}


def in_numpy(function):
    """The function on tensors whose loops see NumPy arrays."""
    return lambda *tensors: ops.convert_to_tensor(
        np.asarray(function(*(abh.backend.to_numpy(x).astype("float64") for x in tensors)), "float32")
    )


def test_there_are_four_exercises():
    assert [exercise.id for exercise in EXERCISES] == ["5.1", "5.2", "5.3", "5.4"]


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_a_loop_written_independently_is_right(exercise_id):
    assert abh.check(exercise_id, in_numpy(LOOPS[exercise_id])).status == "right"


def test_the_second_softmax_by_hand_is_right():
    # e^0.1 = 1.10517, e^0.2 = 1.22140, e^0.3 = 1.34986, e^0.4 = 1.49182; sum 5.16826
    assert abh.check("5.4", 1.49182 / 5.16826).status == "right"
    assert abh.check("5.4", 0.289).status == "right"


@pytest.mark.parametrize("exercise_id", BY_ID)
def test_a_blank_is_not_attempted(exercise_id):
    assert abh.check(exercise_id).status == "not attempted"
    assert abh.check(exercise_id, None).status == "not attempted"
    if exercise_id in FUNCTIONS:
        assert abh.check(exercise_id, lambda *arguments: None).status == "not attempted"


@pytest.mark.parametrize("exercise_id", BY_ID)
def test_at_least_five_mistakes_are_known(exercise_id):
    assert len(BY_ID[exercise_id].mistakes) >= 5


def test_the_mistakes_of_the_course_are_among_the_planted_ones():
    wanted = {"missing_scale", "double_scale", "softmax_axis", "query_key_swapped", "value_key_swapped"}
    wanted |= {"second_softmax", "mask_inverted", "mask_after_softmax"}
    assert wanted <= {name for _, name in MISTAKES}


@pytest.mark.parametrize("repetition", range(3))
@pytest.mark.parametrize(("exercise_id", "name"), MISTAKES)
def test_each_planted_mistake_is_called_by_its_name(exercise_id, name, repetition):
    exercise = BY_ID[exercise_id]
    result = abh.check(exercise_id, exercise.mistakes[name])
    assert (result.status, result.mistake) == ("not yet", name)
    assert strings.text("checks.not_yet", id=exercise_id, mistake=exercise.sentence(name)) == result.text


def test_mistakes_written_by_a_student_are_recognised():
    def swapped_in_call(query, value, key):  # Q, K, V order where Keras wants query, value, key
        return in_numpy(attend_loop)(query, key, value)

    def by_width(query, key):
        return in_numpy(scores_loop)(query, key) / query.shape[-1] ** 0.5

    def swapped(query, key):
        return in_numpy(scores_loop)(key, query)

    assert abh.check("5.2", swapped_in_call).mistake == "value_key_swapped"
    assert abh.check("5.1", by_width).mistake == "double_scale"
    assert abh.check("5.1", swapped).mistake == "query_key_swapped"


@pytest.mark.parametrize("exercise_id", FUNCTIONS)
def test_garbage_is_no_known_mistake(exercise_id):
    def random(*tensors):
        shape = BY_ID[exercise_id].solution(*tensors).shape
        return np.random.default_rng(0).normal(50.0, 10.0, size=tuple(shape))

    assert abh.check(exercise_id, random).mistake == "other"


@pytest.mark.parametrize("exercise_id", FUNCTIONS)
def test_a_function_that_raises_says_what_it_raised(exercise_id):
    result = abh.check(exercise_id, lambda *arguments: 1 / 0)
    assert result.mistake == "raised"
    assert "ZeroDivisionError" in result.text


@pytest.mark.parametrize("answer", ["abc", 12345.6, (1, 2), {"a": 1}, object(), True])
def test_a_garbage_value_is_no_known_mistake(answer):
    assert abh.check("5.4", answer).mistake == "other"


def test_inputs_have_sizes_that_all_differ():
    rng = np.random.default_rng(0)
    for _ in range(20):
        query, key = BY_ID["5.1"].inputs(rng)
        assert len({*query.shape, key.shape[1]}) == 4
        query, value, key = BY_ID["5.2"].inputs(rng)
        assert len({*query.shape, key.shape[1]}) == 4
        assert value.shape == key.shape
        query, items, key_kernel, value_kernel, mask = BY_ID["5.3"].inputs(rng)
        assert len({*query.shape, *items.shape[1:]}) == 5
        assert key_kernel.shape == value_kernel.shape == (items.shape[2], query.shape[2])
        assert mask.any(axis=1).all()
        assert not mask.all(axis=1).any()


def test_every_sentence_of_the_chapter_belongs_to_a_mistake():
    sections = strings.table("en")["exercises"]
    for exercise in EXERCISES:
        assert set(sections[exercise.id.replace(".", "_")]) <= set(exercise.mistakes)
