"""Claims are collected over seeds and backends, and checked against their bands."""

import json

import pytest

from attention_by_hand.course import CourseError, claims
from attention_by_hand.course.chapters import Chapter

from .conftest import FAKE_KERAS, abh, write_notebook

# Stands in for `abh.claim`, which would load Keras: one line of JSON for each number.
CLAIM = """
import json
def claim(name, value, band):
    entry = {"name": name, "value": value, "band": band, "backend": os.environ["KERAS_BACKEND"]}
    entry["seed"] = int(os.environ["ABH_SEED"])
    open(os.environ["ABH_CLAIMS_FILE"], "a").write(json.dumps(entry) + "\\n")
assert os.environ["ABH_CLAIMS_SOFT"]
""".strip()
OLD = {
    "04.other": {"band": [0, 1], "values": {"torch": [0.5, 0.5, 0.5]}},
    "05.gap": {"band": [0, 1], "values": {"torch": [9, 9, 9], "jax": [0.7, 0.8, 0.9]}},
    "05.stale": {"band": [0, 1], "values": {"torch": [0.1, 0.1, 0.1]}},
}


def made(tmp_path, backend, seed, *entries, number="05"):
    """A task whose run recorded `entries` of (name, value, band)."""
    chapter = Chapter(number, f"{number}_attention", tmp_path / f"{number}_attention.ipynb")
    (task,) = claims.tasks([chapter], [backend], [seed], tmp_path / "out", tmp_path)
    records = [{"name": n, "value": v, "band": b, "backend": backend, "seed": seed} for n, v, b in entries]
    with open(task.extra["ABH_CLAIMS_FILE"], "w") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    return task


def gathered(tasks):
    return claims.gather({task: claims.recorded(task) for task in tasks})


def test_all_seeds_are_run_and_written(tmp_path):
    source = f"{CLAIM}\nclaim('05.gap', 1 / 3 + int(os.environ['ABH_SEED']), [0, 2])"
    write_notebook(tmp_path / "notebooks" / "05_attention.ipynb", FAKE_KERAS, source)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "claims.json").write_text(json.dumps(OLD))
    done = abh("claims", "--notebooks", "notebooks", "--backend", "torch", "--jobs", 2, cwd=tmp_path)
    written = json.loads((tmp_path / "data" / "claims.json").read_text())
    assert written["05.gap"]["values"] == {"torch": [0.333333, 1.33333, 2.33333], "jax": [0.7, 0.8, 0.9]}
    assert list(written) == ["04.other", "05.gap"]
    assert done.returncode == 1
    assert "05.gap = 2.33333 on torch with seed 2 is outside [0, 2]" in done.stdout
    assert not (tmp_path / "build" / "status.json").exists()


def test_failing_chapter_leaves_the_file_alone(tmp_path):
    write_notebook(tmp_path / "notebooks" / "05_attention.ipynb", FAKE_KERAS, "assert False")
    done = abh("claims", "--notebooks", "notebooks", "--backend", "torch", "--seeds", "0", cwd=tmp_path)
    assert done.returncode == 1 and "1 of 1 runs failed" in done.stderr
    assert not (tmp_path / "data" / "claims.json").exists()


def test_claim_missing_with_one_seed_is_an_error(tmp_path):
    tasks = [made(tmp_path, "jax", 0, ("05.gap", 1, [0, 2])), made(tmp_path, "jax", 1)]
    with pytest.raises(CourseError, match="'05.gap' is missing on jax with seed 1"):
        gathered(tasks)


def test_claim_of_another_chapter_is_an_error(tmp_path):
    with pytest.raises(CourseError, match="its claims must start with 05"):
        claims.recorded(made(tmp_path, "jax", 0, ("06.gap", 1, [0, 2])))


def test_claim_made_twice_with_different_numbers_is_an_error(tmp_path):
    with pytest.raises(CourseError, match="'05.gap' twice"):
        claims.recorded(made(tmp_path, "jax", 0, ("05.gap", 1, [0, 2]), ("05.gap", 1.5, [0, 2])))


def test_bands_must_agree(tmp_path):
    tasks = [made(tmp_path, "jax", 0, ("05.gap", 1, [0, 2])), made(tmp_path, "torch", 0, ("05.gap", 1, [0, 3]))]
    with pytest.raises(CourseError, match="has the band"):
        gathered(tasks)


def test_numbers_that_are_not_finite_are_outside(tmp_path):
    problems = claims.outside(gathered([made(tmp_path, "jax", 0, ("05.gap", float("nan"), [0, 2]))]))
    assert problems == ["05.gap = nan on jax with seed 0 is outside [0, 2]"]
