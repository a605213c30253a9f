"""MultiHeadAttention against Keras's over all options, eager and compiled, and against PyTorch's module on torch."""

import keras
import numpy as np
import pytest
from keras import ops

from attention_by_hand import backend, parity
from attention_by_hand.layers import MultiHeadAttention
from attention_by_hand.parity import multi_head
from attention_by_hand.parity.multi_head import BATCH, HEADS, KEY_DIM, LENGTHS, MASKS

COMPILED_LENGTHS = LENGTHS[1:]  # cross-attention, fewer queries than keys and more
COMPILED_OPTIONS = ({"value_dim": 9, "use_bias": True}, {"value_dim": None, "use_bias": False})


def test_layer_equals_the_built_in_over_the_whole_grid():
    table = parity.run_multi_head()
    print(table)
    table.check()
    assert table.cases == len(parity.multi_head_grid()) >= 100
    assert f"{table.cases} cases" in str(table)


def test_grid_holds_every_combination_once():
    cases = parity.multi_head_grid()
    seen = {(str(c.options), c.scores, c.lengths, c.mask) for c in cases}
    assert len(seen) == len(cases) == 8 * 2 * 3 * 5
    assert {c.mask for c in cases} == set(MASKS)


def test_quick_run_holds_every_mask_in_each_of_its_rows():
    table = parity.run_multi_head(quick=True).check()
    assert table.cases == 20 and [len(group) for group in table.groups.values()] == [5] * 4


def test_every_mask_of_the_grid_hides_something_and_leaves_rows_to_compare():
    for case in parity.multi_head_grid():
        visible = multi_head.visible_pairs(case.lengths, **case.data()[1])
        assert visible.all() == (case.mask == "none")
        assert visible.any(axis=-1).all(axis=1).sum() >= 1  # rows that every head can answer


@pytest.mark.parametrize("part", range(8))
def test_a_wrong_weight_is_noticed(part, monkeypatch):
    """A weight that is changed in ours alone is reported; only the bias of the keys cancels in the softmax."""
    cases = [c for c in parity.multi_head_grid() if c.options["use_bias"] and c.scores and c.mask == "none"]
    original = multi_head.MultiHeadCase.layers

    def spoiled(case, shapes):
        ours, theirs = original(case, shapes)
        arrays = ours.get_weights()
        arrays[part] = arrays[part] + np.random.default_rng(part).normal(size=arrays[part].shape)
        ours.set_weights(arrays)
        return ours, theirs

    monkeypatch.setattr(multi_head.MultiHeadCase, "layers", spoiled)
    assert multi_head.compare_multi_head(cases[0]).ok == (part == 3)


def compiled_models():
    """Two models, ours and Keras's, each with every compiled case as an output, and inputs for them."""
    rng = np.random.default_rng(7)
    arrays, inputs = {}, {}

    def add(name, array):
        arrays[name] = array
        inputs[name] = keras.Input(array.shape[1:], batch_size=BATCH, dtype=str(array.dtype), name=name)

    for number, (query_length, value_length) in enumerate(COMPILED_LENGTHS):
        add(f"query{number}", rng.normal(size=(BATCH, query_length, 7)).astype("float32"))
        add(f"value{number}", rng.normal(size=(BATCH, value_length, 6)).astype("float32"))
        add(f"padding{number}", np.arange(value_length) < np.array([[2], [3]]))
        pairs = rng.random((BATCH, query_length, value_length)) < 0.6
        pairs[..., 0] = True  # everybody sees a key: other rows differ on purpose
        add(f"pairs{number}", pairs)
    mine, theirs = {}, {}
    for number in range(len(COMPILED_LENGTHS)):
        for row, options in enumerate(COMPILED_OPTIONS):
            layers = [kind(HEADS, KEY_DIM, **options) for kind in (MultiHeadAttention, keras.layers.MultiHeadAttention)]
            query, value = inputs[f"query{number}"], inputs[f"value{number}"]
            for layer in layers:
                layer.build(query.shape, value.shape)
            parity.draw_weights(layers[1], rng)
            parity.copy_weights(layers[1], layers[0])
            for mask in MASKS:
                masks = {
                    "value_mask": inputs[f"padding{number}"] if "padding" in mask else None,
                    "attention_mask": inputs[f"pairs{number}"] if mask == "any pairs" else None,
                    "use_causal_mask": "causal" in mask,
                }
                name = f"{number}_{row}_{MASKS.index(mask)}"
                mine[name] = layers[0](query, value, return_attention_scores=True, **masks)
                mine[f"{name}_plain"] = layers[0](query, value, **masks)
                # Keras on jax cannot run without scores when value_dim differs from key_dim: one form is enough
                theirs[name] = layers[1](query, value, return_attention_scores=True, **masks)
    return keras.Model(inputs, mine), keras.Model(inputs, theirs), arrays


def test_compiled_layer_equals_the_compiled_built_in():
    mine, theirs, arrays = compiled_models()
    found = []
    for model in (mine, theirs):
        model.compile(jit_compile=backend.name() != "torch")  # torch runs what it is given
        found.append(model.predict(arrays, batch_size=BATCH, verbose=0))
    compared = 0
    for name, (output, weights) in found[1].items():
        for ours in (found[0][name][0], found[0][f"{name}_plain"]):
            np.testing.assert_allclose(ours, output, rtol=1e-5, atol=1e-5)
            compared += 1
        np.testing.assert_allclose(found[0][name][1], weights, rtol=1e-5, atol=1e-5)
    assert compared == len(COMPILED_LENGTHS) * len(COMPILED_OPTIONS) * len(MASKS) * 2 == 40


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("kind", ["none", "padding", "causal", "one a head"])
def test_layer_equals_the_module_of_torch(lengths, kind, rng):
    mask = None
    if kind != "none":
        mask = np.ones((BATCH, HEADS, *lengths), bool)
        mask &= np.arange(lengths[1]) < np.array([2, 3])[:, None, None, None] if kind == "padding" else True
        mask &= np.tril(np.ones(lengths, bool)) if kind == "causal" else True
        mask &= rng.random(mask.shape) < 0.6 if kind == "one a head" else True
        mask[..., 0] = True
    result = parity.compare_with_torch(mask, lengths, seed=len(kind))
    if backend.name() == "torch":
        assert result.ok, result
        assert set(result.differences) == {"output", "weights"}
    else:
        assert result is None


def test_module_of_torch_joins_kernels_of_one_width_and_still_agrees(rng):
    if backend.name() != "torch":
        assert backend.torch_multi_head([], None, None) is None
        return
    x = rng.normal(size=(2, 5, 12)).astype("float32")
    layer = MultiHeadAttention(3, 4)
    layer.build(x.shape, x.shape)
    parity.draw_weights(layer, rng)
    output, weights = backend.torch_multi_head(layer.get_weights(), x, x)
    ours, own = layer(x, x, return_attention_scores=True)
    np.testing.assert_allclose(output, ops.convert_to_numpy(ours), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(weights, ops.convert_to_numpy(own), rtol=1e-5, atol=1e-5)
