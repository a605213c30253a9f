"""Two coloured marks, far apart among coloured dots: have they the same colour? No small window sees both."""

import numpy as np

SIZE, MARK = 32, 4  # pixels of a picture's and of a mark's side
COLOURS = ("red", "yellow", "green", "blue")
RGB = np.array([[255, 0, 0], [255, 255, 0], [0, 255, 0], [0, 0, 255]])
NOISE = 18.0  # standard deviation around grey, of 255
DOTS = 0.04  # share of the other pixels that have one of the four colours, too


def mark_pairs(count, apart=10, seed=0):
    """Pictures of 32 × 32 pixels with two marks of 4 × 4 pixels, in noise and among single dots of the same colours.

    Every second picture, in random order, has marks of one colour. The farther of the two distances between the marks,
    across and down, is at least `apart`.

    Args:
        count: number of pictures N, even, so that the classes are balanced.
        apart: smallest distance of the marks in pixels, from 4 (they do not overlap) to 28.
        seed: integer seed.

    Returns:
        Dictionary of arrays: `image` (N, 32, 32, 3) uint8; `same` (N,) int32, 1 for one colour; `colour` (N, 2) int32,
        rows of `RGB`; `corner` (N, 2, 2) int32, row and column of the upper left pixel of each mark: the gold;
        `distance` (N,) int32, max(|rows|, |columns|) between the corners.

    Raises:
        ValueError: `count` is odd or smaller than 2; `apart` is not in 4 … 28.
    """
    if count < 2 or count % 2:
        raise ValueError(f"count must be even and at least 2, half of each class; got {count}")
    if not MARK <= apart <= SIZE - MARK:
        raise ValueError(f"apart must be in {MARK} … {SIZE - MARK}; got {apart}")
    rng = np.random.default_rng(seed)
    same = rng.permutation(np.arange(count) % 2)
    first = rng.integers(len(COLOURS), size=count)
    other = (first + rng.integers(1, len(COLOURS), size=count)) % len(COLOURS)
    colour = np.stack([first, np.where(same, first, other)], axis=1)  # (N, 2)
    corner = _corners(rng, count, apart)
    image = _ground(rng, (count, SIZE, SIZE))
    row = np.arange(count)
    for mark in range(2):
        for i, j in np.ndindex(MARK, MARK):
            image[row, corner[:, mark, 0] + i, corner[:, mark, 1] + j] = RGB[colour[:, mark]]
    return {
        "image": image,
        "same": same.astype("int32"),
        "colour": colour.astype("int32"),
        "corner": corner.astype("int32"),
        "distance": np.abs(corner[:, 0] - corner[:, 1]).max(axis=1).astype("int32"),
    }


def without_second(data, seed=0):
    """The same pictures, the second mark covered with ground: nothing in them tells the answer any more.

    Args:
        data: what `mark_pairs` returns.
        seed: seed of the ground.

    Returns:
        A copy with another `image`.
    """
    image = data["image"].copy()
    row = np.arange(len(image))
    ground = _ground(np.random.default_rng(seed), (len(image), MARK, MARK))
    for i, j in np.ndindex(MARK, MARK):
        image[row, data["corner"][:, 1, 0] + i, data["corner"][:, 1, 1] + j] = ground[:, i, j]
    return {**data, "image": image}


def mark_cells(corner, cells=8):
    """How much of every cell of a grid each mark covers.

    Args:
        corner: (N, 2, 2), as `mark_pairs` returns it.
        cells: rows and columns of the grid; divides 32.

    Returns:
        Array (N, 2, cells, cells) in float32, shares of the cells' area in [0, 1].
    """
    step = SIZE // cells
    start = np.asarray(corner)[..., None]  # (N, 2, 2, 1)
    left = np.arange(cells) * step
    overlap = np.minimum(start + MARK, left + step) - np.maximum(start, left)  # (N, 2, 2, cells) pixels
    share = np.clip(overlap, 0, None) / step
    return (share[:, :, 0, :, None] * share[:, :, 1, None, :]).astype("float32")


def _ground(rng, shape):
    """Grey noise with coloured dots, (*shape, 3) in uint8."""
    image = np.clip(np.rint(rng.normal(127.5, NOISE, size=(*shape, 3))), 0, 255)
    dots = rng.random(shape) < DOTS
    image[dots] = RGB[rng.integers(len(RGB), size=dots.sum())]
    return image.astype("uint8")


def _corners(rng, count, apart):
    """Corners (N, 2, 2); pairs that are too close are drawn again."""
    corner = rng.integers(SIZE - MARK + 1, size=(count, 2, 2))
    close = np.abs(corner[:, 0] - corner[:, 1]).max(axis=1) < apart
    while close.any():
        corner[close] = rng.integers(SIZE - MARK + 1, size=(int(close.sum()), 2, 2))
        close = np.abs(corner[:, 0] - corner[:, 1]).max(axis=1) < apart
    return corner
