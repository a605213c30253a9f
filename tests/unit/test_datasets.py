"""Keyed recall: gold is where it is said to be, keys never repeat, the same seed makes the same data."""

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest

from attention_by_hand.datasets import keyed_recall, without_gold

CARD = Path(__file__).parents[2] / "data" / "keyed_recall.md"
SIZES = {"count": 300, "pairs": 7, "min_pairs": 3, "keys": 11, "values": 5}


@pytest.fixture(params=[0, 1, 2])
def data(request):
    return keyed_recall(**SIZES, seed=request.param)


def checksum(data):
    """SHA-256 over names, dtypes, shapes and little-endian bytes of all arrays."""
    digest = hashlib.sha256()
    for name in sorted(data):
        array = data[name].astype(data[name].dtype.newbyteorder("<"))
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def test_shapes_and_dtypes(data):
    assert {name: (a.shape, a.dtype.name) for name, a in data.items()} == {
        "query": ((300, 1), "int32"),
        "key": ((300, 7), "int32"),
        "value": ((300, 7), "int32"),
        "mask": ((300, 7), "bool"),
        "target": ((300,), "int32"),
        "position": ((300,), "int32"),
    }


def test_gold_position_holds_the_queried_key_and_the_target(data):
    for query, key, value, target, position in zip(
        *(data[name] for name in ("query", "key", "value", "target", "position")), strict=True
    ):
        assert np.flatnonzero(key == query[0]).tolist() == [position]
        assert value[position] == target


def test_keys_of_one_list_are_all_different(data):
    for key, mask in zip(data["key"], data["mask"], strict=True):
        assert len(set(key[mask])) == mask.sum()


def test_ids_of_real_pairs_start_at_1_and_padding_is_0(data):
    for name, largest in (("key", 11), ("value", 5)):
        assert data[name][data["mask"]].min() == 1 and data[name][data["mask"]].max() == largest
        assert not data[name][~data["mask"]].any() and (~data["mask"]).any()


def test_lengths_run_from_min_pairs_to_pairs_and_padding_is_at_the_end(data):
    length = data["mask"].sum(axis=1)
    assert set(length) == set(range(3, 8))
    assert (data["mask"] == (np.arange(7) < length[:, None])).all()
    assert (data["position"] < length).all()


def test_without_min_pairs_nothing_is_padded():
    data = keyed_recall(20, pairs=6, keys=9)
    assert data["mask"].all() and data["key"].all() and data["value"].all()


def test_as_many_keys_as_pairs_is_enough():
    data = keyed_recall(10, pairs=5, keys=5)
    assert (np.sort(data["key"], axis=1) == np.arange(1, 6)).all()


def test_gold_positions_and_targets_are_spread_evenly():
    data = keyed_recall(8000, pairs=8, values=8, seed=3)
    for found in (data["position"], data["target"] - 1):
        assert np.abs(np.bincount(found, minlength=8) / 8000 - 1 / 8).max() < 0.02


def test_the_same_seed_gives_the_same_data_and_another_seed_does_not():
    assert checksum(keyed_recall(**SIZES, seed=4)) == checksum(keyed_recall(**SIZES, seed=4))
    assert checksum(keyed_recall(**SIZES, seed=4)) != checksum(keyed_recall(**SIZES, seed=5))


def test_making_data_leaves_the_global_random_state_alone():
    before = np.random.get_state()[1].copy()
    keyed_recall(**SIZES)
    assert (np.random.get_state()[1] == before).all()


def test_too_few_keys_is_an_error_that_names_both_numbers():
    with pytest.raises(ValueError, match="keys must be at least pairs, 8, .*got 7"):
        keyed_recall(5, pairs=8, keys=7)


@pytest.mark.parametrize("min_pairs", [0, -1, 9])
def test_min_pairs_outside_its_range_is_an_error(min_pairs):
    with pytest.raises(ValueError, match=f"min_pairs must be between 1 and pairs, 8; got {min_pairs}"):
        keyed_recall(5, pairs=8, min_pairs=min_pairs)


def test_without_gold_hides_the_gold_pair_and_nothing_else(data):
    hidden = without_gold(data)
    changed = data["mask"] ^ hidden["mask"]
    assert (changed.sum(axis=1) == 1).all()
    assert (changed.argmax(axis=1) == data["position"]).all()
    for name in set(data) - {"mask"}:
        assert hidden[name] is data[name]


def test_without_gold_does_not_change_its_argument(data):
    before = data["mask"].copy()
    without_gold(data)
    assert (data["mask"] == before).all()


def test_the_card_states_the_checksum_of_the_data_that_the_code_makes():
    text = CARD.read_text(encoding="utf-8")
    stated = dict(re.findall(r"`keyed_recall\(([^`]*)\)` \| `([0-9a-f]{64})`", text))
    assert len(stated) >= 2
    for call, digest in stated.items():
        arguments = eval(f"dict(count={call})")
        assert checksum(keyed_recall(**arguments)) == digest, call


def test_the_statistics_on_the_card_are_those_of_the_data():
    text = CARD.read_text(encoding="utf-8")
    data = keyed_recall(8000, min_pairs=4, seed=0)
    most_frequent = [np.bincount(v[m]).argmax() for v, m in zip(data["value"], data["mask"], strict=True)]
    for label, number in (
        ("mean length of a list", data["mask"].sum(axis=1).mean()),
        ("share of the target among the values of its list",
         np.mean([(v[m] == t).mean() for v, m, t in zip(data["value"], data["mask"], data["target"], strict=True)])),
        ("accuracy of answering the most frequent value of the list", np.mean(most_frequent == data["target"])),
    ):  # fmt: skip
        stated = re.search(rf"\| {label} \| ([\d.]+) \|", text)
        assert stated and abs(float(stated[1]) - number) < 0.005, (label, number)
