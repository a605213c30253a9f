"""An encoder of BERT's form from our layers, and texts put through it."""

import keras
import numpy as np
from keras import ops

from attention_by_hand.layers import TransformerEncoderBlock
from attention_by_hand.layers.base import check_size


@keras.saving.register_keras_serializable("attention_by_hand")
class BertEmbedding(keras.layers.Layer):
    """What goes into the first block: a vector for the piece, one for the place, one for the sentence of a pair.

        h_t = norm(word[token_t] + position[t] + segment[0])

    Args:
        vocabulary: number of pieces V.
        length: number of places.
        width: D.
        epsilon: added to the variance in the norm.
        **kwargs: `name`, `dtype`, `trainable` as in every Keras layer.

    Call: tokens (B, T), integers → (B, T, D).

    Raises:
        ValueError: a size is not a positive integer, or T is larger than `length`.

    Source: Devlin et al. 2019, "BERT", §3 and figure 2.
    """

    def __init__(self, vocabulary, length, width, epsilon=1e-12, **kwargs):
        super().__init__(**kwargs)
        sizes = {"vocabulary": vocabulary, "length": length, "width": width}
        self.sizes = {name: check_size(name, size) for name, size in sizes.items()}
        self.epsilon = epsilon
        options = {"epsilon": epsilon, "dtype": self.dtype_policy, "name": "embedding_norm"}
        self.norm = keras.layers.LayerNormalization(**options)

    def build(self, tokens_shape):
        self.check(tokens_shape)
        rows = {"word": self.sizes["vocabulary"], "position": self.sizes["length"], "segment": 2}
        for name, number in rows.items():
            options = {"initializer": "zeros", "name": f"{name}_table"}
            setattr(self, f"{name}_table", self.add_weight(shape=(number, self.sizes["width"]), **options))
        self.norm.build((*tokens_shape, self.sizes["width"]))

    def call(self, tokens):
        steps = self.check(tokens.shape)
        words = ops.take(self.word_table, tokens, axis=0)  # (B, T, D)
        return self.norm(words + self.position_table[:steps] + self.segment_table[0])  # (B, T, D)

    def check(self, tokens_shape):
        """The length of tokens (B, T), if there are places for it."""
        if len(tokens_shape) != 2 or tokens_shape[1] is None or tokens_shape[1] > self.sizes["length"]:
            raise ValueError(
                f"tokens must have shape (B, T), T known and at most {self.sizes['length']}; got {tuple(tokens_shape)}"
            )
        return tokens_shape[1]

    def compute_output_shape(self, tokens_shape):
        return (*tokens_shape, self.sizes["width"])

    def get_config(self):
        return {**super().get_config(), **self.sizes, "epsilon": self.epsilon}


def bert_encoder(
    vocabulary, layers, heads, width, mlp_dim, positions=512, length=24, norm_first=False, activation="gelu"
):
    """An encoder of BERT's form that shows everything on the way; `load_bert` fills it.

        h⁰ = embedding(tokens);  hⁿ = block_n(hⁿ⁻¹);  sentence = mean of h^L over the real tokens

    Args:
        vocabulary: number of pieces V.
        layers: number of blocks L.
        heads: heads of each, H.
        width: D.
        mlp_dim: width of the hidden layer of each MLP.
        positions: rows of the table of places.
        length: T of all inputs, at most `positions`.
        norm_first: False is BERT's post-norm.
        activation: "gelu" is BERT's, by the error function.

    Returns:
        A model from `{"tokens": (B, T), "mask": (B, T) boolean}` to `{"hidden": (B, L + 1, T, D), "weights":
        (B, L, H, T, T), "sentence": (B, D)}`.

    Raises:
        ValueError: a size is not a positive integer, or the heads do not divide the width.

    Source: Devlin et al. 2019, "BERT", §3; the mean: Reimers and Gurevych 2019, "Sentence-BERT", §3.
    """
    check_size("layers", layers)
    tokens = keras.Input((length,), dtype="int32", name="tokens")
    mask = keras.Input((length,), dtype="bool", name="mask")
    options = {"norm_first": norm_first, "activation": activation, "epsilon": 1e-12}
    blocks = [TransformerEncoderBlock(heads, mlp_dim, **options, name=f"block_{n}") for n in range(layers)]
    hidden, weights = [BertEmbedding(vocabulary, positions, width, name="embedding")(tokens)], []
    for block in blocks:
        h, A = block(hidden[-1], padding_mask=mask, return_attention_scores=True)  # (B, T, D), (B, H, T, T)
        hidden.append(h)
        weights.append(A)
    outputs = {
        "hidden": ops.stack(hidden, axis=1),  # (B, L + 1, T, D)
        "weights": ops.stack(weights, axis=1),  # (B, L, H, T, T)
        "sentence": mean_of_tokens(hidden[-1], mask),  # (B, D)
    }
    return keras.Model({"tokens": tokens, "mask": mask}, outputs, name="bert_encoder")


def mean_of_tokens(hidden, mask):
    """Mean over the real tokens: hidden (B, T, D), mask (B, T) boolean → (B, D)."""
    dtype = keras.backend.standardize_dtype(hidden.dtype)
    real = ops.expand_dims(ops.cast(mask, dtype), axis=-1)  # (B, T, 1)
    return ops.sum(ops.multiply(hidden, real), axis=1) / ops.sum(real, axis=1)  # (B, D)


def encode_texts(model, wordpiece, texts, batch_size=40):
    """Run `bert_encoder` on texts. The last batch is filled up, so that only one shape is compiled.

    Args:
        model: what `bert_encoder` returns.
        wordpiece: a `WordPiece` with the model's vocabulary.
        texts: list of N strings.
        batch_size: texts at a time.

    Returns:
        Dictionary of arrays: `tokens` and `mask` (N, T), and `hidden`, `weights`, `sentence` as the model gives them.

    Raises:
        ValueError: a text has more tokens than the model's inputs.
    """
    data = wordpiece.encode([str(text) for text in texts], length=model.get_layer("tokens").batch_shape[1])
    fill = -len(texts) % batch_size
    filled = {name: np.concatenate([x, np.repeat(x[-1:], fill, axis=0)]) for name, x in data.items()}
    found = model.predict(filled, batch_size=batch_size, verbose=0)
    return {**data, **{name: x[: len(texts)] for name, x in found.items()}}
