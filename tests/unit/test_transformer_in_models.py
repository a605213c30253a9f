"""Transformer blocks and stacks: saving, compilation, unknown sizes, dtypes, implicit masks in models, bad input."""

import keras
import numpy as np
import numpy_loops as loops
import pytest

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
from attention_by_hand.parity.transformer import MLP, REAL_WORDS
from attention_by_hand.parity.transformer import STEPS as TQ
from attention_by_hand.parity.transformer import WIDTH as D
from attention_by_hand.parity.transformer import WORDS as TV

LONGEST = 8
JIT = "auto" if keras.backend.backend() == "torch" else True


def translator(**options):
    """Tokens in, numbers out: an encoder and a decoder stack; every mask comes from the embeddings."""
    source, target = keras.Input((None,), dtype="int32"), keras.Input((None,), dtype="int32")
    embed = [keras.layers.Embedding(9, D, mask_zero=True, name=name) for name in ("source", "target")]
    memory = TransformerEncoder(1, H, MLP, name="encoder", **options)(embed[0](source))
    output = TransformerDecoder(1, H, MLP, name="decoder", **options)(embed[1](target), memory)
    return keras.Model([source, target], output)


def tokens(rng, batch=B, source=TV, target=TQ):
    ids = [rng.integers(1, 9, size=(batch, length)) for length in (source, target)]
    ids[0][0, 1] = ids[1][0, 1] = 0
    ids[0][-1, -1] = ids[1][-1, -1] = 0
    return ids


def by_built_ins(model, source, target):
    """What the model must give: blocks made of Keras's layers with its weights; padding is 0."""

    def norm(layer, x):
        same = keras.layers.LayerNormalization(epsilon=1e-6)
        same.build(x.shape)
        same.set_weights(layer.get_weights())
        return backend.to_numpy(same(x))

    x, y = (model.get_layer(name).get_weights()[0][ids] for name, ids in (("source", source), ("target", target)))
    real = [keras.ops.convert_to_tensor(ids != 0) for ids in (source, target)]
    for block in model.get_layer("encoder").blocks:
        x = parity.BuiltInBlock(block)(x, padding_mask=real[0])[0]
    x = norm(model.get_layer("encoder").last_norm, x)
    for block in model.get_layer("decoder").blocks:
        y = parity.BuiltInBlock(block)(y, x, padding_mask=real[1], memory_mask=real[0], use_causal_mask=True)[0]
    return norm(model.get_layer("decoder").last_norm, y) * (target != 0)[..., None]


def test_one_compiled_model_takes_every_length_and_survives_saving(rng, tmp_path):
    model = translator(dropout=0.3, seed=1)
    loops.randomise(model, rng)
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    assert again.get_layer("decoder").get_config() == model.get_layer("decoder").get_config()
    again.compile("sgd", "mse", jit_compile=JIT)
    for batch, source, target in ((B, TV, TQ), (3, 2, 8)):
        ids = tokens(rng, batch, source, target)
        expected = by_built_ins(model, *ids)
        np.testing.assert_allclose(again.predict_on_batch(ids), expected, rtol=1e-4, atol=2e-5)


def test_compiled_fit_lowers_the_loss_with_dropout(rng):
    ids, memory = keras.Input((TQ,), dtype="int32"), keras.Input((TV, C))
    x = keras.layers.Embedding(9, D, mask_zero=True)(ids)
    model = keras.Model([ids, memory], TransformerDecoderBlock(H, MLP, dropout=0.1, seed=0)(x, memory))
    model.compile(keras.optimizers.SGD(0.3), "mse", jit_compile=JIT)
    target, given = tokens(rng, 32)[1], rng.normal(size=(32, TV, C)).astype("float32")
    goal = np.cumsum(np.eye(D)[target % D], axis=1) * (target != 0)[..., None]  # what was said so far
    history = model.fit([target, given], goal, batch_size=16, epochs=12, verbose=0).history["loss"]
    assert np.isfinite(history).all() and history[-1] < 0.7 * history[0]


@pytest.mark.parametrize("fixed", [False, True])
def test_symbolic_shapes_are_the_real_ones(rng, fixed):
    x = keras.Input((TQ if fixed else None, D), B if fixed else None)
    memory = keras.Input((TV if fixed else None, C), B if fixed else None)
    batch, tq, tv = (B, TQ, TV) if fixed else (None, None, None)
    asked = {"return_attention_scores": True}
    block, stack = TransformerDecoderBlock(H, MLP), TransformerDecoder(2, H, MLP)
    assert [o.shape for o in block(x, memory, **asked)] == [(batch, tq, D), (batch, H, tq, tq), (batch, H, tq, tv)]
    output, own, cross = stack(x, memory, **asked)
    assert output.shape == stack(x, memory).shape == (batch, tq, D)
    assert [w.shape for w in own] == [(batch, H, tq, tq)] * 2 and [w.shape for w in cross] == [(batch, H, tq, tv)] * 2
    output, weights = TransformerEncoderBlock(H, MLP)(x, **asked)
    assert output.shape == (batch, tq, D) and weights.shape == (batch, H, tq, tq)
    output, weights = TransformerEncoder(2, H, MLP)(x, **asked)
    assert output.shape == (batch, tq, D) and [w.shape for w in weights] == [(batch, H, tq, tq)] * 2
    assert weights[0] is not weights[1]
    assert len({id(w) for w in (*own, *cross)}) == 4  # one symbol for two blocks would give both the last one's weights
    cache = stack.start_cache(7, np.zeros((B, TV, C), "float32"))
    inputs = keras.tree.map_structure(lambda t: keras.Input(batch_shape=t.shape, dtype=t.dtype), cache)
    step, position = keras.Input((1, D), B), keras.Input((), B, dtype="int32")
    output, own, cross, new = stack(step, cache=inputs, position=position, **asked)
    assert output.shape == (B, 1, D) and own[1].shape == (B, H, 1, 7) and cross[1].shape == (B, H, 1, TV)
    assert own[0] is not own[1] and cross[0] is not cross[1]
    assert keras.tree.map_structure(lambda t: tuple(t.shape), new) == keras.tree.map_structure(
        lambda t: tuple(t.shape), cache
    )


@pytest.mark.parametrize("policy", ["float16", "mixed_bfloat16"])
def test_half_precision_keeps_its_dtype_with_and_without_a_cache(rng, policy):
    full, half = (TransformerDecoder(1, H, MLP, dtype=dtype) for dtype in ("float32", policy))
    x, memory = rng.normal(size=(B, TQ, D)).astype("float32"), rng.normal(size=(B, TV, C)).astype("float32")
    mask = REAL_WORDS & np.array([[True], [False]])
    for layer in (full, half):
        layer.build(x.shape, memory.shape)
    loops.randomise(full, rng)
    half.set_weights(full.get_weights())
    expected = backend.to_numpy(full(x, memory, memory_mask=mask))
    cache = half.start_cache(LONGEST, memory, mask)  # outside of a call, where nothing casts by itself
    given = keras.tree.map_structure(lambda t: keras.Input(batch_shape=t.shape, dtype=t.dtype), cache)
    step, asked = keras.Input((1, D), B), {"return_attention_scores": True}
    stepping = keras.Model([step, given], half(step, cache=given, position=0, **asked))
    inputs = [keras.Input((TQ, D), B), keras.Input((TV, C), B), keras.Input((TV,), B, dtype="bool")]
    whole = keras.Model(inputs, half(*inputs[:2], memory_mask=inputs[2], **asked))
    x, memory, mask = (keras.ops.convert_to_tensor(array) for array in (x, memory, mask))
    run = lambda model, data: model(data) if backend.name() == "torch" else model.predict_on_batch(data)  # noqa: E731
    found = [run(stepping, [x[:, :1], cache]), run(whole, [x, memory, mask])]
    every = keras.tree.flatten([found, stepping.outputs, whole.outputs, cache])
    floats = {keras.backend.standardize_dtype(t.dtype) for t in every} - {"bool"}
    assert floats == {half.compute_dtype}
    for (output, _, (cross,), *_), steps in zip(found, (1, TQ), strict=True):
        output, cross = (backend.to_numpy(keras.ops.cast(t, "float32")) for t in (output, cross))
        np.testing.assert_allclose(output, expected[:, :steps], atol=0.15)
        assert (cross[1] == 0).all()
    assert type(half).from_config(half.get_config()).dtype_policy.name == policy


@pytest.mark.parametrize("kind", [TransformerEncoderBlock, TransformerDecoderBlock])
def test_configuration_survives_a_round_trip(kind):
    options = {"key_dim": 5, "dropout": 0.2, "norm_first": False, "activation": "gelu", "use_skip": False}
    options |= {"use_mlp": False, "epsilon": 1e-3, "seed": 4, "name": "block"}
    config = kind(H, MLP, **options).get_config()
    assert {name: config[name] for name in options} == options
    assert kind.from_config(config).get_config() == config
    stack = TransformerEncoder if kind is TransformerEncoderBlock else TransformerDecoder
    config = stack(3, H, MLP, **options).get_config()
    assert config["num_layers"] == 3 and {name: config[name] for name in options} == options
    assert stack.from_config(config).get_config() == config


def float_zeros(*shape):
    return np.zeros(shape, "float32")


X, MEMORY = float_zeros(B, TQ, D), float_zeros(B, TV, C)
EXTRA = [
    ({"num_heads": 0}, {"x": X}, "num_heads must be a positive integer; got 0"),
    ({"mlp_dim": 2.5}, {"x": X}, "mlp_dim must be a positive integer; got 2.5"),
    ({"key_dim": -1}, {"x": X}, "key_dim must be a positive integer; got -1"),
    ({"dropout": 1.0}, {"x": X}, r"dropout must be in \[0, 1\); got 1.0"),
    ({"num_heads": 5}, {"x": X}, "num_heads must divide the width of x, 12, where key_dim is None; got 5"),
    ({}, {"x": float_zeros(B, D)}, r"x must have shape \(batch, length, width\)"),
    ({}, {"x": np.zeros((B, TQ, D), "int32")}, "x must be floating point"),
    ({}, {"x": X, "padding_mask": np.ones((B, TV), bool)}, r"padding_mask must have shape \(B, T\) = \(2, 5\)"),
    ({}, {"x": X, "padding_mask": np.ones((B,), bool)}, "padding_mask must have shape"),
    ({}, {"x": X, "padding_mask": np.full((B, TQ), -1e9)}, "padding_mask must be boolean or hold only 0 and 1"),
    ({}, {"x": X, "attention_mask": np.ones((B, TQ, TV), bool)}, "attention_mask must have shape"),
]


@pytest.mark.parametrize(("options", "call", "message"), EXTRA)
@pytest.mark.parametrize("kind", [TransformerEncoderBlock, TransformerDecoderBlock])
def test_bad_input_of_a_block_is_refused_by_name(kind, options, call, message):
    with pytest.raises(ValueError, match=message):
        kind(**{"num_heads": H, "mlp_dim": MLP, **options})(**call)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ((X,), {"x": float_zeros(B, TQ, D + 3)}, "x must have the width that the layer was built for, 12"),
        ((X, MEMORY), {"x": X}, r"memory must be given, \(B, Tv, 10\), as at the first call; got None"),
        ((X, MEMORY), {"x": X, "memory": X}, "memory must have the width that the layer was built for, 10"),
        ((X, MEMORY), {"x": X, "memory": MEMORY[:1]}, "memory must have the batch size of x, 2"),
        ((X, MEMORY), {"x": X, "memory": MEMORY[0]}, r"memory must have shape \(batch, length, width\)"),
        ((X, MEMORY), {"x": X, "memory": MEMORY, "memory_mask": np.ones((B, TQ), bool)}, "memory_mask must have shape"),
        ((X,), {"x": X, "memory": MEMORY}, "memory must come with the first call"),
        ((X,), {"x": X, "cache": {"keys": X}, "position": 0}, "x must hold one step"),
        ((X,), {"x": X[:, :1], "cache": {"keys": X}, "position": 0}, "cache must be what start_cache gave"),
    ],
)
def test_input_that_does_not_fit_the_first_call_is_refused_by_name(first, second, message):
    block = TransformerDecoderBlock(H, MLP)
    block(*first)
    with pytest.raises(ValueError, match=message):
        block(**second)


def test_bad_number_of_layers_and_bad_caches_are_refused_by_name():
    with pytest.raises(ValueError, match="num_layers must be a positive integer; got 0"):
        TransformerEncoder(0, H, MLP)
    stack = TransformerDecoder(2, H, MLP)
    with pytest.raises(ValueError, match="cache needs a layer that is built"):
        stack.start_cache(TQ, batch_size=B)
    stack.build(X.shape)
    with pytest.raises(ValueError, match="batch_size must be a positive integer; got None"):
        stack.start_cache(TQ)
    with pytest.raises(ValueError, match="max_length must be a positive integer; got 0"):
        stack.start_cache(0, batch_size=B)
    with pytest.raises(ValueError, match="memory must come with the first call"):
        stack.start_cache(TQ, MEMORY)
    cache, step = stack.start_cache(TQ, batch_size=B), X[:, :1]
    for position, message in (
        (None, "position must come with cache"),
        (TQ, r"position must be in 0 … 4, the places of cache; got 5"),
        (-1, "position must be in 0 … 4"),
        (np.array([0, 1, 2]), r"position must be an integer or have shape \(B,\) = \(2,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            stack(step, cache=cache, position=position)
    with pytest.raises(ValueError, match="cache must be a list with one entry for each of 2 blocks"):
        stack(step, cache=cache[:1], position=0)


@pytest.mark.parametrize("kind", [TransformerEncoder, TransformerDecoder])
def test_a_functional_model_gives_each_block_its_own_weights(rng, kind):
    inputs = keras.Input((TQ, D))
    stack = kind(2, H, MLP)
    model = keras.Model(inputs, stack(inputs, use_causal_mask=True, return_attention_scores=True)[1])
    x = rng.normal(size=(B, TQ, D)).astype("float32")
    found = [backend.to_numpy(w) for w in model(x)]
    expected = [backend.to_numpy(w) for w in stack(x, use_causal_mask=True, return_attention_scores=True)[1]]
    assert np.abs(found[0] - found[1]).max() > 1e-3
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other, abs=1e-6)
