"""The drawing of chapter 09: convolution, recurrence and self-attention on the same five words, side by side."""

from attention_by_hand.drawings import DIAGRAMS, Diagram, Node

_STEPS = range(1, 6)  # words x₁ … x₅
_GAP = 6  # columns from one panel to the next


def _row(panel, letter, row, kind):
    """One box for each word; labels are formulas."""
    first = {"cnn": 0, "rnn": _GAP, "attention": 2 * _GAP}[panel]
    return [Node(f"{panel}_{letter}{t}", first + t - 1, row, kind, label=f"${letter}_{t}$") for t in _STEPS]


def _window(lower, upper):
    """Arrows of a convolution with kernel width 3 from row `lower` to row `upper`."""
    return [f"cnn_{lower}{s} cnn_{upper}{t}" for t in _STEPS for s in _STEPS if abs(s - t) <= 1]


DIAGRAMS["three_ways"] = Diagram(
    nodes=(
        *_row("cnn", "x", 0, "data"),
        *_row("cnn", "h", 1, "learned"),
        *_row("cnn", "y", 2, "learned"),
        *_row("rnn", "x", 0, "data"),
        *_row("rnn", "y", 2, "learned"),
        *_row("attention", "x", 0, "data"),
        *_row("attention", "y", 2, "learned"),
    ),
    arrows=(
        *_window("x", "h"),
        *_window("h", "y"),
        *(f"rnn_x{t} rnn_y{t}" for t in _STEPS),
        *(f"rnn_y{t} rnn_y{t + 1}" for t in _STEPS if t < 5),
        *(f"attention_x{s} attention_y{t}" for s in _STEPS for t in _STEPS),
    ),
    path=(
        *("cnn_x1 cnn_h2", "cnn_h2 cnn_y3"),
        *("rnn_x1 rnn_y1", *(f"rnn_y{t} rnn_y{t + 1}" for t in _STEPS if t < 5)),
        "attention_x1 attention_y5",
    ),
    captions=(("cnn", 2, 3), ("rnn", 2 + _GAP, 3), ("attention", 2 + 2 * _GAP, 3)),
    column_inches=0.66,
)
