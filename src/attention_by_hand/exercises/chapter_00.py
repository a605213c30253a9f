"""Exercises of chapter 00: ten questions on what the course builds on, three functions that it starts from."""

import math

from keras import ops

from attention_by_hand.exercises.framework import Function, Question

_QUESTIONS = [
    Question(  # softmax of (0, ln 3)
        "0.1",
        expected=(0.25, 0.75),
        mistakes={
            "swapped": (0.75, 0.25),
            "not_normalised": (1.0, 3.0),
            "rescaled": (0.0, 1.0),
            "sigmoid": (0.5, 0.75),
            "uniform": (0.5, 0.5),
            "logarithm": (math.log(0.25), math.log(0.75)),
        },
    ),
    Question(  # cross-entropy where the right class has probability 0.25
        "0.2",
        expected=math.log(4),
        mistakes={
            "base_two": 2.0,
            "base_ten": math.log10(4),
            "sign": -math.log(4),
            "probability": 0.25,
            "error": 0.75,
            "other_class": -math.log(0.75),
        },
    ),
    Question(  # (2, 3, 1, 5) + (2, 1, 4, 5)
        "0.3",
        expected=(2, 3, 4, 5),
        mistakes={
            "summed": (2, 3, 4),
            "swapped": (2, 4, 3, 5),
            "not_stretched": (2, 1, 1, 5),
            "concatenated": (2, 4, 5, 5),
            "widths_added": (2, 3, 4, 10),
            "batch_doubled": (4, 3, 4, 5),
        },
    ),
    Question(  # einsum("btd,bsd->bts") of (2, 3, 5) and (2, 4, 5)
        "0.4",
        expected=(2, 3, 4),
        mistakes={
            "swapped": (2, 4, 3),
            "not_summed": (2, 3, 4, 5),
            "batch_summed": (3, 4),
            "batch_crossed": (2, 3, 2, 4),
            "wrong_axis": (2, 5, 5),
        },
    ),
    Question(  # z = 0.25, old state 4, candidate 8
        "0.5",
        expected=7.0,
        mistakes={
            "other_convention": 5.0,
            "sum": 12.0,
            "kept": 4.0,
            "replaced": 8.0,
            "mean": 6.0,
            "only_candidate": 2.0,
        },
    ),
    Question(  # parameters of GRU(5) on width 3
        "0.6",
        expected=150,
        mistakes={"one_bias": 135, "no_bias": 120, "one_gate": 50, "two_gates": 100, "lstm": 180, "no_recurrence": 75},
    ),
    Question(  # 28 columns, kernel 5, valid
        "0.7",
        expected=24,
        mistakes={"same": 28, "off_by_one": 23, "strided": 5, "full": 32, "half": 26},
    ),
    Question(  # Conv2D(32, 3) on 16 channels
        "0.8",
        expected=4640,
        mistakes={
            "no_bias": 4608,
            "one_channel": 320,
            "bias_per_input": 4624,
            "one_dimension": 1568,
            "channels_only": 544,
        },
    ),
    Question(  # 1000 examples, batches of 32, three epochs
        "0.9",
        expected=96,
        mistakes={"last_batch_lost": 93, "not_rounded": 93.75, "one_epoch": 32, "per_example": 3000, "epochs": 3},
    ),
    Question(  # first loss with ten classes
        "0.10",
        expected=math.log(10),
        mistakes={
            "base_two": math.log2(10),
            "base_ten": 1.0,
            "error": 0.9,
            "probability": 0.1,
            "sign": -math.log(10),
            "zero": 0.0,
        },
    ),
]


def _different_sizes(rng, count):
    return [int(n) for n in rng.permutation([2, 3, 4, 5, 6])[:count]]


def _draw_scores(rng):
    """Scores (B, Tq, Tv) whose first example is too large for a plain exponential, its last far below."""
    scores = rng.normal(0.0, 2.0, size=_different_sizes(rng, 3))
    scores[0] += 100.0  # e^100 is more than float32 holds
    scores[-1] -= 20.0  # e^-120 is less than float32 holds: the largest score of *all* is the wrong one to subtract
    return (scores.astype("float32"),)


def _softmax(scores):
    shifted = ops.exp(scores - ops.max(scores, axis=-1, keepdims=True))  # (B, Tq, Tv)
    return shifted / ops.sum(shifted, axis=-1, keepdims=True)


def _over_all(scores):
    shifted = ops.exp(scores - ops.max(scores, axis=-1, keepdims=True))
    return shifted / ops.sum(shifted)


def _from_largest_of_all(scores):
    powers = ops.exp(scores - ops.max(scores))
    return powers / ops.sum(powers, axis=-1, keepdims=True)


def _unstable(scores):
    powers = ops.exp(scores)
    return powers / ops.sum(powers, axis=-1, keepdims=True)


def _draw_query_key(rng):
    batch, queries, keys, width = _different_sizes(rng, 4)
    query = rng.normal(size=(batch, queries, width))
    key = rng.normal(size=(batch, keys, width))
    return query.astype("float32"), key.astype("float32")


def _draw_logits(rng):
    batch, classes = _different_sizes(rng, 2)
    logits = rng.normal(0.0, 2.0, size=(batch, classes)).astype("float32")
    return logits, rng.integers(0, classes, size=batch).astype("int32")


def _at_target(values, target):
    """values (B, V) at the column target (B,) of each row → (B,)."""
    return ops.take_along_axis(values, target[:, None], axis=-1)[:, 0]


def _cross_entropy(logits, target):
    return -ops.mean(_at_target(ops.log_softmax(logits, axis=-1), target))


_FUNCTIONS = [
    Function(
        "0.11",
        inputs=_draw_scores,
        solution=_softmax,
        mistakes={
            "softmax_axis": lambda scores: ops.softmax(scores, axis=-2),
            "unstable": _unstable,
            "largest_of_all": _from_largest_of_all,
            "over_all": _over_all,
            "not_normalised": lambda scores: ops.exp(scores - ops.max(scores, axis=-1, keepdims=True)),
            "rescaled": lambda scores: scores / ops.sum(scores, axis=-1, keepdims=True),
            "logarithm": lambda scores: ops.log_softmax(scores, axis=-1),
            "sigmoid": ops.sigmoid,
        },
    ),
    Function(
        "0.12",
        inputs=_draw_query_key,
        solution=lambda query, key: ops.einsum("btd,bsd->bts", query, key),
        mistakes={
            "query_key_swapped": lambda query, key: ops.einsum("btd,bsd->bst", query, key),
            "batch_crossed": lambda query, key: ops.einsum("btd,csd->btcs", query, key),
            "not_summed": lambda query, key: ops.einsum("btd,bsd->btsd", query, key),
            "batch_summed": lambda query, key: ops.einsum("btd,bsd->ts", query, key),
            "mean": lambda query, key: ops.einsum("btd,bsd->bts", query, key) / query.shape[-1],
            "scaled": lambda query, key: ops.einsum("btd,bsd->bts", query, key) / query.shape[-1] ** 0.5,
            "softmax": lambda query, key: ops.softmax(ops.einsum("btd,bsd->bts", query, key)),
        },
    ),
    Function(
        "0.13",
        inputs=_draw_logits,
        solution=_cross_entropy,
        mistakes={
            "sign": lambda logits, target: -_cross_entropy(logits, target),
            "sum": lambda logits, target: _cross_entropy(logits, target) * logits.shape[0],
            "not_averaged": lambda logits, target: -_at_target(ops.log_softmax(logits, axis=-1), target),
            "no_softmax": lambda logits, target: -ops.mean(_at_target(logits, target)),
            "no_logarithm": lambda logits, target: -ops.mean(_at_target(ops.softmax(logits, axis=-1), target)),
            "probability": lambda logits, target: ops.mean(_at_target(ops.softmax(logits, axis=-1), target)),
            "two_softmaxes": lambda logits, target: _cross_entropy(ops.softmax(logits, axis=-1), target),
            "softmax_over_batch": lambda logits, target: -ops.mean(_at_target(ops.log_softmax(logits, axis=0), target)),
            "base_two": lambda logits, target: _cross_entropy(logits, target) / math.log(2),
            "mean_over_classes": lambda logits, target: _cross_entropy(logits, target) / logits.shape[1],
        },
    ),
]

EXERCISES = [*_QUESTIONS, *_FUNCTIONS]
