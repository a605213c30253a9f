"""배: one Korean word, three meanings. Tables of a famous sentence, and sentences in which one word decides.

In the generated sentences 배 carries a particle, and every verb asks for exactly one particle. So the verb that
asks for 배's particle says whether 배 is a ship, a pear or a belly, in whatever order the words stand.
"""

import numpy as np

SENTENCE = ("배(1)", "타고", "배(2)", "먹으니", "배(3)", "아프다")  # ship taken, pear eaten, belly aches
SENTENCE_IDS = (1, 2, 1, 3, 1, 4)  # as an Embedding sees it: 배 is one word

# Scores of the sentence as lectures show them, rows = query, columns = key.
SCORES = np.array(
    [
        [1.0, 0.6, 0.1, 0.1, 0.4, 0.2],
        [0.6, 1.0, 0.3, 0.1, 0.1, 0.1],
        [0.1, 0.3, 1.0, 0.4, 0.3, 0.2],
        [0.1, 0.1, 0.4, 1.0, 0.3, 0.5],
        [0.4, 0.1, 0.3, 0.3, 1.0, 0.6],
        [0.2, 0.1, 0.2, 0.5, 0.6, 1.0],
    ]
)
# A table that circulates as "the softmax" of these scores, and is not.
CIRCULATING = np.array(
    [
        [0.408, 0.149, 0.243, 0.061, 0.090, 0.049],
        [0.205, 0.513, 0.154, 0.051, 0.051, 0.051],
        [0.258, 0.129, 0.430, 0.172, 0.215, 0.086],
        [0.048, 0.048, 0.192, 0.478, 0.144, 0.287],
        [0.091, 0.045, 0.227, 0.136, 0.455, 0.227],
        [0.048, 0.048, 0.086, 0.216, 0.259, 0.432],
    ]
)

MEANINGS = ("ship", "pear", "belly")
PARTICLES = {"가": "subject", "를": "object", "로": "with, by"}
_VERBS = {  # particle that the verb asks for → two verbs for each meaning, with a gloss
    "가": ("도착하고 arrives", "가라앉고 sinks", "익고 ripens", "썩고 rots", "아프고 aches", "고프고 is-hungry"),
    "를": ("타고 takes", "놓치고 misses", "먹고 eats", "깎고 peels", "문지르고 rubs", "내밀고 sticks-out"),
    "로": ("건너고 crosses", "여행하고 travels", "담그고 ferments", "빚고 brews", "숨쉬고 breathes", "기어가고 crawls"),
}
_FILLERS = ("어제 yesterday", "오늘 today", "다시 again", "혼자 alone", "천천히 slowly", "함께 together")
_NOUNS = ("배가 bae+subject", "배를 bae+object", "배로 bae+with", "배 bae")
_ENTRIES = ["– –", *_NOUNS, *(verb for verbs in _VERBS.values() for verb in verbs), *_FILLERS]
WORDS = tuple(entry.split()[0] for entry in _ENTRIES)  # by id; 0 is padding
GLOSSES = tuple(entry.split()[1] for entry in _ENTRIES)
_BARE, _FIRST_VERB, _FIRST_FILLER = 4, 5, 5 + 18
_PAD_KEY = 9.0  # sorts behind every word


def bae_sentences(count, new_combinations=False, particles=True, max_fillers=3, seed=0):
    """Sentences of three clauses, one of them about 배; the verbs' meanings all differ, one a particle.

    Clauses stand in any order, 배 in front of its verb, 0 to `max_fillers` adverbs anywhere. Who eats or what
    arrives in the other clauses stays unsaid, as Korean allows. Ids start at 1 (see `WORDS`); 0 is padding.

    Args:
        count: number of sentences N.
        new_combinations: False for the half of all verb triples meant for training, True for the other half:
            no triple of the one occurs in the other, every verb and every pair of verbs occurs in both.
        particles: whether 배 carries its particle. Without it only the order tells which verb belongs to 배.
        max_fillers: largest number of adverbs.
        seed: integer seed.

    Returns:
        Dictionary of arrays: `tokens` (N, T) int32, T = 4 + `max_fillers`; `mask` (N, T) boolean, True for a word;
        `asker` (N, T) boolean, True for 배; `target` (N,) 0 ship, 1 pear, 2 belly; `position` (N,) of the verb
        that decides.

    Raises:
        ValueError: `max_fillers` is outside 0 … 6.
    """
    if not 0 <= max_fillers <= len(_FILLERS):
        raise ValueError(f"max_fillers must be between 0 and {len(_FILLERS)}; got {max_fillers}")
    rng = np.random.default_rng(seed)
    row = np.arange(count)
    meaning = _meanings(rng, count)  # (N, 3) of the verb of each particle
    variant = rng.integers(0, 2, size=(count, 3))
    variant[:, 2] = (variant[:, 0] + variant[:, 1] + int(new_combinations)) % 2  # parity splits the triples
    verbs = _FIRST_VERB + 6 * np.arange(3) + 2 * meaning + variant  # (N, 3)
    case = _asked(rng, meaning)  # (N,) 배's particle
    noun = 1 + case if particles else np.full(count, _BARE)
    fillers = _FIRST_FILLER + np.argsort(rng.random((count, len(_FILLERS))), axis=1)[:, :max_fillers]

    clause = rng.permuted(np.tile(np.arange(3), (count, 1)), axis=1)  # (N, 3) place of each verb
    place = rng.uniform(0.0, 2.9, size=(count, max_fillers))
    place[np.arange(max_fillers) >= rng.integers(0, max_fillers + 1, size=count)[:, None]] = _PAD_KEY
    keys = np.concatenate([clause[row, case][:, None] + 0.5, clause + 0.95, place], axis=1)  # (N, T) sorting keys
    order = np.argsort(keys, axis=1, kind="stable")
    mask = np.take_along_axis(keys, order, axis=1) < _PAD_KEY
    words = np.take_along_axis(np.concatenate([noun[:, None], verbs, fillers], axis=1), order, axis=1)
    return {
        "tokens": np.where(mask, words, 0).astype("int32"),
        "mask": mask,
        "asker": order == 0,
        "target": meaning[row, case].astype("int32"),
        "position": np.argmax(order == 1 + case[:, None], axis=1).astype("int32"),
    }


def _meanings(rng, count):
    """Meanings (N, 3) of three verbs, at least two of them different."""
    meaning = rng.integers(0, 3, size=(count, 3))
    same = (meaning == meaning[:, :1]).all(axis=1)
    meaning[same, rng.integers(0, 3, size=count)[same]] += rng.integers(1, 3, size=count)[same]
    return meaning % 3


def _asked(rng, meaning):
    """Which verb (N,) decides: every meaning of the sentence is as likely, however many verbs have it.

    So neither the most frequent meaning nor the missing one is a good guess.
    """
    share = (meaning[:, :, None] == meaning[:, None, :]).sum(axis=2)  # (N, 3) verbs with the same meaning
    chance = 1.0 / share / (1.0 / share).sum(axis=1, keepdims=True)  # (N, 3)
    return (rng.random(len(meaning))[:, None] > np.cumsum(chance, axis=1)[:, :2]).sum(axis=1)


def bae_text(ids, gloss=False):
    """A sentence as text: Korean words, or with `gloss` a word-by-word English gloss.

    Args:
        ids: (T,) ids as in `bae_sentences`.
        gloss: whether the gloss is wanted.
    """
    table = GLOSSES if gloss else WORDS
    return " ".join(table[int(i)] for i in ids if i)
