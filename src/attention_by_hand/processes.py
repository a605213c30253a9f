"""The same functions on every backend: one fresh Python process each, as a running one cannot change its backend."""

import inspect
import json
import os
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

from attention_by_hand import backend

# Runs in the fresh process: the source of the functions comes in, what they return goes out, on the last line.
_CHILD = """
import json, sys
import keras
import numpy as np
from keras import ops
import attention_by_hand as abh
sources, names = json.loads(sys.argv[1])
space = {"__name__": "__main__", "keras": keras, "np": np, "ops": ops, "abh": abh}
for source in sources:
    exec(source, space)
results = {name: space[name]() for name in names}
from attention_by_hand.processes import plain
print()
print(json.dumps(plain(results)))
"""


class ProcessError(RuntimeError):
    """A function failed in its process; the message holds the backend and the last lines it printed."""


def everywhere(*functions, timeout=240):
    """Call functions on every backend that is installed: the one in use here, the others in new processes.

    Args:
        *functions: called without arguments. Each is sent as its source and may use the others, and the names
            that every chapter has: `np`, `keras`, `ops`, `abh`. It returns numbers, strings, arrays, tensors,
            or dictionaries and lists of them.
        timeout: seconds after which the other processes are ended.

    Returns:
        `{backend: {name of the function: result}}`, the backend in use first. Arrays, tensors and tuples come
        back as nested lists, from the backend in use, too. A backend that is not installed is left out.

    Raises:
        ProcessError: a function raised in another process, or took longer than `timeout`.
    """
    others = [name for name in backend.BACKENDS if name != backend.name() and find_spec(name)]
    given = json.dumps([[textwrap.dedent(inspect.getsource(f)) for f in functions], [f.__name__ for f in functions]])
    running = {name: _start(name, given) for name in others}
    try:
        results = {backend.name(): {f.__name__: plain(f()) for f in functions}}
        for name, process in running.items():
            results[name] = _result(name, process, timeout)
    finally:
        for process in running.values():
            process.kill()
            process.wait()
    return results


def _start(name, given):
    package = str(Path(__file__).parents[1])
    environment = {
        **os.environ,
        "KERAS_BACKEND": name,
        "PYTHONPATH": os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])]),
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    command = [sys.executable, "-c", _CHILD, given]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=environment, text=True, encoding="utf-8", **pipes)


def _result(name, process, timeout):
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise ProcessError(f"on {name}: took longer than {timeout} s") from None
    if process.returncode:
        raise ProcessError(f"on {name}:\n" + "\n".join(err.strip().splitlines()[-5:]))
    return json.loads(out.strip().splitlines()[-1])


def plain(result):
    """A result as what JSON can hold: dictionaries, lists, numbers and strings."""
    if isinstance(result, dict):
        return {str(key): plain(value) for key, value in result.items()}
    if isinstance(result, (list, tuple)):
        return [plain(value) for value in result]
    if result is None or isinstance(result, (bool, int, float, str)):
        return result
    return backend.to_numpy(result).tolist()
