"""The real source of a layer, shown in a notebook: text and code cannot drift apart."""

import ast
import difflib
import html
import inspect
import textwrap

from attention_by_hand import strings


class Source:
    """Source code that shows itself in a notebook, with the lines that are new against an earlier rung marked.

    Attributes:
        lines: the lines of code.
        new: for each line, whether the earlier rung lacks it.
    """

    def __init__(self, lines, new, legend):
        self.lines, self.new, self.legend = lines, new, legend

    def __repr__(self):
        marked = [f"{'▸' if new else ' '} {line}".rstrip() for line, new in zip(self.lines, self.new, strict=True)]
        return "\n".join([*([f"# {self.legend}"] if self.legend else []), *marked])

    def _repr_html_(self):
        rows = []
        for line, new in zip(_coloured(self.lines), self.new, strict=True):
            background = "background:rgba(255,193,7,.22);" if new else ""
            rows.append(f'<div style="{background}min-height:1.35em">{"▸" if new else " "} {line}</div>')
        legend = f"<p><small>{html.escape(self.legend)}</small></p>" if self.legend else ""
        block = "".join(rows)
        return f'{legend}<pre style="line-height:1.35;white-space:pre;overflow-x:auto">{block}</pre>'


def show_source(thing, since=None, docstring=False):
    """Show the source of a class, method or function, marking the lines that an earlier rung does not have.

    Args:
        thing: what to show, for example `layers.AdditiveAttention.score`; or a list of such things.
        since: the rung before: something with source, or a list; a line counts as new if it stands in none of
            them in this order. None marks nothing.
        docstring: whether docstrings are shown.

    Returns:
        A `Source`; the last line of a notebook cell shows it.
    """
    lines = _lines(thing, docstring)
    if since is None:
        return Source(lines, [False] * len(lines), "")
    known = _lines(since, docstring)
    matcher = difflib.SequenceMatcher(None, [x.strip() for x in known], [x.strip() for x in lines], autojunk=False)
    new = [bool(line.strip()) for line in lines]
    for block in matcher.get_matching_blocks():
        new[block.b : block.b + block.size] = [False] * block.size
    first = since[0] if isinstance(since, (list, tuple)) else since
    return Source(lines, new, strings.text("source.legend", rung=getattr(first, "__qualname__", first.__name__)))


def _lines(thing, docstring):
    things = thing if isinstance(thing, (list, tuple)) else [thing]
    shown = []
    for one in things:
        code = textwrap.dedent(inspect.getsource(one))
        shown += [*([""] if shown else []), *(code if docstring else _without_docstrings(code)).splitlines()]
    return shown


def _without_docstrings(code):
    """The code without docstrings, all else untouched (comments included)."""
    lines = code.splitlines()
    for node in ast.walk(ast.parse(code)):
        documented = isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None
        if documented and len(node.body) > 1:  # a body that is only a docstring stays: without it nothing is left
            first = node.body[0]
            end = first.end_lineno
            while end < len(lines) and not lines[end].strip() and isinstance(node, ast.FunctionDef):
                end += 1
            lines[first.lineno - 1 : end] = [None] * (end - first.lineno + 1)
    return "\n".join(line for line in lines if line is not None)


def _coloured(lines):
    """HTML of each line, coloured where Pygments (which IPython brings) is installed."""
    try:
        from pygments import highlight
        from pygments.formatters import HtmlFormatter
        from pygments.lexers import PythonLexer
    except ImportError:
        return [html.escape(line) for line in lines]
    formatter = HtmlFormatter(nowrap=True, noclasses=True)
    coloured = highlight("\n".join(lines), PythonLexer(stripnl=False), formatter).split("\n")
    return coloured[: len(lines)]
