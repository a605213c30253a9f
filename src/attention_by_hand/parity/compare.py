"""One comparison: the same weights in both layers, then outputs, attention weights and gradients."""

import inspect
from dataclasses import dataclass, field

import numpy as np
from keras import ops

from attention_by_hand import backend, strings

TOLERANCE = 1e-5  # |Δ| ≤ TOLERANCE + TOLERANCE · |reference|, float32
SPREAD = 0.3  # standard deviation of drawn weights: none of them 0, none of them the initial value


@dataclass
class Comparison:
    """The largest difference of every quantity, and a sentence for each that is too large.

    Attributes:
        differences: max |Δ| by quantity: `"output"`, `"weights"`, `"d/d query"`, …, `"d/d <name of a weight>"`.
        mismatches: what differs, where, and by how much. Empty when everything agrees.
    """

    differences: dict = field(default_factory=dict)
    mismatches: list = field(default_factory=list)

    @property
    def ok(self):
        """Whether every quantity agrees within the tolerance."""
        return not self.mismatches

    def add(self, quantity, ours, builtin):
        """Compare one quantity, array against array, and keep what was found."""
        ours, builtin = np.asarray(ours, "float64"), np.asarray(builtin, "float64")
        if ours.shape != builtin.shape:
            self.differences[quantity] = float("inf")
            self.mismatches.append(strings.text("parity.shape", what=quantity, ours=ours.shape, builtin=builtin.shape))
            return
        delta = np.abs(ours - builtin)
        delta = np.where(np.isnan(delta), np.inf, delta)
        self.differences[quantity] = float(delta.max(initial=0.0))
        excess = delta - TOLERANCE * (1 + np.abs(builtin))
        if not (excess > 0).any():
            return
        where = tuple(int(i) for i in np.unravel_index(np.argmax(excess), excess.shape))
        numbers = {"ours": f"{ours[where]:.6g}", "builtin": f"{builtin[where]:.6g}", "delta": f"{delta[where]:.2g}"}
        self.mismatches.append(strings.text("parity.mismatch", what=quantity, where=list(where), **numbers))

    def largest(self, *prefixes):
        """Largest difference among the quantities whose name starts with one of `prefixes`; None without any."""
        found = [value for name, value in self.differences.items() if name.startswith(prefixes)]
        return max(found, default=None)

    def __str__(self):
        lines = [f"{name:24s} max |Δ| = {value:.1e}" for name, value in self.differences.items()]
        return "\n".join([*lines, *(self.mismatches or [strings.text("parity.agree")])])

    __repr__ = __str__


def compare(
    ours, builtin, inputs, query_mask=None, value_mask=None, use_causal_mask=False, copy_from="ours", seed=0, draw=True
):
    """Give both layers the same weights, run both on the same inputs and compare what comes out.

    Compared are the output, the attention weights, and the gradients of `Σ R ⊙ output`, R fixed and random,
    with respect to every input and every weight. Queries that are masked, or that may attend to no key, are
    left out: there the built-in differs on purpose (it averages over padding; we return zeros).

    Args:
        ours: one of our layers.
        builtin: the Keras layer, or a `Projected` one.
        inputs: `[query (B, Tq, D), value (B, Tv, Dv)]`, or with `key (B, Tv, Dk)` as third; float32 arrays.
        query_mask: boolean (B, Tq), or None.
        value_mask: boolean (B, Tv), or None.
        use_causal_mask: also compare under the causal mask.
        copy_from: `"ours"` or `"builtin"`: whose weights the other layer receives.
        seed: seed of the drawn weights and of R.
        draw: draw new weights from N(0, 0.3); False copies the weights as they are.

    Returns:
        A `Comparison`; print it, or test its `ok`.

    Raises:
        ValueError: `copy_from` is unknown, or the weights of the two layers do not fit each other.
    """
    masks = {"query_mask": query_mask, "value_mask": value_mask, "use_causal_mask": use_causal_mask}
    return Pair(ours, builtin).compare(inputs, **masks, copy_from=copy_from, seed=seed, draw=draw)


class Pair:
    """Two layers that must agree, and one function that runs both and takes all gradients, to be used often."""

    def __init__(self, ours, builtin):
        self.ours, self.builtin = ours, builtin
        self._functions = {}  # by causal mask

    def compare(
        self, inputs, query_mask=None, value_mask=None, use_causal_mask=False, copy_from="ours", seed=0, draw=True
    ):
        """What the function `compare` does."""
        if copy_from not in ("ours", "builtin"):
            raise ValueError(f'copy_from must be "ours" or "builtin"; got {copy_from!r}')
        rng = np.random.default_rng(seed)
        tensors = [ops.convert_to_tensor(x, "float32") for x in inputs]
        for layer in (self.ours, self.builtin):
            if not layer.built:
                _attend(layer, tensors, None, None, False)
        source, target = (self.ours, self.builtin) if copy_from == "ours" else (self.builtin, self.ours)
        if draw:
            draw_weights(source, rng)
        copy_weights(source, target)

        rows = _compared_rows(inputs, query_mask, value_mask, use_causal_mask)  # (B, Tq)
        weighting = np.random.default_rng(seed + 1).normal(size=(*rows.shape, inputs[1].shape[-1])) * rows[:, :, None]
        masks = [None if mask is None else np.asarray(mask, bool) for mask in (query_mask, value_mask)]
        with backend.highest_precision():
            run = self._function(use_causal_mask)
            _, extras, by_input, by_weight = run([*tensors, *tensors], [weighting.astype("float32"), *masks])
        return self._result(rows, extras, by_input, by_weight)

    def _function(self, use_causal_mask):
        """Σ R ⊙ output of both layers, each with inputs and weights of its own, so that no gradient mixes."""

        def both(*given):
            *inputs, weighting, query_mask, value_mask = given
            half = len(inputs) // 2
            found = [
                _attend(layer, xs, query_mask, value_mask, use_causal_mask)
                for layer, xs in ((self.ours, inputs[:half]), (self.builtin, inputs[half:]))
            ]
            return sum(ops.sum(weighting * output) for output, _ in found), [x for pair in found for x in pair]

        if use_causal_mask not in self._functions:
            variables = [*self.ours.trainable_variables, *self.builtin.trainable_variables]
            self._functions[use_causal_mask] = backend.differentiate(both, variables)
        return self._functions[use_causal_mask]

    def _result(self, rows, extras, by_input, by_weight):
        half, ours, builtin = len(by_input) // 2, self.ours.trainable_variables, self.builtin
        theirs = by_weight[len(ours) :]
        theirs = builtin.to_ours(theirs) if hasattr(builtin, "to_ours") else theirs
        kept = [np.where(rows[:, :, None], x, 0.0) for x in extras]  # rows that are not compared count as equal
        result = Comparison()
        result.add("output", kept[0], kept[2])
        result.add("weights", kept[1], kept[3])
        for name, mine, other in zip(("query", "value", "key"), by_input[:half], by_input[half:], strict=False):
            result.add(f"d/d {name}", mine, other)
        for variable, mine, other in zip(ours, by_weight[: len(ours)], theirs, strict=True):
            result.add(f"d/d weight {variable.name}", mine, other)
        return result


def draw_weights(layer, rng, spread=SPREAD):
    """Replace every weight of a layer by a draw from N(0, `spread`), so that a forgotten one is noticed."""
    layer.set_weights([rng.normal(0.0, spread, w.shape).astype("float32") for w in layer.weights])


def copy_weights(source, target):
    """Copy all weights of one layer into another, either way round between ours and a built-in.

    A `Projected` reference keeps its kernels in two matrices where our layer may have one; it knows how to
    convert, in both directions.

    Raises:
        ValueError: the shapes of the two layers' weights do not agree.
    """
    arrays = [backend.to_numpy(w) for w in source.weights]
    if hasattr(source, "to_ours"):
        arrays = source.to_ours(arrays)
    if hasattr(target, "from_ours"):
        arrays = target.from_ours(arrays)
    have, want = [a.shape for a in arrays], [tuple(w.shape) for w in target.weights]
    if have != want:
        raise ValueError(f"source ({source.name}) has weights of shapes {have}; target ({target.name}) needs {want}")
    target.set_weights(arrays)


def _attend(layer, tensors, query_mask, value_mask, use_causal_mask):
    """Output and weights of a layer, in whichever way it wants to be called."""
    common = {"use_causal_mask": use_causal_mask, "return_attention_scores": True}
    if "inputs" not in inspect.signature(layer.call).parameters:  # ours, MultiHeadAttention
        return layer(*tensors, query_mask=query_mask, value_mask=value_mask, **common)
    given = query_mask is not None or value_mask is not None
    return layer(list(tensors), mask=[_tensor(query_mask), _tensor(value_mask)] if given else None, **common)


def _tensor(mask):
    return None if mask is None else ops.convert_to_tensor(mask, "bool")


def _compared_rows(inputs, query_mask, value_mask, use_causal_mask):
    """Boolean (B, Tq): queries that are not masked and see at least one key. NumPy, apart from our masks module."""
    batch, query_length, value_length = *inputs[0].shape[:2], inputs[1].shape[1]
    visible = np.ones((batch, query_length, value_length), bool)
    if value_mask is not None:
        visible &= np.asarray(value_mask, bool)[:, None, :]
    if use_causal_mask:
        visible &= np.tril(np.ones((query_length, value_length), bool))
    rows = visible.any(axis=-1)
    return rows if query_mask is None else rows & np.asarray(query_mask, bool)
