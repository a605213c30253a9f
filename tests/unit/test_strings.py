"""The string table: every key exists, a second language is one file, no English hides in the figures' code."""

import ast
import os
import re
import shutil
import string
import subprocess
import sys
from pathlib import Path

import pytest

from attention_by_hand import strings
from attention_by_hand.diagrams import DIAGRAMS

PACKAGE = Path(strings.__file__).parents[1]
DRAWING = [*sorted((PACKAGE / "plots").glob("*.py")), *sorted(PACKAGE.glob("diagram*.py"))]
SHOWN = {"set_title", "set_xlabel", "set_ylabel", "text", "annotate", "suptitle", "set_label", "supxlabel", "supylabel"}
KEY_WORDS = {"label", "title", "xlabel", "ylabel", "s", "text"}


def flat(table, prefix=""):
    for key, value in table.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def calls(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def is_lookup(call):
    return ast.unparse(call.func) in ("strings.text", "abh.strings.text")


def literal(node):
    """The constant text of an expression: of a string, or of the fixed parts of an f-string."""
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value for part in node.values if isinstance(part, ast.Constant))
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def keys_of(call):
    """The keys a lookup names: constants, and both sides of `a if … else b`; f-strings as patterns."""
    node = call.args[0]
    for option in [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node]:
        if isinstance(option, ast.JoinedStr):
            parts = [re.escape(p.value) if isinstance(p, ast.Constant) else r"[\w.]+" for p in option.values]
            yield re.compile("".join(parts))
        elif literal(option):
            yield re.compile(re.escape(literal(option)))


def test_every_key_that_the_code_looks_up_exists():
    known = [key for key, _ in flat(strings.table("en"))]
    missing = []
    for file in PACKAGE.rglob("*.py"):
        for call in calls(ast.parse(file.read_text(encoding="utf-8"))):
            if is_lookup(call):
                missing += [(file.name, p.pattern) for p in keys_of(call) if not any(p.fullmatch(k) for k in known)]
    assert not missing


def test_every_key_that_a_figure_or_notebook_hands_over_exists():
    """Titles and axes are given as keys, such as "plots.start.title"."""
    known = dict(flat(strings.table("en")))
    sources = [file.read_text(encoding="utf-8") for file in DRAWING]
    sources += [file.read_text(encoding="utf-8") for file in (PACKAGE.parents[1] / "notebooks").rglob("*.ipynb")]
    used = {key for text in sources for key in re.findall(r"""(?<=["'])plots(?:\.\w+){2,}(?=\\?["'])""", text)}
    assert used and not sorted(key for key in used if key not in known)


def test_every_box_of_every_diagram_has_a_label():
    for name, drawing in DIAGRAMS.items():
        boxes = (node.name for node in drawing.nodes if node.label is None)
        for part in ["alt", *boxes, *(caption for caption, _, _ in drawing.captions)]:
            assert strings.text(f"diagrams.{name}.{part}"), (name, part)


def test_no_string_is_empty():
    assert all(value.strip() for _, value in flat(strings.table("en")))


def test_a_value_is_filled_in():
    assert strings.text("checks.right", id="5.2") == "5.2 right"


def test_a_value_that_is_missing_is_an_error():
    with pytest.raises(KeyError):
        strings.text("checks.right", other=1)


@pytest.mark.parametrize("key", ["checks.nothing", "checks", "x", "checks.right.more"])
def test_an_unknown_key_is_an_error_that_names_it(key):
    with pytest.raises(KeyError, match=re.escape(repr(key)[1:-1])):
        strings.text(key)


def test_korean_words_have_a_latin_form_and_others_stay():
    assert strings.romanised("전력") == "jeollyeok"
    assert strings.romanised("AI") == "AI"
    for korean, latin in flat(strings.table("romanised")):
        assert re.search("[가-힣]", korean) and latin.isascii()


@pytest.fixture
def second_language(tmp_path):
    """A copy of the package in which one more file lies: strings/ko.toml."""
    copy = tmp_path / "attention_by_hand"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "strings" / "ko.toml").write_text('[checks]\nright = "{id} 정답"\n', encoding="utf-8")

    def run(code, language):
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "ABH_LANG": language, "PYTHONIOENCODING": "utf-8"}
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=True, cwd=tmp_path)
        return done.stdout.splitlines()

    return run


def test_a_second_language_is_one_file_and_no_code(second_language):
    code = (
        "from attention_by_hand import strings; print(strings.__file__); print(strings.text('checks.right', id='5.2'));"
        "print(strings.text('checks.not_attempted', id='5.2'))"
    )
    place, known, lacking = second_language(code, "ko")
    assert "site-packages" not in place and str(PACKAGE) not in place
    assert known == "5.2 정답"
    assert lacking == "5.2 not attempted"  # what the language lacks is shown in English


def test_a_language_that_does_not_exist_is_english(second_language):
    code = "from attention_by_hand import strings; print(strings.text('checks.right', id='5.2'))"
    assert second_language(code, "xx") == ["5.2 right"]


@pytest.mark.parametrize("file", DRAWING, ids=lambda f: f.name)
def test_figures_hold_no_literal_words(file):
    """What a figure shows comes from the string table; formulas and symbols of the notation may stand in the code."""
    found = []
    for call in calls(ast.parse(file.read_text(encoding="utf-8"))):
        if is_lookup(call):
            continue
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        shown = list(call.args) if name in SHOWN else []
        if name in SHOWN or name in ("plot", "scatter", "bar", "Patch", "Line2D", "axhline", "axvline", "legend"):
            shown += [word.value for word in call.keywords if word.arg in KEY_WORDS]
        for node in shown:
            words = re.sub(r"\$[^$]*\$|\b(?:[A-Z]|T[qv]|D[kv])\b", "", literal(node))
            if any(letter in string.ascii_letters for letter in words):
                found.append((call.lineno, words))
    assert not found


def test_the_check_for_literal_words_can_fail():
    (call,) = calls(ast.parse('ax.set_title(f"Accuracy {x}")'))
    assert literal(call.args[0]) == "Accuracy "
