"""Recall at a distance: one or two notes among words of nobody, a question, and the models that read them."""

import hashlib
import re
from pathlib import Path

import keras
import numpy as np
import pytest

from attention_by_hand import layers
from attention_by_hand.datasets import distance_text, recall_at_distance, without_note
from attention_by_hand.datasets.distance import NAMES, THINGS
from attention_by_hand.models import UniformReader, distance_race, starts

CARD = Path(__file__).parents[2] / "data" / "recall_at_distance.md"
N = 400


@pytest.fixture(params=[0, 1, 2])
def data(request):
    return recall_at_distance(N, seed=request.param)


def checksum(data):
    """SHA-256 over names, dtypes, shapes and little-endian bytes of all arrays."""
    digest = hashlib.sha256()
    for name in sorted(data):
        array = data[name].astype(data[name].dtype.newbyteorder("<"))
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def test_shapes_and_dtypes(data):
    shapes = {"key": (N, 15), "value": (N, 15), "target": (N,), "distance": (N,), "notes": (N,)}
    assert {name: (a.shape, a.dtype.name) for name, a in data.items()} == {n: (s, "int32") for n, s in shapes.items()}


def test_the_asked_note_stands_at_its_distance_and_holds_the_answer(data):
    for key, value, target, distance in zip(*(data[n] for n in ("key", "value", "target", "distance")), strict=True):
        (place,) = np.flatnonzero(key[:-1] == key[-1])  # the asked name stands once before the question
        assert 14 - place == distance
        assert value[place] == target + 1 and value[-1] == 0


def test_there_are_one_or_two_notes_and_all_else_is_nobodys(data):
    assert ((data["key"][:, :-1] > 0).sum(axis=1) == data["notes"]).all()
    assert set(data["notes"]) == {1, 2}
    assert (data["value"][:, :-1] > 0).all()


def test_two_notes_have_two_names(data):
    for key in data["key"][data["notes"] == 2]:
        assert len(set(key[:-1][key[:-1] > 0])) == 2


def test_every_distance_name_and_value_is_equally_frequent():
    data = recall_at_distance(28000, seed=3)
    assert np.abs(np.bincount(data["distance"], minlength=15)[1:] / 2000 - 1).max() < 0.1
    assert np.abs(np.bincount(data["target"], minlength=8) / 3500 - 1).max() < 0.1
    assert np.abs(np.bincount(data["key"][:, -1], minlength=9)[1:] / 3500 - 1).max() < 0.1
    two = data["notes"] == 2
    assert abs(two.mean() - 0.5) < 0.02
    other = np.array([np.flatnonzero((k[:-1] > 0) & (k[:-1] != k[-1]))[0] for k in data["key"][two][:7000]])
    assert np.abs(np.bincount(other, minlength=14) / 500 - 1).max() < 0.25


def test_the_same_seed_gives_the_same_data_and_another_seed_does_not():
    assert checksum(recall_at_distance(N, seed=4)) == checksum(recall_at_distance(N, seed=4))
    assert checksum(recall_at_distance(N, seed=4)) != checksum(recall_at_distance(N, seed=5))


def test_length_is_respected_and_too_short_a_one_is_an_error():
    data = recall_at_distance(N, length=3)
    assert data["key"].shape == (N, 3) and set(data["distance"]) == {1, 2}
    with pytest.raises(ValueError, match="length must be at least 3, .*; got 2"):
        recall_at_distance(5, length=2)


def test_without_note_only_the_asked_note_is_gone(data):
    changed = without_note(data)
    place = 14 - data["distance"]
    differs = (changed["key"] != data["key"]) | (changed["value"] != data["value"])
    assert (differs == (np.arange(15) == place[:, None])).all()
    assert (changed["key"][np.arange(N), place] == 0).all()
    value = changed["value"][np.arange(N), place]
    assert ((value >= 1) & (value < len(THINGS)) & (value != data["target"] + 1)).all()
    assert (changed["target"] == data["target"]).all()


def test_the_text_names_notes_words_and_the_question():
    assert distance_text([0, 2, 2], [3, 1, 0]) == [f":{THINGS[3]}", f"{NAMES[2]}:{THINGS[1]}", f"{NAMES[2]}:?"]


def test_the_card_states_checksums_and_statistics_of_the_data():
    text = CARD.read_text(encoding="utf-8")
    stated = dict(re.findall(r"`recall_at_distance\(([^`]*)\)` \| `([0-9a-f]{64})`", text))
    assert len(stated) >= 2
    for call, digest in stated.items():
        assert checksum(recall_at_distance(**eval(f"dict(count={call})"))) == digest, call
    share = float(re.search(r"share with two notes[^|]*\| ([\d.]+)", text)[1])
    assert abs((recall_at_distance(5120)["notes"] == 2).mean() - share) < 0.006


def small_race():
    readers = {"mean": UniformReader(5), "attention": layers.SelfAttention(7), "convolution": keras.layers.Conv1D(6, 3)}
    return readers, *distance_race(readers)


def test_readers_of_the_race_share_nothing_but_their_inputs():
    readers, model, embed = small_race()
    data = recall_at_distance(4)
    inputs = {name: data[name] for name in ("key", "value")}
    before = model.predict(inputs, verbose=0)
    assert before.shape == (4, 3, 8)
    readers["attention"].set_weights([2 * w + 1 for w in readers["attention"].get_weights()])
    after = model.predict(inputs, verbose=0)
    np.testing.assert_array_equal(before[:, [0, 2]], after[:, [0, 2]])
    assert np.abs(before[:, 1] - after[:, 1]).max() > 1e-3


def test_every_reader_sees_the_sum_of_its_own_embeddings():
    readers, model, embed = small_race()
    seen = embed.predict({"key": np.array([[1, 0, 1]]), "value": np.array([[2, 2, 0]])}, verbose=0)
    tables = {w.path.split("/")[-2]: keras.ops.convert_to_numpy(w) for w in model.weights if "table" in w.path}
    for number, name in enumerate(readers):
        own = slice(24 * number, 24 * number + 24)
        expected = tables["key_table"][[1, 0, 1], own] + tables["value_table"][[2, 2, 0], own]
        np.testing.assert_allclose(seen[name][0], expected, atol=1e-6)


def test_the_answer_comes_from_the_last_step():
    _, model, _ = small_race()
    key, value = np.zeros((2, 9), "int32"), np.full((2, 9), 3)
    value[1, 2] = 5  # another word, out of reach of the convolution at the end
    logits = model.predict({"key": key, "value": value}, verbose=0)
    np.testing.assert_allclose(logits[0, 2], logits[1, 2], atol=1e-6)
    assert np.abs(logits[0, :2] - logits[1, :2]).max(axis=-1).min() > 1e-4


def test_the_control_is_the_mean_of_projected_values():
    layer, x = UniformReader(5), np.random.default_rng(0).normal(size=(2, 6, 4)).astype("float32")
    output = keras.ops.convert_to_numpy(layer(x))
    (kernel,) = layer.get_weights()
    expected = np.repeat((x @ kernel).mean(axis=1, keepdims=True), 6, axis=1)
    np.testing.assert_allclose(output, expected, atol=1e-5)


def test_starts_are_glorots_and_orthogonal():
    glorot, orthogonal = starts(seed=1)
    kernel = keras.ops.convert_to_numpy(glorot((3, 40, 50), "float32"))
    limit = (6 / (3 * 90)) ** 0.5
    assert kernel.shape == (3, 40, 50) and kernel.dtype == "float32"
    assert 0.98 * limit < np.abs(kernel).max() <= limit and abs(kernel.mean()) < 0.05 * limit
    square = keras.ops.convert_to_numpy(orthogonal((7, 21), "float32"))
    np.testing.assert_allclose(square @ square.T, np.eye(7), atol=1e-5)
    again = keras.ops.convert_to_numpy(starts(seed=1)[0]((3, 40, 50), "float32"))
    np.testing.assert_array_equal(kernel, again)


def test_a_race_without_readers_and_a_width_of_nothing_are_errors():
    with pytest.raises(ValueError, match="contestants must hold at least one layer"):
        distance_race({})
    with pytest.raises(ValueError, match="value_dim must be a positive integer; got 0"):
        UniformReader(0)
