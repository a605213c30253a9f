"""Six shapes as small stencils: how much of each pixel a shape covers.

Only sums, products and comparisons are used, so that every machine computes the same stencils to the last bit.
"""

from functools import cache

import numpy as np

SHAPES = ("circle", "square", "triangle", "star", "heart", "moon")
SMALLEST, LARGEST = 16, 24  # pixels: side of the square that a shape is fitted into
FULL = 16  # a pixel is cut into 4 × 4 parts
_FAINTEST = 5  # a pixel that is covered less stays ground, so that every pixel of a shape can be seen
# Unit normals of the five sides of a pentagram that stands upright, y downwards: (cos, sin) of 54°, 126°, 198°, …
_STAR_SIDES = ((0.587785, 0.809017), (-0.587785, 0.809017), (-0.951057, -0.309017), (0.0, -1.0), (0.951057, -0.309017))


@cache
def stencils():
    """Coverage of all shapes in all sizes.

    Returns:
        `(cover, extent)`: integers (shapes, sizes, 24, 24) from 0 to `FULL`, each shape in the upper left corner
        and touching its edges; and integers (shapes, sizes, 2), height and width in pixels.
    """
    sizes = range(SMALLEST, LARGEST + 1)
    cover = np.zeros((len(SHAPES), len(sizes), LARGEST, LARGEST), "int16")
    extent = np.zeros((len(SHAPES), len(sizes), 2), "int64")
    for s, shape in enumerate(SHAPES):
        for z, size in enumerate(sizes):
            found = _cover(shape, size)
            found = found[found.any(axis=1)][:, found.any(axis=0)]  # every shape is connected: only its margin goes
            extent[s, z] = found.shape
            cover[s, z, : found.shape[0], : found.shape[1]] = found
    return cover, extent


def _cover(shape, size):
    """How many of its 16 parts are inside the shape, for each pixel (size, size)."""
    place = (np.arange(4 * size) + 0.5) * (2.0 / (4 * size)) - 1.0  # centres of the parts, −1 … 1
    inside = _INSIDE[shape](place[None, :], place[:, None])  # (4 · size, 4 · size)
    count = np.broadcast_to(inside, (4 * size, 4 * size)).reshape(size, 4, size, 4).sum(axis=(1, 3))
    return np.where(count < _FAINTEST, 0, count)


def _circle(x, y):
    return x * x + y * y <= 0.95


def _square(x, y):
    return (np.abs(x) <= 0.92) & (np.abs(y) <= 0.92)


def _triangle(x, y):
    return (y <= 0.8) & (2 * np.abs(x) <= y + 1.0)


def _star(x, y):
    """Inside all sides of a pentagram but one at most."""
    outside = sum((a * x + b * (y - 0.06) > 0.36).astype(int) for a, b in _STAR_SIDES)
    return outside <= 1


def _heart(x, y):
    x, y = 1.16 * x, 0.12 - 1.12 * y
    r = x * x + y * y - 1.0
    return r * r * r <= x * x * y * y * y


def _moon(x, y):
    return (x * x + y * y <= 0.98) & ((x - 0.52) * (x - 0.52) + (y + 0.22) * (y + 0.22) > 0.55)


_INSIDE = {
    "circle": _circle,
    "square": _square,
    "triangle": _triangle,
    "star": _star,
    "heart": _heart,
    "moon": _moon,
}
