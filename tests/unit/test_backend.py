"""The backend module: names, seeds, gradients, the error when Keras runs on another backend."""

import json
import os
import subprocess
import sys

import keras
import numpy as np
import pytest
from keras import ops

from attention_by_hand import backend
from attention_by_hand.layers import DotProductAttention

SETUP = """
import json, os
import attention_by_hand as abh
from attention_by_hand import backend
other, third = (b for b in backend.BACKENDS if b != backend.name())
found = {"name": backend.name(), "line": abh.setup(), "outside": abh.setup(other)}
def message(wanted):
    try:
        abh.setup(wanted)
    except Exception as error:
        return [type(error).__name__, str(error)]
found["changed"] = message(third)
found["unknown"] = message("theano")
backend._asked = None
os.environ["KERAS_BACKEND"] = other
found["environment"] = message(None)
print("FOUND" + json.dumps(found))
"""


def test_setup_says_what_runs_and_refuses_to_change_it():
    run = subprocess.run([sys.executable, "-c", SETUP], capture_output=True, text=True, timeout=120, env=os.environ)
    assert run.returncode == 0, run.stderr[-2000:]
    found = json.loads(run.stdout.split("FOUND")[1])
    name = backend.name()
    other = next(b for b in backend.BACKENDS if b != name)
    assert found["name"] == name
    assert f"backend {name}" in found["line"]
    assert f"KERAS_BACKEND={name} was set outside and wins over BACKEND = '{other}'" in found["outside"]
    assert found["changed"][0] == "RuntimeError"
    assert "restart the kernel" in found["changed"][1]
    assert found["unknown"][0] == "ValueError"
    assert "got 'theano'" in found["unknown"][1]
    assert found["environment"][0] == "RuntimeError"
    assert f"already imported with the backend '{name}'" in found["environment"][1]
    assert "restart the kernel" in found["environment"][1]


def test_description_names_backend_versions_and_device():
    line = backend.describe()
    for part in (f"backend {backend.name()}", f"keras {keras.__version__}", f"numpy {np.__version__}", "device"):
        assert part in line
    assert backend.name() == os.environ["KERAS_BACKEND"]
    assert backend.versions()[backend.name()]


def test_value_and_gradients_agree_with_finite_differences(rng):
    x, y = rng.normal(size=(2, 3)).astype("float32"), rng.normal(size=(3, 2)).astype("float32")
    variable = keras.Variable(rng.normal(size=(2,)).astype("float32"))
    weights = backend.to_numpy(variable)

    def function(x, y):
        return ops.sum(ops.tanh(ops.matmul(x, y)) * variable)

    def numpy_function(x, y, w):
        return (np.tanh(x.astype("float64") @ y) * w).sum()

    value, inputs, variables = backend.value_and_grad(function, [x, y], [variable])
    assert value == pytest.approx(numpy_function(x, y, weights), abs=1e-5)
    for i, gradient in enumerate([*inputs, *variables]):
        arrays = [a.astype("float64") for a in (x, y, weights)]
        for index in np.ndindex(*gradient.shape):
            moved = [a.copy() for a in arrays], [a.copy() for a in arrays]
            moved[0][i][index] += 1e-5
            moved[1][i][index] -= 1e-5
            expected = (numpy_function(*moved[0]) - numpy_function(*moved[1])) / 2e-5
            assert gradient[index] == pytest.approx(expected, abs=1e-4)


def test_gradient_of_what_is_not_used_is_zero(rng):
    x, unused = rng.normal(size=(2, 3)).astype("float32"), rng.normal(size=(4,)).astype("float32")
    variable = keras.Variable(np.ones((5,), "float32"))
    _, inputs, variables = backend.value_and_grad(lambda x, unused: ops.sum(x * x), [x, unused], [variable])
    np.testing.assert_allclose(inputs[0], 2 * x, rtol=1e-6)
    assert inputs[1].shape == (4,)
    assert (inputs[1] == 0).all()
    assert variables[0].shape == (5,)
    assert (variables[0] == 0).all()


def test_gradient_of_an_embedding_row_that_is_used_twice_is_summed():
    table = keras.layers.Embedding(4, 2)
    table.build((1, 3))
    gradient = backend.value_and_grad(lambda: ops.sum(table(np.array([[1, 1, 3]]))), (), table.trainable_variables)[2][
        0
    ]
    np.testing.assert_array_equal(gradient, [[0, 0], [2, 2], [0, 0], [1, 1]])


def test_gradient_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match=r"inputs\[1\] must be floating point .* int32"):
        backend.value_and_grad(lambda x, i: ops.sum(x), [np.ones(2, "float32"), np.ones(2, "int32")])
    with pytest.raises(ValueError, match=r"must return a scalar; got shape \(2,\)"):
        backend.value_and_grad(lambda x: x, [np.ones(2, "float32")])
    with pytest.raises(ValueError, match="count must be at least 1; got 0"):
        backend.set_threads(0)


def test_same_seed_gives_the_same_numbers():
    draws = []
    for seed in (3, 3, 4):
        assert backend.set_seed(seed) == seed
        draws.append((backend.to_numpy(keras.random.normal((4,))), np.random.rand(4)))  # noqa: NPY002
    np.testing.assert_array_equal(draws[0], draws[1])
    assert (draws[0][0] != draws[2][0]).all()
    assert (draws[0][1] != draws[2][1]).all()


def test_seed_comes_from_the_environment(monkeypatch):
    monkeypatch.delenv("ABH_SEED", raising=False)
    assert backend.seed() == 0
    monkeypatch.setenv("ABH_SEED", "2")
    assert backend.set_seed() == 2


def test_array_is_a_copy():
    variable = keras.Variable(np.ones(3, "float32"))
    array = backend.to_numpy(variable)
    array[:] = 5
    np.testing.assert_array_equal(backend.to_numpy(variable), np.ones(3))


def test_highest_precision_leaves_results_and_settings_as_they_are(rng):
    x = rng.normal(size=(8, 8)).astype("float32")
    with backend.highest_precision():
        product = backend.to_numpy(ops.matmul(x, x))
    np.testing.assert_allclose(product, x.astype("float64") @ x, rtol=1e-4, atol=1e-5)


def test_layer_runs_inside_a_function_traced_by_the_backend(rng):
    x = rng.normal(size=(2, 5, 4)).astype("float32")
    layer = DotProductAttention("sqrt")
    direct = backend.to_numpy(layer(x, x, use_causal_mask=True))
    model = keras.Sequential([keras.Input((None, 4)), keras.layers.Lambda(lambda y: layer(y, y, use_causal_mask=True))])
    model.compile(jit_compile=keras.backend.backend() != "torch")
    np.testing.assert_allclose(model.predict(x, verbose=0), direct, atol=1e-6)
