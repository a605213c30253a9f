"""The drawing of chapter 04: one step of the decoder over the cells of a picture."""

from attention_by_hand.drawings import DIAGRAMS, Diagram, Node

DIAGRAMS["captioner"] = Diagram(
    nodes=(
        Node("picture", -1, 0, "data", new=True),
        Node("extractor", 0, 0, "learned", new=True),
        Node("place", 1, 0, new=True),
        Node("cells", 2, 0, "learned", new=True),
        Node("word", -1, 1, "data"),
        Node("state", 0, 1, "data"),
        Node("score", 1, 1, "learned"),
        Node("softmax", 1, 2),
        Node("context", 1.5, 3),
        Node("gru", 0, 4, "learned"),
        Node("read_out", 0.5, 5, "learned"),
        Node("output", 0.5, 6, "data"),
    ),
    arrows=(
        "picture extractor",
        "extractor place",
        "place cells",
        "state score",
        "cells score",
        "cells context",
        "score softmax",
        "softmax context",
        "word gru",
        "state gru",
        "context gru",
        "gru read_out",
        "context read_out",
        "read_out output",
    ),
)
