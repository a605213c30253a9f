"""Who may import whom, and how long a file may grow."""

import ast

import pytest

from attention_by_hand.course import BACKENDS

from .conftest import ROOT

PACKAGE = ROOT / "src" / "attention_by_hand"
FILES = sorted(PACKAGE.rglob("*.py"))
LAYERS = sorted((PACKAGE / "layers").glob("*.py"))
LONGEST = 320
OWN = "attention_by_hand"


def imports(file):
    """All modules a file imports, anywhere in it, by full name."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} uses a relative import"
            found |= {f"{node.module}.{name.name}" for name in node.names}
    return found


def named(file):
    return str(file.relative_to(PACKAGE))


@pytest.mark.parametrize("file", FILES, ids=named)
def test_only_backend_and_engines_import_a_framework(file):
    if file.name != "backend.py" and "engines" not in file.parts:
        assert {name.split(".")[0] for name in imports(file)}.isdisjoint(BACKENDS)


@pytest.mark.parametrize("file", LAYERS, ids=named)
def test_layers_import_only_keras_masks_backend_and_one_rung_below(file):
    allowed = (f"{OWN}.masks", f"{OWN}.backend", f"{OWN}.layers")
    others = {name for name in imports(file) if name.split(".")[0] == OWN and not name.startswith(allowed)}
    assert others - {f"{OWN}.masks", f"{OWN}.backend"} == set()
    outside = {name.split(".")[0] for name in imports(file)} - {OWN, "keras", "numpy"}
    assert outside <= {"math", "functools", "dataclasses", "collections"}
    if file.name not in ("__init__.py", "base.py"):
        rungs = {name.split(".")[2] for name in imports(file) if name.startswith(f"{OWN}.layers.")}
        # A decoder stands on two rungs: a recurrent network or a transformer's block, and the attention that it asks.
        assert len(rungs - {"base"}) <= (2 if file.name in ("attention_decoder.py", "transformer_decoder.py") else 1)


@pytest.mark.parametrize("file", FILES, ids=named)
def test_files_stay_short(file):
    assert len(file.read_text(encoding="utf-8").splitlines()) <= LONGEST


def test_command_line_starts_without_keras():
    course = [file for file in FILES if "course" in file.parts]
    assert course
    for file in course:
        assert not {name for name in imports(file) if name.split(".")[0] in ("keras", "numpy")}
