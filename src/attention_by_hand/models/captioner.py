"""A captioner: it looks at the cells of a picture while it writes, word by word (Xu et al. 2015, on a small scale)."""

import keras
from keras import ops

from attention_by_hand.layers import AttentionDecoder
from attention_by_hand.layers.spatial import Coordinates


class Captioner:
    """The decoder of chapter 03 over a grid of features; what computes the features is frozen and stays outside.

        h = tanh(W_2 ReLU(W_1 [grid; 2x; 2y])),  s_0 = tanh(W_4 ReLU(W_3 norm(mean of h))),
        s_t = G(y_{t−1}, s_{t−1}, c_t),  c_t = Σ_{i,j} a_{t,i,j} h_{i,j},  p(y_t) = softmax(W_o ReLU(W_r [s_t; c_t]))

    Args:
        words: size of the vocabulary; id 0 is padding.
        grid: (height, width, features) of what the extractor gives.
        units: width U of the state, the cells and all hidden layers.
        width: width of the embeddings.
        coordinates: whether every cell is told its place x, y in the picture.
        attention: for `AttentionDecoder`; the paper's score when None.

    Attributes:
        model: takes `{"grid": (B, H, W, D), "caption": (B, T)}`, the caption shifted by one (it begins with the start
            token), and gives logits (B, T, words). This is what `fit` trains.
        attention_model: the same inputs, the weights (B, T, H, W).

    Raises:
        ValueError: `grid` is not three positive integers, or a size is not a positive integer.

    Source: Xu et al. 2015, "Show, Attend and Tell", sections 3.1 and 3.1.2.
    """

    def __init__(self, words, grid=(8, 8, 64), units=64, width=32, coordinates=True, attention=None):
        if len(grid) != 3 or any(not isinstance(size, int) or size < 1 for size in grid):
            raise ValueError(f"grid must be (height, width, features), all positive integers; got {grid!r}")
        for name, size in (("words", words), ("units", units), ("width", width)):
            if not isinstance(size, int) or isinstance(size, bool) or size < 1:
                raise ValueError(f"{name} must be a positive integer; got {size!r}")
        # Two channels beside many large features: with ±1 some seeds did not learn the words that need the place.
        self.place = Coordinates(reach=2.0, name="coordinates") if coordinates else None
        self.mix = keras.layers.Dense(units, activation="relu", name="mix")  # on cells one by one: a 1 × 1 convolution
        self.cells = keras.layers.Dense(units, activation="tanh", name="cells")
        # The mean of 64 cells differs little from picture to picture: the norm enlarges what differs.
        self.norm = keras.layers.BatchNormalization(momentum=0.9, name="norm")
        self.gist = keras.layers.Dense(units, activation="relu", name="gist")
        self.first_state = keras.layers.Dense(units, activation="tanh", name="first_state")
        start = keras.initializers.RandomNormal(stddev=1.0)  # with Keras's small start, steps ask much alike for long
        self.embed = keras.layers.Embedding(words, width, start, name="embed")
        self.decoder = AttentionDecoder(units, attention, name="decoder")
        self.read_out = keras.layers.Dense(units, activation="relu", name="read_out")
        self.words = keras.layers.Dense(words, name="words")
        self._build_models(tuple(grid))

    def _build_models(self, grid):
        """Four functional models over the same layers: training, attention, looking, one step."""
        inputs = {
            "grid": keras.Input(grid, name="grid"),
            "caption": keras.Input((None,), dtype="int32", name="caption"),
        }
        memory, state = self._look(inputs["grid"])
        logits, weights, _ = self._write(inputs["caption"], memory, state)
        self.model = keras.Model(inputs, logits, name="captioner")
        self.attention_model = keras.Model(inputs, weights, name="attention")
        self.looking = keras.Model({"grid": inputs["grid"]}, {"memory": memory, "state": state})
        inputs = {name: keras.Input(x.shape[1:], name=name) for name, x in (("memory", memory), ("state", state))}
        inputs["token"] = keras.Input((1,), dtype="int32", name="token")
        logits, weights, state = self._write(inputs["token"], inputs["memory"], inputs["state"])
        step = {"log_probs": ops.log_softmax(logits[:, 0]), "state": state, "weights": weights[:, 0]}
        self.stepping = keras.Model(inputs, step)

    def _look(self, grid):
        """The cells (B, H, W, U) and the decoder's first state (B, U)."""
        x = grid if self.place is None else self.place(grid)  # (B, H, W, D + 2)
        memory = self.cells(self.mix(x))  # (B, H, W, U)
        return memory, self.first_state(self.gist(self.norm(ops.mean(memory, axis=(1, 2)))))

    def _write(self, caption, memory, state):
        """Logits (B, T, words), weights (B, T, H, W) and the last state (B, U)."""
        asked = {"return_attention_scores": True, "return_contexts": True, "return_state": True}
        states, weights, contexts, state = self.decoder(self.embed(caption), memory, initial_state=state, **asked)
        seen = ops.concatenate([states, contexts], axis=-1)  # (B, T, 2U)
        return self.words(self.read_out(seen)), weights, state

    def begin(self, inputs):
        """Look at pictures `{"grid": (N, H, W, D)}`: the start of a search, see `decoding`."""
        return self.looking.predict_on_batch({"grid": inputs["grid"]})

    def step(self, tokens, state):
        """Log-probabilities (N, words) after one more token, the new state, and the weights (N, H, W)."""
        found = self.stepping.predict_on_batch({**state, "token": tokens[:, None].astype("int32")})
        return found["log_probs"], {**state, "state": found["state"]}, found["weights"]
