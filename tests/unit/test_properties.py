"""Whatever the sizes and masks: equal to the loops, rows sum to 1 or are 0."""

import numpy as np
import numpy_loops as loops
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_by_hand.backend import to_numpy
from attention_by_hand.layers import AdditiveAttention, DotProductAttention

sizes = st.integers(1, 4)
bounded = settings(max_examples=10, deadline=None, derandomize=True, database=None)


@bounded
@given(
    batch=sizes,
    queries=sizes,
    keys=sizes,
    width=sizes,
    value_width=sizes,
    causal=st.booleans(),
    seed=st.integers(0, 99),
)
def test_layers_equal_the_loops_for_any_sizes_and_masks(batch, queries, keys, width, value_width, causal, seed):
    rng = np.random.default_rng(seed)
    query, value = loops.normal(rng, batch, queries, width), loops.normal(rng, batch, keys, value_width)
    key = loops.normal(rng, batch, keys, width)
    value_mask, query_mask = rng.random((batch, keys)) < 0.6, rng.random((batch, queries)) < 0.8
    attention_mask = rng.random((batch, queries, keys)) < 0.8
    mask = value_mask[:, None, :] & attention_mask
    if causal:
        mask &= loops.causal_mask(queries, keys)
    options = {"query_mask": query_mask, "value_mask": value_mask, "attention_mask": attention_mask}
    for layer, scores in (
        (AdditiveAttention(use_scale=False), loops.additive_scores(query, key)),
        (DotProductAttention("sqrt"), loops.dot_scores(query, key, width**-0.5)),
    ):
        result = layer(query, value, key, use_causal_mask=causal, return_attention_scores=True, **options)
        output, weights = (to_numpy(x) for x in result)
        expected_output, expected_weights = loops.attend(scores, value, mask, query_mask)
        np.testing.assert_allclose(output, expected_output, atol=1e-5)
        weights, expected_weights = weights[query_mask], expected_weights[query_mask]
        np.testing.assert_allclose(weights, expected_weights, atol=1e-5)
        np.testing.assert_allclose(weights.sum(-1), mask.any(-1)[query_mask], atol=1e-5)
