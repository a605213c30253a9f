"""Figures of chapter 16: all maps of a model, every head's score beside the chosen one, two similarities."""

import numpy as np

from attention_by_hand import strings
from attention_by_hand.plots import fonts
from attention_by_hand.plots.common import COLORS, MARKERS, array, name_axes, picture, style


def all_maps(weights, tokens, marked=()):
    """Every attention map of one text: a row a layer, a column a head. Dark is a large weight.

    Args:
        weights: (L, H, T, T), rows are queries.
        tokens: T texts, written at the first column of maps.
        marked: pairs (layer, head) that get a frame.

    Returns:
        A `Picture`.

    Raises:
        ValueError: not as many tokens as the maps have rows.
    """
    weights = array(weights)
    layers, heads, length = weights.shape[:3]
    if len(tokens) != length:
        raise ValueError(f"tokens must be as many as the maps have rows, {length}; got {len(tokens)}")
    with style():
        size = {"width": 1.05 * heads + 1.6, "height": 1.16 * layers + 1.0}
        values = {"count": layers * heads}
        figure, axes = picture(layers, heads, title="plots.all_maps.title", values=values, **size)
        for (layer, head), ax in np.ndenumerate(axes):
            ax.imshow(weights[layer, head], cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
            ax.set_xticks([])
            ax.set_yticks(range(length) if head == 0 else [], [fonts.label(t) for t in tokens] if head == 0 else None)
            ax.tick_params(length=0, labelsize=4.6)
            frame = (layer, head) in marked
            ax.spines[:].set(visible=True, color=COLORS[1] if frame else "#bbbbbb", linewidth=3.0 if frame else 0.6)
            if layer == 0:
                ax.set_title(f"H{head}", fontsize=10)
            if head == heads - 1:
                ax.yaxis.set_label_position("right")
                ax.set_ylabel(f"L{layer}", rotation=0, labelpad=12, va="center", fontsize=10)
    return figure


def head_strips(found, even):
    """Every head's score in every relation: a strip a relation, a dot a head; the chosen head is a star.

    Args:
        found: `{name: metrics.Head}`; labels are the strings `plots.head_strips.<name>`.
        even: `{name: score of even weights}`, drawn as a short line.

    Returns:
        A `Picture`.
    """
    with style():
        size = {"width": 9.0, "height": 1.5 + 0.85 * len(found)}
        figure, axes = picture(title="plots.head_strips.title", **size)
        ax, rng = axes[0, 0], np.random.default_rng(0)
        rest = [np.delete(h.every.ravel(), h.layer * h.every.shape[1] + h.head) for h in found.values()]
        heights = [row + rng.uniform(-0.22, 0.22, len(x)) for row, x in enumerate(rest)]  # so that no dot hides another
        look = {
            "color": COLORS[0],
            "alpha": 0.45,
            "markersize": 6,
            "ls": "",
            "label": strings.text("plots.head_strips.others"),
        }
        ax.plot(np.concatenate(rest), np.concatenate(heights), MARKERS[0], **look)
        look = {"color": COLORS[1], "markersize": 17, "markeredgecolor": "white", "ls": ""}
        ax.plot(
            [h.score for h in found.values()],
            range(len(found)),
            "*",
            label=strings.text("plots.head_strips.chosen"),
            **look,
        )
        for row, (name, head) in enumerate(found.items()):
            ax.annotate(head.name, (head.score, row), (0, 11), textcoords="offset points", ha="center", fontsize=11)
            label = strings.text("plots.head_strips.even") if row == 0 else None
            ax.plot([even[name]] * 2, [row - 0.36, row + 0.36], ls=":", color="black", lw=1.8, label=label)
        ax.set_yticks(range(len(found)), [strings.text(f"plots.head_strips.{name}") for name in found])
        ax.set_ylim(len(found) - 0.4, -0.6)
        ax.set_xlim(-0.02, 1.08)
        figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=11)
        name_axes(ax, "plots.head_strips.x")
    return figure


def paraphrase_scatter(scores):
    """Similarity of each sentence to its paraphrase and to its distractor: above the line, the paraphrase wins.

    Args:
        scores: `{name: (to the paraphrase (N,), to the distractor (N,))}`, a panel each; titles are the strings
            `plots.paraphrases.<name>`.

    Returns:
        A `Picture`.
    """
    with style():
        size = {"width": 3.6 * len(scores), "height": 4.3, "sharex": True, "sharey": True}
        figure, axes = picture(1, len(scores), title="plots.paraphrases.title", **size)
        for ax, (name, (right, wrong)) in zip(axes[0], scores.items(), strict=True):
            right, wrong = array(right), array(wrong)
            won = right > wrong
            ax.plot([0, 1], [0, 1], color="#8c8c8c", lw=1.2)
            for mine, marker, color, key in ((won, "o", COLORS[0], "won"), (~won, "X", COLORS[1], "lost")):
                label = strings.text(f"plots.paraphrases.{key}", count=int(mine.sum()))
                ax.plot(wrong[mine], right[mine], marker, color=color, markeredgecolor="white", ls="", label=label)
            ax.set_title(strings.text(f"plots.paraphrases.{name}"), fontsize=12)
            ax.set_aspect("equal")
            ax.legend(frameon=False, loc="lower right", fontsize=10, handletextpad=0.2)
            name_axes(ax, "plots.paraphrases.x")
        name_axes(axes[0, 0], ylabel="plots.paraphrases.y")
    return figure
