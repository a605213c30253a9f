"""The small extractor: what it computes, that it learns, that frozen means frozen, that features are its own."""

import keras
import numpy as np
import pytest

from attention_by_hand.backend import to_numpy
from attention_by_hand.datasets import single_shapes
from attention_by_hand.models import build_extractor, extract, pretrain_extractor


def convolution(x, kernel):
    """Stride 2, 4 × 4, one zero on each side: in loops."""
    x = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    size = (x.shape[1] - 2) // 2, (x.shape[2] - 2) // 2
    output = np.zeros((len(x), *size, kernel.shape[-1]))
    for i in range(size[0]):
        for j in range(size[1]):
            patch = x[:, 2 * i : 2 * i + 4, 2 * j : 2 * j + 4]  # (B, 4, 4, C)
            output[:, i, j] = np.tensordot(patch, kernel, axes=3)
    return output


@pytest.fixture(scope="module")
def trained():
    keras.utils.set_random_seed(0)
    data = single_shapes(768, side=28)
    return *pretrain_extractor(data, epochs=6, batch_size=32, widths=(8, 16, 24)), data


def test_it_computes_what_loops_compute(rng):
    widths = (3, 5)
    model = build_extractor(widths, seed=4)
    for variable in model.trainable_variables:
        if "gamma" in variable.path or "beta" in variable.path:
            variable.assign(rng.normal(0, 0.3, variable.shape))
    for variable in model.non_trainable_variables:
        variable.assign(rng.uniform(0.5, 1.5, variable.shape))
    pictures = rng.integers(0, 256, size=(2, 8, 12, 3)).astype("uint8")
    x = pictures / 127.5 - 1.0
    for number in (1, 2):
        (kernel,) = model.get_layer(f"convolution_{number}").get_weights()
        gamma, beta, mean, variance = model.get_layer(f"norm_{number}").get_weights()
        x = convolution(x, kernel)
        x = np.maximum((x - mean) / np.sqrt(variance + 1e-3) * gamma + beta, 0.0)
    found = to_numpy(model(pictures, training=False))
    assert found.shape == (2, 2, 3, 5)
    np.testing.assert_allclose(found, x, rtol=1e-4, atol=1e-5)


def test_pictures_of_64_pixels_become_8_by_8_cells_of_64_features():
    assert build_extractor().compute_output_shape((None, 64, 64, 3)) == (None, 8, 8, 64)


def test_a_seed_gives_the_same_kernels_and_another_gives_others():
    kernels = [build_extractor((3,), seed).get_layer("convolution_1").get_weights()[0] for seed in (0, 0, 1)]
    np.testing.assert_array_equal(kernels[0], kernels[1])
    assert np.abs(kernels[0] - kernels[2]).max() > 0.1


def test_it_learns_to_name_colours_and_grounds_it_has_not_seen(trained):
    _, classifier, _ = trained
    new = single_shapes(256, split="test", side=28)
    labels = {name: new[name] for name in ("colour", "shape", "ground")}
    found = classifier.evaluate(new["images"], labels, batch_size=32, verbose=0, return_dict=True)
    assert found["colour_accuracy"] > 0.9 and found["ground_accuracy"] > 0.9  # chance 0.25
    assert found["shape_accuracy"] > 0.35  # chance 0.17; the whole training of a chapter takes it to 1


def test_frozen_means_that_another_training_changes_nothing(trained):
    extractor, _, data = trained
    before = extractor.get_weights()
    model = keras.Sequential([extractor, keras.layers.GlobalMaxPooling2D(), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(data["images"][:64], data["colour"][:64].astype("float32"), batch_size=32, verbose=0)
    assert extractor.trainable_variables == []
    for old, new in zip(before, extractor.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


def test_features_are_the_frozen_ones_whatever_the_batches(trained):
    extractor, _, data = trained
    images = data["images"][:37]
    expected = to_numpy(extractor(images, training=True))  # frozen: training makes no difference
    for batch_size in (16, 64):
        found = extract(extractor, images, batch_size=batch_size)
        assert found.shape == (37, 4, 4, 24) and found.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("widths", [(), (8, 0), (8, 2.5), [-1]])
def test_widths_that_are_none_are_named(widths):
    with pytest.raises(ValueError, match="widths must be positive integers"):
        build_extractor(widths)


def test_wrong_data_and_sizes_are_named():
    images = np.zeros((4, 16, 16, 3), "uint8")
    for data, options, message in (
        ({"shape": np.zeros(4, int)}, {}, "data must have images; got shape"),
        ({"images": images, "boxes": np.zeros((4, 4), int)}, {}, "data must have a label.* got boxes"),
        ({"images": images, "shape": np.zeros(4, int)}, {"epochs": 0}, "epochs must be at least 1; got 0"),
        ({"images": images, "shape": np.zeros(4, int)}, {"batch_size": 0}, "batch_size must be at least 1; got 0"),
    ):
        with pytest.raises(ValueError, match=message):
            pretrain_extractor(data, **options)


def test_features_of_nothing_or_of_an_unfrozen_extractor_are_refused():
    model = build_extractor((3,))
    with pytest.raises(ValueError, match="extractor must be frozen"):
        extract(model, np.zeros((2, 16, 16, 3), "uint8"))
    model.trainable = False
    for images in (np.zeros((0, 16, 16, 3)), np.zeros((16, 16, 3))):
        with pytest.raises(ValueError, match="images must have shape"):
            extract(model, images)
    with pytest.raises(ValueError, match="batch_size must be at least 1; got 0"):
        extract(model, np.zeros((2, 16, 16, 3), "uint8"), batch_size=0)
