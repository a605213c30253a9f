"""Rows that repeat: what follows is known from the second round on; the score of a head that looks it up; bits."""

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest

from attention_by_hand.datasets import repeated_tokens
from attention_by_hand.metrics import bits, prefix_matching

CARD = Path(__file__).parents[2] / "data" / "repeated_tokens.md"


@pytest.mark.parametrize("seed", [0, 1])
def test_every_row_repeats_different_tokens_and_weighs_what_is_known(seed):
    data = repeated_tokens(40, length=29, symbols=13, shortest=3, longest=9, seed=seed)
    assert set(data["period"]) == set(range(3, 10))
    for tokens, target, weight, period in zip(*data.values(), strict=True):
        assert len(set(tokens[:period])) == period and (tokens[period:] == tokens[:-period]).all()
        assert (target[:-1] == tokens[1:]).all() and target[-1] == tokens[29 - period]
        for t in range(29):
            assert weight[t] == (tokens[t] in tokens[:t])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shortest": 1}, r"in order, in 2 … 16; got 1 and 9"),
        ({"longest": 17}, r"in order, in 2 … 16; got 3 and 17"),
        ({"length": 9}, "more than the longest period, 9; got 9"),
    ],
)
def test_periods_that_do_not_fit_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        repeated_tokens(4, **{"length": 20, "symbols": 16, "shortest": 3, "longest": 9, **options})


def test_prefix_matching_is_the_weight_behind_the_same_token():
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, 4, size=(3, 7))
    weights = rng.dirichlet(np.ones(7), size=(3, 2, 7))  # (N, H, T, T)
    total, count = np.zeros(2), 0
    for n, t in np.ndindex(3, 7):
        keys = {s + 1 for s in range(t) if tokens[n, s] == tokens[n, t]}
        if keys:
            total += weights[n, :, t, sorted(keys)].sum(axis=0)
            count += 1
    assert prefix_matching(weights, tokens) == pytest.approx(total / count)


def test_a_perfect_induction_head_scores_one_and_one_on_the_same_token_zero():
    data = repeated_tokens(5, length=12, symbols=8, shortest=3, longest=6)
    look = np.zeros((5, 2, 12, 12))
    for n, period in enumerate(data["period"]):
        for t in range(12):
            look[n, 0, t, max(t - period + 1, 0)] = 1
            look[n, 1, t, max(t - period, 0)] = 1
    assert prefix_matching(look, data["tokens"]) == pytest.approx([1.0, 0.0])


def test_bits_are_minus_the_logarithm_to_the_base_of_two():
    p = np.array([[[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]]])
    assert bits(np.log(p) + 7.0, [[0, 1]]) == pytest.approx(np.array([[1.0, 3.0]]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bits(np.zeros((2, 3, 4)), np.zeros((2, 4), int)), r"got \(2, 3, 4\) and \(2, 4\)"),
        (lambda: prefix_matching(np.zeros((2, 1, 3, 3)), np.zeros((2, 4), int)), r"got \(2, 1, 3, 3\) and \(2, 4\)"),
        (lambda: prefix_matching(np.zeros((1, 1, 3, 3)), [[0, 1, 2]]), "one that occurs twice; got none"),
    ],
)
def test_shapes_that_do_not_belong_together_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def checksum(data):
    """SHA-256 over names, dtypes, shapes and little-endian bytes of all arrays."""
    digest = hashlib.sha256()
    for name in sorted(data):
        array = data[name].astype(data[name].dtype.newbyteorder("<"))
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def test_the_card_states_checksums_and_the_share_of_known_steps():
    text = CARD.read_text(encoding="utf-8")
    stated = dict(re.findall(r"`repeated_tokens\(([^`]*)\)` \| `([0-9a-f]{64})`", text))
    assert len(stated) == 3
    for call, digest in stated.items():
        assert checksum(repeated_tokens(**eval(f"dict(count={call})"))) == digest, call
    data = repeated_tokens(4800, 32, symbols=16, shortest=4, longest=12, seed=0)
    assert f"{data['weight'].mean():.3f} of all steps" in text
