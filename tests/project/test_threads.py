"""How cores are divided between kernels that run together."""

import os

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
    assert values["XLA_FLAGS"] == "--mine intra_op_parallelism_threads=3"
    assert "--xla_cpu_multi_thread_eigen=false" in threads.environment(1)["XLA_FLAGS"]
    assert os.environ["XLA_FLAGS"] == "--mine"


def test_no_thread_at_all_is_refused():
    with pytest.raises(ValueError, match="count must be at least 1; got 0"):
        threads.environment(0)
