"""A recurrent decoder that looks back at its memory before every step (Bahdanau, Cho, Bengio 2015)."""

import math

import keras
from keras import ops

from attention_by_hand import masks
from attention_by_hand.layers.additive import AdditiveAttention
from attention_by_hand.layers.base import AttentionPooling, check_floating, check_size
from attention_by_hand.layers.recurrent import MatrixStart, check_sequence, check_state, gru_step, recur


@keras.saving.register_keras_serializable("attention_by_hand")
class AttentionDecoder(keras.layers.Layer):
    """A GRU that asks its memory, with the state before the step, what it should see in this step.

        e_t = f_att(s_{t−1}, h),  a_t = softmax(e_t),  c_t = Σ_i a_{t,i} h_i,  s_t = G([x_t; c_t], s_{t−1})

    The memory h may be words (B, Tv, C) or the cells of a grid (B, height, width, C): attention takes a set. What
    depends on the memory or the inputs alone is computed once, before the loop.

    Args:
        units: width U of the state.
        attention: a layer that scores a state against the memory (`AttentionPooling`: additive, dot-product,
            uniform); the paper's, `AdditiveAttention(units)`, when None. It may not drop weights.
        **kwargs: `name`, `dtype`, `trainable` as in every Keras layer.

    Raises:
        ValueError: `units` is not a positive integer, `attention` has dropout or is no attention layer.

    Source: Bahdanau et al. 2015, "Neural Machine Translation by Jointly Learning to Align and Translate", eqs 4–6;
    over images: Xu et al. 2015, "Show, Attend and Tell".
    """

    def __init__(self, units, attention=None, **kwargs):
        super().__init__(**kwargs)
        self.units = check_size("units", units)
        attention = AdditiveAttention(units, dtype=self.dtype_policy) if attention is None else attention
        if not isinstance(attention, AttentionPooling):
            raise ValueError(f"attention must be a layer that scores (AttentionPooling); got {attention!r}")
        if attention.dropout > 0:
            raise ValueError(f"attention must not drop weights inside the loop; got dropout {attention.dropout}")
        self.attention = attention
        self.supports_masking = True

    def build(self, x_shape, memory_shape, memory_mask_shape=None, initial_state_shape=None):
        check_sequence("x", x_shape)
        memory_width = check_memory(memory_shape, x_shape)
        if not self.attention.built:  # it is when the decoder was loaded from a file
            self.attention.build((None, None, self.units), (None, None, memory_width))
        self.input_width = x_shape[-1]
        shape = (x_shape[-1] + memory_width, 3 * self.units)
        self.kernel = self.add_weight(shape=shape, initializer="glorot_uniform", name="kernel")
        shape = (self.units, 3 * self.units)
        self.recurrent_kernel = self.add_weight(
            shape=shape, initializer=MatrixStart("orthogonal"), name="recurrent_kernel"
        )
        self.bias = self.add_weight(shape=(2, 3 * self.units), initializer="zeros", name="bias")

    def call(
        self,
        x,
        memory,
        memory_mask=None,
        initial_state=None,
        return_attention_scores=False,
        return_contexts=False,
        return_state=False,
    ):
        """Decode: one step for every input.

        Args:
            x: floating-point tensor (B, Tq, D): the embedded token before each step.
            memory: floating-point tensor (B, Tv, C), or a grid (B, height, width, C).
            memory_mask: boolean (B, Tv), or (B, height, width); a False place gets weight exactly 0.
            initial_state: s_0, (B, U); 0 when None.
            return_attention_scores: also return the weights.
            return_contexts: also return the contexts c_t.
            return_state: also return the last state.

        Returns:
            The states (B, Tq, U); then, as far as asked for and in this order, weights (B, Tq, Tv) or (B, Tq,
            height, width), contexts (B, Tq, C) and the last state (B, U). If the whole memory is masked, weights and
            contexts are 0.

        Raises:
            ValueError: an input is not floating point, sizes do not match, or a mask has the wrong shape.
        """
        check_inputs(x, memory, initial_state, self.units)
        places = tuple(memory.shape[1:-1])
        memory_mask = masks.as_boolean(memory_mask, "memory_mask", {"like memory": (memory.shape[0], *places)})
        if len(places) == 2:
            memory = ops.reshape(memory, (-1, math.prod(places), memory.shape[-1]))  # (B, Tv, C)
            memory_mask = None if memory_mask is None else ops.reshape(memory_mask, (-1, math.prod(places)))
        memory = masks.clear(memory, memory_mask)  # (B, Tv, C)
        states, weights = self.decode(x, memory, memory_mask, initial_state)
        results = [ops.transpose(states, (1, 0, 2))]  # (B, Tq, U)
        weights = ops.transpose(weights, (1, 0, 2))  # (B, Tq, Tv)
        if return_attention_scores:
            grid = len(places) == 2
            results.append(ops.reshape(weights, (-1, ops.shape(weights)[1], *places)) if grid else weights)
        if return_contexts:
            results.append(ops.matmul(weights, memory))  # (B, Tq, C): the same c_t, all at once
        if return_state:
            results.append(states[-1])  # (B, U)
        return results[0] if len(results) == 1 else tuple(results)

    def decode(self, x, memory, memory_mask, initial_state):
        """States (Tq, B, U) and weights (Tq, B, Tv) of all steps."""
        kernel = ops.convert_to_tensor(self.kernel)
        bias, recurrent_bias = ops.unstack(ops.convert_to_tensor(self.bias), 2, axis=0)  # (3U,) each
        recurrent_kernel = ops.convert_to_tensor(self.recurrent_kernel)  # (U, 3U)
        input_kernel, context_kernel = kernel[: self.input_width], kernel[self.input_width :]  # (D, 3U), (C, 3U)
        inputs = ops.transpose(ops.matmul(x, input_kernel) + bias, (1, 0, 2))  # (Tq, B, 3U): all steps at once
        score = self.attention.step_score(memory)  # the memory's projection, once
        floor = None if memory_mask is None else ops.where(memory_mask, 0.0, masks.MASKED_SCORE)  # (B, Tv), once

        def step(carry, slices):
            state = carry[0]  # (B, U): s_{t−1}
            weights = softmax(score(state), floor)  # (B, Tv): exactly 0 where masked
            context = (weights[:, None] @ memory)[:, 0]  # (B, C)
            gates = slices[0] + context @ context_kernel  # (B, 3U)
            return gru_step(gates, state @ recurrent_kernel + recurrent_bias, state), weights

        batch = ops.shape(x)[0]
        state = ops.zeros((batch, self.units), dtype=x.dtype) if initial_state is None else initial_state
        start = (ops.cast(state, x.dtype), ops.zeros_like(memory[..., 0]))
        states, weights = recur(step, start, (inputs,))
        # A memory without any visible place got even weights; its values are 0 by now, and so was the context.
        return states, weights if memory_mask is None else ops.where(memory_mask, weights, ops.zeros_like(weights))

    def compute_output_spec(
        self,
        x,
        memory,
        memory_mask=None,
        initial_state=None,
        return_attention_scores=False,
        return_contexts=False,
        return_state=False,
    ):
        """Symbolic outputs, from shapes alone."""
        check_inputs(x, memory, initial_state, self.units)
        batch, length = x.shape[:2]
        shapes = [(batch, length, self.units)]
        shapes += [(batch, length, *memory.shape[1:-1])] if return_attention_scores else []
        shapes += [(batch, length, memory.shape[-1])] if return_contexts else []
        shapes += [(batch, self.units)] if return_state else []
        results = tuple(keras.KerasTensor(shape, dtype=self.compute_dtype) for shape in shapes)
        return results[0] if len(results) == 1 else results

    def compute_mask(self, x, previous_mask=None):
        """States go with the inputs; nothing is masked in the outputs."""
        return None

    def get_config(self):
        attention = keras.saving.serialize_keras_object(self.attention)
        return {**super().get_config(), "units": self.units, "attention": attention}

    @classmethod
    def from_config(cls, config):
        attention = keras.saving.deserialize_keras_object(config["attention"])
        return cls(**{**config, "attention": attention})


def softmax(scores, floor):
    """Softmax of scores (B, Tv), to which `floor` is added first: 0, or far below every score; or None."""
    dtype = keras.backend.standardize_dtype(scores.dtype)
    if dtype in ("float16", "bfloat16"):
        return ops.cast(softmax(ops.cast(scores, "float32"), floor), dtype)
    return ops.softmax(scores if floor is None else scores + floor, axis=-1)


def check_inputs(x, memory, initial_state, units):
    """Refuse inputs of the decoder that do not fit together."""
    check_sequence("x", x.shape)
    check_memory(memory.shape, x.shape)
    check_floating(x=x, memory=memory)
    check_state(initial_state, x.shape[0], units)


def check_memory(shape, x_shape):
    """Width of a memory (B, Tv, C) or (B, height, width, C); anything else is refused."""
    if len(shape) not in (3, 4) or shape[-1] is None:
        raise ValueError(
            f"memory must have shape (batch, length, width) or (batch, height, width, channels); got {shape}"
        )
    if None not in (shape[0], x_shape[0]) and shape[0] != x_shape[0]:
        raise ValueError(f"memory must have the batch size of x, {x_shape[0]}; got {tuple(shape)}")
    return shape[-1]
