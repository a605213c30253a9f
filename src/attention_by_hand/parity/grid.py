"""The grid of options over which a layer is compared with the built-in."""

import inspect
import itertools
from dataclasses import dataclass, field

import keras
import numpy as np

from attention_by_hand.layers import AdditiveAttention, DotProductAttention
from attention_by_hand.parity.compare import Pair
from attention_by_hand.parity.reference import reference
from attention_by_hand.parity.table import Table

MASKS = ("none", "query", "value", "query+value", "causal", "causal+value")
BATCH, WIDTH, KEY_VALUE_WIDTH, GENERAL_KEY_WIDTH = 2, 4, 7, 6
# (Tq, Tv) and whether keys are given: fewer queries than keys, and more. Two sets of sizes, not four: jax
# compiles every operation anew for every shape, and most of a run's time goes there.
SHAPES = (((3, 5), False), ((6, 4), True))
DRAWS = {AdditiveAttention: 3, DotProductAttention: 2}  # every other draw copies the weights the other way

# One row of the table: options of our layer, then the options that its reference needs of the built-in.
ROWS = {
    AdditiveAttention: (
        ({"use_scale": False}, ("use_scale",)),
        ({"use_scale": True}, ("use_scale",)),
        ({"units": 8}, ("use_scale",)),
        ({"dropout": 0.5}, ("dropout",)),
    ),
    DotProductAttention: (
        ({}, ()),
        ({"scale": "learned"}, ("use_scale",)),
        ({"scale": "sqrt"}, ()),
        ({"scale": 0.7, "dropout": 0.5}, ("dropout",)),
        ({"score_mode": "general"}, ()),
        ({"score_mode": "general", "scale": "learned"}, ("use_scale",)),
        ({"score_mode": "concat"}, ("score_mode",)),
        ({"score_mode": "concat", "scale": "learned"}, ("score_mode", "use_scale")),
        ({"score_mode": "concat", "units": 8}, ("use_scale",)),
        ({"score_mode": "concat", "units": 8, "scale": 0.7}, ("use_scale",)),
    ),
}
BUILTINS = {AdditiveAttention: keras.layers.AdditiveAttention, DotProductAttention: keras.layers.Attention}


@dataclass(frozen=True)
class Case:
    """One cell of the grid.

    Attributes:
        options: constructor arguments of our layer.
        needs: constructor arguments that the built-in must have.
        lengths: (Tq, Tv).
        with_key: whether keys are given apart from the values, with a width of their own.
        masks: one of `MASKS`.
        seed: seed of inputs, masks and weights.
    """

    options: dict = field(hash=False)
    needs: tuple
    lengths: tuple
    with_key: bool
    masks: str
    seed: int

    @property
    def label(self):
        """The options as they are written in code: the row of the table that this case belongs to."""
        return ", ".join(f"{name}={value!r}" for name, value in self.options.items()) or "()"

    def data(self):
        """Inputs and masks: `([query, value] or [query, value, key], {"query_mask": …, …})`, NumPy."""
        rng = np.random.default_rng(self.seed)
        query_length, value_length = self.lengths
        key_width = GENERAL_KEY_WIDTH if self.options.get("score_mode") == "general" else WIDTH
        widths = [KEY_VALUE_WIDTH, key_width] if self.with_key else [key_width]
        inputs = [rng.normal(size=(BATCH, query_length, WIDTH))]
        inputs += [rng.normal(size=(BATCH, value_length, width)) for width in widths]
        parts = self.masks.split("+")
        return [x.astype("float32") for x in inputs], {
            "query_mask": _padding(rng, query_length) if "query" in parts else None,
            "value_mask": _padding(rng, value_length) if "value" in parts else None,
            "use_causal_mask": "causal" in parts,
        }


def _padding(rng, length):
    """A mask (B, length): in each row at least one step is visible and one is not, in any order."""
    mask = np.arange(length) < rng.integers(1, length, size=(BATCH, 1))
    return rng.permuted(mask, axis=1)


def grid(layer):
    """All cases for a layer class: every row of options × sizes × masks, each two or three times with other numbers.

    Args:
        layer: `layers.AdditiveAttention` or `layers.DotProductAttention`, the class.

    Raises:
        ValueError: there is no grid for this class.
    """
    if layer not in ROWS:
        raise ValueError(f"layer must be one of {', '.join(c.__name__ for c in ROWS)}; got {layer!r}")
    product = itertools.product(ROWS[layer], SHAPES, MASKS, range(DRAWS[layer]))
    return [Case(*row, *shape, masks, seed) for seed, (row, shape, masks, _) in enumerate(product)]


def run(layer, quick=False, builtin=None):
    """Compare our layer with the built-in in every case of the grid.

    Args:
        layer: the class of our layer.
        quick: a part of the grid with at least 60 cases, for a chapter, as jax compiles anew for every shape:
            only the cases with keys of their own, and where that leaves more than 72 every other one. The number
            of cases printed is what ran.
        builtin: the class whose constructor is searched for the options that a case needs; Keras's by default.

    Returns:
        A `Table`: print it, or call its `check()`. Options that the installed Keras does not have are rows
        that say so, and are not counted.
    """
    available = constructor_options(builtin or BUILTINS[layer])
    table, pairs = Table(layer.__name__), {}
    cases = grid(layer)
    if quick:
        cases = [case for case in cases if case.with_key]
        if len(cases) > 72:  # every option still meets every mask; weights are copied one way, then the other
            cases = [case for number, case in enumerate(cases) if number % 4 in (0, 3)]
    for case in cases:
        if absent := [name for name in case.needs if name not in available]:
            table.skip(case.label, absent)
            continue
        inputs, masks = case.data()
        place = (case.label, case.lengths)
        if place not in pairs:
            ours = layer(**case.options)
            ours.build(*(x.shape for x in inputs))
            pairs[place] = Pair(ours, reference(ours))
        copy_from = "builtin" if case.seed % 2 else "ours"  # both directions are exercised
        table.add(case, pairs[place].compare(inputs, copy_from=copy_from, seed=case.seed, **masks))
    return table


def constructor_options(layer):
    """Names of all constructor arguments of a layer class, those of its bases included."""
    return {name for base in layer.__mro__ for name in inspect.signature(base.__init__).parameters}
