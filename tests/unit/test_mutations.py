"""The unit tests notice every planted mistake: `tests/mutations/mutations.py`, in a process of its own."""

import re
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[1] / "mutations" / "mutations.py"


def test_every_planted_mistake_is_noticed():
    run = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, timeout=600)
    report = run.stdout + run.stderr
    killed, listed = map(int, re.search(r"killed (\d+) of (\d+)", report).groups()) if run.returncode < 2 else (0, 0)
    print(report)
    assert run.returncode == 0, report[-3000:]
    assert killed == listed >= 10
