"""Figures of chapter 08: which chunks of features meet, what each head looks at, how good every head is."""

import numpy as np
from matplotlib.patches import Rectangle

from attention_by_hand import strings
from attention_by_hand.plots import fonts
from attention_by_hand.plots.common import COLORS, array, draw_weights, name_axes, picture, style

HATCHES = ("", "////")


def chunk_maps(maps):
    """Which chunk of the output depends on which chunk of the input: one panel a form, gradient norms in the cells.

    Args:
        maps: `{name: (H, H) norms}`; the title of a panel is the string `plots.chunks.<name>`.

    Returns:
        A `Picture`.
    """
    with style():
        size = {"columns": len(maps), "width": 3.5 * len(maps), "height": 3.6}
        figure, axes = picture(title="plots.chunks.title", **size)
        for ax, (name, norms) in zip(axes[0], maps.items(), strict=True):
            norms = array(norms)
            ticks = [str(i + 1) for i in range(len(norms))]
            draw_weights(ax, norms > 0, ticks, ticks, digits=None, top=2.0)
            for (i, j), norm in np.ndenumerate(norms):
                ax.text(j, i, f"{norm:.1f}" if norm > 0 else "0", ha="center", va="center", fontsize=13)
            ax.set_title(strings.text(f"plots.chunks.{name}"), fontsize=12)
            name_axes(ax, "plots.chunks.x")
        name_axes(axes[0, 0], ylabel="plots.chunks.y")
    return figure


def head_maps(rows, notes, position):
    """What every head looks at in one example: a row a head, a column a note; the gold notes are framed.

    Args:
        rows: `{label of a head: (T,) weights}`; labels are shown as they are.
        notes: (T,) texts of the notes.
        position: the two gold notes; the first frame is solid, the second dashed.

    Returns:
        A `Picture`.
    """
    weights = np.stack([array(row) for row in rows.values()])
    labels = [note.replace(" ", "\n") for note in notes]
    with style():
        size = {"width": 2.4 + 1.0 * len(labels), "height": 2.3 + 0.55 * len(rows)}
        figure, axes = picture(title="plots.heads.title", **size)
        ax = axes[0, 0]
        draw_weights(ax, weights, list(rows), labels, top=1.0)
        for number, column in enumerate(position):
            look = {"ec": COLORS[1], "lw": 3, "ls": ("-", "--")[number], "fill": False, "zorder": 3}
            key = "plots.heads.likes" if number == 0 else "plots.heads.dislikes"
            box = ax.add_patch(Rectangle((column - 0.48, -0.47), 0.96, len(rows) - 0.06, **look))
            box.set_label(strings.text(key))
        figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=11)
    return figure


def head_scores(names, scores, chosen, even):
    """Weight on the gold note of either relation, for every head; the heads that were chosen carry a star.

    Args:
        names: N labels of heads, the first on top; shown as they are.
        scores: (N, 2) mean weight on the gold note of each relation.
        chosen: (N, 2) boolean: chosen for that relation on the other half of the data.
        even: weight that the uniform mean gives, drawn as a dotted line.

    Returns:
        A `Picture`.
    """
    scores, place = array(scores), np.arange(len(names))
    with style():
        figure, axes = picture(width=9.0, height=1.6 + 0.55 * len(names), title="plots.head_scores.title")
        ax = axes[0, 0]
        for number, key in enumerate(("likes", "dislikes")):
            look = {"color": COLORS[number], "hatch": HATCHES[number], "edgecolor": "white", "height": 0.36}
            label = strings.text(f"plots.head_scores.{key}")
            drawn = ax.barh(place + 0.38 * number - 0.19, scores[:, number], label=label, **look)
            texts = [
                f"{s:.2f}{' ★' if star else ''}" for s, star in zip(scores[:, number], chosen[:, number], strict=True)
            ]
            ax.bar_label(drawn, labels=texts, padding=3, fontsize=11)
        ax.axvline(even, color="#5c5c5c", lw=1.4, ls=":", label=strings.text("plots.head_scores.even"))
        ax.set_yticks(place, [fonts.label(name) for name in names])
        ax.invert_yaxis()
        ax.set_xlim(0, 1.12)
        figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=11)
        name_axes(ax, "plots.head_scores.x")
    return figure
