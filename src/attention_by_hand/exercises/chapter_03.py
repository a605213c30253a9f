"""Exercises of chapter 03: one look back of the decoder, links from weights, alignment error rate, a beam step."""

from keras import ops

from attention_by_hand.exercises.framework import Function


def _normal(rng, *shape):
    return rng.normal(size=shape).astype("float32")


def _look_back(
    state, memory, w_q, w_k, v, squash=ops.tanh, query=True, key=True, weigh=ops.softmax, value=None, factor=1.0
):
    """Weights (B, Tv) and context (B, C) of a state (B, U) that looks at a memory (B, Tv, C)."""
    hidden = query * ops.matmul(state, w_q)[:, None] + key * ops.matmul(memory, w_k)  # (B, Tv, A)
    weights = weigh(factor * ops.matmul(squash(hidden), v))  # (B, Tv)
    values = memory if value is None else ops.matmul(memory, value)
    return weights, ops.sum(weights[..., None] * values, axis=1)


LOOK_BACK = Function(
    "3.1",
    inputs=lambda rng: (
        _normal(rng, 2, 6),
        _normal(rng, 2, 4, 5),
        _normal(rng, 6, 7),
        _normal(rng, 5, 7),
        _normal(rng, 7),
    ),  # state (B, U), memory (B, Tv, C), W_q (U, A), W_k (C, A), v (A,)
    solution=_look_back,
    mistakes={
        "missing_softmax": lambda *x: _look_back(*x, weigh=lambda scores: scores),
        "softmax_over_sentences": lambda *x: _look_back(*x, weigh=lambda scores: ops.softmax(scores, axis=0)),
        "no_tanh": lambda *x: _look_back(*x, squash=lambda hidden: hidden),
        "no_query": lambda *x: _look_back(*x, query=False),
        "no_key": lambda *x: _look_back(*x, key=False),
        "mean_of_keys": lambda *x: _look_back(*x, value=x[3]),
        "scaled": lambda *x: _look_back(*x, factor=x[4].shape[0] ** -0.5),
        "order": lambda *x: _look_back(*x)[::-1],
    },
)


def _tables(rng):
    """Weights of a sentence with stop token and padding, (T, S), and the numbers of its words, all different."""
    weights = rng.random((9, 8)).astype("float32")
    target, source = int(rng.integers(6, 8)), 5
    weights[:, source:] += 0.5  # what lies beyond the words is large, and must not be chosen
    weights[:target, int(rng.integers(1, source))] += 0.2
    return weights, target, source


def _link(weights, target, source):
    return ops.argmax(weights[:target, :source], axis=1)


LINKS = Function(
    "3.2",
    inputs=_tables,
    solution=_link,
    mistakes={
        "padding_chosen": lambda a, target, source: ops.argmax(a[:target], axis=1),
        "stop_token": lambda a, target, source: _link(a, target + 1, source),
        "everything": lambda a, target, source: ops.argmax(a, axis=1),
        "other_direction": lambda a, target, source: ops.argmax(a[:target, :source], axis=0),
        "smallest": lambda a, target, source: ops.argmin(a[:target, :source], axis=1),
        "from_one": lambda a, target, source: _link(a, target, source) + 1,
        "weights_instead": lambda a, target, source: ops.max(a[:target, :source], axis=1),
        "sizes_swapped": lambda a, target, source: _link(a, source, target),
    },
)


def _links(rng):
    """Links of a sentence: A has four sure, one possible and one or two wrong links; S is part of P."""
    words = [(int(t), int(s)) for t, s in zip(rng.permutation(8), rng.permutation(8), strict=True)]
    sure = frozenset(words[:5])
    possible = sure | frozenset(words[5:7]) | {(words[7][0], words[0][1])}
    wrong = [(words[4][0], words[5][1]), (words[6][0], words[0][1])][: int(rng.integers(1, 3))]
    return frozenset(words[:4] + words[5:6] + wrong), sure, possible


def _aer(a, s, p, sure=2, below=lambda a, s, p: len(a) + len(s)):
    """AER; `sure` weighs nothing but where the two counts of the right links come from."""
    right = {0: len(a & p), 1: len(a & s), 2: len(a & s) + len(a & p)}[sure]
    return 1 - right / below(a, s, p)


ERROR_RATE = Function(
    "3.3",
    inputs=_links,
    solution=_aer,
    mistakes={
        "not_one_minus": lambda a, s, p: 1 - _aer(a, s, p),
        "sure_only": lambda a, s, p: _aer(a, s, p, sure=1),
        "possible_only": lambda a, s, p: _aer(a, s, p, sure=0),
        "only_precision": lambda a, s, p: 1 - len(a & p) / len(a),
        "only_recall": lambda a, s, p: 1 - len(a & s) / len(s),
        "possible_below": lambda a, s, p: _aer(a, s, p, below=lambda a, s, p: len(a) + len(p)),
        "swapped": lambda a, s, p: 1 - (len(a & s) + len(a & p)) / (len(s) + len(p)),
        "union_below": lambda a, s, p: _aer(a, s, p, below=lambda a, s, p: len(a | s)),
    },
)


def _beam(before, after, join=lambda b, a: b[:, None] + a):
    """The best continuations (parents, tokens, log-probabilities), as many as there are beginnings."""
    every = join(before, after)  # (K, V)
    count, words = every.shape
    scores, places = ops.top_k(ops.reshape(every, (-1,)), count)
    return places // words, places % words, scores


def _greedy_each(before, after):
    tokens = ops.argmax(after, axis=1)
    return ops.arange(after.shape[0]), tokens, before + ops.max(after, axis=1)


def _beam_inputs(rng):
    """Log-probabilities of 3 beginnings and of 5 next words each; two of the best have one parent."""
    while True:
        after = rng.normal(size=(3, 5))
        after -= abs(after).max() + rng.random((3, 1))
        before = -rng.random(3) * 2
        every = (before[:, None] + after).ravel()
        best = every.argsort()[::-1][:3]
        parents, alone = best // 5, (after.ravel().argsort()[::-1][:3])
        distinct = len({tuple(best), tuple(alone), tuple(every.argsort()[:3])}) == 3
        if len(set(parents)) == 2 and distinct and len({*best // 5, *best % 5}) > 3:
            return before.astype("float32"), after.astype("float32")


BEAM = Function(
    "3.4",
    inputs=_beam_inputs,
    solution=_beam,
    mistakes={
        "each_its_best": _greedy_each,
        "past_forgotten": lambda b, a: _beam(b, a, join=lambda b, a: a),
        "multiplied": lambda b, a: _beam(b, a, join=lambda b, a: b[:, None] * a),
        "worst": lambda b, a: (lambda p, t, s: (p, t, -s))(*_beam(-b, -a)),
        "swapped": lambda b, a: (lambda p, t, s: (t, p, s))(*_beam(b, a)),
        "step_scores": lambda b, a: (lambda p, t, s: (p, t, s - ops.take(b, p)))(*_beam(b, a)),
        "averaged": lambda b, a: (lambda p, t, s: (p, t, s / 2))(*_beam(b, a)),
        "flat_places": lambda b, a: (lambda p, t, s: (p, p * a.shape[1] + t, s))(*_beam(b, a)),
    },
)

EXERCISES = [LOOK_BACK, LINKS, ERROR_RATE, BEAM]
