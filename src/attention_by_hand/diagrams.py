"""Every data-flow drawing, in one style: boxes and arrows on a grid, labels from the string table."""

from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch, Patch

from attention_by_hand import (  # noqa: F401 (all but the last add drawings)
    bert_drawings,
    block_drawings,
    captioner_drawings,
    decoder_drawings,
    language_drawings,
    seq2seq_drawings,
    sequence_drawings,
    spatial_drawings,
    strings,
    translating_drawings,
)
from attention_by_hand.drawings import DIAGRAMS
from attention_by_hand.plots import fonts
from attention_by_hand.plots.common import Picture, style

# kind: fill, edge, line style. The line style tells them apart without colour.
_KINDS = {
    "data": ("#eaf1f8", "#1f4e79", "-"),
    "operation": ("#ffffff", "#444444", "-"),
    "learned": ("#fdf1e3", "#c1440e", "--"),
}
_THIN, _THICK = {"color": "#444444", "lw": 1.4}, {"color": "#c1440e", "lw": 3.2}
_WIDTH, _HEIGHT = 1.62, 0.62  # of a box, in grid units 2 wide and 1 high


def diagram(name):
    """Draw the data flow of a mechanism.

    Args:
        name: a key of `DIAGRAMS`; its boxes are labelled by the strings `diagrams.<name>.<node>` and the
            text alternative is `diagrams.<name>.alt`.

    Returns:
        A `Picture`.

    Raises:
        KeyError: there is no such diagram.
    """
    if name not in DIAGRAMS:
        raise KeyError(f"there is no diagram {name!r}; diagrams are {', '.join(sorted(DIAGRAMS))}")
    drawing = DIAGRAMS[name]
    columns = [node.column for node in drawing.nodes]
    rows = [node.row for node in drawing.nodes]
    with style():
        size = (drawing.column_inches * (max(columns) - min(columns) + 1), 0.95 * (max(rows) - min(rows) + 1) + 0.5)
        figure = Picture(figsize=size, layout="constrained")
        figure.alt = strings.text(f"diagrams.{name}.alt")
        ax = figure.subplots()
        places = {node.name: (2 * node.column, node.row) for node in drawing.nodes}
        for arrow in drawing.arrows:
            start, end = arrow.split()
            _arrow(ax, places[start], places[end], thick=arrow in drawing.path)
        for node in drawing.nodes:
            _box(ax, node, places[node.name], node.label or strings.text(f"diagrams.{name}.{node.name}"))
        for caption, column, row in drawing.captions:
            text, place = strings.text(f"diagrams.{name}.{caption}"), (2 * column, row - 0.25)
            figure.text(*place, text, transform=ax.transData, ha="center", va="center", fontsize=13)
        ax.set_xlim(2 * min(columns) - 1, 2 * max(columns) + 1)
        ax.set_ylim(min(rows) - 0.5, max([*rows, *(row - 0.5 for _, _, row in drawing.captions)]) + 0.5)
        ax.set_axis_off()
        _legend(figure, drawing)
    return figure


def _box(ax, node, place, label):
    fill, edge, line = _KINDS[node.kind]
    x, y = place
    corner = (x - _WIDTH / 2, y - _HEIGHT / 2)
    shape = "round,pad=0.02,rounding_size=0.14" if node.kind == "data" else "square,pad=0.02"
    width = 2.6 if node.new else 1.3
    ax.add_patch(FancyBboxPatch(corner, _WIDTH, _HEIGHT, boxstyle=shape, fc=fill, ec=edge, ls=line, lw=width, zorder=2))
    ax.text(x, y, fonts.label(label), ha="center", va="center", fontsize=11, linespacing=1.25, zorder=3)
    if node.new:
        tag = strings.text("diagrams.new")
        corner = (x + _WIDTH / 2, y + _HEIGHT / 2 + 0.04)  # clear of the thick edge
        ax.text(*corner, f"▸ {tag}", ha="right", va="bottom", fontsize=9, color="#c1440e", zorder=4)


def _arrow(ax, start, end, thick=False):
    """From the rim of one box to the rim of the other: top to bottom if the rows differ, else side to side."""
    (x0, y0), (x1, y1) = start, end
    if y0 != y1:
        up = 1 if y1 > y0 else -1
        tail, head = (x0, y0 + up * _HEIGHT / 2), (x1, y1 - up * (_HEIGHT / 2 + 0.03))
    else:
        right = 1 if x1 > x0 else -1
        tail, head = (x0 + right * _WIDTH / 2, y0), (x1 - right * (_WIDTH / 2 + 0.03), y1)
    ax.annotate(
        "",
        xy=head,
        xytext=tail,
        arrowprops={"arrowstyle": "-|>", **(_THICK if thick else _THIN)},
        zorder=1 + 0.5 * thick,
    )


def _legend(figure, drawing):
    handles = [
        Patch(fc=_KINDS[kind][0], ec=_KINDS[kind][1], ls=_KINDS[kind][2], label=strings.text(f"diagrams.{kind}"))
        for kind in _KINDS
        if any(node.kind == kind for node in drawing.nodes)
    ]
    if any(node.new for node in drawing.nodes):
        handles.append(Line2D([], [], color="#444444", lw=2.6, label=f"▸ {strings.text('diagrams.new')}"))
    if drawing.path:
        handles.append(Line2D([], [], **_THICK, label=strings.text("diagrams.path")))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=10)
