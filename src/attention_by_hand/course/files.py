"""Writing that never destroys what was there: a new file takes the old one's place only when it is complete."""

import os
import tempfile
from pathlib import Path

from attention_by_hand.course import CourseError


def write(path, text):
    """Write `text` to `path` in one step: after a failure the old file is still there, whole.

    Raises:
        CourseError: the disk is full, a size limit stops writing, or something is in the way.
    """
    path = Path(path)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=".", delete=False) as file:
            temporary = Path(file.name)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(path.stat().st_mode if path.exists() else 0o644)
        os.replace(temporary, path)
    except OSError as error:
        if temporary:
            temporary.unlink(missing_ok=True)
        raise CourseError(
            f"cannot write {path}: {error.strerror or error}; what was there before is unchanged"
        ) from error


def prepare(out, notebooks):
    """Make the folder `out` for results, or say in one sentence why it cannot be used.

    Raises:
        CourseError: a file stands in its place, it lies in the notebooks' folder, or nothing can be written there.
    """
    out, notebooks = Path(out).resolve(), Path(notebooks).resolve()
    if out == notebooks or notebooks in out.parents:
        raise CourseError(f"results cannot go to {out}: that is the folder of the notebooks; choose another with --out")
    for place in [*reversed(out.parents), out]:
        if place.exists() and not place.is_dir():
            raise CourseError(
                f"{place} is a file, and the results need a folder there: move it away or choose another with --out"
            )
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out) as probe:  # a full disk and a size limit show only when bytes are written
            probe.write(bytes(4096))
            probe.flush()
    except OSError as error:
        raise CourseError(
            f"cannot write in {out}: {error.strerror or error}; choose another folder with --out"
        ) from error
