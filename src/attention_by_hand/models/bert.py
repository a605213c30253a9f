"""An encoder of BERT's form from our layers, and the map that carries published weights into it."""

import keras
import numpy as np
from keras import ops

from attention_by_hand.layers import TransformerEncoderBlock
from attention_by_hand.layers.base import check_size

UNUSED = (
    "embeddings.position_ids",
    "pooler.dense.weight",
    "pooler.dense.bias",
)  # in the file, not in a sentence vector
# Ours → the file's, for one block. A name of ours that ends in "norm" or a plain Dense has two weights, see `load_map`.
_ATTENTION = {"query": "self.query", "key": "self.key", "value": "self.value", "output": "output.dense"}
_AROUND = {
    "attention_norm": "attention.output.LayerNorm",
    "mlp_hidden": "intermediate.dense",
    "mlp_output": "output.dense",
    "mlp_norm": "output.LayerNorm",
}


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


def bert_sizes(table, heads):
    """The sizes of `bert_encoder` that fit a table, read off the shapes of its tensors.

    Args:
        table: arrays in torch's names.
        heads: number of heads, which no shape tells.

    Returns:
        Dictionary of `vocabulary`, `layers`, `heads`, `width`, `mlp_dim`, `positions`.

    Raises:
        ValueError: a tensor that is needed for it is missing.
    """
    first = "encoder.layer.0.intermediate.dense.weight"
    words, places = (f"embeddings.{name}_embeddings.weight" for name in ("word", "position"))
    for name in (words, places, first):
        if name not in table:
            raise ValueError(f"the table must hold {name}; it has {len(table)} other tensors")
    layers = 0
    while f"encoder.layer.{layers}.output.dense.weight" in table:
        layers += 1
    (vocabulary, width), mlp_dim = table[words].shape, table[first].shape[0]
    sizes = {"vocabulary": vocabulary, "layers": layers, "heads": heads, "width": width, "mlp_dim": mlp_dim}
    return {**sizes, "positions": table[places].shape[0]}


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


def load_map(model):
    """Which tensor of a file goes into which weight of `bert_encoder`, and what is done to it.

    A torch layer stores its matrix as (out, in), Keras as (in, out); and our attention cuts the side of the heads:

        query, key, value:  (H·Dk, D) → transpose → (D, H·Dk) → (D, H, Dk)
        output:             (D, H·Dv) → transpose → (H·Dv, D) → (H, Dv, D)

    Args:
        model: what `bert_encoder` returns.

    Returns:
        List of (name in the file, weight of the model, shape in the file, "as it is", "transposed" or "transposed,
        cut into heads").
    """
    embedding = model.get_layer("embedding")
    rows = [
        (f"embeddings.{name}_embeddings.weight", table)
        for name, table in (
            ("word", embedding.word_table),
            ("position", embedding.position_table),
            ("token_type", embedding.segment_table),
        )
    ]
    rows += _two("embeddings.LayerNorm", embedding.norm)
    for n, block in enumerate(layer for layer in model.layers if isinstance(layer, TransformerEncoderBlock)):
        prefix = f"encoder.layer.{n}."
        for ours, theirs in _ATTENTION.items():
            rows.append((f"{prefix}attention.{theirs}.weight", getattr(block.attention, f"{ours}_kernel")))
            rows.append((f"{prefix}attention.{theirs}.bias", getattr(block.attention, f"{ours}_bias")))
        for ours, theirs in _AROUND.items():
            rows += _two(prefix + theirs, getattr(block, ours))
    return [(name, weight, *_as_stored(name, weight)) for name, weight in rows]


def load_bert(model, table):
    """Give `bert_encoder` the weights of a table in torch's names and order of axes.

    Args:
        model: what `bert_encoder` returns.
        table: arrays by name, as `read_safetensors` gives them.

    Returns:
        Names of tensors that the model does not use.

    Raises:
        ValueError: a tensor is missing, has another shape, is not of floating point or not finite, or has no place
            in the model; the message names it. The model is then left as it was.
    """
    rows, arrays = load_map(model), []
    for name, weight, shape, _ in rows:
        if name not in table:
            raise ValueError(f"the table must hold {name}; it has {len(table)} other tensors")
        array = np.asarray(table[name])
        if array.shape != shape:
            raise ValueError(f"{name} must have shape {shape}; got {array.shape}")
        if array.dtype.kind != "f" or not np.isfinite(array).all():
            raise ValueError(f"{name} must hold finite floating-point numbers; got {array.dtype}")
        arrays.append((array.T if name.endswith("weight") and _is_matrix(name) else array).reshape(weight.shape))
    rest = [name for name in table if name not in {row[0] for row in rows}]
    if strange := [name for name in rest if name not in UNUSED]:
        raise ValueError(f"{strange[0]} has no place in a model of {len(rows)} tensors: is it another model's?")
    for (_, weight, _, _), array in zip(rows, arrays, strict=True):
        weight.assign(array.astype("float32"))
    return rest


def random_table(model, seed=0, spread=0.02):
    """A table for `load_bert` with the weights that BERT starts from: N(0, 0.02), biases 0 and γ 1.

    Args:
        model: what `bert_encoder` returns; only its shapes are read.
        seed: integer seed.
        spread: standard deviation of matrices and tables.

    Returns:
        Dictionary of float32 arrays, in torch's names and order of axes.
    """
    rng = np.random.default_rng(seed)

    def draw(name, shape):
        if name.endswith("bias"):
            return np.zeros(shape, "float32")
        return np.ones(shape, "float32") if "LayerNorm" in name else rng.normal(0, spread, shape).astype("float32")

    return {name: draw(name, shape) for name, _, shape, _ in load_map(model)}


def _two(name, layer):
    """The two weights of a norm or a Dense; torch calls a norm's γ `weight`, too."""
    first, second = layer.weights
    return [(f"{name}.weight", first), (f"{name}.bias", second)]


def _is_matrix(name):
    """Whether `weight` is a matrix (out, in), and not a table of vectors or a norm's γ."""
    return not name.startswith("embeddings") and "LayerNorm" not in name


def _as_stored(name, weight):
    """Shape of a weight in the file, and what has to be done to get ours."""
    shape = tuple(weight.shape)
    if name.endswith("bias"):
        return (int(np.prod(shape)),), "as it is"
    if not _is_matrix(name):
        return shape, "as it is"
    if len(shape) == 2:
        return shape[::-1], "transposed"
    joined = (shape[0] * shape[1], shape[2]) if ".output." in name else (shape[0], shape[1] * shape[2])
    return joined[::-1], "transposed, cut into heads"
