"""Exercises of chapter 15: bits per character, top-p, Kneser–Ney's shortest order, where an induction head looks."""

import numpy as np
from keras import ops

from attention_by_hand.exercises.framework import Function

LN2 = float(np.log(2))


def _normal(rng, *shape):
    return rng.normal(size=shape).astype("float32")


def _text_inputs(rng):
    """Logits (B, T, V), targets (B, T), and weights that end at a different place in every row."""
    lengths = rng.permutation(np.arange(2, 7))[:3]
    weight = (np.arange(6)[None, :] < lengths[:, None]).astype("float32")
    return 2 * _normal(rng, 3, 6, 5), rng.integers(0, 5, size=(3, 6)).astype("int32"), weight


def _log_p(logits, target):
    """Natural logarithm of the probability of each target, (B, T)."""
    picked = ops.one_hot(target, logits.shape[-1])
    return ops.sum(ops.log_softmax(logits, axis=-1) * picked, axis=-1)


def _mean(x, weight):
    return ops.sum(x * weight) / ops.sum(weight)


def _wrong_axis(logits, target, weight):
    picked = ops.one_hot(target, logits.shape[-1])
    return _mean(-ops.sum(ops.log_softmax(logits, axis=1) * picked, axis=-1) / LN2, weight)


def _mean_of_rows(logits, target, weight):
    bits = -_log_p(logits, target) / LN2
    return ops.mean(ops.sum(bits * weight, axis=1) / ops.sum(weight, axis=1))


BITS = Function(
    "15.1",
    inputs=_text_inputs,
    solution=lambda x, y, w: _mean(-_log_p(x, y) / LN2, w),
    mistakes={
        "nats": lambda x, y, w: _mean(-_log_p(x, y), w),
        "sign": lambda x, y, w: _mean(_log_p(x, y) / LN2, w),
        "padding_counted": lambda x, y, w: ops.mean(-_log_p(x, y) / LN2),
        "divided_by_all": lambda x, y, w: ops.mean(-_log_p(x, y) / LN2 * w),
        "sum": lambda x, y, w: ops.sum(-_log_p(x, y) / LN2 * w),
        "mean_of_rows": _mean_of_rows,
        "log_of_mean": lambda x, y, w: -ops.log(_mean(ops.exp(_log_p(x, y)), w)) / LN2,
        "perplexity": lambda x, y, w: ops.exp(_mean(-_log_p(x, y), w)),
        "no_softmax": lambda x, y, w: _mean(-ops.sum(x * ops.one_hot(y, x.shape[-1]), axis=-1) / LN2, w),
        "wrong_axis": _wrong_axis,
    },
)


def _nucleus_inputs(rng):
    """Probabilities (B, V) and a share that cuts somewhere in the middle; no sum comes near to it."""
    while True:
        p = np.exp(1.3 * rng.normal(size=(4, 7)))
        p = p / p.sum(axis=1, keepdims=True)
        share = float(rng.uniform(0.5, 0.75))
        sums = np.cumsum(np.sort(p, axis=1)[:, ::-1], axis=1)
        kept = (sums < share).sum(axis=1) + 1
        cuts_from_below = (p.max(axis=1) < 0.99 - share).any()  # or who keeps the smallest keeps all
        other = (sums < 1 - share).sum(axis=1) + 1  # what "complement" keeps: no other answer keeps as many in each row
        apart = all((other != answer).any() for answer in (kept, kept - 1, kept[:1]))
        clear = min(np.abs(sums - share).min(), np.abs(sums - 1 + share).min()) > 0.01
        if clear and apart and np.ptp(kept) > 0 and (kept > 1).all() and cuts_from_below:
            return p.astype("float32"), share


def _kept(p, share, before=True, descending=True):
    """1 for the tokens that stay: those whose sum before (or up to) them is below the share."""
    q = p if descending else -p
    larger = ops.cast(ops.expand_dims(q, 1) > ops.expand_dims(q, 2), p.dtype)  # (B, V, V): j goes before i
    total = ops.sum(larger * ops.expand_dims(p, 1), axis=2)  # (B, V)
    total = total if before else total + p
    return ops.cast(total < share, p.dtype)


def _divided(p):
    return p / ops.sum(p, axis=1, keepdims=True)


def _same_number(p, share):
    """As many tokens in every row as the first row keeps."""
    count = ops.sum(_kept(p, share)[0])
    larger = ops.sum(ops.cast(ops.expand_dims(p, 1) > ops.expand_dims(p, 2), p.dtype), axis=2)
    return _divided(p * ops.cast(larger < count, p.dtype))


NUCLEUS = Function(
    "15.2",
    inputs=_nucleus_inputs,
    solution=lambda p, share: _divided(p * _kept(p, share)),
    mistakes={
        "not_divided": lambda p, share: p * _kept(p, share),
        "last_one_missing": lambda p, share: _divided(p * _kept(p, share, before=False)),
        "smallest_kept": lambda p, share: _divided(p * _kept(p, share, descending=False)),
        "rest_kept": lambda p, share: _divided(p * (1 - _kept(p, share))),
        "in_order_of_ids": lambda p, share: _divided(p * ops.cast(ops.cumsum(p, axis=1) - p < share, p.dtype)),
        "threshold": lambda p, share: _divided(p * ops.cast(p >= 1 - share, p.dtype)),
        "softmax": lambda p, share: ops.softmax(p * _kept(p, share), axis=1),
        "same_number": _same_number,
        "complement": lambda p, share: _divided(p * _kept(p, 1 - share)),
        "unchanged": lambda p, share: p,
    },
)


def _counts(rng):
    """Bigram counts (V, V), row = first symbol; many are 0, some are large."""
    while True:
        counts = rng.integers(0, 9, size=(5, 5)) * (rng.random((5, 5)) < 0.5)
        counts[rng.integers(0, 5)] *= 7
        fronts, backs = (counts > 0).sum(axis=0), (counts > 0).sum(axis=1)
        if (fronts > 0).all() and len(set(fronts)) > 2 and sorted(fronts) != sorted(backs):
            return (counts.astype("float32"),)


def _seen(counts):
    return ops.cast(counts > 0, "float32")


CONTINUATION = Function(
    "15.3",
    inputs=_counts,
    solution=lambda c: ops.sum(_seen(c), axis=0) / ops.sum(_seen(c)),
    mistakes={
        "occurrences": lambda c: ops.sum(c, axis=0) / ops.sum(c),
        "followers": lambda c: ops.sum(_seen(c), axis=1) / ops.sum(_seen(c)),
        "occurrences_as_first": lambda c: ops.sum(c, axis=1) / ops.sum(c),
        "not_divided": lambda c: ops.sum(_seen(c), axis=0),
        "divided_by_symbols": lambda c: ops.mean(_seen(c), axis=0),
        "mixed": lambda c: ops.sum(_seen(c), axis=0) / ops.sum(c),
        "per_row": lambda c: _seen(c) / ops.maximum(ops.sum(_seen(c), axis=1, keepdims=True), 1.0),
        "conditional": lambda c: c / ops.maximum(ops.sum(c, axis=1, keepdims=True), 1.0),
    },
)


def _repeating(rng):
    """Tokens (B, T) of few symbols, so that some occur twice and more."""
    while True:
        tokens = rng.integers(0, 4, size=(2, 9))
        if (tokens[:, 1:] == tokens[:, :-1]).any():  # also one that follows itself
            return (tokens.astype("int32"),)


def _same(tokens, past=True):
    """Boolean (B, T, T): key s holds the token of query t; only earlier ones, or all others."""
    same = ops.equal(ops.expand_dims(tokens, 2), ops.expand_dims(tokens, 1))
    length = tokens.shape[1]
    allowed = np.tri(length, k=-1, dtype=bool) if past else ~np.eye(length, dtype=bool)
    return ops.logical_and(same, ops.convert_to_tensor(allowed))


def _moved(same, by):
    """The mask with every key moved to the right by 1, or to the left by 1."""
    pad = [(0, 0), (0, 0), (1, 0)] if by == 1 else [(0, 0), (0, 0), (0, 1)]
    padded = ops.pad(ops.cast(same, "int32"), pad)
    return ops.cast(padded[:, :, :-1] if by == 1 else padded[:, :, 1:], "bool")


def _last_only(tokens):
    """Only the latest of the earlier ones."""
    same = ops.cast(_same(tokens), "int32")
    later = ops.flip(ops.cumsum(ops.flip(same, axis=2), axis=2), axis=2) - same
    return _moved(ops.logical_and(same > 0, later == 0), 1)


def _fixed(tokens, table):
    """One mask (T, T) for every row."""
    return ops.logical_and(ops.convert_to_tensor(table), ops.ones_like(_same(tokens)))


LOOKED_FOR = Function(
    "15.4",
    inputs=_repeating,
    solution=lambda t: _moved(_same(t), 1),
    mistakes={
        "same_token": _same,
        "token_before": lambda t: _moved(_same(t), -1),
        "sees_the_future": lambda t: _moved(_same(t, past=False), 1),
        "with_itself": lambda t: _moved(ops.logical_or(_same(t), ops.eye(t.shape[1], dtype="bool")), 1),
        "transposed_mask": lambda t: ops.transpose(_moved(_same(t), 1), (0, 2, 1)),
        "last_only": _last_only,
        "previous_token": lambda t: _fixed(t, np.eye(t.shape[1], k=-1, dtype=bool)),
        "all_of_the_past": lambda t: _fixed(t, np.tri(t.shape[1], dtype=bool)),
    },
)

EXERCISES = [BITS, NUCLEUS, CONTINUATION, LOOKED_FOR]
