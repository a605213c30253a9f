"""Parity of the transformer's blocks: the same block composed of `keras.layers` alone, with the same weights."""

from dataclasses import dataclass

import keras
import numpy as np
from keras import ops

from attention_by_hand import backend, strings
from attention_by_hand.layers import TransformerDecoderBlock, TransformerEncoderBlock
from attention_by_hand.parity.compare import Comparison, draw_weights
from attention_by_hand.parity.table import Table

BATCH, STEPS, WORDS, WIDTH, MEMORY = 2, 5, 7, 12, 10  # B, Tq, Tv, D, C: all different
HEADS, MLP = 3, 9  # so Dk = 4
# Holes, not ends: behind the last real step the causal mask would hide the padding by itself.
REAL_STEPS = np.array([[1, 0, 1, 1, 0], [1, 1, 0, 0, 1]], bool)
REAL_WORDS = np.array([[0, 1, 1, 0, 1, 1, 1], [1, 1, 1, 1, 0, 0, 0]], bool)
KINDS = ("encoder", "decoder", "decoder_only")


class BuiltInBlock:
    """A block made of `keras.layers`: `MultiHeadAttention`, `LayerNormalization`, `Dense`, `Add`.

    Attributes:
        parts: the layers that have weights, by the names of ours.
    """

    def __init__(self, block):
        """Built like `block`, one of ours, which is built; with its weights."""
        layers, epsilon = keras.layers, block.epsilon
        self.norm_first, self.add = block.norm_first, keras.layers.Add()
        heads, key_dim = block.num_heads, block.attention.key_dim
        shape, memory_shape = (None, None, block.width), (None, None, getattr(block, "memory_width", None))
        self.parts = {}
        for name in ("attention", "cross_attention", "mlp"):
            if hasattr(block, f"{name}_norm"):
                self.parts[f"{name}_norm"] = layers.LayerNormalization(epsilon=epsilon)
                self.parts[f"{name}_norm"].build(shape)
            if name != "mlp" and hasattr(block, name):
                self.parts[name] = layers.MultiHeadAttention(heads, key_dim)
                self.parts[name].build(shape, shape if name == "attention" else memory_shape)
        self.parts["mlp_hidden"] = layers.Dense(block.mlp_dim, activation=block.activation)
        self.parts["mlp_output"] = layers.Dense(block.width)
        self.parts["mlp_hidden"].build(shape)
        self.parts["mlp_output"].build((None, None, block.mlp_dim))
        for name, part in self.parts.items():
            part.set_weights(getattr(block, name).get_weights())

    def __call__(self, x, memory=None, padding_mask=None, memory_mask=None, use_causal_mask=False):
        """Output (B, Tq, D), and the weights (B, H, Tq, Tq) and, with a memory, (B, H, Tq, Tv)."""
        parts, every = self.parts, []

        def around(name, x, function):
            norm = parts[f"{name}_norm"]
            if self.norm_first:
                return self.add([x, function(norm(x))])
            return norm(self.add([x, function(x)]))

        def attend(layer, memory, **masks):
            def function(h):
                y, weights = layer(h, h if memory is None else memory, return_attention_scores=True, **masks)
                every.append(weights)
                return y

            return function

        own = attend(parts["attention"], None, value_mask=padding_mask, use_causal_mask=use_causal_mask)
        x = around("attention", x, own)
        if memory is not None:
            x = around("cross_attention", x, attend(parts["cross_attention"], memory, value_mask=memory_mask))
        x = around("mlp", x, lambda h: parts["mlp_output"](parts["mlp_hidden"](h)))
        return x, *every


@dataclass(frozen=True)
class TransformerCase:
    """One comparison: which block (`KINDS`), pre- or post-norm, which masks, and the seed of what is drawn."""

    kind: str
    norm_first: bool
    padding: bool
    causal: bool
    seed: int
    with_key = False

    @property
    def lengths(self):
        return (STEPS, WORDS) if self.kind == "decoder" else (STEPS, STEPS)

    @property
    def masks(self):
        return "+".join(name for name in ("padding", "causal") if getattr(self, name)) or "none"

    @property
    def label(self):
        """The row of the table."""
        order = strings.text("parity.transformer.pre" if self.norm_first else "parity.transformer.post")
        return strings.text("parity.transformer.row", block=BLOCK_NAMES[self.kind](), order=order)


BLOCK_NAMES = {
    "encoder": lambda: strings.text("parity.transformer.encoder"),
    "decoder": lambda: strings.text("parity.transformer.decoder"),
    "decoder_only": lambda: strings.text("parity.transformer.decoder_only"),
}


def transformer_cases():
    """All 16 cases: the encoder with every mask, the decoders causal, with and without padding; pre- and post-norm."""
    masks = [(False, False), (True, False), (False, True), (True, True)]
    cases = [(kind, first, *m) for kind in KINDS for first in (True, False) for m in masks]
    return [TransformerCase(*case, seed) for seed, case in enumerate(c for c in cases if c[0] == "encoder" or c[3])]


def run_transformer(quick=False, kinds=None):
    """Compare outputs, weights of every attention, and the gradients by inputs and by every weight.

    Args:
        quick: with padding and the causal mask only, pre- and post-norm: for a chapter.
        kinds: which of `KINDS`; when None all, or encoder and decoder if `quick`.

    Returns:
        A `Table`: print it, or call its `check()`.

    Raises:
        ValueError: there is no such kind.
    """
    kinds = (KINDS[:2] if quick else KINDS) if kinds is None else kinds
    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(f"kinds must be among {', '.join(KINDS)}; got {kind!r}")
    table = Table(strings.text("parity.transformer.title"))
    for case in transformer_cases():
        if case.kind in kinds and (not quick or (case.padding and case.causal)):
            table.add(case, compare_transformer(case))
    return table


def compare_transformer(case, block=None):
    """One case; the gradients are those of Σ R ⊙ output, R random, and 0 where a step is padding.

    Args:
        case: a `TransformerCase`.
        block: the block to compare; one with random weights, biases, gammas and betas included, when None.

    Returns:
        A `Comparison`.
    """
    rng = np.random.default_rng(case.seed)
    draw = lambda *shape: rng.normal(size=shape).astype("float32")  # noqa: E731
    kind = TransformerEncoderBlock if case.kind == "encoder" else TransformerDecoderBlock
    block = kind(HEADS, MLP, norm_first=case.norm_first) if block is None else block
    inputs = [draw(BATCH, STEPS, WIDTH)] + ([draw(BATCH, WORDS, MEMORY)] if case.kind == "decoder" else [])
    block.build(*(x.shape for x in inputs))
    draw_weights(block, rng)
    builtin = BuiltInBlock(block)
    masks = {"use_causal_mask": case.causal}
    real = REAL_STEPS if case.padding else np.ones((BATCH, STEPS), bool)
    if case.padding:
        masks["padding_mask"] = ops.convert_to_tensor(real)
        if case.kind == "decoder":
            masks["memory_mask"] = ops.convert_to_tensor(REAL_WORDS)
    weighting = ops.convert_to_tensor(draw(BATCH, STEPS, WIDTH) * real[:, :, None])

    def total(found):
        return ops.sum(weighting * found[0]), found

    names = [f"{name}/{w.name}" for name, part in builtin.parts.items() for w in getattr(block, name).weights]
    ours = [w for name in builtin.parts for w in getattr(block, name).weights]
    theirs = [w for part in builtin.parts.values() for w in part.weights]
    with backend.highest_precision():
        run = backend.differentiate(lambda *xs: total(block(*xs, **masks, return_attention_scores=True)), ours)
        mine = run(inputs)
        other = backend.differentiate(lambda *xs: total(builtin(*xs, **masks)), theirs)(inputs)
    result = Comparison()
    quantities = ["output", "weights of attention", "weights of cross_attention"][: 1 + len(inputs)]
    for quantity, *pair in zip(quantities, mine[1], other[1], strict=True):
        rows = real[:, :, None] if quantity == "output" else real[:, None, :, None]  # padding differs on purpose
        result.add(quantity, *(np.where(rows, x, 0.0) for x in pair))
    quantities = ["d/d x", "d/d memory"][: len(inputs)] + [f"d/d weight {name}" for name in names]
    for quantity, *pair in zip(quantities, [*mine[2], *mine[3]], [*other[2], *other[3]], strict=True):
        result.add(quantity, *pair)
    return result
