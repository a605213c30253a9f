"""The whole option grid against the Keras built-ins, and what a parity run says when something differs."""

import keras
import numpy as np
import pytest

from attention_by_hand import parity
from attention_by_hand.layers import AdditiveAttention, DotProductAttention


@pytest.mark.parametrize("kind", [AdditiveAttention, DotProductAttention])
def test_layer_equals_the_built_in_over_the_whole_grid(kind):
    table = parity.run(kind)
    print(table)
    table.check()
    assert table.cases == len(parity.grid(kind)) >= 60
    assert f"{table.cases} cases" in str(table)
    assert f"{table.cases} cases" in table._repr_html_()
    assert not table.missing


def test_grid_holds_every_mask_for_every_option():
    for kind in (AdditiveAttention, DotProductAttention):
        seen = {(case.label, case.masks, case.with_key) for case in parity.grid(kind)}
        labels = {label for label, _, _ in seen}
        assert len(seen) == len(labels) * 6 * 2


def inputs(rng):
    return [rng.normal(size=shape).astype("float32") for shape in ((2, 3, 4), (2, 5, 7), (2, 5, 4))]


def test_difference_is_reported_with_quantity_place_and_amount(rng):
    result = parity.compare(DotProductAttention("sqrt"), keras.layers.Attention(), inputs(rng))
    assert not result.ok
    report = str(result)
    assert "output differs at [" in report
    assert "|Δ| = " in report
    assert "d/d query differs at [" in report


def test_nan_counts_as_a_difference():
    result = parity.Comparison()
    result.add("output", np.array([1.0, np.nan]), np.array([1.0, 2.0]))
    assert not result.ok
    assert result.differences["output"] == np.inf


def test_difference_just_within_the_tolerance_passes_and_just_beyond_fails():
    result = parity.Comparison()
    result.add("output", np.array([100.0 + 1.0e-3]), np.array([100.0]))
    assert result.ok
    result.add("weights", np.array([100.0 + 1.1e-3]), np.array([100.0]))
    assert not result.ok


def test_shapes_that_differ_are_reported():
    result = parity.Comparison()
    result.add("output", np.zeros((2, 3)), np.zeros((3, 2)))
    assert "(2, 3)" in result.mismatches[0]


def test_weights_are_copied_in_both_directions(rng):
    ours = DotProductAttention(score_mode="concat", units=6)
    ours.build((2, 3, 4), (2, 5, 7), (2, 5, 9))
    other = parity.reference(ours)
    other.build([(2, 3, 4), (2, 5, 7), (2, 5, 9)])
    parity.draw_weights(other, rng)
    parity.copy_weights(other, ours)
    stacked = np.concatenate([keras.ops.convert_to_numpy(w) for w in other.weights[:2]])
    np.testing.assert_array_equal(keras.ops.convert_to_numpy(ours.weights[0]), stacked)
    parity.draw_weights(ours, rng)
    parity.copy_weights(ours, other)
    np.testing.assert_array_equal(
        keras.ops.convert_to_numpy(other.weights[1]), keras.ops.convert_to_numpy(ours.weights[0])[4:]
    )


def test_weights_that_do_not_fit_are_refused():
    ours, other = AdditiveAttention(), keras.layers.AdditiveAttention()
    ours.build((2, 3, 4), (2, 5, 4))
    other.build([(2, 3, 6), (2, 5, 6)])
    with pytest.raises(ValueError, match=r"weights of shapes \[\(4,\)\]; target .* needs \[\(6,\)\]"):
        parity.copy_weights(ours, other)


def test_option_that_keras_lacks_is_reported_and_not_counted():
    class OldAttention(keras.layers.Layer):
        def __init__(self, dropout=0.0, **kwargs):
            super().__init__(**kwargs)

    table = parity.run(AdditiveAttention, quick=True, builtin=OldAttention)
    assert set(table.missing) == {"use_scale=False", "use_scale=True", "units=8"}
    assert table.cases == 18  # six masks, three draws, the row "dropout=0.5"
    assert "not in this Keras: use_scale" in str(table)
    assert table.ok


def test_failed_table_raises_with_the_mismatch():
    table = parity.Table("Layer")
    result = parity.Comparison()
    result.add("weights", np.ones(2), np.zeros(2))
    table.add(parity.grid(AdditiveAttention)[0], result)
    with pytest.raises(AssertionError, match="weights differs at"):
        table.check()
    with pytest.raises(AssertionError):
        parity.Table("empty").check()


def test_unknown_arguments_are_refused(rng):
    with pytest.raises(ValueError, match="copy_from must be"):
        parity.compare(DotProductAttention(), keras.layers.Attention(), inputs(rng), copy_from="theirs")
    with pytest.raises(ValueError, match="layer must be one of"):
        parity.grid(keras.layers.Dense)
    with pytest.raises(ValueError, match="ours must be"):
        parity.reference(keras.layers.Dense(3))


@pytest.mark.parametrize("kind", [AdditiveAttention, DotProductAttention])
def test_quick_run_still_meets_every_option_with_every_mask(kind):
    table = parity.run(kind, quick=True)
    options = {case.label for case in parity.grid(kind)}
    assert table.check().cases >= 60
    assert set(table.groups) == options
    assert all(len(group) >= 6 for group in table.groups.values())
