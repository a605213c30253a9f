"""Numbers that remember how many dependent steps lie behind them, and a counter of multiply-adds."""

import math

import numpy as np
import pytest

from attention_by_hand.steps import Counter, Number, depth, numbers, values


def test_a_dot_product_is_one_step_and_counts_its_products():
    c = Counter()
    result = c.dot([Number(2.0, 0), Number(3.0, 4)], [5.0, Number(7.0, 1)])
    assert result == Number(31.0, 5)
    assert c.multiply_adds == 2


def test_a_function_is_one_step_and_no_multiply_add():
    c = Counter()
    assert c.apply(math.hypot, Number(3.0, 2), 4.0) == Number(5.0, 3)
    assert c.multiply_adds == 0


def test_a_chain_is_as_long_as_its_links_and_two_branches_do_not_add_up():
    c, x = Counter(), Number(1.0, 0)
    chain = x
    for _ in range(4):
        chain = c.apply(math.tanh, chain)
    branches = [c.apply(math.tanh, x) for _ in range(4)]
    assert chain.depth == 4
    assert c.dot(branches, [1.0] * 4).depth == 2


def test_what_depends_on_no_followed_input_has_no_depth():
    c, rows = Counter(), numbers(np.arange(6.0).reshape(3, 2), follow=1)
    assert [[x.depth for x in row] for row in rows] == [[None, None], [0, 0], [None, None]]
    assert c.dot(rows[0], rows[2]).depth is None
    assert c.dot(rows[0], rows[1]).depth == 1
    assert depth([rows[0], rows[2]]) is None


def test_numbers_and_values_are_each_others_inverse():
    table = np.random.default_rng(0).normal(size=(3, 4))
    rows = numbers(table)
    assert {x.depth for row in rows for x in row} == {0}
    np.testing.assert_array_equal(values(rows), table)
    np.testing.assert_array_equal(values([[1.5, rows[0][0]]]), [[1.5, table[0, 0]]])


def test_depth_is_the_longest_chain_of_all():
    assert depth([[Number(0.0, 3), Number(0.0, None)], [Number(0.0, 7), Number(0.0, 2)]]) == 7


def test_vectors_of_different_length_are_an_error_that_counts_nothing():
    c = Counter()
    with pytest.raises(ValueError, match="same length; got 2 and 3"):
        c.dot([1.0, 2.0], [1.0, 2.0, 3.0])
    assert c.multiply_adds == 0


@pytest.mark.parametrize("shape", [(3,), (2, 3, 4)])
def test_inputs_without_two_axes_are_an_error(shape):
    with pytest.raises(ValueError, match=r"array must have shape \(T, D\)"):
        numbers(np.zeros(shape))


@pytest.mark.parametrize("follow", [-1, 3])
def test_following_a_row_that_is_not_there_is_an_error(follow):
    with pytest.raises(ValueError, match=f"follow must be between 0 and 2; got {follow}"):
        numbers(np.zeros((3, 2)), follow=follow)
