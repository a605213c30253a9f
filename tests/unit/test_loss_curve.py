"""The loss curve holds the loss of each batch, not the running mean that Keras reports."""

import keras
import numpy as np
import pytest

from attention_by_hand.models import LossCurve


def test_losses_are_those_of_each_batch_over_two_epochs(rng):
    targets = rng.normal(size=(12, 1)).astype("float32")
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile(keras.optimizers.SGD(0.0), "mse")  # it stays 0, so the loss of a batch is the mean square
    curve = LossCurve()
    model.fit(np.ones((12, 3), "float32"), targets, batch_size=4, epochs=2, shuffle=False, verbose=0, callbacks=[curve])
    expected = (targets.reshape(3, 4) ** 2).mean(axis=1)
    np.testing.assert_allclose(curve.losses, [*expected, *expected], rtol=1e-4)


def test_parts_end_with_the_last_batch_and_average_each_part():
    curve = LossCurve()
    curve.losses = [9.0, 1.0, 3.0, 2.0, 6.0]
    updates, losses = curve.parts(2)
    assert updates.tolist() == [3, 5]
    assert losses.tolist() == [2.0, 4.0]


@pytest.mark.parametrize("number", [0, -1, 3])
def test_more_parts_than_batches_are_refused(number):
    curve = LossCurve()
    curve.losses = [1.0, 2.0]
    with pytest.raises(ValueError, match="number must be between 1 and 2"):
        curve.parts(number)
