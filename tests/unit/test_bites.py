"""Who bites whom: the gold noun stands before the asked verb, nothing but order tells it, and the card says so."""

import hashlib
import re
from pathlib import Path

import keras
import numpy as np
import pytest

from attention_by_hand import layers
from attention_by_hand.datasets import spelled, who_bites_whom, without_gold
from attention_by_hand.datasets.bites import FILLERS, NOUNS, VERBS, WORDS
from attention_by_hand.models import order_race

CARD = Path(__file__).parents[2] / "data" / "who_bites_whom.md"
N = 300


@pytest.fixture(params=[0, 1, 2])
def data(request):
    return who_bites_whom(N, seed=request.param)


def checksum(data):
    """SHA-256 over names, dtypes, shapes and little-endian bytes of all arrays."""
    digest = hashlib.sha256()
    for name in sorted(data):
        array = data[name].astype(data[name].dtype.newbyteorder("<"))
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def test_shapes_and_dtypes(data):
    assert {name: (a.shape, a.dtype.name) for name, a in data.items()} == {
        "tokens": ((N, 11), "int32"),
        "mask": ((N, 11), "bool"),
        "at_verb": ((N, 11), "bool"),
        "target": ((N,), "int32"),
        "position": ((N,), "int32"),
    }


def test_the_gold_noun_stands_directly_before_the_asked_verb(data):
    for tokens, at_verb, target, position in zip(
        *(data[name] for name in ("tokens", "at_verb", "target", "position")), strict=True
    ):
        assert at_verb.sum() == 1 and at_verb[position + 1]
        assert tokens[position] == target
        assert WORDS[target] in NOUNS and WORDS[tokens[position + 1]] in VERBS


def test_each_sentence_is_fillers_clause_fillers_clause(data):
    kinds = {word: kind for kind, words in zip("nvf", (NOUNS, VERBS, FILLERS), strict=True) for word in words}
    for tokens in data["tokens"]:
        pattern = "".join(kinds[word] for word in spelled(tokens))
        assert re.fullmatch(r"f{0,3}nvnf{1,2}nvn", pattern), pattern


def test_the_four_nouns_of_a_sentence_are_all_different(data):
    for tokens in data["tokens"]:
        nouns = [word for word in spelled(tokens) if word in NOUNS]
        assert len(nouns) == len(set(nouns)) == 4


def test_padding_is_at_the_end_and_is_what_the_mask_hides(data):
    assert ((data["tokens"] != 0) == data["mask"]).all()
    length = data["mask"].sum(axis=1)
    assert (data["mask"] == (np.arange(11) < length[:, None])).all()
    assert set(length) == {7, 8, 9, 10, 11}


def test_the_asked_verb_stands_at_many_places(data):
    assert set(data["at_verb"].argmax(axis=1)) == {*range(1, 10)}


def test_each_noun_and_each_clause_is_asked_equally_often():
    data = who_bites_whom(8000, seed=3)
    assert np.abs(np.bincount(data["target"], minlength=11)[1:] / 8000 - 0.1).max() < 0.02
    nouns = np.isin(data["tokens"], np.arange(1, len(NOUNS) + 1)) & data["mask"]
    order = np.cumsum(nouns, axis=1)[np.arange(8000), data["position"]]  # 1 … 4: which noun of the sentence it is
    assert set(order) == {1, 3} and abs(np.mean(order == 1) - 0.5) < 0.02


def test_the_same_seed_gives_the_same_data_and_another_seed_does_not():
    assert checksum(who_bites_whom(N, seed=4)) == checksum(who_bites_whom(N, seed=4))
    assert checksum(who_bites_whom(N, seed=4)) != checksum(who_bites_whom(N, seed=5))


def test_a_longer_lead_makes_longer_sentences():
    assert who_bites_whom(N, lead=6)["tokens"].shape == (N, 14)
    assert who_bites_whom(N, lead=0)["at_verb"][:, 1].any()


def test_a_negative_lead_is_an_error():
    with pytest.raises(ValueError, match="lead must be at least 0; got -1"):
        who_bites_whom(3, lead=-1)


def test_without_gold_hides_the_answer(data):
    hidden = without_gold(data)
    assert ((data["mask"] ^ hidden["mask"]).argmax(axis=1) == data["position"]).all()


def test_the_card_states_checksums_and_statistics_of_the_data():
    text = CARD.read_text(encoding="utf-8")
    stated = dict(re.findall(r"`who_bites_whom\(([^`]*)\)` \| `([0-9a-f]{64})`", text))
    assert len(stated) >= 2
    for call, digest in stated.items():
        assert checksum(who_bites_whom(**eval(f"dict(count={call})"))) == digest, call
    data = who_bites_whom(6000, seed=0)
    length = float(re.search(r"mean length[^|]*\| ([\d.]+)", text)[1])
    assert abs(data["mask"].sum(axis=1).mean() - length) < 0.006


def test_contestants_of_the_race_share_nothing_but_their_inputs():
    attention = {name: layers.SelfAttention(6) for name in ("none", "sinusoids", "appended")}

    def attend(name):
        return lambda x, mask: attention[name](x, mask=mask, return_attention_scores=True)

    positions = {
        "none": None,
        "sinusoids": layers.SinusoidalPositionalEncoding(),
        "appended": layers.SinusoidalPositionalEncoding(mode="concat"),
    }
    contestants = {name: (positions[name], attend(name), 1.0) for name in attention}
    model, weights_models = order_race(contestants, words=len(WORDS) - 1, width=8)
    data = who_bites_whom(5)
    inputs = {name: data[name] for name in ("tokens", "mask", "at_verb")}
    logits = model.predict(inputs, verbose=0)
    assert {name: x.shape for name, x in logits.items()} == {name: (5, len(WORDS)) for name in attention}
    for one in weights_models.values():
        weights = one.predict(inputs, verbose=0)
        assert weights.shape == (5, 11)
        np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-5)
        assert (weights[~data["mask"]] == 0).all()
    assert len(model.trainable_variables) == 3 * (1 + 3 + 2)


def test_a_model_without_positions_gives_two_orders_one_answer():
    attention = layers.SelfAttention(6)
    contestants = {
        "none": (None, lambda x, mask: attention(x, mask=mask, return_attention_scores=True), 1.0),
    }
    model, _ = order_race(contestants, words=len(WORDS) - 1, width=8)
    tokens = np.array([[1, 11, 2, 15, 3, 12, 4], [2, 11, 1, 15, 3, 12, 4]])  # the first two nouns change places
    at_verb = np.arange(7) == np.array([[1], [1]])
    first, second = keras.ops.convert_to_numpy(
        model({"tokens": tokens, "mask": np.ones((2, 7), bool), "at_verb": at_verb})["none"]
    )
    np.testing.assert_allclose(first, second, atol=1e-5)
    assert np.abs(first).max() > 0
