"""`MultiHeadAttention` against Keras's, over every option, and against `torch.nn.MultiheadAttention` on torch."""

import itertools
import logging
from dataclasses import dataclass

import keras
import numpy as np
from keras import ops

from attention_by_hand import backend, strings
from attention_by_hand.layers import MultiHeadAttention
from attention_by_hand.parity.compare import Comparison, copy_weights, draw_weights
from attention_by_hand.parity.table import Table

BATCH, HEADS, KEY_DIM, WIDTH, VALUE_WIDTH, OUTPUT = 2, 3, 4, 7, 6, 8
LENGTHS = ((5, 5), (3, 5), (6, 4))  # self-attention; fewer queries than keys; more
MASKS = ("none", "padding", "causal", "causal+padding", "any pairs")
OPTIONS = tuple(
    {"use_bias": use_bias, "value_dim": value_dim, "dropout": dropout}
    for use_bias, value_dim, dropout in itertools.product((True, False), (None, 9), (0.0, 0.3))
)


@dataclass(frozen=True)
class MultiHeadCase:
    """One comparison.

    Attributes:
        options: constructor options of both layers, beyond the sizes.
        scores: whether the weights are asked for; without them both layers may use a fused kernel.
        lengths: (Tq, Tv). Equal lengths are self-attention: one tensor is query and value.
        mask: one of `MASKS`.
        seed: seed of weights, inputs and masks.
    """

    options: dict
    scores: bool
    lengths: tuple
    mask: str
    seed: int
    with_key = False

    @property
    def masks(self):
        """What a mismatch says beside the options."""
        return f"{self.mask}, return_attention_scores={self.scores}"

    @property
    def label(self):
        """The options as they are written in code: the row of the table that this case belongs to."""
        return ", ".join(f"{name}={value!r}" for name, value in self.options.items())

    def data(self):
        """Inputs `[x]` or `[query, value]`, and the masks as `{"value_mask": …, …}`; NumPy."""
        rng = np.random.default_rng(self.seed)
        query_length, value_length = self.lengths
        shapes = [(BATCH, query_length, WIDTH), (BATCH, value_length, VALUE_WIDTH)]
        inputs = [rng.normal(size=s).astype("float32") for s in shapes[: 1 if query_length == value_length else 2]]
        padding = np.arange(value_length) < rng.integers(1, value_length, size=(BATCH, 1))
        pairs = (BATCH, HEADS, query_length, value_length) if self.seed % 2 else (BATCH, query_length, value_length)
        return inputs, {
            "value_mask": rng.permuted(padding, axis=1) if "padding" in self.mask else None,
            "attention_mask": rng.random(pairs) < 0.5 if self.mask == "any pairs" else None,
            "use_causal_mask": "causal" in self.mask,
        }

    def layers(self, shapes):
        """Ours and Keras's, built for inputs of the given shapes, with the same random weights."""
        sizes = {"num_heads": HEADS, "key_dim": KEY_DIM, "output_shape": OUTPUT}
        pair = [kind(**sizes, **self.options) for kind in (MultiHeadAttention, keras.layers.MultiHeadAttention)]
        for layer in pair:
            layer.build(shapes[0], shapes[-1])
        source, target = pair if self.seed % 2 else pair[::-1]  # both directions are exercised
        draw_weights(source, np.random.default_rng(self.seed))
        copy_weights(source, target)
        return pair


def multi_head_grid():
    """All 240 cases: options × scores × lengths × masks."""
    product = itertools.product(OPTIONS, (True, False), LENGTHS, MASKS)
    return [MultiHeadCase(*case, seed) for seed, case in enumerate(product)]


def run_multi_head(quick=False):
    """Compare outputs, weights (where asked for) and gradients by inputs and weights in every case of the grid.

    Rows that see no key are left out: there the built-in gives one answer with scores and another without.

    Args:
        quick: the 20 cases with scores in which all sizes differ: for a chapter, as jax compiles everything anew
            for every shape. The number of cases printed is what ran.

    Returns:
        A `Table`: print it, or call its `check()`.
    """
    table = Table(strings.text("parity.multi_head"))
    for case in multi_head_grid():
        small = case.lengths == LENGTHS[1] and case.scores and case.options["value_dim"] is not None
        if small or not quick:
            table.add(case, compare_multi_head(case))
    return table


def compare_multi_head(case):
    """One case.

    Keras 3.15 on jax cannot run without scores when `value_dim` differs from `key_dim`; there our result without
    scores is compared with the built-in's result with them.

    Returns:
        A `Comparison`.
    """
    inputs, given = case.data()
    layers = case.layers([x.shape for x in inputs])
    rows = visible_pairs(case.lengths, **given).any(axis=-1)  # (B, H, Tq); a head may see what another does not
    rows = rows.all(axis=1)[:, :, None]  # (B, Tq, 1)
    weighting = np.random.default_rng(case.seed + 1).normal(size=(BATCH, case.lengths[0], OUTPUT)) * rows
    weighting = ops.convert_to_tensor(weighting.astype("float32"))
    masks = {name: ops.convert_to_tensor(m) if isinstance(m, np.ndarray) else m for name, m in given.items()}
    found = []
    with backend.highest_precision():
        for layer in layers:
            found.append(_measure(layer, inputs, masks, case.scores, weighting, layer is layers[1]))
    result = Comparison()
    result.add("output", *(f[0] * rows for f in found))
    if case.scores:
        result.add("weights", *(f[1] * rows[:, None] for f in found))
    for name, mine, theirs in zip(("query", "value"), *(f[2] for f in found), strict=False):
        result.add(f"d/d {name}", mine, theirs)
    for variable, mine, theirs in zip(layers[0].trainable_variables, *(f[3] for f in found), strict=True):
        result.add(f"d/d weight {variable.name}", mine, theirs)
    return result


def _measure(layer, inputs, masks, scores, weighting, builtin):
    """Output, weights or None, gradients of Σ R ⊙ output by inputs and by weights."""
    kept = {}

    def run(*xs, scores=scores):
        found = layer(xs[0], xs[-1], return_attention_scores=scores, training=False, **masks)
        kept["output"], kept["weights"] = found if scores else (found, None)
        return ops.sum(weighting * kept["output"])

    tensors = [ops.convert_to_tensor(x) for x in inputs]
    logging.disable(logging.ERROR)  # Keras logs the TypeError below at length
    try:
        run(*tensors)
    except TypeError:
        if not builtin or scores or layer.value_dim == layer.key_dim:
            raise
        scores = True
        run(*tensors, scores=True)
    finally:
        logging.disable(logging.NOTSET)
    output, weights = (None if kept[n] is None else backend.to_numpy(kept[n]) for n in ("output", "weights"))
    loss = lambda *xs: run(*xs, scores=scores)  # noqa: E731
    return output, weights, *backend.value_and_grad(loss, inputs, layer.trainable_variables)[1:]


def compare_with_torch(mask=None, lengths=(3, 5), seed=0):
    """Our layer against `torch.nn.MultiheadAttention` with the same weights: output and weights.

    Args:
        mask: boolean (B, H, Tq, Tv) with B 2 and H 3, True = may attend; or None.
        lengths: (Tq, Tv).
        seed: seed of weights and inputs.

    Returns:
        A `Comparison`; None where the backend is not torch.
    """
    rng = np.random.default_rng(seed)
    width = HEADS * KEY_DIM  # torch knows no other
    shapes = ((BATCH, lengths[0], width), (BATCH, lengths[1], VALUE_WIDTH), (BATCH, lengths[1], WIDTH))
    query, value, key = (rng.normal(size=shape).astype("float32") for shape in shapes)
    layer = MultiHeadAttention(HEADS, KEY_DIM)
    layer.build(*shapes)
    draw_weights(layer, rng)
    theirs = backend.torch_multi_head([backend.to_numpy(w) for w in layer.weights], query, value, key, mask)
    if theirs is None:
        return None
    ours = layer(query, value, key, attention_mask=mask, return_attention_scores=True)
    result = Comparison()
    for name, mine, other in zip(("output", "weights"), ours, theirs, strict=True):
        result.add(name, backend.to_numpy(mine), other)
    return result


def visible_pairs(lengths, value_mask=None, attention_mask=None, use_causal_mask=False):
    """Boolean (B, H, Tq, Tv): which keys a query sees, in each head. NumPy, apart from our masks module."""
    visible = np.ones((BATCH, HEADS, *lengths), bool)
    if value_mask is not None:
        visible &= value_mask[:, None, None, :]
    if attention_mask is not None:
        visible &= attention_mask if attention_mask.ndim == 4 else attention_mask[:, None]
    return visible & np.tril(np.ones(lengths, bool)) if use_causal_mask else visible
