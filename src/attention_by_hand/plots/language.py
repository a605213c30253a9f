"""Figures of chapter 15: bits by order, bits by character, what is drawn from, where an induction head looks."""

import numpy as np
from matplotlib.patches import Rectangle

from attention_by_hand import strings
from attention_by_hand.plots import fonts
from attention_by_hand.plots.common import COLORS, array, draw_curves, name_axes, picture, style

_INK = "#c1440e"  # frames of what is known to matter


def bits_by_order(orders, series, lines, floor):
    """Bits a character by the order of an n-gram, with the transformer's as lines across.

    Args:
        orders: (N,) orders of the n-grams.
        series: `{name: (N,)}`, labelled by the strings `plots.language.<name>`.
        lines: `{name: bits}`, drawn across, labelled likewise.
        floor: what no model can go below, on average over all characters.

    Returns:
        A `Picture`.
    """
    label = lambda name: strings.text(f"plots.language.{name}")  # noqa: E731
    with style():
        figure, axes = picture(title="plots.language.by_order", width=8.4, height=4.4)
        ax = axes[0, 0]
        draw_curves(ax, orders, {label(name): y for name, y in series.items()})
        for number, (name, bits) in enumerate(lines.items()):
            ax.axhline(bits, color=COLORS[number], lw=1.8, ls=(0, (6, 2)))
            ax.text(orders[0], bits + 0.03, label(name), color=COLORS[number], fontsize=11)
        ax.axhline(floor, color="black", lw=1.2, ls=":")
        ax.text(orders[-1], floor - 0.04, label("floor"), ha="right", va="top", fontsize=11)
        ax.set_ylim(0, 2.0)
        ax.set_xticks(list(orders))
        name_axes(ax, "plots.language.order", "plots.language.bits")
    return figure


def surprise(text, rows, marked, line=60):
    """A text whose characters are shaded by the bits that each model needs for them.

    Args:
        text: T characters.
        rows: `{name: (T,) bits}`, labelled by the strings `plots.language.<name>`.
        marked: (T,), true where a character depends on a far fact; framed.
        line: characters a line.

    Returns:
        A `Picture`.
    """
    parts = [slice(start, min(start + line, len(text))) for start in range(0, len(text), line)]
    with style():
        size = {"width": 0.19 * line + 1.6, "height": 0.95 * len(parts) * len(rows) ** 0.5 + 1.2}
        figure, axes = picture(len(parts), title="plots.language.surprise", **size)
        for ax, part in zip(axes[:, 0], parts, strict=True):
            block = np.full((len(rows), line), np.nan)
            block[:, : part.stop - part.start] = [array(bits)[part] for bits in rows.values()]
            image = ax.imshow(block, cmap="Blues", vmin=0, vmax=4, aspect="auto")
            for (i, j), bits in np.ndenumerate(block):
                if np.isfinite(bits):
                    ink = "white" if bits > 2.4 else "black"
                    sign = fonts.label(text[part.start + j])
                    ax.text(j, i, sign, ha="center", va="center", color=ink, fontsize=12)
            for start, end in _runs(marked[part]):
                frame = {"fill": False, "edgecolor": _INK, "lw": 2.2}
                ax.add_patch(Rectangle((start - 0.5, -0.46), end - start, len(rows) - 0.08, **frame))
            ax.set_yticks(range(len(rows)), [strings.text(f"plots.language.{name}") for name in rows])
            ax.set_xticks([])
            ax.spines[:].set_visible(False)
            ax.tick_params(length=0)
        bar = figure.colorbar(image, ax=axes[:, 0].tolist(), fraction=0.02, pad=0.01, extend="max")
        bar.set_label(strings.text("plots.language.bits"))
    return figure


def _runs(marked):
    """Starts and ends of the stretches of True."""
    steps = np.flatnonzero(np.diff(np.concatenate([[0], np.asarray(marked, int) > 0, [0]]).astype(int)))
    return zip(steps[::2], steps[1::2], strict=True)


def drawn_from(panels, signs):
    """What the next character is drawn from, after each way to reshape and cut the model's distribution.

    Args:
        panels: `{label: (V,) probabilities}`; a label that is a formula is shown as it is.
        signs: which ids to show, as `{label: id}`, from left to right.

    Returns:
        A `Picture`.
    """
    with style():
        size = {"width": 2.9 * len(panels), "height": 3.1, "sharey": True}
        figure, axes = picture(1, len(panels), title="plots.language.drawn_from", **size)
        for ax, (label, p) in zip(axes[0], panels.items(), strict=True):
            heights = array(p)[list(signs.values())]
            ax.bar(range(len(signs)), heights, color=np.where(heights > 0, COLORS[0], "#ffffff"), width=0.7)
            for j in np.flatnonzero(heights == 0):
                ax.text(j, 0.01, "×", ha="center", color=_INK, fontsize=11, transform=ax.get_xaxis_transform())
            ax.set_xticks(range(len(signs)), [fonts.label(sign) for sign in signs])
            ax.set_title(label, fontsize=12)
        name_axes(axes[0, 0], ylabel="plots.language.probability")
    return figure


def induction(weights, tokens, gold, scores, chance):
    """One head on a row that repeats, and the score of every head of two models.

    Args:
        weights: (T, T) of one head, rows are queries.
        tokens: (T,) labels.
        gold: boolean (T, T), where the token after the same one stands; framed.
        scores: `{name: [(H,) a block]}`, labelled by the strings `plots.language.<name>`.
        chance: score of a head that looks at everything alike.

    Returns:
        A `Picture`.
    """
    with style():
        size = {"width": 11.5, "height": 5.0, "width_ratios": (1.15, 1)}
        figure, axes = picture(1, 2, title="plots.language.induction", **size)
        left, right = axes[0]
        left.imshow(array(weights), cmap="Blues", vmin=0, vmax=1)
        for t, s in np.argwhere(np.asarray(gold)):
            left.add_patch(Rectangle((s - 0.5, t - 0.5), 1, 1, fill=False, edgecolor=_INK, lw=1.3))
        for set_ticks in (left.set_xticks, left.set_yticks):
            set_ticks(range(len(tokens)), tokens, fontsize=10)
        name_axes(left, "plots.language.key", "plots.language.query")
        place, ticks = 0, []
        for number, (name, blocks) in enumerate(scores.items()):
            for block, heads in enumerate(blocks):
                heads = np.sort(array(heads))[::-1]
                right.bar(place + np.arange(len(heads)), heads, color=COLORS[number], width=0.8)
                words = strings.text(
                    "plots.language.block", name=strings.text(f"plots.language.{name}"), number=block + 1
                )
                ticks.append((place + (len(heads) - 1) / 2, words))
                place += len(heads) + 1
        right.set_xticks(*zip(*ticks, strict=True))
        right.axhline(chance, color="black", ls=":", lw=1.6, label=strings.text("plots.language.chance"))
        right.legend(frameon=False, loc="upper right", fontsize=11)
        right.set_ylim(0, 1)
        name_axes(right, ylabel="plots.language.prefix_matching")
    return figure
