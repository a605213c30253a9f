"""The transformer's blocks and stacks against NumPy and against Keras's layers: numbers, masks, norms, dropout."""

import keras
import numpy as np
import numpy_loops as loops
import pytest
from keras import ops

from attention_by_hand import backend, parity
from attention_by_hand.layers import (
    TransformerDecoder,
    TransformerDecoderBlock,
    TransformerEncoder,
    TransformerEncoderBlock,
)
from attention_by_hand.parity.transformer import BATCH as B
from attention_by_hand.parity.transformer import HEADS as H
from attention_by_hand.parity.transformer import MEMORY as C
from attention_by_hand.parity.transformer import MLP, REAL_STEPS, REAL_WORDS
from attention_by_hand.parity.transformer import STEPS as TQ
from attention_by_hand.parity.transformer import WIDTH as D
from attention_by_hand.parity.transformer import WORDS as TV


def inputs_of(rng):
    return rng.normal(size=(B, TQ, D)).astype("float32"), rng.normal(size=(B, TV, C)).astype("float32")


def built(rng, layer, *shapes):
    """A layer with random weights: biases, gammas and betas included."""
    layer.build(*(shapes or ((None, None, D),)))
    loops.randomise(layer, rng)
    return layer


def decoder_block(rng, **options):
    return built(rng, TransformerDecoderBlock(H, MLP, **options), (None, None, D), (None, None, C))


def close(ours, expected, atol=2e-5):
    np.testing.assert_allclose(backend.to_numpy(ours), expected, rtol=1e-5, atol=atol)


def norm_by_hand(x, norm):
    gamma, beta = (w.astype("float64") for w in norm.get_weights())
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(variance + 1e-6) + beta


def attention_by_hand(x, attention, mask):
    wq, bq, wk, bk, wv, bv, wo, bo = (w.astype("float64") for w in attention.get_weights())
    y = np.zeros_like(x) + bo
    for h in range(H):
        q, k, v = x @ wq[:, h] + bq[h], x @ wk[:, h] + bk[h], x @ wv[:, h] + bv[h]
        y += loops.attend(loops.dot_scores(q, k, wq.shape[2] ** -0.5), v, mask)[0] @ wo[h]
    return y


def block_by_hand(x, block, mask):
    """An encoder block in float64, with whichever sublayers and skips it has."""

    def around(x, norm, function):
        y = function(norm_by_hand(x, norm) if block.norm_first else x)
        y = x + y if block.use_skip else y
        return y if block.norm_first else norm_by_hand(y, norm)

    x = around(x.astype("float64"), block.attention_norm, lambda h: attention_by_hand(h, block.attention, mask))
    if not block.use_mlp:
        return x
    w1, b1, w2, b2 = (w.astype("float64") for w in block.mlp_hidden.get_weights() + block.mlp_output.get_weights())
    return around(x, block.mlp_norm, lambda h: np.maximum(h @ w1 + b1, 0) @ w2 + b2)


@pytest.mark.parametrize("use_mlp", [True, False])
@pytest.mark.parametrize("use_skip", [True, False])
@pytest.mark.parametrize("norm_first", [True, False])
def test_encoder_block_equals_numpy_with_every_part_on_or_off(rng, norm_first, use_skip, use_mlp):
    block = TransformerEncoderBlock(H, MLP, 5, norm_first=norm_first, use_skip=use_skip, use_mlp=use_mlp)
    built(rng, block)
    x, _ = inputs_of(rng)
    expected = block_by_hand(x, block, REAL_STEPS[:, None, :] & loops.causal_mask(TQ, TQ))
    expected = np.where(REAL_STEPS[..., None], expected, 0)
    close(block(x, padding_mask=REAL_STEPS, use_causal_mask=True), expected)
    pairs = rng.random((B, TQ, TQ)) < 0.7
    close(block(x, attention_mask=pairs), block_by_hand(x, block, pairs))


def test_width_is_split_between_the_heads_when_key_dim_is_none(rng):
    assert built(rng, TransformerEncoderBlock(H, MLP)).attention.key_dim == D // H


@pytest.mark.parametrize("scores", [True, False])
def test_a_future_step_does_not_change_the_past(rng, scores):
    x, memory = inputs_of(rng)
    changed = x.copy()
    changed[:, 2:] += 1
    encoder, decoder = built(rng, TransformerEncoderBlock(H, MLP)), decoder_block(rng)
    for run in (
        lambda x: encoder(x, use_causal_mask=True, return_attention_scores=scores),
        lambda x: decoder(x, memory, return_attention_scores=scores),
    ):
        before, after = (backend.to_numpy(run(y)[0] if scores else run(y)) for y in (x, changed))
        np.testing.assert_allclose(after[:, :2], before[:, :2], atol=1e-6)
        assert np.abs(after[:, 2:] - before[:, 2:]).max() > 1e-2
    both_ways = backend.to_numpy(decoder(x, memory, use_causal_mask=False))
    assert np.abs(both_ways - backend.to_numpy(decoder(x, memory)))[:, 0].max() > 1e-3


@pytest.mark.parametrize("norm_first", [True, False])
def test_padding_of_nan_spreads_into_no_output_weight_or_gradient(rng, norm_first):
    x, memory = inputs_of(rng)
    padding, memory_mask = REAL_STEPS.copy(), REAL_WORDS.copy()
    padding[1], memory_mask[0] = False, False  # a sentence of padding alone; a memory of padding alone
    block = decoder_block(rng, norm_first=norm_first)
    given = {"padding_mask": padding, "memory_mask": memory_mask}
    clean = backend.to_numpy(block(x, memory, **given))
    x[~padding], memory[~memory_mask] = np.nan, np.nan

    def total(*tensors):
        output, *weights = block(*tensors, **given, return_attention_scores=True)
        return ops.sum(output), (output, *weights)

    _, (output, weights, cross), *gradients = backend.differentiate(total, block.trainable_variables)([x, memory])
    np.testing.assert_allclose(output, clean, atol=1e-5)
    assert (output[~padding] == 0).all()
    assert (weights.transpose(0, 3, 1, 2)[~padding] == 0).all()
    assert (cross.transpose(0, 3, 1, 2)[~memory_mask] == 0).all()
    assert all(np.isfinite(g).all() for group in gradients for g in group)
    encoder = built(rng, TransformerEncoderBlock(H, MLP, norm_first=norm_first))
    output, weights = map(backend.to_numpy, encoder(x, padding_mask=padding, return_attention_scores=True))
    assert (
        np.isfinite(output).all()
        and np.isfinite(weights).all()
        and (output[~padding] == 0).all()
        and (output[padding] != 0).any()
    )


def stack_of_built_ins(stack, x, **given):
    """Keras's layers with the weights of a stack, one block after the other, then the last norm."""
    every = []
    for block in stack.blocks:
        x, *weights = parity.BuiltInBlock(block)(x, **given)
        every.append(weights)
    if stack.last_norm is not None:
        norm = keras.layers.LayerNormalization(epsilon=1e-6)
        norm.build(x.shape)
        norm.set_weights(stack.last_norm.get_weights())
        x = norm(x)
    return x, *zip(*every, strict=True)


@pytest.mark.parametrize("norm_first", [True, False])
def test_stacks_equal_stacks_of_built_ins_and_carry_implicit_masks(rng, norm_first):
    embedding, options = keras.layers.Embedding(9, D, mask_zero=True), {"norm_first": norm_first}
    source, target = (
        np.array([[3, 1, 0, 4, 2, 0, 0], [5, 2, 6, 5, 3, 8, 0]]),
        np.array([[1, 2, 0, 2, 0], [7, 8, 0, 0, 3]]),
    )
    encoder = built(rng, TransformerEncoder(2, H, MLP, **options))
    decoder = built(rng, TransformerDecoder(2, H, MLP, **options), (None, None, D), (None, None, D))
    assert (encoder.last_norm is not None) == norm_first
    memory = encoder(embedding(source))  # no mask is handed over: it hangs on the tensors
    output, own, cross = decoder(embedding(target), memory, return_attention_scores=True)
    x, y = (backend.to_numpy(embedding(ids)) for ids in (source, target))
    expected, _ = stack_of_built_ins(encoder, x, padding_mask=ops.convert_to_tensor(source != 0))
    expected = backend.to_numpy(expected)
    real = (source != 0)[..., None]
    close(memory, np.where(real, expected, 0))
    given = {"padding_mask": ops.convert_to_tensor(target != 0), "memory_mask": ops.convert_to_tensor(source != 0)}
    expected, *weights = stack_of_built_ins(
        decoder, y, memory=ops.convert_to_tensor(expected * real), **given, use_causal_mask=True
    )
    close(output, np.where((target != 0)[..., None], backend.to_numpy(expected), 0))
    assert len(own) == len(cross) == 2
    rows = (target != 0)[:, None, :, None]
    for ours, theirs in zip([*own, *cross], [*weights[0], *weights[1]], strict=True):
        np.testing.assert_allclose(backend.to_numpy(ours) * rows, backend.to_numpy(theirs) * rows, atol=2e-5)
    for found, ids in ((memory, source), (output, target)):
        np.testing.assert_array_equal(backend.to_numpy(keras.src.backend.get_keras_mask(found)), ids != 0)
    explicit = encoder(x, padding_mask=source != 0)  # handed over, it is carried on as well
    np.testing.assert_array_equal(backend.to_numpy(keras.src.backend.get_keras_mask(explicit)), source != 0)
    for kept in decoder.start_cache(8, memory):
        np.testing.assert_array_equal(backend.to_numpy(kept["memory_mask"]), source != 0)
    pooled = keras.layers.GlobalAveragePooling1D()(explicit)
    mean = backend.to_numpy(memory).sum(1) / (source != 0).sum(1, keepdims=True)
    close(pooled, mean)


def test_dropout_acts_in_training_only_with_a_seed_of_its_own_in_every_place(rng):
    x, memory = inputs_of(rng)
    block = decoder_block(rng, dropout=0.5, seed=3)
    plain = TransformerDecoderBlock(H, MLP)
    plain.build(x.shape, memory.shape)
    plain.set_weights(block.get_weights())
    expected = plain(x, memory, return_attention_scores=True)
    close(block(x, memory), backend.to_numpy(expected[0]))
    trained = block(x, memory, return_attention_scores=True, training=True)
    assert np.abs(backend.to_numpy(trained[0]) - backend.to_numpy(expected[0])).max() > 0.1
    close(trained[1], backend.to_numpy(expected[1]))  # the first attention's weights are those before dropout
    parts = [block.attention, block.attention_dropout, block.cross_attention, block.cross_attention_dropout]
    assert len({part.seed for part in [*parts, block.mlp_dropout]}) == 5
    again = TransformerDecoderBlock(H, MLP, dropout=0.5, seed=3)
    again.build(x.shape, memory.shape)
    again.set_weights(block.get_weights())
    other = decoder_block(rng, dropout=0.5, seed=3)
    other.set_weights(block.get_weights())
    np.testing.assert_array_equal(*(backend.to_numpy(b(x, memory, training=True)) for b in (again, other)))
    assert len({b.seed for b in TransformerEncoder(2, H, MLP, dropout=0.5, seed=3).blocks}) == 2


def test_a_sublayer_that_drops_everything_leaves_the_skip(rng):
    block = built(rng, TransformerEncoderBlock(H, MLP, dropout=0.999999, seed=0))
    x, _ = inputs_of(rng)
    close(block(x, training=True), x)


def test_call_stores_nothing_on_the_layer(rng):
    x, memory = inputs_of(rng)
    block = decoder_block(rng, dropout=0.5, seed=1)
    cache = block.start_cache(TQ, memory)
    block(x, memory)
    before = dict(block.__dict__)
    block(x, memory, padding_mask=REAL_STEPS, return_attention_scores=True, training=True)
    block(x[:, :1], cache=cache, position=0)
    changed = {k for k, v in block.__dict__.items() if k not in before or before[k] is not v}
    assert changed <= {"_called", "_outbound_nodes", "_losses"}
