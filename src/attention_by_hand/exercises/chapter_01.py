"""Exercises of chapter 01: a GRU step, teacher forcing, a loss without padding, the greedy loop."""

import numpy as np
from keras import ops

from attention_by_hand.exercises.framework import Function

START, END = 1, 2


def _normal(rng, *shape):
    return rng.normal(size=shape).astype("float32")


def _step(inputs, recurrent, state, candidate=None, mix=None, order="zrn", gate=ops.sigmoid, write=ops.tanh):
    """The GRU step with a part exchanged: the candidate's sum, how old and new are mixed, the order of the gates."""
    parts = {
        name: (x, h) for name, x, h in zip(order, ops.split(inputs, 3, -1), ops.split(recurrent, 3, -1), strict=True)
    }
    z, r = gate(sum(parts["z"])), gate(sum(parts["r"]))
    x_n, h_n = parts["n"]
    n = write(x_n + r * h_n if candidate is None else candidate(x_n, h_n, r, state))
    return z * state + (1 - z) * n if mix is None else mix(z, n, state)


def _with(**parts):
    return lambda inputs, recurrent, state: _step(inputs, recurrent, state, **parts)


GRU_STEP = Function(
    "1.1",
    inputs=lambda rng: (_normal(rng, 4, 15), _normal(rng, 4, 15), _normal(rng, 4, 5)),
    solution=_step,
    mistakes={
        "gate_reversed": _with(mix=lambda z, n, state: (1 - z) * state + z * n),
        "gates_exchanged": _with(order="rzn"),
        "candidate_first": _with(order="nzr"),
        "reset_on_everything": _with(candidate=lambda x, h, r, state: r * (x + h)),
        "no_reset": _with(candidate=lambda x, h, r, state: x + h),
        "reset_on_state": _with(candidate=lambda x, h, r, state: x + r * state),
        "candidate_sigmoid": _with(write=ops.sigmoid),
        "gates_tanh": _with(gate=ops.tanh),
        "nothing_kept": _with(mix=lambda z, n, state: (1 - z) * n),
        "state_unchanged": _with(mix=lambda z, n, state: state),
    },
)


def _targets(rng):
    """Sentences of 2 to 7 words and the end, padded with 0 to 8 places; one of them fills its row."""
    lengths = rng.permutation([7, *rng.integers(2, 7, size=4)])
    targets = np.zeros((5, 8), "int32")
    for row, length in zip(targets, lengths, strict=True):
        row[:length], row[length] = rng.integers(3, 30, size=length), END
    return (targets,)


def _after(column, targets):
    return ops.concatenate([column, targets[:, :-1]], axis=1)


def _filled(targets, value):
    return ops.full_like(targets[:, :1], value)


SHIFT = Function(
    "1.2",
    inputs=_targets,
    solution=lambda y: _after(_filled(y, START), y),
    mistakes={
        "not_shifted": lambda y: y,
        "shifted_left": lambda y: ops.concatenate([y[:, 1:], _filled(y, 0)], axis=1),
        "start_overwrites": lambda y: ops.concatenate([_filled(y, START), y[:, 1:]], axis=1),
        "rolled": lambda y: _after(y[:, -1:], y),
        "padding_in_front": lambda y: _after(_filled(y, 0), y),
        "end_in_front": lambda y: _after(_filled(y, END), y),
        "one_too_long": lambda y: ops.concatenate([_filled(y, START), y], axis=1),
        "along_the_batch": lambda y: ops.concatenate([ops.full_like(y[:1], START), y[:-1]], axis=0),
    },
)


def _loss_inputs(rng):
    (targets,) = _targets(rng)
    return 2 * _normal(rng, 5, 8, 30), targets


def _loss(logits, targets, log=ops.log_softmax, real=None, divide=None, sign=-1):
    """Σ −log p over the real words, divided by their number, with a part exchanged."""
    counts = ops.cast(targets != 0 if real is None else real(targets), "float32")  # (B, T)
    one_hot = ops.one_hot(targets, logits.shape[-1], dtype="float32")  # (B, T, V)
    each = sign * ops.sum(one_hot * log(logits), axis=-1) * counts  # (B, T)
    return ops.sum(each) / ops.sum(counts) if divide is None else divide(each, counts)


def _loss_with(**parts):
    return lambda logits, targets: _loss(logits, targets, **parts)


LOSS = Function(
    "1.3",
    inputs=_loss_inputs,
    solution=_loss,
    mistakes={
        "padding_counted": _loss_with(real=lambda y: y >= 0),
        "divided_by_all": _loss_with(divide=lambda each, counts: ops.mean(each)),
        "not_divided": _loss_with(divide=lambda each, counts: ops.sum(each)),
        "by_sentences": _loss_with(divide=lambda each, counts: ops.sum(each) / each.shape[0]),
        "mean_of_means": _loss_with(divide=lambda each, counts: ops.mean(ops.sum(each, 1) / ops.sum(counts, 1))),
        "end_ignored": _loss_with(real=lambda y: y > END),
        "only_padding": _loss_with(real=lambda y: y == 0),
        "no_softmax": _loss_with(log=lambda x: x),
        "no_logarithm": _loss_with(log=ops.softmax),
        "wrong_axis": _loss_with(log=lambda x: ops.log_softmax(x, axis=1)),
        "sign": _loss_with(sign=1),
    },
)


def _greedy(step, state, limit, choose=np.argmax, feed=lambda token: token, keep=True, stop=True, cut=(0, 0)):
    """The greedy loop with a part exchanged. `cut`: whether start and end are part of the answer."""
    token, said, first = START, [START] * cut[0], state
    while len(said) - cut[0] < limit:
        log_probs, state = step(feed(token), state if keep else first)
        token = int(choose(log_probs))
        if token == END and stop:
            return said + [END] * cut[1]
        said.append(token)
    return said


def _greedy_with(**parts):
    return lambda step, state, limit: _greedy(step, state, limit, **parts)


def _second(log_probs):
    return np.argsort(-log_probs)[1]


GREEDY_MISTAKES = {
    "end_kept": _greedy_with(cut=(0, 1)),
    "start_kept": _greedy_with(cut=(1, 0)),
    "never_stops": _greedy_with(stop=False),
    "start_fed_again": _greedy_with(feed=lambda token: START),
    "state_forgotten": _greedy_with(keep=False),
    "least_probable": _greedy_with(choose=np.argmin),
    "second_best": _greedy_with(choose=_second),
    "begins_with_end": lambda step, state, limit: _greedy(
        lambda token, state: step(END if token == START else token, state), state, limit
    ),
}


def _machine(rng, words=9, width=6):
    """A small decoder with random weights: `step(token, state) → (log-probabilities (V,), new state)`."""
    table, kernel, read = _normal(rng, words, width), _normal(rng, width, width), 2 * _normal(rng, width, words)

    def step(token, state):
        state = np.tanh(table[int(token)] + np.asarray(state) @ kernel)
        scores = state @ read
        return scores - np.log(np.exp(scores).sum()), state

    return step, _normal(rng, width), 12


def _greedy_inputs(rng):
    """A machine that ends by itself after 3 to 8 words, and on which every mistake gives another sentence."""
    while True:
        step, state, limit = _machine(rng)
        answers = [tuple(f(step, state.copy(), limit)) for f in (_greedy, *GREEDY_MISTAKES.values())]
        if 3 <= len(answers[0]) <= 8 and len(set(answers)) == len(answers):
            return step, state, limit


GREEDY = Function("1.4", inputs=_greedy_inputs, solution=_greedy, mistakes=GREEDY_MISTAKES)

EXERCISES = [GRU_STEP, SHIFT, LOSS, GREEDY]
