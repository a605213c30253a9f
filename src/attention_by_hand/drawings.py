"""What every data-flow diagram shows: its boxes and arrows. `diagrams` says how they are drawn."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Node:
    """A box: its name (the last part of its string's key), column, row (row 0 at the bottom) and kind.

    `kind` is "data", "operation" or "learned"; `new` marks what the rung before does not have. A `label` that is
    a formula is shown as it is, in place of the string.
    """

    name: str
    column: float
    row: float
    kind: str = "operation"
    new: bool = False
    label: str | None = None


@dataclass(frozen=True)
class Diagram:
    """Boxes, and arrows as `"from to"`. Data flows upwards or to the right.

    `path` are the arrows that are drawn thick; `captions` are (last part of a string's key, column, row);
    `column_inches` is how wide a column is drawn.
    """

    nodes: tuple[Node, ...]
    arrows: tuple[str, ...]
    path: tuple[str, ...] = ()
    captions: tuple[tuple[str, float, float], ...] = ()
    column_inches: float = 1.75


DIAGRAMS: dict[str, Diagram] = {}

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

_HEADS = ("head_1", "head_2", "head_h")

DIAGRAMS["multi_head"] = Diagram(
    nodes=(
        Node("x", 1, 0, "data"),
        *(Node(f"project_{head}", column, 1, "learned", new=column > 0) for column, head in enumerate(_HEADS)),
        *(Node(f"attend_{head}", column, 2, new=column > 0) for column, head in enumerate(_HEADS)),
        Node("join", 1, 3, new=True),
        Node("mix", 1, 4, "learned", new=True),
        Node("output", 1, 5, "data"),
    ),
    arrows=(
        *(f"x project_{head}" for head in _HEADS),
        *(f"project_{head} attend_{head}" for head in _HEADS),
        *(f"attend_{head} join" for head in _HEADS),
        "join mix",
        "mix output",
    ),
)

DIAGRAMS["distances"] = Diagram(
    nodes=(
        Node("query", 0, 0, "data"),
        Node("key", 1, 0, "data"),
        Node("value", 2, 0, "data"),
        Node("turn_query", 0, 1, new=True),
        Node("turn_key", 1, 1, new=True),
        Node("scores", 0.5, 2),
        Node("key_table", 0.5, 3, "learned", new=True),
        Node("slope", 0.5, 4, new=True),
        Node("value_table", 2, 4, "learned", new=True),
        Node("softmax", 0.5, 5),
        Node("mean", 1.25, 6),
    ),
    arrows=(
        "query turn_query",
        "key turn_key",
        "turn_query scores",
        "turn_key scores",
        "scores key_table",
        "key_table slope",
        "slope softmax",
        "softmax mean",
        "value value_table",
        "value_table mean",
    ),
)
