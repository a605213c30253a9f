"""The attention decoder equals a loop of Keras's GRU cell and Keras's attention, one step at a time."""

import keras
import numpy as np
import pytest
from keras import ops

from attention_by_hand import backend
from attention_by_hand.layers import AdditiveAttention, AttentionDecoder, DotProductAttention, UniformAttention

B, TQ, TV, D, C, U = 3, 4, 5, 6, 7, 8


def inputs_of(rng, memory_width=C):
    """Random inputs, memory, state and a mask with rows of different lengths."""
    x, memory = rng.normal(size=(B, TQ, D)), rng.normal(size=(B, TV, memory_width))
    mask = np.arange(TV)[None] < np.array([[TV], [2], [4]])
    return *(a.astype("float32") for a in (x, memory, rng.normal(size=(B, U)))), mask


def built(rng, attention=None, memory_width=C):
    """A decoder with random weights, biases included."""
    decoder = AttentionDecoder(U, attention)
    decoder.build((None, None, D), (None, None, memory_width))
    for weight in decoder.weights:
        weight.assign(rng.normal(0, 0.4, weight.shape))
    return decoder


class Steps:
    """The same decoder composed of built-ins: `Dense`, `AdditiveAttention`, `GRUCell`, and a loop."""

    def __init__(self, decoder):
        self.cell = keras.layers.GRUCell(U)
        self.cell.build((None, D + C))
        self.cell.set_weights([decoder.kernel, decoder.recurrent_kernel, decoder.bias])
        self.query, self.key = (keras.layers.Dense(U, use_bias=False) for _ in range(2))
        self.query.build((None, U))
        self.key.build((None, C))
        self.attention = keras.layers.AdditiveAttention()
        self.attention.build([(None, 1, U), (None, TV, C), (None, TV, U)])
        weights = {w.name: w for w in decoder.attention.weights}
        self.query.set_weights([weights["query_kernel"]])
        self.key.set_weights([weights["key_kernel"]])
        self.attention.set_weights([weights["scale"]])
        parts = (self.cell, self.query, self.key, self.attention)
        self.variables = {
            "kernel": self.cell.kernel,
            "recurrent_kernel": self.cell.recurrent_kernel,
            "bias": self.cell.bias,
            "query_kernel": self.query.kernel,
            "key_kernel": self.key.kernel,
            "scale": self.attention.scale,
        }
        assert len(self.variables) == sum(len(part.weights) for part in parts)

    def __call__(self, x, memory, mask, state):
        states, rows, contexts = [], [], []
        keys = self.key(memory)
        for t in range(TQ):
            query = ops.expand_dims(self.query(state), axis=1)
            context, weights = self.attention(
                [query, memory, keys], mask=[None, ops.convert_to_tensor(mask)], return_attention_scores=True
            )
            state, _ = self.cell(ops.concatenate([x[:, t], context[:, 0]], axis=-1), [state])
            states.append(state)
            rows.append(weights[:, 0])
            contexts.append(context[:, 0])
        return tuple(ops.stack(parts, axis=1) for parts in (states, rows, contexts))


def test_equals_the_loop_of_built_ins_in_outputs_weights_contexts_and_gradients(rng):
    decoder, (x, memory, start, mask) = built(rng), inputs_of(rng)
    steps = Steps(decoder)
    upstream = [
        ops.convert_to_tensor(rng.normal(size=shape), "float32") for shape in ((B, TQ, U), (B, TQ, TV), (B, TQ, C))
    ]

    def ours(x, memory, start):
        asked = {"return_attention_scores": True, "return_contexts": True}
        found = decoder(x, memory, memory_mask=mask, initial_state=start, **asked)
        return sum(ops.sum(a * b) for a, b in zip(found, upstream, strict=True)), found

    def builtin(x, memory, start):
        found = steps(x, memory, mask, start)
        return sum(ops.sum(a * b) for a, b in zip(found, upstream, strict=True)), found

    names = [w.name for w in decoder.trainable_variables]
    run = backend.differentiate(ours, decoder.trainable_variables)([x, memory, start])
    expected = backend.differentiate(builtin, [steps.variables[n] for n in names])([x, memory, start])
    for part in range(1, 4):  # results, gradients of inputs, gradients of weights
        for found, wanted in zip(run[part], expected[part], strict=True):
            np.testing.assert_allclose(found, wanted, atol=5e-5, rtol=1e-5)


@pytest.mark.parametrize(
    "attention",
    [
        AdditiveAttention,
        lambda: AdditiveAttention(use_scale=False),
        lambda: AdditiveAttention(3),
        lambda: DotProductAttention("sqrt"),
        lambda: DotProductAttention("learned", "general"),
        lambda: DotProductAttention(score_mode="concat", units=3),
        UniformAttention,
    ],
)
def test_any_score_weighs_the_memory_by_the_state_before_the_step(rng, attention):
    decoder, (x, memory, start, mask) = built(rng, attention(), memory_width=U), inputs_of(rng, memory_width=U)
    states, weights = decoder(x, memory, memory_mask=mask, initial_state=start, return_attention_scores=True)
    before = np.concatenate([start[:, None], backend.to_numpy(states)[:, :-1]], axis=1)  # s_{t−1}
    _, expected = decoder.attention(before, memory, value_mask=mask, return_attention_scores=True)
    np.testing.assert_allclose(backend.to_numpy(weights), backend.to_numpy(expected), atol=1e-5)
    assert np.all(backend.to_numpy(weights)[~np.broadcast_to(mask[:, None], (B, TQ, TV))] == 0)


def test_a_grid_is_a_memory_like_any_other(rng):
    height, width = 2, 3
    decoder = built(rng)
    x, grid = rng.normal(size=(B, TQ, D)).astype("float32"), rng.normal(size=(B, height, width, C)).astype("float32")
    mask = rng.random((B, height, width)) < 0.7
    mask[:, 0, 0] = True
    asked = {"return_attention_scores": True, "return_contexts": True}
    found = decoder(x, grid, memory_mask=mask, **asked)
    flat = decoder(x, grid.reshape(B, -1, C), memory_mask=mask.reshape(B, -1), **asked)
    assert tuple(found[1].shape) == (B, TQ, height, width)
    for one, other in zip(found, flat, strict=True):
        np.testing.assert_allclose(backend.to_numpy(one).reshape(other.shape), backend.to_numpy(other), atol=1e-6)


def test_step_by_step_with_the_state_handed_on_is_the_same_as_at_once(rng):
    decoder, (x, memory, start, mask) = built(rng), inputs_of(rng)
    at_once, last = decoder(x, memory, memory_mask=mask, initial_state=start, return_state=True)
    state, outputs = start, []
    for t in range(TQ):
        output, state = decoder(x[:, t : t + 1], memory, memory_mask=mask, initial_state=state, return_state=True)
        outputs.append(backend.to_numpy(output)[:, 0])
    np.testing.assert_allclose(np.stack(outputs, axis=1), backend.to_numpy(at_once), atol=1e-6)
    np.testing.assert_allclose(backend.to_numpy(state), backend.to_numpy(last), atol=1e-6)


def test_a_later_input_does_not_change_an_earlier_state(rng):
    decoder, (x, memory, _, mask) = built(rng), inputs_of(rng)
    changed = x.copy()
    changed[:, 2] += 1
    one, other = (backend.to_numpy(decoder(each, memory, memory_mask=mask)) for each in (x, changed))
    np.testing.assert_array_equal(one[:, :2], other[:, :2])
    assert np.abs(one[:, 2:] - other[:, 2:]).min(axis=(0, 2)).max() > 1e-5


@pytest.mark.parametrize("policy", ["float32", "float16", "bfloat16", "mixed_float16"])
def test_fully_masked_memory_weighs_nothing_and_gradients_are_finite(rng, policy):
    keras.config.set_dtype_policy(policy)
    decoder = AttentionDecoder(U)
    x, memory, _, mask = inputs_of(rng)
    mask[1] = False
    memory = np.where(mask[..., None], memory, np.nan)
    x, memory = (ops.cast(a, decoder.compute_dtype) for a in (x, memory))
    decoder(x, memory, memory_mask=mask)

    def total(x):
        states, weights, contexts = decoder(
            x, memory, memory_mask=mask, return_attention_scores=True, return_contexts=True
        )
        return ops.sum(ops.cast(states, "float32")), (weights, contexts)

    run = backend.differentiate(total, decoder.trainable_variables)([x])
    value, (weights, contexts), by_inputs, by_weights = run
    assert np.all(weights[1] == 0) and np.all(contexts[1] == 0)
    assert all(np.isfinite(np.asarray(a, "float32")).all() for a in (value, *by_inputs, *by_weights, weights, contexts))
    np.testing.assert_allclose(np.asarray(weights, "float32")[[0, 2]].sum(axis=-1), 1, atol=0.01)


def test_works_in_a_model_of_unknown_sizes_and_survives_saving(rng, tmp_path):
    x, memory = keras.Input((None, D)), keras.Input((None, C))
    mask = keras.Input((None,), dtype="bool")
    asked = {"return_attention_scores": True, "return_contexts": True, "return_state": True}
    outputs = AttentionDecoder(U, AdditiveAttention(3))(x, memory, memory_mask=mask, **asked)
    assert [o.shape for o in outputs] == [(None, None, U), (None, None, None), (None, None, C), (None, U)]
    model = keras.Model([x, memory, mask], outputs)
    model.save(tmp_path / "decoder.keras")
    again = keras.models.load_model(tmp_path / "decoder.keras")
    data = inputs_of(rng)
    data = [data[0], data[1], data[3]]
    for found, expected in zip(again.predict(data, verbose=0), model(data), strict=True):
        np.testing.assert_allclose(found, backend.to_numpy(expected), atol=1e-6)


def test_a_mask_that_embedding_made_reaches_the_memory(rng):
    ids = np.array([[3, 1, 0, 0], [2, 2, 1, 0]])
    memory = keras.layers.Embedding(5, C, mask_zero=True)(ids)
    x = rng.normal(size=(2, TQ, D)).astype("float32")
    _, weights = AttentionDecoder(U)(x, memory, return_attention_scores=True)
    weights = backend.to_numpy(weights)
    assert np.all(weights[0, :, 2:] == 0) and np.all(weights[1, :, 3] == 0) and np.all(weights[1, :, :3] > 0)


def float_zeros(*shape):
    """Zeros of a shape."""
    return np.zeros(shape, "float32")


@pytest.mark.parametrize(
    ("arguments", "call", "message"),
    [
        ((0,), None, "units must be a positive integer"),
        ((U, keras.layers.Dense(3)), None, "attention must be a layer that scores"),
        ((U, "additive"), None, "attention must be a layer that scores"),
        ((U, AdditiveAttention(3, dropout=0.5)), None, "attention must not drop weights"),
        ((U,), {"x": float_zeros(B, D), "memory": float_zeros(B, TV, C)}, "x must have shape"),
        ((U,), {"x": float_zeros(B, TQ, D), "memory": float_zeros(B, C)}, "memory must have shape"),
        ((U,), {"x": float_zeros(B, TQ, D), "memory": float_zeros(B + 1, TV, C)}, "memory must have the batch size"),
        ((U,), {"x": np.zeros((B, TQ, D), "int32"), "memory": float_zeros(B, TV, C)}, "x must be floating point"),
        (
            (U,),
            {"x": float_zeros(B, TQ, D), "memory": float_zeros(B, TV, C), "memory_mask": np.ones((B, TQ + 9), bool)},
            "memory_mask must have shape",
        ),
        (
            (U,),
            {"x": float_zeros(B, TQ, D), "memory": float_zeros(B, TV, C), "initial_state": float_zeros(B, D)},
            "initial_state must have shape",
        ),
    ],
)
def test_bad_input_is_refused_by_name(arguments, call, message):
    with pytest.raises(ValueError, match=message):
        AttentionDecoder(*arguments)(**call)
