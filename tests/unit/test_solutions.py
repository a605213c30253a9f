"""The notebooks of solutions: every check right, every cell the one of the chapter with the blank filled."""

import re
from importlib import import_module
from pathlib import Path

import nbformat
import pytest

import attention_by_hand as abh

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
SOLVED = sorted((NOTEBOOKS / "solutions").glob("*.ipynb"))
REGION = re.compile(r"(?ms)^([ \t]*)### BEGIN SOLUTION\n.*?### END SOLUTION")
BLANK = r"\1# your code here\n\1..."

by_name = pytest.mark.parametrize("file", SOLVED, ids=lambda file: file.stem)


def code_cells(file):
    cells = nbformat.read(file, as_version=4).cells
    return [cell for cell in cells if cell.cell_type == "code" and cell.id != "setup"]


def exercises_of(file):
    return import_module(f"attention_by_hand.exercises.chapter_{file.stem[:2]}").EXERCISES


def test_every_chapter_with_exercises_has_solutions():
    chapters = [file for file in NOTEBOOKS.glob("*.ipynb") if "abh.check(" in file.read_text(encoding="utf-8")]
    assert sorted(file.name for file in chapters) == [file.name for file in SOLVED]


@by_name
def test_every_check_of_the_solutions_is_right(file, monkeypatch):
    check, results = abh.check, []

    def recorded(exercise_id, answer=...):
        results.append(check(exercise_id, answer))
        return results[-1]

    monkeypatch.setattr(abh, "check", recorded, raising=False)
    space = {"abh": abh, "__name__": "__main__"}
    for cell in code_cells(file):
        exec(compile(cell.source, cell.id, "exec"), space)
    assert [result.text for result in results if not result] == []
    assert {result.id for result in results} == {exercise.id for exercise in exercises_of(file)}


@by_name
def test_an_exercise_in_the_chapter_is_the_solution_with_the_region_blanked(file):
    chapter = {cell.id: cell.source for cell in code_cells(NOTEBOOKS / file.name)}
    solved = {cell.id: cell.source for cell in code_cells(file) if "abh.check(" in cell.source}
    assert solved
    for name, source in solved.items():
        assert chapter[name] == REGION.sub(BLANK, source)


@by_name
def test_the_chapter_itself_holds_no_solution(file):
    for cell in code_cells(NOTEBOOKS / file.name):
        assert "SOLUTION" not in cell.source, cell.id
