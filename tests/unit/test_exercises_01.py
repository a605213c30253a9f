"""Exercises of chapter 01: a loop is right, a blank is not attempted, each mistake gets its own name."""

import numpy as np
import pytest
from keras import ops

import attention_by_hand as abh
from attention_by_hand import strings
from attention_by_hand.exercises.chapter_01 import EXERCISES

BY_ID = {exercise.id: exercise for exercise in EXERCISES}
MISTAKES = [(exercise.id, name) for exercise in EXERCISES for name in exercise.mistakes]
REQUIRED = {
    "1.1": {"gate_reversed", "gates_exchanged", "reset_on_everything", "no_reset", "reset_on_state"},
    "1.2": {"not_shifted", "shifted_left", "start_overwrites", "rolled", "one_too_long"},
    "1.3": {"padding_counted", "divided_by_all", "mean_of_means", "no_softmax", "wrong_axis"},
    "1.4": {"end_kept", "never_stops", "start_fed_again", "state_forgotten", "least_probable"},
}

# The same functions, written independently of the solutions: number by number.


def step_loop(inputs, recurrent, state):
    new, width = np.zeros(state.shape), state.shape[1]
    for b, u in np.ndindex(state.shape):
        z, r = (1 / (1 + np.exp(-inputs[b, p * width + u] - recurrent[b, p * width + u])) for p in (0, 1))
        n = np.tanh(inputs[b, 2 * width + u] + r * recurrent[b, 2 * width + u])
        new[b, u] = z * state[b, u] + (1 - z) * n
    return new


def shift_loop(targets):
    fed = np.zeros_like(targets)
    for b, t in np.ndindex(targets.shape):
        fed[b, t] = targets[b, t - 1] if t else 1
    return fed


def loss_loop(logits, targets):
    losses = []
    for b, t in np.argwhere(targets != 0):
        e = np.exp(logits[b, t].astype("float64"))
        losses.append(-np.log(e[targets[b, t]] / e.sum()))
    return np.mean(losses)


def greedy_loop(step, state, limit):
    said = [1]
    for _ in range(limit):
        scores, state = step(said[-1], state)
        best = max(range(len(scores)), key=lambda word: scores[word])
        if best == 2:
            break
        said.append(best)
    return said[1:]


LOOPS = {"1.1": step_loop, "1.2": shift_loop, "1.3": loss_loop, "1.4": greedy_loop}


def in_numpy(function):
    """The function on tensors whose loop sees NumPy arrays; functions and numbers stay as they are."""

    def run(*inputs):
        result = function(*(x if callable(x) or isinstance(x, int) else abh.backend.to_numpy(x) for x in inputs))
        if isinstance(result, list):
            return result
        result = np.asarray(result)
        return ops.convert_to_tensor(result.astype("float32" if result.dtype.kind == "f" else "int32"))

    return run


def test_there_are_two_to_four_exercises():
    assert [exercise.id for exercise in EXERCISES] == ["1.1", "1.2", "1.3", "1.4"]


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
    for _ in range(8):  # inputs are drawn anew each time
        result = abh.check(exercise_id, BY_ID[exercise_id].mistakes[name])
        assert (result.status, result.mistake) == ("not yet", name)
        assert BY_ID[exercise_id].sentence(name) in result.text


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_no_planted_mistake_is_ever_right_or_equal_to_another(exercise_id):
    exercise = BY_ID[exercise_id]
    for seed in range(20):
        inputs = exercise.inputs(np.random.default_rng(seed))
        answers = [exercise._run(function, inputs) for function in (exercise.solution, *exercise.mistakes.values())]
        for i, a in enumerate(answers):
            assert not any(exercise._same(a, b) for b in answers[i + 1 :]), (seed, i)


@pytest.mark.parametrize("exercise_id", ["1.1", "1.2", "1.3"])
def test_garbage_is_not_mistaken_for_a_known_mistake(exercise_id):
    garbage = lambda *inputs: 0.3 * LOOPS[exercise_id](*inputs) ** 2 + 3 + LOOPS[exercise_id](*inputs)  # noqa: E731
    result = abh.check(exercise_id, in_numpy(garbage))
    assert (result.status, result.mistake) == ("not yet", "other")


def test_a_wrong_sentence_is_not_mistaken_for_a_known_mistake():
    result = abh.check("1.4", lambda *inputs: [word + 1 for word in greedy_loop(*inputs)])
    assert (result.status, result.mistake) == ("not yet", "other")
    assert abh.check("1.4", lambda *inputs: greedy_loop(*inputs)[:-1]).mistake == "parts"


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_an_answer_that_breaks_or_is_no_number_is_said_to(exercise_id):
    def breaks(*inputs):
        raise ZeroDivisionError("no luck")

    assert abh.check(exercise_id, breaks).mistake == "raised"
    assert abh.check(exercise_id, lambda *inputs: "words").mistake == "not_a_tensor"


@pytest.mark.parametrize("seed", range(10))
def test_no_sizes_of_one_exercise_are_equal_by_accident(seed):
    rng = np.random.default_rng(seed)
    inputs, _, state = BY_ID["1.1"].inputs(rng)
    assert len({*inputs.shape, *state.shape}) == 3
    logits, targets = BY_ID["1.3"].inputs(rng)
    assert len(set(logits.shape)) == 3
    assert (targets == 0).any() and (targets[:, -1] == 2).sum() == 1


def test_every_sentence_of_the_chapter_belongs_to_a_mistake():
    for exercise in EXERCISES:
        own = strings.table("en")["exercises"][exercise.id.replace(".", "_")]
        assert set(own) <= set(exercise.mistakes)
