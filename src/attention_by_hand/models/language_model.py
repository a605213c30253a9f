"""A decoder-only transformer that gives the probability of the next symbol; it reads all at once, or step by step."""

import keras
import numpy as np
from keras import ops, tree

from attention_by_hand.backend import to_numpy
from attention_by_hand.layers import TransformerDecoder, sinusoids
from attention_by_hand.layers.base import check_size


class LanguageModel:
    """Symbol plus learned place, causal blocks without a memory, a read-out.

        x_t = E[w_t] + P[t],  y = blocks(x),  p(w_{t+1} | w_0 … w_t) = softmax(y_t W_o + b_o)

    Args:
        symbols: V, how many symbols there are.
        length: L, the longest text in symbols.
        width: D of the vectors.
        num_layers, num_heads: of the stack, see `TransformerDecoder`. The MLPs are 4 D wide.
        seed: of the initial weights, which are drawn by NumPy: the same on every backend.
        **options: for every block.

    Attributes:
        model: takes `{"tokens": (B, L), "window": (B, 1)}`, both integers, and gives logits (B, L, V): what `fit`
            trains. Step t attends to the last `window` steps, itself included; with `window` = L to all before it.
        attention_model: the same inputs; the weights of the blocks, a list of (B, H, L, L).
        cached: whether `step` keeps keys and values (True), or reads the whole text again (False).

    Raises:
        ValueError: a size is not a positive integer, or as `TransformerDecoder`.

    Source: decoder-only: Liu et al. 2018, "Generating Wikipedia by Summarizing Long Sequences", §4.2.3. The blocks
    are pre-norm, see `TransformerEncoderBlock`.
    """

    def __init__(self, symbols, length, width=64, num_layers=2, num_heads=4, seed=0, **options):
        self.symbols, self.length = check_size("symbols", symbols), check_size("length", length)
        self.cached = True
        self.words = keras.layers.Embedding(symbols, width, "zeros", name="words")
        self.places = keras.layers.Embedding(length, width, "zeros", name="places")
        self.blocks = TransformerDecoder(num_layers, num_heads, 4 * check_size("width", width), **options)
        self.blocks.build((None, length, width))
        self.read_out = keras.layers.Dense(symbols, name="read_out")
        self._build_models()
        self.restart(seed)

    def _build_models(self):
        """Functional models over the same layers; that of one step comes first, as `TransformerDecoder` asks."""
        token, position = (keras.Input((1,), dtype="int32", name=name) for name in ("token", "position"))
        empty = self.blocks.start_cache(self.length, batch_size=1)
        cache = tree.map_structure(lambda t: keras.Input(tuple(t.shape[1:]), dtype="float32"), empty)
        y, new = self.blocks(self._embed(token, position), cache=cache, position=position[:, 0])  # (B, 1, D)
        found = {"log_probs": ops.log_softmax(self.read_out(y)[:, 0]), "cache": new}  # (B, V)
        self.stepping = keras.Model({"token": token, "position": position, "cache": cache}, found, name="step")

        tokens = keras.Input((self.length,), dtype="int32", name="tokens")
        window = keras.Input((1,), dtype="int32", name="window")
        at = ops.cumsum(ops.ones_like(tokens), axis=1) - 1  # (B, L): 0, 1, 2, …
        back = ops.expand_dims(at, 2) - ops.expand_dims(at, 1)  # (B, L, L): how far behind the query a key is
        near = ops.less(back, ops.expand_dims(window, 2))  # (B, L, L)
        x = self._embed(tokens, at)  # (B, L, D)
        inputs = {"tokens": tokens, "window": window}
        weights = self.blocks(x, attention_mask=near, return_attention_scores=True)[1]
        self.attention_model = keras.Model(inputs, weights, name="attention")
        logits = self.read_out(self.blocks(x, attention_mask=near))  # (B, L, V)
        self.model = keras.Model(inputs, logits, name="language_model")

    def _embed(self, tokens, position):
        """Symbol plus place, (B, T) twice → (B, T, D)."""
        return self.words(tokens) + self.places(position)

    def restart(self, seed=0):
        """Start anew: kernels from N(0, 1 / inputs), symbols from N(0, 0.3²), places from chapter 10's sinusoids.

        Biases become 0, gains 1, and the optimizer, where there is one, forgets what it has seen. What is compiled
        stays compiled: a second training from the same start costs no compiling.
        """
        rng, width = np.random.default_rng(seed), self.words.output_dim
        for weight in self.model.weights:
            shape = tuple(weight.shape)
            if len(shape) == 1 or weight.path.endswith("bias"):
                value = np.full(shape, float("gamma" in weight.path))
            elif "embeddings" in weight.path:
                value = sinusoids(*shape) if "places" in weight.path else rng.normal(0, 0.3, shape)
            else:
                inputs = np.prod(shape) / width if shape[-1] == width else shape[0]
                value = rng.normal(0, inputs**-0.5, shape)
            weight.assign(value)
        optimizer = getattr(self.model, "optimizer", None)
        for variable in optimizer.variables if optimizer is not None else ():
            if "learning_rate" not in variable.path:
                variable.assign(ops.zeros(variable.shape, variable.dtype))

    def begin(self, inputs):
        """Read the beginnings of texts: the start of a search, see `decoding`.

        Args:
            inputs: integers (N, P), what stands before the start token; P may be 0.

        Raises:
            ValueError: another rank, or no room for a symbol after it.
        """
        inputs = np.asarray(inputs, "int32")
        if inputs.ndim != 2 or inputs.shape[1] >= self.length:
            raise ValueError(f"inputs must be (N, P) with P below {self.length}; got shape {inputs.shape}")
        state = {"position": np.zeros(len(inputs), "int32")}
        if self.cached:
            state["cache"] = tree.map_structure(to_numpy, self.blocks.start_cache(self.length, batch_size=len(inputs)))
        else:
            state["tokens"] = np.zeros((len(inputs), self.length), "int32")
        for column in inputs.T:
            state = self.step(column, state)[1]
        return state

    def step(self, tokens, state):
        """Log-probabilities (N, V) of what follows one more symbol (N,), the new state, and None for the weights.

        Raises:
            ValueError: the text would be longer than the model's length.
        """
        position = np.asarray(state["position"], "int32")
        if position.max() >= self.length:
            raise ValueError(f"tokens must be at most {self.length} a row, the model's length; got one more")
        if self.cached:
            inputs = {"token": np.asarray(tokens, "int32")[:, None], "position": position[:, None]}
            found = self.stepping.predict_on_batch({**inputs, "cache": state["cache"]})
            return found["log_probs"], {"position": position + 1, "cache": found["cache"]}, None
        rows, text = np.arange(len(position)), np.array(state["tokens"])
        text[rows, position] = tokens
        window = np.full((len(text), 1), self.length, "int32")
        logits = np.asarray(self.model.predict_on_batch({"tokens": text, "window": window}))[rows, position]  # (N, V)
        log_probs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        return log_probs, {"position": position + 1, "tokens": text}, None
