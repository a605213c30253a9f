"""Chapter 00's exercises: right answers pass, blanks are not attempted, wrong ones are named."""

import numpy as np
import pytest
from keras import ops

import attention_by_hand as abh
from attention_by_hand import strings
from attention_by_hand.exercises.chapter_00 import EXERCISES
from attention_by_hand.exercises.framework import Function, Question

BY_ID = {exercise.id: exercise for exercise in EXERCISES}
QUESTIONS = [exercise for exercise in EXERCISES if isinstance(exercise, Question)]
MISTAKES = [(exercise.id, name) for exercise in EXERCISES for name in exercise.mistakes]

# Written here, independently of the solutions: the same functions as NumPy loops.


def softmax_loop(scores):
    out = np.zeros(scores.shape)
    for index in np.ndindex(scores.shape[:-1]):
        row = np.asarray(scores[index], "float64")
        out[index] = np.exp(row - row.max()) / np.exp(row - row.max()).sum()
    return out


def scores_loop(query, key):
    out = np.zeros((*query.shape[:2], key.shape[1]))
    for b, t, s in np.ndindex(out.shape):
        out[b, t, s] = sum(query[b, t, d] * key[b, s, d] for d in range(query.shape[2]))
    return out


def cross_entropy_loop(logits, target):
    losses = [-np.log(softmax_loop(row[None].astype("float64"))[0, t]) for row, t in zip(logits, target, strict=True)]
    return sum(losses) / len(losses)


LOOPS = {"0.11": softmax_loop, "0.12": scores_loop, "0.13": cross_entropy_loop}


def in_numpy(function):
    """The function on tensors whose loops see NumPy arrays."""
    return lambda *tensors: ops.convert_to_tensor(
        np.asarray(function(*(abh.backend.to_numpy(x) for x in tensors)), "float32")
    )


def test_there_are_ten_questions_and_three_functions():
    assert [e.id for e in EXERCISES] == [f"0.{n}" for n in range(1, 14)]
    assert len(QUESTIONS) == 10


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_a_loop_written_independently_is_right(exercise_id):
    assert abh.check(exercise_id, in_numpy(LOOPS[exercise_id])).status == "right"


@pytest.mark.parametrize("exercise", QUESTIONS, ids=lambda e: e.id)
def test_the_expected_value_is_right(exercise):
    assert abh.check(exercise.id, exercise.expected).status == "right"


def test_expected_values_follow_from_a_computation():
    """Each answer again, by running what the question asks about."""
    import keras

    q, k = np.ones((2, 3, 1, 5)), np.ones((2, 1, 4, 5))
    gru, conv = keras.layers.GRU(5), keras.layers.Conv2D(32, 3)
    gru.build((None, None, 3))
    conv.build((None, 9, 9, 16))
    wide = keras.layers.Conv1D(1, 5)
    updates = sum(len(range(start, 1000, 32)) for start in [0] * 3)
    answers = {
        "0.1": tuple(softmax_loop(np.array([[0.0, np.log(3.0)]]))[0]),
        "0.2": cross_entropy_loop(np.log([[0.25, 0.3, 0.3, 0.15]]), [0]),
        "0.3": (q + k).shape,
        "0.4": np.einsum("btd,bsd->bts", np.ones((2, 3, 5)), np.ones((2, 4, 5))).shape,
        "0.6": gru.count_params(),
        "0.7": wide(np.ones((1, 28, 2), "float32")).shape[1],
        "0.8": conv.count_params(),
        "0.9": updates,
        "0.10": cross_entropy_loop(np.zeros((3, 10)), [1, 2, 3]),
    }
    for exercise_id, answer in answers.items():
        assert abh.check(exercise_id, answer).status == "right", exercise_id


def test_a_keras_gru_keeps_the_share_z_of_its_state():
    """Question 0.5 with the layer itself: gates and candidate are set through the biases alone."""
    import keras

    gru = keras.layers.GRU(1, activation="linear", recurrent_activation="linear")
    gru.build((None, None, 2))
    kernel, recurrent, bias = (np.zeros(w.shape) for w in gru.get_weights())
    bias[0] = [0.25, 1.0, 8.0]  # z, r, candidate
    gru.set_weights([kernel, recurrent, bias])
    state = gru(np.ones((1, 1, 2), "float32"), initial_state=ops.convert_to_tensor([[4.0]]))
    assert abh.check("0.5", state[0, 0]).status == "right"


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_a_blank_is_not_attempted(exercise):
    assert abh.check(exercise.id).status == "not attempted"
    assert abh.check(exercise.id, None).status == "not attempted"
    if isinstance(exercise, Function):
        assert abh.check(exercise.id, lambda *arguments: ...).status == "not attempted"


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_at_least_five_mistakes_are_known(exercise):
    assert len(exercise.mistakes) >= 5


@pytest.mark.parametrize(("exercise_id", "name"), MISTAKES)
def test_each_planted_mistake_is_called_by_its_name(exercise_id, name):
    exercise = BY_ID[exercise_id]
    result = abh.check(exercise_id, exercise.mistakes[name])
    assert (result.status, result.mistake) == ("not yet", name)
    assert strings.text("checks.not_yet", id=exercise_id, mistake=exercise.sentence(name)) == result.text


@pytest.mark.parametrize(
    "answer", ["abc", 12345.6, (1, 2, 3, 4, 5), {"a": 1}, np.array([[1.0], [2.0]]), object(), True]
)
@pytest.mark.parametrize("exercise", QUESTIONS, ids=lambda e: e.id)
def test_garbage_is_no_known_mistake(exercise, answer):
    assert abh.check(exercise.id, answer).mistake == "other"


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_a_function_that_raises_says_what_it_raised(exercise_id):
    result = abh.check(exercise_id, lambda *arguments: 1 / 0)
    assert result.mistake == "raised"
    assert "ZeroDivisionError" in result.text


@pytest.mark.parametrize("exercise_id", LOOPS)
def test_random_numbers_are_no_known_mistake(exercise_id):
    def random(*tensors):
        shape = BY_ID[exercise_id].solution(*tensors).shape
        return np.random.default_rng(0).normal(50.0, 10.0, size=tuple(shape))

    assert abh.check(exercise_id, random).mistake == "other"


def test_a_softmax_without_the_shift_overflows_and_is_told_so():
    def plain(scores):
        return ops.exp(scores) / ops.sum(ops.exp(scores), axis=-1, keepdims=True)

    assert "float32" in abh.check("0.11", plain).text


def test_the_ready_made_functions_agree_with_ours():
    assert abh.check("0.11", ops.softmax)
    assert abh.check("0.12", lambda query, key: ops.matmul(query, ops.transpose(key, (0, 2, 1))))


def test_inputs_have_sizes_that_all_differ():
    rng = np.random.default_rng(0)
    for _ in range(20):
        (scores,) = BY_ID["0.11"].inputs(rng)
        query, key = BY_ID["0.12"].inputs(rng)
        logits, target = BY_ID["0.13"].inputs(rng)
        for sizes in (scores.shape, (*query.shape, key.shape[1]), logits.shape):
            assert len(set(sizes)) == len(sizes)
        assert target.shape == logits.shape[:1]
