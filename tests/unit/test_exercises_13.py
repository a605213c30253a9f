"""Exercises of chapter 13: a NumPy loop is right, a blank is not attempted, each mistake gets its own name."""

import numpy as np
import pytest
from keras import ops

import attention_by_hand as abh
from attention_by_hand import layers, strings
from attention_by_hand.exercises.chapter_13 import EXERCISES

BY_ID = {exercise.id: exercise for exercise in EXERCISES}
MISTAKES = [(exercise.id, name) for exercise in EXERCISES for name in exercise.mistakes]
REQUIRED = {
    "13.1": {"over_batch", "over_steps", "by_variance", "unbiased"},
    "13.2": {"exchanged", "skip_of_normed", "no_skip", "norm_of_function"},
    "13.3": {"no_biases", "no_norms", "one_head"},
    "13.4": {"over_features", "one_number", "squared", "absolute"},
}

# The same functions, written independently of the solutions.


def standard_loop(x):
    out = np.zeros_like(x)
    for place in np.ndindex(x.shape[:-1]):
        out[place] = (x[place] - np.mean(x[place])) / np.sqrt(np.var(x[place]) + 1e-6)
    return out


def norm_loop(x, gamma, beta):
    return standard_loop(x) * gamma + beta


def order_loop(x, first, second):
    def mlp(rows):
        out = np.zeros_like(rows)
        for b, t in np.ndindex(rows.shape[:2]):
            hidden = [max(0.0, float(rows[b, t] @ column)) for column in first.T]
            out[b, t] = sum(h * row for h, row in zip(hidden, second, strict=True))
        return out

    return x + mlp(standard_loop(x)), standard_loop(x + mlp(x))


def rank_loop(x):
    out = []
    for rows in x:
        rest = rows - np.stack([rows.mean(axis=0)] * len(rows))
        out.append(np.linalg.norm(rest) / np.linalg.norm(rows))
    return np.array(out)


def count_layer(width, heads, key_dim, mlp):
    """The weights that our block has when it is built."""
    block = layers.TransformerEncoderBlock(heads, mlp, key_dim=key_dim)
    block.build((None, None, width))
    return block.count_params()


LOOPS = {"13.1": norm_loop, "13.2": order_loop, "13.3": count_layer, "13.4": rank_loop}


def in_numpy(function):
    """The function on tensors whose loops see NumPy arrays; whole numbers stay as they are."""

    def run(*inputs):
        arrays = [x if isinstance(x, int) else abh.backend.to_numpy(x) for x in inputs]
        found = function(*arrays)
        if isinstance(found, tuple):
            return tuple(ops.convert_to_tensor(np.asarray(x, "float32")) for x in found)
        return ops.convert_to_tensor(np.asarray(found, "float32"))

    return run


def test_there_are_two_to_four_exercises():
    assert [exercise.id for exercise in EXERCISES] == ["13.1", "13.2", "13.3", "13.4"]


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_what_is_written_independently_is_right(exercise_id):
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


@pytest.mark.parametrize("exercise_id", ["13.1", "13.3", "13.4"])
def test_garbage_is_not_mistaken_for_a_known_mistake(exercise_id):
    right = LOOPS[exercise_id]
    squared = abh.check(exercise_id, in_numpy(lambda *inputs: right(*inputs) ** 2 + 0.3 * right(*inputs) + 3))
    assert (squared.status, squared.mistake) == ("not yet", "other")

    def breaks(*inputs):
        raise ZeroDivisionError("no luck")

    assert abh.check(exercise_id, breaks).mistake == "raised"
    assert abh.check(exercise_id, lambda *inputs: "words").mistake == "not_a_tensor"


def test_one_order_alone_is_told_that_two_are_asked_for():
    assert abh.check("13.2", in_numpy(lambda *inputs: order_loop(*inputs)[0])).status == "not yet"


@pytest.mark.parametrize("seed", range(10))
def test_no_sizes_of_one_exercise_are_equal_by_accident(seed):
    rng = np.random.default_rng(seed)
    x, gamma, beta = BY_ID["13.1"].inputs(rng)
    assert len(set(x.shape)) == 3 and gamma.shape == beta.shape == x.shape[-1:]
    x, first, second = BY_ID["13.2"].inputs(rng)
    assert len({*x.shape, *first.shape}) == 4 and first.shape == second.shape[::-1]
    assert len(set(BY_ID["13.3"].inputs(rng))) == 4
    (x,) = BY_ID["13.4"].inputs(rng)
    assert len(set(x.shape)) == 3


def test_every_sentence_of_the_chapter_belongs_to_a_mistake():
    for exercise in EXERCISES:
        own = strings.table("en")["exercises"][exercise.id.replace(".", "_")]
        assert set(own) <= set(exercise.mistakes)
