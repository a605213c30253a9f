"""The English side: the words of a plan, and where each of its roles stands."""

from attention_by_hand.datasets.translation.plans import Phrase, Report

_PLURALS = {"woman": "women", "man": "men"}
_BE = {"I": "am", "he": "is", "she": "is", "you": "are", "we": "are", "they": "are"}
_ING = {"write": "writing"}


def english(plan):
    """Words of a plan, and a dictionary role → index of the word.

    Roles are `"subject"`, `"verb"`, `"be"`, `"not"`, `"object"`, `"place"`, … ; of a phrase `"object"` is the noun,
    `"object article"` the article and `"object red"` the adjective red.
    """
    writer = Writer()
    (_report if isinstance(plan, Report) else _everyday)(plan, writer)
    return writer.words, writer.at


class Writer:
    """English words, and where each role stands."""

    def __init__(self):
        self.words, self.at = [], {}

    def say(self, word, role):
        """Add a word, unless it is None or empty."""
        if word:
            self.at[role] = len(self.words)
            self.words.append(word)

    def phrase(self, phrase, role):
        """Add article, adjectives and noun."""
        noun = phrase.noun
        if phrase.plural:
            noun = _PLURALS.get(noun, noun + "s")
        first = (*phrase.adjectives, noun)[0]
        article = "an" if phrase.article == "a" and first[0].lower() in "aeiou" else phrase.article
        self.say(article, f"{role} article")
        for adjective in phrase.adjectives:
            self.say(adjective, f"{role} {adjective}")
        self.say(noun, role)


def _everyday(plan, writer):
    if not plan.time_last:
        writer.say(plan.time, "time")
    if isinstance(plan.subject, Phrase):
        writer.phrase(plan.subject, "subject")
        be = "are" if plan.subject.plural else "is"
    else:
        writer.say(plan.subject, "subject")
        be = _BE[plan.subject]
    writer.say("will" if plan.future else be, "be")
    writer.say("not" if plan.negated else None, "not")
    writer.say(plan.verb if plan.future else _ING.get(plan.verb, plan.verb + "ing"), "verb")
    writer.phrase(plan.object, "object")
    if plan.place:
        writer.say("in", "in")
        writer.phrase(plan.place, "place")
    if plan.time_last:
        writer.say(plan.time, "time")


def _report(plan, writer):
    writer.phrase(plan.head, "head")
    writer.say("on", "on")
    writer.phrase(plan.topic, "topic")
    writer.say("was", "be")
    writer.say("not" if plan.negated else None, "not")
    writer.say(plan.verb, "verb")
    writer.say("in", "in")
    writer.say(plan.month, "month")
    writer.say(plan.year, "year")
    writer.say(".", "stop")
