"""The figure of chapter 00: what a seed and what given weights have in common across backends."""

from attention_by_hand import strings
from attention_by_hand.plots.common import COLORS, array, name_axes, picture, style

# Nested marks: where all backends agree, the small one sits inside the middle one inside the large one.
_MARKS = (("o", 170), ("s", 60), ("x", 22))


def seeds_and_weights(drawn, computed):
    """Two panels: numbers drawn after the same seed, and numbers computed from the same weights, by backend.

    Args:
        drawn: {backend: (N,) random numbers}.
        computed: {backend: (M,) results}.
    """
    with style():
        figure, axes = picture(1, 2, width=9.0, height=3.9, title="plots.start.title")
        panels = (("drawn", drawn), ("computed", computed))
        for ax, (panel, series) in zip(axes[0], panels, strict=True):
            for number, (backend, values) in enumerate(series.items()):
                _draw(ax, backend, array(values), number)
            ax.set_title(strings.text(f"plots.start.{panel}"), fontsize=12)
            ax.axhline(0, color="#bbbbbb", linewidth=1, zorder=0)
            name_axes(ax, f"plots.start.{panel}_x", f"plots.start.{panel}_y")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    return figure


def _draw(ax, backend, values, number):
    marker, size = _MARKS[number % len(_MARKS)]
    color = COLORS[number % len(COLORS)]
    places = range(1, len(values) + 1)
    colors = {"c": color} if marker == "x" else {"facecolors": "none", "edgecolors": color}
    ax.scatter(places, values, s=size, marker=marker, label=backend, linewidths=2, **colors)
    ax.set_xticks(places)
