"""Exercises of chapter 03: a loop is right, a blank is not attempted, each mistake gets its own name."""

import numpy as np
import pytest

import attention_by_hand as abh
from attention_by_hand import strings
from attention_by_hand.exercises.chapter_03 import EXERCISES

BY_ID = {exercise.id: exercise for exercise in EXERCISES}
MISTAKES = [(exercise.id, name) for exercise in EXERCISES for name in exercise.mistakes]
REQUIRED = {
    "3.1": {"missing_softmax", "softmax_over_sentences", "no_tanh", "mean_of_keys"},
    "3.2": {"padding_chosen", "stop_token", "other_direction", "from_one"},
    "3.3": {"not_one_minus", "sure_only", "only_precision", "possible_below"},
    "3.4": {"each_its_best", "past_forgotten", "multiplied", "swapped"},
}

# The same functions, written independently of the solutions: by loops.


def look_back_loop(state, memory, w_q, w_k, v):
    weights, context = np.zeros(memory.shape[:2]), np.zeros((len(memory), memory.shape[-1]))
    for b in range(len(memory)):
        scores = [sum(v * np.tanh(w_q.T @ state[b] + w_k.T @ h)) for h in memory[b]]
        weights[b] = np.exp(scores) / np.exp(scores).sum()
        for a, h in zip(weights[b], memory[b], strict=True):
            context[b] += a * h
    return weights, context


def links_loop(weights, target, source):
    best = []
    for t in range(target):
        best.append(max(range(source), key=lambda s: weights[t, s]))
    return np.array(best)


def error_rate_loop(links, sure, possible):
    right = sum((link in sure) + (link in possible) for link in links)
    return 1 - right / (sum(1 for _ in links) + sum(1 for _ in sure))


def beam_loop(before, after):
    every = [(before[k] + after[k, w], k, w) for k in range(len(after)) for w in range(after.shape[1])]
    best = sorted(every, reverse=True)[: len(before)]
    return tuple(np.array(part) for part in ([k for _, k, _ in best], [w for _, _, w in best], [s for s, _, _ in best]))


LOOPS = {"3.1": look_back_loop, "3.2": links_loop, "3.3": error_rate_loop, "3.4": beam_loop}


def in_numpy(function):
    """The function on tensors whose loop sees NumPy arrays; numbers and sets stay as they are."""

    def run(*inputs):
        return function(*(x if isinstance(x, (int, frozenset)) else abh.backend.to_numpy(x) for x in inputs))

    return run


def test_there_are_two_to_four_exercises():
    assert [exercise.id for exercise in EXERCISES] == ["3.1", "3.2", "3.3", "3.4"]


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
        return tuple(7 * x + 3 for x in answer) if isinstance(answer, tuple) else 0.3 * answer**2 + answer + 3.2

    result = abh.check(exercise_id, in_numpy(garbage))
    assert (result.status, result.mistake) == ("not yet", "other")

    def breaks(*inputs):
        raise ZeroDivisionError("no luck")

    assert abh.check(exercise_id, breaks).mistake == "raised"
    assert abh.check(exercise_id, lambda *inputs: "words").mistake == "not_a_tensor"


@pytest.mark.parametrize("seed", range(10))
def test_no_sizes_of_one_exercise_are_equal_by_accident(seed):
    state, memory, w_q, w_k, v = BY_ID["3.1"].inputs(np.random.default_rng(seed))
    assert len({*memory.shape, state.shape[1], len(v)}) == 5 and w_q.shape[1] == w_k.shape[1] == len(v)
    weights, target, source = BY_ID["3.2"].inputs(np.random.default_rng(seed))
    assert len({*weights.shape, target, target + 1, source}) == 5 or weights.shape[1] == target + 1
    assert BY_ID["3.3"].inputs(np.random.default_rng(seed))[1] < BY_ID["3.3"].inputs(np.random.default_rng(seed))[2]
    before, after = BY_ID["3.4"].inputs(np.random.default_rng(seed))
    assert len(before) < after.shape[1] and after.max() < 0


def test_the_error_rate_that_is_asked_is_not_always_the_same():
    rates = {round(error_rate_loop(*BY_ID["3.3"].inputs(np.random.default_rng(seed))), 6) for seed in range(20)}
    assert len(rates) > 1


def test_every_sentence_of_the_chapter_belongs_to_a_mistake():
    for exercise in EXERCISES:
        own = strings.table("en")["exercises"][exercise.id.replace(".", "_")]
        assert set(own) <= set(exercise.mistakes)
