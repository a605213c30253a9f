"""For all tests: a skip that tests/allowed_skips.txt does not list fails the run."""

from pathlib import Path

import pytest

_LIST = Path(__file__).with_name("allowed_skips.txt")
_skips = []


def allowed(nodeid, lines):
    """Whether one of the lines is `nodeid` or its beginning, up to a part of the name."""
    return any(nodeid == line or nodeid.startswith((line + "::", line + "[", line + "/")) for line in lines)


def _lines():
    text = _LIST.read_text(encoding="utf-8") if _LIST.is_file() else ""
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _note(report):
    if report.skipped and not hasattr(report, "wasxfail") and not allowed(report.nodeid, _lines()):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        _skips.append(f"{report.nodeid}: {reason}")


def pytest_runtest_logreport(report):
    _note(report)


def pytest_collectreport(report):
    _note(report)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    if _skips and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    if _skips:
        terminalreporter.section("skips that tests/allowed_skips.txt does not list", red=True)
        for line in _skips:
            terminalreporter.write_line(line)
