"""Kneser–Ney n-grams: a case counted by hand, sums, a loop over dictionaries, and bad input."""

from collections import Counter, defaultdict

import numpy as np
import pytest

from attention_by_hand.models import KneserNey, tune_kneser_ney


def rows(*texts):
    """Tokens (N, T) with the stop first, targets, and 1 where a text still goes on."""
    length = max(map(len, texts))
    text = np.array([[0, *t, *[0] * (length - len(t))] for t in texts])
    return text[:, :-1], text[:, 1:], np.array([[1.0] * len(t) + [0.0] * (length - len(t)) for t in texts])


def test_a_bigram_model_counted_by_hand():
    # one row, a b a b c (a = 1, b = 2, c = 3), the stop (0) in front: bigrams 0a ab ba ab bc
    model = KneserNey(2, symbols=4, discount=0.5).fit(*rows([1, 2, 1, 2, 3]))
    # symbols by the number of different ones before them: a 2 (stop, b), b 1, c 1; 4 in all, 3 kinds
    p1 = {w: (max(n - 0.5, 0) + 0.5 * 3 * 0.25) / 4 for w, n in {0: 0, 1: 2, 2: 1, 3: 1}.items()}
    after_b = {1: (1 - 0.5 + 0.5 * 2 * p1[1]) / 2, 3: (1 - 0.5 + 0.5 * 2 * p1[3]) / 2, 2: 0.5 * 2 * p1[2] / 2}
    for w, expected in after_b.items():
        assert model.probability([[2]], [[w]])[0, 0] == pytest.approx(expected)
    assert model.probability([[1]], [[2]])[0, 0] == pytest.approx((2 - 0.5 + 0.5 * p1[2]) / 2)
    assert model.probability([[3]], [[1]])[0, 0] == pytest.approx(p1[1])  # nothing was seen after c


def reference(order, symbols, discount, texts):
    """The same by recursion over dictionaries: p(w | h) for a tuple h."""
    padded = [tuple([0] * order + list(t)) for t in texts]
    full = Counter(t[i - order + 1 : i + 1] for t in padded for i in range(order, len(t)))
    counts = {order: full}
    for n in range(order - 1, 0, -1):
        counts[n] = Counter(gram[1:] for gram in counts[n + 1])
    after = {n: defaultdict(dict) for n in counts}
    for n, table in counts.items():
        for gram, count in table.items():
            after[n][gram[:-1]][gram[-1]] = count

    def p(w, h, n):
        if n == 0:
            return 1 / symbols
        seen = after[n].get(h)
        lower = p(w, h[1:], n - 1)
        if not seen:
            return lower
        return (max(seen.get(w, 0) - discount, 0) + discount * len(seen) * lower) / sum(seen.values())

    return p


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_a_loop_over_dictionaries_agrees(order):
    rng = np.random.default_rng(order)
    texts = [rng.integers(1, 5, size=rng.integers(5, 12)).tolist() for _ in range(7)]
    tokens, target, weight = rows(*texts)
    model = KneserNey(order, symbols=6, discount=0.7).fit(tokens, target, weight)
    p = reference(order, 6, 0.7, texts)
    fresh = rng.integers(1, 6, size=(3, 9))  # with symbol 5, which training lacks
    tokens, target, _ = rows(*fresh.tolist())
    found = model.probability(tokens, target)
    for n, t in np.ndindex(found.shape):
        history = tuple([0] * order + tokens[n, : t + 1].tolist())
        assert found[n, t] == pytest.approx(p(target[n, t], history[len(history) - order + 1 :], order))


@pytest.mark.parametrize("order", [1, 3, 6])
def test_probabilities_sum_to_one(order):
    rng = np.random.default_rng(0)
    model = KneserNey(order, symbols=7, discount=0.4).fit(*rows(*rng.integers(1, 6, size=(5, 20)).tolist()))
    context = rng.integers(0, 7, size=(11, 8))
    total = sum(model.probability(context, np.full_like(context, w)) for w in range(7))
    assert total == pytest.approx(np.ones(context.shape))


def test_bits_are_minus_the_logarithm_to_the_base_of_two():
    tokens, target, weight = rows([1, 2, 1], [2, 2, 1])
    model = KneserNey(2, symbols=3).fit(tokens, target, weight)
    assert 2.0 ** -model.bits(tokens, target, 0.3) == pytest.approx(model.probability(tokens, target, 0.3))


def test_places_of_weight_zero_are_not_counted():
    tokens, target, weight = rows([1, 2, 1, 2], [2])
    a = KneserNey(2, symbols=4).fit(tokens, target, weight)
    target = np.where(weight > 0, target, 3)
    b = KneserNey(2, symbols=4).fit(tokens, target, weight)
    assert a.probability(tokens, tokens) == pytest.approx(b.probability(tokens, tokens))


def test_tuning_takes_the_discount_that_is_best_on_validation():
    rng = np.random.default_rng(2)
    data = []
    for _ in range(2):
        tokens, target, weight = rows(*rng.integers(1, 4, size=(9, 15)).tolist())
        data.append({"tokens": tokens, "target": target, "weight": weight})
    found = tune_kneser_ney(*data, symbols=4, orders=(1, 3), discounts=(0.2, 0.5, 0.9))
    assert list(found) == [1, 3]
    for model, bits in found.values():
        each = {d: model.bits(data[1]["tokens"], data[1]["target"], d).mean() for d in (0.2, 0.5, 0.9)}
        assert bits == pytest.approx(min(each.values())) and model.discount == min(each, key=each.get)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KneserNey(0, 5), "order must be a positive integer; got 0"),
        (lambda: KneserNey(2, 5.0), "symbols must be a positive integer; got 5.0"),
        (lambda: KneserNey(10, 128), r"order must leave symbols\^order below 2\^63; got 128\^10"),
        (lambda: KneserNey(2, 5, 1.0), "discount must be between 0 and 1; got 1.0"),
        (lambda: KneserNey(2, 5).probability([[1]], [[1]]), "call fit first"),
        (lambda: KneserNey(2, 5).fit([[1, 2]], [[1]]), r"must both be \(N, T\); got \(1, 2\) and \(1, 1\)"),
        (lambda: KneserNey(2, 5).fit([[1, 5]], [[1, 1]]), "ids must be in 0 … 4; got 1 … 5"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
