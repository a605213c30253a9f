"""Self-attention between the cells of a feature map, added to it with a learned weight (Zhang et al. 2019)."""

import keras
from keras import ops

from attention_by_hand.layers.base import check_floating, check_size
from attention_by_hand.layers.dot_product import DotProductAttention


@keras.saving.register_keras_serializable("attention_by_hand")
class SpatialSelfAttention(keras.layers.Layer):
    """Every cell of a grid asks every other one; a convolution sees its neighbours alone.

        Q = X W_Q,  K = X W_K,  V = X W_V                  over the H · W cells of the grid X
        output = X + γ · softmax(Q Kᵀ) V W_O               γ starts at 0: at first the layer changes nothing

    A 1×1 convolution is one matrix product at every cell, so the four kernels are matrices. There is no 1/√D.

    Args:
        reduction: what the channels C are divided by for queries, keys and values, C' = C / reduction.
        use_bias: whether the four 1×1 convolutions add a bias.
        **kwargs: `name`, `dtype`, `trainable` as in every Keras layer.

    Raises:
        ValueError: `reduction` is not a positive integer or does not divide the channels; the grid has not four axes.

    Source: Zhang et al. 2019, "Self-Attention Generative Adversarial Networks", eqs 1–3.
    """

    def __init__(self, reduction=8, use_bias=False, **kwargs):
        super().__init__(**kwargs)
        self.reduction = check_size("reduction", reduction)
        self.use_bias = use_bias
        self.attention = DotProductAttention(dtype=self.dtype_policy, name="attention")

    def build(self, grid_shape):
        channels = check_grid(grid_shape)
        if channels % self.reduction:
            raise ValueError(f"reduction must divide the channels of grid, {channels}; got {self.reduction}")
        inner = channels // self.reduction  # C'
        sizes = {name: (channels, inner) for name in ("query", "key", "value")} | {"output": (inner, channels)}
        for name, shape in sizes.items():
            setattr(self, f"{name}_kernel", self.add_weight(shape=shape, name=f"{name}_kernel"))
            bias = self.add_weight(shape=shape[1:], initializer="zeros", name=f"{name}_bias") if self.use_bias else None
            setattr(self, f"{name}_bias", bias)
        self.gamma = self.add_weight(shape=(), initializer="zeros", name="gamma")
        self.attention.build(*[(grid_shape[0], None, inner)] * 3)

    def call(self, grid, return_attention_scores=False):
        """Attend within a grid.

        Args:
            grid: floating-point tensor (B, H, W, C); H and W may differ from call to call.
            return_attention_scores: also return the weights.

        Returns:
            Output (B, H, W, C); with `return_attention_scores` also the weights (B, H, W, H, W): at [b, i, j] the
            map of where the cell in row i, column j looks, which sums to 1.

        Raises:
            ValueError: `grid` is not floating point or has not four axes.
        """
        check_grid(grid.shape)
        check_floating(grid=grid)
        batch, height, width, channels = ops.shape(grid)
        x = ops.reshape(grid, (batch, height * width, channels))  # (B, H · W, C)
        query = project(x, self.query_kernel, self.query_bias)  # (B, H · W, C')
        key = project(x, self.key_kernel, self.key_bias)  # (B, H · W, C')
        value = project(x, self.value_kernel, self.value_bias)  # (B, H · W, C')
        y, weights = self.attention(query, value, key, return_attention_scores=True)  # … and (B, H · W, H · W)
        y = project(y, self.output_kernel, self.output_bias)  # (B, H · W, C)
        output = grid + self.gamma * ops.reshape(y, (batch, height, width, channels))  # (B, H, W, C)
        if not return_attention_scores:
            return output
        return output, ops.reshape(weights, (batch, height, width, height, width))

    def compute_output_shape(self, grid_shape):
        return tuple(grid_shape)

    def compute_output_spec(self, grid, return_attention_scores=False):
        """Symbolic outputs, from shapes alone."""
        check_grid(grid.shape)
        check_floating(grid=grid)
        output = keras.KerasTensor(grid.shape, dtype=self.compute_dtype)
        weights = keras.KerasTensor((*grid.shape[:3], *grid.shape[1:3]), dtype=self.compute_dtype)
        return (output, weights) if return_attention_scores else output

    def get_config(self):
        return {**super().get_config(), "reduction": self.reduction, "use_bias": self.use_bias}


def project(x, kernel, bias):
    """A 1×1 convolution of cells in a row: (B, H · W, C) with (C, C') → (B, H · W, C')."""
    projected = ops.matmul(x, kernel)
    return projected if bias is None else projected + bias


def check_grid(shape):
    """Channels of a grid (B, H, W, C); any other shape is refused."""
    if len(shape) != 4 or shape[-1] is None:
        raise ValueError(
            f"grid must have shape (batch, height, width, channels) with known channels; got {tuple(shape)}"
        )
    return shape[-1]
