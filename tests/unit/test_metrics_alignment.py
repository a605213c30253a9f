"""Scores of word alignments, on cases computed by hand, and IBM Model 1 against a loop."""

import itertools

import numpy as np
import pytest
from keras import ops

from attention_by_hand import metrics

# "we are eating bread" → "estamos comiendo pan": the example of chapter 03.
SOURCE, TARGET = ("we", "are", "eating", "bread"), ("estamos", "comiendo", "pan")
SURE, POSSIBLE = {(1, 2), (2, 3)}, {(0, 0), (0, 1), (1, 2), (2, 3)}
WEIGHTS = np.array(
    [
        [0.45, 0.35, 0.10, 0.10],  # estamos: we, possible
        [0.05, 0.05, 0.20, 0.70],  # comiendo: bread, wrong
        [0.00, 0.10, 0.20, 0.70],  # pan: bread, sure
    ]
)


def test_aer_of_one_sentence_by_hand():
    # A = (0,0) (1,3) (2,3): one sure, two possible, of 3 + 2 → 1 − (1 + 2) / 5
    links = metrics.links_from_weights([WEIGHTS], [SOURCE], [TARGET])
    assert links == [{(0, 0), (1, 3), (2, 3)}]
    assert metrics.alignment_error_rate(links, [SURE], [POSSIBLE]) == pytest.approx(1 - 3 / 5)


def test_aer_is_0_for_the_gold_links_and_1_for_none_of_them():
    assert metrics.alignment_error_rate([SURE | {(0, 1)}], [SURE], [POSSIBLE]) == 0
    assert metrics.alignment_error_rate([{(0, 3), (1, 1)}], [SURE], [POSSIBLE]) == 1


def test_aer_sums_over_sentences_before_it_divides():
    # sentence 0: 3 right of 3 + 2 as above; sentence 1: A = {(0, 0)} = S = P: 2 of 2. Together 1 − 5 / 7, not the mean.
    links, sure, possible = [{(0, 0), (1, 3), (2, 3)}, {(0, 0)}], [SURE, {(0, 0)}], [POSSIBLE, {(0, 0)}]
    assert metrics.alignment_error_rate(links, sure, possible) == pytest.approx(1 - 5 / 7)


def test_links_ignore_padding_the_stop_token_and_punctuation():
    weights = np.full((2, 5, 6), 0.01)
    weights[:, :, 5] = 0.9  # padding in both sentences
    weights[0, 0, 1] = weights[0, 1, 0] = weights[0, 2, 2] = weights[1, 0, 1] = 0.5
    sources, targets = [("a", "b", "."), ("c", "d")], [("x", "y", "."), ("z",)]
    assert metrics.links_from_weights(weights, sources, targets) == [{(0, 1), (1, 0)}, {(0, 1)}]


def test_links_take_tensors_of_the_backend():
    weights = ops.convert_to_tensor(WEIGHTS[None], "float32")
    assert metrics.links_from_weights(weights, [SOURCE], [TARGET]) == [{(0, 0), (1, 3), (2, 3)}]


def test_sure_accuracy_counts_the_words_with_a_sure_link_and_shares_ties():
    assert metrics.sure_accuracy([WEIGHTS], [SOURCE], [TARGET], [SURE]) == pytest.approx(1 / 2)
    even = np.full((1, 3, 4), 0.25)
    assert metrics.sure_accuracy(even, [SOURCE], [TARGET], [SURE]) == pytest.approx(1 / 4)


def test_mass_on_links_adds_the_weights_of_all_links_of_a_word():
    # possible: 0.45 + 0.35, 0.20, 0.70; sure: 0.20, 0.70
    assert metrics.mass_on_links([WEIGHTS], [SOURCE], [TARGET], [POSSIBLE]) == pytest.approx(1.7 / 3)
    assert metrics.mass_on_links([WEIGHTS], [SOURCE], [TARGET], [SURE]) == pytest.approx(0.45)


def test_uniform_weights_are_even_over_the_source_words():
    (weights,) = metrics.uniform_weights([SOURCE], [TARGET])
    assert weights.tolist() == np.full((3, 4), 0.25).tolist()


def test_uniform_links_are_one_a_word_and_hit_by_chance():
    links = metrics.uniform_links([SOURCE] * 4000, [(*TARGET, ".")] * 4000)
    assert all(sorted(t for t, _ in one) == [0, 1, 2] for one in links)
    share = np.mean([(1, 2) in one for one in links])
    assert share == pytest.approx(1 / 4, abs=0.03)
    assert links == metrics.uniform_links([SOURCE] * 4000, [(*TARGET, ".")] * 4000)


def test_diagonal_of_different_lengths_by_hand():
    # 3 target words, 4 source words: (t + 1/2) · 4/3 = 0.67, 2, 3.33; 4 words, 2: 0.25, 0.75, 1.25, 1.75
    sources, targets = [SOURCE, ("a", "b")], [TARGET, ("w", "x", "y", "z")]
    assert metrics.diagonal_links(sources, targets) == [{(0, 0), (1, 2), (2, 3)}, {(0, 0), (1, 0), (2, 1), (3, 1)}]
    assert metrics.diagonal_weights(sources, targets)[0].sum(axis=1).tolist() == [1, 1, 1]


def loop_model(sources, targets, rounds):
    """IBM Model 1 as its definition reads, with dictionaries."""
    words = sorted({f for target in targets for f in target})
    p = {(f, e): 1 / len(words) for f in words for source in sources for e in source}
    for _ in range(rounds):
        count = dict.fromkeys(p, 0.0)
        for source, target in zip(sources, targets, strict=True):
            for f in target:
                total = sum(p[f, e] for e in source)
                for e in source:
                    count[f, e] += p[f, e] / total
        sums = {e: sum(count[f, e] for f in words) for _, e in p}
        p = {(f, e): count[f, e] / sums[e] for f, e in p}
    return p


def test_ibm_model_1_is_its_definition(rng):
    english, french = np.array(list("abcde")), np.array(list("uvwxyz"))
    sources = [tuple(rng.choice(english, size=rng.integers(2, 5))) for _ in range(12)]
    targets = [tuple(rng.choice(french, size=rng.integers(1, 6))) for _ in range(12)]
    model, p = metrics.IBMModel1(rounds=4).fit(sources, targets), loop_model(sources, targets, rounds=4)
    for weights, source, target in zip(model.weights(sources, targets), sources, targets, strict=True):
        for (t, f), (s, e) in itertools.product(enumerate(target), enumerate(source)):
            assert weights[t, s] == pytest.approx(p[f, e] / sum(p[f, other] for other in source), abs=1e-12)


def test_ibm_model_1_finds_the_words_that_always_meet():
    sources = [("the", "house"), ("the", "book"), ("a", "book")]
    targets = [("das", "Haus"), ("das", "Buch"), ("ein", "Buch")]
    links = metrics.IBMModel1(rounds=20).fit(sources, targets).links(sources, targets)
    assert links == [{(0, 0), (1, 1)}] * 3


def test_ibm_model_1_gives_even_weights_to_words_that_never_met():
    model = metrics.IBMModel1().fit([("a",), ("b", "c")], [("x",), ("y",)])
    assert model.weights([("b", "c")], [("x",)])[0].tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.alignment_error_rate([SURE], [SURE, SURE], [POSSIBLE]), "one entry a sentence"),
        (lambda: metrics.alignment_error_rate([SURE], [SURE], [{(1, 2)}]), r"must be possible.*\(2, 3\)"),
        (lambda: metrics.alignment_error_rate([set()], [set()], [POSSIBLE]), "must not both be empty"),
        (lambda: metrics.links_from_weights([WEIGHTS[:2]], [SOURCE], [TARGET]), r"at least \(3, 4\).*got \(2, 4\)"),
        (lambda: metrics.links_from_weights([-WEIGHTS], [SOURCE], [TARGET]), "finite and at least 0"),
        (lambda: metrics.links_from_weights([WEIGHTS * np.nan], [SOURCE], [TARGET]), "finite and at least 0"),
        (lambda: metrics.links_from_weights([WEIGHTS], ["we are"], [TARGET]), "sequences of words"),
        (lambda: metrics.links_from_weights([WEIGHTS], [SOURCE], [TARGET, TARGET]), "one entry a sentence"),
        (lambda: metrics.sure_accuracy([WEIGHTS], [SOURCE], [TARGET], [{(0, 4)}]), r"link \(0, 4\) of sentence 0"),
        (lambda: metrics.sure_accuracy([WEIGHTS], [SOURCE], [TARGET], [set()]), "at least one link"),
        (lambda: metrics.uniform_links([], []), "at least one"),
        (lambda: metrics.diagonal_links([SOURCE], [()]), "none empty"),
        (lambda: metrics.IBMModel1(rounds=0), "rounds must be at least 1"),
        (lambda: metrics.IBMModel1().weights([SOURCE], [TARGET]), "call fit"),
        (
            lambda: metrics.IBMModel1().fit([SOURCE], [TARGET]).weights([("tea",)], [TARGET]),
            "never seen the word 'tea'",
        ),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
