"""Which sentences are for training, which for testing: drawn once, the same English sentences for every language."""

import random
from collections import Counter

from attention_by_hand.datasets.translation.english import english
from attention_by_hand.datasets.translation.french import gender as french_gender
from attention_by_hand.datasets.translation.plans import (
    BODIES,
    CONTINENTS,
    COUNT,
    DESCRIBED,
    EXAMPLES,
    PEOPLE,
    Sampler,
    described,
)
from attention_by_hand.datasets.translation.spanish import gender as spanish_gender

SIZES = {"train": 8000, "validation": 512, "random": 512, "pairs": 512, "long": 512}
LONGEST = 13  # words of the longest training sentence; those of "long" have more
_KEPT = 0.75  # at least this share of the partners of every adjective and noun occurs in training


def splits(seed=0, sizes=SIZES):
    """Plans with their English words, by split: name → list of (plan, words, places).

    No two sentences are the same, in whatever splits. All but `"long"` have at most `LONGEST` words. All but
    `"pairs"` are free of the held-out pairs of adjective and noun; in `"pairs"` every sentence has at least one.

    Args:
        seed: integer seed.
        sizes: sentences a split.
    """
    source = random.Random(seed)
    held_out = held_out_pairs(source)
    seen = {tuple(english(plan)[0]) for plan in EXAMPLES}
    result = {}
    for name, size in sizes.items():
        sampler = Sampler(source, long=name == "long")
        result[name] = []
        while len(result[name]) < size:
            plan = sampler.plan()
            if held_out.isdisjoint(described(plan)) == (name == "pairs"):
                continue
            words, places = english(plan)
            if (len(words) > LONGEST) != (name == "long") or tuple(words) in seen:
                continue
            seen.add(tuple(words))
            result[name].append((plan, words, places))
    return result


def held_out_pairs(source):
    """Pairs (adjective, noun) that training never sees, though it sees every adjective and noun with others.

    It also sees every form of the adjective: some other noun of the same gender and number asks for it.

    Args:
        source: a `random.Random`.
    """
    pairs = [(adjective, noun) for noun, adjectives in DESCRIBED.items() for adjective in adjectives]
    pairs += [(continent, body) for body in BODIES for continent in CONTINENTS]
    pairs += [(middle, body) for body, middles in BODIES.items() for middle in middles if middle]
    left = Counter(word for pair in pairs for word in pair)
    forms = Counter(form for pair in pairs for form in _forms(*pair))
    needed = set().union(*(described(plan) for plan in EXAMPLES))
    least = {word: max(2, _KEPT * count) for word, count in left.items()}
    chosen = set()
    for _, pair in sorted((source.random(), pair) for pair in pairs):
        spared = all(left[word] - 1 >= least[word] for word in pair) and all(forms[f] > 1 for f in _forms(*pair))
        if spared and pair not in needed:
            chosen.add(pair)
            left.subtract(pair)
            forms.subtract(_forms(*pair))
    return chosen


def _forms(adjective, noun):
    """What decides about the form of an adjective in Spanish and in French."""
    counted = noun in (*COUNT, *PEOPLE)  # these have a plural
    return (adjective, "es", spanish_gender(noun), counted), (adjective, "fr", french_gender(noun), counted)
