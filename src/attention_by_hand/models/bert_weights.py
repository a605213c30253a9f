"""The map that carries published weights into `bert_encoder`, and what it refuses."""

import numpy as np

from attention_by_hand.layers import TransformerEncoderBlock

# In the file, but not in a sentence vector.
UNUSED = ("embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias")
# Ours → the file's, for one block. A name of ours that ends in "norm" or a plain Dense has two weights, see `load_map`.
_ATTENTION = {"query": "self.query", "key": "self.key", "value": "self.value", "output": "output.dense"}
_AROUND = {
    "attention_norm": "attention.output.LayerNorm",
    "mlp_hidden": "intermediate.dense",
    "mlp_output": "output.dense",
    "mlp_norm": "output.LayerNorm",
}


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
