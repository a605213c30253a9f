"""The transformer's encoder: attention between the vectors, an MLP within each, skips and norms around both."""

import keras

from attention_by_hand import masks
from attention_by_hand.layers.base import check_floating, check_size, checked_masks
from attention_by_hand.layers.multi_head import MultiHeadAttention

SUBLAYERS = ("attention", "cross_attention", "mlp")


@keras.saving.register_keras_serializable("attention_by_hand")
class TransformerEncoderBlock(keras.layers.Layer):
    """Self-attention, then an MLP on every vector; each is a sublayer f with a skip and a layer norm.

        pre-norm  (norm_first=True):   x ← x + dropout(f(norm(x)))
        post-norm (norm_first=False):  x ← norm(x + dropout(f(x)))
        MLP(x) = activation(x W_1 + b_1) W_2 + b_2

    With `use_causal_mask=True` in the call it is a block of a decoder-only model.

    Args:
        num_heads: number of heads H.
        mlp_dim: width of the MLP's hidden layer.
        key_dim: width of queries, keys and values *per head*; width of x / H when None.
        dropout: share of attention weights, and of each sublayer's output, dropped in training, in [0, 1).
        norm_first: pre-norm if True, post-norm (the paper's) if False.
        activation: of the hidden layer.
        use_skip: False leaves `x +` out, for experiments.
        use_mlp: False leaves the second sublayer out, for experiments.
        epsilon: added to the variance in the layer norms.
        seed: integer seed of the dropouts.
        **kwargs: `name`, `dtype`, `trainable` as in every Keras layer.

    Raises:
        ValueError: a size is not a positive integer, `dropout` is outside [0, 1), or `key_dim` is None and the heads
            do not divide the width.

    Source: Vaswani et al. 2017, "Attention Is All You Need", §3.1 and §3.3; pre-norm: Xiong et al. 2020, "On Layer
    Normalization in the Transformer Architecture", §3.
    """

    def __init__(
        self,
        num_heads,
        mlp_dim,
        key_dim=None,
        dropout=0.0,
        norm_first=True,
        activation="relu",
        use_skip=True,
        use_mlp=True,
        epsilon=1e-6,
        seed=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout must be in [0, 1); got {dropout}")
        self.num_heads = check_size("num_heads", num_heads)
        self.mlp_dim = check_size("mlp_dim", mlp_dim)
        self.key_dim = None if key_dim is None else check_size("key_dim", key_dim)
        self.dropout = dropout
        self.norm_first = norm_first
        self.activation = keras.activations.get(activation)
        self.use_skip = use_skip
        self.use_mlp = use_mlp
        self.epsilon = epsilon
        self.seed = seed
        self.supports_masking = True

    def build(self, x_shape):
        self.width = check_x(x_shape)
        self.attention = self.add_attention("attention", MultiHeadAttention, x_shape, x_shape)
        self.add_mlp(x_shape)

    def add_attention(self, name, kind, x_shape, memory_shape):
        """A layer of attention from x to a memory, and the norm and the dropout of its sublayer."""
        if self.key_dim is None and self.width % self.num_heads:
            raise ValueError(
                f"num_heads must divide the width of x, {self.width}, where key_dim is None; got {self.num_heads}"
            )
        self.add_norm(name, x_shape)
        options = {"dropout": self.dropout, "seed": self.seed_of(name, 0), "dtype": self.dtype_policy, "name": name}
        attention = kind(self.num_heads, self.key_dim or self.width // self.num_heads, **options)
        attention.build(x_shape, memory_shape)
        return attention

    def add_norm(self, name, x_shape):
        """Norm and dropout of one sublayer."""
        norm = keras.layers.LayerNormalization(epsilon=self.epsilon, dtype=self.dtype_policy, name=f"{name}_norm")
        norm.build(x_shape)
        options = {"seed": self.seed_of(name, 1), "dtype": self.dtype_policy, "name": f"{name}_dropout"}
        drop = keras.layers.Dropout(self.dropout, **options)
        setattr(self, f"{name}_norm", norm)
        setattr(self, f"{name}_dropout", drop)

    def seed_of(self, name, number):
        """Every dropout has a seed of its own: with one for all, all would drop the same places."""
        return None if self.seed is None else self.seed + 2 * SUBLAYERS.index(name) + number

    def add_mlp(self, x_shape):
        """The MLP's two layers, if there is one."""
        if self.use_mlp:
            self.add_norm("mlp", x_shape)
            options = {"dtype": self.dtype_policy}
            self.mlp_hidden = keras.layers.Dense(self.mlp_dim, self.activation, name="mlp_hidden", **options)
            self.mlp_output = keras.layers.Dense(self.width, name="mlp_output", **options)
            self.mlp_hidden.build(x_shape)
            self.mlp_output.build((*x_shape[:-1], self.mlp_dim))

    def call(
        self,
        x,
        padding_mask=None,
        attention_mask=None,
        use_causal_mask=False,
        return_attention_scores=False,
        training=None,
    ):
        """Transform every vector by what it sees in the others.

        Args:
            x: floating-point tensor (B, T, D).
            padding_mask: boolean (B, T), False for padding: weight exactly 0 as a key, output 0. The mask that Keras
                hung on `x` when None. The output carries it to the next layer.
            attention_mask: boolean (B, T, T), (T, T), or (B, H, T, T) for one mask a head.
            use_causal_mask: step i may attend to steps 0 … i only.
            return_attention_scores: also return the weights.
            training: whether dropout acts.

        Returns:
            Output (B, T, D); with `return_attention_scores` also the weights (B, H, T, T), before dropout.

        Raises:
            ValueError: `x` is not floating point, has not rank 3 or another width than at first, or a mask has the
                wrong shape or values other than 0 and 1.
        """
        padding_mask, attention_mask = self.check(x, padding_mask, attention_mask)
        x = masks.clear(x, padding_mask)  # (B, T, D): padding may hold NaN

        def attend(h):  # without weights a fused kernel may do it
            options = {"attention_mask": attention_mask, "use_causal_mask": use_causal_mask, "training": training}
            found = self.attention(
                h, h, value_mask=padding_mask, return_attention_scores=return_attention_scores, **options
            )
            return found if return_attention_scores else (found, None)

        x, weights = self.sublayer("attention", attend, x, training)  # (B, T, D), (B, H, T, T)
        x = self.mlp(x, training)  # (B, T, D)
        x = masks.attach(masks.clear(x, padding_mask), padding_mask)
        return (x, weights) if return_attention_scores else x

    def sublayer(self, name, function, x, training):
        """`function(h) → (y, weights)` with norm, dropout and skip around it: the new x and the weights."""
        norm, drop = getattr(self, f"{name}_norm"), getattr(self, f"{name}_dropout")
        y, weights = function(norm(x) if self.norm_first else x)  # (B, T, D)
        y = drop(y, training=training)
        y = x + y if self.use_skip else y
        return (y if self.norm_first else norm(y)), weights

    def mlp(self, x, training):
        """The second sublayer: every vector by itself, (B, T, D) → (B, T, mlp_dim) → (B, T, D)."""
        if not self.use_mlp:
            return x
        return self.sublayer("mlp", lambda h: (self.mlp_output(self.mlp_hidden(h)), None), x, training)[0]

    def check(self, x, padding_mask, attention_mask):
        """The two masks as booleans; what does not fit is refused."""
        check_x(x.shape, self.width)
        check_floating(x=x)
        padding_mask = masks.implicit(x) if padding_mask is None else padding_mask
        padding_mask = masks.as_boolean(padding_mask, "padding_mask", {"(B, T)": tuple(x.shape[:2])})
        return padding_mask, checked_masks(x.shape, x.shape, None, None, attention_mask, self.num_heads)[2]

    def compute_output_shape(self, x_shape, memory_shape=None):
        return tuple(x_shape)

    def compute_output_spec(
        self,
        x,
        padding_mask=None,
        attention_mask=None,
        use_causal_mask=False,
        return_attention_scores=False,
        training=None,
    ):
        """Symbolic outputs, from shapes alone."""
        padding_mask, _ = self.check(x, padding_mask, attention_mask)
        output = masks.attach(keras.KerasTensor(x.shape, dtype=self.compute_dtype), padding_mask)
        weights = keras.KerasTensor((x.shape[0], self.num_heads, x.shape[1], x.shape[1]), dtype=self.compute_dtype)
        return (output, weights) if return_attention_scores else output

    def get_config(self):
        names = ("num_heads", "mlp_dim", "key_dim", "dropout", "norm_first", "use_skip", "use_mlp", "epsilon", "seed")
        config = {name: getattr(self, name) for name in names}
        return {**super().get_config(), **config, "activation": keras.activations.serialize(self.activation)}


@keras.saving.register_keras_serializable("attention_by_hand")
class TransformerEncoder(keras.layers.Layer):
    """`num_layers` encoder blocks, one after the other; after pre-norm blocks a last norm.

    Args:
        num_layers: number of blocks.
        num_heads, mlp_dim, **options: of every block, see `TransformerEncoderBlock`. Block n has seed `seed` + 10 n.

    Call: as a block's, with the same arguments; `return_attention_scores` gives (output, list of weights by block).

    Raises:
        ValueError: as a block, or `num_layers` is not a positive integer.

    Source: Vaswani et al. 2017, "Attention Is All You Need", §3.1; the last norm: Xiong et al. 2020, table 1.
    """

    block = TransformerEncoderBlock

    def __init__(self, num_layers, num_heads, mlp_dim, name=None, dtype=None, trainable=True, **options):
        super().__init__(name=name, dtype=dtype, trainable=trainable)
        self.supports_masking = True
        seed = options.pop("seed", None)
        seeds = [None if seed is None else seed + 10 * n for n in range(check_size("num_layers", num_layers))]
        named = [{"seed": s, "dtype": self.dtype_policy, "name": f"block_{n}"} for n, s in enumerate(seeds)]
        self.blocks = [self.block(num_heads, mlp_dim, **options, **more) for more in named]
        epsilon = self.blocks[0].epsilon
        norm = keras.layers.LayerNormalization(epsilon=epsilon, dtype=self.dtype_policy, name="last_norm")
        self.last_norm = norm if self.blocks[0].norm_first else None

    def build(self, x_shape):
        for block in self.blocks:
            block.build(x_shape)
        self.build_norm(x_shape)

    def build_norm(self, x_shape):
        if self.last_norm is not None:
            self.last_norm.build(x_shape)

    def call(
        self,
        x,
        padding_mask=None,
        attention_mask=None,
        use_causal_mask=False,
        return_attention_scores=False,
        training=None,
    ):
        padding_mask, attention_mask = self.blocks[0].check(x, padding_mask, attention_mask)
        options = {"attention_mask": attention_mask, "use_causal_mask": use_causal_mask, "training": training}
        every = []
        for block in self.blocks:
            found = block(x, padding_mask=padding_mask, return_attention_scores=return_attention_scores, **options)
            x, weights = found if return_attention_scores else (found, None)  # (B, T, D), (B, H, T, T)
            every.append(weights)
        x = self.finish(x, padding_mask)
        return (x, every) if return_attention_scores else x

    def finish(self, x, padding_mask):
        """The last norm, where there is one; padding is 0 again after it."""
        if self.last_norm is not None:
            x = masks.clear(self.last_norm(x), padding_mask)  # (B, T, D)
        return masks.attach(x, padding_mask)

    def compute_output_shape(self, x_shape, memory_shape=None):
        return tuple(x_shape)

    def compute_output_spec(self, x, *masks_given, return_attention_scores=False, **options):
        """Symbolic outputs, from shapes alone."""
        spec = self.blocks[0].compute_output_spec
        output, w = spec(x, *masks_given, return_attention_scores=True, **options)
        weights = [
            keras.KerasTensor(w.shape, dtype=w.dtype) for _ in self.blocks
        ]  # a functional model tells them apart
        return (output, weights) if return_attention_scores else output

    def get_config(self):
        options = self.blocks[0].get_config()
        options = {name: value for name, value in options.items() if name not in ("name", "dtype", "trainable")}
        return {**super().get_config(), "num_layers": len(self.blocks), **options}


def check_x(shape, width=None):
    """Width of x (B, T, D); any other shape, or a width that is not the one at first, is refused."""
    if len(shape) != 3 or shape[-1] is None:
        raise ValueError(f"x must have shape (batch, length, width) with a known width; got {tuple(shape)}")
    if width not in (None, shape[-1]):
        raise ValueError(f"x must have the width that the layer was built for, {width}; got {tuple(shape)}")
    return shape[-1]
