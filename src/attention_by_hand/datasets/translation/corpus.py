"""What a parallel text is made of: pairs of sentences with their gold links, vocabularies, a corpus."""

import unicodedata
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

SPECIALS = ("[PAD]", "[START]", "[END]", "[UNK]")
PADDING, START, END, UNKNOWN = range(4)


class Pair(NamedTuple):
    """A sentence, its translation and the gold links between their words.

    A link (t, s) says: target word t comes from source word s. `sure` is a part of `possible`.
    """

    source: tuple
    target: tuple
    sure: frozenset
    possible: frozenset


@dataclass(frozen=True)
class Corpus:
    """Pairs by split, the two vocabularies, and a few famous sentences that are in no split.

    Attributes:
        language: `"en-fr"`, for example: from which language, to which.
        source, target: the `Vocabulary` of either side, from the training pairs.
        splits: name → list of `Pair`.
        examples: tuple of `Pair`, kept apart to be shown.
    """

    language: str
    source: "Vocabulary"
    target: "Vocabulary"
    splits: dict
    examples: tuple = ()

    def __repr__(self):
        sizes = ", ".join(f"{name} {len(pairs)}" for name, pairs in self.splits.items())
        return f"Corpus({self.language}: {len(self.source)} and {len(self.target)} words; {sizes})"


class Vocabulary:
    """Words by number: 0 padding, 1 start, 2 end, 3 unknown, then the given words in sorted order."""

    def __init__(self, words):
        """
        Args:
            words: words in any order, also repeated.

        Raises:
            ValueError: a word is no text, is empty, or is one of the four specials.
        """
        words = sorted(set(words), key=str)
        for word in words:
            if not isinstance(word, str) or not word or word in SPECIALS:
                raise ValueError(f"words must be texts, not empty and none of {SPECIALS}; got {word!r}")
        self.words = (*SPECIALS, *words)
        self._ids = {word: i for i, word in enumerate(self.words)}

    def __len__(self):
        return len(self.words)

    def __contains__(self, word):
        return self._ids.get(word, UNKNOWN) > UNKNOWN

    def __repr__(self):
        return f"Vocabulary of {len(self)}: {' '.join(self.words[:8])} …"

    def encode(self, sentences, length=None, start=False, end=False, reverse=False, unknown="raise"):
        """Sentences as rows of numbers, padded with 0 at the end.

        Args:
            sentences: list of N sentences, each a sequence of words.
            length: width T of the result; the longest row when None.
            start, end: put 1 in front of the words, 2 behind them.
            reverse: the words in reverse order (start and end stay where they are).
            unknown: what to do with a word that is not in the vocabulary: `"raise"`, or `"replace"` it with 3.

        Returns:
            Array (N, T) of int32.

        Raises:
            ValueError: `sentences` is one text or a list of texts instead of a list of lists of words; it or a
                sentence is empty; a sentence needs more than `length` places; a word is unknown; `unknown` is
                another name.
        """
        if unknown not in ("raise", "replace"):
            raise ValueError(f'unknown must be "raise" or "replace"; got {unknown!r}')
        sentences = _checked(sentences)
        extra = bool(start) + bool(end)
        longest = max(len(words) for words in sentences) + extra
        length = longest if length is None else length
        ids = np.zeros((len(sentences), length), "int32")
        for row, words in zip(ids, sentences, strict=True):
            if len(words) + extra > length:
                raise ValueError(
                    f"length must be at least {longest}, the places that the longest sentence needs; got {length}. "
                    f"Too long: {' '.join(words)!r}"
                )
            numbers = [self._id(word, unknown) for word in (words[::-1] if reverse else words)]
            numbers = [START] * bool(start) + numbers + [END] * bool(end)
            row[: len(numbers)] = numbers
        return ids

    def decode(self, ids):
        """Words of numbers: up to the first end, without start and padding.

        Args:
            ids: integers (T,) for one sentence, (N, T) for several.

        Returns:
            A tuple of words, or a list of N tuples. An unknown word is written `[UNK]`.

        Raises:
            ValueError: not integers, another number of axes, or a number outside the vocabulary.
        """
        ids = np.asarray(ids)
        if not np.issubdtype(ids.dtype, np.integer) or ids.ndim not in (1, 2):
            raise ValueError(f"ids must be integers (T,) or (N, T); got {ids.dtype} {ids.shape}")
        if ids.size and not (0 <= ids.min() and ids.max() < len(self)):
            raise ValueError(f"ids must be between 0 and {len(self) - 1}; got {ids.min()} … {ids.max()}")
        if ids.ndim == 2:
            return [self.decode(row) for row in ids]
        row = ids.tolist()
        row = row[: row.index(END)] if END in row else row
        return tuple(self.words[i] for i in row if i not in (PADDING, START))

    def _id(self, word, unknown):
        if word in self._ids:
            return self._ids[word]
        if unknown == "replace":
            return UNKNOWN
        raise ValueError(
            f'the vocabulary has no word {word!r}; choose another word, or unknown="replace" to read it as [UNK]'
        )


def _checked(sentences):
    """The sentences as a list of lists of words, or an error that says what they are instead."""
    example = 'a list of sentences, each a list of words, such as [["we", "are", "eating"]]'
    if isinstance(sentences, str) or any(isinstance(sentence, str) for sentence in sentences):
        raise ValueError(f"sentences must be {example}; got text that is not split into words: {sentences!r:.80}")
    sentences = [list(words) for words in sentences]
    if not sentences:
        raise ValueError(f"sentences must be {example}; got none")
    for n, words in enumerate(sentences):
        if not words:
            raise ValueError(f"sentence {n} is empty; every sentence needs at least one word")
    return sentences


def is_punctuation(word):
    """Whether a word is made of punctuation marks only: such words have no links and are not scored."""
    return all(unicodedata.category(letter).startswith("P") for letter in word)


def sentence_text(words):
    """A sentence as one writes it: elided words joined, no space before punctuation, a capital before a full stop.

    Args:
        words: sequence of words, such as `("l'", "accord", "a", "été", "signé", ".")`.

    Returns:
        A text: `"L'accord a été signé."`.
    """
    text = ""
    for word in words:
        joined = not text or text.endswith("'") or is_punctuation(word)
        text += word if joined else f" {word}"
    return text[:1].upper() + text[1:] if text.endswith(".") else text


class Draft:
    """A target sentence that grows word by word, each with the source words it comes from.

    A place is a role in the sentence ("verb", "object noun", …); `at` says where the source has it. Places that
    the source does not have are left out.
    """

    def __init__(self, at):
        self.at, self.words, self.sure, self.possible = at, [], [], []

    def content(self, word, place, *absorbed):
        """Add a word with a meaning of its own: a sure link to its source, possible ones to what it absorbs."""
        self.sure.append((len(self.words), self.at[place]))
        self.function(word, place, *absorbed)

    def function(self, word, *places):
        """Add a word without a meaning of its own, such as an article: possible links only."""
        self.possible += [(len(self.words), self.at[place]) for place in places if place in self.at]
        self.words.append(word)

    def pair(self, source):
        """The finished pair."""
        return Pair(tuple(source), tuple(self.words), frozenset(self.sure), frozenset(self.possible))
