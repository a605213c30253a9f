"""Our GRU against Keras's, forwards and both ways, with padding and without, with a given start and without."""

import itertools
from dataclasses import dataclass

import keras
import numpy as np
from keras import ops

from attention_by_hand import backend, strings
from attention_by_hand.layers import GRU
from attention_by_hand.parity.compare import Comparison, draw_weights
from attention_by_hand.parity.table import Table

BATCH, UNITS, WIDTH = 3, 6, 4
LENGTHS = (5, 1)
MASKS = ("none", "padding")


@dataclass(frozen=True)
class RecurrentCase:
    """One comparison: one way or both, one of `MASKS`, whether a start is given, the length T, and a seed."""

    bidirectional: bool
    masks: str
    started: bool
    length: int
    seed: int
    with_key = False

    @property
    def lengths(self):
        return (self.length, self.length)

    @property
    def label(self):
        """The row of the table that this case belongs to."""
        return strings.text(f"parity.recurrent.{'both' if self.bidirectional else 'one'}.{self.masks}")

    def data(self):
        """`(x (B, T, D), mask (B, T) or None, start (B, width) or None)`; every row has at least one real step."""
        rng = np.random.default_rng(self.seed)
        x = rng.normal(size=(BATCH, self.length, WIDTH)).astype("float32")
        mask = np.arange(self.length) < rng.integers(1, self.length + 1, size=(BATCH, 1))
        start = rng.normal(size=(BATCH, (1 + self.bidirectional) * UNITS)).astype("float32")
        return x, mask if self.masks == "padding" else None, start if self.started else None

    def layers(self):
        """Our layer and Keras's, with the same random weights."""
        ours = GRU(UNITS, bidirectional=self.bidirectional)
        ours.build((None, None, WIDTH))
        draw_weights(ours, np.random.default_rng(self.seed))
        builtin = keras.layers.GRU(UNITS, return_sequences=True, return_state=True)
        builtin = keras.layers.Bidirectional(builtin) if self.bidirectional else builtin
        builtin.build((None, None, WIDTH))
        builtin.set_weights([part[d] for d in range(ours.directions) for part in ours.get_weights()])
        return ours, builtin


def recurrent_grid():
    """All 16 cases: directions × masks × start × lengths."""
    product = itertools.product((False, True), MASKS, (False, True), LENGTHS)
    return [RecurrentCase(*case, seed) for seed, case in enumerate(product)]


def run_recurrent(quick=False):
    """Compare states, last state, and gradients by inputs, start and weights.

    Args:
        quick: the 2 cases with padding, a given start and sizes that all differ: enough for a chapter, as jax
            compiles everything anew for every shape. The number of cases printed is what ran.

    Returns:
        A `Table`: print it, or call its `check()`.
    """
    table = Table(strings.text("parity.recurrent.title"))
    for case in recurrent_grid():
        if not quick or (case.length == LENGTHS[0] and case.started and case.masks == "padding"):
            table.add(case, compare_recurrent(case))
    return table


def compare_recurrent(case):
    """One case: the states of real steps, the last state, and the gradients of Σ R ⊙ states + Σ R' ⊙ last.

    Args:
        case: a `RecurrentCase`.

    Returns:
        A `Comparison`.
    """
    x, mask, start = case.data()
    ours, builtin = case.layers()
    real = np.ones(x.shape[:2], bool) if mask is None else mask
    rng = np.random.default_rng(case.seed + 1)
    weightings = [rng.normal(size=(*real.shape, ours.width)) * real[..., None], rng.normal(size=(BATCH, ours.width))]
    weightings = [r.astype("float32") for r in weightings]
    given = [x] if start is None else [x, start]

    def mine(x, start=None):
        return ours(x, mask=mask, initial_state=start)

    def theirs(x, start=None):
        start = None if start is None else ops.split(start, ours.directions, axis=-1)
        states, *last = builtin(x, mask=None if mask is None else ops.convert_to_tensor(mask), initial_state=start)
        return states, ops.concatenate(last, axis=-1)

    with backend.highest_precision():
        found = [_measure(run, layer, given, weightings, real) for run, layer in ((mine, ours), (theirs, builtin))]
    result = Comparison()
    for name, *pair in zip(("output", "output: last"), *(f[:2] for f in found), strict=True):
        result.add(name, *pair)
    for name, *pair in zip(("query", "key"), found[0][2], found[1][2], strict=False):
        result.add(f"d/d {name}", *pair)
    theirs = [np.stack(found[1][3][n::3]) for n in range(3)]  # kernel, recurrent kernel, bias, of each direction
    for variable, *pair in zip(ours.trainable_variables, found[0][3], theirs, strict=True):
        result.add(f"d/d weight {variable.name}", *pair)
    return result


def _measure(run, layer, given, weightings, real):
    """States of real steps, last state, gradients by inputs and by weights."""

    def loss(*tensors):
        *inputs, weighting, weighting_last = tensors
        states, last = run(*inputs)
        return ops.sum(weighting * states) + ops.sum(weighting_last * last), (states, last)

    compute = backend.differentiate(loss, layer.trainable_variables)
    _, (states, last), by_input, by_weight = compute(given, weightings)
    return states * real[..., None], last, by_input, by_weight
