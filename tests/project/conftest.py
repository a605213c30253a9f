"""Helpers for tests that run once, whatever the backend: tiny notebooks and the command line."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
# Kernels of these tests need no framework: this stands in for Keras where a test is about the runner.
FAKE_KERAS = """
import os, sys, types
keras = types.ModuleType("keras")
keras.backend = types.SimpleNamespace(backend=lambda: os.environ["KERAS_BACKEND"])
sys.modules["keras"] = keras
""".strip()


def write_notebook(path, *sources, **metadata):
    """Write a notebook of code cells; a source that starts with `#md ` becomes a Markdown cell."""
    v4 = nbformat.v4
    cells = [v4.new_markdown_cell(s[4:]) if s.startswith("#md ") else v4.new_code_cell(s) for s in sources]
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(v4.new_notebook(cells=cells, metadata=metadata), path)
    return path


def environment(**extra):
    """The tests' environment without what would change a run."""
    gone = ("KERAS_MAX_EPOCHS", "KERAS_MAX_STEPS_PER_EPOCH", "KERAS_BACKEND", "ABH_SEED", "ABH_HELPERS")
    return {name: value for name, value in os.environ.items() if name not in gone} | extra


def abh(*arguments, cwd, **extra):
    """Run the command line in a process of its own."""
    command = [sys.executable, "-m", "attention_by_hand", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment(**extra), capture_output=True, text=True, timeout=300)


@pytest.fixture
def project(tmp_path):
    """A folder with one chapter that runs: `notebooks/00_good.ipynb`."""
    write_notebook(tmp_path / "notebooks" / "00_good.ipynb", FAKE_KERAS, "print('hello')")
    return tmp_path
