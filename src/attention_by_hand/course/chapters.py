"""Which chapters exist, and what a user means by "02"."""

import re
from dataclasses import dataclass
from pathlib import Path

from attention_by_hand.course import BACKENDS, CourseError

NAME = re.compile(r"(\d\d)_\w+")


@dataclass(frozen=True)
class Chapter:
    """A notebook of the course: `number` is `"02"`, `name` is `"02_additive_attention"`."""

    number: str
    name: str
    file: Path


class UnknownName(CourseError):
    """A chapter or backend that does not exist; the message lists those that do."""


def project_folder():
    """The folder that holds `notebooks/`: the working directory, one above it, or the clone of this package."""
    for folder in [Path.cwd(), *Path.cwd().parents, Path(__file__).parents[3]]:
        if (folder / "notebooks").is_dir() and (folder / "pyproject.toml").is_file():
            return folder
    raise CourseError(
        "there is no folder notebooks/ here: run this from a clone of the course, or name one with --notebooks"
    )


def find(folder):
    """All chapters in `folder`, in order of their numbers."""
    files = sorted(Path(folder).glob("*.ipynb"))
    found = [Chapter(f.stem[:2], f.stem, f) for f in files if NAME.fullmatch(f.stem)]
    if not found:
        raise CourseError(
            f"{folder} holds no chapter: a chapter is called NN_name.ipynb, for example 02_additive_attention.ipynb"
        )
    return found


def choose(wanted, known):
    """The chapters that `wanted` names: `"all"`, `"02,05"`, `"2 5"` or full names.

    Raises:
        UnknownName: a name fits no chapter.
    """
    words = re.split(r"[,\s]+", wanted.strip()) if wanted and wanted.strip() else ["all"]
    if words == ["all"]:
        return list(known)
    chosen = []
    for word in filter(None, words):
        hits = [c for c in known if word in (c.name, c.file.name) or word.zfill(2) == c.number]
        if not hits:
            raise UnknownName(f"unknown chapter {word!r}; the chapters are {', '.join(c.name for c in known)}")
        chosen += [c for c in hits if c not in chosen]
    return sorted(chosen, key=lambda c: c.name)


def choose_backends(wanted):
    """The backends that `wanted` names: `"all"`, one name, or several separated by commas.

    Raises:
        UnknownName: a name is not that of a backend.
    """
    words = list(filter(None, re.split(r"[,\s]+", wanted)))
    unknown = [word for word in words if word not in (*BACKENDS, "all")]
    if unknown or not words:
        raise UnknownName(f"unknown backend {wanted!r}; the backends are {', '.join(BACKENDS)}, or all")
    return [b for b in BACKENDS if b in words or "all" in words]
