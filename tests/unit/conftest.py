"""Fixtures of the unit tests: they run on the backend that KERAS_BACKEND names."""

import keras
import numpy as np
import pytest


@pytest.fixture
def rng():
    """Random numbers that are the same in every run."""
    return np.random.default_rng(7)


@pytest.fixture(autouse=True)
def same_seed_for_every_test():
    """A test must not depend on the tests that ran before it."""
    keras.utils.set_random_seed(0)
    yield
    keras.config.set_dtype_policy("float32")
