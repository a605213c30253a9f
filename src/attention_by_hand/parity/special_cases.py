"""Relative positions, rotations and ALiBi with their positions switched off, against Keras's `MultiHeadAttention`."""

import itertools
from dataclasses import dataclass

import keras
import numpy as np
from keras import ops

from attention_by_hand import backend, strings
from attention_by_hand.layers import AlibiAttention, RelativePositionAttention, RotaryAttention
from attention_by_hand.parity.compare import Comparison, draw_weights
from attention_by_hand.parity.table import Table

BATCH, HEADS, KEY_DIM, VALUE_DIM, WIDTH, OUTPUT = 2, 3, 4, 6, 7, 8
LENGTHS = ((5, 5), (3, 5), (6, 4))
MASKS = ("none", "padding", "causal", "causal+padding")
SHARED = 8  # four kernels and four biases, which both layers have


def _tables(layer):
    """Every distance adds nothing to key and value."""
    layer.set_weights([*layer.get_weights()[:SHARED], *(0 * w for w in layer.get_weights()[SHARED:])])


def _angle(layer):
    """Nothing turns, as if all stood at one place."""
    layer.rotary.frequency = 0 * layer.rotary.frequency


# name of the string of the row: layer, its own options, and what switches its positions off
KINDS = {
    "shaw": (RelativePositionAttention, {"max_distance": 2}, _tables),
    "huang": (RelativePositionAttention, {"max_distance": 2, "use_value_term": False}, _tables),
    "rotary": (RotaryAttention, {}, _angle),
    "alibi": (AlibiAttention, {"slopes": (0.0,) * HEADS}, None),
}


@dataclass(frozen=True)
class SpecialCase:
    """One comparison: a key of `KINDS`, `(Tq, Tv)`, one of `MASKS`, and the seed of everything that is drawn."""

    kind: str
    lengths: tuple
    mask: str
    seed: int
    with_key = False

    @property
    def masks(self):
        return self.mask

    @property
    def label(self):
        """The row of the table that this case belongs to."""
        return strings.text(f"parity.special_cases.{self.kind}")

    def data(self):
        """Inputs `[query, value]` and masks. Key 0 is always visible, so that every query sees one."""
        rng = np.random.default_rng(self.seed)
        shapes = [(BATCH, length, WIDTH) for length in self.lengths]
        padding = rng.random((BATCH, self.lengths[1])) < 0.5
        padding[:, 0] = True
        return [rng.normal(size=shape).astype("float32") for shape in shapes], {
            "value_mask": padding if "padding" in self.mask else None,
            "use_causal_mask": "causal" in self.mask,
        }

    def layers(self, shapes, switched_off=True):
        """Our layer, its positions switched off, and Keras's, with the same random weights."""
        kind, options, switch = KINDS[self.kind]
        sizes = {"num_heads": HEADS, "key_dim": KEY_DIM, "value_dim": VALUE_DIM, "output_shape": OUTPUT}
        ours, builtin = kind(**sizes, **options), keras.layers.MultiHeadAttention(**sizes)
        for layer in (ours, builtin):
            layer.build(*shapes)
        draw_weights(ours, np.random.default_rng(self.seed))
        if switch and switched_off:
            switch(ours)
        builtin.set_weights(ours.get_weights()[:SHARED])
        return ours, builtin


def special_case_grid():
    """All 48 cases: kinds × lengths × masks."""
    return [SpecialCase(*case, seed) for seed, case in enumerate(itertools.product(KINDS, LENGTHS, MASKS))]


def run_special_cases(quick=False):
    """Compare outputs, weights and gradients by inputs and by the weights that both layers have.

    Args:
        quick: the 8 cases with padding in which all sizes differ: for a chapter, as jax compiles everything anew
            for every shape. The number of cases printed is what ran.

    Returns:
        A `Table`: print it, or call its `check()`.
    """
    table = Table(strings.text("parity.special_cases.title"))
    for case in special_case_grid():
        if not quick or (case.lengths == LENGTHS[1] and "padding" in case.mask):
            table.add(case, compare_special_case(case))
    return table


def compare_special_case(case, switched_off=True):
    """One case; with `switched_off=False` the positions stay, and the two layers must differ.

    Returns:
        A `Comparison`.
    """
    inputs, masks = case.data()
    layers = case.layers([x.shape for x in inputs], switched_off)
    weighting = np.random.default_rng(case.seed + 1).normal(size=(BATCH, case.lengths[0], OUTPUT)).astype("float32")
    with backend.highest_precision():
        mine, theirs = (_measure(layer, inputs, masks, weighting) for layer in layers)
    result = Comparison()
    result.add("output", mine[0], theirs[0])
    result.add("weights", mine[1], theirs[1])
    for name, *pair in zip(("query", "value"), mine[2], theirs[2], strict=True):
        result.add(f"d/d {name}", *pair)
    for variable, *pair in zip(layers[0].trainable_variables[:SHARED], mine[3], theirs[3], strict=True):
        result.add(f"d/d weight {variable.name}", *pair)
    return result


def _measure(layer, inputs, masks, weighting):
    """Output, weights, gradients of Σ R ⊙ output by inputs and by the shared weights."""

    def loss(query, value, weighting):
        found = layer(query, value, return_attention_scores=True, training=False, **masks)
        return ops.sum(weighting * found[0]), found

    run = backend.differentiate(loss, layer.trainable_variables[:SHARED])
    _, (output, weights), by_input, by_weight = run(inputs, [weighting])
    return output, weights, by_input, by_weight
