"""A short story in English: who lives where, who comes by, and what is handed over."""

import re

WOMEN = ("Mina", "Anna", "Sara", "Lena", "Noor", "Ruth", "Hana", "Ines", "Olga", "Tess")
MEN = ("Omar", "Ben", "Juan", "Karl", "Paul", "Amir", "Hugo", "Finn", "Ivan", "Theo")
PLACES = ("Oslo", "Bonn", "Kyiv", "Rome", "Lima", "Cork", "Nice", "Bern", "Ulm", "Fez", "Graz", "Doha")
THINGS = ("kite", "drum", "boat", "lamp", "book", "ball", "sled", "cart")

_HOMES = ("lives in", "is from", "works in", "stays in")
_OWNS = ("has", "owns", "made", "found")
_DAYS = ("One day", "At noon", "In May", "Today")
_COMES = ("comes by", "drops in", "looks in", "is there")
_WANTS = ("likes", "wants", "needs", "loves")
_HANDS_OVER = (
    "So {owner} lends it to {guest} in {place}.",
    "Soon {owner} sells it to {guest} in {place}.",
    "Then {guest} gets it from {owner} in {place}.",
    "Now {guest} takes it from {owner} in {place}.",
)


def english(owner, guest, place, thing, choose):
    """The story as marked text; see `files`.

    Args:
        owner, guest: two different names of `WOMEN` and `MEN`.
        place, thing: of `PLACES` and `THINGS`.
        choose: picks one of a sequence, as `random.Random.choice` does.
    """
    pronoun = lambda name: "{She}" if name in WOMEN else "{He}"  # noqa: E731
    return " ".join(
        (
            f"{owner} {choose(_HOMES)} {place}.",
            f"{pronoun(owner)} {choose(_OWNS)} a {thing}.",
            f"{choose(_DAYS)} {guest} {choose(_COMES)}.",
            f"{pronoun(guest)} {choose(_WANTS)} the ({thing}).",
            choose(_HANDS_OVER).format(owner=f"[{owner}]", guest=f"[{guest}]", place=f"<{place}>"),
        )
    )


def is_story(text):
    """Whether the grammar could have told a text: every word, and every fact where it comes again.

    Args:
        text: a story without marks.
    """
    one_of = lambda words: "(?:" + "|".join(words) + ")"  # noqa: E731
    names, far = one_of(WOMEN + MEN), {"owner": "(?P=owner)", "guest": "(?P=guest)", "place": "(?P=place)"}
    pattern = " ".join(
        (
            rf"(?P<owner>{names}) {one_of(_HOMES)} (?P<place>{one_of(PLACES)})\.",
            rf"(?P<first>She|He) {one_of(_OWNS)} a (?P<thing>{one_of(THINGS)})\.",
            rf"{one_of(_DAYS)} (?P<guest>{names}) {one_of(_COMES)}\.",
            rf"(?P<second>She|He) {one_of(_WANTS)} the (?P=thing)\.",
            one_of(form.replace(".", r"\.").format(**far) for form in _HANDS_OVER),
        )
    )
    found = re.fullmatch(pattern, text)
    if not found or found["owner"] == found["guest"]:
        return False
    return all((found[p] == "She") == (found[n] in WOMEN) for p, n in (("first", "owner"), ("second", "guest")))
