"""Metrics of attention weights, on cases computed by hand."""

import math

import numpy as np
import pytest
from keras import ops

from attention_by_hand import metrics

# Two queries, three keys. Row entropies: ln 2 and 0.
WEIGHTS = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])


def test_entropy_of_even_weights_is_the_logarithm_of_their_number():
    assert metrics.entropy(np.full((2, 3, 10), 0.1)) == pytest.approx(math.log(10))


def test_entropy_is_the_mean_over_rows_and_zero_weights_add_nothing():
    assert metrics.entropy(WEIGHTS) == pytest.approx(math.log(2) / 2)


def test_entropy_of_one_quarter_and_three_quarters():
    # 1/4 · ln 4 + 3/4 · ln(4/3) = 0.5623
    assert metrics.entropy([[0.25, 0.75]]) == pytest.approx(0.5623, abs=1e-4)


def test_entropy_takes_tensors_of_the_backend():
    assert metrics.entropy(ops.convert_to_tensor(WEIGHTS, "float32")) == pytest.approx(math.log(2) / 2, abs=1e-6)


def test_mass_on_gold_averages_the_weight_of_the_gold_key():
    # row 0, key 1: 0.5; row 1, key 0: 0.0
    assert metrics.mass_on_gold(WEIGHTS, np.array([1, 0])) == pytest.approx(0.25)


def test_mass_of_even_weights_is_one_over_their_number():
    assert metrics.mass_on_gold(np.full((3, 5), 0.2), np.array([0, 4, 2])) == pytest.approx(0.2)


def test_query_axis_of_one_may_be_missing_from_positions():
    assert metrics.mass_on_gold(WEIGHTS[:, None, :], np.array([1, 2])) == pytest.approx(0.75)
    assert metrics.top1_position_accuracy(WEIGHTS[:, None, :], np.array([[1], [2]])) == pytest.approx(0.75)


def test_every_query_of_a_batch_has_its_own_gold_key():
    weights = np.array([[[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]])  # (1, 2, 3)
    assert metrics.mass_on_gold(weights, np.array([[0, 1]])) == pytest.approx(0.5)
    assert metrics.top1_position_accuracy(weights, np.array([[0, 1]])) == pytest.approx(0.5)


def test_top1_counts_rows_whose_largest_weight_is_gold():
    weights = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7], [0.8, 0.1, 0.1]])
    assert metrics.top1_position_accuracy(weights, np.array([0, 1, 0, 1])) == pytest.approx(0.5)


def test_top1_shares_a_tie():
    # row 0: keys 0 and 1 tie and gold is one of them: 1/2; row 1: hit: 1
    assert metrics.top1_position_accuracy(WEIGHTS, np.array([0, 2])) == pytest.approx(0.75)
    # gold is not among the tied: 0
    assert metrics.top1_position_accuracy(WEIGHTS, np.array([2, 2])) == pytest.approx(0.5)


def test_top1_of_even_weights_is_chance_wherever_the_gold_lies():
    assert metrics.top1_position_accuracy(np.full((4, 8), 0.125), np.zeros(4, int)) == pytest.approx(1 / 8)


@pytest.mark.parametrize("metric", [metrics.mass_on_gold, metrics.top1_position_accuracy])
@pytest.mark.parametrize(
    ("position", "message"),
    [
        (np.array([0, 3]), "between 0 and 2"),
        (np.array([-1, 0]), "between 0 and 2"),
        (np.array([0, 1, 2]), "position must have the shape"),
        (np.array([0.0, 1.0]), "integers"),
    ],
)
def test_bad_positions_are_refused_by_name(metric, position, message):
    with pytest.raises(ValueError, match=message):
        metric(WEIGHTS, position)


@pytest.mark.parametrize("bad", [-0.1, np.nan])
def test_weights_that_are_no_weights_are_refused(bad):
    with pytest.raises(ValueError, match="weights must be finite"):
        metrics.entropy([[0.5, bad]])


def test_linear_probe_reads_a_rotated_and_shifted_part_completely():
    rng = np.random.default_rng(3)
    hidden, other = rng.normal(size=(40, 2)), rng.normal(size=(40, 3))
    vectors = np.concatenate([hidden, other], axis=1) @ np.linalg.qr(rng.normal(size=(5, 5)))[0] + 7.0
    assert metrics.linear_probe(vectors, hidden) == pytest.approx(1.0, abs=1e-9)


def test_linear_probe_finds_nothing_in_independent_vectors():
    rng = np.random.default_rng(4)
    assert abs(metrics.linear_probe(rng.normal(size=(4000, 3)), rng.normal(size=(4000, 2)))) < 0.02


def test_linear_probe_by_hand():
    # fitted on x = 0, 1, 2, 3 with hidden = x: the identity. Then hidden = 1, 1, 4, 4 for x = 0, 0, 5, 5:
    # missed 4 · 1, spread about the fitted half's mean 1.5: 2 · 0.25 + 2 · 6.25 = 13; R² = 1 − 4/13
    x, hidden = np.array([0, 1, 2, 3, 0, 0, 5, 5.0]), np.array([0, 1, 2, 3, 1, 1, 4, 4.0])
    assert metrics.linear_probe(x[:, None], hidden[:, None]) == pytest.approx(1 - 4 / 13)


def test_linear_probe_refuses_too_few_rows():
    with pytest.raises(ValueError, match="more than 8 rows"):
        metrics.linear_probe(np.ones((8, 3)), np.ones((8, 1)))
