"""The drawing of chapter 03: one step of a decoder that looks back at the encoder's states."""

from attention_by_hand.drawings import DIAGRAMS, Diagram, Node

DIAGRAMS["attention_decoder"] = Diagram(
    nodes=(
        Node("word", -1, 0, "data"),
        Node("state", 0, 0, "data"),
        Node("memory", 2, 0, "data", new=True),
        Node("score", 1, 1, "learned", new=True),
        Node("softmax", 1, 2, new=True),
        Node("context", 1.5, 3, new=True),
        Node("gru", 0, 4, "learned"),
        Node("again", -1, 5, "data"),
        Node("read_out", 0.5, 5, "learned"),
        Node("output", 0.5, 6, "data"),
    ),
    arrows=(
        "state score",
        "memory score",
        "score softmax",
        "softmax context",
        "memory context",
        "word gru",
        "state gru",
        "context gru",
        "gru read_out",
        "context read_out",
        "again read_out",
        "read_out output",
    ),
)
