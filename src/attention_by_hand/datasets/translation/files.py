"""The corpus as a text file: written by one function, read back by the other, with a checksum between them."""

import hashlib
from pathlib import Path

from attention_by_hand.datasets.translation.corpus import Pair

FOLDER = Path(__file__).resolve().parents[4] / "data"  # there in a clone, not where only the package is installed
_COLUMNS = "source\ttarget\tlinks"
_SPLIT = "# "
CHECKSUMS = {
    "es": "89109f0390fd6e1a597e59583cf3bb03ff5b14e373c58c2a37fb682990392d80",
    "fr": "12f66feb4f8ff8e6b4b978f5af49998dd7d1cd36914b441ff453b6ebdb9ae90f",
    "ko": "0244c93652e13be5a966510d76802ecb5b67128fc0a7014249b8652854329582",
}


def to_text(splits):
    """All pairs as one text: a line each, with the columns source, target, links; `# name` heads a split.

    The links of a target word are the positions of its possible source words, joined by commas; the sure one has
    an exclamation mark, and a word without any has a hyphen. Words and their links are separated by spaces.

    Args:
        splits: dictionary name → list of `Pair`.
    """
    lines = [_COLUMNS]
    for name, pairs in splits.items():
        lines.append(_SPLIT + name)
        for pair in pairs:
            links = " ".join(_links(pair, t) for t in range(len(pair.target)))
            lines.append("\t".join((" ".join(pair.source), " ".join(pair.target), links)))
    return "\n".join(lines) + "\n"


def _links(pair, t):
    found = sorted(s for word, s in pair.possible if word == t)
    return ",".join(f"{s}!" if (t, s) in pair.sure else str(s) for s in found) or "-"


def from_text(text, name="the text"):
    """Pairs by split of a text that `to_text` made.

    Raises:
        ValueError: a line is not as `to_text` writes it; the message names the line and what is wrong with it.
    """
    first, *lines = text.split("\n")
    if first != _COLUMNS:
        raise ValueError(f"{name}: line 1 must be the names of the columns, {_COLUMNS!r}; got {first[:80]!r}")
    splits, pairs = {}, None
    for number, line in enumerate(lines, start=2):
        if line.startswith(_SPLIT):
            pairs = splits.setdefault(line[len(_SPLIT) :], [])
        elif line:
            try:
                pairs.append(_read(line))
            except (ValueError, AttributeError) as error:
                problem = "no split is named above it" if pairs is None else error
                raise ValueError(f"{name}: line {number} cannot be read: {problem}; it is {line[:80]!r}") from error
    return splits


def _read(line):
    cells = line.split("\t")
    if len(cells) != 3 or not all(cells):
        raise ValueError(f"it must have three columns with something in each; it has {len(cells)}")
    source, target, links = (tuple(cell.split(" ")) for cell in cells)
    if len(links) != len(target):
        raise ValueError(f"it has {len(target)} target words and links for {len(links)}")
    sure, possible = [], []
    for t, cell in enumerate(links):
        for link in cell.split(",") if cell != "-" else ():
            s = int(link.rstrip("!"))
            if not 0 <= s < len(source):
                raise ValueError(f"a link goes to word {s} of {len(source)} source words")
            possible.append((t, s))
            if link.endswith("!"):
                sure.append((t, s))
    return Pair(source, target, frozenset(sure), frozenset(possible))


def checksum(text):
    """SHA-256 of a text in UTF-8, as 64 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def read(path, expected):
    """Pairs by split of a file, or None where there is no file.

    Args:
        path: the file.
        expected: its checksum. Line ends of Windows count as those of Linux: git may have changed them.

    Raises:
        ValueError: the file cannot be read, is no UTF-8, or does not have the checksum; the message says what to do.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8").replace("\r\n", "\n")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read: {error}; {_REMEDY}") from error
    found = checksum(text)
    if found != expected:
        raise ValueError(
            f"{path} is not the file that belongs here: its SHA-256 is {found[:16]}…, not {expected[:16]}…; {_REMEDY}"
        )
    return from_text(text, path.name)


_REMEDY = (
    "delete it, and the same text is made in memory, or write it again with "
    "`python -m attention_by_hand.datasets.translation.write`"
)
