"""Four textured grounds: sand, grass, snow and water, each one large tile from which pictures take a piece.

Integers only, so that every machine paints the same pixels.
"""

from functools import cache

import numpy as np

GROUNDS = ("sand", "grass", "snow", "water")
SIDE = 64  # pixels of a picture
TILE = 256


@cache
def tiles():
    """The four tiles, int16 (4, 256, 256, 3), colours 0 … 255."""
    rng = np.random.default_rng(20151130)
    noise = rng.integers(-64, 65, size=(4, TILE, TILE))
    painted = [_sand(noise[0], rng), _grass(noise[1]), _snow(noise[2], rng), _water(noise[3])]
    return np.clip(np.stack(painted), 0, 255).astype("int16")


def cut(rng, ground, side=SIDE):
    """A random piece of its ground for every picture, mirrored at random, a little lighter or darker, with noise.

    Args:
        rng: NumPy generator.
        ground: integers (N,), indices into `GROUNDS`.
        side: pixels, at most 256.

    Returns:
        int16 (N, side, side, 3).
    """
    count = len(ground)
    rows, columns = (_window(rng, count, side) for _ in range(2))  # (N, side) each
    pictures = tiles()[np.asarray(ground)[:, None, None], rows[:, :, None], columns[:, None, :]]
    pictures += rng.integers(-10, 11, size=(count, 1, 1, 1), dtype="int16")
    pictures += rng.integers(-5, 6, size=(count, side, side, 1), dtype="int16")
    return pictures


def _window(rng, count, side):
    """Rows or columns (N, side) of a tile: neighbours, ascending."""
    return rng.integers(0, TILE - side + 1, size=(count, 1)) + np.arange(side)


def _blur(x, axis, width):
    """Running mean over `width` pixels along one axis, around the edge, rounded down."""
    return sum(np.roll(x, shift, axis) for shift in range(width)) // width


def _mix(low, high, share):
    """Colours between `low` and `high`, (256, 256, 3), for a share (256, 256) of 0 … 256."""
    share = np.clip(share, 0, 256)[..., None]
    return (np.array(low) * (256 - share) + np.array(high) * share) // 256


def _sand(noise, rng):
    """Fine grain, with darker grains strewn in."""
    picture = _mix((196, 160, 112), (240, 212, 168), 128 + 2 * noise)
    picture[rng.random((TILE, TILE)) < 0.04] = (150, 112, 72)
    return picture


def _grass(noise):
    """Upright blades: noise smeared downwards."""
    return _mix((56, 116, 44), (128, 188, 84), 128 + 4 * _blur(noise, 0, 9))


def _snow(noise, rng):
    """White with soft shades, and small bluish dents strewn in."""
    drift = _blur(_blur(_blur(_blur(noise, 0, 9), 1, 13), 0, 9), 1, 13)
    picture = _mix((226, 234, 246), (250, 251, 254), 150 + 30 * drift)
    dent = rng.random((TILE, TILE)) < 0.012
    picture[dent | np.roll(dent, 1, axis=1)] = (176, 196, 226)
    picture[np.roll(dent, 1, axis=0)] = (255, 255, 255)
    return picture


def _water(noise):
    """Level waves with bright crests; their height wanders."""
    wander = _blur(_blur(_blur(_blur(16 * noise, 0, 9), 1, 21), 0, 9), 1, 21)
    place = (np.arange(TILE)[:, None] * 32 + wander) % 256  # 8 pixels from crest to crest
    crest = np.abs(place - 128)  # 0 … 128
    return _mix((92, 178, 190), (214, 240, 240), 3 * (crest - 70))
