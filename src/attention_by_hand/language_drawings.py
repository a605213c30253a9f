"""The drawing of chapter 15: a decoder-only model, from a token to the next one."""

from attention_by_hand.drawings import DIAGRAMS, Diagram, Node

DIAGRAMS["language_model"] = Diagram(
    nodes=(
        Node("tokens", 0, 0, "data"),
        Node("embed", 0, 1, "learned"),
        Node("attention", 0, 2, "learned"),
        Node("mlp", 0, 3, "learned"),
        Node("read_out", 0, 4, "learned", new=True),
        Node("cache", 1, 2, "data"),
        Node("cut", 1, 4, new=True),
        Node("draw", 2, 4, new=True),
        Node("next", 2, 0, "data"),
    ),
    arrows=(
        "tokens embed",
        "embed attention",
        "cache attention",
        "attention mlp",
        "mlp read_out",
        "read_out cut",
        "cut draw",
        "draw next",
        "next tokens",
    ),
)
