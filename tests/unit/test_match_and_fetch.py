"""The data of match and fetch, and the models that race on it and on keyed recall."""

import hashlib
import re
from pathlib import Path

import keras
import numpy as np
import pytest

from attention_by_hand import datasets, models
from attention_by_hand.backend import to_numpy
from attention_by_hand.layers import DotProductAttention, UniformAttention

CARD = Path(__file__).parents[2] / "data" / "match_and_fetch.md"


def checksum(data):
    """SHA-256 over the arrays of whole numbers; the last bits of the vectors depend on the machine."""
    digest = hashlib.sha256()
    for name in ("answer", "position"):
        array = data[name].astype("<i4")
        digest.update(f"{name} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def test_card_has_the_checksums_of_the_data():
    rows = re.findall(r"`match_and_fetch\((\d+), seed=(\d+)\)` \| `(\w+)`", CARD.read_text(encoding="utf-8"))
    assert len(rows) == 2
    for count, seed, expected in rows:
        assert checksum(datasets.match_and_fetch(int(count), seed=int(seed))) == expected


def test_target_is_the_content_of_the_item_at_the_gold_position():
    data = datasets.match_and_fetch(50, items=4, seed=3)
    np.testing.assert_array_equal(data["target"], datasets.contents()[data["answer"]])
    # the rotation keeps lengths and products: query · name + target · content is |x|² for the gold item alone
    wanted = np.sum(data["query"][:, 0] ** 2, axis=-1) + np.sum(data["target"] ** 2, axis=-1)
    gold = data["items"][np.arange(50), data["position"]]
    np.testing.assert_allclose(np.sum(gold**2, axis=-1), wanted, rtol=1e-5)


def test_items_hold_name_and_content_and_nothing_else():
    data = datasets.match_and_fetch(400, items=5, seed=4)
    gold = data["items"][np.arange(400), data["position"]]  # (N, 11)
    both = np.concatenate([data["query"][:, 0], data["target"]], axis=-1)  # (N, 11)
    rotation = np.linalg.lstsq(both, gold, rcond=None)[0]
    np.testing.assert_allclose(both @ rotation, gold, atol=1e-4)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(11), atol=1e-3)


def test_names_do_not_repeat_within_an_example():
    items = datasets.match_and_fetch(30, items=16, seed=5)["items"]
    query = datasets.match_and_fetch(30, items=16, seed=5)["query"]
    assert items.shape == (30, 16, 11)
    assert len(np.unique(np.round(query[:, 0], 4), axis=0)) > 5
    for row in items:
        assert len(np.unique(np.round(row, 4), axis=0)) == 16


def test_same_seed_same_data_other_seed_other_data():
    first, again, other = (datasets.match_and_fetch(8, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(first["items"], again["items"])
    assert not np.array_equal(first["position"], other["position"])


def test_gold_can_be_hidden():
    data = datasets.match_and_fetch(8, items=3, seed=1)
    hidden = datasets.without_gold(data)
    assert hidden["mask"].sum() == 8 * 2
    assert not hidden["mask"][np.arange(8), data["position"]].any()


@pytest.mark.parametrize("items", [0, 17])
def test_impossible_numbers_of_items_are_refused(items):
    with pytest.raises(ValueError, match="items must be between 1 and 16"):
        datasets.match_and_fetch(2, items=items)


def test_shared_contestant_has_one_matrix_for_keys_and_values_and_apart_has_two():
    layer = {"shared": (DotProductAttention("sqrt"), True), "apart": (DotProductAttention("sqrt"), False)}
    model, full = models.fetch_race(layer, query_width=6, item_width=11, output_width=5)
    names = {layer.name for layer in model.layers}
    assert {"shared_query", "shared_value", "apart_query", "apart_value", "apart_key"} <= names
    assert "shared_key" not in names
    data = datasets.match_and_fetch(7, items=4, seed=1)
    found = full.predict({name: data[name] for name in ("query", "items", "mask")}, verbose=0)
    assert found["answers"]["shared"].shape == (7, 5)
    assert found["weights"]["apart"].shape == (7, 1, 4)
    np.testing.assert_allclose(found["weights"]["apart"].sum(axis=-1), 1.0, rtol=1e-5)


def test_apart_computes_upgrade_three():
    model, full = models.fetch_race({"x": (DotProductAttention("sqrt"), False)}, 6, 11, 5)
    data = datasets.match_and_fetch(3, items=4, seed=2)
    found = full.predict({name: data[name] for name in ("query", "items", "mask")}, verbose=0)["answers"]["x"]
    w_q, w_k, w_v = (to_numpy(model.get_layer(f"x_{name}").kernel) for name in ("query", "key", "value"))
    for b in range(3):
        scores = np.array([(data["query"][b, 0] @ w_q) @ (item @ w_k) for item in data["items"][b]]) / np.sqrt(6)
        weights = np.exp(scores) / np.exp(scores).sum()
        expected = sum(w * (item @ w_v) for w, item in zip(weights, data["items"][b], strict=True))
        np.testing.assert_allclose(found[b], expected, rtol=1e-4, atol=1e-4)


def test_contestants_of_a_race_train_as_if_alone():
    """One step together changes a contestant's weights exactly as one step alone."""
    data = datasets.keyed_recall(16, pairs=5, seed=1)
    inputs = {name: data[name] for name in ("query", "key", "value", "mask")}
    start = np.random.default_rng(3).normal(size=(17, 7)).astype("float32")  # the first four columns are dot's

    def trained(names):
        all_contestants = {"dot": (DotProductAttention(), 4, 1.0), "uniform": (UniformAttention(), 3, 1.0)}
        race, full = models.recall_race({n: all_contestants[n] for n in names}, keys=16, values=8, seed=2)
        for name in names:
            kernel = race.get_layer(f"read_out_{name}").kernel
            kernel.assign(np.linspace(-1, 1, int(np.prod(kernel.shape))).reshape(kernel.shape))
        for table in ("query_table", "key_table", "value_table"):
            embeddings = race.get_layer(table).embeddings
            embeddings.assign(start[: embeddings.shape[0], : embeddings.shape[1]])
        adam = keras.optimizers.Adam(0.05, epsilon=1e-12)  # epsilon is the one place where the gradient's size counts
        race.compile(adam, keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        race.fit(inputs, np.repeat(data["target"][:, None], len(names), axis=1), batch_size=16, epochs=2, verbose=0)
        return full.predict(inputs, verbose=0)["logits"]["dot"]

    np.testing.assert_allclose(trained(["dot", "uniform"]), trained(["dot"]), rtol=1e-3, atol=1e-4)
