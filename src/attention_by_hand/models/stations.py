"""Ways to tell attention where things are, trained side by side on "the last station" in one `fit`."""

import keras
import numpy as np
from keras import ops


def station_race(contestants, words, classes, width=32, seed=0):
    """Models that differ in where positions enter: embed, attend causally once, read the answer off at every step.

    The contestants share nothing but the inputs. Their embeddings are slices of one table and their read-outs one
    layer with a kernel for each, because a backend compiles one large layer much faster than eight small ones. An
    optimizer that works weight by weight, as Adam does, and a loss that averages over the contestants, train each
    as if it were alone.

    Args:
        contestants: `{name: (positions, attention)}`: `positions` is a layer (B, T, D) → (B, T, D), or None;
            `attention` is called as `attention(x, x, use_causal_mask=True, return_attention_scores=True)`.
        words: number of words, ids 1 … `words`.
        classes: number of answers, ids 1 … `classes`.
        width: D of the embeddings.
        seed: seed of the embeddings and read-outs.

    Returns:
        `(model, full_model)`, sharing all weights. Both take tokens (B, T). The first gives logits (B, T,
        contestants, classes + 1), the second `{"logits": the same, "last": {name: weights of the last step, (B, H,
        T), or (B, T) from an attention without heads}}`.
    """
    count, rng = len(contestants), np.random.default_rng(seed)
    table = rng.normal(size=(words + 1, count * width))
    limit = (6 / (width + classes + 1)) ** 0.5  # Glorot's, of one read-out
    kernels = rng.uniform(-limit, limit, (count, width, classes + 1))
    start = keras.initializers.Constant  # drawn by NumPy: jax compiles its own generator anew for every shape

    tokens = keras.Input((None,), dtype="int32", name="tokens")
    embedded = keras.layers.Embedding(*table.shape, embeddings_initializer=start(table), name="words")(tokens)
    outputs, last = [], {}
    for number, (name, (positions, attention)) in enumerate(contestants.items()):
        x = embedded[..., number * width : (number + 1) * width]  # (B, T, D)
        x = x if positions is None else positions(x)
        output, weights = attention(x, x, use_causal_mask=True, return_attention_scores=True)
        outputs.append(output)  # (B, T, D)
        last[name] = weights[..., -1, :]  # (B, H, T)
    read_out = keras.layers.EinsumDense(
        "btmd,mdc->btmc", (None, count, classes + 1), bias_axes="mc", kernel_initializer=start(kernels), name="read_out"
    )
    logits = read_out(ops.stack(outputs, axis=2))  # (B, T, contestants, classes + 1)
    return keras.Model(tokens, logits), keras.Model(tokens, {"logits": logits, "last": last})
