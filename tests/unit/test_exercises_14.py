"""Exercises of chapter 14: a NumPy loop is right, a blank is not attempted, each mistake gets its own name."""

import math

import numpy as np
import pytest
from keras import ops

import attention_by_hand as abh
from attention_by_hand import strings
from attention_by_hand.exercises.chapter_14 import EXERCISES

BY_ID = {exercise.id: exercise for exercise in EXERCISES}
MISTAKES = [(exercise.id, name) for exercise in EXERCISES for name in exercise.mistakes]
REQUIRED = {
    "14.1": {"target_mask", "rows_masked", "no_mask", "causal_too"},
    "14.2": {"empty_seen", "itself_unseen", "appended", "old_cache"},
    "14.3": {"swapped", "padded", "one_block"},
    "14.4": {"first_block", "row_late", "padding_chosen", "one_head"},
}

# The same functions, written independently of the solutions.


def look_up(query, keys, values):
    """Weighted mean of values (n, Dv) by the products of a query (Dk,) with keys (n, Dk)."""
    powers = [math.exp(sum(a * b for a, b in zip(query, key, strict=True)) / math.sqrt(len(query))) for key in keys]
    return sum(power * value for power, value in zip(powers, values, strict=True)) / sum(powers)


def cross_loop(x, memory, target_mask, source_mask, w_q, w_k, w_v):
    out = np.zeros((*x.shape[:2], w_v.shape[1]))
    for b in range(len(x)):
        words = memory[b][source_mask[b].astype(bool)]
        for t in range(x.shape[1]):
            out[b, t] = look_up(x[b, t] @ w_q, words @ w_k, words @ w_v)
    return out


def step_loop(q, k, v, keys, values, position):
    keys, values, out = keys.copy(), values.copy(), np.zeros_like(q)
    for b in range(len(q)):
        keys[b, position], values[b, position] = k[b], v[b]
        out[b] = look_up(q[b], keys[b, : position + 1], values[b, : position + 1])
    return out, keys, values


def count_loop(length, blocks):
    return blocks * length, sum(blocks * (t + 1) for t in range(length))


def links_loop(weights, target, source):
    heads = range(weights.shape[1])
    rows = [[sum(weights[-1][h][t][s] for h in heads) for s in range(source)] for t in range(target)]
    return np.array([row.index(max(row)) for row in rows])


LOOPS = {"14.1": cross_loop, "14.2": step_loop, "14.3": count_loop, "14.4": links_loop}


def in_numpy(function):
    """The function on tensors whose loops see NumPy arrays; whole numbers stay as they are."""

    def run(*inputs):
        found = function(*(x if isinstance(x, int) else abh.backend.to_numpy(x) for x in inputs))
        tensor = lambda x: ops.convert_to_tensor(np.asarray(x, "float32"))  # noqa: E731
        return tuple(tensor(x) for x in found) if isinstance(found, tuple) else tensor(found)

    return run


def test_there_are_two_to_four_exercises():
    assert [exercise.id for exercise in EXERCISES] == ["14.1", "14.2", "14.3", "14.4"]


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
    def twisted(*inputs):
        found = LOOPS[exercise_id](*inputs)
        twist = lambda x: x**2 + 0.3 * x + 3  # noqa: E731
        return tuple(twist(x) for x in found) if isinstance(found, tuple) else twist(found)

    result = abh.check(exercise_id, in_numpy(twisted))
    assert (result.status, result.mistake) == ("not yet", "other")

    def breaks(*inputs):
        raise ZeroDivisionError("no luck")

    assert abh.check(exercise_id, breaks).mistake == "raised"
    assert abh.check(exercise_id, lambda *inputs: "words").mistake == "not_a_tensor"


@pytest.mark.parametrize("seed", range(10))
def test_the_masks_of_cross_attention_differ_and_the_cache_has_room(seed):
    x, memory, target_mask, source_mask, *kernels = BY_ID["14.1"].inputs(np.random.default_rng(seed))
    assert x.shape[1] == memory.shape[1] and len({*x.shape, memory.shape[2], *(k.shape[1] for k in kernels)}) >= 6
    assert (target_mask.sum(axis=1) != source_mask.sum(axis=1)).all()
    *_, keys, values, position = BY_ID["14.2"].inputs(np.random.default_rng(seed))
    assert 0 < position < keys.shape[1] - 1
    assert (keys[:, position:] == 0).all() and (values[:, :position] != 0).all()


def test_every_sentence_of_the_chapter_belongs_to_a_mistake():
    for exercise in EXERCISES:
        own = strings.table("en")["exercises"][exercise.id.replace(".", "_")]
        assert set(own) <= set(exercise.mistakes)
