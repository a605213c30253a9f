"""Every documented ValueError names the argument, what came and what was expected."""

import keras
import numpy as np
import numpy_loops as loops
import pytest
from numpy_loops import TQ, TV, B, D

from attention_by_hand import masks
from attention_by_hand.layers import AdditiveAttention, DotProductAttention


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (AdditiveAttention, {"units": 0}, "units must be a positive integer or None; got 0"),
        (AdditiveAttention, {"units": 2.5}, "units must be a positive integer or None; got 2.5"),
        (AdditiveAttention, {"units": True}, "units must be a positive integer or None; got True"),
        (AdditiveAttention, {"units": 3, "use_scale": False}, "use_scale=False cannot be combined with units"),
        (AdditiveAttention, {"dropout": 1.0}, r"dropout must be in \[0, 1\); got 1.0"),
        (DotProductAttention, {"dropout": -0.1}, r"dropout must be in \[0, 1\); got -0.1"),
        (DotProductAttention, {"scale": "root"}, "scale must be None, .* got 'root'"),
        (DotProductAttention, {"scale": True}, "scale must be None, .* got True"),
        (DotProductAttention, {"score_mode": "cosine"}, "score_mode must be one of dot, general, concat; got 'cosine'"),
        (DotProductAttention, {"units": 3}, 'units must be a positive integer, with score_mode="concat"; got 3'),
        (DotProductAttention, {"units": -1, "score_mode": "concat"}, "units must be a positive integer"),
        (DotProductAttention, {"scale": "sqrt", "score_mode": "concat"}, 'scale="sqrt" is for products'),
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
        (((B, TQ, D), (B, TV, D), (B, 1, TV, D)), r"key must have shape \(batch, length, width\)"),
        (((B, TQ, D), (B + 1, TV, D)), r"value must have the batch size of query, 2; got \(3, 5, 4\)"),
        (((B, TQ, D), (B, TV, D), (B, TV + 1, D)), r"key must have as many steps as value, 5; got \(2, 6, 4\)"),
        (((B, TQ, D), (B, TV, D), (B, TV, 1)), "key must have the width of query, 4.*; got 1"),
    ],
)
@pytest.mark.parametrize("kind", [AdditiveAttention, DotProductAttention])
def test_shapes_that_do_not_fit_are_named(rng, kind, shapes, message):
    with pytest.raises(ValueError, match=message):
        kind()(*(loops.normal(rng, *shape) for shape in shapes))
    if len({shape[0] for shape in shapes}) == 1:
        with pytest.raises(ValueError, match=message.replace(r"\(2, ", r"\(None, ").replace("got 2", "got None")):
            kind()(*(keras.Input(shape[1:]) for shape in shapes))


def test_unknown_width_is_refused():
    with pytest.raises(ValueError, match="query must have a known width"):
        DotProductAttention()(keras.Input((TQ, None)), keras.Input((TV, D)))


def test_integer_inputs_are_refused(rng):
    query, value = loops.inputs(rng, with_key=False)
    with pytest.raises(ValueError, match="value must be floating point .* got dtype int32"):
        DotProductAttention()(query, value.astype("int32"))


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
        DotProductAttention()(*loops.inputs(rng), **{name: np.ones(shape, bool)})


@pytest.mark.parametrize("name", MASKS)
def test_mask_of_the_wrong_rank_is_named(rng, name):
    with pytest.raises(ValueError, match=f"{name} must have shape"):
        DotProductAttention()(*loops.inputs(rng), **{name: np.ones((B,), bool)})


@pytest.mark.parametrize("name", MASKS)
def test_additive_mask_of_zeros_and_large_negative_numbers_is_refused(rng, name):
    shape = {"query_mask": (B, TQ), "value_mask": (B, TV), "attention_mask": (B, TQ, TV)}[name]
    mask = np.zeros(shape, "float32")
    mask[:, -1] = -1e9
    with pytest.raises(ValueError, match=f"{name} must be boolean or hold only 0 and 1; got a float32 mask with -1"):
        DotProductAttention()(*loops.inputs(rng), **{name: mask})


def test_float_mask_in_a_model_is_refused_because_its_values_cannot_be_seen():
    query, value, mask = keras.Input((TQ, D)), keras.Input((TV, D)), keras.Input((TV,), dtype="float32")
    with pytest.raises(ValueError, match="value_mask is a float32 mask whose values cannot be seen while tracing"):
        DotProductAttention()(query, value, value_mask=mask)


def test_mask_given_as_a_list_is_accepted():
    mask = masks.as_boolean([[True, False]], "value_mask", {"(B, Tv)": (1, 2)})
    np.testing.assert_array_equal(keras.ops.convert_to_numpy(mask), [[True, False]])


def test_base_class_asks_for_a_score(rng):
    from attention_by_hand.layers.base import AttentionPooling

    with pytest.raises(NotImplementedError, match=r"must implement score\(query, key\)"):
        AttentionPooling().score(*loops.inputs(rng, with_key=False))
