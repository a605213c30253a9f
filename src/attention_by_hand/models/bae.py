"""The model of the 배 task: embed, attend within the sentence, read the meaning off 배's own output."""

import keras
from keras import ops


def bae_model(attention, words, meanings=3, width=16, spread=0.3, hide_asker=True):
    """A model that says what 배 means in its sentence.

    Args:
        attention: a layer called as `attention(x, mask=…, attention_mask=…, return_attention_scores=True)`, or None:
            then the meaning is read off 배's embedding alone.
        words: how many different words there are (ids start at 1; 0 is padding).
        meanings: how many meanings there are.
        width: D of the embedding.
        spread: standard deviation of the embedding before training. With a large one the softmax is sure before
            it has learned anything, and training may stay with what it chose by chance.
        hide_asker: whether no word may attend to 배, 배 itself included. Otherwise 배 can keep one meaning as a
            default in its own value, for "nobody else answers", and be right without looking at the verb.

    Returns:
        `(model, attention_model)`, sharing all weights. Both take the dictionary `{"tokens": (B, T), "mask":
        (B, T), "asker": (B, T)}`; the first gives logits (B, meanings), the second the weights (B, T) with
        which 배 attends (None without attention).
    """
    inputs = {
        "tokens": keras.Input((None,), dtype="int32", name="tokens"),
        "mask": keras.Input((None,), dtype="bool", name="mask"),
        "asker": keras.Input((None,), dtype="bool", name="asker"),
    }
    start = keras.initializers.RandomNormal(stddev=spread)
    x = keras.layers.Embedding(words + 1, width, start, name="embedding")(inputs["tokens"])  # (B, T, D)
    weights_model = None
    asker = ops.cast(ops.logical_and(inputs["asker"], inputs["mask"]), "float32")  # (B, T), 1 at 배
    if attention is not None:
        others = ops.logical_not(ops.expand_dims(inputs["asker"], axis=1)) if hide_asker else None  # (B, 1, T)
        x, weights = attention(x, mask=inputs["mask"], attention_mask=others, return_attention_scores=True)
        weights_model = keras.Model(inputs, ops.einsum("bt,bts->bs", asker, weights), name="bae_attention")
    own = ops.einsum("bt,btd->bd", asker, x)  # (B, Dv): the row of 배
    logits = keras.layers.Dense(meanings, name="read_out")(own)  # (B, meanings)
    return keras.Model(inputs, logits, name="bae"), weights_model
