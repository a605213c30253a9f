"""The drawing of chapter 14: a transformer that translates, its three attentions and their masks."""

from attention_by_hand.drawings import DIAGRAMS, Diagram, Node

DIAGRAMS["transformer_translator"] = Diagram(
    nodes=(
        Node("source", 0, 0, "data"),
        Node("reading", 0, 1, "learned"),
        Node("source_mlp", 0, 2, "learned"),
        Node("memory", 0, 3, "data"),
        Node("target", 1.4, 0, "data"),
        Node("writing", 1.4, 1, "learned"),
        Node("cross", 1.4, 3, "learned", new=True),
        Node("target_mlp", 1.4, 4, "learned"),
        Node("words", 1.4, 5, "data"),
        Node("source_mask", -1.1, 1, "data"),
        Node("past", 2.5, 1, "data"),
        Node("memory_mask", 2.5, 3, "data", new=True),
    ),
    arrows=(
        "source reading",
        "reading source_mlp",
        "source_mlp memory",
        "target writing",
        "writing cross",
        "memory cross",
        "cross target_mlp",
        "target_mlp words",
        "source_mask reading",
        "past writing",
        "memory_mask cross",
    ),
    captions=(("twice_source", -1.1, 2.25), ("twice_target", 2.5, 4.25)),
)
