"""What a sentence says, before it is said in any language: plans, and which words go together."""

from functools import cache
from typing import NamedTuple

PRONOUNS = ("I", "you", "he", "she", "we", "they")
PEOPLE = ("teacher", "doctor", "girl", "boy", "woman", "man", "student")
MASS = ("bread", "cheese", "water", "coffee", "soup", "milk")
COUNT = ("apple", "hat", "book", "car", "house", "letter")
PLACES = ("garden", "kitchen", "park", "street", "school", "hotel")
TIMES = ("now", "today", "tomorrow")
REPORTS = {  # what a report is about, and what can be done with it
    "agreement": ("signed", "published", "adopted"),
    "treaty": ("signed", "published", "adopted"),
    "report": ("published", "adopted"),
    "declaration": ("published", "adopted"),
}
CONTINENTS = ("European", "Asian", "African")
BODIES = {  # name of a body, and what stands between the continent and the name
    "Area": ("Economic", "Monetary"),
    "Union": ("Economic", "Monetary", "Political", None),
    "Community": ("Economic", "Political", None),
    "Council": ("Economic", "Political", None),
}
MONTHS = ("March", "May", "June", "August", "October")
YEARS = ("1957", "1979", "1987", "1992", "2004")

# Adjectives in the order in which English puts them: opinion, size and age, colour, origin.
OPINION = ("expensive", "important", "hot", "cold", "tired", "famous")
SIZE = ("big", "small", "old", "new", "young")
COLOUR = ("red", "white", "black", "green")
ORIGIN = ("Korean", "French", "Spanish")
KINDS = (OPINION, SIZE, COLOUR, ORIGIN)
_DESCRIBED = {  # noun → what it can sensibly be called
    "teacher": "young tired famous Korean French Spanish",
    "doctor": "young tired famous Korean French Spanish",
    "girl": "tired Korean French Spanish",
    "boy": "tired Korean French Spanish",
    "woman": "young tired famous Korean French Spanish",
    "man": "young tired famous Korean French Spanish",
    "student": "young tired Korean French Spanish",
    "bread": "white expensive Korean French Spanish",
    "cheese": "expensive Korean French Spanish",
    "water": "hot cold",
    "coffee": "hot cold expensive Korean French Spanish",
    "soup": "hot cold Korean French Spanish",
    "milk": "hot cold expensive",
    "apple": "big small red green expensive",
    "hat": "big small old new red white black green expensive Korean French Spanish",
    "book": "big small old new red white black green expensive important Korean French Spanish",
    "car": "big small old new red white black green expensive Korean French Spanish",
    "house": "big small old new red white black green expensive",
    "letter": "old new important",
    "garden": "big small old new",
    "kitchen": "big small old new",
    "park": "big small old new",
    "street": "big small old",
    "school": "big small old new",
    "hotel": "big small old new",
    "agreement": "important Korean French Spanish",
    "treaty": "important Korean French Spanish",
    "report": "important Korean French Spanish",
    "declaration": "important Korean French Spanish",
}
DESCRIBED = {noun: tuple(words.split()) for noun, words in _DESCRIBED.items()}


class Verb(NamedTuple):
    """What a verb takes: its objects, where it happens, and adjectives that its object cannot have."""

    objects: tuple
    places: tuple
    never: tuple = ()


_SHOPS = ("street", "park", "hotel")
VERBS = {
    "eat": Verb(("bread", "cheese", "soup", "apple"), PLACES),
    "drink": Verb(("water", "coffee", "milk"), PLACES),
    "buy": Verb(("bread", "cheese", "coffee", "milk", "apple", "hat", "book", "car", "house"), _SHOPS),
    "sell": Verb(("bread", "cheese", "coffee", "milk", "apple", "hat", "book", "car", "house"), _SHOPS),
    "read": Verb(("book", "letter"), PLACES),
    "write": Verb(("book", "letter"), PLACES, ("big", "small", "old", "expensive", *COLOUR)),
    "draw": Verb(("apple", "hat", "car", "house"), PLACES, ("expensive",)),
}


class Phrase(NamedTuple):
    """A noun with its article ("the", "a" or none), adjectives in English order, and number."""

    noun: str
    article: str = "the"
    adjectives: tuple = ()
    plural: bool = False


class Everyday(NamedTuple):
    """Somebody is doing, or will do, something: "today the girl is not eating bread in the park"."""

    subject: object  # a pronoun or a Phrase
    verb: str
    object: Phrase
    future: bool = False
    negated: bool = False
    time: str | None = None
    time_last: bool = False
    place: Phrase | None = None


class Report(NamedTuple):
    """Something was decided: "the agreement on the European Economic Area was signed in August 1992 ."."""

    head: Phrase
    topic: Phrase
    verb: str
    month: str
    year: str
    negated: bool = False


EXAMPLES = (  # famous sentences: kept out of every split
    Everyday("we", "eat", Phrase("bread", "")),
    Report(Phrase("agreement"), Phrase("Area", "the", ("European", "Economic")), "signed", "August", "1992"),
)


def described(plan):
    """All pairs (adjective, noun) of a plan."""
    phrases = (plan.head, plan.topic) if isinstance(plan, Report) else (plan.subject, plan.object, plan.place)
    return {(word, p.noun) for p in phrases if isinstance(p, Phrase) for word in p.adjectives}


@cache
def _by_kind(noun, never):
    """The adjectives of a noun, kind by kind in English order."""
    kinds = [tuple(word for word in DESCRIBED[noun] if word in kind and word not in never) for kind in KINDS]
    return [words for words in kinds if words]


class Sampler:
    """Draws plans. A long one has more adjectives, a time and a place more often."""

    def __init__(self, random, long=False):
        """`random` is a `random.Random`; only its `random()` is used, which every Python repeats bit by bit."""
        self.random, self.long = random, long

    def plan(self):
        """One plan: a report in a quarter of the cases."""
        return self._report() if self._happens(0.25) else self._everyday()

    def _everyday(self):
        verb = self._one(tuple(VERBS))
        kind = VERBS[verb]
        thing = self._one(kind.objects)
        time = self._one(TIMES) if self._happens(0.9 if self.long else 0.4) else None
        future = time == "tomorrow" or (time != "now" and self._happens(0.4))
        place = None
        if thing != "house" and self._happens(0.9 if self.long else 0.35):
            place = self._phrase(self._one(kind.places), "the", (0.2, 0.8) if self.long else (0.75, 0.25))
        negated = self._happens(0.5 if self.long else 0.2)
        subject = self._one(PRONOUNS)
        if self._happens(0.9 if self.long else 0.5):
            article = "the" if negated or self._happens(0.75) else "a"
            odds = (0.1, 0.4, 0.5) if self.long else (0.65, 0.35)
            subject = self._phrase(self._one(PEOPLE), article, odds)
            subject = subject._replace(plural=article == "the" and self._happens(0.4))
        return Everyday(
            subject,
            verb,
            self._object(thing, kind.never),
            future=future,
            negated=negated,
            time=time,
            time_last=self._happens(0.5),
            place=place,
        )

    def _object(self, noun, never):
        if noun in MASS:
            article, plural = self._one(("the", "")), False
        else:
            article, plural = self._one((("the", False), ("the", True), ("a", False), ("", True)))
        phrase = self._phrase(noun, article, (0.1, 0.4, 0.5) if self.long else (0.35, 0.45, 0.2), never)
        return phrase._replace(plural=plural)

    def _report(self):
        head = self._one(tuple(REPORTS))
        body = self._one(tuple(BODIES))
        middle = self._one(BODIES[body])
        names = (self._one(CONTINENTS),) + ((middle,) if middle else ())
        return Report(
            self._phrase(head, "the", (0.1, 0.4, 0.5) if self.long else (0.75, 0.25)),
            Phrase(body, "the", names),
            self._one(REPORTS[head]),
            self._one(MONTHS),
            self._one(YEARS),
            negated=self._happens(0.5 if self.long else 0.2),
        )

    def _phrase(self, noun, article, odds, never=()):
        """A noun with as many adjectives as `odds` say, at most one of a kind, in English order."""
        draw, count = self.random.random(), 0
        while count < len(odds) - 1 and draw >= sum(odds[: count + 1]):
            count += 1
        known = list(_by_kind(noun, never))
        while len(known) > count:
            known.pop(self._index(len(known)))
        return Phrase(noun, article, tuple(self._one(words) for words in known))

    def _happens(self, probability):
        return self.random.random() < probability

    def _index(self, count):
        return int(self.random.random() * count)

    def _one(self, options):
        return options[self._index(len(options))]
