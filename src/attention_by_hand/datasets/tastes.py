"""Likes and dislikes: every person is asked for two relations at once, and the same fruits answer both."""

import numpy as np

PEOPLE = ("Anna", "Ben", "Chloe", "David", "Emma", "Finn")
RELATIONS = ("likes", "dislikes")
FRUITS = ("apple", "cherry", "grape", "kiwi", "lemon", "melon", "pear", "plum")
WIDTH = len(PEOPLE) + len(RELATIONS)  # of a key as a vector: two one-hot fields side by side


def likes_and_dislikes(count, people=4, seed=0):
    """Notes such as "Anna likes pear", in any order, and the question what one person likes and dislikes.

    Every person in an example has two notes, one a relation, and never dislikes what they like. Both relations
    draw from the same fruits, so that a fruit alone does not say which question it answers.

    Args:
        count: number of examples N.
        people: people in one example; T = 2 · `people` notes.
        seed: integer seed.

    Returns:
        Dictionary of arrays: `notes` (N, T, 3) int32, indices into `PEOPLE`, `RELATIONS` and `FRUITS`; `asked` (N,)
        int32, the person; `mask` (N, T) boolean, True everywhere; `target` (N, 2) int32, the fruit of each relation;
        `position` (N, 2) int32, the note of each relation.

    Raises:
        ValueError: `people` is outside 1 … 6.
    """
    if not 1 <= people <= len(PEOPLE):
        raise ValueError(f"people must be between 1 and {len(PEOPLE)}; got {people}")
    rng = np.random.default_rng(seed)
    person = np.argsort(rng.random((count, len(PEOPLE))), axis=1)[:, :people]  # all different
    liked = rng.integers(0, len(FRUITS), size=(count, people))
    disliked = (liked + rng.integers(1, len(FRUITS), size=(count, people))) % len(FRUITS)
    notes = np.stack(
        [
            np.tile(person, (1, 2)),
            np.repeat([[0, 1]], people, axis=1) + np.zeros((count, 1), int),
            np.concatenate([liked, disliked], axis=1),
        ],
        axis=-1,
    )  # (N, T, 3), likes first
    order = np.argsort(rng.random((count, 2 * people)), axis=1)
    row, who = np.arange(count), rng.integers(0, people, size=count)
    place = np.argsort(order, axis=1)  # (N, T): where each note went
    return {
        "notes": np.take_along_axis(notes, order[:, :, None], axis=1).astype("int32"),
        "asked": person[row, who].astype("int32"),
        "mask": np.ones((count, 2 * people), bool),
        "target": np.stack([liked[row, who], disliked[row, who]], axis=1).astype("int32"),
        "position": np.stack([place[row, who], place[row, who + people]], axis=1).astype("int32"),
    }


def taste_vectors(data):
    """Notes and question as vectors: the key says whose note it is and of which relation, the value which fruit.

    Args:
        data: what `likes_and_dislikes` returns.

    Returns:
        Dictionary of arrays: `query` (N, 1, 8) float32, the person one-hot, with two zeros where a key has the
        relation; `key` (N, T, 8) float32, person and relation one-hot; `value` (N, T, 8) float32, the fruit one-hot;
        `mask` (N, T) boolean.
    """
    person, relation, fruit = data["notes"].transpose(2, 0, 1)  # (N, T) each
    key = np.concatenate([np.eye(len(PEOPLE))[person], np.eye(len(RELATIONS))[relation]], axis=-1)
    vectors = {
        "query": np.eye(len(PEOPLE), WIDTH)[data["asked"]][:, None],
        "key": key,
        "value": np.eye(len(FRUITS))[fruit],
    }
    return {**{name: x.astype("float32") for name, x in vectors.items()}, "mask": data["mask"]}


def without_answers(data):
    """The same examples with both gold notes hidden: the control that shows where an answer comes from.

    Args:
        data: what `likes_and_dislikes` returns.

    Returns:
        A copy whose `mask` is False at both gold positions.
    """
    mask = data["mask"].copy()
    np.put_along_axis(mask, data["position"], False, axis=1)
    return {**data, "mask": mask}


def taste_text(notes):
    """Notes as text: `"Anna likes pear"` for (3,), a list for (T, 3)."""
    notes = np.asarray(notes)
    if notes.ndim > 1:
        return [taste_text(note) for note in notes]
    return " ".join(names[i] for names, i in zip((PEOPLE, RELATIONS, FRUITS), notes, strict=True))
