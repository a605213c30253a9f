"""The recurrent networks of sequence to sequence: a GRU, in one direction or both, and its step."""

import math

import keras
from keras import ops

from attention_by_hand import backend, masks
from attention_by_hand.layers.base import check_floating, check_size


def recur(step, carry, inputs):
    """Apply a step again and again, and keep what it carried: `carry_t = step(carry_{t−1}, inputs_t)`.

    Args:
        step: `(carry, slice of inputs) → carry`; shapes and dtypes of the carry stay the same.
        carry: tuple of tensors, the start.
        inputs: tuple of tensors (T, …), one slice of each a step. Time is the first axis. If T is not known before
            it runs (tensorflow, batches of several lengths), XLA cannot differentiate the loop: compile the model with
            `jit_compile=False`, or pad to one length.

    Returns:
        Tuple like `carry`: all T carries, stacked along a new first axis.
    """
    length = inputs[0].shape[0]
    keep = lambda before, slices: (step(before, slices),) * 2  # noqa: E731
    if length is None:  # over the steps' numbers: of several inputs of unknown length, Keras 3.15.1 takes no slices
        at = lambda before, t: keep(before, tuple(ops.take(x, t, axis=0) for x in inputs))  # noqa: E731
        return ops.scan(at, carry, ops.arange(ops.shape(inputs[0])[0]))[1]
    if backend.compiles_loops():
        return ops.scan(keep, carry, inputs)[1]
    kept = []
    for slices in zip(*(ops.unstack(x, length, axis=0) for x in inputs), strict=True):
        carry = step(carry, slices)
        kept.append(carry)
    return tuple(ops.stack(states, axis=0) for states in zip(*kept, strict=True))


def gru_step(inputs, recurrent, state):
    """One step of a gated recurrent unit, after both projections.

        z = σ(x_z + h_z),  r = σ(x_r + h_r),  n = tanh(x_n + r ⊙ h_n),  new state = z ⊙ state + (1 − z) ⊙ n

    with `inputs` = (x_z, x_r, x_n) = x W + b and `recurrent` = (h_z, h_r, h_n) = state U + b', side by side. The
    reset gate r acts *after* the product with U: Keras's `reset_after=True`, as cuDNN. Bahdanau et al. 2015
    (appendix A.1.1) reset before it, and their gate z is our 1 − z.

    Args:
        inputs: tensor (…, 3U).
        recurrent: tensor (…, 3U).
        state: tensor (…, U).

    Returns:
        The new state (…, U).

    Source: Cho et al. 2014, "Learning Phrase Representations using RNN Encoder–Decoder", eqs 5–8.
    """
    x_z, x_r, x_n = ops.split(inputs, 3, axis=-1)  # (…, U) each
    h_z, h_r, h_n = ops.split(recurrent, 3, axis=-1)
    z = ops.sigmoid(x_z + h_z)  # how much to keep
    r = ops.sigmoid(x_r + h_r)  # how much of the old state the new one may see
    n = ops.tanh(x_n + r * h_n)  # what to write
    return n + z * (state - n)  # (…, U)


@keras.saving.register_keras_serializable("attention_by_hand")
class GRU(keras.layers.Layer):
    """A gated recurrent unit that reads a sequence forwards or both ways; padding leaves the state as it is.

        h_t = step(x_t W + b, h_{t−1} U + b', h_{t−1})

    Inputs are projected for all steps at once, and both directions go through one loop. The weights are those of
    `keras.layers.GRU`, with an axis for the direction in front.

    Args:
        units: width U of the state, for each direction.
        bidirectional: also read backwards, from the last real step; outputs are joined side by side.
        **kwargs: `name`, `dtype`, `trainable` as in every Keras layer.

    Raises:
        ValueError: `units` is not a positive integer.

    Source: Cho et al. 2014 (see `gru_step`); both directions: Schuster & Paliwal 1997, Bahdanau et al. 2015, sec. 3.2.
    """

    def __init__(self, units, bidirectional=False, **kwargs):
        super().__init__(**kwargs)
        self.units = check_size("units", units)
        self.bidirectional = bool(bidirectional)
        self.supports_masking = True

    @property
    def directions(self):
        """1, or 2 with `bidirectional`."""
        return 2 if self.bidirectional else 1

    @property
    def width(self):
        """Width of outputs and states: U a direction."""
        return self.directions * self.units

    def build(self, x_shape, mask_shape=None, initial_state_shape=None):
        check_sequence("x", x_shape)
        shape = (x_shape[-1], 3 * self.units)
        add = self.add_weight
        self.kernel = add(shape=(self.directions, *shape), initializer=MatrixStart("glorot_uniform"), name="kernel")
        shape = (self.directions, self.units, 3 * self.units)
        self.recurrent_kernel = add(shape=shape, initializer=MatrixStart("orthogonal"), name="recurrent_kernel")
        self.bias = add(shape=(self.directions, 2, 3 * self.units), initializer="zeros", name="bias")

    def call(self, x, mask=None, initial_state=None):
        """Read a sequence.

        Args:
            x: floating-point tensor (B, T, D).
            mask: boolean (B, T), False for padding.
            initial_state: (B, U), or (B, 2U) with both directions; 0 when None.

        Returns:
            `(states (B, T, width), last (B, width))`: the state after every step (at padding, that of the step
            before), and after the last real one; backwards, after the first. The width is U a direction.

        Raises:
            ValueError: `x` is not rank 3 or not floating point, the mask or the state has the wrong shape.
        """
        check_sequence("x", x.shape)
        check_floating(x=x)
        mask = masks.as_boolean(mask, "mask", {"(B, T)": tuple(x.shape[:2])})
        check_state(initial_state, x.shape[0], self.width)
        x = masks.clear(x, mask)
        steps = ops.stack([x, ops.flip(x, axis=1)][: self.directions], axis=0)  # (d, B, T, D)
        bias, recurrent_bias = ops.split(ops.convert_to_tensor(self.bias), 2, axis=1)  # (d, 1, 3U)
        steps = ops.einsum("dbti,dij->tdbj", steps, self.kernel) + bias  # (T, d, B, 3U)
        kernel = ops.convert_to_tensor(self.recurrent_kernel)  # (d, U, 3U)
        inputs = (steps,)
        if mask is not None:
            real = ops.stack([mask, ops.flip(mask, axis=1)][: self.directions], axis=0)  # (d, B, T)
            inputs = (steps, ops.expand_dims(ops.transpose(real, (2, 0, 1)), axis=-1))  # (T, d, B, 1)

        def step(carry, slices):
            state = carry[0]  # (d, B, U)
            new = gru_step(slices[0], state @ kernel + recurrent_bias, state)
            return (new if mask is None else ops.where(slices[1], new, state),)

        (states,) = recur(step, (self.start(x, initial_state),), inputs)  # (T, d, B, U)
        last = ops.concatenate(ops.unstack(states[-1], self.directions, axis=0), axis=-1)  # (B, width)
        ways = [ops.transpose(way, (1, 0, 2)) for way in ops.unstack(states, self.directions, axis=1)]  # (B, T, U)
        ways = [ways[0], *(ops.flip(way, axis=1) for way in ways[1:])]
        return ops.concatenate(ways, axis=-1), last

    def start(self, x, initial_state):
        """The state before the first step, (directions, B, U)."""
        if initial_state is None:
            return ops.zeros((self.directions, ops.shape(x)[0], self.units), dtype=x.dtype)
        return ops.stack(ops.split(ops.cast(initial_state, x.dtype), self.directions, axis=-1), axis=0)

    def compute_output_shape(self, x_shape, mask_shape=None, initial_state_shape=None):
        return (*x_shape[:-1], self.width), (x_shape[0], self.width)

    def compute_output_spec(self, x, mask=None, initial_state=None):
        """Symbolic outputs, from shapes alone."""
        check_sequence("x", x.shape)
        check_floating(x=x)
        shapes = self.compute_output_shape(x.shape)
        return tuple(keras.KerasTensor(shape, dtype=self.compute_dtype) for shape in shapes)

    def compute_mask(self, x, previous_mask=None):
        """The mask of the states is that of the inputs; the last state has none."""
        return previous_mask, None

    def get_config(self):
        return {**super().get_config(), "units": self.units, "bidirectional": self.bidirectional}


class MatrixStart(keras.initializers.Initializer):
    """Starts each matrix of a stack (d, rows, columns) alone: over the whole tensor the fans would be wrong.

    It draws in float32 and casts: no backend can orthogonalise every half precision.
    """

    def __init__(self, name):
        self.name = name

    def __call__(self, shape, dtype=None):
        start = keras.initializers.get(self.name)
        stack = [start(shape[-2:], dtype="float32") for _ in range(math.prod(shape[:-2]))]
        return ops.cast(ops.reshape(ops.stack(stack, axis=0), shape), dtype or keras.config.floatx())

    def get_config(self):
        return {"name": self.name}


def check_sequence(name, shape):
    """Refuse what is not (batch, length, width) with a known width."""
    if len(shape) != 3 or shape[-1] is None:
        raise ValueError(f"{name} must have shape (batch, length, width) with a known width; got {tuple(shape)}")


def check_state(state, batch, width):
    """Refuse an initial state that is not (B, width)."""
    if state is None:
        return
    shape = tuple(state.shape)
    if len(shape) != 2 or shape[1] != width or None not in (shape[0], batch) and shape[0] != batch:
        raise ValueError(f"initial_state must have shape (batch, {width}), batch {batch}; got {shape}")
