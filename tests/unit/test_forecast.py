"""The forecast: facts that no text states, notes that hold the answer, controls, the card, and the race."""

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest

from attention_by_hand import backend
from attention_by_hand.datasets import forecast, forecast_text, without_town
from attention_by_hand.datasets.forecast import LEFT, LIVES, PEOPLE, RELATIONS, RIGHT, TOWNS, WEATHER
from attention_by_hand.layers import TransformerEncoderBlock
from attention_by_hand.models import ReadOutMLP, UniformBlock, forecast_race

CARD = Path(__file__).parents[2] / "data" / "forecast.md"
N = 300


@pytest.fixture(params=[0, 1, 2])
def data(request):
    return forecast(N, seed=request.param)


def checksum(data):
    """SHA-256 over names, dtypes, shapes and little-endian bytes of all arrays."""
    digest = hashlib.sha256()
    for name in sorted(data):
        array = data[name].astype(data[name].dtype.newbyteorder("<"))
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def test_shapes_and_dtypes(data):
    shapes = {"tokens": (N, 9, 2), "town": (N,), "weather": (N,), "position": (N,)}
    assert {name: a.shape for name, a in data.items()} == shapes
    assert {a.dtype.name for a in data.values()} == {"int32"}


def test_the_answer_is_the_weather_of_the_town_where_the_person_lives(data):
    for tokens, town, weather, position in zip(*data.values(), strict=True):
        person, relation = LEFT[tokens[-1, 0]], RIGHT[tokens[-1, 1]]
        assert LIVES[PEOPLE.index(person), RELATIONS.index(relation)] == town
        assert list(tokens[position]) == [town, weather]


def test_every_town_is_noted_once_with_a_weather_of_its_own(data):
    for tokens in data["tokens"]:
        assert sorted(LEFT[t] for t in tokens[:-1, 0]) == sorted(TOWNS)
        weathers = {RIGHT[t] for t in tokens[:-1, 1]}
        assert len(weathers) == 8 and weathers <= set(WEATHER)


def test_facts_are_the_same_for_every_seed_and_no_rule_of_one_word():
    assert LIVES.shape == (20, 20) and set(LIVES.ravel()) == set(range(1, 9))
    for table in (LIVES, LIVES.T):  # whoever knows one word only is right at most half of the time
        assert max(np.bincount(row).max() for row in table) <= 10


def test_weather_and_place_say_nothing_about_the_town():
    data = forecast(8000, seed=5)
    for name, size in (("weather", 12), ("position", 8)):
        table = np.zeros((9, 13))
        np.add.at(table, (data["town"], data[name]), 1)
        share = table.max(axis=1)[1:] / table.sum(axis=1)[1:]
        assert share.max() < 1.5 / size


def test_a_small_world_asks_for_its_first_people_and_relations_only():
    question = forecast(2000, size=6, seed=3)["tokens"][:, -1]
    assert {LEFT[t] for t in question[:, 0]} == set(PEOPLE[:6])
    assert {RIGHT[t] for t in question[:, 1]} == set(RELATIONS[:6])


def test_the_control_takes_the_answer_out_of_the_text_and_nothing_else(data):
    removed = without_town(data)
    changed = (removed["tokens"] != data["tokens"]).any(axis=2)
    np.testing.assert_array_equal(changed.sum(axis=1), 1)
    np.testing.assert_array_equal(changed.argmax(axis=1), data["position"])
    assert not (removed["tokens"][:, :-1, 1] == data["weather"][:, None]).any()
    assert all(len(set(row)) == 8 for row in removed["tokens"][:, :-1, 1])  # still eight different ones
    assert (removed["tokens"][:, :-1, 0] == data["tokens"][:, :-1, 0]).all()


def test_the_same_seed_gives_the_same_data_and_another_seed_does_not():
    assert checksum(forecast(N, seed=4)) == checksum(forecast(N, seed=4))
    assert checksum(forecast(N, seed=4)) != checksum(forecast(N, seed=5))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": 0}, "count must be at least 1; got 0"),
        ({"count": 3, "size": 0}, "size must be from 1 to 20; got 0"),
        ({"count": 3, "size": 21}, "size must be from 1 to 20; got 21"),
    ],
)
def test_bad_sizes_are_errors(options, message):
    with pytest.raises(ValueError, match=message):
        forecast(**options)


def test_the_text_is_notes_and_question():
    tokens = [[1, 1], [8, 12], [9, 13]]
    assert forecast_text(tokens) == ["Aden sun", "Hull clouds", "Anna's mother?"]


def test_the_card_states_checksums_and_statistics_of_the_data():
    text = CARD.read_text(encoding="utf-8")
    stated = dict(re.findall(r"`forecast\(([^`]*)\)` \| `([0-9a-f]{64})`", text))
    assert len(stated) >= 3
    for call, digest in stated.items():
        assert checksum(forecast(**eval(f"dict(count={call})"))) == digest, call
    commonest = float(re.search(r"commonest town[^|]*\| ([\d.]+)", text)[1])
    by_person = float(re.search(r"person alone[^|]*\| ([\d.]+)", text)[1])
    assert abs(np.bincount(LIVES.ravel()).max() / LIVES.size - commonest) < 0.0006
    assert abs(np.mean([np.bincount(row).max() for row in LIVES]) / 20 - by_person) < 0.0006


def test_the_race_gives_two_answers_weights_and_vectors_of_the_question():
    sizes = {"num_heads": 2, "mlp_dim": 7}
    contestants = {
        "each": ([TransformerEncoderBlock(**sizes), TransformerEncoderBlock(**sizes)], None),
        "read_out": ([TransformerEncoderBlock(**sizes, use_mlp=False)], ReadOutMLP(11)),
        "mean": ([UniformBlock(**sizes, norm_first=False)], None),
    }
    model, full_model = forecast_race(contestants, width=6)
    tokens = forecast(5)["tokens"]
    logits, full = model.predict(tokens, verbose=0), full_model.predict(tokens, verbose=0)
    assert logits.shape == (5, 3, 2, 13)
    np.testing.assert_allclose(full["logits"], logits, atol=1e-5)
    assert {name: [w.shape for w in found] for name, found in full["weights"].items()} == {
        "each": [(5, 2, 9)] * 2,
        "read_out": [(5, 2, 9)],
        "mean": [(5, 2, 9)],
    }
    assert {name: [v.shape for v in found] for name, found in full["vectors"].items()} == {
        "each": [(5, 6)] * 2,
        "read_out": [(5, 6)],
        "mean": [(5, 6)],
    }
    np.testing.assert_allclose(full["weights"]["each"][1].sum(axis=-1), 1, atol=1e-5)
    np.testing.assert_allclose(full["weights"]["mean"][0], 1 / 9, atol=1e-6)


def test_the_read_out_is_a_pre_norm_sublayer_of_an_mlp():
    rng, layer = np.random.default_rng(0), ReadOutMLP(7)
    layer.build((None, 5))
    gamma, beta, first, b_1, second, b_2 = (rng.normal(size=w.shape) for w in layer.weights)
    layer.set_weights([gamma, beta, first, b_1, second, b_2])
    x = rng.normal(size=(3, 5))
    expected = []
    for row in x:
        h = gamma * (row - row.mean()) / np.sqrt(row.var() + 1e-6) + beta
        expected.append(row + np.maximum(h @ first + b_1, 0) @ second + b_2)
    np.testing.assert_allclose(backend.to_numpy(layer(x.astype("float32"))), expected, atol=1e-4)
    with pytest.raises(ValueError, match="mlp_dim must be a positive integer; got 0"):
        ReadOutMLP(0)
