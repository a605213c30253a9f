"""How cores are divided between kernels that run together."""

import os
import subprocess
import sys

import pytest

from attention_by_hand.course import threads


@pytest.mark.parametrize(
    ("jobs", "cores", "expected"),
    [
        (1, [0, 1, 2], [[0, 1, 2]]),
        (2, [0, 1], [[0], [1]]),
        (2, [3, 4, 5, 7, 9], [[3, 4, 5], [7, 9]]),
        (3, [0, 1], [[0], [1], [0]]),
    ],
)
def test_cores_are_divided_and_nobody_goes_without(jobs, cores, expected):
    assert threads.shares(jobs, cores) == expected


def test_environment_sets_every_framework(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--mine")
    values = threads.environment(3)
    assert values["OMP_NUM_THREADS"] == values["TF_NUM_INTRAOP_THREADS"] == values["ABH_THREADS"] == "3"
    assert values["XLA_FLAGS"] == "--mine --xla_cpu_multi_thread_eigen=true"
    assert "--xla_cpu_multi_thread_eigen=false" in threads.environment(1)["XLA_FLAGS"]
    assert os.environ["XLA_FLAGS"] == "--mine"


@pytest.mark.parametrize("count", [1, 2])
def test_jax_starts_with_the_environment(count, monkeypatch):
    """XLA ends the process when it cannot read its flags, and takes a first word without dashes for a file."""
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    code = "import jax; print(float(jax.numpy.ones((3, 3)).sum()))"
    environment = {**os.environ, **threads.environment(count)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "9.0"), done.stderr[-300:]


def test_no_thread_at_all_is_refused():
    with pytest.raises(ValueError, match="count must be at least 1; got 0"):
        threads.environment(0)
