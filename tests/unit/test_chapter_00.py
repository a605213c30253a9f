"""What chapter 00 tells a newcomer is true: the map of the course, the order of the questions."""

import re
from pathlib import Path

import nbformat

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def cells():
    return nbformat.read(NOTEBOOKS / "00_start_here.ipynb", as_version=4).cells


def test_the_map_calls_ready_what_exists_and_links_to_it():
    text = next(cell.source for cell in cells() if cell.id == "teach")
    rows = re.findall(r"^\| (\d\d) \| (.+?) \| (ready|planned) \|$", text, re.MULTILINE)
    assert [number for number, _, _ in rows] == [f"{n:02d}" for n in range(19)]
    for number, title, status in rows:
        link = re.search(r"\]\((.+?)\)", title)
        files = [file.name for file in NOTEBOOKS.glob(f"{number}_*.ipynb")]
        assert ([link[1]] if link else []) == files, number
        assert (status == "ready") == bool(files), number


def test_core_sections_fit_into_a_lesson_of_fifty_minutes():
    headings = [line for cell in cells() if cell.cell_type == "markdown" for line in cell.source.splitlines()]
    minutes = [int(m) for line in headings for m in re.findall(r"^## .*\*\(core, (\d+) minutes?\)\*$", line)]
    assert minutes and sum(minutes) <= 50


def test_every_section_says_whether_it_is_core():
    sections = [line for cell in cells() if cell.cell_type == "markdown" for line in cell.source.splitlines()]
    sections = [line for line in sections if line.startswith("## ")]
    assert all(
        "*(core, " in line or "*(deeper" in line for line in sections if line not in ("## Summary", "## References")
    )


def test_cells_are_short():
    lengths = sorted(len(c.source.splitlines()) for c in cells() if c.cell_type == "code" and c.id != "setup")
    assert lengths[-1] <= 25
    assert lengths[len(lengths) // 2] <= 6
