"""Masks for attention: boolean, True = may attend. The same polarity as Keras, flax and PyTorch's SDPA.

`B` batch, `Tq` number of queries, `Tv` number of keys (and values), `D` width.
"""

import keras
import numpy as np
from keras import ops

MASKED_SCORE = -1e38  # below any real score, yet finite: a row of masked scores must not become NaN


def as_boolean(mask, name, shapes):
    """Check a mask and return it as a boolean tensor; None stays None.

    Args:
        mask: boolean, or integers or floats that hold only 0 and 1. None means "no mask".
        name: the argument's name, for error messages.
        shapes: the shapes that are allowed, as `{"(B, Tv)": (2, 5)}`: text for messages, then the sizes.
            A size of None is not known yet. A mask may have size 1 where it is to be broadcast.

    Returns:
        A boolean tensor of the same shape, or None.

    Raises:
        ValueError: the shape fits none of `shapes`; a value is neither 0 nor 1 (an additive mask of 0 and
            -1e9, say); or a float mask is traced, so that its values cannot be seen.
    """
    if mask is None:
        return None
    if not hasattr(mask, "shape") or not hasattr(mask, "dtype"):
        mask = np.asarray(mask)
    if not any(_fits(tuple(mask.shape), sizes) for sizes in shapes.values()):
        expected = " or ".join(f"{text} = {sizes}" for text, sizes in shapes.items())
        raise ValueError(f"{name} must have shape {expected}; got {tuple(mask.shape)}")
    dtype = keras.backend.standardize_dtype(mask.dtype)
    if dtype != "bool":
        _check_values(mask, dtype, name)
    return ops.cast(mask, "bool")


def _fits(shape, sizes):
    """Whether a shape broadcasts to `sizes`, as far as both are known."""
    return len(shape) == len(sizes) and all(
        size is None or expected is None or size in (1, expected) for size, expected in zip(shape, sizes, strict=True)
    )


def _check_values(mask, dtype, name):
    """Refuse a mask of numbers that are not 0 and 1, or floats that cannot be seen."""
    advice = "pass booleans, True = may attend"
    values = _visible(mask)
    if values is None:
        if "float" in dtype:
            raise ValueError(f"{name} is a {dtype} mask whose values cannot be seen while tracing; {advice}")
        return
    odd = values[~np.isin(values, (0, 1))]
    if odd.size:
        raise ValueError(f"{name} must be boolean or hold only 0 and 1; got a {dtype} mask with {odd[0]}; {advice}")


def _visible(mask):
    """The mask's values as an array, or None while they are symbolic or traced."""
    if isinstance(mask, keras.KerasTensor):
        return None
    try:
        return np.asarray(ops.convert_to_numpy(mask))
    except Exception:  # each framework has its own error for "this tensor has no values yet"
        return None


def causal(query_length, key_length=None):
    """Causal mask: query i sees keys 0 … i. Aligned at the top left, as in Keras.

    Args:
        query_length: Tq, an integer or a scalar tensor.
        key_length: Tv; as many as queries when None.

    Returns:
        Boolean tensor (1, Tq, Tv).
    """
    key_length = query_length if key_length is None else key_length
    rows = ops.expand_dims(ops.arange(query_length), axis=1)  # (Tq, 1)
    columns = ops.expand_dims(ops.arange(key_length), axis=0)  # (1, Tv)
    return ops.expand_dims(rows >= columns, axis=0)  # (1, Tq, Tv)


def padding(ids, pad=0):
    """Padding mask of token ids: True where there is a token.

    Args:
        ids: integers (B, T).
        pad: the id that stands for "no token".

    Returns:
        Boolean tensor (B, T).
    """
    return ops.not_equal(ops.convert_to_tensor(ids), pad)


def from_lengths(lengths, length):
    """Padding mask of sequences of which only the first steps are real ("valid lengths").

    Args:
        lengths: integers (B,), the number of real steps of each sequence.
        length: T, the number of steps including padding.

    Returns:
        Boolean tensor (B, T).

    Raises:
        ValueError: `lengths` is not a vector of integers.
    """
    lengths = ops.convert_to_tensor(lengths)
    dtype = keras.backend.standardize_dtype(lengths.dtype)
    if len(lengths.shape) != 1 or "int" not in dtype:
        raise ValueError(f"lengths must be integers of shape (B,); got {dtype} {tuple(lengths.shape)}")
    lengths = ops.cast(lengths, "int32")  # TensorFlow counts in no narrower type, and 8 bits end at 255
    return ops.expand_dims(ops.arange(length, dtype="int32"), axis=0) < ops.expand_dims(lengths, axis=1)  # (B, T)


def sliding_window(query_length, key_length=None, window=1):
    """Band mask: query i sees the keys j with |i − j| < window, as `sliding_window` of Keras's layers.

    Args:
        query_length: Tq, an integer or a scalar tensor.
        key_length: Tv; as many as queries when None.
        window: half the width of the band, at least 1; 1 leaves only the diagonal.

    Returns:
        Boolean tensor (1, Tq, Tv).

    Raises:
        ValueError: `window` is smaller than 1.
    """
    if window < 1:
        raise ValueError(f"window must be at least 1, or nobody may attend to anything; got {window}")
    key_length = query_length if key_length is None else key_length
    rows = ops.expand_dims(ops.arange(query_length), axis=1)  # (Tq, 1)
    columns = ops.expand_dims(ops.arange(key_length), axis=0)  # (1, Tv)
    return ops.expand_dims(ops.abs(rows - columns) < window, axis=0)  # (1, Tq, Tv)


def combine(*masks):
    """All masks at once: True where every mask that is not None is True; None if all are None.

    The masks must be boolean and broadcast against each other: (B, 1, Tv) with (1, Tq, Tv), say.
    """
    joined = None
    for mask in masks:
        if mask is not None:
            joined = mask if joined is None else ops.logical_and(joined, mask)
    return joined


def score_mask(query, value, value_mask=None, attention_mask=None, use_causal_mask=False):
    """Join all masks that act on scores into one, or None where nothing is masked.

    Args:
        query: tensor (B, Tq, Dq); only its shape is used.
        value: tensor (B, Tv, Dv); only its shape is used.
        value_mask: boolean (B, Tv), False for padding among keys and values.
        attention_mask: boolean (B, Tq, Tv), (1, Tq, Tv), (B, 1, Tv) or (Tq, Tv).
        use_causal_mask: also forbid keys later than the query.

    Returns:
        Boolean tensor that broadcasts to (B, Tq, Tv), or None.
    """
    parts = []
    if value_mask is not None:
        parts.append(ops.expand_dims(value_mask, axis=1))  # (B, 1, Tv)
    if attention_mask is not None:
        rank = len(attention_mask.shape)
        parts.append(attention_mask if rank == 3 else ops.expand_dims(attention_mask, axis=0))  # (1 | B, Tq, Tv)
    if use_causal_mask:
        parts.append(causal(ops.shape(query)[1], ops.shape(value)[1]))  # (1, Tq, Tv)
    return combine(*parts)


def masked_softmax(scores, mask=None):
    """Softmax over the key axis in which a masked key gets exactly 0, whatever its score.

    A row without any visible key gets zeros, not a uniform distribution and not NaN. Half precision is
    computed in float32 and cast back, so that one fill value serves every dtype.

    Args:
        scores: tensor (B, Tq, Tv).
        mask: boolean, broadcasts to (B, Tq, Tv), True = may attend; or None.

    Returns:
        Weights of the same shape and dtype as `scores`; each row with a visible key sums to 1.
    """
    dtype = keras.backend.standardize_dtype(scores.dtype)
    if dtype in ("float16", "bfloat16"):
        return ops.cast(masked_softmax(ops.cast(scores, "float32"), mask), dtype)
    if mask is None:
        return ops.softmax(scores, axis=-1)
    weights = ops.softmax(ops.where(mask, scores, MASKED_SCORE), axis=-1)
    return ops.where(mask, weights, 0.0)


def clear(x, mask):
    """Set masked positions of a sequence to 0, so that even a NaN in the padding cannot spread.

    Args:
        x: tensor (B, T, D).
        mask: boolean (B, T), or None.

    Returns:
        Tensor like `x`.
    """
    return x if mask is None else ops.where(ops.expand_dims(mask, axis=-1), x, ops.zeros_like(x))


def implicit(x):
    """The mask that Keras hung on a tensor (`Embedding(mask_zero=True)`, `Masking`, a layer before), or None."""
    return keras.src.backend.get_keras_mask(x)


def attach(x, mask):
    """Hang a mask on a layer's new output, where the next layer finds it; None changes nothing. Returns `x`."""
    if mask is not None:
        keras.src.backend.set_keras_mask(x, mask)
    return x
