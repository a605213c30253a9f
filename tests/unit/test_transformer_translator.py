"""The transformer translator: built-in layers agree, steps are the training pass, with and without a cache."""

import keras
import numpy as np
import pytest

from attention_by_hand import backend, parity
from attention_by_hand.decoding import beam_search, greedy
from attention_by_hand.layers import sinusoids
from attention_by_hand.models import Recomputing, TransformerTranslator

N, S, T, SOURCE, TARGET, WIDTH, HEADS = 5, 7, 6, 11, 9, 12, 3
START, END = 1, 2
SIZES = {"num_heads": HEADS, "mlp_dim": 10, "width": WIDTH}


@pytest.fixture(scope="module")
def made():
    """A translator whose weights are all random, biases, gammas and betas included."""
    made, rng = TransformerTranslator(SOURCE, TARGET, S, T, **SIZES), np.random.default_rng(0)
    for weight in made.model.trainable_weights:  # vectors are small, so that the words decide and not the biases
        scale = 0.5 if len(weight.shape) > 1 else 0.1
        weight.assign((weight.name == "gamma") + rng.normal(0, scale, weight.shape))
    return made


@pytest.fixture
def data(rng):
    """Sources of different lengths with their masks, and targets that begin with the start token."""
    mask = np.arange(S)[None] < np.array([[S], [3], [5], [1], [4]])
    source = rng.integers(4, SOURCE, (N, S)) * mask
    target = np.concatenate([np.full((N, 1), START), rng.integers(4, TARGET, (N, T - 1))], axis=1)
    return {"source": source.astype("int32"), "source_mask": mask, "target": target.astype("int32")}


def by_built_ins(made, data, memory_mask):
    """Logits and the weights of each decoder block, by blocks made of Keras's own layers with the same weights."""

    def norm(layer, x):
        same = keras.layers.LayerNormalization(epsilon=1e-6)
        same.build(x.shape)
        same.set_weights(layer.get_weights())
        return same(x)

    table = lambda layer, ids: backend.to_numpy(layer.embeddings)[ids]  # noqa: E731
    x = (table(made.embed_source, data["source"]) + sinusoids(S, WIDTH)).astype("float32")
    y = (table(made.embed_target, data["target"]) + sinusoids(T, WIDTH)).astype("float32")
    real = keras.ops.convert_to_tensor(data["source_mask"])
    for block in made.encoder.blocks:
        x = parity.BuiltInBlock(block)(x, padding_mask=real)[0]
    x, every = norm(made.encoder.last_norm, x), []
    for block in made.decoder.blocks:
        options = {"memory_mask": keras.ops.convert_to_tensor(memory_mask), "use_causal_mask": True}
        y, _, cross = parity.BuiltInBlock(block)(y, x, **options)
        every.append(backend.to_numpy(cross))
    kernel, bias = made.words.get_weights()
    return backend.to_numpy(norm(made.decoder.last_norm, y)) @ kernel + bias, np.stack(every, axis=1)


def log_softmax(x):
    x = x - x.max(axis=-1, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))


def test_training_model_and_reading_agree_with_built_in_layers(made, data):
    logits, weights = by_built_ins(made, data, data["source_mask"])
    np.testing.assert_allclose(backend.to_numpy(made.model(data)), logits, rtol=1e-4, atol=1e-4)
    log_probs, found = made.read(data, batch_size=N)
    np.testing.assert_allclose(log_probs, log_softmax(logits), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found, weights, atol=1e-5)
    assert np.abs(found[:, 0] - found[:, 1]).max() > 1e-2  # each block gives its own


def test_memory_mask_acts_on_the_memory_alone(made, data):
    seen = data["source_mask"] & (np.arange(S) != 0)
    seen[3] = True  # this sentence has one word; its padding is seen, too
    logits, weights = by_built_ins(made, data, seen)
    log_probs, found = made.read({**data, "memory_mask": seen}, batch_size=N)
    np.testing.assert_allclose(found[:3], weights[:3], atol=1e-5)
    np.testing.assert_allclose(log_probs[:3], log_softmax(logits)[:3], rtol=1e-4, atol=1e-4)
    assert (found[:3, ..., 0] == 0).all() and (found[3, ..., 1:] > 0).all()


@pytest.mark.parametrize("cached", [True, False])
def test_step_by_step_is_the_training_pass(made, data, cached):
    logits, every = by_built_ins(made, data, data["source_mask"])
    translator = made if cached else Recomputing(made)
    state = translator.begin({name: data[name] for name in ("source", "source_mask")})
    for t in range(T):
        log_probs, state, weights = translator.step(data["target"][:, t], state)
        np.testing.assert_allclose(log_probs, log_softmax(logits)[:, t], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(weights, every[:, :, :, t], atol=1e-5)
    assert (state["position"] == T).all()


@pytest.mark.parametrize("beams", [0, 2])
def test_searches_with_and_without_a_cache_find_the_same(made, data, beams):
    data.pop("target")
    options = {"start": START, "end": 3, "max_length": T - 1, "beams": beams}  # 3: an end that comes now and then
    with_cache, without = (beam_search(model, data, **options) for model in (made, Recomputing(made)))
    assert with_cache.tokens == without.tokens
    assert len({tuple(tokens) for tokens in with_cache.tokens}) > 1
    np.testing.assert_allclose(with_cache.scores, without.scores, atol=1e-4)


def test_a_state_whose_rows_are_exchanged_goes_on_with_the_other_sentence(made, data):
    state = made.begin(data)
    _, state, _ = made.step(data["target"][:, 0], state)
    order = np.array([2, 0, 1, 4, 3])
    moved = keras.tree.map_structure(lambda x: x[order], state)
    one, _, _ = made.step(data["target"][:, 1], state)
    other, _, _ = made.step(data["target"][order, 1], moved)
    np.testing.assert_allclose(other, one[order], atol=1e-5)
    assert np.abs(one - one[order]).max() > 1e-2


def test_without_choice_every_weight_is_one_by_the_number_of_words(data, rng):
    made = TransformerTranslator(SOURCE, TARGET, S, T, choose=False, **SIZES)
    held = [w for b in made.decoder.blocks for w in (b.cross_attention.query_kernel, b.cross_attention.query_bias)]
    trained = made.model.trainable_variables
    assert len(held) == 4 and not {id(w) for w in held} & {id(w) for w in trained}
    assert {id(b.attention.query_kernel) for b in made.decoder.blocks} < {id(w) for w in trained}
    for weight in trained:  # whatever training does
        weight.assign(rng.normal(0, 0.5, weight.shape))
    expected = data["source_mask"] / data["source_mask"].sum(axis=1, keepdims=True)
    _, weights = made.read(data, batch_size=N)
    np.testing.assert_allclose(weights, np.broadcast_to(expected[:, None, None, None], weights.shape), atol=1e-6)


def test_without_positions_the_order_of_the_source_does_not_matter(data):
    made = TransformerTranslator(SOURCE, TARGET, S, T, positions=False, **SIZES)
    mixed = data["source"].copy()
    mixed[0] = mixed[0, ::-1]
    logits = backend.to_numpy(made.model(data))
    np.testing.assert_allclose(backend.to_numpy(made.model({**data, "source": mixed})), logits, atol=1e-4)


def test_greedy_stops_at_the_limit_that_the_cache_has_room_for(made, data):
    found = greedy(made, data, START, TARGET + 1, max_length=T - 1)  # an end that never comes
    assert [len(tokens) for tokens in found.tokens] == [T - 1] * N
    assert all(weights.shape == (T, 2, HEADS, S) for weights in found.weights)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source_length": 0}, "source_length must be a positive integer"),
        ({"target_length": 2.5}, "target_length must be a positive integer"),
        ({"num_heads": 5, "width": 12}, "num_heads must divide"),
        ({"num_layers": 0}, "num_layers must be a positive integer"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments, message):
    with pytest.raises(ValueError, match=message):
        TransformerTranslator(SOURCE, TARGET, **arguments)
