"""The last station: a train passes stations and sights; at every step, which station was the last?"""

import numpy as np

STATIONS = ("Aden", "Bern", "Cork", "Dover", "Essen", "Fez", "Graz", "Hull", "Izmir", "Jena", "Kyiv", "Lund")
SIGHTS = ("fields", "woods", "river", "houses")
JOURNEY = ("", *STATIONS, *SIGHTS)  # a word's id is its place; id 0 is not used


def journey_text(tokens):
    """The words of one journey (T,) of ids."""
    return [JOURNEY[token] for token in tokens]


def last_station(count, steps=32, most_sights=8, seed=0):
    """Journeys of stations with 1 … `most_sights` sights after each, and the question after every sight.

    A journey begins with a station. Stations are drawn independently, so that whoever has not seen the last one
    guesses it with one chance in twelve, whatever else is known.

    Args:
        count: number of journeys N.
        steps: length T of each.
        most_sights: largest number of sights between two stations.
        seed: integer seed.

    Returns:
        Dictionary of arrays (N, T): `tokens` int32, indices into `JOURNEY`; `asked` boolean, True at a sight;
        `target` int32, the id of the last station; `position` int32, its step.

    Raises:
        ValueError: `steps` or `most_sights` is smaller than 1.
    """
    for name, number in (("steps", steps), ("most_sights", most_sights)):
        if number < 1:
            raise ValueError(f"{name} must be at least 1; got {number}")
    rng = np.random.default_rng(seed)
    gaps = rng.integers(1, most_sights + 1, size=(count, steps)) + 1  # steps from one station to the next
    places = np.cumsum(gaps, axis=1) - gaps[:, :1]  # the first is 0; those beyond the end are dropped
    is_station = np.zeros((count, places.max() + 1), bool)
    np.put_along_axis(is_station, places, True, axis=1)
    is_station = is_station[:, :steps]
    stations = rng.integers(1, len(STATIONS) + 1, size=(count, steps))
    sights = rng.integers(1, len(SIGHTS) + 1, size=(count, steps)) + len(STATIONS)
    tokens = np.where(is_station, stations, sights)
    position = np.maximum.accumulate(np.where(is_station, np.arange(steps), 0), axis=1)
    return {
        "tokens": tokens.astype("int32"),
        "asked": ~is_station,
        "target": np.take_along_axis(tokens, position, axis=1).astype("int32"),
        "position": position.astype("int32"),
    }


def without_stations(data, seed=0):
    """The same journeys with every second station turned into a sight: the control that shows where answers come from.

    Args:
        data: what `last_station` returns.
        seed: integer seed of the sights that are put in.

    Returns:
        A copy whose `tokens` lack the second, fourth, … station, and whose `asked` is True only at sights whose
        last station is gone; `target` and `position` still tell which one it was.
    """
    is_station = ~data["asked"]
    number = np.cumsum(is_station, axis=1)  # how many stations there were up to here; 1 for the first
    gone = number % 2 == 0
    sights = np.random.default_rng(seed).integers(1, len(SIGHTS) + 1, size=gone.shape) + len(STATIONS)
    tokens = np.where(is_station & gone, sights, data["tokens"]).astype("int32")
    return {**data, "tokens": tokens, "asked": data["asked"] & gone}
