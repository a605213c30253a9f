"""Turning a model that scores the next token into whole sentences: greedy search and beam search.

Both work with any model that has these two methods, be it recurrent or a transformer:

    begin(inputs) → state                      the rows' start: a dictionary of arrays, each with the rows first
    step(tokens, state) → (log_probs, state, weights)   tokens (N,) → log-probabilities (N, V), the rows' new state,
                                               and what each row attended to, (N, …), or None
"""

from dataclasses import dataclass

import numpy as np
from keras import tree


@dataclass(frozen=True)
class Decoded:
    """What a search found for N inputs.

    Attributes:
        tokens: N lists of token ids, without start and end.
        scores: (N,), log-probability of tokens and end, divided by their number to the power `length_penalty`.
        weights: N arrays (steps, …) of attention weights, one row for every token and one for the end; or None.
        finished: (N,), whether the end token came before the limit.
    """

    tokens: list
    scores: np.ndarray
    weights: list | None
    finished: np.ndarray


def greedy(model, inputs, start, end, max_length, length_penalty=0.0, batch_size=None):
    """Take the most probable token, feed it back, until the end token comes.

    Args:
        model: see the module.
        inputs: array (N, …), or a dictionary of such arrays, for `model.begin`.
        start, end: ids of the two special tokens.
        max_length: largest number of tokens, the end not counted.
        length_penalty: exponent of the length in `scores`; 0 leaves the log-probability as it is.
        batch_size: rows at a time, all when None. The last batch is filled up, so that a backend that compiles for
            every shape compiles once; the result does not depend on it.

    Returns:
        A `Decoded`.

    Raises:
        ValueError: no input, or a limit or batch size below 1.
    """
    return beam_search(model, inputs, start, end, max_length, 0, length_penalty, batch_size)


def beam_search(model, inputs, start, end, max_length, beams=4, length_penalty=1.0, batch_size=None):
    """Keep the `beams` most probable beginnings of every sentence; the best-scored whole sentence wins.

    A beginning that takes the end token leaves the beam, which is smaller from then on, and is kept; the search goes
    on with the others as long as one of them could still win. The greedy sentence is followed beside the beam and is a
    candidate too: where it ended in time, the result never scores below it.

    Args:
        model, inputs, start, end, max_length, batch_size: as in `greedy`.
        beams: beginnings that are kept; with 0 only the greedy one is followed.
        length_penalty: α in score = log p / (number of tokens, end included)^α. Without it (0) short sentences win,
            as every token makes the log-probability smaller. (Wu et al. 2016, section 7, have another denominator.)

    Returns:
        A `Decoded`; where no candidate ended in time, the best unfinished one, with `finished` False.

    Raises:
        ValueError: as `greedy`, or `beams` is negative.
    """
    if max_length < 1:
        raise ValueError(f"max_length must be at least 1; got {max_length}")
    if beams < 0:
        raise ValueError(f"beams must be at least 0; got {beams}")
    if batch_size is not None and batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, or None; got {batch_size}")
    inputs = tree.map_structure(np.asarray, inputs)
    number = len(tree.flatten(inputs)[0])
    if not number:
        raise ValueError("inputs must have at least one row; got none")
    size, found = batch_size or number, []
    for first in range(0, number, size):
        rows = np.minimum(np.arange(first, first + size), number - 1)  # the last batch repeats its last row
        batch = tree.map_structure(lambda x, rows=rows: x[rows], inputs)
        search = _Search(model.begin(batch), size, start, end, max_length, beams, length_penalty)
        while not search.done():
            search.advance(*model.step(search.last, search.state))
        found += search.best()[: number - first]
    tokens, scores, weights, finished = (list(part) for part in zip(*found, strict=True))
    return Decoded(tokens, np.array(scores), None if weights[0] is None else weights, np.array(finished))


class _Search:
    """The rows of one batch: for each of N inputs, `beams` beginnings and, as the last, the greedy one.

    Arrays are (N, R), R = beams + 1; the model sees them as N · R rows.
    """

    def __init__(self, state, number, start, end, max_length, beams, length_penalty):
        self.number, self.rows, self.beams = number, beams + 1, beams
        self.end, self.max_length, self.length_penalty = end, max_length, length_penalty
        repeated = np.repeat(np.arange(number), self.rows)
        self.state = tree.map_structure(lambda x: np.asarray(x)[repeated], state)
        self.last = np.full(number * self.rows, start, "int32")
        self.log_probs = np.zeros((number, self.rows))
        self.log_probs[:, 1:beams] = -np.inf  # all beginnings are equal at first: one of them is enough
        self.tokens = np.zeros((number, self.rows, 0), "int32")
        self.weights = None
        self.alive = np.isfinite(self.log_probs)
        self.room = np.full(number, beams)  # beginnings that the beam of each input still holds
        self.finished = [[] for _ in range(number)]  # for each input: (tokens, score, weights, ended)

    def done(self):
        """Whether every beginning has ended, cannot win any more, or the limit is reached."""
        return self.tokens.shape[2] > self.max_length or not self.alive.any()

    def hopeless(self):
        """Which beginnings (N, R) cannot beat the best sentence so far: log-probabilities only fall."""
        best = [max((score for _, score, _, ended in each if ended), default=-np.inf) for each in self.finished]
        return self.score(self.log_probs, self.max_length + 1) < np.array(best)[:, None]

    def score(self, log_prob, length):
        """Log-probability by length; `length` counts the end token."""
        return log_prob / length**self.length_penalty

    def advance(self, log_probs, state, weights):
        """Choose the next tokens from the model's log-probabilities (N · R, V)."""
        steps = np.asarray(log_probs, "float64").reshape(self.number, self.rows, -1)
        before = np.where(self.alive, self.log_probs, -np.inf)
        parents, chosen, self.log_probs = self.choose(steps, before)
        self.before = np.take_along_axis(before, parents, 1)
        flat = (np.arange(self.number)[:, None] * self.rows + parents).reshape(-1)
        self.state = tree.map_structure(lambda x: np.asarray(x)[flat], state)
        self.last = chosen.reshape(-1).astype("int32")
        self.tokens = np.concatenate([np.take_along_axis(self.tokens, parents[..., None], 1), chosen[..., None]], 2)
        if weights is not None:
            seen = np.asarray(weights)[flat].reshape(self.number, self.rows, 1, *np.shape(weights)[1:])
            if self.weights is None:
                self.weights = seen
            else:
                before = self.weights.reshape(self.number * self.rows, *self.weights.shape[2:])[flat]
                self.weights = np.concatenate([before.reshape(self.weights.shape), seen], axis=2)
        self.alive = np.isfinite(self.log_probs)
        self.collect()

    def choose(self, steps, before):
        """Parents, tokens and log-probabilities (N, R) of the next beginnings; a dead row stays dead."""
        number, beams, vocabulary = self.number, self.beams, steps.shape[2]
        greedy = steps[:, beams].argmax(axis=-1)  # (N,)
        parents, chosen = np.full((number, self.rows), beams), np.zeros((number, self.rows), "int64")
        chosen[:, beams] = greedy
        log_probs = np.empty((number, self.rows))
        log_probs[:, beams] = before[:, beams] + np.take_along_axis(steps[:, beams], greedy[:, None], 1)[:, 0]
        if beams:
            every = (before[:, :beams, None] + steps[:, :beams]).reshape(number, -1)  # (N, beams · V)
            best = np.argsort(-every, axis=1, kind="stable")[:, :beams]  # (N, beams)
            parents[:, :beams], chosen[:, :beams] = best // vocabulary, best % vocabulary
            inside = np.arange(beams) < self.room[:, None]
            log_probs[:, :beams] = np.where(inside, np.take_along_axis(every, best, 1), -np.inf)
        return parents, chosen, log_probs

    def collect(self):
        """Move the beginnings that took the end token, or reached the limit, to the candidates."""
        length = self.tokens.shape[2]
        ended = self.alive & (self.tokens[:, :, -1] == self.end)
        for n, row in zip(*np.nonzero(ended), strict=True):
            self.keep(n, row, self.score(self.log_probs[n, row], length), True)
        self.alive &= ~ended
        if length > self.max_length:  # one token too many: it does not count
            for n, row in zip(*np.nonzero(self.alive), strict=True):
                self.keep(n, row, self.score(self.before[n, row], length - 1), False)
        self.room -= ended[:, : self.beams].sum(axis=1)
        self.alive &= ~self.hopeless()
        self.log_probs = np.where(self.alive, self.log_probs, -np.inf)

    def keep(self, n, row, score, ended):
        """Add a candidate of input n; its last token is the end, or one too many."""
        weights = None if self.weights is None else self.weights[n, row]
        self.finished[n].append((self.tokens[n, row, :-1].tolist(), float(score), weights, ended))

    def best(self):
        """The best candidate of every input; one that ended goes before one that did not."""
        return [max(candidates, key=lambda c: (c[3], c[1])) for candidates in self.finished]


def sample(model, inputs, start, end, max_length, temperature=1.0, top_k=None, top_p=None, seed=0):
    """Draw every token by chance, feed it back, until the end token comes.

    Args:
        model, inputs, start, end, max_length: as in `greedy`.
        temperature, top_k, top_p: what is drawn from, see `next_distribution`. At temperature 0, and with `top_k` 1,
            this is `greedy`.
        seed: integer seed of the draws.

    Returns:
        A `Decoded`; `scores` are log-probabilities under the model itself, whatever was drawn from.

    Raises:
        ValueError: no input, a limit below 1, or as `next_distribution`.
    """
    if max_length < 1:
        raise ValueError(f"max_length must be at least 1; got {max_length}")
    inputs = tree.map_structure(np.asarray, inputs)
    number = len(tree.flatten(inputs)[0])
    if not number:
        raise ValueError("inputs must have at least one row; got none")
    rng, state, last = np.random.default_rng(seed), model.begin(inputs), np.full(number, start, "int32")
    chosen, log_probs, seen = [], [], []
    ended = np.zeros(number, bool)
    while len(chosen) <= max_length and not ended.all():  # one token too many shows whether the end comes in time
        steps, state, weights = model.step(last, state)
        steps = np.asarray(steps, "float64")  # (N, V)
        shares = np.cumsum(next_distribution(steps, temperature, top_k, top_p), axis=1)  # (N, V)
        last = (shares <= rng.random((number, 1)) * shares[:, -1:]).sum(axis=1).astype("int32")  # (N,)
        chosen.append(last)
        log_probs.append(np.take_along_axis(steps, last[:, None], axis=1)[:, 0])
        seen.append(None if weights is None else np.asarray(weights))
        ended |= last == end
    return _drawn(np.stack(chosen, 1), np.stack(log_probs, 1), seen, end, max_length)


def _drawn(chosen, log_probs, seen, end, max_length):
    """The `Decoded` of tokens and their log-probabilities, both (N, steps), that go on after the end."""
    tokens, scores, weights, finished = [], [], [], []
    for n, row in enumerate(chosen):
        ends = np.flatnonzero(row == end)
        length = ends[0] if len(ends) else max_length
        tokens.append(row[:length].tolist())
        scores.append(log_probs[n, : length + 1 if len(ends) else max_length].sum())
        finished.append(len(ends) > 0)
        if seen[0] is not None:
            weights.append(np.stack([each[n] for each in seen[: length + 1]]))
    return Decoded(tokens, np.array(scores), weights or None, np.array(finished))


def next_distribution(log_probs, temperature=1.0, top_k=None, top_p=None):
    """The probabilities that `sample` draws from: reshaped by a temperature, then cut.

        p_w ∝ exp(log p_w / temperature), then only the `top_k` largest, then the fewest whose sum is `top_p`

    After each cut the rest is divided by its sum. Of equal ones the first is kept.

    Args:
        log_probs: the model's, (N, V).
        temperature: below 1 sharpens, above 1 flattens; 0 leaves the most probable token alone.
        top_k: how many tokens to keep, from 1 on; all when None.
        top_p: share of the probability to keep, in (0, 1]; all when None.

    Returns:
        Probabilities (N, V) in float64.

    Raises:
        ValueError: a temperature below 0, `top_k` below 1, or `top_p` outside of (0, 1].

    Source: top-k: Fan et al. 2018, "Hierarchical Neural Story Generation"; top-p: Holtzman et al. 2020, "The Curious
    Case of Neural Text Degeneration", §3.1.
    """
    if not temperature >= 0:
        raise ValueError(f"temperature must be at least 0; got {temperature}")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k must be at least 1, or None; got {top_k}")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p must be in (0, 1], or None; got {top_p}")
    scores = np.asarray(log_probs, "float64")
    best = scores.max(axis=1, keepdims=True)
    order = np.argsort(-scores, axis=1, kind="stable")  # (N, V), most probable first
    rank = np.argsort(order, axis=1)  # (N, V) place of each token in that order
    with np.errstate(invalid="ignore"):
        p = np.exp((scores - best) / temperature) if temperature else (rank == 0).astype("float64")
    p = np.where(rank < (top_k or p.shape[1]), p, 0.0)
    p /= p.sum(axis=1, keepdims=True)
    if top_p is not None:
        before = np.cumsum(np.take_along_axis(p, order, axis=1), axis=1)  # (N, V) sums up to and with each
        before = before - np.take_along_axis(p, order, axis=1)
        p = np.where(np.take_along_axis(before, rank, axis=1) < top_p, p, 0.0)
        p /= p.sum(axis=1, keepdims=True)
    return p
