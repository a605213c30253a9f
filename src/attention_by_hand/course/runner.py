"""Runs chapters × backends: a process and a kernel for each, on its own share of the cores."""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

import psutil

from attention_by_hand.course import CourseError, threads
from attention_by_hand.course.chapters import Chapter

SHORTCUTS = {"KERAS_MAX_EPOCHS": "1", "KERAS_MAX_STEPS_PER_EPOCH": "2"}
SLOWEST = 3
GRACE = 180  # seconds without a word, beyond the limit of a cell, after which a worker counts as hanging
_FOREIGN = ("MPLBACKEND", "ABH_CLAIMS_FILE", "ABH_CLAIMS_SOFT", "ABH_PATH_FILE")


@dataclass(frozen=True, eq=False)
class Task:
    """One chapter on one backend; the executed copy goes to `copy`, `extra` into its environment."""

    chapter: Chapter
    backend: str
    copy: Path
    extra: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Options:
    """How tasks run: `timeout` in seconds for one cell, `jobs` kernels at a time."""

    timeout: int = 300
    jobs: int = 1
    smoke: bool = False
    solved: bool = False


def refuse_shortcuts(smoke):
    """Refuse to run when the environment cuts training short, except for a smoke run that is marked as one."""
    found = [name for name in SHORTCUTS if os.environ.get(name)]
    if found and not smoke:
        raise CourseError(
            f"{' and '.join(found)} cut training short, so the numbers of the chapters would be wrong: "
            "unset them, or add --smoke to mark the results"
        )


def environment(task, options, cores, folder):
    """The environment variables of a chapter's process; files that belong to the run go to `folder`."""
    kept = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    values = {
        "KERAS_BACKEND": task.backend,
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "JUPYTER_PREFER_ENV_PATH": "1",  # a kernel called python3 in the home folder must not win
        "JUPYTER_RUNTIME_DIR": f"{folder}/runtime",
        "IPYTHONDIR": f"{folder}/ipython",  # no start-up files, no history shared with other kernels
        "ABH_PATH_FILE": f"{folder}/path",
        **threads.environment(len(cores)),
    }
    if options.jobs == 1:  # one kernel may spread over all cores, but torch's small steps are faster on one thread
        values["ABH_THREADS"] = os.environ.get("ABH_THREADS", "1")
    if options.smoke:
        values |= {name: kept.get(name) or value for name, value in SHORTCUTS.items()} | {"ABH_CLAIMS_SOFT": "1"}
    return kept | values | task.extra


def run(tasks, options, listen=lambda *_: None):
    """Run all tasks and yield `(task, row)` as each ends; a failure is a row, never an exception.

    Args:
        tasks: what to run.
        options: how.
        listen: called as `listen(task, event)` with a dictionary, from several threads.
    """
    slots = queue.SimpleQueue()
    for share in threads.shares(options.jobs):
        slots.put(share)
    alive = {}

    def one(task):
        cores = slots.get()
        listen(task, {"event": "start"})
        try:
            return _run_one(task, options, cores, lambda event: listen(task, event), alive)
        except OSError as error:  # no room for its temporary files, no more processes: the others may still run
            message = f"the process that runs the chapter could not start: {error}"
            return _row(
                task, options, {"error": {"cell": None, "kind": "runner", "message": message, "lines": []}}, 0.0, ""
            )
        finally:
            slots.put(cores)

    with ThreadPoolExecutor(options.jobs) as pool:
        futures = {pool.submit(one, task): task for task in tasks}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BaseException:  # interrupted: no kernel may outlive the command
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(alive.values()):
                _end(process)
            raise


def _run_one(task, options, cores, listen, alive):
    job = {"file": str(task.chapter.file), "copy": str(task.copy), "backend": task.backend, "cores": cores}
    job |= {"timeout": options.timeout, "solved": options.solved}
    with tempfile.TemporaryDirectory(prefix="abh-", ignore_cleanup_errors=True) as folder:
        (Path(folder) / "runtime").mkdir()
        start = time.monotonic()
        with open(Path(folder) / "errors", "w+b") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", f"{__package__}.worker", json.dumps(job)],
                env=environment(task, options, cores, folder),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                encoding="utf-8",
                start_new_session=True,  # Ctrl-C goes to the command, which ends the workers itself
            )
            alive[process.pid] = process
            try:
                result = _follow(process, options.timeout + GRACE, listen)
            finally:
                _end(process)
                alive.pop(process.pid, None)
            if result is None:
                result = {"error": _lost(process, errors)}
        seconds = time.monotonic() - start
        path_file = Path(folder) / "path"
        path = path_file.read_text(encoding="utf-8").split("\n") if path_file.is_file() else []
    return _row(task, options, result, seconds, "; ".join(dict.fromkeys(filter(None, path))))


def _follow(process, patience, listen):
    """The worker's result, or None if it ended or fell silent without one."""
    lines = queue.SimpleQueue()

    def read():
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=patience)
        except queue.Empty:
            return None
        if line is None:
            return None
        event = json.loads(line)
        if event["event"] == "result":
            return event
        listen(event)


def _end(process):
    """End a worker and every process it started."""
    try:
        family = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        family = []
    if process.poll() is None:
        try:
            process.wait(timeout=0 if family else 5)  # after its result a worker ends by itself
        except subprocess.TimeoutExpired:
            process.kill()
    for child in family:
        try:
            child.kill()
        except psutil.NoSuchProcess:
            pass
    process.wait()


def _lost(process, errors):
    errors.seek(0)
    lines = [line for line in errors.read().decode("utf-8", "replace").splitlines() if line.strip()]
    code = process.returncode
    how = f"was ended by signal {-code}" if code and code < 0 else f"ended with code {code}"
    return {"cell": None, "kind": "runner", "message": f"the process that runs the chapter {how}", "lines": lines[-8:]}


def _row(task, options, result, seconds, path):
    cells = sorted(result.get("cells", []), key=lambda cell: -cell["seconds"])
    return {
        "chapter": task.chapter.name,
        "backend": task.backend,
        "ok": result["error"] is None,
        "seconds": round(seconds, 1),
        "slowest": [{**cell, "seconds": round(cell["seconds"], 2)} for cell in cells[:SLOWEST]],
        "error": result["error"],
        "versions": result.get("versions") or _installed(task.backend),
        "path": path or "generated",
        "smoke": options.smoke,
    }


def _installed(backend):
    """Versions as installed, for a kernel that could not be asked."""
    versions = {"python": ".".join(map(str, sys.version_info[:3]))}
    for package in ("keras", "numpy", backend, f"{backend}-cpu"):
        try:
            versions[package.removesuffix("-cpu")] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions
