"""Every data-flow drawing, in one style: boxes and arrows on a grid, labels from the string table."""

from dataclasses import dataclass

from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch, Patch

from attention_by_hand import strings
from attention_by_hand.plots import fonts
from attention_by_hand.plots.common import Picture, style

# kind: fill, edge, line style. The line style tells them apart without colour.
_KINDS = {
    "data": ("#eaf1f8", "#1f4e79", "-"),
    "operation": ("#ffffff", "#444444", "-"),
    "learned": ("#fdf1e3", "#c1440e", "--"),
}
_WIDTH, _HEIGHT = 1.62, 0.62  # of a box, in grid units 2 wide and 1 high


@dataclass(frozen=True)
class Node:
    """A box: its name (the last part of its string's key), column, row (row 0 at the bottom) and kind.

    `kind` is "data", "operation" or "learned"; `new` marks what the rung before does not have.
    """

    name: str
    column: float
    row: float
    kind: str = "operation"
    new: bool = False


@dataclass(frozen=True)
class Diagram:
    """Boxes, and arrows as `"from to"`. Data flows upwards or to the right."""

    nodes: tuple[Node, ...]
    arrows: tuple[str, ...]


DIAGRAMS: dict[str, Diagram] = {}


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
        size = (1.75 * (max(columns) - min(columns) + 1), 0.95 * (max(rows) - min(rows) + 1) + 0.5)
        figure = Picture(figsize=size, layout="constrained")
        figure.alt = strings.text(f"diagrams.{name}.alt")
        ax = figure.subplots()
        places = {node.name: (2 * node.column, node.row) for node in drawing.nodes}
        for arrow in drawing.arrows:
            start, end = arrow.split()
            _arrow(ax, places[start], places[end])
        for node in drawing.nodes:
            _box(ax, node, places[node.name], strings.text(f"diagrams.{name}.{node.name}"))
        ax.set_xlim(2 * min(columns) - 1, 2 * max(columns) + 1)
        ax.set_ylim(min(rows) - 0.5, max(rows) + 0.5)
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


def _arrow(ax, start, end):
    """From the rim of one box to the rim of the other: top to bottom if the rows differ, else side to side."""
    (x0, y0), (x1, y1) = start, end
    if y0 != y1:
        up = 1 if y1 > y0 else -1
        tail, head = (x0, y0 + up * _HEIGHT / 2), (x1, y1 - up * (_HEIGHT / 2 + 0.03))
    else:
        right = 1 if x1 > x0 else -1
        tail, head = (x0 + right * _WIDTH / 2, y0), (x1 - right * (_WIDTH / 2 + 0.03), y1)
    ax.annotate("", xy=head, xytext=tail, arrowprops={"arrowstyle": "-|>", "color": "#444444", "lw": 1.4}, zorder=1)


def _legend(figure, drawing):
    handles = [
        Patch(fc=_KINDS[kind][0], ec=_KINDS[kind][1], ls=_KINDS[kind][2], label=strings.text(f"diagrams.{kind}"))
        for kind in _KINDS
        if any(node.kind == kind for node in drawing.nodes)
    ]
    if any(node.new for node in drawing.nodes):
        handles.append(Line2D([], [], color="#444444", lw=2.6, label=f"▸ {strings.text('diagrams.new')}"))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=10)


DIAGRAMS["additive"] = Diagram(
    nodes=(
        Node("query", 0, 0, "data"),
        Node("key", 1, 0, "data"),
        Node("value", 2, 0, "data"),
        Node("add", 0.5, 1),
        Node("score", 0.5, 2, "learned"),
        Node("softmax", 0.5, 3),
        Node("mean", 1.25, 4),
        Node("output", 1.25, 5, "data"),
    ),
    arrows=("query add", "key add", "add score", "score softmax", "softmax mean", "value mean", "mean output"),
)

DIAGRAMS["backends"] = Diagram(
    nodes=(
        Node("chapter", 1, 0, "data"),
        Node("keras", 1, 1),
        Node("torch", 0, 2),
        Node("jax", 1, 2),
        Node("tensorflow", 2, 2),
        Node("numbers", 1, 3, "data"),
    ),
    arrows=(
        "chapter keras",
        "keras torch",
        "keras jax",
        "keras tensorflow",
        "torch numbers",
        "jax numbers",
        "tensorflow numbers",
    ),
)

DIAGRAMS["additive_paper"] = Diagram(
    nodes=(
        Node("query", 0, 0, "data"),
        Node("key", 1, 0, "data"),
        Node("value", 2, 0, "data"),
        Node("query_kernel", 0, 1, "learned", new=True),
        Node("key_kernel", 1, 1, "learned", new=True),
        Node("add", 0.5, 2),
        Node("score", 0.5, 3, "learned"),
        Node("softmax", 0.5, 4),
        Node("mean", 1.25, 5),
        Node("output", 1.25, 6, "data"),
    ),
    arrows=(
        "query query_kernel",
        "key key_kernel",
        "query_kernel add",
        "key_kernel add",
        "add score",
        "score softmax",
        "softmax mean",
        "value mean",
        "mean output",
    ),
)

_ONE_VECTOR = ("query product", "items product", "product softmax", "softmax mean", "items mean", "mean output")

DIAGRAMS["upgrade_1"] = Diagram(
    nodes=(
        Node("query", 0, 0, "data"),
        Node("items", 1, 0, "data"),
        Node("product", 0, 1, new=True),
        Node("softmax", 0, 2),
        Node("mean", 0.5, 3),
        Node("output", 0.5, 4, "data"),
    ),
    arrows=_ONE_VECTOR,
)

DIAGRAMS["upgrade_2"] = Diagram(
    nodes=(
        Node("query", 0, 0, "data", new=True),
        Node("items", 1, 0, "data"),
        Node("product", 0, 1, new=True),
        Node("softmax", 0, 2),
        Node("mean", 0.5, 3, new=True),
        Node("output", 0.5, 4, "data"),
    ),
    arrows=_ONE_VECTOR,
)

DIAGRAMS["upgrade_3"] = Diagram(
    nodes=(
        Node("query", 0, 0, "data"),
        Node("items", 1.5, 0, "data"),
        Node("key", 1, 1, "learned", new=True),
        Node("value", 2, 1, "learned", new=True),
        Node("product", 0.5, 2),
        Node("softmax", 0.5, 3),
        Node("mean", 1.25, 4),
        Node("output", 1.25, 5, "data"),
    ),
    arrows=(
        "query product",
        "items key",
        "items value",
        "key product",
        "product softmax",
        "softmax mean",
        "value mean",
        "mean output",
    ),
)

DIAGRAMS["self_attention"] = Diagram(
    nodes=(
        Node("x", 1, 0, "data"),
        Node("query", 0, 1, "learned", new=True),
        Node("key", 1, 1, "learned"),
        Node("value", 2, 1, "learned"),
        Node("score", 0.5, 2),
        Node("softmax", 0.5, 3),
        Node("mean", 1.25, 4),
        Node("output", 1.25, 5, "data"),
    ),
    arrows=(
        "x query",
        "x key",
        "x value",
        "query score",
        "key score",
        "score softmax",
        "softmax mean",
        "value mean",
        "mean output",
    ),
)

DIAGRAMS["masked"] = Diagram(
    nodes=(
        Node("query", 0, 0, "data"),
        Node("key", 1, 0, "data"),
        Node("causal", 2, 0, "data", new=True),
        Node("padding", 3, 0, "data", new=True),
        Node("scores", 0.5, 1),
        Node("join", 2.5, 1, new=True),
        Node("where", 1.5, 2, new=True),
        Node("value", 3, 3, "data"),
        Node("softmax", 1.5, 3),
        Node("mean", 2.25, 4),
        Node("output", 2.25, 5, "data"),
    ),
    arrows=(
        "query scores",
        "key scores",
        "causal join",
        "padding join",
        "scores where",
        "join where",
        "where softmax",
        "softmax mean",
        "value mean",
        "mean output",
    ),
)

DIAGRAMS["positions"] = Diagram(
    nodes=(
        Node("words", 0, 0, "data"),
        Node("places", 1, 0, "data", new=True),
        Node("embedding", 0, 1, "learned"),
        Node("waves", 1, 1, new=True),
        Node("sum", 0.5, 2, new=True),
        Node("dropout", 0.5, 3, new=True),
        Node("attention", 0.5, 4, "learned"),
    ),
    arrows=(
        "words embedding",
        "places waves",
        "embedding sum",
        "waves sum",
        "sum dropout",
        "dropout attention",
    ),
)
