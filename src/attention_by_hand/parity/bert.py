"""What a pretrained encoder has to give: numbers of the reference implementation, or of the same formulas in NumPy."""

import json
import math
from importlib import resources

import numpy as np

from attention_by_hand.models.safetensors import read_safetensors

FILE = "minilm_reference.npz"  # made by scripts/minilm_reference.py; data/minilm_reference.md describes it
_erf = np.vectorize(math.erf, otypes=["float64"])


def bert_reference(files, wordpiece, longest=24):
    """Hidden states and attention maps to compare ours with.

    For the published model they were computed by the reference implementation and are stored with this package. For
    the stand-in, which nobody else has, they are computed here in NumPy, in double precision.

    Args:
        files: what `models.minilm_files` gives.
        wordpiece: the `WordPiece` of these files; used for the stand-in only.
        longest: tokens that a sentence may have; longer ones are left out. The published model's have at most 20.

    Returns:
        Dictionary: `texts` and their `tokens`, lists; `sentences`, those of these texts that have, in the same order,
        `hidden`, arrays (L + 1, T, D), or (1, T, D) where only the last is kept, and `weights`, (L, H, T, T) or None.
    """
    with resources.files(__package__).joinpath(FILE).open("rb") as file:
        arrays = dict(np.load(file, allow_pickle=False))
    made = json.loads(arrays.pop("made").tobytes().decode("utf-8"))
    if not files.real:
        made["tokens"] = [wordpiece.encode([text])["tokens"][0].tolist() for text in made["texts"]]
    kept = [n for n, _ in enumerate(made["sentences"]) if len(made["tokens"][n]) <= longest]
    made["sentences"] = [made["sentences"][n] for n in kept]
    if files.real:
        return {**made, **{kind: [arrays.get(f"{kind}_{n}") for n in kept] for kind in ("hidden", "weights")}}
    table = read_safetensors(files.weights)
    pairs = [bert_in_numpy(table, np.array(made["tokens"][n]), files.heads) for n in kept]
    return {**made, "hidden": [pair[0] for pair in pairs], "weights": [pair[1] for pair in pairs]}


def bert_in_numpy(table, tokens, heads):
    """BERT's encoder by its formulas, one text at a time, with nothing of Keras.

    Args:
        table: arrays in torch's names.
        tokens: integers (T,).
        heads: number of heads.

    Returns:
        Hidden states (L + 1, T, D) and attention maps (L, H, T, T), float64.

    Source: Devlin et al. 2019, "BERT"; Vaswani et al. 2017, "Attention Is All You Need", §3.
    """
    table = {name: np.asarray(array, "float64") for name, array in table.items()}
    dense = lambda x, name: x @ table[f"{name}.weight"].T + table[f"{name}.bias"]  # noqa: E731

    def norm(x, name):
        x = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-12)
        return x * table[f"{name}.weight"] + table[f"{name}.bias"]

    rows = {"word": tokens, "position": np.arange(len(tokens)), "token_type": np.zeros(len(tokens), int)}
    h = norm(sum(table[f"embeddings.{name}_embeddings.weight"][n] for name, n in rows.items()), "embeddings.LayerNorm")
    hidden, maps = [h], []
    while f"encoder.layer.{len(maps)}.output.dense.weight" in table:
        layer = f"encoder.layer.{len(maps)}"
        q, k, v = (
            dense(h, f"{layer}.attention.self.{name}").reshape(len(h), heads, -1) for name in ("query", "key", "value")
        )
        scores = np.einsum("thd,shd->hts", q, k) / math.sqrt(q.shape[-1])
        A = np.exp(scores - scores.max(axis=-1, keepdims=True))
        A /= A.sum(axis=-1, keepdims=True)  # (H, T, T)
        context = np.einsum("hts,shd->thd", A, v).reshape(h.shape)
        h = norm(h + dense(context, f"{layer}.attention.output.dense"), f"{layer}.attention.output.LayerNorm")
        inner = dense(h, f"{layer}.intermediate.dense")
        inner = inner * (1 + _erf(inner / math.sqrt(2))) / 2  # exact GELU
        h = norm(h + dense(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
        hidden.append(h)
        maps.append(A)
    return np.stack(hidden), np.stack(maps)
