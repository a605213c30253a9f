"""Match and fetch: find an item by its name, answer with its content. The name must not appear in the answer."""

import numpy as np

NAMES, CONTENTS = 16, 8  # how many different ones there are
NAME_WIDTH, CONTENT_WIDTH = 6, 5  # D_Q and D_V; an item has width D_X = 11


def match_and_fetch(count, items=6, seed=0):
    """Sets of items and a query that is the name of exactly one of them; the answer is this item's content.

    An item is one vector, x = [name; content] M, with a fixed rotation M: no column of it is only name or only
    content. Names in one example are all different, contents may repeat. The target is the content alone, so
    that an answer in which the name is left is a wrong answer.

    Args:
        count: number of examples N.
        items: number of items n in each, at most 16.
        seed: integer seed of the examples. The vectors of names and contents and M are always the same.

    Returns:
        Dictionary of arrays: `query` (N, 1, 6), the name asked for; `items` (N, n, 11); `mask` (N, n) boolean,
        all True; `target` (N, 5), the content to answer; `answer` (N,) its row in `contents()`; `position` (N,)
        of the matching item. Vectors are float32 with mean square 1.

    Raises:
        ValueError: more items than names.
    """
    if not 1 <= items <= NAMES:
        raise ValueError(f"items must be between 1 and {NAMES}, as no name repeats in an example; got {items}")
    names, table, rotation = _tables()
    rng = np.random.default_rng(seed)
    name = np.argsort(rng.random((count, NAMES)), axis=1)[:, :items]  # different names in every row
    content = rng.integers(0, CONTENTS, size=(count, items))
    position = rng.integers(0, items, size=count)
    row = np.arange(count)
    vectors = np.concatenate([names[name], table[content]], axis=-1) @ rotation  # (N, n, 11)
    return {
        "query": names[name[row, position]][:, None].astype("float32"),
        "items": vectors.astype("float32"),
        "mask": np.ones((count, items), dtype=bool),
        "target": table[content[row, position]].astype("float32"),
        "answer": content[row, position].astype("int32"),
        "position": position.astype("int32"),
    }


def contents():
    """The 8 content vectors, float32 (8, 5): an answer counts as right when the nearest of them is the target."""
    return _tables()[1].astype("float32")


def _tables():
    """Names (16, 6), contents (8, 5) and the rotation (11, 11)."""
    rng = np.random.default_rng(5)
    names, table = (
        x / np.sqrt(np.mean(x**2, axis=1, keepdims=True))
        for x in (rng.normal(size=(NAMES, NAME_WIDTH)), rng.normal(size=(CONTENTS, CONTENT_WIDTH)))
    )
    width = NAME_WIDTH + CONTENT_WIDTH
    return names, table, np.linalg.qr(rng.normal(size=(width, width)))[0]
