"""WordPiece: any text as pieces of a fixed vocabulary, the longest known piece first. The tokenizer of BERT."""

import unicodedata
from pathlib import Path

import numpy as np

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
DROPPED = ("Cc", "Cf", "Co", "Cs")  # control characters and others that nobody sees
LONGEST_WORD = 100  # characters: a longer word is unknown as a whole


class WordPiece:
    """Text → pieces → numbers.

        text → lower case, accents off → words, each punctuation mark by itself → pieces
        pieces(word) = the longest beginning in the vocabulary, then the longest continuation "##…", and so on

    Args:
        vocabulary: the pieces; the place of a piece is its number.
        longest: most tokens of a text, `[CLS]` and `[SEP]` included; what comes after is cut off.

    Raises:
        ValueError: the vocabulary lacks one of `[PAD]`, `[UNK]`, `[CLS]`, `[SEP]`, or holds a piece twice.

    Source: Wu et al. 2016, "Google's Neural Machine Translation System", §4.1; Devlin et al. 2019, "BERT", §3.
    """

    def __init__(self, vocabulary, longest=256):
        self.pieces = list(vocabulary)
        self.number = {piece: n for n, piece in enumerate(self.pieces)}
        self.longest = longest
        missing = [piece for piece in SPECIAL if piece not in self.number]
        if missing:
            raise ValueError(f"vocabulary must have {missing[0]}; it has {len(self.pieces)} pieces")
        if len(self.number) < len(self.pieces):
            raise ValueError("vocabulary must have each piece once; it has one twice")

    @classmethod
    def from_file(cls, path, **options):
        """A vocabulary with one piece a line."""
        return cls(Path(path).read_text(encoding="utf-8").splitlines(), **options)

    def __len__(self):
        return len(self.pieces)

    def tokens(self, text):
        """The pieces of a text between `[CLS]` and `[SEP]`.

        Args:
            text: a string.

        Returns:
            List of pieces, at most `longest`.

        Raises:
            ValueError: `text` is no string.
        """
        if not isinstance(text, str):
            raise ValueError(f"text must be a string; got {type(text).__name__}")
        found = [piece for word in words(text) for piece in split_word(word, self.number)]
        return ["[CLS]", *found[: self.longest - 2], "[SEP]"]

    def encode(self, texts, length=None):
        """The numbers of several texts, padded at the end.

        Args:
            texts: list of N strings.
            length: T; the longest text's when None.

        Returns:
            Dictionary of arrays: `tokens` (N, T) int32, 0-padded with `[PAD]`; `mask` (N, T) boolean, True for tokens.

        Raises:
            ValueError: `texts` is one string or empty, or one of them has more than `length` tokens.
        """
        if isinstance(texts, str) or not len(texts):
            raise ValueError(f"texts must be a list of strings; got {texts!r}")
        rows = [[self.number[piece] for piece in self.tokens(text)] for text in texts]
        longest = max(map(len, rows))
        if length is not None and longest > length:
            raise ValueError(f"length must be at least {longest}, the longest text's number of tokens; got {length}")
        tokens = np.full((len(rows), length or longest), self.number["[PAD]"], "int32")
        mask = np.zeros(tokens.shape, bool)
        for row, numbers in enumerate(rows):
            tokens[row, : len(numbers)], mask[row, : len(numbers)] = numbers, True
        return {"tokens": tokens, "mask": mask}


def words(text):
    """Words of a text in lower case without accents; punctuation marks and Chinese characters stand by themselves."""
    lower = "".join(c.lower() for c in text)  # letter by letter: a final Σ is no special case
    plain = "".join(c for c in unicodedata.normalize("NFD", lower) if unicodedata.category(c) != "Mn")
    found = [""]
    for c in plain:
        if c.isspace():
            found.append("")
        elif _alone(c):
            found += [c, ""]
        elif unicodedata.category(c) not in DROPPED and c != "\ufffd":
            found[-1] += c
    return [word for word in found if word]


def split_word(word, number, unknown="[UNK]"):
    """The pieces of one word: the longest that is known, then the longest that continues it, until nothing is left.

    Args:
        word: a string.
        number: the vocabulary: pieces, as keys of a dictionary; those that continue a word begin with `##`.
        unknown: stands for a word that cannot be put together.

    Returns:
        List of pieces.
    """
    pieces, start = [], 0
    while start < len(word):
        prefix = "##" if start else ""
        ends = (end for end in range(len(word), start, -1) if prefix + word[start:end] in number)  # longest first
        end = next(ends, None)
        if end is None or len(word) > LONGEST_WORD:
            return [unknown]
        pieces.append(prefix + word[start:end])
        start = end
    return pieces


def _alone(c):
    """Whether a character is a word by itself: punctuation, an ASCII symbol, or a Chinese character."""
    code = ord(c)
    chinese = 0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF or 0xF900 <= code <= 0xFAFF or code >= 0x20000
    symbol = 33 <= code <= 126 and not c.isalnum()
    return symbol or unicodedata.category(c)[0] == "P" or (chinese and code <= 0x2FA1F)
