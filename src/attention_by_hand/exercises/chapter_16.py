"""Exercises of chapter 16: pieces of a word, a kernel from torch, the mean over tokens, a head's score."""

import numpy as np
from keras import ops

from attention_by_hand.datasets.wordpiece import split_word
from attention_by_hand.exercises.framework import Function

# Some pieces begin a word, some continue one, some exist as both.
_PIECES = ("una", "un", "##able", "##ble", "##aff", "##f", "play", "##ing", "##ings", "##s", "ing", "##una", "re")
# Greedy and not what a person would cut, cut off in the middle, known at the beginning only, unknown, continued twice.
_WORDS = ("unable", "unaffable", "playings", "playing", "ings", "rexyz", "un", "xyz", "unauna", "unings", "reing")


def _each(split):
    """The same function for several words, 0 after each: one draw then shows every case."""

    def numbers(words, number):
        found = []
        for word in words.split():
            pieces = split(word, dict(number))
            if pieces is None or pieces is ...:
                return pieces
            pieces = np.asarray(pieces)
            if pieces.ndim != 1 or pieces.dtype.kind not in "iuf":
                return "no list of numbers"
            found += [*pieces.tolist(), 0]
        return np.array(found)

    return numbers


class Numbers(Function):
    """A function `(word, number) → list of numbers`, which is asked for several words."""

    def check(self, answer):
        return super().check(_each(answer) if callable(answer) else answer)


def _words_and_numbers(rng):
    """Words in one text, and a vocabulary whose numbers are others in every draw."""
    pieces = ["[UNK]", *rng.permutation(_PIECES).tolist()]
    return " ".join(rng.permutation(_WORDS).tolist()), {piece: n + 3 for n, piece in enumerate(pieces)}


def _pieces(word, number):
    return [number[piece] for piece in split_word(word, number)]


def _scan(word, number, order, prefix="##", unknown="whole"):
    """A tokenizer with one thing wrong."""
    pieces, start = [], 0
    while start < len(word):
        ends = range(len(word), start, -1) if order == "longest" else range(start + 1, len(word) + 1)
        mark = prefix if start else ""
        end = next((e for e in ends if mark + word[start:e] in number), None)
        if end is None:
            if unknown == "whole":
                return [number["[UNK]"]]
            pieces += [] if unknown == "dropped" else [number["[UNK]"]]
            return pieces
        pieces.append(number[mark + word[start:end]])
        start = end
    return pieces


def _no_mark(word, number):
    return _scan(word, number, "longest", prefix="")


def _backwards(word, number):
    """The longest end first, then what is before it."""
    pieces, end = [], len(word)
    while end > 0:
        starts = (s for s in range(end) if ("##" if s else "") + word[s:end] in number)
        start = next(starts, None)
        if start is None:
            return [number["[UNK]"]]
        pieces.insert(0, number[("##" if start else "") + word[start:end]])
        end = start
    return pieces


def _beginnings_only(word, number):
    """One step only: the longest beginning, nothing after it."""
    end = next((e for e in range(len(word), 0, -1) if word[:e] in number), None)
    return [number["[UNK]" if end is None else word[:end]]]


PIECES = Numbers(
    "16.1",
    inputs=_words_and_numbers,
    solution=_each(_pieces),
    mistakes={
        "shortest": _each(lambda word, number: _scan(word, number, "shortest")),
        "no_mark": _each(_no_mark),
        "known_part_kept": _each(lambda word, number: _scan(word, number, "longest", unknown="kept")),
        "rest_dropped": _each(lambda word, number: _scan(word, number, "longest", unknown="dropped")),
        "first_only": _each(_beginnings_only),
        "backwards": _each(_backwards),
    },
)


def _kernel_inputs(rng):
    """A matrix of 3 heads of width 4 for vectors of width 12: square, so that no shape tells."""
    return rng.normal(size=(12, 12)).astype("float32"), 3


def _cut(matrix, heads):
    """(D, H·Dk) → (D, H, Dk)"""
    return ops.reshape(matrix, (matrix.shape[0], heads, -1))


def _interleaved(weight, heads):
    """The heads cut as if feature h, h + H, … belonged to head h."""
    return ops.transpose(ops.reshape(ops.transpose(weight), (weight.shape[1], -1, heads)), (0, 2, 1))


KERNEL = Function(
    "16.2",
    inputs=_kernel_inputs,
    solution=lambda w, h: _cut(ops.transpose(w), h),
    mistakes={
        "not_transposed": _cut,
        "only_transposed": lambda w, h: ops.transpose(w),
        "heads_first": lambda w, h: ops.reshape(w, (h, -1, w.shape[1])),
        "interleaved": _interleaved,
        "width_first": lambda w, h: ops.transpose(_cut(ops.transpose(w), h), (0, 2, 1)),
        "reshaped_width_first": lambda w, h: ops.reshape(ops.transpose(w), (w.shape[1], -1, h)),
        "as_output": lambda w, h: ops.reshape(ops.transpose(w), (h, -1, w.shape[1])),
    },
)


def _hidden_inputs(rng):
    """Three texts of 2 to 4 tokens, padded to 5, with padding that is not 0."""
    lengths = rng.permutation([2, 3, 4])
    return rng.normal(size=(3, 5, 7)).astype("float32"), np.arange(5) < lengths[:, None]


def _real(hidden, mask):
    return ops.expand_dims(ops.cast(mask, hidden.dtype), -1)


def _divided(hidden, mask, number):
    return ops.sum(hidden * _real(hidden, mask), axis=1) / number


MEAN = Function(
    "16.3",
    inputs=_hidden_inputs,
    solution=lambda h, m: _divided(h, m, ops.sum(_real(h, m), axis=1)),
    mistakes={
        "padding_averaged": lambda h, m: ops.mean(h, axis=1),
        "divided_by_length": lambda h, m: _divided(h, m, h.shape[1]),
        "not_divided": lambda h, m: _divided(h, m, 1.0),
        "first_token": lambda h, m: h[:, 0],
        "largest": lambda h, m: ops.max(ops.where(_real(h, m) > 0, h, -1e9), axis=1),
        "mask_inverted": lambda h, m: _divided(h, ops.logical_not(m), ops.sum(1 - _real(h, m), axis=1)),
        "over_features": lambda h, m: ops.mean(h, axis=2),
        "one_number_for_all": lambda h, m: _divided(h, m, ops.sum(_real(h, m)) / h.shape[0]),
    },
)


def _maps(rng):
    """Maps of 4 heads for 7 tokens; every row sums to 1."""
    weights = rng.uniform(0.1, 1, size=(4, 7, 7)) ** 3
    return ((weights / weights.sum(axis=-1, keepdims=True)).astype("float32"),)


def _beside(weights, offset, first, last):
    """Mean over queries `first` … `last` of the weight on the key `offset` farther."""
    T = weights.shape[-1]
    rows = range(first, T + last)
    return sum(weights[:, t, t + offset] for t in rows) / len(rows)


SCORE = Function(
    "16.4",
    inputs=_maps,
    solution=lambda a: _beside(a, -1, 2, -1),
    mistakes={
        "next": lambda a: _beside(a, 1, 1, -2),
        "first_as_key": lambda a: _beside(a, -1, 1, -1),
        "last_as_query": lambda a: _beside(a, -1, 2, 0),
        "special_tokens_kept": lambda a: _beside(a, -1, 1, 0),
        "diagonal": lambda a: _beside(a, 0, 1, -1),
        "summed": lambda a: _beside(a, -1, 2, -1) * (a.shape[-1] - 3),
        "divided_by_all": lambda a: _beside(a, -1, 2, -1) * (a.shape[-1] - 3) / a.shape[-1],
        "divided_by_words": lambda a: _beside(a, -1, 2, -1) * (a.shape[-1] - 3) / (a.shape[-1] - 2),
        "heads_averaged": lambda a: ops.mean(_beside(a, -1, 2, -1)),
    },
)

EXERCISES = [PIECES, KERNEL, MEAN, SCORE]
