"""The delivery log: price tags, questions and bills in one stream. Order-blind, and with a trap for leaking masks."""

import numpy as np

TAG, ASK, BILL = 1, 2, 3  # kinds of tokens; 0 is padding


def delivery_log(count, tagged=6, untagged=7, articles=16, prices=8, min_length=None, seed=0):
    """Logs in which an article's bill is its price tag plus one; some articles are asked for without any tag.

    A token is (kind, article, price). A tag names a price, an ask has price 0 and the bill comes right after it:
    tag price + 1, where `prices` + 1 is 1 again. The first `tagged` articles have their tag somewhere before
    their ask, so that the past tells the bill; the others have no tag at all, so that nothing in the past does.
    Each article is asked for once. Units come in random order, and a log is cut off after a random length.

    Args:
        count: number of logs N.
        tagged, untagged: articles with and without a tag; T = 3 · tagged + 2 · untagged steps.
        articles: how many different articles there are, at least `tagged + untagged`.
        prices: how many different prices there are.
        min_length: shortest log, in steps; a quarter of T when None.
        seed: integer seed.

    Returns:
        Dictionary of arrays: `tokens` (N, T, 3) int32, 0 for padding; `length` (N,) int32; boolean (N, T) masks
        `real`, `asked` and `known` (an ask whose tag is in the log); `target` (N, T) int32, the price of the next
        bill at an ask, else 0; `position` (N, T) int32, the step of the tag at a known ask, else 0.

    Raises:
        ValueError: fewer articles than are needed, or `min_length` outside 1 … T.
    """
    asks, steps = tagged + untagged, 3 * tagged + 2 * untagged
    min_length = steps // 4 if min_length is None else min_length
    if articles < asks:
        raise ValueError(f"articles must be at least tagged + untagged, {asks}; got {articles}")
    if not 1 <= min_length <= steps:
        raise ValueError(f"min_length must be between 1 and {steps}; got {min_length}")
    rng = np.random.default_rng(seed)
    article = np.argsort(rng.random((count, articles)), axis=1)[:, :asks] + 1  # (N, asks), all different
    price = rng.integers(1, prices + 1, size=(count, asks))
    moments = rng.random((count, asks + tagged))
    tag_at = np.minimum(moments[:, :tagged], moments[:, asks:])
    ask_at = moments[:, :asks].copy()
    ask_at[:, :tagged] = np.maximum(moments[:, :tagged], moments[:, asks:])

    kind = np.repeat([TAG, ASK, BILL], [tagged, asks, asks]) + np.zeros((count, 1), int)  # (N, T), not yet in order
    article = np.concatenate([article[:, :tagged], article, article], axis=1)
    value = np.concatenate([price[:, :tagged], 0 * price, price % prices + 1], axis=1)
    unit = np.argsort(np.argsort(np.concatenate([tag_at, ask_at], axis=1), axis=1), axis=1)
    place = np.concatenate([2 * unit, 2 * unit[:, tagged:] + 1], axis=1)  # a bill directly after its ask
    order = np.argsort(place, axis=1)
    tokens = np.stack([np.take_along_axis(x, order, axis=1) for x in (kind, article, value)], axis=-1)  # (N, T, 3)

    length = rng.integers(min_length, steps + 1, size=count)
    real = np.arange(steps) < length[:, None]
    asked = real & (tokens[:, :, 0] == ASK)
    following = np.concatenate([tokens[:, 1:, 2], np.zeros((count, 1), int)], axis=1)
    same = tokens[:, :, None, 1] == tokens[:, None, :, 1]  # (N, T, T): step j is about the article of step i
    tag = same & (tokens[:, None, :, 0] == TAG)
    known = asked & tag.any(axis=2)
    return {
        "tokens": np.where(real[:, :, None], tokens, 0).astype("int32"),
        "length": length.astype("int32"),
        "real": real,
        "asked": asked,
        "known": known,
        "target": np.where(asked, following, 0).astype("int32"),
        "position": np.where(known, tag.argmax(axis=2), 0).astype("int32"),
    }


def without_tags(log):
    """The same logs with every tag turned into padding: the control that shows where an answer comes from.

    Args:
        log: what `delivery_log` returns.

    Returns:
        A copy whose `tokens` and `real` lack the tags; targets and the rest are unchanged.
    """
    tag = log["tokens"][:, :, 0] == TAG
    return {**log, "tokens": np.where(tag[:, :, None], 0, log["tokens"]), "real": log["real"] & ~tag}


def prefixes(log):
    """Every log cut off after each of its steps, as it looked at that moment: what exists when a model answers.

    Args:
        log: a dictionary with `tokens` (N, T, 3) and `real` (N, T).

    Returns:
        Dictionary of `tokens` (T · N, T, 3) and `real` (T · N, T): first all logs cut off after step 0, then after
        step 1, and so on; the rest is padding.
    """
    tokens, steps = log["tokens"], log["tokens"].shape[1]
    past = np.tril(np.ones((steps, steps), bool))[:, None]  # (T, 1, T): in the cut after step t, steps 0 … t exist
    real = past & log["real"]  # (T, N, T)
    cut = np.where(real[..., None], tokens, 0)  # (T, N, T, 3)
    return {"tokens": cut.reshape(-1, *tokens.shape[1:]), "real": real.reshape(-1, steps)}
