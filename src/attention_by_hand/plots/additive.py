"""Figures of chapter 02: kernel regression, and the weights of keyed recall with the gold cells framed."""

import numpy as np
from matplotlib.patches import Rectangle

from attention_by_hand import strings
from attention_by_hand.plots.common import COLORS, array, draw_weights, name_axes, picture, style


def kernel_regression(x, y, grid, estimate, query, weights):
    """The oldest attention: noisy points, their plain mean, the weighted mean, and the weights of one query.

    Args:
        x, y: (N,) keys and values, the points.
        grid, estimate: (M,) queries and the outputs for them, drawn as a curve.
        query: one query, whose weights set the size of the points.
        weights: (N,) weights of that query, summing to 1.
    """
    x, y, grid, estimate, weights = (array(a) for a in (x, y, grid, estimate, weights))
    with style():
        figure, axes = picture(title="plots.kernel.title", width=8.0, height=4.4)
        ax = axes[0, 0]
        ax.axhline(y.mean(), color=COLORS[5], linestyle="--", label=strings.text("plots.kernel.mean"))
        ax.plot(grid, estimate, color=COLORS[0], linewidth=3, label=strings.text("plots.kernel.estimate"))
        ax.axvline(query, color=COLORS[1], linestyle=":", label=strings.text("plots.kernel.query"))
        size = 12 + 420 * weights / weights.max()
        label = strings.text("plots.kernel.points")
        ax.scatter(x, y, s=size, facecolor="#f3c9a5", edgecolor=COLORS[1], linewidth=1.2, zorder=3, label=label)
        ax.margins(y=0.15)  # big points at the rim must not be cut
        output = np.interp(query, grid, estimate)
        ax.plot([query], [output], marker="D", markersize=10, color=COLORS[0], zorder=4)
        legend = figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=11)
        for handle in legend.legend_handles:
            if hasattr(handle, "set_sizes"):
                handle.set_sizes([60])
        name_axes(ax, "plots.kernel.x", "plots.kernel.y")
    return figure


def recall_map(weights, keys, queries, position):
    """Attention weights of several examples, one a row; the key that matches the query is framed.

    Args:
        weights: (N, n), a row for each example.
        keys: (N, n) ids, written above each weight; 0 is padding, drawn as a dash.
        queries: (N,) ids.
        position: (N,) position of the matching key.
    """
    weights = array(weights)
    keys, queries, position = (np.asarray(a) for a in (keys, queries, position))
    hits = int((weights.argmax(axis=1) == position).sum())
    rows = [strings.text("plots.recall.row", query=int(query)) for query in queries]
    columns = range(1, weights.shape[1] + 1)
    with style():
        size = {"width": 2.6 + 0.85 * weights.shape[1], "height": 1.7 + 0.62 * len(rows)}
        values = {"hits": hits, "count": len(rows)}
        figure, axes = picture(title="plots.recall.title", values=values, **size)
        ax = axes[0, 0]
        draw_weights(ax, weights, rows, columns, digits=None, top=1.0)
        for (i, j), weight in np.ndenumerate(weights):
            ink = "white" if weight > 0.6 else "black"
            text = f"{keys[i, j]}\n{weight:.2f}" if keys[i, j] else "–"
            ax.text(j, i, text, ha="center", va="center", color=ink, fontsize=11, linespacing=1.1)
        for i, j in enumerate(position):
            ax.add_patch(Rectangle((j - 0.46, i - 0.45), 0.92, 0.9, fill=False, ec=COLORS[1], lw=3, zorder=3))
        name_axes(ax, "plots.recall.xlabel")
    return figure
