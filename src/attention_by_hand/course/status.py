"""The table of the last runs: `build/status.json` for programs, `build/status.md` for people."""

import json
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from attention_by_hand.course import BACKENDS, CourseError, files

SMOKE = "smoke run: training was cut short, the numbers mean nothing"


def load(out):
    """The rows of the last runs, newest for each chapter and backend; empty before the first run."""
    file = Path(out) / "status.json"
    if not file.exists():
        return []
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))
        return [row for row in rows if (row["chapter"], row["backend"])]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise CourseError(f"{file} is not a status table ({error}): move it away, then run again") from error


def merge(old, new):
    """`old` rows with those of the same chapter and backend replaced by `new` ones, in the course's order."""
    rows = {(row["chapter"], row["backend"]): row for row in [*old, *new]}
    return [rows[key] for key in sorted(rows, key=lambda key: (key[0], BACKENDS.index(key[1])))]


def save(out, rows):
    """Write both forms; each replaces the old one only when it is complete."""
    files.write(Path(out) / "status.json", json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    files.write(Path(out) / "status.md", markdown(rows))


def slowest(row):
    """The slowest cells as text: "12: 9.8 s, 7: 3.1 s"; the number n is that of In [n]."""
    return ", ".join(f"{cell['cell']}: {cell['seconds']:.1f} s" for cell in row["slowest"])


def failure(row):
    """What went wrong, on which cell, with the last lines that the chapter said."""
    error = row["error"]
    cell = f", cell {error['cell']}" if error["cell"] else ""
    head = f"{row['chapter']} on {row['backend']}{cell}: {error['kind']}: {error['message']}"
    return "\n".join([head, *(f"    {line}" for line in error["lines"])])


def _result(row):
    return ("smoke " if row["smoke"] else "") + ("ok" if row["ok"] else "FAILED")


def table(rows):
    """The rows as a table for the terminal."""
    shown = Table(title=f"[bold]{SMOKE}[/bold]" if any(row["smoke"] for row in rows) else None)
    for name in ("chapter", "backend", "result", "seconds", "slowest cells", "data"):
        shown.add_column(name, justify="right" if name == "seconds" else "left")
    for row in rows:
        style = "green" if row["ok"] else "bold red"
        result = f"[{style}]{_result(row)}[/{style}]"
        shown.add_row(
            row["chapter"], row["backend"], result, f"{row['seconds']:.1f}", slowest(row), escape(row["path"])
        )
    return shown


def summary(rows):
    """ "8 of 9 ok"."""
    return f"{sum(row['ok'] for row in rows)} of {len(rows)} ok"


def markdown(rows):
    """The rows as a Markdown page: the table, then what failed, then the versions."""
    lines = ["# Status of the chapters", "", summary(rows), ""]
    if any(row["smoke"] for row in rows):
        lines += [f"**Rows marked smoke: {SMOKE}.**", ""]
    lines += ["| chapter | backend | result | seconds | slowest cells | data |", "|---|---|---|---:|---|---|"]
    for row in rows:
        cells = (row["chapter"], row["backend"], _result(row), f"{row['seconds']:.1f}", slowest(row), row["path"])
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    failed = [row for row in rows if not row["ok"]]
    if failed:
        lines += ["", "## What failed", ""]
        for row in failed:
            lines += ["```text", failure(row).replace("```", "'''"), "```", ""]
    versions = {" · ".join(f"{k} {v}" for k, v in row["versions"].items()): row["backend"] for row in rows}
    lines += ["", "## Versions", "", *(f"- {backend}: {line}" for line, backend in versions.items())]
    return "\n".join(lines) + "\n"
