"""The model of keyed recall: embed, attend, read out. The attention layer is plugged in."""

import keras


def recall_model(attention, keys, values, width=16):
    """A model that answers a query with the value it attends to.

    Args:
        attention: a layer called as `attention(query, value, key, value_mask=…, return_attention_scores=True)`.
        keys, values: how many different keys and values there are (ids start at 1; 0 is padding).
        width: D of all embeddings.

    Returns:
        `(model, attention_model)`, sharing all weights. Both take the dictionary `{"query": (B, Tq),
        "key": (B, Tv), "value": (B, Tv), "mask": (B, Tv)}`; the first gives logits (B, values + 1) of the
        first query's answer, the second the attention weights (B, Tq, Tv).
    """
    query = keras.Input((None,), dtype="int32", name="query")
    key = keras.Input((None,), dtype="int32", name="key")
    value = keras.Input((None,), dtype="int32", name="value")
    mask = keras.Input((None,), dtype="bool", name="mask")
    embedded_query = keras.layers.Embedding(keys + 1, width, name="query_embedding")(query)  # (B, Tq, D)
    embedded_key = keras.layers.Embedding(keys + 1, width, name="key_embedding")(key)  # (B, Tv, D)
    embedded_value = keras.layers.Embedding(values + 1, width, name="value_embedding")(value)  # (B, Tv, D)
    context, weights = attention(
        embedded_query, embedded_value, embedded_key, value_mask=mask, return_attention_scores=True
    )  # (B, Tq, D), (B, Tq, Tv)
    logits = keras.layers.Dense(values + 1, name="read_out")(context[:, 0])  # (B, values + 1)
    inputs = {"query": query, "key": key, "value": value, "mask": mask}
    return keras.Model(inputs, logits, name="recall"), keras.Model(inputs, weights, name="recall_attention")
