"""Encoder–decoder translators: with attention, with a fixed context at every step, with the last state alone."""

import keras
import numpy as np
from keras import ops

from attention_by_hand.layers import GRU, AttentionDecoder

MEMORIES = ("state", "context", "attention")


class Translator:
    """An encoder that reads a sentence, and a decoder that writes another one, word by word.

        h = GRU(embed(x)),  s_0 = tanh(W h_last),  s_t = G(y_{t−1}, s_{t−1}[, c_t]),
        p(y_t) = softmax(W_o tanh(W_r r_t))

    What the decoder sees of the source, and the read-out with it (r_t = [s_t; y_{t−1}], with c_t where there is one):

        "state":     s_0 alone (Sutskever et al. 2014)
        "context":   also c = h_last at every step (Cho et al. 2014)
        "attention": also c_t = Σ_i a_{t,i} h_i at every step (Bahdanau et al. 2015)

    Args:
        source_words, target_words: sizes of the two vocabularies; id 0 is padding.
        memory: one of the three.
        units: width U of the states.
        width: width of the embeddings.
        bidirectional: whether the encoder reads both ways.
        attention: for `AttentionDecoder`; the paper's score when None.

    Attributes:
        model: takes `{"source": (B, S), "source_mask": (B, S), "target": (B, T)}`, the target shifted by one (it
            begins with the start token), and gives logits (B, T, target_words). This is what `fit` trains.
        attention_model: the same inputs, the weights (B, T, S); None without attention.

    Raises:
        ValueError: an unknown `memory`, or `attention` without `memory="attention"`.
    """

    def __init__(
        self,
        source_words,
        target_words,
        memory="attention",
        units=64,
        width=64,
        bidirectional=False,
        attention=None,
    ):
        if memory not in MEMORIES:
            raise ValueError(f"memory must be one of {', '.join(MEMORIES)}; got {memory!r}")
        if attention is not None and memory != "attention":
            raise ValueError(f'attention belongs to memory="attention"; got memory={memory!r}')
        self.memory = memory
        self.embed_source = keras.layers.Embedding(source_words, width, name="source_words")
        self.embed_target = keras.layers.Embedding(target_words, width, name="target_words")
        self.encoder = GRU(units, bidirectional=bidirectional, name="encoder")
        self.first_state = keras.layers.Dense(units, activation="tanh", name="first_state")
        decoder = AttentionDecoder(units, attention, name="decoder") if memory == "attention" else GRU(units)
        self.decoder = decoder
        self.read_out = keras.layers.Dense(units, activation="tanh", name="read_out")
        self.words = keras.layers.Dense(target_words, name="words")
        self._build_models()

    def _build_models(self):
        """Three functional models over the same layers: training, encoding, one step."""
        ids = lambda name, length=None: keras.Input((length,), dtype="int32", name=name)  # noqa: E731
        source, target = ids("source"), ids("target")
        mask = keras.Input((None,), dtype="bool", name="source_mask")
        memory, last, state = self._encode(source, mask)
        logits, weights, _ = self._decode(target, memory, last, mask, state)
        inputs = {"source": source, "source_mask": mask, "target": target}
        self.model = keras.Model(inputs, logits, name="translator")
        self.attention_model = None if weights is None else keras.Model(inputs, weights, name="attention")
        encoded = {"memory": memory, "last": last, "state": state}
        self.encoding = keras.Model({"source": source, "source_mask": mask}, encoded)
        inputs = {name: keras.Input(x.shape[1:], name=name) for name, x in encoded.items()}
        token = ids("token", 1)
        logits, weights, state = self._decode(token, inputs["memory"], inputs["last"], mask, inputs["state"])
        step = {"log_probs": ops.log_softmax(logits[:, 0]), "state": state}
        step |= {} if weights is None else {"weights": weights[:, 0]}
        self.stepping = keras.Model({**inputs, "token": token, "source_mask": mask}, step)

    def _encode(self, source, mask):
        """Memory (B, S, U or 2U), last state and the decoder's first state."""
        memory, last = self.encoder(self.embed_source(source), mask=mask)
        return memory, last, self.first_state(last)

    def _decode(self, target, memory, last, mask, state):
        """Logits (B, T, V), weights (B, T, S) or None, and the last state (B, U)."""
        y = self.embed_target(target)  # (B, T, width)
        if self.memory == "attention":
            asked = {"return_attention_scores": True, "return_contexts": True, "return_state": True}
            states, weights, contexts, state = self.decoder(y, memory, memory_mask=mask, initial_state=state, **asked)
            seen = [states, y, contexts]
        elif self.memory == "context":
            context = ops.expand_dims(last, axis=1) + ops.zeros_like(y[..., :1])  # (B, T, U): the same at every step
            states, state = self.decoder(ops.concatenate([y, context], axis=-1), initial_state=state)
            seen, weights = [states, y, context], None
        else:
            states, state = self.decoder(y, initial_state=state)
            seen, weights = [states, y], None
        return self.words(self.read_out(ops.concatenate(seen, axis=-1))), weights, state

    def begin(self, inputs):
        """Encode sources `{"source": (N, S), "source_mask": (N, S)}`: the start of a search, see `decoding`."""
        state = self.encoding.predict_on_batch(inputs)
        return {**state, "source_mask": np.asarray(inputs["source_mask"])}

    def step(self, tokens, state):
        """Log-probabilities (N, V) after one more token, the new state, and the weights (N, S), or None."""
        found = self.stepping.predict_on_batch({**state, "token": np.asarray(tokens, "int32")[:, None]})
        return found["log_probs"], {**state, "state": found["state"]}, found.get("weights")
