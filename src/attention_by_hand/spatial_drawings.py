"""The drawing of chapter 12: self-attention between the cells of a feature map, and the way around it."""

from attention_by_hand.drawings import DIAGRAMS, Diagram, Node

DIAGRAMS["spatial"] = Diagram(
    nodes=(
        Node("grid", 3, 0, "data"),
        Node("cells", 1, 1, new=True),
        Node("query", 0, 2, "learned"),
        Node("key", 1, 2, "learned"),
        Node("value", 2, 2, "learned"),
        Node("score", 0.5, 3),
        Node("softmax", 0.5, 4),
        Node("mean", 1.25, 5),
        Node("output_kernel", 1.25, 6, "learned", new=True),
        Node("sum", 3, 7, "learned", new=True),
        Node("output", 3, 8, "data"),
    ),
    arrows=(
        "grid cells",
        "cells query",
        "cells key",
        "cells value",
        "query score",
        "key score",
        "score softmax",
        "softmax mean",
        "value mean",
        "mean output_kernel",
        "output_kernel sum",
        "grid sum",
        "sum output",
    ),
)
