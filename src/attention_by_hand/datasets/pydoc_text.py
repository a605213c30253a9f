"""Real text that every Python has: the help topics of the standard library, as rows of characters."""

import os
import random
import re

import numpy as np

from attention_by_hand.datasets.stories import STOP

SPLITS = ("train", "validation", "test")


def pydoc_paragraphs(topics=None):
    """The paragraphs of Python's help topics, in order, each as one line; some stand there several times.

    Args:
        topics: `{name: text}` to use instead of `pydoc_data.topics`, whose text depends on the version of Python.
    """
    if topics is None:
        from pydoc_data.topics import topics

        if os.environ.get("ABH_PATH_FILE"):  # the status table names what is not our own data
            with open(os.environ["ABH_PATH_FILE"], "a", encoding="utf-8") as file:
                file.write("pydoc_data.topics\n")
    blocks = (block for name in sorted(topics) for block in re.split(r"\n\s*\n", topics[name]))
    lines = (re.sub(r"\s+", " ", block).strip() for block in blocks)
    return [line for line in lines if re.search("[a-z]", line)]  # not the rules under titles


def pydoc_text(length=128, distinct=True, topics=None, seed=0):
    """Help topics as rows for a language model, split by paragraph: 8 of 10 for training, 1 for each of the others.

    Args:
        length: T, characters a row. Rows are cut from the paragraphs of a split, in random order, end to end.
        distinct: whether every paragraph is taken once. If not, the same one may stand in training and test.
        topics: see `pydoc_paragraphs`.
        seed: integer seed of the order.

    Returns:
        `(alphabet, splits)`: a string whose places are the ids, 0 for the end of a paragraph; and for `"train"`,
        `"validation"` and `"test"` a dictionary of arrays (N, T): `tokens` and `target` int32, `weight` float32, all 1.

    Raises:
        ValueError: `length` is below 1, or larger than a split's text.
    """
    paragraphs = pydoc_paragraphs(topics)
    paragraphs = sorted(set(paragraphs)) if distinct else paragraphs
    random.Random(seed).shuffle(paragraphs)
    alphabet = STOP + "".join(sorted(set("".join(paragraphs))))
    number = {sign: n for n, sign in enumerate(alphabet)}
    ends = [0, len(paragraphs) * 8 // 10, len(paragraphs) * 9 // 10, len(paragraphs)]
    splits = {}
    for name, first, last in zip(SPLITS, ends[:-1], ends[1:], strict=True):
        ids = np.array([number[sign] for line in paragraphs[first:last] for sign in STOP + line], "int32")
        rows = (len(ids) - 1) // length if length > 0 else 0
        if rows < 1:
            raise ValueError(f"length must be between 1 and {len(ids) - 1}, the text of {name}; got {length}")
        tokens, target = (ids[start : start + rows * length].reshape(rows, length) for start in (0, 1))
        splits[name] = {"tokens": tokens, "target": target, "weight": np.ones(tokens.shape, "float32")}
    return alphabet, splits
