"""Vocabularies and sentences as chapters use them; the data themselves are tested once, in tests/project."""

import numpy as np
import pytest
from keras import ops

from attention_by_hand.backend import to_numpy
from attention_by_hand.datasets import Vocabulary, sentence_text

SENTENCES = [("we", "are", "eating", "bread"), ("you", "eat")]
WORDS = ["we", "are", "eating", "bread", "you", "eat", "we"]


@pytest.fixture
def vocabulary():
    return Vocabulary(WORDS)


def test_words_are_numbered_from_4_in_sorted_order(vocabulary):
    assert vocabulary.words == ("[PAD]", "[START]", "[END]", "[UNK]", "are", "bread", "eat", "eating", "we", "you")
    assert len(vocabulary) == 10 and "eat" in vocabulary and "tea" not in vocabulary and "[PAD]" not in vocabulary
    assert Vocabulary(reversed(WORDS)).words == vocabulary.words


def test_sentences_become_rows_padded_with_0(vocabulary):
    ids = vocabulary.encode(SENTENCES)
    assert ids.dtype == np.int32 and ids.tolist() == [[8, 4, 7, 5], [9, 6, 0, 0]]
    assert vocabulary.encode(SENTENCES, length=6).shape == (2, 6)


def test_start_and_end_stay_outside_when_the_words_are_reversed(vocabulary):
    ids = vocabulary.encode(SENTENCES, start=True, end=True, reverse=True)
    assert ids.tolist() == [[1, 5, 7, 4, 8, 2], [1, 6, 9, 2, 0, 0]]


def test_decoding_stops_at_the_end_and_gives_back_the_words(vocabulary):
    ids = vocabulary.encode(SENTENCES, start=True, end=True)
    assert vocabulary.decode(ids) == SENTENCES
    assert vocabulary.decode(np.array([8, 2, 4, 4])) == ("we",)
    assert vocabulary.decode(to_numpy(ops.convert_to_tensor(ids))[1]) == ("you", "eat")


def test_an_unknown_word_is_named_or_replaced(vocabulary):
    with pytest.raises(ValueError, match="no word 'tea'"):
        vocabulary.encode([("we", "tea")])
    ids = vocabulary.encode([("we", "tea")], unknown="replace")
    assert ids.tolist() == [[8, 3]] and vocabulary.decode(ids) == [("we", "[UNK]")]


@pytest.mark.parametrize(
    ("sentences", "options", "message"),
    [
        ([("we",), ()], {}, "sentence 1 is empty"),
        ([], {}, "got none"),
        ("we eat", {}, "not split into words"),
        (["we eat"], {}, "not split into words"),
        (SENTENCES, {"length": 3}, "length must be at least 4.*got 3.*'we are eating bread'"),
        (SENTENCES, {"length": 5, "start": True, "end": True}, "length must be at least 6"),
        (SENTENCES, {"unknown": "ignore"}, '"raise" or "replace"'),
    ],
)
def test_sentences_that_cannot_be_encoded_are_named(vocabulary, sentences, options, message):
    with pytest.raises(ValueError, match=message):
        vocabulary.encode(sentences, **options)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (np.array([0, 10]), "between 0 and 9; got 0 … 10"),
        (np.array([-1]), "got -1"),
        (np.array([1.0]), "integers"),
        (np.zeros((1, 1, 1), int), r"\(T,\) or \(N, T\)"),
    ],
)
def test_ids_that_cannot_be_decoded_are_named(vocabulary, ids, message):
    with pytest.raises(ValueError, match=message):
        vocabulary.decode(ids)


@pytest.mark.parametrize("word", ["", "[PAD]", 5])
def test_a_vocabulary_takes_words_only(word):
    with pytest.raises(ValueError, match="words must be texts"):
        Vocabulary(["we", word])


def test_sentences_are_written_as_people_write_them():
    assert sentence_text(("l'", "accord", "n'", "a", "pas", "été", "signé", ".")) == "L'accord n'a pas été signé."
    assert sentence_text(("aujourd'hui", "j'", "achète", "de", "l'", "eau")) == "aujourd'hui j'achète de l'eau"
