"""The drawings of chapter 01: an encoder and a decoder, unrolled, with the one vector between them."""

from attention_by_hand.drawings import DIAGRAMS, Diagram, Node

_BREAD = ("we", "are", "eating", "bread")
_PAN = ("[START]", "estamos", "comiendo", "pan", "[END]")
_MIDDLE, _FIRST = 4.15, 5.3  # columns of the bottleneck and of the decoder's first step
_SAID = [_FIRST + t for t in range(4)]


def _unrolled(context):
    """Both networks over their words; with `context`, the vector reaches every step of the decoder."""
    chain = [f"h{t} h{t + 1}" for t in range(1, 4)]
    reached = range(1, 5) if context else (1,)
    return Diagram(
        nodes=(
            *(Node(f"x{t}", t - 1, 0, "data", label=word) for t, word in enumerate(_BREAD, 1)),
            *(Node(f"h{t}", t - 1, 1, "learned", label=f"$h_{t}$") for t in range(1, 5)),
            Node("c", _MIDDLE, 1, "data", label="$c = h_4$"),
            *(
                Node(f"in{t}", at, 0, "data", label=word)
                for t, (at, word) in enumerate(zip(_SAID, _PAN[:-1], strict=True), 1)
            ),
            *(Node(f"s{t}", at, 2.4, "learned", label=f"$s_{t}$") for t, at in enumerate(_SAID, 1)),
            *(
                Node(f"out{t}", at, 3.4, "data", label=word)
                for t, (at, word) in enumerate(zip(_SAID, _PAN[1:], strict=True), 1)
            ),
        ),
        arrows=(
            *(f"x{t} h{t}" for t in range(1, 5)),
            *chain,
            "h4 c",
            *(f"c s{t}" for t in reached),
            *(f"in{t} s{t}" for t in range(1, 5)),
            *(f"s{t} s{t + 1}" for t in range(1, 4)),
            *(f"s{t} out{t}" for t in range(1, 5)),
        ),
        path=("x1 h1", *chain, "h4 c", *(f"c s{t}" for t in reached)),
        captions=(("encoder", 1.5, 2), ("bottleneck", _MIDDLE, 0.45), ("decoder", _FIRST + 1.5, 4.4)),
        column_inches=1.0,
    )


DIAGRAMS["seq2seq_state"] = _unrolled(context=False)
DIAGRAMS["seq2seq_context"] = _unrolled(context=True)
