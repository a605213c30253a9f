"""Marked stories as a text file: one function writes it, the other reads it, a checksum lies between them."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[4] / "data"  # there in a clone, not where only the package is installed
KINDS = ("", "who", "where", "what", "pronoun")  # of a character; 0 depends on no far fact
_OPEN, _CLOSE = "[<({", "]>)}"
_SPLIT = "# "
CHECKSUMS = {
    "en": "cd7d1774142d8ec36a18584d2342f97a5b833b1ce718fb5ffddcc1b2ce0ebe00",
    "ko": "5a1a32c98afef4b0f9f71818e0b7c3a5ff4298604c787dbd02540f8c9a010212",
}


@dataclass(frozen=True)
class Story:
    """One story.

    Attributes:
        text: its characters, without marks.
        kinds: for every character its number in `KINDS`: what far fact it depends on, or 0.
    """

    text: str
    kinds: tuple[int, ...]

    def slots(self):
        """The words that depend on far facts, in order: `[(kind, start, end), …]`, kind a name of `KINDS`."""
        found, start = [], 0
        while start < len(self.text):
            end = start + 1
            while self.kinds[start] and end < len(self.text) and self.kinds[end] == self.kinds[start]:
                end += 1
            if self.kinds[start]:
                found.append((KINDS[self.kinds[start]], start, end))
            start = end
        return found


def read_marked(text):
    """A `Story` of marked text: `[who]`, `<where>`, `(what)`, `{pronoun}` are words that depend on far facts.

    Raises:
        ValueError: a mark is not closed, or closed before it was opened.
    """
    plain, kinds, kind = [], [], 0
    for sign in text:
        if sign in _OPEN and not kind:
            kind = _OPEN.index(sign) + 1
        elif kind and sign == _CLOSE[kind - 1]:
            kind = 0
        elif sign in _OPEN + _CLOSE:
            raise ValueError(f"marks must open and close in turn; got {text!r}")
        else:
            plain.append(sign)
            kinds.append(kind)
    if kind:
        raise ValueError(f"marks must open and close in turn; got {text!r}")
    return Story("".join(plain), tuple(kinds))


def to_text(splits):
    """All stories as one text: a line each, `# name` heads a split.

    Args:
        splits: `{name: list of marked texts}`.
    """
    lines = []
    for name, stories in splits.items():
        lines += [_SPLIT + name, *stories]
    return "\n".join(lines) + "\n"


def from_text(text, name="the text"):
    """Marked stories by split of a text that `to_text` made.

    Raises:
        ValueError: a story before the first split, or with wrong marks; the message names the line.
    """
    splits, stories = {}, None
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith(_SPLIT):
            stories = splits.setdefault(line[len(_SPLIT) :], [])
            continue
        try:
            if stories is None:
                raise ValueError("no split is named above it")
            read_marked(line)
        except ValueError as error:
            raise ValueError(f"{name}: line {number} cannot be read: {error}") from error
        stories.append(line)
    return splits


def checksum(text):
    """SHA-256 of a text in UTF-8, as 64 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def read(path, expected):
    """Marked stories by split of a file, or None where there is no file.

    Args:
        path: the file.
        expected: its checksum. Line ends of Windows count as those of Linux: git may have changed them.

    Raises:
        ValueError: the file is no UTF-8 or does not have the checksum; the message says what to do.
    """
    path = Path(path)
    if not path.exists():
        return None
    found = checksum(path.read_bytes().decode("utf-8", errors="replace").replace("\r\n", "\n"))
    if found != expected:
        raise ValueError(
            f"{path} is not the file that belongs here: its SHA-256 is {found[:16]}…, not {expected[:16]}…; "
            "delete it, and the same text is made in memory, or write it again with "
            "`python -m attention_by_hand.datasets.stories.write`"
        )
    return from_text(path.read_text(encoding="utf-8"), path.name)
