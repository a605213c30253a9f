"""Shopping lists, English to Spanish: the same sentence with one to five things, so that length is all that grows."""

import random

from attention_by_hand.datasets.translation import corpus
from attention_by_hand.datasets.translation.corpus import Draft
from attention_by_hand.datasets.translation.english import Writer
from attention_by_hand.datasets.translation.plans import Phrase
from attention_by_hand.datasets.translation.spanish import add_phrase

PERSONS = ("I", "you", "we", "they")
VERBS = {  # English → Spanish, for I, you, we, they
    "buy": "compro compras compramos compran",
    "sell": "vendo vendes vendemos venden",
    "draw": "dibujo dibujas dibujamos dibujan",
    "see": "veo ves vemos ven",
}
NOUNS = (
    *("hat", "book", "car", "house", "letter", "apple"),
    *("table", "chair", "lamp", "bag", "bicycle", "clock"),
)
ADJECTIVES = ("red", "white", "black", "small", "old", "new")
ODDS = (5, 3, 2, 1, 1)  # how often training has one thing, two, …


def shopping(train=20000, test=100, validation=512, seed=0):
    """Sentences such as *we buy a red hat and the apple* with one to five things, and their Spanish.

    A thing is the or a, an adjective half of the time, and a noun; things are joined by *and*. In training, one
    thing is the most frequent and five the rarest, 5 : 3 : 2 : 1 : 1. Made by our own code in about a second;
    nothing is stored.

    Args:
        train: sentences for training. They are drawn one by one, so that short ones may come more than once.
        test: different test sentences for each number of things.
        validation: sentences like those of training, all different.
        seed: integer seed.

    Returns:
        A `Corpus` with `splits` `"train"`, `"validation"`, and `"1"` … `"5"` for the number of things. No sentence
        of one split is in another. Links as in `translation`; *and* and *y* have no sure link.

    Raises:
        ValueError: fewer than one sentence asked for, or more short ones than there are.
    """
    if min(train, test, validation) < 1:
        raise ValueError(f"train, test and validation must be at least 1; got {train}, {test}, {validation}")
    shortest = len(PERSONS) * len(VERBS) * len(NOUNS) * (1 + len(ADJECTIVES)) * 2
    if test + validation > shortest // 2:
        raise ValueError(
            f"test + validation must be at most {shortest // 2}, half of the sentences with one thing; "
            f"got {test + validation}"
        )
    source = random.Random(seed)
    counts = range(1, len(ODDS) + 1)
    asked = [(str(k), test, lambda k=k: k) for k in counts]
    asked += [
        (name, size, lambda: _weighted(source) + 1) for name, size in (("validation", validation), ("train", train))
    ]
    elsewhere, splits = set(), {}
    for name, size, things in asked:
        here, pairs = set(), []
        for count in (things() for _ in range(size)):
            pair = _pair(source, count)
            while pair.source in elsewhere or (name != "train" and pair.source in here):
                pair = _pair(source, count)
            here.add(pair.source)
            pairs.append(pair)
        elsewhere |= here
        splits[name] = pairs
    order = ("train", "validation", *map(str, counts))
    return corpus("es", {name: splits[name] for name in order})


def _pair(source, count):
    """A sentence with `count` things, in both languages."""
    person, verb = _one(source, PERSONS), _one(source, tuple(VERBS))
    things = [_thing(source) for _ in range(count)]
    writer = Writer()
    writer.say(person, "subject")
    writer.say(verb, "verb")
    for i, thing in enumerate(things):
        writer.say("and" if i else None, f"and {i}")
        writer.phrase(thing, f"thing {i}")
    draft = Draft(writer.at)
    draft.content(VERBS[verb].split()[PERSONS.index(person)], "verb", "subject")
    for i, thing in enumerate(things):
        if i:
            draft.function("y", f"and {i}")
        add_phrase(draft, thing, f"thing {i}")
    return draft.pair(writer.words)


def _thing(source):
    article = _one(source, ("the", "a"))
    adjectives = (_one(source, ADJECTIVES),) if source.random() < 0.5 else ()
    return Phrase(_one(source, NOUNS), article, adjectives)


def _one(source, options):
    return options[int(source.random() * len(options))]


def _weighted(source):
    """An index, drawn with the odds of `ODDS`."""
    point, index = source.random() * sum(ODDS), 0
    while point >= ODDS[index]:
        point -= ODDS[index]
        index += 1
    return index
