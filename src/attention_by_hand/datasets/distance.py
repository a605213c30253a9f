"""Recall against distance: a note, many other words, and at the end a question about the note.

Key and value stand in one token, so that attention needs no positions; how far the note is from the question varies.
"""

import numpy as np

NAMES = ("", "Anna", "Ben", "Clara", "David", "Eva", "Finn", "Greta", "Hugo")  # keys; 0: nobody's
THINGS = ("", "pear", "plum", "kiwi", "fig", "lime", "nut", "leek", "corn")  # values; 0: the question


def distance_text(key, value):
    """The tokens of one sequence (n,) as words: "Anna:pear" is a note, ":plum" a word of nobody, "Anna:?" asks."""
    return [f"{NAMES[k]}:{THINGS[v] or '?'}" for k, v in zip(key, value, strict=True)]


def recall_at_distance(count, length=15, seed=0):
    """Sequences that hold one or two notes among words of nobody, and end with a question.

    A token is a key and a value. A note has a name as its key; all other tokens have key 0 and a random value. The
    last token has the name that is asked as its key, and value 0. Half of the sequences hold a second note, with
    another name. The note that is asked stands 1 … `length` − 1 steps before the question, each equally often.

    Args:
        count: number of sequences N.
        length: number of tokens n, at least 3.
        seed: integer seed.

    Returns:
        Dictionary of arrays: `key` and `value` (N, n) int32; `target` (N,) int32, the value of the note that is
        asked, minus 1; `distance` (N,) int32, from the note to the question in steps; `notes` (N,) int32, 1 or 2.

    Raises:
        ValueError: `length` is smaller than 3.
    """
    if length < 3:
        raise ValueError(f"length must be at least 3, two notes and a question; got {length}")
    rng = np.random.default_rng(seed)
    row, last = np.arange(count), length - 1
    distance = rng.integers(1, length, size=count)
    other = (distance + rng.integers(1, last, size=count) - 1) % last + 1  # 1 … n − 1, never the same as `distance`
    name = np.argsort(rng.random((count, len(NAMES) - 1)), axis=1)[:, :2] + 1  # (N, 2), two different names
    value = rng.integers(1, len(THINGS), size=(count, length))
    notes = rng.integers(1, 3, size=count)
    key = np.zeros((count, length), int)
    key[row, last - other] = np.where(notes == 2, name[:, 1], 0)
    key[row, last - distance] = key[row, last] = name[:, 0]
    value[row, last] = 0
    return {
        "key": key.astype("int32"),
        "value": value.astype("int32"),
        "target": (value[row, last - distance] - 1).astype("int32"),
        "distance": distance.astype("int32"),
        "notes": notes.astype("int32"),
    }


def without_note(data):
    """The same sequences, the note that is asked turned into a word of nobody with another value.

    The control that shows where an answer comes from: what is asked for no longer stands anywhere.

    Args:
        data: what `recall_at_distance` returns.

    Returns:
        A copy with other `key` and `value` at the place of that note.
    """
    row = np.arange(len(data["distance"]))
    place = data["key"].shape[1] - 1 - data["distance"]
    key, value = data["key"].copy(), data["value"].copy()
    key[row, place] = 0
    value[row, place] = value[row, place] % (len(THINGS) - 1) + 1  # the next value: never the right one
    return {**data, "key": key, "value": value}
