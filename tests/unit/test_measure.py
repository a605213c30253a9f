"""Memory and time: the right thing is measured, in a process with the same backend, and failures are told."""

import time

import keras
import pytest

from attention_by_hand import backend, measure

MIB = 2**20
IMPORT = "import numpy as np"


def fill(mebibytes):
    return f"x = np.ones({mebibytes} * {MIB}, 'uint8')"


def test_peak_of_an_array_is_its_size():
    assert 59 <= measure.peak_memory(IMPORT, fill(60)) < 68


def test_several_sources_are_measured_one_after_the_other():
    small, large = measure.peak_memory(IMPORT, f"{fill(20)}; del x", fill(70))
    assert 19 <= small < 28
    assert 49 <= large < 78  # an allocator may keep the first array's pages


def test_peak_counts_what_is_freed_before_the_end():
    assert 99 <= measure.peak_memory(IMPORT, f"{fill(100)}; del x; {fill(5)}") < 108


def test_doing_nothing_costs_nothing():
    assert measure.peak_memory(IMPORT, "pass") < 4


def test_what_the_setup_allocates_is_not_counted():
    assert measure.peak_memory(f"{IMPORT}; {fill(120)}", "y = x[:10].sum()") < 4


def test_the_size_of_this_process_is_not_counted():
    mine = b"x" * (200 * MIB)
    assert measure.peak_memory(IMPORT, fill(10)) < 20
    del mine


def test_the_fresh_process_uses_the_backend_of_this_one_and_finds_the_same_modules():
    code = f"import keras, attention_by_hand; assert keras.backend.backend() == {backend.name()!r}"
    assert measure.peak_memory("", code) > 1


def test_an_error_in_the_code_is_reported_with_its_message():
    with pytest.raises(measure.MeasuringError, match="ValueError: seven is not a size"):
        measure.peak_memory("", "raise ValueError('seven is not a size')")


def test_what_the_code_prints_does_not_disturb():
    assert measure.peak_memory(f"{IMPORT}; print('hello', end='')", "print('half a line', end='')") < 4


def test_code_that_hangs_is_ended():
    start = time.perf_counter()
    with pytest.raises(measure.MeasuringError, match="longer than 1 s"):
        measure.peak_memory("import time", "time.sleep(60)", timeout=1)
    assert time.perf_counter() - start < 30


def test_seconds_is_the_median_of_the_repeats_after_the_warm_up():
    waits = iter([0.5, 0.5, 0.02, 0.02, 0.02, 0.3, 0.02])  # two warm-up calls, five timed ones with one outlier
    assert 0.02 <= measure.seconds(lambda: time.sleep(next(waits)), repeats=5) < 0.2
    assert next(waits, None) is None


def test_seconds_takes_functions_that_return_tensors_in_structures():
    x = keras.ops.ones((3, 4))
    assert measure.seconds(lambda: {"a": x + 1, "b": [x, "word", None]}, repeats=2) > 0


def test_no_repeats_is_an_error():
    with pytest.raises(ValueError, match="repeats must be at least 1; got 0"):
        measure.seconds(lambda: None, repeats=0)
