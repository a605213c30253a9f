"""Chapter 12's exercises: right answers pass, blanks are not attempted, wrong ones are named."""

import numpy as np
import pytest
from keras import ops

import attention_by_hand as abh
from attention_by_hand import strings
from attention_by_hand.exercises.chapter_12 import EXERCISES
from attention_by_hand.exercises.framework import Function

BY_ID = {exercise.id: exercise for exercise in EXERCISES}
FUNCTIONS = [exercise.id for exercise in EXERCISES if isinstance(exercise, Function)]
MISTAKES = [(exercise.id, name) for exercise in EXERCISES for name in exercise.mistakes]

# Written here, independently of the solutions: NumPy loops over cells.


def scores_loop(grid, query_kernel, key_kernel):
    batch, height, width, _ = grid.shape
    out = np.zeros((batch, height * width, height * width))
    for b, i, j, k, m in np.ndindex(batch, height, width, height, width):
        out[b, i * width + j, k * width + m] = (grid[b, i, j] @ query_kernel) @ (grid[b, k, m] @ key_kernel)
    return out


def block_loop(grid, query_kernel, key_kernel, value_kernel, output_kernel, gamma):
    width, out = grid.shape[2], grid.copy()
    scores = scores_loop(grid, query_kernel, key_kernel)
    for b, i, j in np.ndindex(grid.shape[:3]):
        weights = np.exp(scores[b, i * width + j])
        weights = (weights / weights.sum()).reshape(grid.shape[1:3])
        y = sum(weights[k, m] * grid[b, k, m] @ value_kernel for k, m in np.ndindex(weights.shape))
        out[b, i, j] += gamma * y @ output_kernel
    return out


LOOPS = {"12.1": scores_loop, "12.2": block_loop}


def in_numpy(function):
    """The function on tensors whose loops see NumPy arrays."""
    return lambda *tensors: ops.convert_to_tensor(
        np.asarray(function(*(abh.backend.to_numpy(x).astype("float64") for x in tensors)), "float32")
    )


def test_there_are_four_exercises():
    assert [exercise.id for exercise in EXERCISES] == ["12.1", "12.2", "12.3", "12.4"]


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_a_loop_written_independently_is_right(exercise_id):
    assert abh.check(exercise_id, in_numpy(LOOPS[exercise_id])).status == "right"


def test_the_weights_of_the_block_itself_are_counted():
    block = abh.layers.SpatialSelfAttention()
    block.build((2, 3, 5, 64))
    assert abh.check("12.3", block.count_params()).status == "right"


def test_the_map_of_64_by_64_cells_has_16777216_weights():
    assert abh.check("12.4", 16777216).status == "right"


@pytest.mark.parametrize("exercise_id", BY_ID)
def test_a_blank_is_not_attempted(exercise_id):
    assert abh.check(exercise_id).status == "not attempted"
    assert abh.check(exercise_id, None).status == "not attempted"
    if exercise_id in FUNCTIONS:
        assert abh.check(exercise_id, lambda *arguments: None).status == "not attempted"


@pytest.mark.parametrize("exercise_id", BY_ID)
def test_at_least_five_mistakes_are_known(exercise_id):
    assert len(BY_ID[exercise_id].mistakes) >= 5


@pytest.mark.parametrize("repetition", range(3))
@pytest.mark.parametrize(("exercise_id", "name"), MISTAKES)
def test_each_planted_mistake_is_called_by_its_name(exercise_id, name, repetition):
    exercise = BY_ID[exercise_id]
    result = abh.check(exercise_id, exercise.mistakes[name])
    assert (result.status, result.mistake) == ("not yet", name)
    assert strings.text("checks.not_yet", id=exercise_id, mistake=exercise.sentence(name)) == result.text


@pytest.mark.parametrize("exercise_id", FUNCTIONS)
def test_garbage_is_no_known_mistake(exercise_id):
    def random(*tensors):
        shape = BY_ID[exercise_id].solution(*tensors).shape
        return np.random.default_rng(0).normal(50.0, 10.0, size=tuple(shape))

    assert abh.check(exercise_id, random).mistake == "other"


@pytest.mark.parametrize("exercise_id", ["12.3", "12.4"])
@pytest.mark.parametrize("answer", ["abc", 12345.6, (1, 2), {"a": 1}, object(), True])
def test_a_garbage_value_is_no_known_mistake(exercise_id, answer):
    assert abh.check(exercise_id, answer).mistake == "other"


def test_inputs_have_sizes_that_all_differ():
    rng = np.random.default_rng(0)
    for _ in range(20):
        for exercise_id in FUNCTIONS:
            grid, query_kernel, *_ = BY_ID[exercise_id].inputs(rng)
            assert len({*grid.shape, query_kernel.shape[1]}) == 5


def test_every_sentence_of_the_chapter_belongs_to_a_mistake():
    sections = strings.table("en")["exercises"]
    for exercise in EXERCISES:
        assert set(sections[exercise.id.replace(".", "_")]) <= set(exercise.mistakes)
