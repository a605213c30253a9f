"""Figures of chapter 09: who reaches whom, what it costs, how gradients fade, and recall against distance."""

import numpy as np

from attention_by_hand import strings
from attention_by_hand.plots.common import COLORS, LINES, MARKERS, array, draw_curves, name_axes, picture, style

_LEVEL = {"color": "#222222", "lw": 1.2, "zorder": 0}


def reach_grid(maps):
    """Who reaches whom by gradient: a dark cell with a dot where it is not zero, an empty cell where it is.

    Args:
        maps: `{label: (T, T) norms of gradients}`, outputs × inputs; labels are shown as they are.

    Returns:
        A `Picture`.
    """
    with style():
        size = {"width": 2.6 * len(maps), "height": 3.5}
        figure, axes = picture(1, len(maps), title="plots.reach_grid.title", sharey=True, **size)
        for ax, (label, norms) in zip(axes[0], maps.items(), strict=True):
            seen = array(norms) > 0
            ax.imshow(seen.astype(float), cmap="Blues", vmin=0, vmax=1.2)
            for t, i in np.argwhere(seen):
                ax.text(i, t, "●", ha="center", va="center", color="white", fontsize=9)
            ax.set_title(label, fontsize=12)
            steps = range(len(seen))
            ax.set_xticks(steps, [str(s + 1) for s in steps])
            ax.set_yticks(steps, [str(s + 1) for s in steps])
            ax.tick_params(length=0)
            ax.spines[:].set_visible(True)
            name_axes(ax, "plots.reach_grid.input")
        name_axes(axes[0, 0], ylabel="plots.reach_grid.output")
    return figure


def costs(lengths, counts, timed_lengths, seconds, widths):
    """What the three cost against the length: multiply-adds counted on the left, time measured on the right.

    Args:
        lengths: (N,) lengths of the counts.
        counts: `{label: (N,) multiply-adds}`.
        timed_lengths: (M,) lengths of the times.
        seconds: `{label: (M,) seconds}`, the same labels; a shorter list ends at a smaller length.
        widths: `(width of the counts, width of the times)`.

    Returns:
        A `Picture`.
    """
    with style():
        figure, axes = picture(1, 2, title="plots.costs.title", width=10.0, height=4.6)
        left, right = axes[0]
        draw_curves(left, lengths, counts, "xy")
        rest = {name: len(timed_lengths) - len(times) for name, times in seconds.items()}
        padded = {name: np.pad(1000 * array(y), (0, rest[name]), constant_values=np.nan) for name, y in seconds.items()}
        draw_curves(right, timed_lengths, padded, "xy")
        for ax, kind, width in zip(axes[0], ("counted", "timed"), widths, strict=True):
            ax.set_title(strings.text(f"plots.costs.{kind}", width=width), fontsize=12)
            ax.get_legend().remove()
        left.set_xticks(lengths[::2], [str(n) for n in lengths[::2]])
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
        name_axes(left, "plots.costs.length", "plots.costs.multiply_adds")
        name_axes(right, "plots.costs.length", "plots.costs.seconds")
    return figure


def fading_gradient(distances, untrained, trained):
    """Norm of a gradient against the distance it has come, before and after training, on a logarithmic axis.

    Args:
        distances: (N,) steps.
        untrained, trained: `{label: (N,) norms}`; zeros are left out, a logarithm cannot show them.

    Returns:
        A `Picture`.
    """
    with style():
        figure, axes = picture(1, 2, title="plots.fading_gradient.title", width=10.0, height=4.8, sharey=True)
        for ax, kind, series in zip(axes[0], ("untrained", "trained"), (untrained, trained), strict=True):
            _by_distance(ax, distances, {name: np.where(array(y) > 0, array(y), np.nan) for name, y in series.items()})
            ax.set_yscale("log")
            ax.set_title(strings.text(f"plots.fading_gradient.{kind}"), fontsize=12)
            name_axes(ax, "plots.fading_gradient.distance")
        name_axes(axes[0, 0], ylabel="plots.fading_gradient.norm")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    return figure


def by_distance(distances, one, two, guess, half):
    """Accuracy against the distance between note and question, with one note and with two.

    Args:
        distances: (N,) steps, the middle of each group.
        one, two: `{label: (N,) accuracies}`, the same labels.
        guess: accuracy of a blind guess, drawn as a dotted line.
        half: accuracy of who knows both notes and picks one, drawn as a line of dashes in the second panel.

    Returns:
        A `Picture`.
    """
    with style():
        figure, axes = picture(1, 2, title="plots.by_distance.title", width=10.0, height=5.0, sharey=True)
        for ax, kind, series in zip(axes[0], ("one", "two"), (one, two), strict=True):
            _by_distance(ax, distances, series)
            ax.set_title(strings.text(f"plots.by_distance.{kind}"), fontsize=12)
            ax.axhline(guess, label=strings.text("plots.by_distance.guess"), ls=":", **_LEVEL)
            ax.set_ylim(-0.02, 1.06)
            name_axes(ax, "plots.by_distance.distance")
        axes[0, 1].axhline(half, label=strings.text("plots.by_distance.half"), ls="--", **_LEVEL)
        name_axes(axes[0, 0], ylabel="plots.by_distance.accuracy")
        figure.legend(*axes[0, 1].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    return figure


def _by_distance(ax, distances, series):
    for number, (label, y) in enumerate(series.items()):
        look = {"marker": MARKERS[number % len(MARKERS)], "linestyle": LINES[number % len(LINES)], "markersize": 6}
        ax.plot(distances, array(y), color=COLORS[number % len(COLORS)], label=label, **look)
