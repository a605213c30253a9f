"""Figures of chapter 03: attention maps of sentences with their gold links."""

import numpy as np
from matplotlib.patches import Patch, Rectangle

from attention_by_hand import strings
from attention_by_hand.plots import fonts
from attention_by_hand.plots.common import COLORS, array, draw_weights, name_axes, picture, style

_SURE = {"fill": False, "ec": COLORS[1], "lw": 2.8, "ls": "-", "zorder": 4}
_POSSIBLE = {"fill": False, "ec": "#222222", "lw": 1.4, "ls": (0, (3, 2)), "zorder": 3}


def alignment_maps(weights, pairs, columns=2):
    """Attention maps, target words down, source words across; gold links are framed: sure solid, possible dashed.

    Args:
        weights: list of N arrays, at least (target words, source words) each; what lies beyond is cut off.
        pairs: N `Pair`s: `source`, `target`, `sure`, `possible`.
        columns: maps in a row.

    Returns:
        A `Picture` whose title counts the target words with the largest weight on a gold link.

    Raises:
        ValueError: not one array for each pair, or one that is smaller than its sentence.
    """
    weights = [array(one) for one in weights]
    if len(weights) != len(pairs) or not pairs:
        raise ValueError(f"weights must be one array for each pair, at least one; got {len(weights)} and {len(pairs)}")
    for n, (one, pair) in enumerate(zip(weights, pairs, strict=True)):
        if one.ndim != 2 or one.shape[0] < len(pair.target) or one.shape[1] < len(pair.source):
            raise ValueError(
                f"weights of pair {n} must be at least ({len(pair.target)}, {len(pair.source)}); got {one.shape}"
            )
    weights = [one[: len(p.target), : len(p.source)] for one, p in zip(weights, pairs, strict=True)]
    linked = [{t for t, _ in pair.possible} for pair in pairs]
    found = [
        {t for t, s in enumerate(one.argmax(axis=1)) if (t, s) in p.possible}
        for one, p in zip(weights, pairs, strict=True)
    ]
    values = {"hits": sum(map(len, found)), "count": sum(map(len, linked))}
    columns = min(columns, len(pairs))
    rows = -(-len(pairs) // columns)
    with style():
        size = _inches(pairs, columns)
        figure, axes = picture(rows, columns, title="plots.alignment_maps.title", values=values, **size)
        for ax, one, pair in zip(axes.flat, weights, pairs, strict=False):
            _draw(ax, one, pair)
        for ax in axes.flat[len(pairs) :]:
            ax.set_axis_off()
        handles = [
            Patch(**{**look, "zorder": 1}, label=strings.text(f"plots.alignment_maps.{name}"))
            for name, look in (("sure", _SURE), ("possible", _POSSIBLE))
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False)
    return figure


def _inches(pairs, columns):
    """Width and height of the figure: half an inch a word, and the labels."""
    rows = [pairs[first : first + columns] for first in range(0, len(pairs), columns)]
    width = max(sum(1.7 + 0.48 * len(pair.source) for pair in row) for row in rows)
    height = sum(max(1.7 + 0.4 * len(pair.target) for pair in row) for row in rows) + 0.8
    return {"width": max(8.5, width), "height": height}


def _draw(ax, weights, pair):
    """One map with its frames."""
    draw_weights(ax, weights, pair.target, pair.source, digits=None, top=1.0)
    for (t, s), weight in np.ndenumerate(weights):
        if weight >= 0.05:  # smaller ones would only make it hard to read
            ink = "white" if weight > 0.6 else "black"
            ax.text(s, t, f"{weight:.1f}", ha="center", va="center", color=ink, fontsize=9.5)
    for t, s in pair.possible - pair.sure:
        ax.add_patch(Rectangle((s - 0.44, t - 0.42), 0.88, 0.84, **_POSSIBLE))
    for t, s in pair.sure:
        ax.add_patch(Rectangle((s - 0.45, t - 0.43), 0.9, 0.86, **_SURE))
    ax.set_xticks(
        range(len(pair.source)), [fonts.label(w) for w in pair.source], rotation=55, ha="right", rotation_mode="anchor"
    )
    name_axes(ax, "plots.alignment_maps.source", "plots.alignment_maps.target")
