"""Who bites whom: find the noun in front of a given verb. Only the order of the words says which noun it is."""

import numpy as np

NOUNS = ("dog", "man", "cat", "bird", "child", "horse", "wolf", "fox", "cow", "hen")
VERBS = ("bites", "sees", "calls", "follows")
FILLERS = ("now", "here", "often", "again")
WORDS = ("", *NOUNS, *VERBS, *FILLERS)  # a word's id is its place; id 0 is padding

NUM_WORDS = len(WORDS) - 1  # without padding


def spelled(tokens):
    """The words of one sentence (T,) of ids, without padding."""
    return [WORDS[token] for token in tokens if token]


def who_bites_whom(count, lead=3, seed=0):
    """Sentences of two clauses, as in "now dog bites man here cat sees bird", and a question about one of the verbs.

    The answer is the noun directly before the verb that is asked. All nouns of a sentence are different, so a
    model that sees the words without their order can only guess one of four.

    Args:
        count: number of sentences N.
        lead: a sentence starts with 0 … `lead` fillers, so that the verbs stand at many places.
        seed: integer seed.

    Returns:
        Dictionary of arrays: `tokens` (N, lead + 8) int32, indices into `WORDS`, 0 is padding; `mask`, the same
        shape, boolean, True for a word; `at_verb`, the same shape, boolean, True at the verb that is asked;
        `target` (N,) int32, id of the answer; `position` (N,) int32, where it stands.

    Raises:
        ValueError: `lead` is negative.
    """
    if lead < 0:
        raise ValueError(f"lead must be at least 0; got {lead}")
    rng = np.random.default_rng(seed)
    noun = np.argsort(rng.random((count, len(NOUNS))), axis=1)[:, :4] + 1  # (N, 4), all different
    verb = rng.integers(len(VERBS), size=(count, 2)) + 1 + len(NOUNS)  # (N, 2)
    filler = rng.integers(len(FILLERS), size=(count, lead + 2)) + 1 + len(NOUNS) + len(VERBS)
    clauses = [np.stack([noun[:, 2 * c], verb[:, c], noun[:, 2 * c + 1]], axis=1) for c in range(2)]
    slots = np.concatenate([filler[:, :lead], clauses[0], filler[:, lead:], clauses[1]], axis=1)  # (N, lead + 8)
    used = np.ones(slots.shape, bool)
    used[:, :lead] = np.arange(lead) < rng.integers(lead + 1, size=(count, 1))
    used[:, lead + 4] = rng.random(count) < 0.5  # one or two fillers between the clauses
    asked = rng.integers(2, size=count)
    at_verb = np.arange(slots.shape[1]) == (lead + 1 + 5 * asked)[:, None]  # (N, lead + 8)
    order = np.argsort(~used, axis=1, kind="stable")  # unused slots move to the end
    tokens, mask, at_verb = (np.take_along_axis(x, order, axis=1) for x in (slots * used, used, at_verb))
    position = at_verb.argmax(axis=1) - 1
    return {
        "tokens": tokens.astype("int32"),
        "mask": mask,
        "at_verb": at_verb,
        "target": tokens[np.arange(count), position].astype("int32"),
        "position": position.astype("int32"),
    }
