"""The drawing of chapter 16: an encoder of BERT's form, from pieces of text to one vector."""

from attention_by_hand.drawings import DIAGRAMS, Diagram, Node

DIAGRAMS["bert"] = Diagram(
    nodes=(
        Node("pieces", 1, 0, "data"),
        Node("word", 0, 1, "learned"),
        Node("position", 1, 1, "learned"),
        Node("segment", 2, 1, "learned", new=True),
        Node("sum", 1, 2, "learned"),
        Node("attention", 1, 3, "learned"),
        Node("maps", 2, 3, "data"),
        Node("attention_norm", 1, 4, "learned"),
        Node("mlp", 1, 5, "learned"),
        Node("mlp_norm", 1, 6, "learned"),
        Node("mean", 1, 7, new=True),
        Node("sentence", 1, 8, "data"),
    ),
    arrows=(
        "pieces word",
        "pieces position",
        "pieces segment",
        "word sum",
        "position sum",
        "segment sum",
        "sum attention",
        "attention maps",
        "attention attention_norm",
        "attention_norm mlp",
        "mlp mlp_norm",
        "mlp_norm mean",
        "mean sentence",
    ),
    captions=(("block", 0, 4.75),),
)
