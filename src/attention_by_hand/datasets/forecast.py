"""The forecast: what is the weather where Anna's doctor lives? A fact that no text states, then a note to look up."""

import numpy as np

PEOPLE = tuple("Anna Ben Cleo Dan Eva Finn Gina Hugo Ines Jan Kim Leo Mia Noah Olga Paul Quinn Rosa Sven Tina".split())
RELATIONS = tuple(
    "mother father sister brother aunt uncle cousin friend neighbour doctor teacher boss coach baker dentist lawyer "
    "barber tailor florist landlord".split()
)
TOWNS = ("Aden", "Bern", "Cork", "Dover", "Essen", "Fez", "Graz", "Hull")
WEATHER = ("sun", "rain", "snow", "fog", "wind", "hail", "frost", "storm", "haze", "sleet", "thunder", "clouds")
LEFT = ("", *TOWNS, *PEOPLE)  # a word's id is its place; id 0 is not used
RIGHT = ("", *WEATHER, *RELATIONS)

# Who lives where: the same in every text, and in none of them. Ids of towns, (people, relations).
LIVES = np.random.default_rng(13).integers(1, len(TOWNS) + 1, size=(len(PEOPLE), len(RELATIONS)))


def forecast_text(tokens):
    """The notes of one text (T, 2) of ids, and the question at its end."""
    notes = [f"{LEFT[town]} {RIGHT[weather]}" for town, weather in tokens[:-1]]
    person, relation = tokens[-1]
    return [*notes, f"{LEFT[person]}'s {RIGHT[relation]}?"]


def forecast(count, size=20, seed=0):
    """Texts with the weather in eight towns, and a question: where does somebody live, and what is the weather there?

    Where everybody lives is a fixed table, `LIVES`, drawn once: a fact of this world, to be learned in training. The
    weather is drawn anew for each text, another one for each town.

    Args:
        count: number of texts N.
        size: number of people, and of relations, that are asked for: size² facts, at most 20².
        seed: integer seed.

    Returns:
        Dictionary of int32 arrays: `tokens` (N, 9, 2): eight notes, a town (index into `LEFT`) and its weather (index
        into `RIGHT`), in any order, and the question, a person and a relation; `town` (N,), 1 … 8; `weather` (N,),
        1 … 12; `position` (N,), the step of that town's note.

    Raises:
        ValueError: `count` is smaller than 1, or `size` is not from 1 to 20.
    """
    if count < 1:
        raise ValueError(f"count must be at least 1; got {count}")
    if not 1 <= size <= len(PEOPLE):
        raise ValueError(f"size must be from 1 to {len(PEOPLE)}; got {size}")
    rng = np.random.default_rng(seed)
    person, relation = rng.integers(size, size=(2, count))
    towns = _some(rng, count, len(TOWNS), len(TOWNS))  # (N, 8)
    weathers = _some(rng, count, len(WEATHER), len(TOWNS))  # of the note at each step
    town = LIVES[person, relation]
    position = (towns == town[:, None]).argmax(axis=1)
    question = np.stack([person + len(TOWNS) + 1, relation + len(WEATHER) + 1], axis=-1)  # (N, 2)
    tokens = np.concatenate([np.stack([towns, weathers], axis=-1), question[:, None]], axis=1)
    found = {"tokens": tokens, "town": town, "weather": weathers[np.arange(count), position], "position": position}
    return {name: array.astype("int32") for name, array in found.items()}


def without_town(data, seed=0):
    """The same texts with the weather of the town that is asked for replaced by one that no note of the text holds.

    The control that shows where answers come from: the old weather now stands nowhere.

    Args:
        data: what `forecast` returns.
        seed: integer seed of the weathers that are put in.

    Returns:
        A copy with other `tokens`; `town`, `weather` and `position` still tell what was there.
    """
    tokens, rows = data["tokens"].copy(), np.arange(len(data["tokens"]))
    free = np.ones((len(tokens), len(WEATHER)), bool)
    np.put_along_axis(free, tokens[:, :-1, 1] - 1, False, axis=1)
    chance = np.where(free, np.random.default_rng(seed).random(free.shape), -1.0)
    tokens[rows, data["position"], 1] = chance.argmax(axis=1) + 1
    return {**data, "tokens": tokens}


def _some(rng, count, total, wanted):
    """`wanted` different ids of 1 … `total` in any order, (N, wanted)."""
    return np.argsort(rng.random((count, total)), axis=1)[:, :wanted] + 1
