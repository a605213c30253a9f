"""Figures of the dot product: what width does to weights, gradients and accuracy."""

import numpy as np

from attention_by_hand import strings
from attention_by_hand.plots.common import COLORS, array, draw_curves, draw_weights, name_axes, picture, style


def weights_against_width(weights):
    """Bars of the weights of one query, largest first, averaged over queries: a row a label, a column a width.

    Args:
        weights: `{label: {D: (…, Tv) weights}}`; labels are shown as they are.

    Returns:
        A `Picture`.
    """
    widths = list(next(iter(weights.values())))
    with style():
        size = {"rows": len(weights), "columns": len(widths), "width": 9.0, "height": 2.1 * len(weights) + 0.9}
        figure, axes = picture(title="plots.dot_product.weights.title", sharey=True, sharex=True, **size)
        for row, (label, by_width) in enumerate(weights.items()):
            for column, (width, a) in enumerate(by_width.items()):
                a = -np.sort(-array(a), axis=-1)
                heights = a.reshape(-1, a.shape[-1]).mean(axis=0)  # (Tv,)
                ax = axes[row, column]
                drawn = ax.bar(np.arange(1, len(heights) + 1), heights, color=COLORS[row], hatch="//" if row else None)
                ax.bar_label(drawn, [f"{heights[0]:.2f}", *[""] * (len(heights) - 1)], padding=2)
                ax.set_ylim(0, 1.15)
                ax.set_xticks([1, (len(heights) + 1) // 2, len(heights)])
                ax.set_title(f"{label},  D = {width}")
            name_axes(axes[row, 0], ylabel="plots.dot_product.weights.y")
        figure.supxlabel(strings.text("plots.dot_product.weights.x"))
    return figure


def saturation(widths, entropies, gradients, even):
    """Entropy of the weights, and norm of the gradient that reaches the scores, against the width.

    Args:
        widths: (N,) values of D.
        entropies, gradients: `{label: (N,) values}`.
        even: entropy of even weights, drawn as a dotted line.

    Returns:
        A `Picture`.
    """
    with style():
        figure, axes = picture(columns=2, width=9.5, height=3.8, title="plots.dot_product.saturation.title")
        for ax, series, name in zip(axes[0], (entropies, gradients), ("entropy", "gradient"), strict=True):
            draw_curves(ax, widths, series, log="x")
            name_axes(ax, "plots.dot_product.width", f"plots.dot_product.saturation.{name}")
            ax.set_ylim(bottom=0)
        axes[0, 0].axhline(even, color="#5c5c5c", lw=1.2, ls=":")
        axes[0, 0].text(
            widths[0], even, strings.text("plots.dot_product.saturation.even"), va="bottom", color="#5c5c5c"
        )
        axes[0, 0].set_ylim(top=1.15 * even)
    return figure


def accuracy_against_width(widths, accuracies, control):
    """Accuracy of keyed recall against the width, one curve an attention layer.

    Args:
        widths: (N,) values of D.
        accuracies: `{label: (N,) accuracies}`; labels are shown as they are.
        control: accuracy of the uniform mean, drawn as a dotted line.

    Returns:
        A `Picture`.
    """
    with style():
        figure, axes = picture(width=7.5, height=4.0, title="plots.dot_product.accuracy.title")
        ax = axes[0, 0]
        draw_curves(ax, widths, accuracies, log="x")
        ax.axhline(control, color="#5c5c5c", lw=1.2, ls=":")
        ax.text(widths[0], control + 0.02, strings.text("plots.dot_product.accuracy.control"), color="#5c5c5c")
        ax.set_ylim(0, 1.08)
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
        name_axes(ax, "plots.dot_product.width", "plots.dot_product.accuracy.y")
    return figure


def flattened(first, second, rows, columns):
    """A table of weights beside what a second softmax makes of it, shaded on one scale.

    Args:
        first, second: (Tq, Tv) weights.
        rows, columns: labels of the queries and of the keys.

    Returns:
        A `Picture`.
    """
    with style():
        figure, axes = picture(columns=2, width=9.5, height=2.9, title="plots.dot_product.flattened.title", sharey=True)
        for ax, weights, name in zip(axes[0], (first, second), ("first", "second"), strict=True):
            draw_weights(ax, weights, rows, columns, top=float(array(first).max()))
            ax.set_title(strings.text(f"plots.dot_product.flattened.{name}"))
    return figure
