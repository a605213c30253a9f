"""Batches of sentence pairs: what is in them, that each epoch has every pair, and that like lengths go together."""

import numpy as np
import pytest

from attention_by_hand import backend
from attention_by_hand.datasets import LengthBatches, Pair, translation_inputs
from attention_by_hand.datasets.translation import corpus

WORDS = "zero one two three four five six seven".split()


def pair(number, length):
    """A pair that no other number has: `number` in binary, then as many words as are missing."""
    bits = [WORDS[bit] for bit in map(int, f"{number:06b}")]
    words = tuple(bits + ["seven"] * (length - 6))
    return Pair(words, tuple(word.upper() for word in words), frozenset(), frozenset())


PAIRS = [pair(n, 6 + n % 5) for n in range(48)]
CORPUS = corpus("es", {"train": PAIRS})


def decoded(words):
    return [CORPUS.target.decode(row) for row in words]


def test_the_target_goes_in_shifted_by_one_and_comes_out_with_its_end():
    inputs, words = translation_inputs(CORPUS, PAIRS[:3], source_length=9, target_length=10)
    assert inputs["source"].shape == (3, 9) and inputs["target"].shape == words.shape == (3, 10)
    for row, one in enumerate(PAIRS[:3]):
        count = len(one.target)
        assert inputs["target"][row, 0] == 1 and words[row, count] == 2
        np.testing.assert_array_equal(inputs["target"][row, 1 : count + 1], words[row, :count])
        assert inputs["source_mask"][row].sum() == len(one.source)
    assert (
        CORPUS.source.decode(translation_inputs(CORPUS, PAIRS[:1], reverse=True)[0]["source"][0]) == PAIRS[0][0][::-1]
    )


def test_a_sentence_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="length must be at least"):
        translation_inputs(CORPUS, PAIRS, source_length=7)


@pytest.mark.parametrize("groups", [1, 3])
def test_an_epoch_has_every_pair_once_and_the_next_one_another_order(groups):
    batches = LengthBatches(CORPUS, PAIRS, batch_size=4, seed=3, groups=groups)
    epochs = []
    for _ in range(2):
        epochs.append([sentence for i in range(len(batches)) for sentence in decoded(batches[i][1])])
        batches.on_epoch_end()
    assert sorted(epochs[0]) == sorted(epochs[1]) == sorted(one.target for one in PAIRS)
    assert epochs[0] != epochs[1]


def test_sentences_that_share_a_batch_do_not_share_the_next_one():
    batches = LengthBatches(CORPUS, PAIRS, batch_size=4, seed=3, groups=1)
    together = [{frozenset(decoded(batches[i][1])) for i in range(len(batches))}]
    batches.on_epoch_end()
    together.append({frozenset(decoded(batches[i][1])) for i in range(len(batches))})
    assert together[0] != together[1]


def test_padding_weighs_nothing_and_words_weigh_one():
    inputs, words, weights = LengthBatches(CORPUS, PAIRS, batch_size=6)[0]
    np.testing.assert_array_equal(weights, (words != 0) * 1.0)
    np.testing.assert_array_equal(inputs["source_mask"], inputs["source"] != 0)


def test_groups_hold_sentences_of_like_length():
    batches = LengthBatches(CORPUS, PAIRS, batch_size=4, groups=3)
    widths = {batches[i][1].shape[1] for i in range(len(batches))}
    assert len(widths) == (1 if backend.name() == "tensorflow" else 3)  # its compiled loops want one length
    assert max(widths) == 11
    for i in range(len(batches)):
        lengths = (batches[i][1] != 0).sum(axis=1)
        assert lengths.max() - lengths.min() <= 2 < 4  # over all pairs they differ by 4


def test_by_default_only_torch_has_groups():
    shapes = {LengthBatches(CORPUS, PAIRS, batch_size=4)[i][1].shape for i in range(12)}
    assert len(shapes) == (3 if backend.name() == "torch" else 1)


def test_the_order_depends_on_the_seed_alone():
    orders = [decoded(LengthBatches(CORPUS, PAIRS, batch_size=4, seed=seed)[0][1]) for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]


@pytest.mark.parametrize("options", [{"batch_size": 64}, {"batch_size": 0}, {"batch_size": 20, "groups": 3}])
def test_too_few_pairs_are_refused(options):
    with pytest.raises(ValueError, match="pairs must fill a batch in each group"):
        LengthBatches(CORPUS, PAIRS, **options)
