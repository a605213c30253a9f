"""Keeps notebooks in their committed form: outputs stripped, stable cell ids, nbformat 4.5."""

import difflib
import hashlib
import subprocess
from pathlib import Path

import nbformat
from nbstripout import strip_output

from attention_by_hand.course import CourseError, files

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
# What editors leave behind: widget states, positions, timings, Colab's own marks, the version of one machine's Python.
_TRACES = ("signature", "widgets", "colab", "accelerator", "toc", "language_info.version", "vscode")
_CELL_TRACES = ("collapsed", "ExecuteTime", "execution", "heading_collapsed", "hidden", "scrolled", "colab", "outputId")
_CELL_TRACES += ("id", "colab_type", "executionInfo", "vscode", "jp-MarkdownHeadingCollapsed")
_KEYS = [f"metadata.{key}" for key in _TRACES] + [f"cell.metadata.{key}" for key in _CELL_TRACES]


def read(path):
    """A notebook as written, without any upgrade.

    Raises:
        CourseError: the file is not a notebook.
    """
    try:
        return nbformat.read(path, as_version=nbformat.NO_CONVERT)
    except (OSError, ValueError, AttributeError, nbformat.reader.NotJSONError) as error:
        raise CourseError(f"{path} is not a notebook: {error}") from error


def dumps(notebook):
    """The text of a notebook as it is committed."""
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def stripped(notebook):
    """The committed form of `notebook`; cell ids stay as they are."""
    result = strip_output(notebook, keep_output=False, keep_count=False, keep_id=True, extra_keys=_KEYS)
    result.metadata["kernelspec"] = nbformat.from_dict(KERNEL)
    return result


def strip(paths, check=False):
    """Bring notebooks to their committed form and return those that were not (with `check`: change nothing)."""
    changed = []
    for path in map(Path, paths):
        before = path.read_text(encoding="utf-8")
        after = dumps(stripped(read(path)))
        if after != before:
            changed.append(path)
            if not check:
                files.write(path, after)
    return changed


def committed(path):
    """The committed form of a notebook that was changed in place, from git.

    Raises:
        CourseError: git does not know the file.
    """
    path = Path(path).resolve()
    asked = ["git", "-C", str(path.parent), "show", f"HEAD:./{path.name}"]
    try:
        text = subprocess.run(asked, capture_output=True, check=True, text=True, encoding="utf-8").stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise CourseError(
            f"{path} has no committed form in git: name the chapter's own file with --ids-from"
        ) from error
    return nbformat.reads(text, as_version=4)


def fix(notebook, reference):
    """Give the cells of `notebook` the ids of the same cells in `reference`, in nbformat 4.5.

    Cells are the same if kind and text agree, in order; between two such cells, a changed cell is taken for
    the one of the same kind at its place. A new cell gets an id made from its text and place. Outputs stay.

    Args:
        notebook: as Colab saves it, nbformat 4.0 without ids; any 4.x will do.
        reference: the chapter as committed.

    Returns:
        `(fixed, kept)`: the notebook, and how many of its cells have their id back.
    """
    cells, known = notebook.cells, reference.cells
    matcher = difflib.SequenceMatcher(None, [_key(c) for c in cells], [_key(c) for c in known], autojunk=False)
    pairs = {}
    for kind, start, end, known_start, known_end in matcher.get_opcodes():
        if kind == "equal":
            pairs.update(zip(range(start, end), range(known_start, known_end), strict=True))
        elif kind == "replace":
            pairs.update(_by_place(cells, known, range(start, end), range(known_start, known_end)))
    taken = {cell.id for cell in known}
    for index, cell in enumerate(cells):
        if index in pairs:
            cell.metadata = known[pairs[index]].metadata
            cell["id"] = known[pairs[index]].id
        else:
            cell["id"] = _new_id(cell, index, taken)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = reference.metadata
    nbformat.validate(notebook)
    return notebook, len(pairs)


def _key(cell):
    return cell.cell_type, cell.source.strip()


def _by_place(cells, known, places, known_places):
    pairs, rest = {}, list(known_places)
    for place in places:
        same = [k for k in rest if known[k].cell_type == cells[place].cell_type]
        if same:
            pairs[place] = same[0]
            rest = [k for k in rest if k > same[0]]
    return pairs


def _new_id(cell, index, taken):
    attempt = 0
    while True:
        text = f"{cell.cell_type}\0{cell.source}\0{index}\0{attempt}"
        new = hashlib.sha256(text.encode()).hexdigest()[:8]
        if new not in taken:
            taken.add(new)
            return new
        attempt += 1
