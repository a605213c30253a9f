"""WordPiece: longest piece first, unknown as a whole, the same tokens as the reference where the vocabulary is here."""

import numpy as np
import pytest

from attention_by_hand.datasets import WordPiece, split_word
from attention_by_hand.datasets.wordpiece import words

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
PIECES = [*SPECIAL, "un", "una", "##able", "##ble", "##f", "play", "##ing", "##s", "!", "'", "é", "e", "世"]


@pytest.fixture
def wordpiece():
    return WordPiece(PIECES, longest=6)


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("unable", ["una", "##ble"]),  # not "un", "##able"
        ("unf", ["un", "##f"]),
        ("playings", ["play", "##ing", "##s"]),
        ("unablex", ["[UNK]"]),  # unknown as a whole, though a part is known
        ("ing", ["[UNK]"]),  # known inside a word only
        ("unplay", ["[UNK]"]),  # known at the beginning only
        ("un" + "f" * 98, ["un"] + ["##f"] * 98),
        ("un" + "f" * 99, ["[UNK]"]),  # 101 letters
    ],
)
def test_the_longest_piece_comes_first_and_there_is_no_way_back(word, pieces):
    assert split_word(word, {piece: n for n, piece in enumerate(PIECES)}) == pieces


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's  A\tBIG-day\n", ["it", "'", "s", "a", "big", "-", "day"]),
        ("CAFÉ déjà", ["cafe", "deja"]),
        ("a世界b", ["a", "世", "界", "b"]),
        ("x\u200by\x00z\ufffd", ["xyz"]),
        ("5€ «ok» $5", ["5€", "«", "ok", "»", "$", "5"]),
        ("ΣΑΣ", ["σασ"]),
        ("", []),
    ],
)
def test_texts_are_cut_at_blanks_and_marks(text, expected):
    assert words(text) == expected


def test_tokens_stand_between_the_two_special_ones_and_are_cut_off(wordpiece):
    assert wordpiece.tokens("Play!") == ["[CLS]", "play", "!", "[SEP]"]
    assert wordpiece.tokens("play play play play play") == ["[CLS]", *["play"] * 4, "[SEP]"]
    assert wordpiece.tokens("[SEP]")[1:-1] == ["[UNK]"] * 3  # what a text says is text


def test_numbers_are_places_and_padding_is_behind(wordpiece):
    data = wordpiece.encode(["unable", "play"], length=5)
    np.testing.assert_array_equal(data["tokens"], [[2, 5, 7, 3, 0], [2, 9, 3, 0, 0]])
    np.testing.assert_array_equal(data["mask"], [[1, 1, 1, 1, 0], [1, 1, 1, 0, 0]])
    assert (data["tokens"].dtype, data["mask"].dtype) == ("int32", bool)
    assert wordpiece.encode(["unable", "play"])["tokens"].shape == (2, 4)


def test_a_vocabulary_file_is_read_line_by_line(tmp_path, wordpiece):
    (tmp_path / "vocab.txt").write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    assert WordPiece.from_file(tmp_path / "vocab.txt").pieces == wordpiece.pieces
    assert len(wordpiece) == len(PIECES)


def test_wrong_arguments_are_named(wordpiece):
    with pytest.raises(ValueError, match=r"vocabulary must have \[UNK\]; it has 3 pieces"):
        WordPiece(["[PAD]", "[CLS]", "[SEP]"])
    with pytest.raises(ValueError, match="each piece once"):
        WordPiece([*SPECIAL, "a", "a"])
    with pytest.raises(ValueError, match="text must be a string; got int"):
        wordpiece.tokens(5)
    with pytest.raises(ValueError, match="texts must be a list of strings; got 'one'"):
        wordpiece.encode("one")
    with pytest.raises(ValueError, match="texts must be a list"):
        wordpiece.encode([])
    with pytest.raises(ValueError, match="length must be at least 4, .*; got 3"):
        wordpiece.encode(["unable"], length=3)
