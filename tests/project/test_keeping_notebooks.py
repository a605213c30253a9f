"""`abh strip` and `abh fix`: the committed form is reached, and ids survive."""

import subprocess

import nbformat
import pytest

from attention_by_hand.course import CourseError, notebooks

from .conftest import abh, write_notebook


def executed(path):
    """A notebook with outputs and what editors leave behind."""
    write_notebook(path, "#md # Title", "print(1)", "print(2)", widgets={"x": 1}, colab={"name": "x"})
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].update(execution_count=7, outputs=[nbformat.v4.new_output("stream", text="1\n")])
    notebook.cells[1].metadata = {"cellView": "form", "scrolled": True, "outputId": "abc", "tags": ["keep"]}
    nbformat.write(notebook, path)
    return notebook


def as_colab_saves(notebook):
    """The same notebook in nbformat 4.0: no cell ids, Colab's own marks."""
    notebook = nbformat.from_dict(notebook)
    for number, cell in enumerate(notebook.cells):
        del cell["id"]
        cell.metadata = {"id": f"colab{number}", "colab": {"base_uri": "x"}}
    notebook.nbformat_minor = 0
    notebook.metadata["colab"] = {"provenance": []}
    return notebook


def test_strip_keeps_ids_and_form_and_removes_traces(tmp_path):
    file = tmp_path / "notebooks" / "00_a.ipynb"
    before = executed(file)
    done = abh("strip", "--notebooks", "notebooks", cwd=tmp_path)
    after = nbformat.read(file, as_version=4)
    assert done.returncode == 0, done.stderr
    assert [cell.id for cell in after.cells] == [cell.id for cell in before.cells]
    assert after.cells[1].outputs == [] and after.cells[1].execution_count is None
    assert after.cells[1].metadata == {"cellView": "form", "tags": ["keep"]}
    assert set(after.metadata) == {"kernelspec"}
    again = abh("strip", "--check", "--notebooks", "notebooks", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (0, "")


def test_strip_check_names_the_file_and_changes_nothing(tmp_path):
    file = tmp_path / "notebooks" / "solutions" / "00_a.ipynb"
    executed(file)
    before = file.read_bytes()
    done = abh("strip", "--check", "--notebooks", "notebooks", cwd=tmp_path)
    assert done.returncode == 1
    assert "not stripped: notebooks/solutions/00_a.ipynb" in done.stdout and "make strip" in done.stderr
    assert file.read_bytes() == before


def test_strip_refuses_what_is_no_notebook(tmp_path):
    (tmp_path / "a.ipynb").write_text("no json")
    with pytest.raises(CourseError, match="is not a notebook"):
        notebooks.strip([tmp_path / "a.ipynb"])


def test_fix_gives_ids_back_by_content_and_place(tmp_path):
    known = executed(tmp_path / "00_a.ipynb")
    saved = as_colab_saves(known)
    saved.cells[2].source = "print(2)  # changed by a student"
    extra = nbformat.v4.new_code_cell("print('new')")
    del extra["id"]
    saved.cells.insert(1, extra)
    fixed, kept = notebooks.fix(saved, known)
    ids = [cell.id for cell in known.cells]
    assert [cell.id for cell in fixed.cells] == [ids[0], fixed.cells[1].id, ids[1], ids[2]]
    assert fixed.cells[1].id not in ids and kept == 3
    assert (fixed.nbformat, fixed.nbformat_minor) == (4, 5)
    assert fixed.cells[2].metadata == known.cells[1].metadata and fixed.cells[2].outputs[0].text == "1\n"
    assert "colab" not in fixed.cells[0].metadata


def test_fix_does_not_mix_kinds_of_cells():
    new = nbformat.v4
    known = new.new_notebook(cells=[new.new_markdown_cell("one"), new.new_code_cell("two")])
    saved = as_colab_saves(new.new_notebook(cells=[new.new_code_cell("2"), new.new_code_cell("3")]))
    fixed, kept = notebooks.fix(saved, known)
    assert kept == 1 and fixed.cells[0].id == known.cells[1].id
    assert fixed.cells[1].id not in {cell.id for cell in known.cells}


def test_fix_command_uses_the_chapter_of_the_same_name(tmp_path):
    known = executed(tmp_path / "notebooks" / "00_a.ipynb")
    nbformat.write(as_colab_saves(known), tmp_path / "00_a.ipynb")
    done = abh("fix", "00_a.ipynb", "--notebooks", "notebooks", cwd=tmp_path)
    assert "3 of 3 cells have their id back" in done.stdout, done.stderr
    fixed = nbformat.read(tmp_path / "00_a.ipynb", as_version=4)
    assert [cell.id for cell in fixed.cells] == [cell.id for cell in known.cells]


def test_fix_command_takes_ids_of_a_chapter_saved_over_from_git(tmp_path):
    file = tmp_path / "notebooks" / "00_a.ipynb"
    known = executed(file)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(tmp_path)]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "a"]):
        subprocess.run([*git, *command], check=True, capture_output=True)
    nbformat.write(as_colab_saves(known), file)
    done = abh("fix", file, "--notebooks", "notebooks", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [cell.id for cell in nbformat.read(file, as_version=4).cells] == [cell.id for cell in known.cells]
