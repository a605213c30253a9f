"""Figures of chapter 04: scenes with their gold boxes, and where a captioner looks for every word."""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from attention_by_hand import strings
from attention_by_hand.plots import fonts
from attention_by_hand.plots.common import array, picture, style

_FIRST = {"fill": False, "ec": "#ffffff", "lw": 2.4, "ls": "-"}
_SECOND = {"fill": False, "ec": "#ffffff", "lw": 2.4, "ls": (0, (2, 1.2))}
_POINT = {"marker": "P", "color": "#ff3fd8", "markeredgecolor": "white", "markersize": 11, "ls": "none"}
_DARK = 0.38  # brightness of a cell without weight


def scene_sheet(images, captions, boxes):
    """Pictures with their captions; the first object has a solid frame, the second a dashed one.

    Args:
        images: uint8 (N, height, width, 3).
        captions: N tuples of words.
        boxes: (N, 2, 4): left, top, right, bottom in pixels.

    Returns:
        A `Picture`.

    Raises:
        ValueError: not as many captions or boxes as pictures.
    """
    if not len(images) == len(captions) == len(boxes) or not len(images):
        raise ValueError(
            f"images, captions and boxes must be as many; got {len(images)}, {len(captions)} and {len(boxes)}"
        )
    with style():
        figure, axes = picture(1, len(images), title="plots.scene_sheet.title", width=3.6 * len(images), height=5.0)
        for ax, image, words, pair in zip(axes[0], images, captions, boxes, strict=True):
            _show(ax, np.asarray(image) / 255)
            for box, look in zip(pair, (_FIRST, _SECOND), strict=True):
                _frame(ax, box, look)
            half = (len(words) + 1) // 2
            lines = [" ".join(fonts.label(word) for word in part) for part in (words[:half], words[half:])]
            ax.set_title("\n".join(lines), fontsize=14)
        looks = {"first": _FIRST, "second": _SECOND}
        handles = [Patch(**look, label=strings.text(f"plots.scene_sheet.{name}")) for name, look in looks.items()]
        _legend(figure, handles)
    return figure


def word_maps(image, words, weights, boxes, named, columns=6):
    """The picture once for every word: cells are as bright as their weight, the heaviest has a cross.

    Args:
        image: uint8 (height, width, 3).
        words: T words.
        weights: (T or T + 1, H, W); a further map is that of the end of the sentence.
        boxes: (at least T, 4), the gold box of every word that names an object.
        named: boolean (at least T,), which words do.
        columns: pictures in a row.

    Returns:
        A `Picture`, whose title counts the words that point into their box.

    Raises:
        ValueError: too few weights, boxes or entries of `named`.
    """
    image, weights = np.asarray(image) / 255, array(weights)
    if weights.ndim != 3 or not len(words) <= len(weights) <= len(words) + 1:
        raise ValueError(f"weights must be ({len(words)} or {len(words) + 1}, H, W), a map a word; got {weights.shape}")
    if len(boxes) < len(words) or len(named) < len(words):
        raise ValueError(f"boxes and named must have {len(words)} entries; got {len(boxes)} and {len(named)}")
    shown = [fonts.label(word) for word in words] + [strings.text("plots.word_maps.end")]
    points = [_heaviest(one, image.shape) for one in weights]
    hits = [bool(named[t]) and _inside(points[t], boxes[t]) for t in range(len(words))]
    values = {"hits": sum(hits), "count": int(np.sum(named[: len(words)]))}
    rows = -(-len(weights) // columns)
    with style():
        size = {"width": 2.05 * columns, "height": 2.3 * rows + 0.95}
        figure, axes = picture(rows, columns, title="plots.word_maps.title", values=values, **size)
        for t, (ax, one) in enumerate(zip(axes.flat, weights, strict=False)):
            _show(ax, spotlight(image, one))
            ax.set_title(shown[t], fontsize=15)
            if t < len(words) and named[t]:
                _frame(ax, boxes[t], _FIRST)
            ax.plot(*points[t], **_POINT)
        for ax in axes.flat[len(weights) :]:
            ax.set_axis_off()
        handles = [Patch(**_FIRST, label=strings.text("plots.word_maps.box"))]
        _legend(figure, [*handles, Line2D([], [], **_POINT, label=strings.text("plots.word_maps.point"))])
    return figure


def spotlight(image, weights):
    """The picture (height, width, 3) in [0, 1], darkened where the weights (H, W) are small."""
    height, width = image.shape[0] // weights.shape[0], image.shape[1] // weights.shape[1]
    share = np.kron(weights / weights.max(), np.ones((height, width)))[..., None]  # every cell a block of pixels
    return image * (_DARK + (1 - _DARK) * share)


def _heaviest(weights, shape):
    """Centre (x, y) in pixels of the heaviest cell."""
    row, column = np.unravel_index(weights.argmax(), weights.shape)
    return (column + 0.5) * shape[1] / weights.shape[1], (row + 0.5) * shape[0] / weights.shape[0]


def _inside(point, box):
    (x, y), (left, top, right, bottom) = point, box
    return bool(left <= x < right and top <= y < bottom)


def _show(ax, image):
    """A picture without axes; pixel n covers n … n + 1, as boxes count."""
    ax.imshow(image, extent=(0, image.shape[1], image.shape[0], 0), interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)


def _frame(ax, box, look):
    left, top, right, bottom = (float(edge) for edge in box)
    corner, size = (left, top), (right - left, bottom - top)
    ax.add_patch(Rectangle(corner, *size, **{**look, "ec": "black", "ls": "-", "lw": look["lw"] + 2}))
    ax.add_patch(Rectangle(corner, *size, **look))


def _legend(figure, handles):
    """White frames need a dark ground, also in the legend."""
    legend = figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), facecolor="#555555")
    for text in legend.get_texts():
        text.set_color("white")
