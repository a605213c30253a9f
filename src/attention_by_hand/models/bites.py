"""Ways to tell a model the order of words, trained side by side on "who bites whom" in one `fit`."""

import keras
from keras import ops


def order_race(contestants, words, width=32, seed=0):
    """Models that differ in how positions enter and how they attend, joined to one for a single `fit`.

    Each contestant embeds the words, adds positions, attends once from every word and answers from the output of
    the verb that is asked. Nothing is shared but the inputs: an optimizer that works weight by weight, as Adam
    does, and a loss that adds up, train each as if it were alone.

    Args:
        contestants: `{name: (positions, attend, scale)}`: `positions` is a layer (B, T, D) → (B, T, D') or None,
            `attend(x, mask)` gives output and weights (B, T, T), `scale` is the standard deviation of a number
            of the embeddings before training.
        words: number of words, ids 1 … `words`; 0 is padding.
        width: D of the embeddings.
        seed: seed of the embeddings.

    Returns:
        `(model, weights_models)`, sharing all weights. All take `{"tokens": (B, T), "mask": (B, T), "at_verb":
        (B, T)}`; `model` gives `{name: logits (B, words + 1)}`, `weights_models[name]` the weights (B, T) of the
        verb that is asked.
    """
    tokens = keras.Input((None,), dtype="int32", name="tokens")
    mask = keras.Input((None,), dtype="bool", name="mask")
    at_verb = keras.Input((None,), dtype="bool", name="at_verb")
    logits, weights = {}, {}
    for number, (name, (positions, attend, scale)) in enumerate(contestants.items()):
        start = keras.initializers.RandomNormal(stddev=scale, seed=seed + number)
        x = keras.layers.Embedding(words + 1, width, start, name=f"{name}_words")(tokens)  # (B, T, D)
        x = x if positions is None else positions(x)  # (B, T, D), or wider with concat
        output, rows = attend(x, mask)  # (B, T, D), (B, T, T)
        asked = ops.cast(at_verb, output.dtype)  # (B, T), one 1 in each row
        answer = ops.einsum("bt,btd->bd", asked, output)  # (B, D): the output at the verb
        weights[name] = ops.einsum("bt,bts->bs", asked, rows)  # (B, T)
        logits[name] = keras.layers.Dense(words + 1, name=name)(answer)  # (B, words + 1)
    inputs = {"tokens": tokens, "mask": mask, "at_verb": at_verb}
    return keras.Model(inputs, logits), {name: keras.Model(inputs, rows) for name, rows in weights.items()}
