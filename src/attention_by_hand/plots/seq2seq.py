"""Figures of chapter 01: what the decoder is fed, how the loss falls, and accuracy against length."""

import numpy as np

from attention_by_hand import strings
from attention_by_hand.plots import fonts
from attention_by_hand.plots.common import COLORS, LINES, MARKERS, array, name_axes, picture, style


def teacher_forcing(inputs, targets, padding="[PAD]"):
    """What the decoder is fed at each step, what it should say, and which steps count in the loss.

    Args:
        inputs, targets: T words each, the second one step ahead of the first.
        padding: the word that does not count.

    Returns:
        A `Picture`.
    """
    rows = [list(inputs), list(targets), ["0" if word == padding else "1" for word in targets]]
    with style():
        figure, axes = picture(title="plots.teacher_forcing.title", width=1.6 + 1.25 * len(targets), height=3.4)
        ax = axes[0, 0]
        for row, words in enumerate(rows):
            for t, word in enumerate(words):
                grey = word in (padding, "0")
                box = {"boxstyle": "round,pad=0.35", "fc": "#f0f0f0" if grey else "#eaf1f8", "ec": "#1f4e79"}
                box |= {"ls": ":" if grey else "-"}
                ink = "#777777" if grey else "black"
                ax.text(t, -row, fonts.label(word), ha="center", va="center", bbox=box, color=ink)
        for t, word in enumerate(targets[:-1]):
            if inputs[t + 1] == word != padding:
                arrow = {"arrowstyle": "-|>", "color": COLORS[1], "lw": 1.8}
                ax.annotate("", (t + 0.86, -0.26), (t + 0.14, -0.74), arrowprops=arrow)
        labels = [strings.text(f"plots.teacher_forcing.{row}") for row in ("fed", "said", "counts")]
        ax.set_yticks([0, -1, -2], labels)
        ax.set_xticks(range(len(targets)), [str(t + 1) for t in range(len(targets))])
        ax.set_xlim(-0.6, len(targets) - 0.4)
        ax.set_ylim(-2.5, 0.5)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        name_axes(ax, "plots.teacher_forcing.step")
    return figure


def falling_loss(updates, series):
    """Training loss against the number of updates, on a logarithmic axis.

    Args:
        updates: (N,) number of updates so far.
        series: `{label: (N,) losses}`.

    Returns:
        A `Picture`.
    """
    with style():
        figure, axes = picture(title="plots.falling_loss.title", width=7.6, height=4.2)
        _lines(axes[0, 0], updates, series)
        axes[0, 0].set_yscale("log")
        axes[0, 0].set_yticks([0.02, 0.05, 0.1, 0.2, 0.5, 1, 2], ["0.02", "0.05", "0.1", "0.2", "0.5", "1", "2"])
        axes[0, 0].minorticks_off()
        name_axes(axes[0, 0], "plots.falling_loss.updates", "plots.falling_loss.loss")
        axes[0, 0].legend(frameon=False)
    return figure


def by_things(counts, series, title="plots.by_things.title", values=None):
    """Share of sentences translated without a mistake, against the number of things in the sentence.

    Args:
        counts: (N,) numbers of things.
        series: `{label: (N,) shares}`.
        title: key of the title, which says the finding; `values` fills its `{names}`.

    Returns:
        A `Picture`.
    """
    with style():
        figure, axes = picture(title=title, values=values, width=7.6, height=4.4)
        ax = axes[0, 0]
        _lines(ax, counts, series)
        ax.set_xticks(list(counts), [str(k) for k in counts])
        ax.set_ylim(-0.03, 1.06)
        name_axes(ax, "plots.by_things.things", "plots.by_things.exact")
        ax.legend(frameon=False)
    return figure


def by_place(shares):
    """Share of correct words by place in the sentence, one line for each model.

    Args:
        shares: `{label: (N,) shares}`, the first, second, … thing of the sentence.

    Returns:
        A `Picture`.
    """
    with style():
        figure, axes = picture(title="plots.by_place.title", width=7.6, height=4.2)
        places = np.arange(1, 1 + len(next(iter(shares.values()))))
        _lines(axes[0, 0], places, shares)
        axes[0, 0].set_xticks(places, [str(place) for place in places])
        axes[0, 0].set_ylim(0, 1.05)
        name_axes(axes[0, 0], "plots.by_place.place", "plots.by_place.share")
        axes[0, 0].legend(frameon=False)
    return figure


def _lines(ax, x, series):
    """Lines that differ in colour, dash and marker."""
    for number, (label, y) in enumerate(series.items()):
        look = {"marker": MARKERS[number % len(MARKERS)], "linestyle": LINES[number % len(LINES)], "markersize": 6}
        ax.plot(x, array(y), color=COLORS[number % len(COLORS)], label=label, **look)
