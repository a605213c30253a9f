"""Chapter 07's exercises: right answers pass, blanks are not attempted, wrong ones are named."""

from pathlib import Path

import keras
import nbformat
import numpy as np
import pytest
from keras import ops

import attention_by_hand as abh
from attention_by_hand import masks, strings
from attention_by_hand.exercises.chapter_07 import EXERCISES

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "solutions" / "07_masks.ipynb"
BY_ID = {exercise.id: exercise for exercise in EXERCISES}
MISTAKES = [(exercise.id, name) for exercise in EXERCISES for name in exercise.mistakes]

# Written here, independently of the solutions, as NumPy loops.


def causal_loop(query_length, key_length):
    return np.array([[j <= i for j in range(key_length)] for i in range(query_length)])


def lengths_loop(lengths, steps):
    return np.array([[t < int(n) for t in range(steps)] for n in lengths])


def weights_loop(scores, real):
    out = np.zeros(scores.shape)
    for b, i in np.ndindex(*scores.shape[:2]):
        seen = [j for j in range(i + 1) if real[b, j]]
        for j in seen:
            out[b, i, j] = np.exp(scores[b, i, j]) / sum(np.exp(scores[b, i, s]) for s in seen)
    return out


def leak_loop(layer, x):
    changed = x.copy()
    changed[:, -1] += 1
    before, after = (abh.backend.to_numpy(layer(ops.convert_to_tensor(a))) for a in (x, changed))
    return max(abs(after[b, t, d] - before[b, t, d]) for b, t, d in np.ndindex(*before.shape) if t < x.shape[1] - 1)


LOOPS = {"7.1": causal_loop, "7.2": lengths_loop, "7.3": weights_loop, "7.4": leak_loop}


def in_numpy(function):
    """The function on tensors whose loops see NumPy arrays; numbers and layers are handed on."""

    def run(*arguments):
        arrays = [abh.backend.to_numpy(x) if keras.ops.is_tensor(x) else x for x in arguments]
        return ops.convert_to_tensor(np.asarray(function(*arrays), "float32"))

    return run


def test_there_are_four_exercises():
    assert [e.id for e in EXERCISES] == list(LOOPS)


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_a_loop_written_independently_is_right(exercise_id):
    assert abh.check(exercise_id, in_numpy(LOOPS[exercise_id])).status == "right"


def test_the_ready_made_masks_are_right():
    assert abh.check("7.1", lambda query_length, key_length: masks.causal(query_length, key_length)[0])
    assert abh.check("7.2", masks.from_lengths)

    def weights(scores, real):
        both = masks.combine(masks.causal(scores.shape[1]), ops.expand_dims(real, 1))
        return masks.masked_softmax(scores, both)

    assert abh.check("7.3", weights)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_a_blank_is_not_attempted(exercise):
    assert abh.check(exercise.id).status == "not attempted"
    assert abh.check(exercise.id, lambda *arguments: ...).status == "not attempted"
    assert abh.check(exercise.id, lambda *arguments: None).status == "not attempted"


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_at_least_five_mistakes_are_known(exercise):
    assert len(exercise.mistakes) >= 5


@pytest.mark.parametrize(("exercise_id", "name"), MISTAKES)
def test_each_planted_mistake_is_called_by_its_name(exercise_id, name):
    exercise = BY_ID[exercise_id]
    for _ in range(5):  # inputs are drawn afresh: luck must not decide
        result = abh.check(exercise_id, exercise.mistakes[name])
        assert (result.status, result.mistake) == ("not yet", name)
    assert strings.text("checks.not_yet", id=exercise_id, mistake=exercise.sentence(name)) == result.text


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_a_function_that_raises_says_what_it_raised(exercise_id):
    result = abh.check(exercise_id, lambda *arguments: 1 / 0)
    assert result.mistake == "raised"
    assert "ZeroDivisionError" in result.text


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_random_numbers_are_no_known_mistake(exercise_id):
    def random(*arguments):
        shape = BY_ID[exercise_id].solution(*arguments).shape
        return np.random.default_rng(0).normal(50.0, 10.0, size=tuple(shape))

    assert abh.check(exercise_id, random).mistake == "other"


@pytest.mark.parametrize("exercise_id", ["7.1", "7.2"])
def test_booleans_that_fit_no_mistake_are_told_where_they_differ(exercise_id):
    def checkered(*arguments):
        right = abh.backend.to_numpy(BY_ID[exercise_id].solution(*arguments))
        return right ^ (np.indices(right.shape).sum(axis=0) % 2 == 0)

    assert abh.check(exercise_id, checkered).mistake == "other"


def test_inputs_have_sizes_that_all_differ():
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert len(set(BY_ID["7.1"].inputs(rng))) == 2
        lengths, steps = BY_ID["7.2"].inputs(rng)
        assert len(set(lengths)) == len(lengths) != steps
        scores, real = BY_ID["7.3"].inputs(rng)
        assert scores.shape[0] != scores.shape[1] and real.shape == scores.shape[:2]
        layer, x = BY_ID["7.4"].inputs(rng)
        assert len(set(x.shape)) == 3 and tuple(layer(ops.convert_to_tensor(x)).shape) == x.shape


def test_the_masked_softmax_is_tried_on_a_row_without_a_key():
    _, real = BY_ID["7.3"].inputs(np.random.default_rng(0))
    assert not real[0, 0]


def test_the_solutions_notebook_solves_every_exercise():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    space, results = {"np": np, "ops": ops}, {}

    class Recorder:
        @staticmethod
        def check(exercise_id, answer=...):
            results[exercise_id] = abh.check(exercise_id, answer)

    space["abh"] = Recorder
    for cell in notebook.cells:
        if cell.cell_type == "code" and "abh.check(" in cell.source:
            exec(cell.source, space)
    assert {k: str(v.status) for k, v in results.items()} == {e.id: "right" for e in EXERCISES}
