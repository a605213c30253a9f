"""Decoding step by step with a cache gives what the whole sequence gives, in blocks of ours and of Keras's layers."""

import keras
import numpy as np
import numpy_loops as loops
import pytest
from keras import ops

from attention_by_hand import backend, decoding, parity
from attention_by_hand.layers import CachedAttention, TransformerDecoder, TransformerDecoderBlock
from attention_by_hand.parity.transformer import BATCH as B
from attention_by_hand.parity.transformer import HEADS as H
from attention_by_hand.parity.transformer import MEMORY as C
from attention_by_hand.parity.transformer import MLP, REAL_WORDS
from attention_by_hand.parity.transformer import STEPS as TQ
from attention_by_hand.parity.transformer import WIDTH as D
from attention_by_hand.parity.transformer import WORDS as TV

LONGEST, VOCABULARY = 8, 11


def inputs_of(rng):
    return rng.normal(size=(B, TQ, D)).astype("float32"), rng.normal(size=(B, TV, C)).astype("float32")


def built(rng, layer, with_memory=True):
    layer.build((None, None, D), *([(None, None, C)] if with_memory else []))
    loops.randomise(layer, rng)
    return layer


def step_by_step(layer, x, cache, positions=None):
    """Outputs and weights of the self-attention and of the one to the memory, one step after the other."""
    steps = []
    for t in range(x.shape[1]):
        position = t if positions is None else positions + t
        *found, cache = layer(x[:, t : t + 1], cache=cache, position=position, return_attention_scores=True)
        steps.append([backend.to_numpy(part) for part in found])
    return [np.concatenate(parts, axis=1 if parts[0].ndim == 3 else 2) for parts in zip(*steps, strict=True)]


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("with_memory", [True, False])
def test_every_step_equals_the_block_of_built_ins_on_the_whole_sequence(rng, with_memory, norm_first):
    block = built(rng, TransformerDecoderBlock(H, MLP, norm_first=norm_first), with_memory)
    x, memory = inputs_of(rng)
    given = {"memory": memory, "memory_mask": ops.convert_to_tensor(REAL_WORDS)} if with_memory else {}
    cache = block.start_cache(LONGEST, **given, **({} if with_memory else {"batch_size": B}))
    assert {tuple(t.shape)[:3] for n, t in cache.items() if n in ("keys", "values")} == {(B, H, LONGEST)}
    output, own, *cross = step_by_step(block, x, cache)
    expected = parity.BuiltInBlock(block)(x, **given, use_causal_mask=True)
    uncached = block(x, **given, return_attention_scores=True)
    for found in (expected, uncached):
        found = [backend.to_numpy(part) for part in found]
        np.testing.assert_allclose(output, found[0], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(own[..., :TQ], found[1], rtol=1e-5, atol=1e-5)
        for part, other in zip(cross, found[2:], strict=True):
            np.testing.assert_allclose(part, other, rtol=1e-5, atol=1e-5)
    assert (own[..., TQ:] == 0).all()  # places that are not written yet
    if with_memory:
        assert (cross[0].transpose(0, 3, 1, 2)[~REAL_WORDS] == 0).all()


def test_a_step_changes_its_own_place_alone_and_leaves_the_old_cache(rng):
    block = built(rng, TransformerDecoderBlock(H, MLP))
    x, memory = inputs_of(rng)
    old = block.start_cache(LONGEST, memory)
    for t in (0, 1):
        before = {name: backend.to_numpy(value) for name, value in old.items()}
        _, new = block(x[:, t : t + 1], cache=old, position=t)
        for name, value in before.items():
            np.testing.assert_array_equal(backend.to_numpy(old[name]), value)
            changed = np.abs(backend.to_numpy(new[name]).astype("float32") - value) > 0
            assert changed.any() == (name in ("keys", "values"))
            if changed.any():
                assert changed[:, :, t].all() and changed.sum() == changed[:, :, t].size
        old = new


def test_rows_may_be_at_different_positions(rng):
    block = built(rng, TransformerDecoderBlock(H, MLP), with_memory=False)
    x, _ = inputs_of(rng)
    cache = block.start_cache(LONGEST, batch_size=B)
    for t in (0, 1):
        _, cache = block(x[:, t : t + 1], cache=cache, position=t)
    output, _ = step_by_step(block, x[:, 2:], cache, positions=np.array([0, 2]))  # the first row begins anew
    whole = x.copy()
    whole[0, : TQ - 2] = x[0, 2:]
    expected = backend.to_numpy(parity.BuiltInBlock(block)(whole, use_causal_mask=True)[0])
    np.testing.assert_allclose(output[0], expected[0, : TQ - 2], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(output[1], expected[1, 2:], rtol=1e-5, atol=1e-5)


def test_a_memory_of_padding_alone_gives_weights_of_0_in_every_step(rng):
    block = built(rng, TransformerDecoderBlock(H, MLP))
    x, memory = inputs_of(rng)
    mask = REAL_WORDS & np.array([[False], [True]])
    memory[~mask] = np.nan
    output, _, cross = step_by_step(block, x, block.start_cache(LONGEST, memory, mask))
    assert (cross[0] == 0).all() and np.isfinite(output).all()
    np.testing.assert_allclose(output, backend.to_numpy(block(x, memory, memory_mask=mask)), rtol=1e-5, atol=1e-5)


def test_cached_attention_is_multi_head_attention_of_keras_row_by_row(rng):
    layer, theirs = CachedAttention(H, 4), keras.layers.MultiHeadAttention(H, 4)
    x, memory = inputs_of(rng)
    layer.build(x.shape, memory.shape)
    loops.randomise(layer, rng)
    theirs.build(x.shape, memory.shape)
    theirs.set_weights(layer.get_weights())
    given = {"value_mask": ops.convert_to_tensor(REAL_WORDS), "return_attention_scores": True}
    expected, weights = theirs(x, memory, **given)
    keys, values = layer.keys_and_values(memory, REAL_WORDS)
    for t in range(TQ):
        output, row = layer.look_up(ops.convert_to_tensor(x[:, t : t + 1]), keys, values, REAL_WORDS[:, None, None])
        np.testing.assert_allclose(
            backend.to_numpy(output)[:, 0], backend.to_numpy(expected)[:, t], rtol=1e-5, atol=1e-5
        )
        np.testing.assert_allclose(
            backend.to_numpy(row)[:, :, 0], backend.to_numpy(weights)[:, :, t], rtol=1e-5, atol=1e-5
        )


class Writer:
    """A small translator for `decoding`: with a cache, or with the whole prefix at every step."""

    def __init__(self, cached):
        self.cached = cached
        self.embed = keras.layers.Embedding(VOCABULARY, D)
        self.decoder = TransformerDecoder(2, H, MLP)
        self.words = keras.layers.Dense(VOCABULARY)
        self.embed.build()
        self.decoder.build((None, None, D), (None, None, C))
        self.words.build((None, None, D))
        ids, rows = keras.Input((1,), dtype="int32", name="ids"), keras.Input((), dtype="int32", name="position")
        cache = self.decoder.start_cache(LONGEST, np.zeros((B, TV, C), "float32"))
        cache = keras.tree.map_structure(lambda t: keras.Input(t.shape[1:], dtype=t.dtype), cache)
        y, _, cross, new = self.decoder(self.embed(ids), cache=cache, position=rows, return_attention_scores=True)
        step = {"y": ops.log_softmax(self.words(y)[:, 0]), "weights": cross[-1][:, 0, 0], "cache": new}
        self.stepping = keras.Model({"ids": ids, "position": rows, "cache": cache}, step)
        ids, memory, mask = (
            keras.Input((LONGEST,), dtype="int32"),
            keras.Input((TV, C)),
            keras.Input((TV,), dtype="bool"),
        )
        y, _, cross = self.decoder(self.embed(ids), memory, memory_mask=mask, return_attention_scores=True)
        self.whole = keras.Model([ids, memory, mask], [ops.log_softmax(self.words(y)), cross[-1][:, 0]])

    def draw(self, rng):
        """New random weights."""
        for layer in (self.embed, self.decoder, self.words):
            loops.randomise(layer, rng)
        self.embed.embeddings.assign(rng.normal(0, 3, (VOCABULARY, D)))  # what was said must matter
        self.decoder.last_norm.gamma.assign(np.ones(D))
        return self

    def begin(self, inputs):
        memory, mask = inputs["memory"], inputs["mask"]
        start = {"position": np.zeros(len(memory), "int32")}
        if self.cached:
            cache = self.decoder.start_cache(LONGEST, memory, mask)
            return start | {"cache": keras.tree.map_structure(backend.to_numpy, cache)}
        return start | {"ids": np.zeros((len(memory), LONGEST), "int32"), "memory": memory, "mask": mask}

    def step(self, tokens, state):
        position = state["position"]
        if self.cached:
            found = self.stepping.predict_on_batch({**state, "ids": tokens[:, None]})
            return found["y"], {"position": position + 1, "cache": found["cache"]}, found["weights"]
        ids, rows = state["ids"].copy(), np.arange(len(tokens))
        ids[rows, position] = tokens
        y, weights = self.whole.predict_on_batch([ids, state["memory"], state["mask"]])
        return y[rows, position], {**state, "position": position + 1, "ids": ids}, weights[rows, position]


def test_compiled_search_finds_the_same_tokens_with_and_without_the_cache():
    given = {"memory": inputs_of(np.random.default_rng(3))[1], "mask": REAL_WORDS}
    writers = [Writer(cached) for cached in (True, False)]
    for seed, beams in ((2, 0), (2, 3), (3, 0), (3, 3), (8, 3)):
        found = [
            decoding.beam_search(w.draw(np.random.default_rng(seed)), given, 1, 2, LONGEST - 1, beams, 0.0)
            for w in writers
        ]
        assert found[0].tokens == found[1].tokens and max(map(len, found[0].tokens)) > 0
        np.testing.assert_allclose(found[0].scores, found[1].scores, atol=1e-4)
        for a, b in zip(found[0].weights, found[1].weights, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-5)
