"""Scores for every head of a deep model at once: what share of a token's weight lies where a relation says."""

from dataclasses import dataclass

import numpy as np

from attention_by_hand.metrics.weights import checked_weights


@dataclass(frozen=True)
class Head:
    """A head that was chosen on one half of the examples, and how all heads do on the other.

    Attributes:
        layer, head: its place, counted from 0.
        before: its score on the half it was chosen on.
        score: its score on the other half.
        every: scores of all heads on the other half, (L, H).
    """

    layer: int
    head: int
    before: float
    score: float
    every: np.ndarray

    @property
    def name(self):
        """Its name in figures: layer and head."""
        return f"L{self.layer}H{self.head}"


def gold_pairs(tokens, mask):
    """Which pairs of tokens stand in a relation; the first and the last token of a text take no part.

    Args:
        tokens: integers (N, T).
        mask: boolean (N, T), True for tokens, which come first.

    Returns:
        Dictionary of booleans (N, T, T), rows are queries: `previous`, the token before; `next`, the one after;
        `same`, the same token at another place.

    Raises:
        ValueError: the shapes differ, or `mask` is not boolean.
    """
    tokens, mask = np.asarray(tokens), np.asarray(mask)
    if tokens.shape != mask.shape or tokens.ndim != 2 or mask.dtype != bool:
        raise ValueError(
            f"tokens and a boolean mask must have one shape (N, T); got {tokens.shape} and {mask.dtype} {mask.shape}"
        )
    place = np.arange(tokens.shape[1])
    inner = mask & (place > 0) & (place < mask.sum(axis=1, keepdims=True) - 1)  # (N, T)
    both = inner[:, :, None] & inner[:, None, :]  # (N, T, T)
    distance = place[None, :] - place[:, None]  # (T, T) key minus query
    alike = tokens[:, :, None] == tokens[:, None, :]
    return {"previous": both & (distance == -1), "next": both & (distance == 1), "same": both & alike & (distance != 0)}


def head_scores(weights, gold):
    """Mean weight on the gold keys, over the queries that have any: one number an example and head.

        score_n,l,h = mean over queries t with gold of Σ_s gold_n,t,s · A_n,l,h,t,s

    Args:
        weights: (N, L, H, T, T).
        gold: boolean (N, T, T); every example has at least one pair.

    Returns:
        float64 array (N, L, H), in [0, 1].

    Raises:
        ValueError: the shapes do not fit, an example has no gold, or a weight is negative or not finite.
    """
    weights, gold = checked_weights(weights), np.asarray(gold)
    if weights.ndim != 5 or gold.dtype != bool or gold.shape != (len(weights), *weights.shape[-2:]):
        raise ValueError(
            f"weights and a boolean gold must be (N, L, H, T, T) and (N, T, T); got {weights.shape} and {gold.shape}"
        )
    asked = gold.any(axis=-1)  # (N, T)
    if not asked.any(axis=-1).all():
        raise ValueError(f"gold must have a pair in every example; example {int(asked.any(axis=-1).argmin())} has none")
    mass = np.einsum("nlhts,nts->nlh", weights, gold.astype("float64"))  # rows without gold add 0
    return mass / asked.sum(axis=-1)[:, None, None]


def even_score(mask, gold):
    """What `head_scores` gives a head that spreads its weight evenly over the tokens of each text: the mean over texts.

    Args:
        mask: boolean (N, T), True for tokens.
        gold: boolean (N, T, T).

    Returns:
        A float.
    """
    mask = np.asarray(mask)
    weights = np.broadcast_to(
        (mask / mask.sum(axis=1, keepdims=True))[:, None, None, None], (len(mask), 1, 1, *gold.shape[1:])
    )
    return float(head_scores(weights, gold).mean())


def best_head(scores):
    """The best head of examples 0, 2, 4, …, scored on examples 1, 3, 5, …

    Chosen and scored on the same examples, the best of many heads would look good by luck.

    Args:
        scores: (N, L, H), N at least 2.

    Returns:
        A `Head`.

    Raises:
        ValueError: `scores` has another rank or fewer than two examples.
    """
    scores = np.asarray(scores, "float64")
    if scores.ndim != 3 or len(scores) < 2:
        raise ValueError(f"scores must be (N, L, H) with at least two examples; got {scores.shape}")
    before, after = scores[0::2].mean(axis=0), scores[1::2].mean(axis=0)  # (L, H)
    place = np.unravel_index(before.argmax(), before.shape)
    return Head(*map(int, place), float(before[place]), float(after[place]), after)
