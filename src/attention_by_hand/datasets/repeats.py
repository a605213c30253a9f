"""Random tokens that repeat: nothing can be predicted before the first repetition, everything after it."""

import numpy as np


def repeated_tokens(count, length=48, symbols=32, shortest=10, longest=24, seed=0):
    """Rows of random tokens, all different, repeated over and over until the row is full.

    How many tokens repeat, the period, is drawn anew for every row, so that a fixed distance back does not help.

    Args:
        count: number of rows N.
        length: T of each.
        symbols: how many tokens there are, ids 0 … `symbols` − 1.
        shortest, longest: smallest and largest period.
        seed: integer seed.

    Returns:
        Dictionary of arrays: `tokens` (N, T) int32; `target` (N, T), the token after each; `weight` (N, T) float32,
        1 where the token has occurred before, so that what follows it is known; `period` (N,).

    Raises:
        ValueError: periods that are not in order, more than there are tokens, or no repetition in the row.
    """
    if not 1 < shortest <= longest <= symbols:
        raise ValueError(f"shortest and longest must be in order, in 2 … {symbols}; got {shortest} and {longest}")
    if length <= longest:
        raise ValueError(f"length must be more than the longest period, {longest}; got {length}")
    rng = np.random.default_rng(seed)
    block = np.argsort(rng.random((count, symbols)), axis=1)  # (N, symbols), each token once
    period = rng.integers(shortest, longest + 1, size=count)
    place = np.arange(length + 1)[None, :] % period[:, None]  # (N, T + 1)
    tokens = np.take_along_axis(block, place, axis=1).astype("int32")
    return {
        "tokens": tokens[:, :-1],
        "target": tokens[:, 1:],
        "weight": (np.arange(length) >= period[:, None]).astype("float32"),
        "period": period.astype("int32"),
    }
