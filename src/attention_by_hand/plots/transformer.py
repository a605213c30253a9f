"""Figures of chapter 13: distance from rank one, gradients by depth, and the start of training."""

import numpy as np

from attention_by_hand import strings
from attention_by_hand.plots.common import COLORS, LINES, MARKERS, array, name_axes, picture, style

FLOOR = 1e-8  # relative rounding of float32; what lies below is drawn here


def rank_distance(distances):
    """Distance from rank one by depth, a line a stack, on a logarithmic axis.

    Args:
        distances: `{name: (L + 1,)}` for names `"skip+mlp"`, `"skip"`, `"mlp"`, `"neither"`; values from 0 to 1.

    Returns:
        A `Picture`.
    """
    with style():
        figure, axes = picture(title="plots.transformer.rank", width=8.0, height=4.4)
        ax = axes[0, 0]
        for number, (name, values) in enumerate(distances.items()):
            look = {"marker": MARKERS[number], "linestyle": LINES[number], "color": COLORS[number]}
            look |= {"markersize": 11 - 2 * number, "label": strings.text(f"plots.transformer.rank_{name}")}
            ax.plot(np.maximum(array(values), FLOOR), **look)
        ax.set_yscale("log")
        ax.axhspan(FLOOR / 3, 1.2e-7, color="#e4e4e4", zorder=0)
        ax.text(len(values) - 1, 1.6e-7, strings.text("plots.transformer.rounding"), ha="right", fontsize=11)
        ax.set_ylim(FLOOR / 3, 3)
        ax.legend(frameon=False, loc="center right", bbox_to_anchor=(1.0, 0.6), fontsize=11)
        name_axes(ax, "plots.transformer.blocks", "plots.transformer.distance")
    return figure


def gradient_by_depth(norms):
    """Norm of the gradient of each block's last kernel at the start, post-norm left, pre-norm right, a line a depth.

    Args:
        norms: `{"post": {L: (L,)}, "pre": {L: (L,)}}`.

    Returns:
        A `Picture`.
    """
    with style():
        figure, axes = picture(1, 2, title="plots.transformer.gradient", width=10.0, height=4.2, sharey=True)
        for ax, name in zip(axes[0], ("post", "pre"), strict=True):
            for number, (depth, values) in enumerate(norms[name].items()):
                look = {"marker": MARKERS[number], "linestyle": LINES[number], "color": COLORS[number]}
                label = strings.text("plots.transformer.depth", depth=depth)
                ax.plot(np.arange(1, len(values) + 1), array(values), label=label, **look)
            ax.set_title(strings.text(f"plots.transformer.{name}"))
            name_axes(ax, "plots.transformer.block")
        top = max(np.max(array(values)) for depths in norms.values() for values in depths.values())
        axes[0, 0].set_ylim(0, 1.1 * top)  # both: the axis is shared
        axes[0, 1].legend(frameon=False, loc="lower left")
        name_axes(axes[0, 0], ylabel="plots.transformer.norm")
    return figure


def warm_up(losses, steps, guess):
    """Loss of training by step, a line a recipe; the dotted line is the loss of whoever knows nothing.

    Args:
        losses: `{(order, warmed): (N,)}` with order `"pre"` or `"post"`, warmed True or False.
        steps: number of steps from one value to the next.
        guess: loss of the best constant answer.

    Returns:
        A `Picture`.
    """
    with style():
        figure, axes = picture(title="plots.transformer.warm_up", width=8.0, height=4.4)
        ax = axes[0, 0]
        for number, ((order, warmed), values) in enumerate(losses.items()):
            look = {"marker": MARKERS[number], "linestyle": LINES[number], "color": COLORS[number]}
            label = strings.text(f"plots.transformer.{'with' if warmed else 'without'}", order=_order(order))
            ax.plot(steps * np.arange(1, len(values) + 1), array(values), label=label, **look)
        ax.axhline(guess, color="#5c5c5c", lw=1.2, ls=":")
        end = steps * len(values)
        ax.text(end, guess + 0.03, strings.text("plots.transformer.guess"), ha="right", color="#5c5c5c", fontsize=10)
        ax.set_ylim(0, 1.1 * max(guess, *(np.max(array(values)) for values in losses.values())))
        ax.legend(frameon=False, fontsize=11)
        name_axes(ax, "plots.transformer.step", "plots.transformer.loss")
    return figure


def _order(order):
    return strings.text(f"plots.transformer.{order}")
