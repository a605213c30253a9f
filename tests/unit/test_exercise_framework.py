"""The checker itself: what counts as right, as not attempted, as which mistake."""

import numpy as np
import pytest
from keras import ops

from attention_by_hand import exercises, strings
from attention_by_hand.exercises.framework import Function, Question


def draw(rng):
    return (rng.normal(size=(2, 3, 4)).astype("float32"),)


def exercise(mistakes=None, solution=lambda x: 2 * x, inputs=draw):
    return Function("0.11", inputs=inputs, solution=solution, mistakes=mistakes or {})


def test_a_right_function_is_true_and_says_right():
    result = exercise().check(lambda x: x + x)
    assert result and result.status == "right" and result.mistake is None
    assert repr(result) == "0.11 right"


def test_a_wrong_function_is_false():
    assert not exercise().check(lambda x: x)


@pytest.mark.parametrize("answer", [..., None, lambda x: None, lambda x: ...])
def test_blanks_are_not_attempted(answer):
    assert exercise().check(answer).status == "not attempted"


def test_not_implemented_counts_as_not_attempted():
    def answer(x):
        raise NotImplementedError

    assert exercise().check(answer).status == "not attempted"


def test_a_result_in_place_of_a_function_is_told_so():
    result = exercise().check(np.ones((2, 3, 4)))
    assert result.mistake == "not_a_function"
    assert "without calling it" in result.text


def test_what_the_code_raised_is_shown_on_one_line():
    def answer(x):
        raise ValueError("first line\nsecond line")

    result = exercise().check(answer)
    assert result.mistake == "raised"
    assert "ValueError: first line" in result.text and "second" not in result.text


@pytest.mark.parametrize("garbage", ["text", {"a": 1}, object(), "1.5"])
def test_what_is_no_tensor_is_told_so(garbage):
    assert exercise().check(lambda x: garbage).mistake == "not_a_tensor"


def test_a_known_mistake_is_named_before_general_signs():
    halved = exercise({"missing_scale": lambda x: x})
    assert halved.check(lambda x: x).mistake == "missing_scale"
    assert exercise().check(lambda x: x).mistake == "factor"


def test_an_accidental_match_on_one_draw_does_not_name_a_mistake():
    at_zero_the_same = {"missing_scale": lambda x: x + 1, "unstable": lambda x: 3 * x + 1}
    draws = iter([np.zeros((2, 3), "float32"), np.full((2, 3), 5, "float32")] * 9)
    twice = exercise(at_zero_the_same, inputs=lambda rng: (next(draws),))
    assert twice.check(at_zero_the_same["unstable"]).mistake == "unstable"


def test_a_factor_is_said():
    assert "0.5 times" in exercise().check(lambda x: x).text


def test_swapped_axes_are_recognised():
    result = exercise().check(lambda x: ops.transpose(2 * x, (0, 2, 1)))
    assert result.mistake == "transposed"
    assert "(2, 4, 3)" in result.text


def test_another_shape_shows_both():
    result = exercise().check(lambda x: x[:, :2])
    assert result.mistake == "shape"
    assert "(2, 2, 4)" in result.text and "(2, 3, 4)" in result.text


def test_nan_is_recognised():
    assert exercise().check(lambda x: x * float("nan")).mistake == "not_finite"


def test_nan_is_never_right():
    assert not exercise(solution=lambda x: x * float("nan")).check(lambda x: x * float("nan"))


def test_a_mistake_may_be_known_by_its_nan():
    def overflow(x):
        return ops.exp(100 + x) / ops.exp(100 + x)

    named = exercise({"unstable": overflow})
    assert named.check(overflow).mistake == "unstable"


def test_other_values_say_where_the_first_difference_is():
    def answer(x):
        return ops.add(2 * x, np.eye(1, 24, 7, dtype="float32").reshape(2, 3, 4))  # one at (0, 1, 3)

    result = exercise().check(answer)
    assert result.mistake == "other"
    assert "(0, 1, 3)" in result.text


def test_a_wrong_number_shows_both_and_no_factor():
    result = exercise(solution=lambda x: ops.sum(x)).check(lambda x: ops.sum(x) + 1)
    assert result.mistake == "other"
    assert "expected" in result.text


def test_two_results_in_place_of_one_are_told_so():
    result = exercise().check(lambda x: (2 * x, x))
    assert result.mistake == "parts"


def test_a_list_of_rows_in_place_of_a_tensor_is_told_so():
    assert "returns 2 things" in exercise().check(lambda x: [[1], [1, 2]]).text


def test_several_results_are_all_compared():
    two = exercise(solution=lambda x: (x, 3 * x))
    assert two.check(lambda x: (x, 3 * x))
    assert not two.check(lambda x: (x, 2 * x))


def test_an_answer_that_changes_its_input_cannot_change_what_is_expected():
    """`torch` and NumPy let a function write into its argument."""

    def inputs(rng):
        return (rng.normal(size=(2, 3)).astype("float32"), 1)

    def answer(x, one):
        if hasattr(x, "zero_"):
            x.zero_()
        return 0 * x

    assert exercise(inputs=inputs, solution=lambda x, one: 2 * x).check(answer).status == "not yet"


def test_answers_in_half_precision_are_read():
    result = exercise().check(lambda x: ops.cast(3 * x, "bfloat16"))
    assert result.status == "not yet" and result.mistake != "not_a_tensor"


def test_inputs_are_drawn_anew_for_every_check():
    seen = []
    exercise().check(lambda x: seen.append(x) or 2 * x)
    exercise().check(lambda x: seen.append(x) or 2 * x)
    sums = {round(float(ops.sum(x)), 4) for x in seen}
    assert len(sums) == len(seen) >= 4


QUESTION = Question("0.8", expected=4640, mistakes={"no_bias": 4608})


def test_whole_numbers_are_compared_exactly():
    assert QUESTION.check(4640)
    assert QUESTION.check(4640.0)
    assert QUESTION.check(4608).mistake == "no_bias"  # less than 1 % away
    assert QUESTION.check(4641).mistake == "other"


def test_other_numbers_are_compared_within_the_tolerance():
    question = Question("0.2", expected=np.log(4))
    assert question.check(1.386) and question.check(1.39)
    assert not question.check(1.5)


def test_a_tensor_is_an_answer():
    assert QUESTION.check(ops.convert_to_tensor(4640))
    assert Question("0.1", expected=(0.25, 0.75)).check(ops.convert_to_tensor([0.25, 0.75]))


def test_lists_and_tuples_are_the_same_answer():
    question = Question("0.3", expected=(2, 3, 4, 5))
    assert question.check([2, 3, 4, 5]) and question.check((2, 3, 4, 5))
    assert not question.check((2, 3, 4))


@pytest.mark.parametrize("blank", [..., None, (..., ...), [1, ...]])
def test_a_question_left_open_is_not_attempted(blank):
    assert QUESTION.check(blank).status == "not attempted"


def test_words_are_compared_without_case_and_space():
    question = Question("0.2", expected="keys", mistakes={"sign": "queries"})
    assert question.check(" Keys ")
    assert question.check("queries").mistake == "sign"
    assert question.check(1).mistake == "other"


def test_truth_values_are_not_numbers():
    question = Question("0.2", expected=True)
    assert question.check(True) and question.check(np.True_)
    assert not question.check(1) and not question.check(False)
    assert not Question("0.2", expected=1).check(True)


def test_an_unknown_exercise_lists_the_known_ones_in_order():
    with pytest.raises(KeyError) as error:
        exercises.check("0.99")
    text = str(error.value)
    assert text.index("0.9,") < text.index("0.10") < text.index("0.13")


def test_a_sentence_of_the_exercise_wins_over_the_common_one():
    uniform = Question("0.1", expected=1.5)
    assert uniform.sentence("uniform") == strings.text("exercises.0_1.uniform")
    assert Question("9.9", expected=1.5).sentence("uniform") == strings.text("checks.common.uniform")


def test_every_mistake_of_every_exercise_has_a_sentence():
    for known in exercises.exercises().values():
        for name in known.mistakes:
            assert len(known.sentence(name)) > 10, (known.id, name)


def test_ids_are_unique():
    from importlib import import_module
    from pkgutil import iter_modules

    modules = [m.name for m in iter_modules(exercises.__path__) if m.name.startswith("chapter_")]
    ids = [e.id for m in modules for e in import_module(f"attention_by_hand.exercises.{m}").EXERCISES]
    assert len(ids) == len(set(ids))
