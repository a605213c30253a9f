"""Short stories by our own grammar, with every word marked that depends on a fact told long before."""

import random
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from attention_by_hand.datasets.stories import files
from attention_by_hand.datasets.stories.english import PLACES, is_story
from attention_by_hand.datasets.stories.files import KINDS, Story, read_marked

LANGUAGES = {"en": "english", "ko": "korean"}
SIZES = {"en": {"train": 3200, "validation": 256, "test": 256}, "ko": {"train": 1536, "validation": 128, "test": 128}}
STOP = "\n"  # before and after every story, and where a shorter one is filled up; id 0
__all__ = ["KINDS", "LANGUAGES", "STOP", "Stories", "Story", "exchange_places", "is_story", "stories"]


@dataclass(frozen=True)
class Stories:
    """Stories in splits, and the alphabet that turns them into ids.

    Attributes:
        language: `"en"` or `"ko"`.
        alphabet: every character once, a string; a character's id is its place. Id 0 is the stop, a line's end.
        splits: `{"train": list of Story, "validation": …, "test": …}`.
    """

    language: str
    alphabet: str
    splits: dict

    def encode(self, text):
        """Ids (T,), int32, of a text.

        Raises:
            ValueError: a character that is not in the alphabet.
        """
        unknown = sorted(set(text) - set(self.alphabet))
        if unknown:
            raise ValueError(f"text must consist of characters of the alphabet; got {''.join(unknown)!r}")
        return np.array([self.alphabet.index(sign) for sign in text], "int32")

    def decode(self, ids):
        """The text of ids (T,), up to the first stop; an id that is no character becomes �."""
        return "".join(self.alphabet[i] if i < len(self.alphabet) else "�" for i in map(int, ids)).split(STOP)[0]

    def arrays(self, split, length=None):
        """Stories as arrays for a language model.

        Args:
            split: name of a split, or a list of `Story`.
            length: T, one more than the longest story or larger; the smallest possible over all splits when None.

        Returns:
            Dictionary of arrays (N, T): `tokens` int32, the stop and then the story; `target` int32, the story and
            then the stop; `weight` float32, 1 where there is something to predict, 0 after that; `kind` int32, the
            number in `KINDS` of the character to predict.

        Raises:
            ValueError: an unknown split, or a length that is too small.
        """
        if isinstance(split, str) and split not in self.splits:
            raise ValueError(f"split must be one of {', '.join(self.splits)}; got {split!r}")
        longest = 1 + max(len(story.text) for each in self.splits.values() for story in each)
        length = longest if length is None else length
        if length < longest:
            raise ValueError(f"length must be at least {longest}; got {length}")
        chosen = self.splits[split] if isinstance(split, str) else split
        text = np.zeros((len(chosen), length + 1), "int32")
        kind = np.zeros((len(chosen), length), "int32")
        weight = np.zeros((len(chosen), length), "float32")
        for n, story in enumerate(chosen):
            end = len(story.text)
            text[n, 1 : end + 1] = self.encode(story.text)
            kind[n, :end] = story.kinds
            weight[n, : end + 1] = 1.0
        return {"tokens": text[:, :-1], "target": text[:, 1:], "weight": weight, "kind": kind}


def stories(language="en", seed=0, folder=None):
    """Stories of five sentences; the words that depend on far facts are known by kind: who, where, what, pronoun.

    Between such a word and the last mention of its fact lie at least seven other characters, so that an n-gram of
    order 8 does not see it. No two stories, of whatever splits, share owner, guest, place and thing.

    Seed 0 is read from `stories_en.txt` (`…_ko`) in the folder `data` of a clone. Where that file is missing, as with
    the installed package alone, and for other seeds, the same text is made on the fly.

    Args:
        language: `"en"` or `"ko"`.
        seed: integer seed.
        folder: where to look for the file, when not in the clone.

    Returns:
        `Stories` with the splits `"train"`, `"validation"` and `"test"`.

    Raises:
        ValueError: another language; or the file is there and is not what it should be (then delete it).
    """
    if language not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(map(repr, LANGUAGES))}; got {language!r}")
    path = Path(folder or files.FOLDER) / f"stories_{language}.txt"
    found = files.read(path, files.CHECKSUMS[language]) if seed == 0 else None
    marked = found or generate(language, seed)
    splits = {name: [read_marked(text) for text in texts] for name, texts in marked.items()}
    signs = {sign for each in splits.values() for story in each for sign in story.text}
    return Stories(language, STOP + "".join(sorted(signs)), splits)


def exchange_places(told, follow=False, seed=0):
    """The control: English stories whose place, where it is told first, is another one of the same length.

    Args:
        told: list of `Story`.
        follow: whether the place at the end, the marked word, becomes the new one, too. If not, it is the old one,
            which nothing in the story tells any more.
        seed: integer seed of the new places.

    Returns:
        A list of `Story`.
    """
    rng, found = random.Random(seed), []
    for story in told:
        ((_, start, end),) = (slot for slot in story.slots() if slot[0] == "where")
        old = story.text[start:end]
        new = rng.choice([place for place in PLACES if place != old and len(place) == len(old)])
        text = story.text.replace(old, new, 2 if follow else 1)
        found.append(Story(text, story.kinds))
    return found


def generate(language, seed=0, sizes=None):
    """Marked stories by split, made by the grammar: what `stories` reads or, without the file, returns."""
    grammar = import_module(f"{__name__}.{LANGUAGES[language]}")
    tell, rng, known = getattr(grammar, LANGUAGES[language]), random.Random(f"{language} {seed}"), set()
    splits = {}
    for name, size in (sizes or SIZES[language]).items():
        splits[name] = []
        while len(splits[name]) < size:
            owner, guest = rng.sample(grammar.WOMEN + grammar.MEN, 2)
            facts = (owner, guest, rng.choice(grammar.PLACES), rng.choice(grammar.THINGS))
            if facts not in known:
                known.add(facts)
                splits[name].append(tell(*facts, rng.choice))
    return splits
