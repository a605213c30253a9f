"""Multi-head attention where there is nothing to see: empty rows, numbers in padding, the future."""

import multi_head_loops as by_hand
import numpy as np
import numpy_loops as loops
import pytest
from keras import ops
from multi_head_loops import KEY_DIM, QUERY_MASK, VARIANTS, H
from numpy_loops import TQ, TV, B, D

from attention_by_hand import backend
from attention_by_hand.layers import MultiHeadAttention, SelfAttention

DTYPES = ("float32", "float16", "bfloat16", "mixed_float16", "mixed_bfloat16")
SOME = [(name, "float32") for name in VARIANTS] + [(name, "float16") for name in VARIANTS]
SOME += [("plain", dtype) for dtype in DTYPES[2:]]
PATHS = (False, True) if backend.has_fused_attention() else (True,)  # with scores; without them it is the same path
BANDS = {"float16": 4e-3, "bfloat16": 4e-2, "mixed_float16": 4e-3, "mixed_bfloat16": 4e-2}
NO_KEY = np.array([[False] * TV, [True, True, False, True, True]])  # the first sequence is all padding
NO_PAIR = np.array([[[True] * TV] * TQ, [[True] * TV, [False] * TV, [True] * TV]])  # one query of the second one
EMPTY = {  # call arguments, and the rows (B, Tq) that see nothing
    "value_mask": ({"value_mask": NO_KEY}, ~NO_KEY.any(-1)[:, None].repeat(TQ, axis=1)),
    "attention_mask": ({"attention_mask": NO_PAIR}, ~NO_PAIR.any(-1)),
    "mask per head": ({"attention_mask": NO_PAIR[:, None].repeat(H, axis=1)}, ~NO_PAIR.any(-1)),
    "causal, left padding": (
        {"value_mask": np.array([[False, True, True, True, True], [True] * TV]), "use_causal_mask": True},
        np.array([[True, False, False], [False] * TQ]),
    ),
}


def numbers(tensor):
    return backend.to_numpy(ops.cast(tensor, "float32"))


def gradients(layer, arrays, scored=False, **options):
    """Gradients of Σ R ⊙ output by the inputs and by the weights."""

    def loss(*tensors):
        output = layer(*tensors, return_attention_scores=scored, **options)
        output = ops.cast(output[0] if scored else output, "float32")
        weighting = np.random.default_rng(3).normal(size=tuple(output.shape)).astype("float32")
        return ops.sum(output * ops.convert_to_tensor(weighting))

    tensors = [ops.cast(ops.convert_to_tensor(x), layer.compute_dtype) for x in arrays]
    inputs, variables = backend.value_and_grad(loss, tensors, layer.trainable_variables)[1:]
    return [g.astype("float32") for g in inputs], [g.astype("float32") for g in variables]


@pytest.mark.parametrize(("name", "dtype"), SOME)
def test_row_without_a_visible_key_is_the_output_bias_on_both_paths(rng, name, dtype):
    layer, x = VARIANTS[name](dtype=dtype), by_hand.inputs(rng)
    by_hand.built(layer, rng)
    given, empty = EMPTY["value_mask"]
    output, weights = layer(*x, return_attention_scores=True, **given)
    bias = numbers(ops.cast(layer.output_bias, layer.compute_dtype))
    for result in (output, layer(*x, **given)):
        np.testing.assert_array_equal(numbers(result)[empty], np.broadcast_to(bias, (TQ, D)))
        assert (np.abs(numbers(result)[~empty] - bias) > 1e-3).any(axis=-1).all()
    assert (numbers(weights)[0] == 0).all() and (numbers(weights)[1][..., 2] == 0).all()
    np.testing.assert_allclose(numbers(weights)[1].sum(-1), 1, atol=2e-2 if "16" in dtype else 1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("way", EMPTY)
def test_every_way_to_hide_a_row_gives_the_output_bias(rng, way, dtype):
    layer, x = MultiHeadAttention(H, KEY_DIM, dtype=dtype), by_hand.inputs(rng)
    by_hand.built(layer, rng)
    given, empty = EMPTY[way]
    output, weights = layer(*x, return_attention_scores=True, **given)
    bias = numbers(ops.cast(layer.output_bias, layer.compute_dtype))
    for result in (output, layer(*x, **given)):
        np.testing.assert_array_equal(numbers(result)[empty], np.broadcast_to(bias, (empty.sum(), D)))
    assert (numbers(weights).swapaxes(1, 2)[empty] == 0).all()


@pytest.mark.parametrize("scored", PATHS)
@pytest.mark.parametrize(("name", "dtype"), SOME)
def test_row_without_a_visible_key_has_finite_gradients(rng, name, dtype, scored):
    layer, x = VARIANTS[name](dtype=dtype), by_hand.inputs(rng)
    by_hand.built(layer, rng)
    inputs, variables = gradients(layer, x, scored, value_mask=NO_KEY)
    assert all(np.isfinite(g).all() for g in (*inputs, *variables))
    assert all((g[0] == 0).all() for g in inputs)  # nothing was read of the first sequence
    assert (inputs[1][1, 0] != 0).any()


@pytest.mark.parametrize("scored", PATHS)
@pytest.mark.parametrize("way", EMPTY)
def test_every_way_to_hide_a_row_has_finite_gradients_in_float16(rng, way, scored):
    layer, x = MultiHeadAttention(H, KEY_DIM, dtype="float16"), by_hand.inputs(rng)
    by_hand.built(layer, rng)
    given, empty = EMPTY[way]
    inputs, variables = gradients(layer, x, scored, **given)
    assert all(np.isfinite(g).all() for g in (*inputs, *variables))
    assert (inputs[0][empty] == 0).all()


@pytest.mark.parametrize(("name", "dtype"), [pair for pair in SOME if pair[1] in BANDS])
def test_half_precision_stays_near_the_formula(rng, name, dtype):
    layer, x = VARIANTS[name](dtype=dtype), by_hand.inputs(rng)
    arrays = by_hand.built(layer, rng)
    mask = np.array([[True, False, True, True, True], [True, True, False, True, True]])
    expected = by_hand.attention(layer, arrays, *x, mask[:, None, None, :])[0]
    size = np.abs(expected).max()
    output, _ = layer(*x, value_mask=mask, return_attention_scores=True)
    for result in (output, layer(*x, value_mask=mask)):
        assert np.abs(numbers(result) - expected).max() <= BANDS[dtype] * max(1, size)


@pytest.mark.parametrize("scored", PATHS)
@pytest.mark.parametrize(("name", "bad"), [("plain", np.inf), *((name, np.nan) for name in VARIANTS)])
def test_numbers_in_padding_reach_neither_output_nor_gradients(rng, name, bad, scored):
    value_mask = np.array([[True, True, True, False, False], [False, True, True, True, True]])
    layer, (query, value, key) = VARIANTS[name](), by_hand.inputs(rng)
    by_hand.built(layer, rng)
    options = {"value_mask": value_mask, "query_mask": QUERY_MASK}
    clean = backend.to_numpy(layer(query, value, key, **options))
    clean_gradients = gradients(layer, (query, value, key), scored, **options)
    value[~value_mask], key[~value_mask], query[~QUERY_MASK] = bad, bad, bad
    np.testing.assert_array_equal(backend.to_numpy(layer(query, value, key, **options)), clean)
    for a, b in zip(gradients(layer, (query, value, key), scored, **options), clean_gradients, strict=True):
        for gradient, expected in zip(a, b, strict=True):
            np.testing.assert_allclose(gradient, expected, atol=1e-6)


def attend_to_itself(layer, x, scored, **options):
    """Causal attention of a sequence to itself."""
    inputs = (x,) if isinstance(layer, SelfAttention) else (x, x)
    output = layer(*inputs, use_causal_mask=True, return_attention_scores=scored, **options)
    return output[0] if scored else output


CAUSAL = VARIANTS | {
    "self": lambda **options: SelfAttention(KEY_DIM, **options),
    "self, biases": lambda **options: SelfAttention(KEY_DIM, 9, use_bias=True, **options),
    "no bias": lambda **options: MultiHeadAttention(H, KEY_DIM, use_bias=False, **options),
    "one head": lambda **options: MultiHeadAttention(1, KEY_DIM, output_shape=11, **options),
}
HEAD_MASK = np.random.default_rng(5).random((B, H, TV, TV)) < 0.7
HEAD_MASK |= np.eye(TV, dtype=bool)
SOME_GONE = np.array([[True, False, True, True, True], [True] * TV])
OTHER_MASKS = {"value_mask": SOME_GONE, "attention_mask": HEAD_MASK}


def check_no_leak(layer, x, scored, **options):
    """Whether steps 0 … 2 stay what they are, bit by bit, while steps 3 … change."""
    changed = x.copy()
    changed[:, 3:] += 1.0
    before = backend.to_numpy(attend_to_itself(layer, x, scored, **options))
    after = backend.to_numpy(attend_to_itself(layer, changed, scored, **options))
    np.testing.assert_array_equal(before[:, :3], after[:, :3])
    assert (before[:, 3:] != after[:, 3:]).any(axis=-1).all()


@pytest.mark.parametrize("scored", PATHS)
@pytest.mark.parametrize("name", CAUSAL)
def test_future_token_does_not_change_past_by_value(rng, name, scored):
    check_no_leak(CAUSAL[name](), loops.normal(rng, B, TV, D), scored)


@pytest.mark.parametrize("scored", PATHS)
@pytest.mark.parametrize("name", VARIANTS)
def test_future_token_does_not_change_past_beside_other_masks(rng, name, scored):
    check_no_leak(CAUSAL[name](), loops.normal(rng, B, TV, D), scored, **OTHER_MASKS)


@pytest.mark.parametrize("options", [{}, {"dropout": 0.3, "seed": 2}], ids=["no dropout", "dropout"])
@pytest.mark.parametrize("name", CAUSAL)
def test_future_token_does_not_change_past_by_gradient(rng, name, options):
    layer, x, position = CAUSAL[name](**options), loops.normal(rng, B, TV, D), 2

    def loss(x):
        return ops.sum(attend_to_itself(layer, x, False, training=True)[:, position] ** 2)

    gradient = backend.value_and_grad(loss, [x], layer.trainable_variables)[1][0]
    assert (gradient[:, position + 1 :] == 0).all()
    assert (gradient[:, position] != 0).any()
