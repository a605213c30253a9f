"""Pictures of two objects on a textured ground, with the one right caption and a gold box for every object."""

import hashlib

import numpy as np

from attention_by_hand.datasets.scenes import grounds
from attention_by_hand.datasets.scenes.captions import COLOURS, LANGUAGES, RELATIONS, caption, check_language
from attention_by_hand.datasets.scenes.grounds import GROUNDS, SIDE
from attention_by_hand.datasets.scenes.shapes import FULL, LARGEST, SHAPES, SMALLEST, stencils

SPLITS = ("train", "validation", "test", "unseen")
ABOVE, LEFT_OF = range(len(RELATIONS))
# One colour of each shape is kept out of all splits but "unseen": (colour, shape).
KEPT_OUT = ((0, 0), (1, 1), (2, 2), (3, 3), (0, 4), (1, 5))
USED = tuple((c, s) for c in range(len(COLOURS)) for s in range(len(SHAPES)) if (c, s) not in KEPT_OUT)
_PAINT = np.array([(214, 32, 38), (32, 56, 196), (255, 216, 0), (22, 22, 26)], "int16")
_MARGIN, _GAP, _ASIDE = 1, 3, 8  # pixels: free border; least distance; how far the centres may be out of line


def scenes(count, seed=0, language="en", split="train", show=(True, True)):
    """Pictures of two objects, one above or left of the other, on a ground, and captions that say so.

    The upper or left object comes first in the caption; no other caption of the grammar is right for the picture.
    The two objects differ in colour or shape or both.

    Args:
        count: number of scenes N.
        seed: integer seed.
        language: `"en"` or `"ko"`.
        split: `"train"`, `"validation"`, `"test"`: the same kinds of objects, and no scene of one split can be
            in another, whatever the seeds; `"unseen"`: only objects whose colour and shape never meet elsewhere.
        show: whether the first and the second object are painted. Captions and boxes stay: a control.

    Returns:
        Dictionary: `images` (N, 64, 64, 3) uint8; `captions`, N tuples of words; `refers` (N, T) int32, what each
        word names, an index into `REFERS`, −1 after the last word; `boxes` (N, 2, 4) int32, left, top, right and
        bottom edge of each object in pixels; `objects` (N, 2, 2) int32, indices into `COLOURS` and `SHAPES`;
        `relation` and `ground` (N,) int32, indices into `RELATIONS` and `GROUNDS`.

    Raises:
        ValueError: `count` is smaller than 1, or an unknown `language` or `split`.
    """
    check_count(count, split)
    check_language(language)
    rng = np.random.default_rng([seed, SPLITS.index(split)])
    layouts = _layouts(rng, count, split)
    ground = rng.integers(0, len(GROUNDS), size=count)
    pictures = grounds.cut(rng, ground)
    paint = _PAINT[layouts["objects"][:, :, 0]] + rng.integers(-10, 11, size=(count, 2, 3), dtype="int16")
    for o in (0, 1):
        if show[o]:
            _paste(pictures, layouts["cover"][:, o], layouts["boxes"][:, o], paint[:, o])
    sentences = [
        caption([(COLOURS[c], SHAPES[s]) for c, s in pair], RELATIONS[r], GROUNDS[g], language)
        for pair, r, g in zip(layouts["objects"], layouts["relation"], ground, strict=True)
    ]
    return {
        "images": np.clip(pictures, 0, 255).astype("uint8"),
        "captions": [words for words, _ in sentences],
        "refers": padded([refers for _, refers in sentences]),
        **{name: layouts[name].astype("int32") for name in ("boxes", "objects", "relation")},
        "ground": ground.astype("int32"),
    }


def single_shapes(count, seed=0, split="train", side=32):
    """Small pictures of one object on a ground, every colour with every shape: a task for training what looks.

    Args:
        count: number of pictures N.
        seed: integer seed.
        split: `"train"`, `"validation"` or `"test"`; places decide what is in which.
        side: width and height of a picture in pixels, 26 … 256. Small ones are quick to learn from, and convolutions
            then work on pictures of any size.

    Returns:
        Dictionary: `images` (N, side, side, 3) uint8; `colour`, `shape` and `ground` (N,) int32, indices into
        `COLOURS`, `SHAPES` and `GROUNDS`; `boxes` (N, 4) int32, as in `scenes`.

    Raises:
        ValueError: `count` is smaller than 1, an unknown `split`, or `side` outside 26 … 256.
    """
    check_count(count, split, SPLITS[:3])
    if not LARGEST + 2 * _MARGIN <= side <= grounds.TILE:
        raise ValueError(f"side must be between {LARGEST + 2 * _MARGIN} and {grounds.TILE}; got {side}")
    rng = np.random.default_rng([seed, len(SPLITS) + SPLITS.index(split)])
    parts, have = [], 0
    while have < count:
        kind = rng.integers(0, (len(COLOURS), len(SHAPES)), size=(2 * count, 2))
        cover, extent = _stencil(rng, kind[:, 1])
        start = rng.integers(_MARGIN, side - _MARGIN - extent + 1)  # (2N, 2) top, left
        box = np.concatenate([start, start + extent], axis=1)[:, [1, 0, 3, 2]]
        keep = belongs(box[:, 0] + 3 * box[:, 1], split)
        parts.append([x[keep] for x in (kind, cover, box)])
        have += keep.sum()
    kind, cover, box = (np.concatenate(x)[:count] for x in zip(*parts, strict=True))
    ground = rng.integers(0, len(GROUNDS), size=count)
    pictures = grounds.cut(rng, ground, side)
    _paste(pictures, cover, box, _PAINT[kind[:, 0]] + rng.integers(-10, 11, size=(count, 3), dtype="int16"))
    labels = {"colour": kind[:, 0], "shape": kind[:, 1], "ground": ground, "boxes": box}
    return {
        "images": np.clip(pictures, 0, 255).astype("uint8"),
        **{name: x.astype("int32") for name, x in labels.items()},
    }


def word_boxes(data):
    """The gold box of every word that names an object.

    Args:
        data: what `scenes` returns.

    Returns:
        `(boxes, named)`: int32 (N, T, 4), zeros where a word names no object; boolean (N, T), True where it does.
    """
    named = (data["refers"] == 0) | (data["refers"] == 1)
    boxes = np.take_along_axis(data["boxes"], np.where(named, data["refers"], 0)[:, :, None], axis=1)
    return boxes * named[:, :, None], named


def scene_table(count=64, seed=0, split="test"):
    """Scenes as a table of text, one a line: what `data/scenes.tsv` holds.

    Args:
        count, seed, split: as in `scenes`.

    Returns:
        Text with columns number, both boxes, both captions, SHA-256 of the picture's bytes; tabs between them.
    """
    data = {language: scenes(count, seed, language, split) for language in LANGUAGES}
    lines = ["\t".join(["scene", "first_box", "second_box", *LANGUAGES, "picture_sha256"])]
    for n, picture in enumerate(data["en"]["images"]):
        boxes = [" ".join(str(edge) for edge in box) for box in data["en"]["boxes"][n]]
        sentences = [" ".join(data[language]["captions"][n]) for language in LANGUAGES]
        lines.append("\t".join([str(n), *boxes, *sentences, hashlib.sha256(picture.tobytes()).hexdigest()]))
    return "\n".join(lines) + "\n"


def _layouts(rng, count, split):
    """Objects, relation, boxes and stencils of `count` scenes that belong to a split."""
    parts, have = [], 0
    while have < count:
        drawn = _draw_layouts(rng, 2 * count, np.array(KEPT_OUT if split == "unseen" else USED))
        keep = belongs(drawn["boxes"][:, :, :2].reshape(-1, 4) @ np.array([1, 2, 3, 5]), split)
        parts.append({name: x[keep] for name, x in drawn.items()})
        have += keep.sum()
    return {name: np.concatenate([part[name] for part in parts])[:count] for name in parts[0]}


def _draw_layouts(rng, count, kinds):
    """Two different objects each, first one above or left of the second; `kinds` (K, 2) are what may be drawn."""
    first = rng.integers(0, len(kinds), size=count)
    second = (first + rng.integers(1, len(kinds), size=count)) % len(kinds)
    objects = kinds[np.stack([first, second], axis=1)]  # (N, 2, 2) colour, shape
    cover, extent = (np.stack(x, axis=1) for x in zip(*(_stencil(rng, objects[:, o, 1]) for o in (0, 1)), strict=True))
    relation = rng.integers(0, len(RELATIONS), size=count)
    boxes = places(rng, relation, extent)
    return {"objects": objects, "relation": relation, "boxes": boxes, "cover": cover}


def places(rng, relation, extent):
    """Boxes for two objects each, the first above or left of the second, clearly and without touching it.

    Args:
        rng: NumPy generator.
        relation: integers (N,), indices into `RELATIONS`.
        extent: integers (N, 2, 2), height and width of both objects.

    Returns:
        Integers (N, 2, 4): left, top, right and bottom edge.
    """
    # `along` is the direction of the relation, `across` the other: downwards and rightwards for "above".
    count = len(relation)
    row, along = np.arange(count), np.where(relation == ABOVE, 0, 1)
    a, b = extent[row, :, along], extent[row, :, 1 - along]  # (N, 2) sizes of both objects along and across
    far = SIDE - _MARGIN
    a0 = rng.integers(_MARGIN, far - a.sum(axis=1) - _GAP + 1)
    a1 = rng.integers(a0 + a[:, 0] + _GAP, far - a[:, 1] + 1)
    b0 = rng.integers(_MARGIN, far - b[:, 0] + 1)
    level = b0 + (b[:, 0] - b[:, 1]) // 2  # here the centres are in line
    b1 = rng.integers(np.maximum(_MARGIN, level - _ASIDE), np.minimum(far - b[:, 1], level + _ASIDE) + 1)
    start = np.empty((count, 2, 2), int)  # (N, object, (top, left))
    start[row, :, along] = np.stack([a0, a1], axis=1)
    start[row, :, 1 - along] = np.stack([b0, b1], axis=1)
    return np.concatenate([start, start + extent], axis=2)[:, :, [1, 0, 3, 2]]


def _stencil(rng, shape):
    """Stencils (N, 24, 24) of shapes (N,) in random sizes, and their heights and widths (N, 2)."""
    cover, extent = stencils()
    size = rng.integers(0, LARGEST - SMALLEST + 1, size=len(shape))
    return cover[shape, size], extent[shape, size]


def belongs(code, split):
    """Which scenes belong to a split: their places alone decide, so that no scene can be in two."""
    code = code % 10
    return {"train": code < 8, "validation": code == 8, "test": code == 9, "unseen": code >= 0}[split]


def _paste(pictures, cover, box, paint):
    """Paint one object into every picture (N, side, side, 3), in place: `cover` (N, 24, 24), `paint` (N, 3)."""
    step, last = np.arange(LARGEST), pictures.shape[1] - 1
    rows = np.minimum(box[:, 1, None] + step, last)[:, :, None]  # what lies beyond the edge has cover 0
    columns = np.minimum(box[:, 0, None] + step, last)[:, None, :]
    which = np.arange(len(pictures))[:, None, None]
    inside = np.flatnonzero(cover.reshape(-1))
    which, rows, columns = (np.broadcast_to(x, cover.shape).reshape(-1)[inside] for x in (which, rows, columns))
    share = cover.reshape(-1)[inside, None]
    pictures[which, rows, columns] = (
        share * paint[which] + (FULL - share) * pictures[which, rows, columns] + FULL // 2
    ) // FULL


def padded(rows):
    """Tuples of different length as one int32 array, −1 behind the last entry."""
    longest = max(map(len, rows))
    return np.array([(*row, *[-1] * (longest - len(row))) for row in rows], "int32")


def check_count(count, split, splits=SPLITS):
    if count < 1:
        raise ValueError(f"count must be at least 1; got {count}")
    if split not in splits:
        raise ValueError(f"split must be one of {', '.join(splits)}; got {split!r}")
