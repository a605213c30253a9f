"""How well a language model predicts, in bits, and which of its heads look for what came after."""

import numpy as np

from attention_by_hand.backend import to_numpy


def bits(logits, target):
    """−log₂ of the probability of each target: what it costs to write it down.

    Args:
        logits: (N, T, V), or log-probabilities.
        target: integers (N, T).

    Returns:
        Array (N, T).

    Raises:
        ValueError: shapes that do not belong together.
    """
    logits, target = np.asarray(to_numpy(logits), "float64"), np.asarray(target)
    if logits.ndim != 3 or logits.shape[:2] != target.shape:
        raise ValueError(f"logits must be (N, T, V) and target (N, T); got {logits.shape} and {target.shape}")
    top = logits.max(axis=-1)
    total = top + np.log(np.exp(logits - top[..., None]).sum(axis=-1))  # (N, T)
    return (total - np.take_along_axis(logits, target[..., None], axis=-1)[..., 0]) / np.log(2)


def prefix_matching(weights, tokens):
    """Weight on the tokens that followed the same token before: the score of an induction head.

        score_h = mean over t of Σ_{s < t, w_s = w_t} A_h[t, s + 1]

    over the steps t whose token occurred before, in all rows.

    Args:
        weights: (N, H, T, T), rows are queries.
        tokens: integers (N, T).

    Returns:
        Array (H,), each in [0, 1].

    Raises:
        ValueError: shapes that do not belong together, or no token that occurs twice.

    Source: Olsson et al. 2022, "In-context Learning and Induction Heads": "prefix matching score".
    """
    weights, tokens = np.asarray(to_numpy(weights), "float64"), np.asarray(tokens)
    length = tokens.shape[-1]
    if weights.ndim != 4 or (weights.shape[0], *weights.shape[2:]) != (len(tokens), length, length):
        raise ValueError(f"weights must be (N, H, T, T) and tokens (N, T); got {weights.shape} and {tokens.shape}")
    same = (tokens[:, :, None] == tokens[:, None, :]) & np.tri(length, k=-1, dtype=bool)  # (N, t, s), s before t
    after = np.zeros_like(same)
    after[:, :, 1:] = same[:, :, :-1]  # (N, t, s + 1)
    asked = same.any(axis=2)  # (N, T)
    if not asked.any():
        raise ValueError("tokens must hold one that occurs twice; got none")
    mass = np.where(after[:, None], weights, 0.0).sum(axis=-1)  # (N, H, T)
    return np.moveaxis(mass, 1, -1)[asked].mean(axis=0)
