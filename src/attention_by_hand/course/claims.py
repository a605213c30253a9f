"""Collects the numbers that chapters claim, over backends and seeds, into `data/claims.json`.

The file maps each claim's name to its band and its values:
`{"05.entropy.raw.1024": {"band": [0.0, 0.15], "values": {"torch": [v0, v1, v2], "jax": [...], ...}}}`.
"""

import json
import math
from pathlib import Path

from attention_by_hand.course import BACKENDS, CourseError, files
from attention_by_hand.course.runner import Task

SEEDS = (0, 1, 2)
DIGITS = 6  # significant digits that are kept: more would change from machine to machine


def tasks(chapters, backends, seeds, out, records):
    """A task for each chapter, backend and seed. Claims are recorded in `records`, copies go to `out`."""
    made = []
    for chapter in chapters:
        for backend in backends:
            for seed in seeds:
                extra = {"ABH_SEED": str(seed), "ABH_CLAIMS_SOFT": "1"}
                extra["ABH_CLAIMS_FILE"] = str(Path(records) / f"{chapter.name}-{backend}-{seed}")
                made.append(Task(chapter, backend, Path(out) / f"{backend}-{seed}" / f"{chapter.name}.ipynb", extra))
    return made


def recorded(task):
    """The claims one run made, `{name: {"value", "band"}}`.

    Raises:
        CourseError: a name belongs to another chapter, or was claimed twice with different numbers.
    """
    file = Path(task.extra["ABH_CLAIMS_FILE"])
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    found = {}
    for line in lines:
        entry = json.loads(line)
        name, claim = entry["name"], {"value": entry["value"], "band": entry["band"]}
        if name.split(".")[0] != task.chapter.number:
            raise CourseError(
                f"{task.chapter.name} makes the claim {name!r}; its claims must start with {task.chapter.number}."
            )
        if entry["backend"] != task.backend or entry["seed"] != int(task.extra["ABH_SEED"]):
            raise CourseError(f"claim {name!r} was made on {entry['backend']} with seed {entry['seed']}, not as asked")
        if found.setdefault(name, claim) != claim:
            raise CourseError(
                f"{task.chapter.name} on {task.backend} makes the claim {name!r} twice, with different numbers"
            )
    return found


def gather(runs):
    """Bring `{task: claims}` together: `{name: {"band", "values": {backend: {seed: value}}}}`.

    Raises:
        CourseError: a claim is missing with some seed, or its band is not the same everywhere.
    """
    claims = {}
    for task, found in runs.items():
        for name, claim in found.items():
            entry = claims.setdefault(name, {"band": claim["band"], "values": {}})
            if entry["band"] != claim["band"]:
                raise CourseError(
                    f"claim {name!r} has the band {claim['band']} on {task.backend}, and {entry['band']} elsewhere"
                )
            entry["values"].setdefault(task.backend, {})[int(task.extra["ABH_SEED"])] = claim["value"]
    seeds = {int(task.extra["ABH_SEED"]) for task in runs}
    for name, entry in claims.items():
        for backend, values in entry["values"].items():
            if missing := seeds - set(values):
                raise CourseError(
                    f"claim {name!r} is missing on {backend} with seed {', '.join(map(str, sorted(missing)))}"
                )
    return claims


def outside(claims):
    """One sentence for each value that is not inside its claim's band."""
    problems = []
    for name, entry in sorted(claims.items()):
        low, high = entry["band"]
        for backend, values in entry["values"].items():
            for seed, value in sorted(values.items()):
                if not (math.isfinite(value) and low <= value <= high):
                    problems.append(
                        f"{name} = {value:.6g} on {backend} with seed {seed} is outside [{low:g}, {high:g}]"
                    )
    return problems


def update(old, claims, chapters, backends):
    """The new content of `data/claims.json`.

    Other chapters keep their entries. A chapter that was run keeps only claims that it still makes; their
    values on backends that were not run stay.
    """
    numbers = {chapter.number for chapter in chapters}
    content = {name: entry for name, entry in old.items() if name.split(".")[0] not in numbers}
    for name, entry in claims.items():
        kept = {b: v for b, v in old.get(name, {}).get("values", {}).items() if b not in backends}
        new = {b: [_rounded(v[seed]) for seed in sorted(v)] for b, v in entry["values"].items()}
        values = kept | new
        content[name] = {"band": entry["band"], "values": {b: values[b] for b in BACKENDS if b in values}}
    return dict(sorted(content.items()))


def _rounded(value):
    return float(f"{value:.{DIGITS}g}")


def load(path):
    """The committed claims; empty when there are none yet."""
    return json.loads(Path(path).read_text(encoding="utf-8")) if Path(path).is_file() else {}


def dumps(content):
    """The file's text: one claim a line, so that a changed number is a changed line."""
    lines = [f"{json.dumps(name)}: {json.dumps(entry, allow_nan=False)}" for name, entry in content.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def save(path, content):
    """Write `data/claims.json` in one step."""
    files.write(path, dumps(content))
