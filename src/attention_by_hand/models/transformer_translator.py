"""A translator that is a transformer: it reads at once, and writes with a key/value cache or without one."""

import keras
import numpy as np
from keras import ops, tree

from attention_by_hand.backend import to_numpy
from attention_by_hand.layers import TransformerDecoder, TransformerEncoder
from attention_by_hand.layers.base import check_size
from attention_by_hand.layers.positional import sinusoids


class TransformerTranslator:
    """Encoder and decoder blocks around two vocabularies, for the batches that `Translator` reads.

        memory = encoder(E_source[x] + P)                        each source word sees all source words
        h      = decoder(E_target[y] + P, memory)                step t sees y_0 … y_t and the whole memory
        p(y_{t+1}) = softmax(h_t W + b)

    P are sinusoids. Blocks are pre-norm, without dropout.

    Args:
        source_words, target_words: sizes of the two vocabularies; id 0 is padding.
        source_length, target_length: S and T, the widths of the arrays when it translates.
        num_layers: blocks of the encoder, and of the decoder.
        num_heads, mlp_dim: of every block.
        width: D of all vectors.
        positions: False leaves P out, for experiments.
        choose: False holds the queries of the attention to the memory at 0, so that all its scores are 0 and its
            weights 1/n: the uniform mean, the control.
        seed: of the word vectors, which start at N(0, 1).

    Attributes:
        model: takes `{"source": (B, S), "source_mask": (B, S), "target": (B, T)}`, the target shifted by one (it
            begins with the start token), and gives logits (B, T, target_words). This is what `fit` trains.

    Raises:
        ValueError: a size is not a positive integer, or the heads do not divide the width.

    Source: Vaswani et al. 2017, "Attention Is All You Need", §3.
    """

    def __init__(
        self,
        source_words,
        target_words,
        source_length=16,
        target_length=20,
        num_layers=2,
        num_heads=4,
        mlp_dim=128,
        width=64,
        positions=True,
        choose=True,
        seed=0,
    ):
        self.source_length = check_size("source_length", source_length)
        self.target_length = check_size("target_length", target_length)
        rng = np.random.default_rng(seed)
        table = lambda rows: keras.initializers.Constant(rng.normal(0, 1, (rows, width)))  # noqa: E731
        self.embed_source = keras.layers.Embedding(source_words, width, table(source_words), name="source_words")
        self.embed_target = keras.layers.Embedding(target_words, width, table(target_words), name="target_words")
        longest = max(source_length, target_length)
        places = sinusoids(longest, width) * positions
        self.places = keras.layers.Embedding(
            longest, width, keras.initializers.Constant(places), trainable=False, name="places"
        )
        self.encoder = TransformerEncoder(num_layers, num_heads, mlp_dim, name="encoder")
        self.decoder = TransformerDecoder(num_layers, num_heads, mlp_dim, name="decoder")
        self.words = keras.layers.Dense(target_words, name="words")
        self.encoder.build((None, source_length, width))
        self.decoder.build((None, target_length, width), (None, source_length, width))
        if not choose:
            for block in self.decoder.blocks:
                hold_at_zero(block.cross_attention.query_kernel, block.cross_attention.query_bias)
        self._build_models()

    def _build_models(self):
        """Four functional models over the same layers: one step, training, encoding, a whole sentence."""
        ids = lambda name, length=None: keras.Input((length,), dtype="int32", name=name)  # noqa: E731
        S, T = self.source_length, self.target_length
        # The step's model first: see TransformerDecoder.
        empty = self.start(np.zeros((1, S, self.encoder.blocks[0].width), "float32"), np.ones((1, S), bool))
        cache = tree.map_structure(lambda x: keras.Input(x.shape[1:], dtype=str(x.dtype)), empty)
        token, position = ids("token", 1), ids("position", 1)
        x = self.embed_target(token) + self.places(position)  # (B, 1, D)
        y, _, weights, new = self.decoder(x, cache=cache, position=position[:, 0], return_attention_scores=True)
        step = {"log_probs": self.log_probs(y)[:, 0], "weights": ops.stack(weights, axis=1)[..., 0, :]}
        step["written"] = [{name: kept[name] for name in ("keys", "values")} for kept in new]
        self.stepping = keras.Model({"token": token, "position": position, "cache": cache}, step)
        source, mask, target = ids("source"), keras.Input((None,), dtype="bool", name="source_mask"), ids("target")
        memory = self.encoder(self.placed(self.embed_source, source), padding_mask=mask)  # (B, S, D)
        logits = self.words(self.decoder(self.placed(self.embed_target, target), memory, memory_mask=mask))
        self.model = keras.Model({"source": source, "source_mask": mask, "target": target}, logits, name="transformer")
        source, mask, target = ids("source", S), keras.Input((S,), dtype="bool", name="source_mask"), ids("target", T)
        memory = self.encoder(self.placed(self.embed_source, source), padding_mask=mask)
        self.encoding = keras.Model({"source": source, "source_mask": mask}, memory)
        memory = keras.Input(memory.shape[1:], name="memory")
        x = self.placed(self.embed_target, target)  # (B, T, D)
        y, _, weights = self.decoder(x, memory, memory_mask=mask, return_attention_scores=True)
        whole = {"log_probs": self.log_probs(y), "weights": ops.stack(weights, axis=1)}  # …, (B, blocks, H, T, S)
        self.whole = keras.Model({"memory": memory, "source_mask": mask, "target": target}, whole)

    def placed(self, embed, tokens):
        """Vectors of words and of their places, (B, L, D)."""
        return embed(tokens) + self.places(ops.cumsum(ops.ones_like(tokens), axis=1) - 1)

    def log_probs(self, y):
        return ops.log_softmax(self.words(y))

    def start(self, memory, memory_mask):
        """The decoder's cache before the first step, as arrays: the memory's keys and values, and room for T steps."""
        tensors = [ops.convert_to_tensor(x) for x in (memory, memory_mask)]
        return tree.map_structure(to_numpy, self.decoder.start_cache(self.target_length, *tensors))

    def encode(self, inputs):
        """Memory (N, S, D), and its mask (N, S): `memory_mask` of the inputs, else `source_mask`."""
        memory = self.encoding.predict_on_batch({name: inputs[name] for name in ("source", "source_mask")})
        return memory, np.asarray(inputs.get("memory_mask", inputs["source_mask"]))

    def begin(self, inputs):
        """Encode sources `{"source": (N, S), "source_mask": (N, S)}`: the start of a search, see `decoding`.

        With `"memory_mask": (N, S)` the decoder sees other places of the memory than the encoder saw of the source.
        """
        memory, mask = self.encode(inputs)
        return {"position": np.zeros((len(memory), 1), "int32"), "cache": self.start(memory, mask)}

    def step(self, tokens, state):
        """Log-probabilities (N, V) after one more token, the new state, and the weights (N, blocks, H, S)."""
        found = self.stepping.predict_on_batch({**state, "token": np.asarray(tokens, "int32")[:, None]})
        cache = [{**kept, **new} for kept, new in zip(state["cache"], found["written"], strict=True)]
        return found["log_probs"], {"position": state["position"] + 1, "cache": cache}, found["weights"]

    def read(self, inputs, batch_size=256):
        """All steps at once, while the decoder is given the right words.

        Args:
            inputs: as for `model`, with widths S and T; and `memory_mask`, see `begin`.
            batch_size: rows at a time.

        Returns:
            Log-probabilities (N, T, V), and the weights (N, blocks, H, T, S) of the attention to the memory.
        """
        found = []
        for first in range(0, len(inputs["source"]), batch_size):
            batch = {name: array[first : first + batch_size] for name, array in inputs.items()}
            memory, mask = self.encode(batch)
            found.append(
                self.whole.predict_on_batch({"memory": memory, "source_mask": mask, "target": batch["target"]})
            )
        return tuple(np.concatenate([each[name] for each in found]) for name in ("log_probs", "weights"))


class Recomputing:
    """A transformer translator that keeps no keys and values: every step decodes the whole beginning again.

    Args:
        translator: a `TransformerTranslator`, whose layers do the work.

    `begin` and `step` as there; the state holds the memory and the words so far.
    """

    def __init__(self, translator):
        self.translator = translator

    def begin(self, inputs):
        memory, mask = self.translator.encode(inputs)
        words = np.zeros((len(memory), self.translator.target_length), "int32")
        return {"position": np.zeros((len(memory), 1), "int32"), "words": words, "memory": memory, "source_mask": mask}

    def step(self, tokens, state):
        position, rows = state["position"][:, 0], np.arange(len(tokens))
        words = state["words"].copy()
        words[rows, position] = tokens
        memory = {name: state[name] for name in ("memory", "source_mask")}
        found = self.translator.whole.predict_on_batch({**memory, "target": words})
        state = {**state, "words": words, "position": state["position"] + 1}
        return found["log_probs"][rows, position], state, found["weights"][rows, :, :, position]


def hold_at_zero(*weights):
    """Set weights to 0 and leave them out of the training."""
    for weight in weights:
        weight.assign(np.zeros(weight.shape))
        weight.trainable = False
