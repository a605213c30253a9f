"""Self-attention against `keras.layers.MultiHeadAttention` with one head, whose mixing matrix is the identity."""

import itertools
from dataclasses import dataclass

import keras
import numpy as np
from keras import ops

from attention_by_hand import backend, strings
from attention_by_hand.layers import SelfAttention
from attention_by_hand.parity.compare import Comparison, draw_weights
from attention_by_hand.parity.table import Table

BATCH, LENGTH, WIDTH, KEY_DIM = 2, 5, 7, 3
VALUE_DIMS = (None, 4)  # None: as wide as the keys
MASKS = ("none", "padding", "causal", "causal+padding", "any pairs")
OPTIONS = ({"use_bias": False}, {"use_bias": True}, {"use_bias": True, "dropout": 0.3})
DRAWS = 3


@dataclass(frozen=True)
class OneHeadCase:
    """One comparison: constructor options of `SelfAttention`, one of `MASKS`, and a seed."""

    options: dict
    masks: str
    seed: int
    lengths = (LENGTH, LENGTH)
    with_key = False

    @property
    def label(self):
        """The options as they are written in code."""
        return ", ".join(f"{name}={value!r}" for name, value in self.options.items())

    def data(self):
        """Input x (B, T, D) and the masks `(padding (B, T), pairs (B, T, T), causal)`, None where not used."""
        rng = np.random.default_rng(self.seed)
        x = rng.normal(size=(BATCH, LENGTH, WIDTH)).astype("float32")
        padding = rng.permuted(np.arange(LENGTH) < rng.integers(1, LENGTH, size=(BATCH, 1)), axis=1)
        pairs = rng.random((BATCH, LENGTH, LENGTH)) < 0.5
        return x, (
            padding if "padding" in self.masks else None,
            pairs if self.masks == "any pairs" else None,
            "causal" in self.masks,
        )


def one_head_builtin(ours):
    """A Keras layer with one head for a built `SelfAttention`: same widths, same biases, no weights copied yet."""
    builtin = keras.layers.MultiHeadAttention(
        num_heads=1,
        key_dim=ours.key_dim,
        value_dim=ours.value_dim,
        use_bias=ours.use_bias,
        dropout=ours.attention.dropout,
        output_shape=ours.value_dim,
    )
    shape = (None, None, int(ours.query_kernel.shape[0]))
    builtin.build(shape, shape)
    return builtin


def copy_to_builtin(ours, builtin):
    """Our weights in Keras's shapes: a head axis is inserted, and the output is mixed by the identity.

    Args:
        ours: a built `SelfAttention`.
        builtin: what `one_head_builtin(ours)` returned.
    """
    arrays = []
    for weight in ours.weights:
        array = backend.to_numpy(weight)  # kernel (D, Dk) → (D, 1, Dk), bias (Dk,) → (1, Dk)
        arrays.append(np.expand_dims(array, -2))
    arrays.append(np.eye(ours.value_dim)[None])  # output kernel (1, Dv, Dv)
    builtin.set_weights(arrays + ([np.zeros(ours.value_dim)] if ours.use_bias else []))


def compare_one_head(ours, builtin, x, padding=None, pairs=None, causal=False, seed=0):
    """Output, weights, and gradients by input and weights, as in `parity.compare`.

    Rows of padding, and rows that see no key, are left out: there the built-in differs on purpose.

    Args:
        ours, builtin: the two layers, with the same weights.
        x: (B, T, D), float32.
        padding: boolean (B, T), or None.
        pairs: boolean (B, T, T), or None.
        causal: whether the causal mask acts, too.
        seed: seed of the R in Σ R ⊙ output.

    Returns:
        A `Comparison`.
    """
    visible = _visible(x, padding, pairs, causal)  # (B, T, T)
    rows = visible.any(axis=-1) & (np.ones(x.shape[:2], bool) if padding is None else padding)
    weighting = np.random.default_rng(seed + 1).normal(size=(*rows.shape, ours.value_dim)) * rows[..., None]
    weighting = ops.convert_to_tensor(weighting.astype("float32"))  # (B, T, Dv)

    def mine(t):
        return ours(t, mask=padding, attention_mask=pairs, use_causal_mask=causal, return_attention_scores=True)

    def theirs(t):
        options = {"value_mask": padding, "attention_mask": pairs, "use_causal_mask": causal}
        options = {name: ops.convert_to_tensor(m) if isinstance(m, np.ndarray) else m for name, m in options.items()}
        return builtin(t, t, return_attention_scores=True, **options)

    found = []
    with backend.highest_precision():
        for run, layer in ((mine, ours), (theirs, builtin)):
            output, weights = (backend.to_numpy(part) for part in run(ops.convert_to_tensor(x)))
            weights = weights.reshape(visible.shape)  # Keras's has a head axis of 1
            _, inputs, variables = backend.value_and_grad(
                lambda t, run=run: ops.sum(weighting * run(t)[0]), [x], layer.trainable_variables
            )
            found.append([output * rows[..., None], weights * rows[..., None], inputs[0], variables])
    result = Comparison()
    for name, a, b in zip(("output", "weights", "d/d query"), *(f[:3] for f in found), strict=True):
        result.add(name, a, b)
    for variable, a, b in zip(ours.trainable_variables, found[0][3], found[1][3], strict=False):
        result.add(f"d/d weight {variable.name}", a, b.reshape(a.shape))  # the mixing matrix comes last: left out
    return result


def run_one_head(quick=False):
    """Compare `SelfAttention` with Keras's one head over options, masks and draws.

    Args:
        quick: one draw of the cases whose sizes are all different, 15 of 90: enough for a chapter, as jax traces
            every gradient anew. The number of cases printed is what ran.

    Returns:
        A `Table`: print it, or call its `check()`.
    """
    table = Table(strings.text("parity.one_head"))
    draws = 1 if quick else DRAWS
    value_dims = VALUE_DIMS[-1:] if quick else VALUE_DIMS
    product = itertools.product(OPTIONS, value_dims, MASKS, range(draws))
    for seed, (options, value_dim, masks, _) in enumerate(product):
        case = OneHeadCase({**options, "value_dim": value_dim}, masks, seed)
        x, (padding, pairs, causal) = case.data()
        ours = SelfAttention(KEY_DIM, **case.options)
        ours.build(x.shape)
        draw_weights(ours, np.random.default_rng(seed))
        builtin = one_head_builtin(ours)
        copy_to_builtin(ours, builtin)
        table.add(case, compare_one_head(ours, builtin, x, padding, pairs, causal, seed))
    return table


def _visible(x, padding, pairs, causal):
    """Boolean (B, T, T): which keys each query sees. NumPy, apart from our masks module."""
    batch, length = x.shape[:2]
    visible = np.ones((batch, length, length), bool)
    if padding is not None:
        visible &= padding[:, None, :]
    if pairs is not None:
        visible &= pairs
    return visible & np.tril(np.ones((length, length), bool)) if causal else visible
