"""Figures of chapter 07: masks as grids, what leaking masks do to a score, and who really reaches whom."""

import numpy as np

from attention_by_hand import strings
from attention_by_hand.plots.common import COLORS, array, fonts, name_axes, picture, style

SEEN, HIDDEN = "#1f4e79", "#ffffff"
HATCHES = ("", "////", "....")


def mask_grids(grids):
    """Boolean masks side by side: a filled cell with a dot may be attended, an empty one with a cross may not.

    Args:
        grids: `{name: (Tq, Tv) boolean}`; the title of a panel is the string `plots.masks.<name>`.

    Returns:
        A `Picture`.
    """
    with style():
        figure, axes = picture(columns=len(grids), width=2.45 * len(grids), height=3.3, title="plots.masks.title")
        for ax, (name, grid) in zip(axes[0], grids.items(), strict=True):
            grid = np.asarray(array(grid), bool)
            ax.imshow(np.where(grid, 1.0, 0.0), cmap="Blues", vmin=0, vmax=1.3, aspect="equal")
            for (i, j), seen in np.ndenumerate(grid):
                ax.text(j, i, "●" if seen else "×", ha="center", va="center", color=HIDDEN if seen else "#5c5c5c")
            ax.set_xticks(range(grid.shape[1]), [str(j) for j in range(grid.shape[1])])
            ax.set_yticks(range(grid.shape[0]), [str(i) for i in range(grid.shape[0])])
            ax.spines[:].set_visible(True)
            ax.tick_params(length=0)
            ax.set_title(strings.text(f"plots.masks.{name}"), fontsize=12)
        name_axes(axes[0, 0], "plots.masks.key", "plots.masks.query")
    return figure


def leak_scores(names, whole, whole_unknowable, steps, guess):
    """Accuracy of each copy: with the whole log in view, on what nobody can know, and answering step by step.

    Args:
        names: N labels of copies, shown as they are, the first on top.
        whole, whole_unknowable, steps: (N,) accuracies, in the order of the legend.
        guess: accuracy of a blind guess, drawn as a dotted line.

    Returns:
        A `Picture`.
    """
    with style():
        figure, axes = picture(width=9.0, height=1.5 + 0.62 * len(names), title="plots.exposed.title")
        ax, place = axes[0, 0], np.arange(len(names))
        for number, (key, heights) in enumerate((("whole", whole), ("unknowable", whole_unknowable), ("steps", steps))):
            look = {"color": COLORS[number], "hatch": HATCHES[number], "edgecolor": "white", "height": 0.26}
            label = strings.text(f"plots.exposed.{key}")
            drawn = ax.barh(place + 0.27 * (number - 1), array(heights), label=label, **look)
            ax.bar_label(drawn, fmt="%.2f", padding=3, fontsize=10, bbox={"fc": "white", "ec": "none", "pad": 0.6})
        ax.axvline(guess, color="#5c5c5c", lw=1.4, ls=":", label=strings.text("plots.exposed.guess"))
        ax.set_yticks(place, [fonts.label(name) for name in names])
        ax.invert_yaxis()
        ax.set_xlim(0, 1.1)
        figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=11)
        name_axes(ax, "plots.exposed.x")
    return figure


def reach_maps(maps, length):
    """Who reaches whom, measured: a cell is dark where changing token j changed the output of step i.

    Args:
        maps: `{label: (T, T) boolean}`, outputs × tokens; labels are shown as they are.
        length: number of real steps; a frame of dashes ends there.

    Returns:
        A `Picture`.
    """
    columns = min(3, len(maps))
    rows = -(-len(maps) // columns)
    with style():
        size = {"width": 2.9 * columns, "height": 2.9 * rows + 0.7}
        figure, axes = picture(rows, columns, title="plots.reach.title", sharex=True, sharey=True, **size)
        for ax, (label, grid) in zip(axes.flat, maps.items(), strict=False):
            grid = np.asarray(array(grid), float)
            steps = len(grid)
            ax.imshow(grid, cmap="Blues", vmin=0, vmax=1.2, interpolation="nearest")
            ax.plot([-0.5, steps - 0.5], [-0.5, steps - 0.5], color=COLORS[1], lw=1.4)
            if length < steps:
                ax.axvline(length - 0.5, color="#5c5c5c", lw=1.2, ls="--")
            ax.set_title(fonts.label(label), fontsize=12)
            ax.set_xticks([0, steps // 2, steps - 1])
            ax.set_yticks([0, steps // 2, steps - 1])
        for ax in axes.flat[len(maps) :]:
            ax.set_axis_off()
        for ax in axes[:, 0]:
            name_axes(ax, ylabel="plots.reach.output")
        for ax in axes[-1]:
            name_axes(ax, "plots.reach.token")
    return figure
