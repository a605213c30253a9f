"""Exercises of chapter 15: a NumPy loop is right, a blank is not attempted, each mistake gets its own name."""

import math

import numpy as np
import pytest
from keras import ops

import attention_by_hand as abh
from attention_by_hand import strings
from attention_by_hand.exercises.chapter_15 import EXERCISES

BY_ID = {exercise.id: exercise for exercise in EXERCISES}
MISTAKES = [(exercise.id, name) for exercise in EXERCISES for name in exercise.mistakes]
REQUIRED = {
    "15.1": {"nats", "sign", "padding_counted", "sum", "perplexity"},
    "15.2": {"not_divided", "last_one_missing", "smallest_kept", "in_order_of_ids"},
    "15.3": {"occurrences", "followers", "not_divided", "conditional"},
    "15.4": {"same_token", "token_before", "sees_the_future", "last_only"},
}

# The same functions, written independently of the solutions.


def bits_loop(logits, target, weight):
    total = count = 0.0
    for b, t in np.ndindex(target.shape):
        if weight[b, t]:
            scores = [float(x) for x in logits[b, t]]
            total += math.log2(sum(math.exp(x) for x in scores)) - scores[target[b, t]] * math.log2(math.e)
            count += 1
    return total / count


def nucleus_loop(p, share):
    out = np.zeros_like(p)
    for b, row in enumerate(p):
        total = 0.0
        for w in sorted(range(len(row)), key=lambda w: -row[w]):
            out[b, w] = row[w]
            total += row[w]
            if total >= share:
                break
        out[b] /= total
    return out


def continuation_loop(counts):
    pairs = [(v, w) for v, w in np.ndindex(counts.shape) if counts[v, w]]
    return np.array([sum(second == w for _, second in pairs) / len(pairs) for w in range(len(counts))])


def looked_for_loop(tokens):
    out = np.zeros((*tokens.shape, tokens.shape[1]), bool)
    for b, t in np.ndindex(tokens.shape):
        for s in range(t):
            out[b, t, s + 1] |= tokens[b, s] == tokens[b, t]
    return out


LOOPS = {"15.1": bits_loop, "15.2": nucleus_loop, "15.3": continuation_loop, "15.4": looked_for_loop}


def in_numpy(function):
    """The function on tensors whose loops see NumPy arrays; numbers stay as they are."""

    def run(*inputs):
        arrays = [x if isinstance(x, float) else abh.backend.to_numpy(x) for x in inputs]
        return ops.convert_to_tensor(np.asarray(function(*arrays), "float32"))

    return run


def test_there_are_two_to_four_exercises():
    assert [exercise.id for exercise in EXERCISES] == ["15.1", "15.2", "15.3", "15.4"]


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


@pytest.mark.parametrize("seed", range(10))
def test_inputs_tell_the_mistakes_apart(seed):
    logits, target, weight = BY_ID["15.1"].inputs(np.random.default_rng(seed))
    assert len({*logits.shape}) == 3 and len(set(weight.sum(axis=1))) == len(weight) and target.max() < 5
    p, share = BY_ID["15.2"].inputs(np.random.default_rng(seed))
    assert p.sum(axis=1) == pytest.approx(np.ones(len(p)), abs=1e-5) and 0 < share < 1
    kept = (nucleus_loop(p, share) > 0).sum(axis=1)
    assert len(set(kept)) > 1 and kept.min() > 1  # another number of tokens in some rows
    (counts,) = BY_ID["15.3"].inputs(np.random.default_rng(seed))
    assert (counts.sum(axis=0) > 0).all()
    (tokens,) = BY_ID["15.4"].inputs(np.random.default_rng(seed))
    assert tokens.shape[0] != tokens.shape[1]


def test_every_sentence_of_the_chapter_belongs_to_a_mistake():
    for exercise in EXERCISES:
        own = strings.table("en")["exercises"][exercise.id.replace(".", "_")]
        assert set(own) <= set(exercise.mistakes)
