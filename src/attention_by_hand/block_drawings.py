"""The drawing of chapter 13: one transformer block, pre-norm and post-norm."""

from attention_by_hand.drawings import DIAGRAMS, Diagram, Node

DIAGRAMS["block"] = Diagram(
    nodes=(
        Node("pre_x", 0, 0, "data"),
        Node("pre_norm_1", 1, 1, "learned", new=True),
        Node("pre_attention", 1, 2, "learned"),
        Node("pre_sum_1", 0, 3, new=True),
        Node("pre_norm_2", 1, 4.5, "learned", new=True),
        Node("pre_mlp", 1, 5.5, "learned", new=True),
        Node("pre_sum_2", 0, 6.5, new=True),
        Node("post_x", 2.4, 0, "data"),
        Node("post_attention", 3.4, 1, "learned"),
        Node("post_sum_1", 2.4, 2, new=True),
        Node("post_norm_1", 2.4, 3, "learned", new=True),
        Node("post_mlp", 3.4, 4.5, "learned", new=True),
        Node("post_sum_2", 2.4, 5.5, new=True),
        Node("post_norm_2", 2.4, 6.5, "learned", new=True),
    ),
    arrows=(
        "pre_x pre_norm_1",
        "pre_norm_1 pre_attention",
        "pre_attention pre_sum_1",
        "pre_x pre_sum_1",
        "pre_sum_1 pre_norm_2",
        "pre_norm_2 pre_mlp",
        "pre_mlp pre_sum_2",
        "pre_sum_1 pre_sum_2",
        "post_x post_attention",
        "post_attention post_sum_1",
        "post_x post_sum_1",
        "post_sum_1 post_norm_1",
        "post_norm_1 post_mlp",
        "post_mlp post_sum_2",
        "post_norm_1 post_sum_2",
        "post_sum_2 post_norm_2",
    ),
    captions=(("pre", 0.5, 7.5), ("post", 2.9, 7.5)),
)
