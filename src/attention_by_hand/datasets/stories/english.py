"""A short story in English: who lives where, who comes by, and what is handed over."""

WOMEN = ("Mina", "Anna", "Sara", "Lena", "Noor", "Ruth", "Hana", "Ines", "Olga", "Tess")
MEN = ("Omar", "Ben", "Juan", "Karl", "Paul", "Amir", "Hugo", "Finn", "Ivan", "Theo")
PLACES = ("Oslo", "Bonn", "Kyiv", "Rome", "Lima", "Cork", "Nice", "Bern", "Pisa", "Fez", "Graz", "Doha")
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
