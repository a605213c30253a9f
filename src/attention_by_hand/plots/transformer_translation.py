"""Figures of chapter 14: how fast two translators learn, and how well every head aligns."""

import numpy as np

from attention_by_hand import strings
from attention_by_hand.plots.common import COLORS, LINES, MARKERS, array, name_axes, picture, style

ACROSS = ("-", "--", ":", "-.")  # of the lines to compare with


def by_updates(curves, share=0.95):
    """Sentences that are right in every word, against the updates so far.

    Args:
        curves: `{label: (updates (N,), shares (N,))}`; a label is shown as it is.
        share: where a dotted line is drawn.

    Returns:
        A `Picture`.
    """
    with style():
        figure, axes = picture(title="plots.by_updates.title", width=8.2, height=4.4)
        ax = axes[0, 0]
        for number, (label, (updates, shares)) in enumerate(curves.items()):
            look = {"marker": MARKERS[number], "linestyle": LINES[number], "color": COLORS[number]}
            ax.plot(array(updates), array(shares), label=label, **look)
        ax.axhline(share, color="#5c5c5c", lw=1.4, ls=":")
        ax.text(
            1.005, share, f"{share:.2f}", transform=ax.get_yaxis_transform(), color="#5c5c5c", va="center", fontsize=11
        )
        ax.set_ylim(-0.03, 1.06)
        ax.legend(frameon=False)
        name_axes(ax, "plots.by_updates.updates", "plots.by_updates.exact")
    return figure


def head_rates(rates, means, chosen, lines):
    """Alignment error rate of every head, a group a block, and of the mean over the heads of each block.

    Args:
        rates: (blocks, H) alignment error rates.
        means: (blocks,) those of the mean over a block's heads.
        chosen: (block, head) that was chosen on other data: it carries a star.
        lines: `{label: rate}`, drawn across for comparison; labels are shown as they are.

    Returns:
        A `Picture`.
    """
    rates, means = array(rates), array(means)
    blocks, heads = rates.shape
    with style():
        figure, axes = picture(title="plots.head_rates.title", width=9.2, height=4.8)
        ax = axes[0, 0]
        for block in range(blocks):
            place = block * (heads + 2) + np.arange(heads + 1)
            heights = [*rates[block], means[block]]
            looks = {"color": [COLORS[0]] * heads + [COLORS[1]], "hatch": [""] * heads + ["////"], "edgecolor": "white"}
            drawn = ax.bar(place, heights, width=0.8, **looks)
            texts = [f"{h:.2f}{' ★' if (block, i) == tuple(chosen) else ''}" for i, h in enumerate(heights)]
            white = {"boxstyle": "square,pad=0.12", "facecolor": "white", "edgecolor": "none"}
            ax.bar_label(drawn, labels=texts, padding=3, fontsize=11, bbox=white)
        places = [block * (heads + 2) + head for block in range(blocks) for head in range(heads + 1)]
        names = [strings.text("plots.head_rates.head", number=h + 1) for h in range(heads)]
        ax.set_xticks(places, [*names, strings.text("plots.head_rates.mean")] * blocks, fontsize=10)
        for block in range(blocks):
            center = block * (heads + 2) + heads / 2
            text = strings.text("plots.head_rates.block", number=block + 1)
            look = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "ha": "center"}
            ax.annotate(text, (center, 0), (0, -38), **look)
        for number, (label, rate) in enumerate(lines.items()):
            ax.axhline(rate, color="#444444", lw=1.5, ls=ACROSS[number % len(ACROSS)], label=f"{label} {rate:.2f}")
        ax.set_ylim(0, max(1.15 * rates.max(), 1.1 * max(lines.values())))
        figure.legend(loc="outside lower center", ncols=len(lines), frameon=False, fontsize=11)
        name_axes(ax, ylabel="plots.head_rates.rate")
    return figure
