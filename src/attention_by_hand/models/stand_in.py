"""A small encoder of BERT's form, trained here, for those who have not the published weights."""

import string
import tempfile
from functools import cache
from pathlib import Path

import keras
import numpy as np

from attention_by_hand.backend import to_numpy
from attention_by_hand.datasets.paraphrases import paraphrases, role_swaps
from attention_by_hand.datasets.pronouns import echoes, pronoun_pairs
from attention_by_hand.datasets.wordpiece import SPECIAL, WordPiece, words
from attention_by_hand.models.bert import bert_encoder
from attention_by_hand.models.bert_weights import UNUSED, load_bert, load_map, random_table
from attention_by_hand.models.minilm import Files
from attention_by_hand.models.safetensors import write_safetensors

SIZES = {"layers": 2, "heads": 4, "width": 64, "mlp_dim": 128, "positions": 32}
LENGTH = 20  # tokens of the longest training sentence at most
HIDDEN = 0.2  # share of the words that are covered


@cache
def stand_in_files(steps=160, batch_size=32, seed=0):
    """Train the stand-in to guess covered words in our own sentences, and write it as the published model is written.

    Args:
        steps, batch_size: of the training with Adam.
        seed: integer seed of sentences, weights and of what is covered.

    Returns:
        `Files` with origin `"stand-in"`, in a temporary folder; made once in a process.

    Source of the task: Devlin et al. 2019, "BERT", §3.1.
    """
    texts = [*pronoun_pairs(600, seed=seed)["texts"].ravel(), *echoes(300, seed=seed)]
    wordpiece = WordPiece(_vocabulary(texts))
    model = bert_encoder(len(wordpiece), length=LENGTH, **SIZES)
    load_bert(model, random_table(model, seed))
    _train(model, wordpiece, texts, steps, batch_size, seed)
    folder = Path(tempfile.mkdtemp(prefix="abh-stand-in-"))
    write_safetensors(folder / "model.safetensors", _as_stored(model, seed))
    (folder / "vocab.txt").write_text("\n".join(wordpiece.pieces) + "\n", encoding="utf-8")
    return Files(folder / "model.safetensors", folder / "vocab.txt", SIZES["heads"], "stand-in")


def _vocabulary(texts):
    """Special pieces, single letters for words that are not known, and all words of our sentences."""
    known = [text for group in paraphrases().values() for text in group] + [t for pair in role_swaps() for t in pair]
    letters = string.ascii_lowercase + string.digits + string.punctuation
    whole = sorted({word for text in [*texts, *known] for word in words(str(text))} - set(letters))
    return [*SPECIAL, "[MASK]", *letters, *(f"##{c}" for c in letters), *whole]


def _train(encoder, wordpiece, texts, steps, batch_size, seed):
    """Cover a share of the pieces and learn to name them."""
    rng = np.random.default_rng(seed)
    data = wordpiece.encode(list(map(str, texts)), length=LENGTH)
    rows = rng.integers(0, len(texts), size=steps * batch_size)
    tokens, mask = data["tokens"][rows], data["mask"][rows]
    special = np.isin(tokens, [wordpiece.number[piece] for piece in SPECIAL])
    asked = mask & ~special & (rng.random(tokens.shape) < HIDDEN)  # (N, T)
    covered = np.where(asked, wordpiece.number["[MASK]"], tokens)
    zeros = keras.initializers.Zeros()
    answer = keras.layers.Dense(len(wordpiece), kernel_initializer=zeros, name="answer")(
        encoder.output["hidden"][:, -1]
    )
    model = keras.Model(encoder.input, answer)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    rate = keras.optimizers.schedules.CosineDecay(3e-3, decay_steps=steps)
    model.compile(keras.optimizers.Adam(rate), loss)
    model.optimizer.build(model.trainable_variables)
    inputs = {"tokens": covered, "mask": mask}
    weight = asked.astype("float32")
    model.fit(inputs, tokens, sample_weight=weight, batch_size=batch_size, shuffle=False, verbose=0)


def _as_stored(model, seed):
    """The model's weights in torch's names and order of axes, with the three tensors that nobody uses."""
    width, rng = SIZES["width"], np.random.default_rng(seed)
    table = {}
    for name, weight, shape, change in load_map(model):
        array = to_numpy(weight)
        table[name] = array.reshape(shape) if change == "as it is" else array.reshape(shape[::-1]).T
    unused = (np.arange(SIZES["positions"])[None], rng.normal(size=(width, width)).astype("float32"), np.zeros(width))
    return table | dict(zip(UNUSED, (x.astype("float32") if x.dtype == "float64" else x for x in unused), strict=True))
