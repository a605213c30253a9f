"""Exercises of chapter 14: attention to the memory, one cached step, tokens computed, links from several heads."""

import numpy as np
from keras import ops

from attention_by_hand.exercises.framework import Function

MASKED = -1e9


def _normal(rng, *shape):
    return rng.normal(size=shape).astype("float32")


def _flip(x):
    return ops.transpose(x, (0, 2, 1))


def _cross_inputs(rng):
    """Decoder (B, L, D), memory (B, L, C), both masks (B, L), three kernels. Both sides are padded to one length."""
    source = rng.permutation([3, 5])
    target = np.where(source == 3, 4, 2)  # one target is longer than its source, one is shorter
    masks = (np.arange(6)[None] < lengths[:, None] for lengths in (target, source))
    return (
        _normal(rng, 2, 6, 5),
        _normal(rng, 2, 6, 7),
        *masks,
        _normal(rng, 5, 4),
        _normal(rng, 7, 4),
        _normal(rng, 7, 3),
    )


def _cross(x, memory, target_mask, source_mask, w_q, w_k, w_v, visible=None, axis=-1, factor=0.5, after=False):
    """Output (B, L, Dv) of one head; `visible` is (B, L or 1, L), `factor` 1/√Dk."""
    visible = source_mask[:, None, :] if visible is None else visible  # (B, 1, L)
    scores = factor * ops.matmul(ops.matmul(x, w_q), _flip(ops.matmul(memory, w_k)))  # (B, L, L)
    hidden = scores if after else ops.where(visible, scores, MASKED)
    weights = ops.softmax(hidden, axis=axis)  # (B, L, L)
    weights = weights * ops.cast(visible, "float32") if after else weights
    return ops.matmul(weights, ops.matmul(memory, w_v))


def _causal_too(x, memory, target_mask, source_mask, *kernels):
    causal = ops.convert_to_tensor(np.tri(x.shape[1], dtype=bool))[None]
    return _cross(x, memory, target_mask, source_mask, *kernels, visible=source_mask[:, None, :] & causal)


CROSS = Function(
    "14.1",
    inputs=_cross_inputs,
    solution=_cross,
    mistakes={
        "target_mask": lambda *a: _cross(*a, visible=a[2][:, None, :]),
        "rows_masked": lambda *a: _cross(*a, visible=a[3][:, :, None]),
        "no_mask": lambda *a: _cross(*a, visible=ops.ones_like(a[3])[:, None, :]),
        "inverted": lambda *a: _cross(*a, visible=ops.logical_not(a[3])[:, None, :]),
        "after_softmax": lambda *a: _cross(*a, after=True),
        "causal_too": _causal_too,
        "both_masks": lambda *a: _cross(*a, visible=(a[2] & a[3])[:, None, :]),
        "unscaled": lambda *a: _cross(*a, factor=1.0),
        "over_queries": lambda *a: _cross(*a, axis=-2),
    },
)

ROOM, WIDTH = 6, 4  # places in the cache; width of keys and values


def _step_inputs(rng):
    """q, k, v of the new token (B, D), keys and values (B, L, D) filled up to the position, and the position."""
    position = int(rng.integers(2, 5))
    filled = (np.arange(ROOM) < position)[None, :, None]
    kept = [(_normal(rng, 3, ROOM, WIDTH) * filled).astype("float32") for _ in range(2)]
    return *(_normal(rng, 3, WIDTH) for _ in range(3)), *kept, position


def _step(q, k, v, keys, values, position, write=0, seen=1, factor=WIDTH**-0.5):
    """Output (B, D), new keys, new values; it writes at position + write and sees the places below position + seen."""
    here = ops.convert_to_tensor(np.arange(ROOM) == position + write)[None, :, None]
    keys, values = ops.where(here, k[:, None], keys), ops.where(here, v[:, None], values)
    scores = factor * ops.sum(q[:, None] * keys, axis=-1)  # (B, L)
    visible = ops.convert_to_tensor(np.arange(ROOM) < position + seen)[None]
    weights = ops.softmax(ops.where(visible, scores, MASKED), axis=-1)  # (B, L)
    return ops.sum(weights[:, :, None] * values, axis=1), keys, values


def _appended(q, k, v, keys, values, position):
    keys, values = (
        ops.concatenate([kept, new[:, None]], axis=1) for kept, new in ((keys, k), (values, v))
    )  # (B, L + 1, D)
    weights = ops.softmax(WIDTH**-0.5 * ops.sum(q[:, None] * keys, axis=-1), axis=-1)
    return ops.sum(weights[:, :, None] * values, axis=1), keys, values


CACHED_STEP = Function(
    "14.2",
    inputs=_step_inputs,
    solution=_step,
    mistakes={
        "empty_seen": lambda *a: _step(*a, seen=ROOM),
        "itself_unseen": lambda *a: _step(*a, seen=0),
        "one_late": lambda *a: _step(*a, write=1, seen=2),
        "one_early": lambda *a: _step(*a, write=-1, seen=0),
        "appended": _appended,
        "only_itself": lambda q, k, v, keys, values, position: (v, *_step(q, k, v, keys, values, position)[1:]),
        "old_cache": lambda q, k, v, keys, values, position: (
            _step(q, k, v, keys, values, position)[0],
            keys,
            values,
        ),
        "values_not_written": lambda q, k, v, keys, values, position: _step(q, k, 0 * v, keys, values, position),
        "unscaled": lambda *a: _step(*a, factor=1.0),
    },
)


def _counts(length, layers, without=None, first=None):
    """Token vectors that go through the blocks, with a cache and without."""
    return (
        layers * length if first is None else first,
        layers * length * (length + 1) // 2 if without is None else without,
    )


TOKENS = Function(
    "14.3",
    inputs=lambda rng: (int(rng.integers(6, 12)), int(rng.integers(2, 5))),  # T, blocks
    solution=_counts,
    mistakes={
        "swapped": lambda t, n: _counts(t, n)[::-1],
        "padded": lambda t, n: _counts(t, n, without=n * t * t),
        "new_one_forgotten": lambda t, n: _counts(t, n, without=n * t * (t - 1) // 2),
        "one_block": lambda t, n: _counts(t, 1),
        "one_step": lambda t, n: _counts(t, n, first=n),
        "no_difference": lambda t, n: _counts(t, n, without=n * t),
    },
    tolerance=0.0,
)


def _map_inputs(rng):
    """Weights (blocks, H, T, S) with rows for the stop token and padding; numbers of target and source words."""
    weights = rng.random((2, 3, 9, 7)).astype("float32") ** 3
    return weights, int(rng.integers(5, 7)), 5


def _links(weights, target, source, block=-1, first=0, join=ops.mean):
    rows = join(weights[block], axis=0)  # (T, S)
    return ops.argmax(rows[first : first + target, :source], axis=1)


HEADS = Function(
    "14.4",
    inputs=_map_inputs,
    solution=_links,
    mistakes={
        "first_block": lambda *a: _links(*a, block=0),
        "every_block": lambda w, t, s: _links(ops.mean(w, axis=0, keepdims=True), t, s),
        "row_late": lambda *a: _links(*a, first=1),
        "largest_head": lambda *a: _links(*a, join=ops.max),
        "one_head": lambda *a: _links(*a, join=lambda x, axis: x[0]),
        "padding_chosen": lambda w, t, s: _links(w, t, w.shape[-1]),
        "stop_token": lambda w, t, s: _links(w, t + 1, s),
    },
)

EXERCISES = [CROSS, CACHED_STEP, TOKENS, HEADS]
