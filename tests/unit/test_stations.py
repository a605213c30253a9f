"""The last station: the gold is the nearest station before, the control removes it, and the card says so."""

import hashlib
import re
from pathlib import Path

import keras
import numpy as np
import pytest

from attention_by_hand import layers
from attention_by_hand.datasets import journey_text, last_station, without_stations
from attention_by_hand.datasets.stations import JOURNEY, SIGHTS, STATIONS
from attention_by_hand.models import station_race

CARD = Path(__file__).parents[2] / "data" / "last_station.md"
N, T = 300, 41


@pytest.fixture(params=[0, 1, 2])
def data(request):
    return last_station(N, steps=T, seed=request.param)


def checksum(data):
    """SHA-256 over names, dtypes, shapes and little-endian bytes of all arrays."""
    digest = hashlib.sha256()
    for name in sorted(data):
        array = data[name].astype(data[name].dtype.newbyteorder("<"))
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def test_shapes_and_dtypes(data):
    kinds = {"tokens": "int32", "asked": "bool", "target": "int32", "position": "int32"}
    assert {name: (a.shape, a.dtype.name) for name, a in data.items()} == {n: ((N, T), d) for n, d in kinds.items()}


def test_the_target_is_the_nearest_station_before(data):
    for tokens, asked, target, position in zip(*data.values(), strict=True):
        last = None
        for t, token in enumerate(tokens):
            if JOURNEY[token] in STATIONS:
                last = t
            assert asked[t] == (JOURNEY[token] in SIGHTS)
            assert position[t] == last and target[t] == tokens[last]


def test_journeys_begin_with_a_station_and_have_one_to_eight_sights_between(data):
    for tokens in data["tokens"]:
        kinds = "".join("s" if JOURNEY[token] in STATIONS else "." for token in tokens)
        assert re.fullmatch(r"(s\.{1,8})*s?\.{0,8}", kinds) and kinds[0] == "s"


def test_the_number_of_sights_can_be_chosen():
    tokens = last_station(N, steps=T, most_sights=2)["tokens"]
    kinds = ["".join("s" if token <= len(STATIONS) else "." for token in row) for row in tokens]
    assert all(re.fullmatch(r"(s\.{1,2})*s?", row) for row in kinds)
    assert any("s..s" in row for row in kinds) and any("s.s" in row for row in kinds)


def test_every_station_is_equally_likely_whatever_came_before():
    data = last_station(4000, steps=T, seed=5)
    stations = np.where(data["asked"], 0, data["tokens"])
    counts = np.bincount(stations.ravel(), minlength=13)[1:]
    assert np.abs(counts / counts.sum() - 1 / 12).max() < 0.01
    rows, steps = np.nonzero(stations)
    same = (rows[1:] == rows[:-1]) & (steps[1:] > steps[:-1])
    repeated = stations[rows, steps][1:][same] == stations[rows, steps][:-1][same]
    assert abs(repeated.mean() - 1 / 12) < 0.01


def test_the_control_removes_every_second_station_and_asks_where_it_is_gone(data):
    removed = without_stations(data)
    for before, after, asked, was in zip(
        data["tokens"], removed["tokens"], removed["asked"], data["asked"], strict=True
    ):
        number, gone = 0, False
        for t, token in enumerate(before):
            if token <= len(STATIONS):
                number += 1
                gone = number % 2 == 0
                assert (JOURNEY[after[t]] in SIGHTS) if gone else after[t] == token
            else:
                assert after[t] == token
            assert asked[t] == (gone and was[t])
    np.testing.assert_array_equal(removed["target"], data["target"])


def test_without_the_stations_the_one_before_is_right_no_more_often_than_a_guess():
    removed = without_stations(last_station(4000, steps=T, seed=7))
    tokens, asked = removed["tokens"], removed["asked"]
    seen = np.maximum.accumulate(np.where(tokens <= len(STATIONS), np.arange(T), 0), axis=1)
    guess = np.take_along_axis(tokens, seen, axis=1)
    assert abs((guess == removed["target"])[asked].mean() - 1 / 12) < 0.01


def test_the_same_seed_gives_the_same_data_and_another_seed_does_not():
    assert checksum(last_station(N, seed=4)) == checksum(last_station(N, seed=4))
    assert checksum(last_station(N, seed=4)) != checksum(last_station(N, seed=5))


@pytest.mark.parametrize(("name", "value"), [("steps", 0), ("most_sights", 0)])
def test_sizes_below_one_are_errors(name, value):
    with pytest.raises(ValueError, match=f"{name} must be at least 1; got {value}"):
        last_station(3, **{name: value})


def test_the_text_of_a_journey_is_its_words():
    assert journey_text([1, 13, 16, 12]) == ["Aden", "fields", "houses", "Lund"]


def test_the_card_states_checksums_and_statistics_of_the_data():
    text = CARD.read_text(encoding="utf-8")
    stated = dict(re.findall(r"`last_station\(([^`]*)\)` \| `([0-9a-f]{64})`", text))
    assert len(stated) >= 2
    for call, digest in stated.items():
        assert checksum(last_station(**eval(f"dict(count={call})"))) == digest, call
    data = last_station(4096, steps=32, seed=0)
    share = float(re.search(r"share of steps that are stations[^|]*\| ([\d.]+)", text)[1])
    mean = float(re.search(r"mean distance of the last station[^|]*\| ([\d.]+)", text)[1])
    assert abs((~data["asked"]).mean() - share) < 0.0006
    assert abs((np.arange(32) - data["position"])[data["asked"]].mean() - mean) < 0.006


def contestants():
    sizes = {"num_heads": 2, "key_dim": 4}
    return {
        "none": (None, layers.MultiHeadAttention(**sizes)),
        "mean": (layers.SinusoidalPositionalEncoding(), layers.UniformAttention()),
        "alibi": (None, layers.AlibiAttention(**sizes)),
    }


def test_the_race_gives_logits_at_every_step_and_weights_of_the_last():
    model, full_model = station_race(contestants(), words=16, classes=12, width=6)
    tokens = last_station(5, steps=9)["tokens"]
    logits, full = model.predict(tokens, verbose=0), full_model.predict(tokens, verbose=0)
    assert logits.shape == (5, 9, 3, 13)
    np.testing.assert_allclose(full["logits"], logits, atol=1e-5)
    assert {name: w.shape for name, w in full["last"].items()} == {
        "none": (5, 2, 9),
        "mean": (5, 9),
        "alibi": (5, 2, 9),
    }
    for weights in full["last"].values():
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)
    np.testing.assert_allclose(full["last"]["mean"], 1 / 9, atol=1e-6)


def test_contestants_share_nothing_but_their_inputs():
    """A gradient of one contestant's logits reaches its own attention, embeddings and read-out only."""
    from attention_by_hand import backend

    race = contestants()
    model, _ = station_race(race, words=16, classes=12, width=6)
    tokens = keras.ops.convert_to_tensor(last_station(5, steps=9)["tokens"])
    own = race["alibi"][1].trainable_variables
    variables = model.trainable_variables
    loss = lambda: keras.ops.sum(model(tokens)[:, :, 2] ** 2)  # noqa: E731
    gradients = dict(
        zip((v.path for v in variables), backend.value_and_grad(loss, variables=variables)[2], strict=True)
    )
    for variable in variables:
        gradient = gradients[variable.path]
        if "words" in variable.path:
            assert np.abs(gradient[:, :12]).max() == 0 and np.abs(gradient[:, 12:]).max() > 0
        elif "read_out" in variable.path:
            part = gradient if gradient.ndim == 3 else gradient[:, None]
            assert np.abs(part[:2]).max() == 0 and np.abs(part[2]).max() > 0
        elif not any(variable is mine for mine in own):
            assert np.abs(gradient).max() == 0, variable.path


def test_a_model_without_positions_cannot_tell_two_orders_of_the_past_and_the_others_can():
    race = contestants()
    race["sinusoidal"] = (layers.SinusoidalPositionalEncoding(), layers.MultiHeadAttention(num_heads=2, key_dim=4))
    _, full_model = station_race(race, words=16, classes=12, width=6)
    past = np.array([[1, 13, 2, 14, 3, 15], [3, 13, 1, 14, 2, 15]])  # the same stations in another order
    logits = full_model.predict(past, verbose=0)["logits"][:, -1]
    np.testing.assert_allclose(logits[0, 0], logits[1, 0], atol=1e-5)
    assert (np.abs(logits[0, 2:] - logits[1, 2:]).max(axis=-1) > 1e-4).all()


def test_what_happens_later_does_not_change_an_answer():
    model, _ = station_race(contestants(), words=16, classes=12, width=6)
    tokens = last_station(4, steps=9)["tokens"]
    changed = tokens.copy()
    changed[:, 6:] = 5
    one, other = model.predict(tokens, verbose=0), model.predict(changed, verbose=0)
    np.testing.assert_allclose(one[:, :6], other[:, :6], atol=1e-5)
    assert np.abs(one[:, 6:] - other[:, 6:]).max() > 1e-3
