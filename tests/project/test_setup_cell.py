"""The setup cell in the situations that readers are in, in fresh processes and with the real frameworks."""

import importlib.metadata
import os
import shutil
import site
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from attention_by_hand.course.setup_cell import SETUP_CELL

from .conftest import ROOT, environment

LINE = "backend {backend} · python"
FRAMEWORKS = ("keras", "torch", "jax", "tensorflow", "tensorflow_cpu", "numpy")


def run(cell, cwd, python=sys.executable, **extra):
    """Run a cell in a new process that knows no project but the one in `cwd`."""
    environ = {name: value for name, value in environment(**extra).items() if name != "PYTHONPATH"}
    return subprocess.run([python, "-c", cell], cwd=cwd, env=environ, capture_output=True, text=True, timeout=300)


@pytest.fixture
def bare_python(tmp_path):
    """A virtual environment that has everything this one has, but not the course's package."""
    folder = tmp_path / "bare"
    venv.create(folder, with_pip=False, symlinks=True)
    linked = tmp_path / "linked"
    linked.mkdir()
    own = {Path(p) for p in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages())}
    for place in own:
        for entry in place.iterdir() if place.is_dir() else ():
            course = "attention_by_hand" in entry.name or entry.suffix == ".pth"
            if not course and not (linked / entry.name).exists():
                (linked / entry.name).symlink_to(entry)
    (target,) = folder.glob("lib/python*/site-packages")
    (target / "everything_else.pth").write_text(f"{linked}\n")
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The package as a wheel, built from a copy of the sources."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", source, source]
    subprocess.run(build, check=True, capture_output=True, text=True)
    (file,) = source.glob("*.whl")
    return file


def test_cell_has_at_most_ten_lines_of_code():
    code = [line for line in SETUP_CELL.splitlines() if line.strip() and not line.startswith("#")]
    assert len(code) <= 10
    assert all(len(line) <= 120 for line in code)


def test_installed_package_is_used(tmp_path):
    done = run(SETUP_CELL, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(LINE.format(backend="torch")) and done.stdout.count("\n") == 1


def test_clone_is_found_without_installing(bare_python, tmp_path):
    notebooks = tmp_path / "clone" / "notebooks" / "solutions"
    notebooks.mkdir(parents=True)
    shutil.copytree(ROOT / "src", tmp_path / "clone" / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    done = run(f"{SETUP_CELL}\nprint(abh.__file__)", notebooks, bare_python, ABH_HELPERS="/nowhere")
    assert done.returncode == 0, done.stderr
    line, file = done.stdout.splitlines()
    assert line.startswith(LINE.format(backend="torch"))
    assert Path(file) == tmp_path / "clone" / "src" / "attention_by_hand" / "__init__.py"


def test_lone_notebook_installs_helpers_and_nothing_else(bare_python, wheel, tmp_path):
    lone = tmp_path / "downloads"
    lone.mkdir()
    cell = SETUP_CELL.replace('HELPERS = "attention-by-hand"', f"HELPERS = {str(wheel)!r}")
    done = run(f"{cell}\nprint(abh.__file__)", lone, bare_python, PIP_NO_INDEX="1", KERAS_BACKEND="jax")
    assert done.returncode == 0, done.stderr
    line, file = done.stdout.splitlines()
    assert line.startswith(LINE.format(backend="jax"))
    (target,) = (tmp_path / "bare").glob("lib/python*/site-packages")
    assert Path(file).is_relative_to(target)
    names = {dist.metadata["Name"] for dist in importlib.metadata.distributions(path=[str(target)])}
    assert names == {"attention-by-hand"}
    assert not [name for name in FRAMEWORKS if (target / name).exists()]
    assert os.listdir(lone) == []


def test_wheel_holds_everything_the_package_needs(wheel, bare_python, tmp_path):
    install = [bare_python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel]
    subprocess.run(install, check=True, capture_output=True, text=True)
    (target,) = (tmp_path / "bare").glob("lib/python*/site-packages")
    sources = {
        file.relative_to(ROOT / "src") for file in (ROOT / "src").rglob("*") if file.suffix in (".npz", ".py", ".toml")
    }
    installed = {file.relative_to(target) for file in (target / "attention_by_hand").rglob("*")}
    assert sources and sources <= installed


def test_unreachable_source_is_one_sentence(bare_python, tmp_path):
    helpers = "https://localhost:9/attention_by_hand-0.1.0-py3-none-any.whl"
    done = run(SETUP_CELL, tmp_path, bare_python, ABH_HELPERS=helpers, PIP_RETRIES="0", PIP_TIMEOUT="2")
    assert done.returncode == 1
    assert done.stderr.strip() == (
        f"Cannot install the helpers from {helpers!r}: go online, or set HELPERS to their wheel, and run again."
    )
    assert done.stdout == ""


def test_unreachable_source_shows_no_wall_of_text_in_a_notebook(bare_python, tmp_path):
    script = tmp_path / "cell.ipy"
    script.write_text(SETUP_CELL)
    shell = "from IPython.core.interactiveshell import InteractiveShell as S; S().run_cell(open('cell.ipy').read())"
    done = run(shell, tmp_path, bare_python, ABH_HELPERS="./missing.whl", HOME=str(tmp_path))
    shown = done.stdout + done.stderr
    assert "Cannot install the helpers from './missing.whl': go online" in shown
    assert "Traceback" not in shown and len(shown.splitlines()) <= 6


def test_keras_backend_that_is_already_set_wins(tmp_path):
    done = run(SETUP_CELL, tmp_path, KERAS_BACKEND="jax")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(LINE.format(backend="jax"))
    assert "KERAS_BACKEND=jax was set outside and wins over BACKEND = 'torch'" in done.stdout


def test_keras_imported_before_with_another_backend_is_a_clear_error(tmp_path):
    before = "import os\nos.environ['KERAS_BACKEND'] = 'jax'\nimport keras\ndel os.environ['KERAS_BACKEND']\n"
    done = run(before + SETUP_CELL, tmp_path)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("RuntimeError: Keras was already imported with the backend 'jax', and 'torch' is asked for.")
    assert "restart the kernel" in last


def test_changing_the_backend_and_running_the_cell_again_is_a_clear_error(tmp_path):
    again = SETUP_CELL.replace('BACKEND = "torch"', 'BACKEND = "jax"')
    done = run(f"{SETUP_CELL}\n{again}", tmp_path)
    assert done.returncode == 1 and "restart the kernel" in done.stderr.strip().splitlines()[-1]
