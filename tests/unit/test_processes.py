"""`abh.everywhere`: the same functions on every backend."""

import os

import pytest

import attention_by_hand as abh
from attention_by_hand import backend, processes


def which():
    import keras as imported

    return {"keras": imported.backend.backend(), "abh": abh.backend.name()}


def base():
    return np.array([[1.0, 2.0], [3.0, 4.0]])  # noqa: F821  (np, ops, keras and abh are there)


def doubled():
    return {"tensor": ops.convert_to_tensor(base()) * 2, "shape": (1, 2), "text": "ä", "none": None}  # noqa: F821


def fails_elsewhere():
    import os

    if abh.backend.name() != os.environ["ABH_HERE"]:
        raise ValueError("on purpose")


def hangs_elsewhere():
    import os
    import time

    time.sleep(60 if abh.backend.name() != os.environ["ABH_HERE"] else 0)


@pytest.fixture(autouse=True)
def names_of_a_chapter(monkeypatch):
    """A chapter has these names; the functions above run here, too."""
    import keras
    import numpy

    for name, thing in (("np", numpy), ("ops", keras.ops)):
        monkeypatch.setitem(globals(), name, thing)
    monkeypatch.setenv("ABH_HERE", backend.name())


def one_other(monkeypatch):
    """Only one other process: the test needs no more."""
    other = next(name for name in backend.BACKENDS if name != backend.name())
    monkeypatch.setattr(backend, "BACKENDS", (backend.name(), other))
    return other


def test_functions_run_on_every_backend_the_one_here_first():
    found = abh.everywhere(which, base, doubled)
    assert list(found) == [backend.name(), *(n for n in backend.BACKENDS if n != backend.name())]
    for name, answers in found.items():
        assert answers["which"] == {"keras": name, "abh": name}
        assert answers["doubled"] == {"tensor": [[2, 4], [6, 8]], "shape": [1, 2], "text": "ä", "none": None}


def test_the_environment_here_stays_as_it_was(monkeypatch):
    one_other(monkeypatch)
    before = dict(os.environ)
    abh.everywhere(which)
    assert dict(os.environ) == before


def test_a_backend_that_is_not_installed_is_left_out(monkeypatch):
    monkeypatch.setattr(processes, "find_spec", lambda name: None)
    assert list(abh.everywhere(which)) == [backend.name()]


def test_an_error_elsewhere_names_the_backend_and_the_error(monkeypatch):
    other = one_other(monkeypatch)
    with pytest.raises(processes.ProcessError, match=rf"on {other}(.|\n)*ValueError: on purpose"):
        abh.everywhere(fails_elsewhere)


def test_a_function_that_hangs_is_ended(monkeypatch):
    other = one_other(monkeypatch)
    with pytest.raises(processes.ProcessError, match=f"on {other}: took longer than 1 s"):
        abh.everywhere(hangs_elsewhere, timeout=1)
