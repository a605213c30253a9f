"""The drawing of chapter 16: an encoder of BERT's form, from text to one vector."""

from attention_by_hand.drawings import DIAGRAMS, Diagram, Node

DIAGRAMS["bert"] = Diagram(
    nodes=(
        Node("text", 1, 0, "data"),
        Node("pieces", 1, 1, new=True),
        Node("word", 0, 2, "learned"),
        Node("position", 1, 2, "learned"),
        Node("segment", 2, 2, "learned", new=True),
        Node("sum", 1, 3),
        Node("norm", 1, 4, "learned"),
        Node("attention", 1, 5, "learned"),
        Node("attention_norm", 1, 6, "learned"),
        Node("mlp", 1, 7, "learned"),
        Node("mlp_norm", 1, 8, "learned"),
        Node("hidden", 1, 9, "data"),
        Node("maps", 2, 5, "data"),
        Node("mean", 1, 10, new=True),
        Node("sentence", 1, 11, "data"),
    ),
    arrows=(
        "text pieces",
        "pieces word",
        "pieces position",
        "pieces segment",
        "word sum",
        "position sum",
        "segment sum",
        "sum norm",
        "norm attention",
        "attention maps",
        "attention attention_norm",
        "attention_norm mlp",
        "mlp mlp_norm",
        "mlp_norm hidden",
        "hidden mean",
        "mean sentence",
    ),
)
