"""Training, compilation, symbolic shapes, saving and loading."""

import keras
import numpy as np
import numpy_loops as loops
import pytest
from keras import ops
from numpy_loops import DV, TQ, TV, B, D

from attention_by_hand import backend
from attention_by_hand.layers import AdditiveAttention, DotProductAttention

JIT = "auto" if keras.backend.backend() == "torch" else True
CONFIGURATIONS = [
    (AdditiveAttention, {}),
    (AdditiveAttention, {"use_scale": False, "dropout": 0.3, "seed": 4}),
    (AdditiveAttention, {"units": 6}),
    (DotProductAttention, {}),
    (DotProductAttention, {"scale": "sqrt"}),
    (DotProductAttention, {"scale": 0.7, "dropout": 0.3, "seed": 4}),
    (DotProductAttention, {"scale": "learned"}),
    (DotProductAttention, {"score_mode": "general"}),
    (DotProductAttention, {"score_mode": "concat", "scale": "learned"}),
    (DotProductAttention, {"score_mode": "concat", "units": 6}),
    (DotProductAttention, {"scale": "sqrt", "dtype": "mixed_bfloat16"}),
]


def functional(layer, length=None):
    """A model over query, value, key and a value mask, with the weights as second output."""
    inputs = [keras.Input((length, D)), keras.Input((length, DV)), keras.Input((length, D))]
    mask = keras.Input((length,), dtype="bool")
    return keras.Model([*inputs, mask], list(layer(*inputs, value_mask=mask, return_attention_scores=True)))


def data(rng, query_length=TQ, value_length=TV, batch=B):
    arrays = [loops.normal(rng, batch, query_length, D), loops.normal(rng, batch, value_length, DV)]
    mask = np.arange(value_length) < rng.integers(1, value_length + 1, size=(batch, 1))
    return [*arrays, loops.normal(rng, batch, value_length, D), mask]


@pytest.mark.parametrize(("kind", "options"), CONFIGURATIONS)
def test_configuration_survives_a_round_trip(kind, options):
    layer = kind(name="attend", **options)
    config = layer.get_config()
    again = kind.from_config(config)
    assert again.get_config() == config
    for name, value in options.items():
        if name != "dtype":
            assert getattr(again, name) == value


@pytest.mark.parametrize(("kind", "options"), CONFIGURATIONS)
def test_saved_model_gives_the_same_bits(rng, tmp_path, kind, options):
    layer = kind(**options)
    model = functional(layer)
    loops.randomise(layer, rng) if not layer.dropout else None
    x = data(rng)
    before = [backend.to_numpy(ops.cast(y, "float32")) for y in model(x)]
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    after = [backend.to_numpy(ops.cast(y, "float32")) for y in loaded(x)]
    for a, b in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "layer",
    [
        lambda: AdditiveAttention(units=6, dropout=0.1, seed=0),
        lambda: AdditiveAttention(),
        lambda: DotProductAttention("learned", score_mode="general"),
    ],
)
def test_compiled_fit_lowers_the_loss(rng, layer):
    query = keras.Input((None, D))
    value = keras.Input((None, D))
    mask = keras.Input((None,), dtype="bool")
    output = keras.layers.Dense(1)(layer()(query, value, value_mask=mask, use_causal_mask=True))
    model = keras.Model([query, value, mask], output)
    model.compile(keras.optimizers.Adam(0.05), "mse", jit_compile=JIT)
    x, y, _, visible = data(rng, TQ, TV, batch=32)
    value = np.concatenate([y[:, :, : D - 1], loops.normal(rng, 32, TV, 1)], axis=-1)
    target = (value[:, :1] @ np.ones((D, 1), "float32")).repeat(TQ, axis=1)
    visible[:, 0] = True
    history = model.fit([x, value, visible], target, batch_size=8, epochs=8, verbose=0).history["loss"]
    assert np.isfinite(history).all()
    assert history[-1] < 0.7 * history[0]


def test_symbolic_shapes_are_the_real_ones(rng):
    for kind in (AdditiveAttention, DotProductAttention):
        model = functional(kind())
        assert [y.shape for y in model.outputs] == [(None, None, DV), (None, None, None)]
        fixed = kind()(keras.Input((TQ, D)), keras.Input((TV, DV)), keras.Input((TV, D)), return_attention_scores=True)
        assert [y.shape for y in fixed] == [(None, TQ, DV), (None, TQ, TV)]
        assert [tuple(y.shape) for y in model(data(rng))] == [(B, TQ, DV), (B, TQ, TV)]
        assert kind().compute_output_shape((B, TQ, D), (B, TV, DV), (B, TV, D)) == (B, TQ, DV)


def test_one_model_runs_at_any_length_and_batch(rng):
    layer = DotProductAttention("sqrt")
    model = functional(layer)
    for query_length, value_length, batch in ((3, 5, 2), (1, 7, 3), (6, 1, 1)):
        query, value, key, mask = data(rng, query_length, value_length, batch)
        output, weights = (backend.to_numpy(y) for y in model.predict_on_batch([query, value, key, mask]))
        expected = loops.attend(loops.dot_scores(query, key, D**-0.5), value, mask[:, None, :])
        np.testing.assert_allclose(output, expected[0], atol=1e-5)
        np.testing.assert_allclose(weights, expected[1], atol=1e-5)


def test_predict_equals_the_direct_call(rng):
    x = data(rng)
    model = functional(AdditiveAttention())
    for compiled, direct in zip(model.predict(x, verbose=0), model(x), strict=True):
        np.testing.assert_allclose(compiled, backend.to_numpy(direct), atol=1e-6)


@pytest.mark.parametrize("policy", ["float16", "mixed_bfloat16"])
def test_output_has_the_compute_dtype_of_the_policy(rng, policy):
    query, value = keras.Input((TQ, D)), keras.Input((TV, D))
    for kind in (AdditiveAttention, DotProductAttention):
        layer = kind(dtype=policy)
        symbolic = layer(query, value)
        real = layer(*loops.inputs(rng, with_key=False))
        assert symbolic.dtype == layer.compute_dtype == policy.removeprefix("mixed_")
        assert keras.backend.standardize_dtype(real.dtype) == layer.compute_dtype


def test_parameters_are_counted_as_the_formula_says():
    shape = (B, TQ, D), (B, TV, DV), (B, TV, D + 5)
    for layer, count in (
        (AdditiveAttention(units=6), (D + D + 5) * 6 + 6),
        (DotProductAttention(score_mode="general"), D * (D + 5)),
        (DotProductAttention("learned", score_mode="concat", units=6), (D + D + 5) * 6 + 6 + 1),
    ):
        layer.build(*shape)
        assert layer.count_params() == count
