"""Dates as people write them, from one language to another: real formats (Unicode CLDR) through the package babel."""

import datetime
import os
import random

from attention_by_hand.datasets.translation import Corpus, Pair, Vocabulary

_KINDS = {"L": "M", "c": "E", "e": "E"}  # other letters for month and weekday


def dates(target="ko", source="en", source_format="full", target_format="full", sizes=None, years=(1950, 2049), seed=0):
    """Pairs of the same date in two languages, split into characters, with gold links by field.

    The formats are those of the Unicode CLDR, so that this is real data, in the version that babel brings. Every
    character of a field of the target (weekday, day, month, year) is linked to all characters of that field in the
    source; where the field is written the same on both sides, as a year in digits, each character has a sure link
    to its twin. What stands between the fields has no links.

    Args:
        target, source: languages as babel names them: `"ko"`, `"fr"`, `"es"`, `"en"`, `"de"`, …
        source_format, target_format: `"full"` (with the weekday), `"long"`, `"medium"` or `"short"`.
        sizes: dictionary of split → number of dates, all different; 6400 `"train"`, 512 `"validation"` and 512
            `"random"` when None.
        years: the first and the last year.
        seed: integer seed.

    Returns:
        A `Corpus` of characters.

    Raises:
        ImportError: babel is not installed.
        ValueError: babel does not know the language or the format; the target asks for a field that the source
            does not tell; or more dates are asked for than there are.
    """
    sizes = {"train": 6400, "validation": 512, "random": 512} if sizes is None else sizes
    write_source, write_target = _writer(source, source_format), _writer(target, target_format)
    _check_fields(write_source.fields, write_target.fields)
    first, last = (datetime.date(y, *day).toordinal() for y, day in zip(years, ((1, 1), (12, 31)), strict=True))
    if sum(sizes.values()) > last - first + 1 or "train" not in sizes:
        raise ValueError(
            f'sizes must have "train" and together at most the {last - first + 1} days of the years; got {sizes}'
        )
    _name_the_source()
    draw = random.Random(seed)
    days = sorted(range(first, last + 1), key=lambda _: draw.random())[: sum(sizes.values())]
    pairs = [_pair(write_source(day), write_target(day)) for day in map(datetime.date.fromordinal, days)]
    splits, at = {}, 0
    for name, size in sizes.items():
        splits[name], at = pairs[at : at + size], at + size
    known = [Vocabulary(c for pair in splits["train"] for c in pair[side]) for side in (0, 1)]
    return Corpus(f"{source}-{target} dates", *known, splits)


def _babel():
    try:
        import babel
        import babel.dates
    except ImportError as error:
        raise ImportError(
            "dates() takes its formats from the package babel, which is not installed: pip install babel"
        ) from error
    return babel


def _writer(language, form):
    """A function date → list of (field or None, text), for a language and a format."""
    babel = _babel()
    if form not in ("full", "long", "medium", "short"):
        raise ValueError(f'a format must be "full", "long", "medium" or "short"; got {form!r}')
    try:
        locale = babel.Locale.parse(language)
    except (babel.UnknownLocaleError, ValueError, TypeError) as error:
        raise ValueError(f"babel does not know the language {language!r}: {error}") from error
    pattern = locale.date_formats[form].pattern
    tokens = [(kind, _KINDS.get(x[0], x[0]) if kind == "field" else None, x) for kind, x in _tokens(babel, pattern)]

    def write(day):
        texts = babel.dates.DateTimeFormat(day, locale)
        return [(field, texts[x[0] * x[1]] if kind == "field" else x) for kind, field, x in tokens]

    write.fields = {field: x[1] for kind, field, x in tokens if kind == "field"}
    return write


def _tokens(babel, pattern):
    return babel.dates.tokenize_pattern(pattern)


def _check_fields(source, target):
    """An error where the target cannot be known from the source: its score would measure the data."""
    missing = sorted(set(target) - set(source))
    if missing:
        raise ValueError(
            f"the target's format has fields that the source's lacks, {', '.join(missing)}: choose a longer "
            'source_format ("full" has all) or a shorter target_format'
        )
    if source.get("y") == 2 and target.get("y", 2) != 2:
        raise ValueError("the source's format writes the year with two digits, the target's with four: 58 may be 2058")


def _pair(source, target):
    """A pair of characters, linked by field."""
    places, at = {}, 0
    for field, text in source:
        if field:
            places[field] = (at, text)
        at += len(text)
    sure, possible, t = [], [], 0
    for field, text in target:
        if field:
            start, twin = places[field]
            possible += [(t + i, start + s) for i in range(len(text)) for s in range(len(twin))]
            sure += [(t + i, start + i) for i in range(len(text)) if text == twin]
        t += len(text)
    characters = (tuple("".join(text for _, text in side)) for side in (source, target))
    return Pair(*characters, frozenset(sure), frozenset(possible))


def _name_the_source():
    """Tell the status table of a run that a chapter used data from elsewhere."""
    if os.environ.get("ABH_PATH_FILE"):
        with open(os.environ["ABH_PATH_FILE"], "a", encoding="utf-8") as file:
            file.write(f"dates of CLDR, babel {_babel().__version__}\n")
