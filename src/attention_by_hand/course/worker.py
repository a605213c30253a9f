"""Executes one chapter in a kernel of its own; `runner` starts this module as a process per chapter.

The job is one JSON object as the only argument; what happens comes back as JSON lines on standard output.
"""

import ast
import asyncio
import json
import logging
import os
import re
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from attention_by_hand.course import CourseError, files, threads

LAST_LINES = 8
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_CHECKED = re.compile(r"^\W*(\d+\.\d+\w*) (right|not attempted|not yet).*", re.MULTILINE)
# Asked of the kernel itself after the last cell, so that what the table says is what ran.
_PROBE = """
import json, platform, sys
keras = sys.modules.get("keras")
name = keras and keras.backend.backend()
modules = {key: sys.modules.get(key) for key in ("keras", "numpy", name)}
versions = {key: getattr(module, "__version__", None) for key, module in modules.items() if module}
answer = json.dumps({"backend": name, "versions": {"python": platform.python_version(), **versions}})
"""


class Execution:
    """One run of one notebook: cells and their seconds, and what went wrong, if anything."""

    def __init__(self, job, report):
        self.job, self.report = job, report
        self.notebook = nbformat.read(job["file"], as_version=4)
        self.cells = []  # {"cell", "seconds", "line"} of each executed code cell; "cell" is n of In [n]
        self.current, self.error, self.answer = None, None, {}

    def fail(self, kind, message, lines=()):
        lines = [line for text in lines for line in _COLOURS.sub("", text).splitlines() if line.strip(" -")]
        cell = self.current and self.current["cell"]
        self.error = self.error or {"cell": cell, "kind": kind, "message": message, "lines": lines[-LAST_LINES:]}

    def started(self, cell, **_):
        line = next((text for text in cell.source.splitlines() if text.strip() and not text.startswith("#")), "")
        self.current = {"cell": len(self.cells) + 1, "seconds": time.monotonic(), "line": line.strip()[:80]}
        self.report("cell", number=self.current["cell"], line=self.current["line"])

    def ended(self, **_):
        if self.current and self.current not in self.cells:
            self.current["seconds"] = round(time.monotonic() - self.current["seconds"], 3)
            self.cells.append(self.current)

    async def run(self):
        code = [c for c in self.notebook.cells if c.cell_type == "code" and c.source.strip()]
        self.report("total", cells=len(code))
        client = NotebookClient(
            self.notebook,
            kernel_name="python3",
            timeout=self.job["timeout"],
            startup_timeout=120,
            record_timing=False,
            shutdown_kernel="immediate",
            resources={"metadata": {"path": str(Path(self.job["file"]).parent)}},
            on_cell_execute=self.started,
            on_cell_executed=self.ended,
        )
        client.log = logging.getLogger("silent")
        client.log.setLevel(logging.CRITICAL + 1)
        try:
            async with client.async_setup_kernel():
                await self.execute(client)
        except Exception as error:  # the kernel could not start or stop: say so, the other chapters still run
            self.fail("kernel", f"the kernel could not be used: {error}")

    async def execute(self, client):
        try:
            for index, cell in enumerate(self.notebook.cells):
                await client.async_execute_cell(cell, index)
            self.current = None
        except CellTimeoutError:
            self.ended()
            self.fail("timeout", f"the cell ran longer than {self.job['timeout']} s", [self.source()])
            return
        except DeadKernelError:
            self.ended()
            self.fail("dead kernel", f"the kernel died{await exit_reason(client)}", [self.source()])
            return
        except CellExecutionError as error:
            shown = [line for o in cell.outputs if o.output_type == "error" for line in o.traceback]
            self.fail("exception", f"{error.ename}: {error.evalue}", shown)
        self.answer = await ask(client)
        self.check_backend()

    def source(self):
        return f"{self.current['line']} …"

    def check_backend(self):
        used, wanted = self.answer.get("backend"), self.job["backend"]
        if used is None:
            self.fail("backend", f"the chapter never imported Keras, so nothing ran on {wanted}")
        elif used != wanted:
            self.fail("backend", f"the chapter ran on {used}, not on {wanted}")

    def check_solved(self):
        outputs = [output for cell in self.notebook.cells for output in cell.get("outputs", [])]
        texts = [o.get("text") or o.get("data", {}).get("text/plain", "") for o in outputs]
        verdicts = [verdict for text in texts for verdict in _CHECKED.finditer(text)]
        for verdict in verdicts:
            if verdict[2] != "right":
                self.fail("exercise", f"exercise {verdict[1]} is not solved", [verdict[0]])
        if not verdicts:
            self.fail("exercise", "no exercise was checked")

    def save(self):
        self.notebook.metadata.pop("widgets", None)
        try:
            files.write(self.job["copy"], nbformat.writes(self.notebook) + "\n")
        except CourseError as error:
            self.current = None
            self.fail("write", str(error))


async def exit_reason(client):
    code = client.km.provisioner and await client.km.provisioner.poll()
    if not code:
        return ""
    return f" (signal {-code}; 9 often means: out of memory)" if code < 0 else f" (exit code {code})"


async def ask(client):
    """What the kernel says about itself, through an execution that leaves no name and no output behind."""
    expression = f"(lambda space: (exec({_PROBE!r}, space), space['answer'])[1])({{}})"
    message = client.kc.execute("", silent=True, store_history=False, user_expressions={"answer": expression})
    try:
        reply = await client.async_wait_for_reply(message)
        return json.loads(ast.literal_eval(reply["content"]["user_expressions"]["answer"]["data"]["text/plain"]))
    except Exception:  # a kernel in no state to answer: the backend then counts as unknown
        return {}


def main():
    job = json.loads(sys.argv[1])
    # Libraries may print: events get a copy of standard output, everything else goes to standard error.
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def report(event, **values):
        print(json.dumps({"event": event, **values}), file=channel, flush=True)

    threads.pin(job["cores"])
    try:
        execution = Execution(job, report)
    except Exception as error:
        report("result", error={"cell": None, "kind": "notebook", "message": f"not a notebook: {error}", "lines": []})
        return
    asyncio.run(execution.run())
    if job.get("solved"):
        execution.check_solved()
    execution.save()
    report("result", cells=execution.cells, error=execution.error, **execution.answer)


if __name__ == "__main__":
    main()
