"""Figures of chapter 12: pictures with two marks, and where the cells of one mark look."""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from attention_by_hand import strings
from attention_by_hand.datasets.mark_pairs import COLOURS, MARK
from attention_by_hand.plots.captioning import _FIRST, _POINT, _frame, _legend, _show, spotlight
from attention_by_hand.plots.common import array, picture, style


def pair_sheet(images, colour, distance):
    """Pictures, each under the names of its two colours and the distance of its marks.

    Args:
        images: uint8 (N, height, width, 3).
        colour: (N, 2) rows of `datasets.mark_pairs.COLOURS`.
        distance: (N,) pixels.

    Returns:
        A `Picture`.

    Raises:
        ValueError: not as many colours or distances as pictures.
    """
    if not len(images) == len(colour) == len(distance) or not len(images):
        raise ValueError(
            f"images, colour and distance must be as many; got {len(images)}, {len(colour)} and {len(distance)}"
        )
    with style():
        size = {"width": 2.4 * len(images), "height": 3.6}
        figure, axes = picture(1, len(images), title="plots.pair_sheet.title", **size)
        for ax, image, pair, pixels in zip(axes[0], images, colour, distance, strict=True):
            _show(ax, np.asarray(image) / 255)
            names = {name: strings.text(f"plots.pair_sheet.{COLOURS[c]}") for name, c in zip("ab", pair, strict=True)}
            ax.set_title(strings.text("plots.pair_sheet.picture", distance=int(pixels), **names), fontsize=12)
    return figure


def cell_maps(images, weights, asked, corner):
    """Where one cell of each picture looks: cells are as bright as their weight; the other mark is framed.

    Args:
        images: uint8 (N, height, width, 3).
        weights: (N, H, W), one map a picture.
        asked: (N, 2), row and column of the cell that asks; it has a cross.
        corner: (N, 2), row and column of the upper left pixel of the other mark.

    Returns:
        A `Picture`.

    Raises:
        ValueError: not as many weights, cells or corners as pictures.
    """
    weights = array(weights)
    if not len(images) == len(weights) == len(asked) == len(corner) or not len(images):
        raise ValueError(
            "images, weights, asked and corner must be as many; got "
            f"{len(images)}, {len(weights)}, {len(asked)} and {len(corner)}"
        )
    with style():
        size = {"width": 2.4 * len(images), "height": 3.6}
        figure, axes = picture(1, len(images), title="plots.cell_maps.title", **size)
        for ax, image, one, cell, (top, left) in zip(axes[0], images, weights, asked, corner, strict=True):
            image = np.asarray(image) / 255
            _show(ax, spotlight(image, one))
            _frame(ax, (left, top, left + MARK, top + MARK), _FIRST)
            step = np.array(image.shape[:2]) / one.shape  # pixels of a cell, down and across
            down, across = (np.asarray(cell) + 0.5) * step
            ax.plot(across, down, **_POINT)
        handles = [Patch(**_FIRST, label=strings.text("plots.cell_maps.other"))]
        _legend(figure, [*handles, Line2D([], [], **_POINT, label=strings.text("plots.cell_maps.asked"))])
    return figure
