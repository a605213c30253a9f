"""Sentences with a pronoun, sentences with echoes, paraphrases: what is gold is gold, and the cards' sums hold."""

import hashlib
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from attention_by_hand.datasets import (
    WordPiece,
    echoes,
    paraphrases,
    pronoun_pairs,
    pronoun_places,
    pronoun_variants,
    role_swaps,
    word_overlap,
)
from attention_by_hand.datasets.pronouns import FRAMES, VARIANTS

DATA = Path(__file__).parents[2] / "data"


def checksum(texts):
    return hashlib.sha256(json.dumps(texts, ensure_ascii=False).encode("utf-8")).hexdigest()


@pytest.fixture(scope="module")
def data():
    return pronoun_pairs(200, seed=4)


def test_a_pair_differs_in_its_last_word_and_the_words_are_those_of_the_frame(data):
    for (first, second), frame, words in zip(data["texts"], data["frame"], data["words"], strict=True):
        assert first.split()[:-1] == second.split()[:-1]
        assert (first.split()[-1], second.split()[-1]) == (words["tired"], words["wide"])
        _, subjects, objects, for_subject, for_object = FRAMES[frame]
        assert words["subject"] in subjects and words["object"] in objects
        assert words["tired"] in for_subject and words["wide"] in for_object
        assert first.index(f" {words['subject']} ") < first.index(f" {words['object']} ") < first.index(" it ")


def test_no_word_of_a_frame_fits_both_nouns_and_no_noun_is_both():
    for _, subjects, objects, for_subject, for_object in FRAMES:
        assert not set(subjects) & set(objects) and not set(for_subject) & set(for_object)


def test_pairs_are_different_and_each_seed_gives_others(data):
    assert len({tuple(pair) for pair in data["texts"]}) == 200
    assert set(data["frame"]) == set(range(len(FRAMES)))
    assert not np.array_equal(data["texts"], pronoun_pairs(200, seed=5)["texts"])
    assert len({pair[0] for pair in pronoun_pairs(960)["texts"]}) == 960
    for wrong in (0, 961):
        with pytest.raises(ValueError, match=f"count must be between 1 and 960; got {wrong}"):
            pronoun_pairs(wrong)


@pytest.mark.parametrize("kind", [None, *VARIANTS])
def test_places_are_where_the_words_stand_also_when_words_have_several_pieces(data, kind):
    data = data if kind is None else pronoun_variants(data, kind)
    letters = [chr(c) for c in range(97, 123)]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "'", *letters, *(f"##{c}" for c in letters), "the", "it", "was"]
    wordpiece = WordPiece(pieces)
    at = pronoun_places(data, wordpiece)
    for n, words in enumerate(data["words"]):
        tokens = wordpiece.tokens(str(data["texts"][n, 0]))
        for kind_of, word in (("subject", words["subject"]), ("object", words["object"])):
            start = at[kind_of][n]
            assert "".join(tokens[start : start + len(word)]).replace("##", "") == word
        assert tokens[at["pronoun"][n]] == "it"


def test_variants_change_what_they_say(data):
    front, exchanged, passive = (pronoun_variants(data, kind) for kind in VARIANTS)
    for n, words in enumerate(data["words"]):
        assert front["texts"][n, 1] == "Near the house t" + data["texts"][n, 1][1:]
        swapped = exchanged["texts"][n, 0].replace(words["subject"], "\0").replace(words["object"], words["subject"])
        assert swapped.replace("\0", words["object"]) == data["texts"][n, 0]
    kept = [words for words, frame in zip(data["words"], data["frame"], strict=True) if frame != 1]
    assert passive["words"] == kept and len(passive["texts"]) == len(passive["frame"]) == len(kept)
    for (first, second), words in zip(passive["texts"], kept, strict=True):
        assert f" by the {words['subject']} because it " in first
        assert first.startswith(f"The {words['object']} ") and second.endswith(words["wide"])
    with pytest.raises(ValueError, match="kind must be one of front, exchanged, passive; got 'x'"):
        pronoun_variants(data, "x")


def test_echoes_bring_two_names_and_a_deed_back():
    for text in echoes(50, seed=3):
        words = text.lower().split()
        assert [words[i] for i in (1, 2, 4)] == [words[-1], words[-3], words[-4]] and words[1] != words[4]
    with pytest.raises(ValueError, match="count must be at least 1; got 0"):
        echoes(0)


def test_a_distractor_shares_more_words_with_its_anchor_than_the_paraphrase_does():
    data = paraphrases()
    assert {len(texts) for texts in data.values()} == {40}
    assert len(set(itertools.chain(*data.values()))) == 120
    for anchor, paraphrase, distractor in zip(*data.values(), strict=True):
        assert word_overlap(anchor, distractor) > word_overlap(anchor, paraphrase)


def test_exchanged_roles_keep_the_words():
    for first, second in role_swaps():
        assert first != second and sorted(first.lower().split()) == sorted(second.lower().split())
        assert word_overlap(first, second) == 1


def test_overlap_by_hand():
    assert word_overlap("The dog ran", "the dog sat down") == pytest.approx(2 / 5)
    assert word_overlap("a b", "c") == 0


@pytest.mark.parametrize(
    ("card", "texts"),
    [
        ("pronoun_pairs", lambda: pronoun_pairs(960)["texts"].tolist()),
        ("pronoun_pairs", lambda: pronoun_pairs(120)["texts"].tolist()),
        ("pronoun_pairs", lambda: echoes(80)),
        ("paraphrases", lambda: list(map(list, zip(*paraphrases().values(), strict=True)))),
        ("paraphrases", lambda: list(map(list, role_swaps()))),
    ],
)
def test_the_card_states_the_checksum_of_what_the_code_makes(card, texts):
    assert checksum(texts()) in (DATA / f"{card}.md").read_text(encoding="utf-8")
