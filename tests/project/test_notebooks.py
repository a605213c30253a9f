"""Every committed notebook has the form that the course promises."""

import ast
import re
import statistics
from collections import Counter

import nbformat
import pytest

from attention_by_hand.course import BACKENDS, notebooks
from attention_by_hand.course.chapters import NAME
from attention_by_hand.course.setup_cell import METADATA, SETUP_CELL

from .conftest import ROOT

FOLDER = ROOT / "notebooks"
FILES = sorted([*FOLDER.glob("*.ipynb"), *FOLDER.glob("solutions/*.ipynb")])
LONGEST, MEDIAN = 25, 6
each = pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(FOLDER)))


def code_cells(file):
    return [cell for cell in nbformat.read(file, as_version=4).cells if cell.cell_type == "code"]


def lines(cell):
    """Lines that a reader reads: neither blank ones nor the marks around a solution."""
    return [line for line in cell.source.splitlines() if line.strip() and "### " not in line]


def test_there_are_chapters_and_each_solution_belongs_to_one():
    names = {file.stem for file in FOLDER.glob("*.ipynb")}
    assert names and all(NAME.fullmatch(name) for name in names)
    assert {file.stem for file in FOLDER.glob("solutions/*.ipynb")} <= names
    assert len({name[:2] for name in names}) == len(names)


@each
def test_notebook_is_valid_and_stripped(file):
    notebook = notebooks.read(file)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebooks.dumps(notebooks.stripped(notebook)) == file.read_text(encoding="utf-8")
    assert "widgets" not in notebook.metadata and notebook.metadata.kernelspec.name == "python3"
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code_cells(file))


@each
def test_cell_ids_are_unique(file):
    counts = Counter(cell.id for cell in nbformat.read(file, as_version=4).cells)
    assert [cell_id for cell_id, count in counts.items() if count > 1] == []


@each
def test_setup_cell_comes_first_and_is_the_common_one(file):
    first = code_cells(file)[0]
    assert first.source == SETUP_CELL
    assert first.metadata.get("cellView") == METADATA["cellView"]


@each
def test_no_framework_is_imported(file):
    imported = set()
    for cell in code_cells(file):
        source = "\n".join(line for line in cell.source.splitlines() if not line.lstrip().startswith(("%", "!")))
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                imported |= {name.name.split(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").split(".")[0])
    assert imported.isdisjoint(BACKENDS)


@each
def test_code_cells_are_short(file):
    lengths = {cell.id: len(lines(cell)) for cell in code_cells(file)}
    assert {cell_id: length for cell_id, length in lengths.items() if length > LONGEST} == {}
    assert statistics.median(lengths.values()) <= MEDIAN


@each
def test_no_path_of_a_machine_is_in_the_notebook(file):
    assert re.findall(r"/(?:home|Users|root|work|tmp)/\S*", file.read_text(encoding="utf-8")) == []
