"""`show_source` shows the code that runs, and marks what the rung before does not have."""

import builtins

import pytest

from attention_by_hand import layers
from attention_by_hand.layers.base import AttentionPooling
from attention_by_hand.source import Source, show_source


class Rung:
    """A mechanism."""

    def score(self, query):
        """Its score."""
        # why
        scaled = query * 2

        return scaled


class NextRung(Rung):
    """The next one."""

    def score(self, query):
        """Its score, normalised."""
        # why
        scaled = query * 2
        scaled = scaled / 3
        return scaled


def documented_only():
    """Nothing else is here."""


class Outer:
    """Outer."""

    def method(self):
        """One line."""
        return "kept"

    def abstract(self):
        """Only a docstring."""


def test_it_shows_the_real_lines_without_docstrings():
    assert show_source(Rung.score).lines == [
        "def score(self, query):",
        "    # why",
        "    scaled = query * 2",
        "",
        "    return scaled",
    ]


def test_docstrings_are_shown_when_asked_for():
    assert '    """Its score."""' in show_source(Rung.score, docstring=True).lines


def test_a_body_that_is_only_a_docstring_stays():
    assert show_source(documented_only).lines == ["def documented_only():", '    """Nothing else is here."""']
    assert '        """Only a docstring."""' in show_source(Outer).lines


def test_a_class_loses_all_other_docstrings():
    text = "\n".join(show_source(Outer).lines)
    assert "One line." not in text and '"""Outer."""' not in text and 'return "kept"' in text


def test_every_class_of_layers_is_still_python_without_docstrings():
    for name in layers.__all__:
        compile("\n".join(show_source(getattr(layers, name)).lines), name, "exec")
    compile("\n".join(show_source(AttentionPooling).lines), "base", "exec")


def test_only_lines_that_the_rung_before_lacks_are_new():
    shown = show_source(NextRung.score, since=Rung.score)
    assert [line for line, new in zip(shown.lines, shown.new, strict=True) if new] == ["    scaled = scaled / 3"]


def test_nothing_is_new_against_itself():
    assert not any(show_source(Rung, since=Rung).new)


def test_nothing_is_marked_without_a_rung_before():
    shown = show_source(NextRung.score)
    assert not any(shown.new) and shown.legend == ""


def test_empty_lines_are_never_new():
    shown = show_source(Rung.score, since=documented_only)
    assert [new for line, new in zip(shown.lines, shown.new, strict=True) if not line] == [False]
    assert all(new for line, new in zip(shown.lines, shown.new, strict=True) if line.strip())


def test_several_things_are_shown_one_after_the_other():
    shown = show_source([Rung.score, documented_only])
    assert shown.lines[5:7] == ["", "def documented_only():"]


def test_new_against_several_things():
    assert not any(show_source(Rung.score, since=[documented_only, Rung.score]).new)


def test_the_legend_names_the_rung_before():
    assert "Rung.score" in show_source(NextRung.score, since=Rung.score).legend
    assert "Rung.score" in show_source(NextRung.score, since=[Rung.score, documented_only]).legend


def test_text_marks_new_lines_by_a_sign():
    lines = repr(show_source(NextRung.score, since=Rung.score)).splitlines()
    assert [line for line in lines if line.startswith("▸")] == ["▸     scaled = scaled / 3"]


def test_html_marks_new_lines_by_a_sign_and_colour():
    rows = show_source(NextRung.score, since=Rung.score)._repr_html_().split("<div")
    marked = [row for row in rows if "▸" in row and "background" in row]
    assert len(marked) == 1 and "3" in marked[0]


def test_html_escapes_code(monkeypatch):
    shown = Source(["a < b & c"], [False], "<legend>")
    real = builtins.__import__

    def without_pygments(name, *arguments, **options):
        if name.startswith("pygments"):
            raise ImportError(name)
        return real(name, *arguments, **options)

    for html in (
        shown._repr_html_(),
        (monkeypatch.setattr(builtins, "__import__", without_pygments), shown)[1]._repr_html_(),
    ):
        assert "a < b" not in html and "&lt;" in html and "&amp;" in html and "&lt;legend&gt;" in html


def test_html_has_a_row_for_every_line_of_every_layer():
    for name in layers.__all__:
        shown = show_source(getattr(layers, name), docstring=True)
        assert shown._repr_html_().count("<div") == len(shown.lines)


def test_a_module_can_be_the_rung_before():
    from attention_by_hand.layers import additive

    assert "additive" in show_source(layers.AdditiveAttention, since=additive).legend


def test_what_has_no_source_is_refused():
    with pytest.raises(TypeError):
        show_source(len)
