"""The rule that a skip must be listed is itself tested."""

import subprocess
import sys

import pytest

from .conftest import ROOT, environment

TESTS = """
import pytest
def test_runs(): pass
@pytest.mark.skip(reason="no reason")
def test_skipped(): pass
@pytest.mark.xfail(strict=False)
def test_expected(): assert False
"""


@pytest.mark.parametrize(
    ("listed", "code"), [("test_a.py::test_skipped", 0), ("test_a.py", 0), ("test_a.py::test_ski", 1)]
)
def test_skip_that_is_not_listed_fails_the_run(tmp_path, listed, code):
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (tmp_path / "allowed_skips.txt").write_text(f"# why\n{listed}\n")
    (tmp_path / "test_a.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert done.returncode == code, done.stdout
    assert ("test_a.py::test_skipped: Skipped: no reason" in done.stdout) == (code == 1)
