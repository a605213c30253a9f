"""Figures of chapter 11: what distance adds to the scores, accuracy beyond the training length, what was learned."""

import numpy as np
from matplotlib import colormaps

from attention_by_hand import strings
from attention_by_hand.plots.common import COLORS, LINES, MARKERS, array, name_axes, picture, style

GROUPS = (("none", "sinusoidal", "learned"), ("shaw", "rotary", "rotary_8", "alibi"))
FLOOR = -25.0  # a score so far below the best has no weight


def bias_maps(maps):
    """What positions alone add to the scores of a causal attention: a panel a mechanism, red negative, blue positive.

    Args:
        maps: `{name: (T, T)}`, rows are queries; titles are the strings `plots.relative.map_<name>`. Keys after
            the query are not drawn. Each panel has its own scale.

    Returns:
        A `Picture`.
    """
    with style():
        figure, axes = picture(1, len(maps), title="plots.relative.maps", width=3.3 * len(maps), height=3.9)
        for ax, (name, table) in zip(axes[0], maps.items(), strict=True):
            table = array(table)
            past = np.tril(np.ones(table.shape, bool))
            top = np.abs(table[past]).max()
            colours = _signed_colours()
            image = ax.imshow(np.where(past, table, np.nan), cmap=colours, vmin=-top, vmax=top, interpolation="nearest")
            figure.colorbar(image, ax=ax, orientation="horizontal", ticks=(-top, 0, top), format="%.2g", pad=0.03)
            ax.set_title(strings.text(f"plots.relative.map_{name}"), fontsize=12)
            name_axes(ax, "plots.relative.key")
        name_axes(axes[0, 0], ylabel="plots.relative.query")
    return figure


def _signed_colours():
    """A diverging colour map whose missing cells are grey."""
    return colormaps["RdBu"].with_extremes(bad="#e4e4e4")


def beyond(accuracy, trained, chance, smooth=8):
    """Accuracy by step, absolute positions on the left, distances on the right; training ends at the dotted line.

    Args:
        accuracy: `{name: (T,)}` for names of `GROUPS`; a step without any question is NaN.
        trained: number of steps seen in training.
        chance: accuracy of a guess, drawn as a dotted line.
        smooth: each point is the mean over this many steps.

    Returns:
        A `Picture`.
    """
    with style():
        figure, axes = picture(1, 2, title="plots.relative.beyond", width=11.0, height=4.6, sharey=True)
        for ax, names in zip(axes[0], GROUPS, strict=True):
            for number, name in enumerate(name for name in names if name in accuracy):
                blocks = array(accuracy[name])
                blocks = np.nanmean(blocks[: len(blocks) // smooth * smooth].reshape(-1, smooth), axis=1)
                x = smooth * np.arange(len(blocks)) + (smooth - 1) / 2
                look = {"marker": MARKERS[number], "linestyle": LINES[number], "color": COLORS[number]}
                look |= {"markersize": 13 - 2 * number, "markeredgecolor": "white"}  # curves on each other stay visible
                ax.plot(x, blocks, label=strings.text(f"plots.relative.name_{name}"), **look)
            ax.axvline(trained - 0.5, color="black", lw=1.6, ls=":")
            ax.text(trained + 1, 1.06, strings.text("plots.relative.trained", steps=trained), va="center", fontsize=11)
            ax.axhline(chance, color="#8c8c8c", lw=1.2)
            ax.text(0, chance - 0.05, strings.text("plots.relative.chance"), color="#5c5c5c", va="center", fontsize=10)
            ax.set_ylim(-0.03, 1.12)
            ax.legend(frameon=False, loc="center right", bbox_to_anchor=(1.0, 0.47), fontsize=11)
            name_axes(ax, "plots.relative.step")
        name_axes(axes[0, 0], ylabel="plots.relative.accuracy")
    return figure


def learned_distances(scores, trained):
    """The score that a station gets from a sight, by distance, up to a constant: a panel a contestant, a line a head.

    Args:
        scores: `{name: (H, S)}`, distances 1 … S; titles are the strings `plots.relative.name_<name>`.
        trained: the largest distance that training has shown.

    Returns:
        A `Picture`.
    """
    columns = (len(scores) + 1) // 2
    with style():
        size = {"width": 3.7 * columns, "height": 5.6, "sharex": True, "sharey": True}
        figure, axes = picture(2, columns, title="plots.relative.distances", **size)
        for ax, (name, heads) in zip(axes.flat, scores.items(), strict=False):
            for number, line in enumerate(array(heads)):
                look = {"linestyle": LINES[number % len(LINES)], "color": COLORS[number], "linewidth": 1.6}
                line = np.maximum(line - line.max(), FLOOR)
                ax.plot(np.arange(1, len(line) + 1), line, marker=MARKERS[number], markevery=(8 * number, 32), **look)
            ax.axvspan(0, trained, color="#dfe8f1", zorder=0)
            ax.set_title(strings.text(f"plots.relative.name_{name}"), fontsize=12)
            ax.set_ylim(FLOOR - 1, 1)
        for ax in axes[-1]:
            name_axes(ax, "plots.relative.distance")
        for ax in axes[:, 0]:
            name_axes(ax, ylabel="plots.relative.score")
    return figure
