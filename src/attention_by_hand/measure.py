"""What a computation costs: memory as the rise of the peak in a fresh process, time as a median.

Both are measurements of this machine, not properties of a mechanism: compare ratios, not numbers.
"""

import json
import os
import statistics
import subprocess
import sys
import time

import keras

from attention_by_hand import backend

_MIB = 2**20
_STATUS = "/proc/self/status"  # Linux only; elsewhere `resource` or psutil must do

# Runs in the fresh process. It imports nothing but the standard library, so that only `setup` and `code` count.
_CHILD = """
import json, sys
from pathlib import Path

def peak_and_now():
    if Path({status!r}).exists():  # bytes of this very process; ru_maxrss would start at the parent's peak
        lines = dict(line.split(":", 1) for line in open({status!r}))
        return [int(lines[name].split()[0]) * 1024 for name in ("VmHWM", "VmRSS")]
    if sys.platform == "win32":
        import psutil
        found = psutil.Process().memory_info()
        return [found.peak_wset, found.rss]
    import resource
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return [peak, peak]

def forget_peak():
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass  # then the peak of the setup stays, and only what exceeds it counts

setup, *codes = json.load(sys.stdin)
space, rises = {{"__name__": "__main__"}}, []
exec(compile(setup, "<setup>", "exec"), space)
for code in codes:
    forget_peak()
    before, _ = peak_and_now()
    exec(compile(code, "<code>", "exec"), space)
    after, _ = peak_and_now()
    rises.append(max(0, after - before))
print()
print(json.dumps(rises))
"""


class MeasuringError(RuntimeError):
    """The measured code failed in its process; the message holds the last lines it printed."""


def peak_memory(setup, *codes, timeout=120):
    """Rise of the peak memory while code runs, in a fresh Python process with the backend in use here, on the CPU.

    Args:
        setup: source that runs first and is not counted: imports, inputs, and one small warm-up call, so that
            what a framework loads on first use does not count either.
        *codes: sources that are measured, one after the other; they see the names of `setup`. Convert results
            to NumPy: some backends return before the work is done. Put the smallest first: only on Linux can the
            peak of the one before be forgotten.
        timeout: seconds after which the process is ended.

    Returns:
        Mebibytes (2²⁰ bytes) of resident memory, a float, or a list of them for several sources: the highest point
        during the code, minus the highest point before it (on Linux: minus what was in use just before it).

    Raises:
        MeasuringError: the code raised, or took longer than `timeout`.
    """
    environment = {
        **os.environ,
        "KERAS_BACKEND": backend.name(),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "CUDA_VISIBLE_DEVICES": "-1",  # on an accelerator the arrays would not stand in the memory that is measured
        "JAX_PLATFORMS": "cpu",
    }
    command = [sys.executable, "-c", _CHILD.format(status=_STATUS)]
    given = json.dumps([setup, *codes])
    try:
        done = subprocess.run(command, input=given, env=environment, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise MeasuringError(f"the measured code took longer than {timeout} s") from None
    if done.returncode:
        raise MeasuringError("the measured code failed:\n" + "\n".join(done.stderr.strip().splitlines()[-5:]))
    rises = [rise / _MIB for rise in json.loads(done.stdout.strip().splitlines()[-1])]
    return rises[0] if len(codes) == 1 else rises


def seconds(function, repeats=20, warmup=2):
    """Median wall-clock time of one call.

    Args:
        function: called without arguments; a tensor, or a structure of tensors, that it returns is waited for.
        repeats: number of timed calls, at least 1.
        warmup: calls before them, in which a backend compiles and caches.

    Returns:
        Seconds, as a float.

    Raises:
        ValueError: `repeats` is smaller than 1.
    """
    if repeats < 1:
        raise ValueError(f"repeats must be at least 1; got {repeats}")
    times = []
    for number in range(warmup + repeats):
        start = time.perf_counter()
        _wait(function())
        if number >= warmup:
            times.append(time.perf_counter() - start)
    return statistics.median(times)


def _wait(result):
    """Wait until every tensor of a result is computed: some backends return first and work afterwards."""
    for part in keras.tree.flatten(result):
        if keras.ops.is_tensor(part):
            keras.ops.convert_to_numpy(part)
