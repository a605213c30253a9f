"""The parts all figures are made of: one style, NumPy in, a `Picture` out.

Strings come from the string table by key; labels that are formulas or data are passed as they are.
"""

import io

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from attention_by_hand import strings
from attention_by_hand.backend import to_numpy
from attention_by_hand.plots import fonts

STYLE = {
    "font.size": 12,
    "axes.titlesize": 13,
    "axes.labelsize": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 2,
    "figure.dpi": 100,
}
MARKERS = "osD^vPX*"
LINES = ("-", "--", "-.", ":")
COLORS = ("#1f4e79", "#c1440e", "#3a7d44", "#6a4c93", "#8a6d00", "#5c5c5c", "#00798c", "#a23b72")


class Picture(Figure):
    """A figure that shows itself at the end of a cell, and says its finding to those who cannot see it."""

    alt = ""

    def _repr_png_(self):
        buffer = io.BytesIO()
        with style():
            self.savefig(buffer, format="png", bbox_inches="tight", facecolor="white")
        return buffer.getvalue()

    def __repr__(self):
        return self.alt or super().__repr__()


def style():
    """Context in which figures are drawn and saved."""
    return rc_context({**STYLE, "font.family": fonts.families()})


def picture(rows=1, columns=1, width=7.0, height=3.8, title=None, values=None, **options):
    """A `Picture` and its axes, always a 2-D array (rows, columns) of them.

    Args:
        rows, columns: number of axes.
        width, height: inches of the whole figure.
        title: key of the figure's title, which says the finding; it is the text alternative, too.
        values: what the title's `{names}` stand for.
        **options: handed to `Figure.subplots`.
    """
    figure = Picture(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    if title is not None:
        figure.alt = strings.text(title, **(values or {}))
        figure.suptitle(figure.alt)
    return figure, axes


def array(x):
    """A float NumPy array of a tensor of any backend or an array-like."""
    return np.asarray(x if isinstance(x, (np.ndarray, list, tuple)) else to_numpy(x), dtype="float64")


def heatmap(weights, rows, columns, title=None, values=None, xlabel=None, ylabel=None, digits=2, cmap="Blues"):
    """Attention weights as a table of shaded cells with the numbers written in: rows are queries.

    Args:
        weights: (Tq, Tv), non-negative.
        rows, columns: labels of the queries and of the keys.
        title, xlabel, ylabel: keys of strings; `values` fills the title's `{names}`.
        digits: decimals written into each cell; None writes none (for large tables).
        cmap: a sequential colour map that starts at 0.
    """
    weights = array(weights)
    with style():
        size = (2.2 + 0.75 * len(columns), 1.6 + 0.5 * len(rows))
        figure, axes = picture(width=max(4.5, size[0]), height=max(2.4, size[1]), title=title, values=values)
        draw_weights(axes[0, 0], weights, rows, columns, digits=digits, cmap=cmap)
        name_axes(axes[0, 0], xlabel, ylabel)
    return figure


def draw_weights(ax, weights, rows, columns, digits=2, cmap="Blues", top=None):
    """Draw one table of weights into `ax`; the shading runs from 0 to `top` (the largest weight)."""
    weights = array(weights)
    top = float(weights.max()) if top is None else top
    ax.imshow(weights, cmap=cmap, vmin=0, vmax=top or 1, aspect="auto")
    ax.set_xticks(range(len(columns)), [fonts.label(str(c)) for c in columns])
    ax.set_yticks(range(len(rows)), [fonts.label(str(r)) for r in rows])
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    if digits is not None:
        for (i, j), weight in np.ndenumerate(weights):
            ink = "white" if weight > 0.6 * (top or 1) else "black"
            ax.text(j, i, f"{weight:.{digits}f}", ha="center", va="center", color=ink, fontsize=11)


def curves(x, series, title=None, values=None, xlabel=None, ylabel=None, log=False, **options):
    """Lines with different markers and dashes over one x axis.

    Args:
        x: (N,) positions.
        series: {label: (N,) values}; a label is shown as it is (look it up before, if it is a sentence).
        title, xlabel, ylabel: keys of strings.
        log: "x", "y" or "xy" for logarithmic axes.
        **options: width and height of the figure.
    """
    with style():
        figure, axes = picture(title=title, values=values, **options)
        draw_curves(axes[0, 0], x, series, log)
        name_axes(axes[0, 0], xlabel, ylabel)
    return figure


def draw_curves(ax, x, series, log=False):
    """Draw the lines of `curves` into `ax`."""
    for number, (label, y) in enumerate(series.items()):
        marker, line = MARKERS[number % len(MARKERS)], LINES[number % len(LINES)]
        ax.plot(x, array(y), marker=marker, linestyle=line, color=COLORS[number % len(COLORS)], label=label)
    if log and "x" in log:
        ax.set_xscale("log", base=2)
        ax.set_xticks(list(x), [f"{v:g}" for v in x])
        ax.minorticks_off()
    if log and "y" in log:
        ax.set_yscale("log")
    if len(series) > 1:
        ax.legend(frameon=False)


def bars(labels, heights, title=None, values=None, xlabel=None, ylabel=None, digits=2, **options):
    """Bars with their numbers on top.

    Args:
        labels: names under the bars, shown as they are.
        heights: one number each.
        title, xlabel, ylabel: keys of strings.
        digits: decimals of the numbers.
        **options: width and height of the figure.
    """
    with style():
        figure, axes = picture(title=title, values=values, **options)
        drawn = axes[0, 0].bar(range(len(labels)), array(heights), color=COLORS[0], width=0.6)
        axes[0, 0].set_xticks(range(len(labels)), [fonts.label(str(x)) for x in labels])
        axes[0, 0].bar_label(drawn, fmt=f"%.{digits}f", padding=2)
        name_axes(axes[0, 0], xlabel, ylabel)
    return figure


def name_axes(ax, xlabel=None, ylabel=None):
    """Label the axes by keys of strings."""
    if xlabel:
        ax.set_xlabel(strings.text(xlabel))
    if ylabel:
        ax.set_ylabel(strings.text(ylabel))
