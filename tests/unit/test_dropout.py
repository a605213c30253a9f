"""Dropout acts on the weights after the softmax, in training only."""

import numpy as np
import numpy_loops as loops
import pytest

from attention_by_hand.backend import to_numpy
from attention_by_hand.layers import AdditiveAttention, DotProductAttention


@pytest.mark.parametrize("kind", [AdditiveAttention, DotProductAttention])
def test_returned_weights_are_those_before_dropout(rng, kind):
    inputs = loops.inputs(rng)
    layer = kind(dropout=0.5, seed=1)
    weights = to_numpy(layer(*inputs, return_attention_scores=True, training=True)[1])
    calm = to_numpy(layer(*inputs, return_attention_scores=True, training=False)[1])
    np.testing.assert_array_equal(weights, calm)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("kind", [AdditiveAttention, DotProductAttention])
def test_each_weight_is_dropped_or_divided_by_the_share_that_is_kept(rng, kind):
    query, _, key = loops.inputs(rng)
    value = np.tile(np.eye(loops.TV, dtype="float32"), (loops.B, 1, 1))  # one-hot values show the weights used
    output, weights = kind(dropout=0.25, seed=1)(query, value, key, return_attention_scores=True, training=True)
    ratio = to_numpy(output) / to_numpy(weights)
    kept = ratio > 0.5
    np.testing.assert_allclose(ratio[kept], 1 / 0.75, rtol=1e-4)
    assert (ratio[~kept] == 0).all()
    assert kept.any()
    assert not kept.all()


def test_mean_over_many_dropouts_is_the_output_without(rng):
    query, value, key = loops.inputs(rng)
    layer = DotProductAttention("sqrt", dropout=0.3, seed=5)
    many = [np.repeat(x[:1], 4000, axis=0) for x in (query, value, key)]
    mean = to_numpy(layer(*many, training=True)).mean(axis=0)
    expected = to_numpy(layer(query, value, key))[0]
    np.testing.assert_allclose(mean, expected, atol=0.06)


def test_inference_is_the_same_as_without_dropout(rng):
    inputs = loops.inputs(rng)
    plain = to_numpy(DotProductAttention()(*inputs))
    np.testing.assert_array_equal(to_numpy(DotProductAttention(dropout=0.9)(*inputs)), plain)
    np.testing.assert_array_equal(to_numpy(DotProductAttention(dropout=0.9)(*inputs, training=False)), plain)


def test_same_seed_gives_the_same_dropout_and_another_seed_another(rng):
    inputs = loops.inputs(rng)
    first, again, other = (
        to_numpy(DotProductAttention(dropout=0.5, seed=s)(*inputs, training=True)) for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_two_calls_of_a_layer_drop_different_weights(rng):
    inputs = loops.inputs(rng)
    layer = DotProductAttention(dropout=0.5, seed=1)
    assert (to_numpy(layer(*inputs, training=True)) != to_numpy(layer(*inputs, training=True))).any()


def test_call_stores_nothing_on_the_layer(rng):
    inputs = loops.inputs(rng)
    for layer in (AdditiveAttention(dropout=0.5, seed=1), DotProductAttention("learned", dropout=0.5, seed=1)):
        layer(*inputs)
        before = dict(layer.__dict__)
        layer(*inputs, return_attention_scores=True, training=True, value_mask=np.ones((loops.B, loops.TV), bool))
        changed = {k for k, v in layer.__dict__.items() if k not in before or before[k] is not v}
        assert changed <= {"_called", "_outbound_nodes", "_losses"}
