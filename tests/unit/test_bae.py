"""The 배 sentences: the gold verb asks for 배's particle and decides, the split is clean, counting verbs is no help."""

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest

import attention_by_hand as abh
from attention_by_hand import strings
from attention_by_hand.datasets import bae, bae_sentences, bae_text, without_gold

CARD = Path(__file__).parents[2] / "data" / "bae_sentences.md"
NOUNS = {"배가": "가", "배를": "를", "배로": "로"}
# Written again from the card's grammar, apart from the generator: word → (particle it asks for, meaning).
VERBS = {
    **dict.fromkeys(("도착하고", "가라앉고"), ("가", "ship")),
    **dict.fromkeys(("익고", "썩고"), ("가", "pear")),
    **dict.fromkeys(("아프고", "고프고"), ("가", "belly")),
    **dict.fromkeys(("타고", "놓치고"), ("를", "ship")),
    **dict.fromkeys(("먹고", "깎고"), ("를", "pear")),
    **dict.fromkeys(("문지르고", "내밀고"), ("를", "belly")),
    **dict.fromkeys(("건너고", "여행하고"), ("로", "ship")),
    **dict.fromkeys(("담그고", "빚고"), ("로", "pear")),
    **dict.fromkeys(("숨쉬고", "기어가고"), ("로", "belly")),
}


def sentences(data):
    return [[bae.WORDS[i] for i in row if i] for row in data["tokens"]]


def verbs(words):
    return [word for word in words if word in VERBS]


def checksum(data):
    digest = hashlib.sha256()
    for name in sorted(data):
        array = data[name].astype(data[name].dtype.newbyteorder("<"))
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def bets(data):
    """Accuracy of the most frequent and of the rarest meaning among the verbs, ties shared."""
    found = {max: [], min: []}
    for words, target in zip(sentences(data), data["target"], strict=True):
        meanings = [VERBS[v][1] for v in verbs(words)]
        counts = {m: meanings.count(m) for m in set(meanings)}
        for choose, hits in found.items():
            chosen = [m for m in counts if counts[m] == choose(counts.values())]
            hits.append((bae.MEANINGS[target] in chosen) / len(chosen))
    return np.mean(found[max]), np.mean(found[min])


@pytest.fixture(params=[(0, False), (1, True), (2, False)])
def data(request):
    seed, new = request.param
    return bae_sentences(400, new_combinations=new, max_fillers=2, seed=seed)


def test_shapes_and_dtypes(data):
    assert {name: (a.shape, a.dtype.name) for name, a in data.items()} == {
        "tokens": ((400, 6), "int32"),
        "mask": ((400, 6), "bool"),
        "asker": ((400, 6), "bool"),
        "target": ((400,), "int32"),
        "position": ((400,), "int32"),
    }


def test_the_gold_verb_asks_for_the_particle_of_bae_and_has_its_meaning(data):
    for words, asker, target, position in zip(
        sentences(data), data["asker"], data["target"], data["position"], strict=True
    ):
        (place,) = np.flatnonzero(asker)
        particle, meaning = VERBS[words[position]]
        assert particle == NOUNS[words[place]]
        assert meaning == bae.MEANINGS[target]
        assert sum(VERBS[v][0] == particle for v in verbs(words)) == 1


def test_the_gold_verb_is_the_next_verb_after_bae_with_and_without_particles():
    for particles in (True, False):
        data = bae_sentences(300, particles=particles, seed=5)
        for words, asker, position in zip(sentences(data), data["asker"], data["position"], strict=True):
            place = int(np.argmax(asker))
            assert words[position] == verbs(words[place:])[0]


def test_each_sentence_has_one_bae_three_verbs_and_no_word_twice(data):
    for words in sentences(data):
        assert sum(word in NOUNS for word in words) == 1
        assert sorted(VERBS[v][0] for v in verbs(words)) == sorted(NOUNS.values())
        assert len({VERBS[v][1] for v in verbs(words)}) >= 2
        assert len(set(words)) == len(words)


def test_padding_is_0_and_at_the_end(data):
    assert (data["tokens"] != 0).tolist() == data["mask"].tolist()
    assert (np.sort(~data["mask"], axis=1) == ~data["mask"]).all() and (~data["mask"]).any()


def test_without_particles_every_bae_is_the_same_word():
    words = sentences(bae_sentences(50, particles=False))
    assert all(sum(word == "배" for word in sentence) == 1 for sentence in words)


def test_no_triple_of_verbs_is_in_both_halves_and_every_pair_is():
    old, new = (
        {tuple(sorted(verbs(s))) for s in sentences(bae_sentences(4000, new_combinations=n, seed=3))}
        for n in (False, True)
    )
    pairs = [{(t[i], t[j]) for t in half for i in range(3) for j in range(i)} for half in (old, new)]
    assert len(old) == len(new) == 96 and not old & new
    assert pairs[0] == pairs[1]


def test_counting_the_verbs_meanings_is_a_bet():
    assert max(bets(bae_sentences(4000, seed=4))) < 0.52
    assert np.abs(np.bincount(bae_sentences(8000, seed=4)["target"]) / 8000 - 1 / 3).max() < 0.02


def test_the_same_seed_gives_the_same_data_and_another_seed_does_not():
    assert checksum(bae_sentences(100, seed=4)) == checksum(bae_sentences(100, seed=4))
    assert checksum(bae_sentences(100, seed=4)) != checksum(bae_sentences(100, seed=5))


def test_without_gold_hides_the_deciding_verb_only(data):
    changed = data["mask"] ^ without_gold(data)["mask"]
    assert (changed.sum(axis=1) == 1).all() and (changed.argmax(axis=1) == data["position"]).all()


@pytest.mark.parametrize("max_fillers", [-1, 7])
def test_too_many_fillers_is_an_error(max_fillers):
    with pytest.raises(ValueError, match=f"between 0 and 6; got {max_fillers}"):
        bae_sentences(5, max_fillers=max_fillers)


def test_text_leaves_padding_out_and_has_a_gloss_for_every_word():
    ids = [bae.WORDS.index("배를"), bae.WORDS.index("먹고"), 0]
    assert bae_text(ids) == "배를 먹고" and bae_text(ids, gloss=True) == "bae+object eats"
    assert len(bae.WORDS) == len(bae.GLOSSES) == len(set(bae.WORDS))


def test_every_korean_word_of_the_chapter_has_a_latin_form():
    for word in (*bae.WORDS[1:], *bae.SENTENCE):
        assert strings.romanised(word).isascii(), word


def test_the_sentence_renders_without_a_missing_glyph():
    import warnings

    words = [*bae.SENTENCE, *bae.WORDS[1:]]
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*[Gg]lyph.*")
        picture = abh.plots.bars(words, np.ones(len(words)), title="plots.tie.title", width=30.0)
        assert picture._repr_png_().startswith(b"\x89PNG")


def test_the_tables_of_the_sentence_are_what_the_chapter_says():
    softmax = np.exp(bae.SCORES) / np.exp(bae.SCORES).sum(axis=1, keepdims=True)
    assert (bae.SCORES == bae.SCORES.T).all() and (np.diag(bae.SCORES) == 1).all()
    assert softmax[0].round(3).tolist() == [0.287, 0.193, 0.117, 0.117, 0.158, 0.129]
    assert softmax[5].round(3).tolist() == [0.125, 0.114, 0.125, 0.169, 0.187, 0.279]
    assert bae.CIRCULATING.sum(axis=1).round(3).tolist() == [1.0, 1.025, 1.29, 1.197, 1.181, 1.089]


@pytest.mark.parametrize("hide_asker", [True, False])
def test_the_model_reads_the_meaning_off_the_row_of_bae(hide_asker):
    """Logits of the model against the same computation step by step in NumPy."""
    data = bae_sentences(7, seed=6)
    parts = {name: data[name] for name in ("tokens", "mask", "asker")}
    layer = abh.layers.SelfAttention(5)
    model, weights_model = abh.models.bae_model(layer, words=len(bae.WORDS) - 1, width=4, hide_asker=hide_asker)
    x = model.get_layer("embedding").get_weights()[0][data["tokens"]]  # (N, T, D)
    q, k, v = (x @ abh.backend.to_numpy(w) for w in layer.weights)
    read = model.get_layer("read_out").get_weights()
    for n, (mask, asker) in enumerate(zip(data["mask"], data["asker"], strict=True)):
        scores = q[n][asker][0] @ k[n].T / 5**0.5
        visible = mask & ~asker if hide_asker else mask
        weights = np.where(visible, np.exp(scores), 0) / np.exp(scores)[visible].sum()
        found = weights_model.predict(parts, verbose=0)[n]
        np.testing.assert_allclose(found, weights, atol=1e-5)
        logits = weights @ v[n] @ read[0] + read[1]
        np.testing.assert_allclose(model.predict(parts, verbose=0)[n], logits, atol=1e-5)


def test_the_model_without_attention_sees_bae_only():
    data = bae_sentences(6, seed=6)
    model, weights_model = abh.models.bae_model(None, words=len(bae.WORDS) - 1)
    assert weights_model is None
    parts = {name: data[name] for name in ("tokens", "mask", "asker")}
    before = model.predict(parts, verbose=0)
    other = np.where(data["asker"], data["tokens"], 5)  # every other word replaced
    np.testing.assert_allclose(model.predict({**parts, "tokens": other}, verbose=0), before, atol=1e-6)


def test_the_card_states_the_checksum_of_the_data_that_the_code_makes():
    stated = dict(re.findall(r"`bae_sentences\(([^`]*)\)` \| `([0-9a-f]{64})`", CARD.read_text(encoding="utf-8")))
    assert len(stated) >= 3
    for call, digest in stated.items():
        assert checksum(bae_sentences(**eval(f"dict(count={call})"))) == digest, call


def test_the_statistics_on_the_card_are_those_of_the_data():
    text = CARD.read_text(encoding="utf-8")
    data = bae_sentences(4000, seed=0)
    most, rarest = bets(data)
    for label, number in (
        ("mean length of a sentence", data["mask"].sum(axis=1).mean()),
        ("accuracy of answering the most frequent meaning among the verbs", most),
        ("accuracy of answering the rarest meaning among the verbs", rarest),
    ):
        stated = re.search(rf"\| {label} \| ([\d.]+) \|", text)
        assert stated and abs(float(stated[1]) - number) < 0.005, (label, number)
