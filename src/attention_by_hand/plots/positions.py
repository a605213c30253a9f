"""Figures of chapter 10: word order that attention cannot see, sinusoids, shifts, and weights of who bites whom."""

import numpy as np
from matplotlib.patches import Rectangle

from attention_by_hand import strings
from attention_by_hand.plots import fonts
from attention_by_hand.plots.common import COLORS, LINES, MARKERS, array, draw_weights, name_axes, picture, style


def two_orders(weights, words):
    """Attention weights of two sentences that hold the same words in another order.

    Args:
        weights: two arrays (T, T), rows are queries.
        words: two lists of T labels; Korean ones are romanised where there is no Korean font.
    """
    with style():
        size = {"width": 2.2 + 1.5 * len(words[0]), "height": 3.6}
        figure, axes = picture(1, 2, title="plots.positions.orders", **size)
        top = max(float(array(w).max()) for w in weights)
        for ax, table, labels in zip(axes[0], weights, words, strict=True):
            draw_weights(ax, table, labels, labels, top=top)
            name_axes(ax, "plots.positions.key", "plots.positions.query")
    return figure


def waves(table, columns):
    """Some columns of a table of positions, each a wave over the positions.

    Args:
        table: (T, D).
        columns: indices of the columns to draw; even ones are sines, odd ones cosines.
    """
    table = array(table)
    with style():
        figure, axes = picture(title="plots.positions.waves", width=8.5, height=4.0)
        ax = axes[0, 0]
        for number, column in enumerate(columns):
            label = strings.text(f"plots.positions.{'cosine' if column % 2 else 'sine'}", column=column)
            look = {"linestyle": LINES[number % len(LINES)], "marker": MARKERS[number % len(MARKERS)]}
            ax.plot(table[:, column], color=COLORS[number], markevery=(2 * number, 12), label=label, **look)
        ax.axhline(0, color="#bbbbbb", linewidth=1, zorder=0)
        figure.legend(loc="outside lower center", ncols=len(columns), frameon=False)
        name_axes(ax, "plots.positions.position", "plots.positions.value")
    return figure


def table_and_bits(table, bits):
    """A table of sinusoids as colours, and beside it numbers in binary: both have fast and slow columns.

    Args:
        table: (T, D), between −1 and 1.
        bits: (N, K) zeros and ones, highest bit first; row i is the number i.
    """
    table, bits = array(table), array(bits)
    with style():
        shape = {"width": 10.0, "height": 4.6, "gridspec_kw": {"width_ratios": (2.2, 1)}}
        figure, axes = picture(1, 2, title="plots.positions.table", **shape)
        left, right = axes[0]
        image = left.imshow(table, cmap="RdBu", vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
        figure.colorbar(image, ax=left, ticks=(-1, 0, 1), pad=0.02)
        left.set_title(strings.text("plots.positions.table_left"), fontsize=12)
        name_axes(left, "plots.positions.column", "plots.positions.position")
        draw_weights(right, bits, range(len(bits)), 2 ** np.arange(bits.shape[1])[::-1], digits=0)
        right.set_title(strings.text("plots.positions.table_right"), fontsize=12)
        name_axes(right, "plots.positions.bit", "plots.positions.number")
    return figure


def products(table, starts, formula):
    """Dot products of position vectors: the whole table, and as curves over the shift.

    Args:
        table: (T, D) position vectors.
        starts: positions i whose products with i + δ are drawn, for all δ that stay inside the table.
        formula: (2·R + 1,) the predicted product for δ = −R … R.
    """
    table, formula = array(table), array(formula)
    product = table @ table.T  # (T, T)
    reach = len(formula) // 2
    with style():
        size = {"width": 10.0, "height": 4.4, "gridspec_kw": {"width_ratios": (1, 1.25)}}
        figure, axes = picture(1, 2, title="plots.positions.products", **size)
        left, right = axes[0]
        figure.colorbar(left.imshow(product, cmap="Blues", vmin=0), ax=left, pad=0.02)
        name_axes(left, "plots.positions.position", "plots.positions.position")
        shifts = np.arange(-reach, reach + 1)
        right.plot(shifts, formula, color="#bbbbbb", linewidth=7, label=r"$\Sigma_j\,\cos(\delta\,\omega_j)$")
        for number, start in enumerate(starts):
            seen = (start + shifts >= 0) & (start + shifts < len(table))
            look = {"marker": MARKERS[number], "linestyle": LINES[number], "markevery": (number, 5), "linewidth": 1.4}
            label = strings.text("plots.positions.start", start=start)
            right.plot(shifts[seen], product[start, start + shifts[seen]], color=COLORS[number], label=label, **look)
        right.legend(frameon=False, fontsize=10)
        name_axes(right, "plots.positions.shift", "plots.positions.product")
    return figure


def fading(shares):
    """How much of a stack's vectors is position, by depth.

    Args:
        shares: {"attention" | "skip" | "again": (L + 1,) shares between 0 and 1, before and after each layer}.
    """
    with style():
        figure, axes = picture(title="plots.positions.fading", width=8.0, height=4.4)
        ax = axes[0, 0]
        for number, (kind, share) in enumerate(shares.items()):
            look = {"marker": MARKERS[number], "linestyle": LINES[number], "color": COLORS[number]}
            ax.plot(array(share), label=strings.text(f"plots.positions.fading_{kind}"), **look)
        ax.set_ylim(-0.03, 1.03)
        figure.legend(loc="outside lower center", ncols=1, frameon=False)
        name_axes(ax, "plots.positions.layers", "plots.positions.share")
    return figure


def asked_verbs(weights, sentences, verbs, gold):
    """What the asked verb attends to: a sentence a row, each cell a word and its weight.

    Args:
        weights: (N, T) weights of the asked verb.
        sentences: N lists of words, at most T each.
        verbs: (N,) place of the asked verb, in a dashed frame and with a question mark.
        gold: (N,) place of the answer, framed.
    """
    weights = array(weights)
    hits = int((weights.argmax(axis=1) == np.asarray(gold)).sum())
    with style():
        size = {"width": 0.95 * weights.shape[1] + 0.6, "height": 1.5 + 0.62 * len(weights)}
        values = {"hits": hits, "count": len(weights)}
        figure, axes = picture(title="plots.positions.asked", values=values, **size)
        ax = axes[0, 0]
        rows = range(1, len(weights) + 1)
        draw_weights(ax, weights, rows, range(weights.shape[1]), digits=None, top=1.0)
        for i, words in enumerate(sentences):
            for j, word in enumerate(words):
                text = f"{fonts.label(word)}{'?' if j == verbs[i] else ''}\n{weights[i, j]:.2f}"
                ink = "white" if weights[i, j] > 0.6 else "black"
                ax.text(j, i, text, ha="center", va="center", color=ink, fontsize=11)
        for places, look in ((gold, {"ec": COLORS[1], "lw": 3}), (verbs, {"ec": COLORS[0], "lw": 2, "ls": "--"})):
            for i, j in enumerate(places):
                ax.add_patch(Rectangle((j - 0.46, i - 0.45), 0.92, 0.9, fill=False, zorder=3, **look))
        name_axes(ax, "plots.positions.asked_x", "plots.positions.asked_y")
    return figure
