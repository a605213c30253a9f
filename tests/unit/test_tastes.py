"""Likes and dislikes: the gold is where it is said to be; the parts of the models do what they say."""

import hashlib
import re
from pathlib import Path

import keras
import numpy as np
import pytest

from attention_by_hand.datasets import likes_and_dislikes, taste_text, taste_vectors, without_answers
from attention_by_hand.datasets.tastes import FRUITS, PEOPLE, RELATIONS
from attention_by_hand.layers import MultiHeadAttention
from attention_by_hand.models import ChunkHeads, UniformHead, taste_race
from attention_by_hand.parity import draw_weights

CARD = Path(__file__).parents[2] / "data" / "likes_and_dislikes.md"
to_numpy = keras.ops.convert_to_numpy


@pytest.fixture(params=[0, 1, 2])
def data(request):
    return likes_and_dislikes(300, people=3, seed=request.param)


def checksum(data):
    """SHA-256 over names, dtypes, shapes and little-endian bytes of all arrays."""
    digest = hashlib.sha256()
    for name in sorted(data):
        array = data[name].astype(data[name].dtype.newbyteorder("<"))
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def test_shapes_and_dtypes(data):
    assert {name: (a.shape, a.dtype.name) for name, a in data.items()} == {
        "notes": ((300, 6, 3), "int32"),
        "asked": ((300,), "int32"),
        "mask": ((300, 6), "bool"),
        "target": ((300, 2), "int32"),
        "position": ((300, 2), "int32"),
    }


def test_gold_notes_are_those_of_the_person_and_hold_the_targets(data):
    for notes, asked, target, position in zip(
        *(data[n] for n in ("notes", "asked", "target", "position")), strict=True
    ):
        for relation in (0, 1):
            match = (notes[:, 0] == asked) & (notes[:, 1] == relation)
            assert np.flatnonzero(match).tolist() == [position[relation]]
            assert notes[position[relation], 2] == target[relation]


def test_every_person_has_one_note_of_each_relation_about_different_fruits(data):
    for notes in data["notes"]:
        for person in set(notes[:, 0]):
            own = notes[notes[:, 0] == person]
            assert sorted(own[:, 1]) == [0, 1] and own[0, 2] != own[1, 2]
        assert len(set(notes[:, 0])) == 3


def test_neither_place_nor_fruit_tells_the_relation():
    data = likes_and_dislikes(8000, seed=3)
    for relation in (0, 1):
        assert np.abs(np.bincount(data["position"][:, relation], minlength=8) / 8000 - 1 / 8).max() < 0.02
        assert np.abs(np.bincount(data["target"][:, relation], minlength=8) / 8000 - 1 / 8).max() < 0.02


def test_vectors_say_the_same_as_the_notes(data):
    vectors = taste_vectors(data)
    assert {n: (v.shape[1:], v.dtype.name) for n, v in vectors.items()} == {
        "query": ((1, 8), "float32"),
        "key": ((6, 8), "float32"),
        "value": ((6, 8), "float32"),
        "mask": ((6,), "bool"),
    }
    assert (vectors["query"][:, 0, :6].argmax(-1) == data["asked"]).all() and not vectors["query"][..., 6:].any()
    assert (vectors["key"][..., :6].argmax(-1) == data["notes"][..., 0]).all()
    assert (vectors["key"][..., 6:].argmax(-1) == data["notes"][..., 1]).all()
    assert (vectors["value"].argmax(-1) == data["notes"][..., 2]).all()
    assert (vectors["key"].sum(-1) == 2).all() and (vectors["value"].sum(-1) == 1).all()


def test_without_answers_hides_both_gold_notes_and_nothing_else(data):
    hidden = without_answers(data)
    changed = data["mask"] ^ hidden["mask"]
    assert (changed.sum(axis=1) == 2).all() and np.take_along_axis(changed, data["position"], axis=1).all()
    assert data["mask"].all()
    assert all(hidden[name] is data[name] for name in set(data) - {"mask"})


def test_text_of_a_note_and_of_several():
    assert taste_text((0, 1, 6)) == "Anna dislikes pear"
    assert taste_text([(1, 0, 0), (5, 1, 7)]) == ["Ben likes apple", "Finn dislikes plum"]
    assert (len(PEOPLE), len(RELATIONS), len(FRUITS)) == (6, 2, 8)


@pytest.mark.parametrize("people", [0, 7])
def test_people_outside_their_range_are_an_error(people):
    with pytest.raises(ValueError, match=f"people must be between 1 and 6; got {people}"):
        likes_and_dislikes(5, people=people)


def test_the_same_seed_gives_the_same_data_and_another_seed_does_not():
    before = np.random.get_state()[1].copy()
    assert checksum(likes_and_dislikes(50, seed=4)) == checksum(likes_and_dislikes(50, seed=4))
    assert checksum(likes_and_dislikes(50, seed=4)) != checksum(likes_and_dislikes(50, seed=5))
    assert (np.random.get_state()[1] == before).all()


def test_the_card_states_the_checksum_of_the_data_that_the_code_makes():
    stated = dict(re.findall(r"`likes_and_dislikes\(([^`]*)\)` \| `([0-9a-f]{64})`", CARD.read_text(encoding="utf-8")))
    assert len(stated) >= 2
    for call, digest in stated.items():
        assert checksum(likes_and_dislikes(**eval(f"dict(count={call})"))) == digest, call


def test_the_statistics_on_the_card_are_those_of_the_data():
    text, data = CARD.read_text(encoding="utf-8"), likes_and_dislikes(4000, seed=0)
    values = data["notes"][..., 2]  # (N, T)
    counts = np.stack([(values == fruit).sum(axis=1) for fruit in range(8)], axis=1)  # (N, 8)
    stated = {
        "different fruits in an example": (counts > 0).sum(axis=1).mean(),
        "accuracy on likes, answering the most frequent fruit": (counts.argmax(axis=1) == data["target"][:, 0]).mean(),
    }
    for label, number in stated.items():
        found = re.search(rf"\| {label} \| ([\d.]+) \|", text)
        assert found and abs(float(found[1]) - number) < 0.005, (label, number)


def test_chunk_heads_are_block_diagonal_multi_head_attention(rng):
    query, value, key = (rng.normal(size=s).astype("float32") for s in ((2, 3, 8), (2, 5, 6), (2, 5, 4)))
    chunks = ChunkHeads(2, 7)
    chunks.build(query.shape, value.shape, key.shape)
    draw_weights(chunks, rng)
    whole = MultiHeadAttention(2, 7)
    whole.build(query.shape, value.shape, key.shape)
    arrays = [np.zeros(w.shape, "float32") for w in whole.weights]  # query, key, value, output: kernel and bias each
    small = [to_numpy(w) for w in chunks.weights]
    for array, kernel in zip(arrays[0:6:2], small[:3], strict=True):
        size = len(kernel)
        for head in range(2):
            array[head * size : (head + 1) * size, head] = kernel[:, head]
    arrays[6], arrays[1] = small[3], small[4][:, 0]
    whole.set_weights(arrays)
    mask = np.array([[True, True, False, True, True], [False, True, True, True, False]])
    for ours, expected in zip(
        *(layer(query, value, key, value_mask=mask, return_attention_scores=True) for layer in (chunks, whole)),
        strict=True,
    ):
        np.testing.assert_allclose(to_numpy(ours), to_numpy(expected), rtol=1e-5, atol=1e-5)


def test_a_width_that_cannot_be_cut_is_an_error():
    with pytest.raises(ValueError, match="num_heads must divide the width of value, 5; got 2"):
        ChunkHeads(2, 4).build((1, 3, 4), (1, 2, 5), (1, 2, 4))


def test_uniform_head_projects_the_plain_mean_of_the_visible_values(rng):
    query, value, key = (rng.normal(size=s).astype("float32") for s in ((2, 1, 4), (2, 5, 6), (2, 5, 4)))
    mask = np.array([[True, False, True, True, False], [True, True, True, True, True]])
    layer = UniformHead()
    output, weights = layer(query, value, key, value_mask=mask, return_attention_scores=True)
    (kernel,) = (to_numpy(w) for w in layer.weights)
    mean = np.stack([v[m].mean(axis=0) for v, m in zip(value, mask, strict=True)])
    np.testing.assert_allclose(to_numpy(output)[:, 0], mean @ kernel, rtol=1e-5, atol=1e-5)
    assert weights.shape == (2, 1, 1, 5)


def test_models_give_two_answers_and_the_weights_of_every_head():
    contestants = {"two": MultiHeadAttention(2, 3), "cut": ChunkHeads(2, 3), "plain": UniformHead()}
    model, full = taste_race(contestants, embed=["cut"])
    vectors = taste_vectors(likes_and_dislikes(5, people=2))
    found = full.predict(vectors, verbose=0)
    assert {name: logits.shape for name, logits in found["logits"].items()} == dict.fromkeys(contestants, (5, 2, 8))
    assert [found["weights"][name].shape for name in contestants] == [(5, 2, 1, 4), (5, 2, 1, 4), (5, 1, 1, 4)]
    for name, logits in model.predict(vectors, verbose=0).items():
        np.testing.assert_allclose(logits, found["logits"][name], rtol=1e-5, atol=1e-5)
