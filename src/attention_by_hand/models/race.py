"""Several attention layers on one task, trained side by side in one `fit`: they share nothing but the inputs.

An optimizer that works weight by weight and whatever the size of the gradient, as Adam does, and a loss that
averages over the contestants, train each as if it were alone; the backend compiles one loss, once.
"""

import keras
import numpy as np
from keras import ops


def recall_race(contestants, keys, values, seed=0):
    """Models of keyed recall that differ in attention layer, width and start.

    Each contestant has its own embeddings, attention layer and read-out. The embeddings are slices of one wide
    table, because a backend compiles one table much faster than thirty.

    Args:
        contestants: `{name: (attention layer, width D, standard deviation of the embeddings at the start)}`.
        keys, values: how many different keys and values there are (ids start at 1; 0 is padding).
        seed: seed of the embeddings.

    Returns:
        `(model, full_model)`, sharing all weights. Both take the dictionary `{"query": (B, 1), "key": (B, Tv),
        "value": (B, Tv), "mask": (B, Tv)}`; the first gives logits (B, contestants, values + 1), the second
        `{"logits": {name: (B, values + 1)}, "weights": {name: attention weights (B, 1, Tv)}}`.
    """
    inputs = {name: keras.Input((None,), dtype="int32", name=name) for name in ("query", "key", "value")}
    inputs["mask"] = keras.Input((None,), dtype="bool", name="mask")
    spreads = np.concatenate([np.full(width, spread) for _, width, spread in contestants.values()])  # (ΣD,)
    rng = np.random.default_rng(seed)
    query, key, value = (
        _embedding(rng.normal(0.0, spreads, (size + 1, len(spreads))), f"{name}_table")(inputs[name])
        for name, size in (("query", keys), ("key", keys), ("value", values))
    )  # (B, 1, ΣD), (B, Tv, ΣD) twice
    logits, weights, start = {}, {}, 0
    for name, (attention, width, _) in contestants.items():
        own = slice(start, start + width)
        context, weights[name] = attention(
            query[..., own], value[..., own], key[..., own], value_mask=inputs["mask"], return_attention_scores=True
        )  # (B, 1, D), (B, 1, Tv)
        logits[name] = _read_out(rng, width, values + 1, f"read_out_{name}")(context[:, 0])  # (B, values + 1)
        start += width
    stacked = ops.stack(list(logits.values()), axis=1)  # (B, contestants, values + 1)
    return keras.Model(inputs, stacked), keras.Model(inputs, {"logits": logits, "weights": weights})


def _read_out(rng, width, classes, name):
    """A `Dense` with Glorot's start drawn by NumPy: jax compiles its own generator anew for every shape."""
    limit = (6 / (width + classes)) ** 0.5
    start = keras.initializers.Constant(rng.uniform(-limit, limit, (width, classes)))
    return keras.layers.Dense(classes, kernel_initializer=start, name=name)


def _embedding(table, name):
    """An embedding that starts from a given table, so that every backend starts from the same one."""
    return keras.layers.Embedding(*table.shape, embeddings_initializer=keras.initializers.Constant(table), name=name)


def fetch_race(contestants, query_width, item_width, output_width):
    """Models of `datasets.match_and_fetch`, whose answer is the output of the attention layer itself.

    Args:
        contestants: `{name: (attention layer, whether one shared vector is both key and value)}`. Shared:
            K = V = X W. Apart: K = X W_K, V = X W_V. Queries are Q = q W_Q in both.
        query_width: width D_Q of the queries, also that of the keys when they are apart.
        item_width: width D_X of the items.
        output_width: width D_V of the answer.

    Returns:
        `(model, full_model)`, sharing all weights. Both take the dictionary `{"query": (B, 1, D_Q), "items":
        (B, Tv, D_X), "mask": (B, Tv)}`; the first gives answers (B, contestants, D_V), the second `{"answers":
        {name: (B, D_V)}, "weights": {name: attention weights (B, 1, Tv)}}`.
    """
    inputs = {
        "query": keras.Input((None, query_width), name="query"),
        "items": keras.Input((None, item_width), name="items"),
        "mask": keras.Input((None,), dtype="bool", name="mask"),
    }
    answers, weights = {}, {}
    for name, (attention, shared) in contestants.items():
        key_width = output_width if shared else query_width
        query = _project(key_width, f"{name}_query")(inputs["query"])  # (B, 1, Dk)
        value = _project(output_width, f"{name}_value")(inputs["items"])  # (B, Tv, D_V)
        key = value if shared else _project(key_width, f"{name}_key")(inputs["items"])  # (B, Tv, Dk)
        output, weights[name] = attention(query, value, key, value_mask=inputs["mask"], return_attention_scores=True)
        answers[name] = output[:, 0]  # (B, D_V)
    stacked = ops.stack(list(answers.values()), axis=1)  # (B, contestants, D_V)
    return keras.Model(inputs, stacked), keras.Model(inputs, {"answers": answers, "weights": weights})


def _project(units, name):
    return keras.layers.Dense(units, use_bias=False, name=name)
