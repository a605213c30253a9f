"""Gradients against finite differences of the NumPy loops in float64, for inputs and weights."""

import numpy as np
import numpy_loops as loops
import pytest
from keras import ops

from attention_by_hand import backend
from attention_by_hand.layers import AdditiveAttention, DotProductAttention

STEP = 1e-5


def differences(function, arrays):
    """Central differences of a scalar function of NumPy arrays, number by number."""
    arrays = [np.array(x, "float64") for x in arrays]
    gradients = []
    for x in arrays:
        gradient = np.zeros(x.shape)
        for index in np.ndindex(*x.shape):
            kept = x[index]
            x[index] = kept + STEP
            above = function(*arrays)
            x[index] = kept - STEP
            gradient[index] = (above - function(*arrays)) / (2 * STEP)
            x[index] = kept
        gradients.append(gradient)
    return gradients


SCORES = {
    "additive": (AdditiveAttention, {}, lambda q, k, scale: loops.additive_scores(q, k, scale)),
    "paper": (AdditiveAttention, {"units": 3}, lambda q, k, wq, wk, v: loops.additive_scores(q, k, v, wq, wk)),
    "learned": (DotProductAttention, {"scale": "learned"}, lambda q, k, scale: loops.dot_scores(q, k, scale)),
    "general": (DotProductAttention, {"score_mode": "general"}, lambda q, k, w: loops.dot_scores(q, k, 1.0, w)),
    "concat": (
        DotProductAttention,
        {"score_mode": "concat", "scale": "learned"},
        lambda q, k, scale, w: loops.concat_scores(q, k, w, scale),
    ),
}


@pytest.mark.parametrize("name", SCORES)
def test_gradients_are_those_of_the_formula(rng, name):
    kind, options, scores = SCORES[name]
    query, value, key = loops.normal(rng, 1, 2, 3), loops.normal(rng, 1, 4, 2), loops.normal(rng, 1, 4, 3)
    mask = np.array([[True, False, True, True]])
    weighting = loops.normal(rng, 1, 2, 2)
    layer = kind(**options)
    layer.build(query.shape, value.shape, key.shape)
    arrays = loops.randomise(layer, rng)

    def ours(query, value, key):
        return ops.sum(layer(query, value, key, value_mask=mask) * ops.convert_to_tensor(weighting))

    def formula(query, value, key, *weights):
        return float((loops.attend(scores(query, key, *weights), value, mask[:, None, :])[0] * weighting).sum())

    total, inputs, variables = backend.value_and_grad(ours, [query, value, key], layer.trainable_variables)
    assert total == pytest.approx(formula(query, value, key, *arrays), abs=1e-5)
    for gradient, expected in zip(
        [*inputs, *variables], differences(formula, [query, value, key, *arrays]), strict=True
    ):
        np.testing.assert_allclose(gradient, expected, atol=2e-5)


def test_an_input_given_twice_has_a_gradient_for_each_place():
    x = ops.convert_to_tensor(np.array([2.0, 3.0], "float32"))
    _, gradients, _ = backend.value_and_grad(lambda a, b: ops.sum(a * a * b), [x, x])
    np.testing.assert_allclose(gradients[0], [8.0, 18.0], rtol=1e-6)  # 2ab
    np.testing.assert_allclose(gradients[1], [4.0, 9.0], rtol=1e-6)  # a²
