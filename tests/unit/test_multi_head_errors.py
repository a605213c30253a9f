"""Every documented ValueError of multi-head attention and its variants names the argument and what came."""

import keras
import multi_head_loops as by_hand
import numpy as np
import numpy_loops as loops
import pytest
from multi_head_loops import KEY_DIM, VARIANTS, H
from numpy_loops import TQ, TV, B, D

from attention_by_hand.layers import (
    AlibiAttention,
    MultiHeadAttention,
    RelativePositionAttention,
    RotaryAttention,
    RotaryEmbedding,
    skew,
)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (MultiHeadAttention, {"num_heads": 0, "key_dim": 3}, "num_heads must be a positive integer; got 0"),
        (MultiHeadAttention, {"num_heads": True, "key_dim": 3}, "num_heads must be a positive integer; got True"),
        (MultiHeadAttention, {"num_heads": 2, "key_dim": 2.5}, "key_dim must be a positive integer; got 2.5"),
        (MultiHeadAttention, {"num_heads": 2, "key_dim": 3, "value_dim": -1}, "value_dim must be a positive .* got -1"),
        (MultiHeadAttention, {"num_heads": 2, "key_dim": 3, "output_shape": (4,)}, r"output_shape must .* got \(4,\)"),
        (MultiHeadAttention, {"num_heads": 2, "key_dim": 3, "dropout": 1.5}, r"dropout must be in \[0, 1\); got 1.5"),
        (RelativePositionAttention, {"num_heads": 2, "key_dim": 3, "max_distance": 0}, "max_distance must .* got 0"),
        (
            AlibiAttention,
            {"num_heads": 2, "key_dim": 3, "slopes": [1.0]},
            "slopes must hold one number per head, 2; got 1",
        ),
        (AlibiAttention, {"num_heads": 0, "key_dim": 3}, "num_heads must be a positive integer; got 0"),
    ],
)
def test_bad_option_is_named(kind, options, message):
    with pytest.raises(ValueError, match=message):
        kind(**options)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((B, D), (B, TV, D)), r"query must have shape \(batch, length, width\); got \(2, 4\)"),
        (((B, TQ, D), (B, D)), r"value must have shape \(batch, length, width\); got \(2, 4\)"),
        (((B, TQ, D), (B + 1, TV, D)), r"value must have the batch size of query, 2; got \(3, 5, 4\)"),
        (((B, TQ, D), (B, TV, D), (B, TV + 1, D)), r"key must have as many steps as value, 5; got \(2, 6, 4\)"),
    ],
)
@pytest.mark.parametrize("name", VARIANTS)
def test_shapes_that_do_not_fit_are_named(rng, name, shapes, message):
    with pytest.raises(ValueError, match=message):
        VARIANTS[name]()(*(loops.normal(rng, *shape) for shape in shapes))
    if len({shape[0] for shape in shapes}) == 1:
        with pytest.raises(ValueError, match=message.replace(r"\(2, ", r"\(None, ")):
            VARIANTS[name]()(*(keras.Input(shape[1:]) for shape in shapes))


def test_unknown_width_is_refused():
    with pytest.raises(ValueError, match="key must have a known width"):
        MultiHeadAttention(H, KEY_DIM)(keras.Input((TQ, D)), keras.Input((TV, D)), keras.Input((TV, None)))


def test_integer_inputs_are_refused(rng):
    query, value, key = by_hand.inputs(rng)
    with pytest.raises(ValueError, match="value must be floating point .* got dtype int32"):
        MultiHeadAttention(H, KEY_DIM)(query, value.astype("int32"), key)
    with pytest.raises(ValueError, match="query must be floating point .* got dtype int32"):
        MultiHeadAttention(H, KEY_DIM)(keras.Input((TQ, D), dtype="int32"), keras.Input((TV, D)))


MASKS = {
    "query_mask": ((B, TV), r"query_mask must have shape \(B, Tq\) = \(2, 3\); got \(2, 5\)"),
    "value_mask": ((B, TQ), r"value_mask must have shape \(B, Tv\) = \(2, 5\); got \(2, 3\)"),
    "attention_mask": (
        (B, TV, TQ),
        r"attention_mask must have shape \(B, Tq, Tv\) = \(2, 3, 5\) or .*; got \(2, 5, 3\)",
    ),
}


@pytest.mark.parametrize("name", MASKS)
def test_mask_of_the_wrong_size_is_named(rng, name):
    shape, message = MASKS[name]
    with pytest.raises(ValueError, match=message):
        MultiHeadAttention(H, KEY_DIM)(*by_hand.inputs(rng), **{name: np.ones(shape, bool)})


@pytest.mark.parametrize("shape", [(B,), (B, TV), (B, H, TQ), (B, H + 1, TQ, TV), (B, 1, H, TQ, TV)])
def test_attention_mask_of_the_wrong_rank_or_number_of_heads_is_named(rng, shape):
    message = r"attention_mask must have shape .* or \(B, H, Tq, Tv\) = \(2, 6, 3, 5\); got"
    with pytest.raises(ValueError, match=message):
        MultiHeadAttention(H, KEY_DIM)(*by_hand.inputs(rng), attention_mask=np.ones(shape, bool))


@pytest.mark.parametrize("name", MASKS)
def test_additive_mask_of_zeros_and_large_negative_numbers_is_refused(rng, name):
    mask = np.zeros({"query_mask": (B, TQ), "value_mask": (B, TV), "attention_mask": (B, H, TQ, TV)}[name], "float32")
    mask[:, -1] = -1e9
    with pytest.raises(ValueError, match=f"{name} must be boolean or hold only 0 and 1; got a float32 mask with -1"):
        MultiHeadAttention(H, KEY_DIM)(*by_hand.inputs(rng), **{name: mask})


def test_mask_of_the_wrong_shape_in_a_model_is_named():
    query, value = keras.Input((TQ, D)), keras.Input((TV, D))
    with pytest.raises(ValueError, match=r"value_mask must have shape \(B, Tv\) = \(None, 5\); got \(None, 3\)"):
        MultiHeadAttention(H, KEY_DIM)(query, value, value_mask=keras.Input((TQ,), dtype="bool"))


def test_float_mask_in_a_model_is_refused_because_its_values_cannot_be_seen():
    query, value, mask = keras.Input((TQ, D)), keras.Input((TV, D)), keras.Input((TV,), dtype="float32")
    with pytest.raises(ValueError, match="value_mask is a float32 mask whose values cannot be seen while tracing"):
        MultiHeadAttention(H, KEY_DIM)(query, value, value_mask=mask)


def test_odd_width_cannot_be_rotated_in_pairs(rng):
    message = "x must have an even width, as features are rotated in pairs; got"
    with pytest.raises(ValueError, match=f"{message} 7"):
        RotaryEmbedding()(loops.normal(rng, B, TV, 7))
    with pytest.raises(ValueError, match=f"{message} 3"):
        RotaryAttention(2, 3)(*by_hand.inputs(rng))


@pytest.mark.parametrize("shape", [(TV, 6), (B, TV, H, 1, 6)])
def test_rotation_of_another_rank_is_refused(rng, shape):
    with pytest.raises(ValueError, match=r"x must have shape \(B, T, d\) or \(B, T, H, d\); got"):
        RotaryEmbedding()(loops.normal(rng, *shape))


def test_products_that_are_not_square_cannot_be_skewed(rng):
    with pytest.raises(ValueError, match=r"products must have shape \(…, T, T\); got \(2, 3, 5\)"):
        skew(loops.normal(rng, B, TQ, TV))
