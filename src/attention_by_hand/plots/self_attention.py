"""Figures of self-attention: who depends on whom, a softmax and a table that is none, the weights of 배."""

import numpy as np
from matplotlib.patches import Rectangle

from attention_by_hand import strings
from attention_by_hand.plots import fonts
from attention_by_hand.plots.common import COLORS, array, draw_weights, name_axes, picture, style


def dependence(panels, words):
    """Which output depends on which input: one panel a layer, a filled cell where the gradient is not 0.

    Args:
        panels: `{label: (T, T) norms of ∂y_i/∂x_j}`; labels are shown as they are.
        words: (T,) labels of inputs and outputs.
    """
    with style():
        size = {"columns": len(panels), "width": 5.0 * len(panels), "height": 4.4}
        figure, axes = picture(title="plots.dependence.title", **size)
        for ax, (label, norms) in zip(axes[0], panels.items(), strict=True):
            norms = array(norms)
            draw_weights(ax, norms > 0, words, words, digits=None, top=2.0)
            for (i, j), norm in np.ndenumerate(norms):
                ax.text(j, i, f"{norm:.2f}" if norm > 0 else "0", ha="center", va="center", fontsize=10)
            ax.set_title(label)
            name_axes(ax, "plots.dependence.x", "plots.dependence.y")
    return figure


def two_tables(right, wrong, words):
    """A softmax beside a table that claims to be one, with row sums, framed where a row breaks the scores' order.

    Args:
        right, wrong: (T, T) tables.
        words: (T,) labels.
    """
    right, wrong = array(right), array(wrong)
    with style():
        figure, axes = picture(columns=2, width=13.5, height=4.3, title="plots.two_tables.title")
        for ax, table, name in zip(axes[0], (right, wrong), ("right", "wrong"), strict=True):
            draw_weights(ax, table, words, words, top=max(right.max(), wrong.max()))
            for i, total in enumerate(table.sum(axis=1)):
                bad = abs(total - 1) > 0.0025  # three digits of six weights may be this far off
                look = {"color": COLORS[1] if bad else "black", "va": "center", "fontsize": 12}
                ax.text(len(words) - 0.35, i, f"Σ = {total:.3f}" + (" ≠ 1" if bad else ""), **look)
            for i, j in np.argwhere(_out_of_order(table, right)):
                ax.add_patch(Rectangle((j - 0.46, i - 0.45), 0.92, 0.9, fill=False, ec=COLORS[1], lw=3, zorder=3))
            ax.set_title(strings.text(f"plots.two_tables.{name}"))
    return figure


def _out_of_order(table, right):
    """Cells (T, T) that weigh more than another cell of their row although the right table ranks them lower."""
    lower = right[:, :, None] < right[:, None, :] - 1e-9  # (row, cell, other)
    return (lower & (table[:, :, None] > table[:, None, :])).any(axis=2)


def bae_map(weights, words, glosses, meanings, position):
    """Weights with which 배 reads its sentence, a row a sentence; the word that decides is framed.

    Args:
        weights: (N, T) weights of 배.
        words, glosses: (N, T) text of every word, empty for padding.
        meanings: (N,) what 배 means, shown beside the row.
        position: (N,) position of the word that decides.
    """
    weights, position = array(weights), np.asarray(position)
    hits = int((weights.argmax(axis=1) == position).sum())
    rows = [strings.text("plots.bae_map.row", number=i + 1, meaning=m) for i, m in enumerate(meanings)]
    with style():
        size = {"width": 2.0 + 1.35 * weights.shape[1], "height": 1.5 + 0.85 * len(rows)}
        figure, axes = picture(title="plots.bae_map.title", values={"hits": hits, "count": len(rows)}, **size)
        ax = axes[0, 0]
        draw_weights(ax, weights, rows, range(1, weights.shape[1] + 1), digits=None, top=1.0)
        for (i, j), weight in np.ndenumerate(weights):
            text = f"{fonts.label(words[i][j])}\n{glosses[i][j]}\n{weight:.2f}" if words[i][j] else "–"
            ink = "white" if weight > 0.6 else "black"
            ax.text(j, i, text, ha="center", va="center", color=ink, fontsize=10.5, linespacing=1.15)
        for i, j in enumerate(position):
            ax.add_patch(Rectangle((j - 0.47, i - 0.46), 0.94, 0.92, fill=False, ec=COLORS[1], lw=3, zorder=3))
        name_axes(ax, "plots.bae_map.x")
    return figure
