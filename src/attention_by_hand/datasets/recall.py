"""Keyed recall: find the pair whose key matches the query, answer with its value. The gold is a position."""

import numpy as np


def keyed_recall(count, pairs=8, min_pairs=None, keys=16, values=8, seed=0):
    """Lists of (key, value) pairs and a query that equals exactly one of the keys.

    Keys of one example are all different, values may repeat. Ids start at 1; 0 is padding.

    Args:
        count: number of examples N.
        pairs: longest list n; also the number of columns.
        min_pairs: shortest list; as long as `pairs` when None, so that nothing is padded.
        keys: how many different keys there are, at least `pairs`.
        values: how many different values there are.
        seed: integer seed.

    Returns:
        Dictionary of arrays: `query` (N, 1), `key` and `value` (N, n), all int32; `mask` (N, n) boolean,
        True for a real pair; `target` (N,) the value to answer; `position` (N,) of the matching pair.

    Raises:
        ValueError: fewer keys than pairs, or `min_pairs` outside 1 … `pairs`.
    """
    min_pairs = pairs if min_pairs is None else min_pairs
    if keys < pairs:
        raise ValueError(f"keys must be at least pairs, {pairs}, as no key repeats in a list; got {keys}")
    if not 1 <= min_pairs <= pairs:
        raise ValueError(f"min_pairs must be between 1 and pairs, {pairs}; got {min_pairs}")
    rng = np.random.default_rng(seed)
    length = rng.integers(min_pairs, pairs + 1, size=count)
    mask = np.arange(pairs) < length[:, None]  # (N, n)
    key = np.argsort(rng.random((count, keys)), axis=1)[:, :pairs] + 1  # different keys in every row
    value = rng.integers(1, values + 1, size=(count, pairs))
    position = (rng.random(count) * length).astype(int)
    row = np.arange(count)
    return {
        "query": key[row, position][:, None].astype("int32"),
        "key": np.where(mask, key, 0).astype("int32"),
        "value": np.where(mask, value, 0).astype("int32"),
        "mask": mask,
        "target": value[row, position].astype("int32"),
        "position": position.astype("int32"),
    }


def without_gold(data):
    """The same examples with the matching pair hidden: the control that shows where an answer comes from.

    Args:
        data: what `keyed_recall` returns, or any dictionary with `mask` (N, n) and `position` (N,).

    Returns:
        A copy whose `mask` is False at `position`.
    """
    mask = data["mask"].copy()
    mask[np.arange(len(mask)), data["position"]] = False
    return {**data, "mask": mask}
