"""Parity of the attention decoder: a loop over Keras's `GRUCell`, `AdditiveAttention` and two `Dense` layers."""

from dataclasses import dataclass

import keras
import numpy as np
from keras import ops

from attention_by_hand import backend, strings
from attention_by_hand.layers import AttentionDecoder
from attention_by_hand.parity.compare import Comparison, draw_weights
from attention_by_hand.parity.table import Table

BATCH, STEPS, WORDS, WIDTH, MEMORY, UNITS = 3, 4, 5, 6, 7, 8  # B, Tq, Tv, D, C, U: all different
LENGTHS = (5, 2, 4)  # real source words of the three sentences, where there is a mask


class StepByStep:
    """The decoder made of built-ins alone, with the weights of an `AttentionDecoder` whose score is the paper's.

    `Dense(U)` on the state and on the memory, `keras.layers.AdditiveAttention` on both, `keras.layers.GRUCell` on
    [input; context], and a Python loop.

    Attributes:
        variables: the weights, under the names that they have in ours.
    """

    def __init__(self, decoder):
        units, memory_width = decoder.units, decoder.attention.key_kernel.shape[0]
        self.cell = keras.layers.GRUCell(units)
        self.cell.build((None, decoder.kernel.shape[0]))
        self.cell.set_weights([decoder.kernel, decoder.recurrent_kernel, decoder.bias])
        width = decoder.attention.units
        self.query, self.key = (keras.layers.Dense(width, use_bias=False) for _ in range(2))
        self.query.build((None, units))
        self.key.build((None, memory_width))
        self.attention = keras.layers.AdditiveAttention()
        self.attention.build([(None, 1, width), (None, None, memory_width), (None, None, width)])
        ours = {w.name: w for w in decoder.attention.weights}
        self.query.set_weights([ours["query_kernel"]])
        self.key.set_weights([ours["key_kernel"]])
        self.attention.set_weights([ours["scale"]])
        self.variables = {
            "kernel": self.cell.kernel,
            "recurrent_kernel": self.cell.recurrent_kernel,
            "bias": self.cell.bias,
            "query_kernel": self.query.kernel,
            "key_kernel": self.key.kernel,
            "scale": self.attention.scale,
        }

    def __call__(self, x, memory, memory_mask, state):
        """States (B, Tq, U), weights (B, Tq, Tv) and contexts (B, Tq, C)."""
        states, rows, contexts = [], [], []
        keys = self.key(memory)  # (B, Tv, A)
        visible = None if memory_mask is None else [None, ops.convert_to_tensor(memory_mask)]
        for t in range(x.shape[1]):
            query = ops.expand_dims(self.query(state), axis=1)  # (B, 1, A): the state before the step
            context, weights = self.attention([query, memory, keys], mask=visible, return_attention_scores=True)
            state, _ = self.cell(ops.concatenate([x[:, t], context[:, 0]], axis=-1), [state])
            states.append(state)
            rows.append(weights[:, 0])
            contexts.append(context[:, 0])
        return tuple(ops.stack(parts, axis=1) for parts in (states, rows, contexts))


@dataclass(frozen=True)
class DecoderCase:
    """One comparison: with or without a mask, with or without an initial state, and the seed of what is drawn."""

    masked: bool
    started: bool
    seed: int
    with_key = False
    lengths = (STEPS, WORDS)

    @property
    def masks(self):
        return "padding" if self.masked else "none"

    @property
    def label(self):
        """The row of the table."""
        answer = {True: strings.text("parity.decoder.yes"), False: strings.text("parity.decoder.no")}
        return strings.text("parity.decoder.row", mask=answer[self.masked], state=answer[self.started])


def run_decoder(quick=False):
    """Compare states, weights, contexts, and the gradients by inputs and by every weight.

    Args:
        quick: two of the four cases, with mask and with a state: for a chapter.

    Returns:
        A `Table`: print it, or call its `check()`.
    """
    table = Table(strings.text("parity.decoder.title"))
    cases = [
        DecoderCase(masked, started, 2 * masked + started) for masked in (False, True) for started in (False, True)
    ]
    for case in cases[2:] if quick else cases:
        table.add(case, compare_decoder(case))
    return table


def compare_decoder(case, decoder=None):
    """One case; the gradients are those of Σ R₁ ⊙ states + Σ R₂ ⊙ weights + Σ R₃ ⊙ contexts, all R random.

    Args:
        case: a `DecoderCase`.
        decoder: the layer to compare; an `AttentionDecoder` with random weights, biases included, when None.

    Returns:
        A `Comparison`.
    """
    rng = np.random.default_rng(case.seed)
    draw = lambda *shape: rng.normal(size=shape).astype("float32")  # noqa: E731
    decoder = AttentionDecoder(UNITS) if decoder is None else decoder
    decoder.build((None, None, WIDTH), (None, None, MEMORY))
    draw_weights(decoder, rng)
    steps = StepByStep(decoder)
    inputs = [draw(BATCH, STEPS, WIDTH), draw(BATCH, WORDS, MEMORY)]
    inputs += [draw(BATCH, UNITS)] if case.started else []
    mask = np.arange(WORDS) < np.array(LENGTHS)[:, None] if case.masked else None
    given = [ops.convert_to_tensor(draw(BATCH, STEPS, width)) for width in (UNITS, WORDS, MEMORY)]

    def total(found):
        return sum(ops.sum(a * b) for a, b in zip(found, given, strict=True)), found

    def ours(x, memory, state=None):
        asked = {"return_attention_scores": True, "return_contexts": True}
        return total(decoder(x, memory, memory_mask=mask, initial_state=state, **asked))

    def builtin(x, memory, state=None):
        return total(steps(x, memory, mask, ops.zeros((BATCH, UNITS)) if state is None else state))

    names = [w.name for w in decoder.trainable_variables]
    with backend.highest_precision():
        mine = backend.differentiate(ours, decoder.trainable_variables, compiled=True)(inputs)
        theirs = backend.differentiate(builtin, [steps.variables[name] for name in names], compiled=True)(inputs)
    result = Comparison()
    quantities = ["output states", "weights", "output contexts", "d/d x", "d/d memory", "d/d initial_state"]
    quantities = quantities[: 3 + len(inputs)] + [f"d/d weight {name}" for name in names]
    flat = [[array for part in run[1:] for array in part] for run in (mine, theirs)]
    for quantity, *pair in zip(quantities, *flat, strict=True):
        result.add(quantity, *pair)
    return result
