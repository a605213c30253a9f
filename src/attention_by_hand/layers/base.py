"""The base rung: scores → masked softmax over the keys → weighted mean of the values.

Every mechanism of the first chapters differs only in how it scores a query against a key.
"""

import keras
from keras import ops

from attention_by_hand import masks


class AttentionPooling(keras.layers.Layer):
    """Weighted mean of values, `Y = softmax(E) V`; a subclass defines the scores `E`.

    A subclass implements `score(query, key)` → (B, Tq, Tv) and creates its weights in `build_score`.

    Args:
        dropout: share of weights set to 0 in training, in [0, 1); the rest is divided by 1 − dropout.
        seed: integer seed of the dropout.
        **kwargs: `name`, `dtype`, `trainable` as in every Keras layer.

    Raises:
        ValueError: `dropout` is outside [0, 1).
    """

    def __init__(self, dropout=0.0, seed=None, **kwargs):
        super().__init__(**kwargs)
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout must be in [0, 1); got {dropout}")
        self.dropout = dropout
        self.seed = seed
        self.supports_masking = True
        if dropout > 0:
            self.seed_generator = keras.random.SeedGenerator(seed)

    def build(self, query_shape, value_shape, key_shape=None):
        key_shape = value_shape if key_shape is None else key_shape
        check_shapes(query_shape, value_shape, key_shape)
        self.build_score(query_shape[-1], key_shape[-1])

    def build_score(self, query_width, key_width):
        """Create the weights of the score. The base class has none."""

    def score(self, query, key):
        """Scores E (B, Tq, Tv) of every query against every key, before mask and softmax."""
        raise NotImplementedError(f"{type(self).__name__} must implement score(query, key)")

    def step_score(self, key):
        """The score for one query at a time: what depends on the keys alone is computed here, once.

        Args:
            key: tensor (B, Tv, Dk).

        Returns:
            A function of queries (B, Dq), one a row, that gives scores (B, Tv): those of `score`.
        """
        return lambda query: self.score(ops.expand_dims(query, axis=1), key)[:, 0]

    def call(
        self,
        query,
        value,
        key=None,
        query_mask=None,
        value_mask=None,
        attention_mask=None,
        use_causal_mask=False,
        return_attention_scores=False,
        training=None,
    ):
        """Attend from every query to every value.

        Args:
            query: floating-point tensor (B, Tq, Dq).
            value: floating-point tensor (B, Tv, Dv).
            key: floating-point tensor (B, Tv, Dk); the values when None.
            query_mask: boolean (B, Tq); the output of a False query is 0.
            value_mask: boolean (B, Tv); a False pair of key and value gets weight exactly 0.
            attention_mask: boolean (B, Tq, Tv), or (Tq, Tv) for the whole batch.
            use_causal_mask: query i may attend to keys 0 … i only.
            return_attention_scores: also return the weights.
            training: whether dropout acts.

        Returns:
            Output (B, Tq, Dv); with `return_attention_scores` also the weights (B, Tq, Tv), before dropout.
            A query that may attend to nothing gets weights 0 and output 0.

        Raises:
            ValueError: an input is not rank 3 or not floating point, sizes do not match, or a mask has the
                wrong shape or values other than 0 and 1.
        """
        key = value if key is None else key
        check_floating(query=query, value=value, key=key)
        query_mask, value_mask, attention_mask = checked_masks(
            query.shape, value.shape, query_mask, value_mask, attention_mask
        )
        mask = masks.score_mask(query, value, value_mask, attention_mask, use_causal_mask)
        same = key is value
        query = masks.clear(query, query_mask)  # (B, Tq, Dq): padding may hold NaN, and 0 · NaN is NaN
        value = masks.clear(value, value_mask)  # (B, Tv, Dv)
        key = value if same else masks.clear(key, value_mask)  # (B, Tv, Dk)

        scores = self.score(query, key)  # (B, Tq, Tv)
        weights = masks.masked_softmax(scores, mask)  # (B, Tq, Tv), rows sum to 1
        dropped = weights
        if self.dropout > 0 and training:
            dropped = keras.random.dropout(weights, self.dropout, seed=self.seed_generator)
        output = masks.clear(ops.einsum("bts,bsd->btd", dropped, value), query_mask)  # (B, Tq, Dv)
        return (output, weights) if return_attention_scores else output

    def compute_output_shape(self, query_shape, value_shape, key_shape=None):
        return (*query_shape[:-1], value_shape[-1])

    def compute_output_spec(
        self,
        query,
        value,
        key=None,
        query_mask=None,
        value_mask=None,
        attention_mask=None,
        use_causal_mask=False,
        return_attention_scores=False,
        training=None,
    ):
        """Symbolic outputs, from shapes alone: (B, Tq, Dv) and, when asked for, weights (B, Tq, Tv)."""
        key = value if key is None else key
        check_shapes(query.shape, value.shape, key.shape)
        check_floating(query=query, value=value, key=key)
        checked_masks(query.shape, value.shape, query_mask, value_mask, attention_mask)
        output = keras.KerasTensor((*query.shape[:-1], value.shape[-1]), dtype=self.compute_dtype)
        weights = keras.KerasTensor((*query.shape[:-1], value.shape[1]), dtype=self.compute_dtype)
        return (output, weights) if return_attention_scores else output

    def get_config(self):
        return {**super().get_config(), "dropout": self.dropout, "seed": self.seed}


def check_shapes(query_shape, value_shape, key_shape):
    """Refuse shapes that do not fit together, as far as they are known."""
    for name, shape in (("query", query_shape), ("value", value_shape), ("key", key_shape)):
        if len(shape) != 3:
            raise ValueError(f"{name} must have shape (batch, length, width); got {tuple(shape)}")
        if shape[-1] is None:
            raise ValueError(f"{name} must have a known width, its last axis; got {tuple(shape)}")
        if None not in (shape[0], query_shape[0]) and shape[0] != query_shape[0]:
            raise ValueError(f"{name} must have the batch size of query, {query_shape[0]}; got {tuple(shape)}")
    if None not in (key_shape[1], value_shape[1]) and key_shape[1] != value_shape[1]:
        raise ValueError(f"key must have as many steps as value, {value_shape[1]}; got {tuple(key_shape)}")


def check_floating(**tensors):
    """Refuse integer inputs, which have no gradient and no softmax."""
    for name, tensor in tensors.items():
        dtype = keras.backend.standardize_dtype(tensor.dtype)
        if not keras.backend.is_float_dtype(dtype):
            raise ValueError(f"{name} must be floating point (embed token ids first); got dtype {dtype}")


def checked_masks(query_shape, value_shape, query_mask, value_mask, attention_mask, num_heads=None):
    """The three masks as booleans of the right shape; with heads, one attention mask a head is allowed."""
    batch, query_length = query_shape[:2]
    value_length = value_shape[1]
    full = {"(B, Tq, Tv)": (batch, query_length, value_length), "(Tq, Tv)": (query_length, value_length)}
    if num_heads is not None:
        full["(B, H, Tq, Tv)"] = (batch, num_heads, query_length, value_length)
    return (
        masks.as_boolean(query_mask, "query_mask", {"(B, Tq)": (batch, query_length)}),
        masks.as_boolean(value_mask, "value_mask", {"(B, Tv)": (batch, value_length)}),
        masks.as_boolean(attention_mask, "attention_mask", full),
    )


def check_size(name, size):
    """A size as it came, if it is a positive integer."""
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise ValueError(f"{name} must be a positive integer; got {size!r}")
    return size
