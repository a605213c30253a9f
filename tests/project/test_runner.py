"""The command line runs real kernels here, on notebooks made for the purpose."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import nbformat
import psutil
import pytest

from attention_by_hand.course import threads

from .conftest import FAKE_KERAS, abh, environment, write_notebook

SHOW_PLACE = """
import json, os
place = {"cores": sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None}
place |= {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "ABH_THREADS", "XLA_FLAGS", "MPLBACKEND")}
print(json.dumps(place))
open(os.environ["ABH_PATH_FILE"], "a").write("stand-in data\\n")
""".strip()
CHAPTERS = {
    "00_good": (FAKE_KERAS, "#md text", "", SHOW_PLACE, "import time; time.sleep(1.5)"),
    "01_exception": (FAKE_KERAS, "x = 1", "def divide(): return x / 0\ndivide()", "print('never')"),
    "02_syntax": (FAKE_KERAS, "x = = 1"),
    "03_hanging": (FAKE_KERAS, "import time\nwhile True: time.sleep(0.1)"),
    "04_killed": (FAKE_KERAS, "import signal\nos.kill(os.getpid(), signal.SIGKILL)"),
    "05_other_backend": (FAKE_KERAS.replace('os.environ["KERAS_BACKEND"]', '"jax"'),),
    "06_no_keras": ("print('nothing')",),
    "07_also_good": (FAKE_KERAS, "from IPython.display import SVG, display\ndisplay(SVG('<svg xmlns=\"a\"/>'))"),
}


@pytest.fixture(scope="module")
def failures(tmp_path_factory):
    """One run over chapters that fail in every way there is, two kernels at a time."""
    folder = tmp_path_factory.mktemp("failures")
    for name, sources in CHAPTERS.items():
        write_notebook(folder / "notebooks" / f"{name}.ipynb", *sources, widgets={"stale": 1})
    (folder / "notebooks" / "08_broken_file.ipynb").write_text("this is no notebook")
    before = {file: file.read_bytes() for file in (folder / "notebooks").iterdir()}
    done = abh("run", "--notebooks", "notebooks", "--jobs", 2, "--timeout", 8, cwd=folder, MPLBACKEND="agg")
    rows = {row["chapter"]: row for row in json.loads((folder / "build" / "status.json").read_text())}
    return SimpleNamespace(folder=folder, done=done, rows=rows, before=before)


def test_good_chapters_run_although_others_fail(failures):
    assert {name for name, row in failures.rows.items() if row["ok"]} == {"00_good", "07_also_good"}
    assert set(failures.rows) == {*CHAPTERS, "08_broken_file"}
    assert failures.done.returncode == 1


@pytest.mark.parametrize(
    ("chapter", "cell", "kind", "says"),
    [
        ("01_exception", 3, "exception", "ZeroDivisionError: division by zero"),
        ("02_syntax", 2, "exception", "SyntaxError"),
        ("03_hanging", 2, "timeout", "longer than 8 s"),
        ("04_killed", 2, "dead kernel", "the kernel died (signal 9"),
        ("05_other_backend", None, "backend", "the chapter ran on jax, not on torch"),
        ("06_no_keras", None, "backend", "never imported Keras"),
        ("08_broken_file", None, "notebook", "not a notebook"),
    ],
)
def test_failure_names_chapter_backend_cell_and_reason(failures, chapter, cell, kind, says):
    row = failures.rows[chapter]
    assert (row["backend"], row["ok"]) == ("torch", False)
    assert (row["error"]["cell"], row["error"]["kind"]) == (cell, kind)
    assert says in row["error"]["message"]
    where = f"{chapter} on torch" + (f", cell {cell}" if cell else "")
    assert f"{where}: {kind}: {row['error']['message']}" in failures.done.stdout


def test_failure_shows_last_lines_of_traceback(failures):
    lines = failures.rows["01_exception"]["error"]["lines"]
    assert lines[-1] == "ZeroDivisionError: division by zero"
    assert any("return x / 0" in line for line in lines)
    assert not any("\x1b" in line for line in lines)
    assert any("x = = 1" in line for line in failures.rows["02_syntax"]["error"]["lines"])


def test_executed_copies_hold_outputs_and_notebooks_are_untouched(failures):
    copy = nbformat.read(failures.folder / "build" / "torch" / "01_exception.ipynb", as_version=4)
    assert copy.cells[2].outputs[0].ename == "ZeroDivisionError"
    assert copy.cells[3].outputs == []
    assert "widgets" not in copy.metadata
    assert {file: file.read_bytes() for file in (failures.folder / "notebooks").iterdir()} == failures.before


def test_cells_are_timed_and_numbered_as_the_notebook_shows_them(failures):
    row = failures.rows["00_good"]
    slowest = row["slowest"][0]
    assert slowest["cell"] == 3 and 1.5 <= slowest["seconds"] < 60
    assert row["seconds"] > sum(cell["seconds"] for cell in row["slowest"])
    copy = nbformat.read(failures.folder / "build" / "torch" / "00_good.ipynb", as_version=4)
    assert [cell.get("execution_count") for cell in copy.cells] == [1, None, None, 2, 3]


def test_path_and_versions_are_in_the_table(failures):
    row = failures.rows["00_good"]
    assert row["path"] == "stand-in data"
    assert row["versions"]["python"].count(".") == 2
    assert failures.rows["07_also_good"]["path"] == "generated"
    table = (failures.folder / "build" / "status.md").read_text()
    assert "2 of 9 ok" in table and "stand-in data" in table and "ZeroDivisionError" in table


def test_two_kernels_have_cores_of_their_own(failures):
    copy = nbformat.read(failures.folder / "build" / "torch" / "00_good.ipynb", as_version=4)
    place = json.loads(copy.cells[3].outputs[0].text)
    share = max(1, len(threads.available()) // 2)
    assert place["OMP_NUM_THREADS"] == place["ABH_THREADS"]
    assert int(place["OMP_NUM_THREADS"]) in (share, share + 1)
    alone = place["OMP_NUM_THREADS"] == "1"
    assert f"--xla_cpu_multi_thread_eigen={'false' if alone else 'true'}" in place["XLA_FLAGS"]
    assert place["MPLBACKEND"] != "agg"
    if place["cores"] is not None:
        assert place["cores"] in threads.shares(2)


def test_status_prints_the_last_table(failures):
    shown = abh("status", "--out", "build", "--notebooks", "notebooks", cwd=failures.folder)
    assert shown.returncode == 0
    assert "04_killed" in shown.stdout and "2 of 9 ok" in shown.stdout


def test_unknown_chapter_exits_with_2_and_names_the_chapters(project):
    done = abh("run", "--notebooks", "notebooks", "--chapters", "77", cwd=project)
    assert done.returncode == 2
    assert "unknown chapter '77'" in done.stderr and "00_good" in done.stderr


def test_unknown_backend_exits_with_2_and_names_the_backends(project):
    done = abh("run", "--notebooks", "notebooks", "--backend", "theano", cwd=project)
    assert done.returncode == 2
    assert "unknown backend 'theano'" in done.stderr and "torch, jax, tensorflow, or all" in done.stderr


@pytest.mark.parametrize("name", ["KERAS_MAX_EPOCHS", "KERAS_MAX_STEPS_PER_EPOCH"])
def test_shortened_training_is_refused(project, name):
    done = abh("run", "--notebooks", "notebooks", cwd=project, **{name: "1"})
    assert done.returncode == 1
    assert name in done.stderr and "--smoke" in done.stderr
    assert not (project / "build").exists()


def test_smoke_run_is_marked_and_keeps_rows_of_other_backends(project):
    write_notebook(project / "notebooks" / "01_smoke.ipynb", FAKE_KERAS, "assert os.environ['KERAS_MAX_EPOCHS'] == '1'")
    other = {"chapter": "00_good", "backend": "jax", "ok": True, "seconds": 1.0, "slowest": [], "error": None}
    other |= {"versions": {"keras": "1"}, "path": "generated", "smoke": False}
    (project / "build").mkdir()
    (project / "build" / "status.json").write_text(json.dumps([other]))
    done = abh("run", "--notebooks", "notebooks", "--smoke", "--chapters", "1", cwd=project)
    rows = json.loads((project / "build" / "status.json").read_text())
    assert done.returncode == 0, done.stdout
    assert [(row["chapter"], row["backend"], row["smoke"]) for row in rows] == [
        ("00_good", "jax", False),
        ("01_smoke", "torch", True),
    ]
    assert "smoke run" in done.stdout and "smoke run" in (project / "build" / "status.md").read_text()


def test_file_in_place_of_the_results_folder_is_one_clear_message(project):
    (project / "build").write_text("mine")
    done = abh("run", "--notebooks", "notebooks", cwd=project)
    assert done.returncode == 1
    assert "is a file, and the results need a folder there" in done.stderr and len(done.stderr.splitlines()) == 1
    assert (project / "build").read_text() == "mine"


def test_results_never_go_into_the_notebooks_folder(project):
    done = abh("run", "--notebooks", "notebooks", "--out", "notebooks/build", cwd=project)
    assert done.returncode == 1 and "folder of the notebooks" in done.stderr
    assert [file.name for file in (project / "notebooks").iterdir()] == ["00_good.ipynb"]


def test_size_limit_is_reported_and_loses_nothing(project):
    write_notebook(project / "notebooks" / "01_long.ipynb", FAKE_KERAS, "print('x' * 300_000)")
    copy = project / "build" / "torch" / "01_long.ipynb"
    copy.parent.mkdir(parents=True)
    copy.write_text("an older copy")
    command = [sys.executable, "-m", "attention_by_hand", "run", "--notebooks", "notebooks"]
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))  # noqa: E731
    done = subprocess.run(
        command, cwd=project, env=environment(), capture_output=True, text=True, preexec_fn=limit, timeout=300
    )
    rows = {row["chapter"]: row for row in json.loads((project / "build" / "status.json").read_text())}
    assert done.returncode == 1
    assert rows["00_good"]["ok"] and rows["01_long"]["error"]["kind"] == "write"
    assert "File too large" in done.stdout and "what was there before is unchanged" in done.stdout
    assert copy.read_text() == "an older copy"
    assert [file.name for file in copy.parent.iterdir() if file.name.startswith(".")] == []


def test_folder_that_takes_no_byte_is_one_clear_message(project):
    command = [sys.executable, "-m", "attention_by_hand", "run", "--notebooks", "notebooks"]
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # noqa: E731
    done = subprocess.run(
        command, cwd=project, env=environment(), capture_output=True, text=True, preexec_fn=limit, timeout=300
    )
    assert done.returncode == 1
    assert "cannot write in" in done.stderr and "File too large" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_interrupted_run_keeps_what_ended_and_leaves_no_kernel(project):
    marker = project / "pid"
    hang = f"open({str(marker)!r}, 'w').write(str(os.getpid()))\nimport time\ntime.sleep(600)"
    write_notebook(project / "notebooks" / "01_hanging.ipynb", FAKE_KERAS, hang)
    command = [sys.executable, "-m", "attention_by_hand", "run", "--notebooks", "notebooks"]
    heard = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}  # a background job ignores Ctrl-C
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, cwd=project, env=environment(), **pipes, **heard)
    deadline = time.monotonic() + 120
    while not (marker.exists() and marker.read_text()) and time.monotonic() < deadline:
        time.sleep(0.1)
    kernel = psutil.Process(int(marker.read_text()))
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and "interrupted" in errors and "Traceback" not in errors
    gone, alive = psutil.wait_procs([kernel], timeout=20)
    assert not alive
    assert [row["chapter"] for row in json.loads((project / "build" / "status.json").read_text())] == ["00_good"]


def test_unreadable_table_is_not_overwritten(project):
    (project / "build").mkdir()
    (project / "build" / "status.json").write_text("[{")
    done = abh("run", "--notebooks", "notebooks", cwd=project)
    assert done.returncode == 1 and "is not a status table" in done.stderr
    assert (project / "build" / "status.json").read_text() == "[{"


def test_solutions_must_be_solved(project):
    write_notebook(project / "notebooks" / "01_solved.ipynb", FAKE_KERAS, "print('5.1 right')")
    write_notebook(project / "notebooks" / "02_open.ipynb", FAKE_KERAS, "print('5.1 right\\n5.2 not attempted')")
    write_notebook(project / "notebooks" / "03_none.ipynb", FAKE_KERAS)
    done = abh("run", "--notebooks", "notebooks", "--solved", "--jobs", 2, "--chapters", "1 2 3", cwd=project)
    rows = {row["chapter"]: row for row in json.loads((project / "build" / "status.json").read_text())}
    assert done.returncode == 1
    assert {name: row["ok"] for name, row in rows.items()} == {"01_solved": True, "02_open": False, "03_none": False}
    assert rows["03_none"]["error"]["message"] == "no exercise was checked"
    assert rows["02_open"]["error"]["message"] == "exercise 5.2 is not solved"
