"""Small convolutional networks on `datasets.mark_pairs`, trained side by side in one `fit`."""

import keras
from keras import ops

from attention_by_hand.datasets.mark_pairs import SIZE
from attention_by_hand.layers import UniformAttention
from attention_by_hand.layers.base import check_size
from attention_by_hand.models.distance import starts

CHANNELS = (16, 32)  # after the first convolution, and C of the feature map, which has 8 × 8 cells


def pair_race(contestants, seed=0):
    """Networks that differ in what stands between two strided convolutions and the read-out.

    Each is: 3×3 convolution of stride 2, twice, to 8 × 8 × 32; the contestant; a 1×1 convolution; the sum over the N
    cells, divided by √N so that its size does not depend on N; one logit. Every convolution is followed by a batch
    norm and a ReLU. Nothing is shared but the pictures: Adam, which works weight by weight, and a loss that averages
    over the contestants train each as if it were alone.

    Args:
        contestants: `{name: layer or None}`, each maps (B, 8, 8, 32) to the same shape.
        seed: seed of the kernels.

    Returns:
        `(model, parts)`: the model maps pictures (B, 32, 32, 3), 0 … 255, to logits (B, contestants); `parts` is
        `{name: (feature map's model, whole model)}`, of that contestant alone, sharing the weights.

    Raises:
        ValueError: there are no contestants.
    """
    if not contestants:
        raise ValueError("contestants must hold at least one layer or None, {name: layer}; got none")
    image = keras.Input((SIZE, SIZE, 3), name="image")
    scaled = image / 127.5 - 1  # (B, 32, 32, 3) in [−1, 1]
    logits, parts = [], {}
    for number, (name, layer) in enumerate(contestants.items()):
        kernel, _ = starts(seed + 1000 * number)
        grid = scaled
        for step, channels in enumerate(CHANNELS):  # (B, 16, 16, 16), then (B, 8, 8, 32)
            for part in _convolution(3, kernel, f"{name}_strided_{step}", filters=channels, strides=2):
                grid = part(grid)
        cells = grid if layer is None else layer(grid)  # (B, 8, 8, 32)
        for part in _convolution(1, kernel, f"{name}_mix"):
            cells = part(cells)  # (B, 8, 8, 32)
        total = ops.sum(cells, axis=(1, 2)) / (cells.shape[1] * cells.shape[2]) ** 0.5  # (B, 32)
        logit = keras.layers.Dense(1, kernel_initializer=kernel, name=f"{name}_logit")(total)  # (B, 1)
        parts[name] = keras.Model(image, grid), keras.Model(image, logit)
        logits.append(logit)
    return keras.Model(image, ops.concatenate(logits, axis=-1)), parts


def wide_field(seed=0):
    """The control without attention: three 3×3 convolutions of 1, 2 and 4 cells' step, which reach all 8 × 8 cells.

    Args:
        seed: seed of the kernels.

    Returns:
        A layer (B, 8, 8, 32) → the same shape; its field is 15 × 15 cells.
    """
    kernel, _ = starts(seed)
    steps = [_convolution(3, kernel, f"step_{step}", dilation_rate=step) for step in (1, 2, 4)]
    return keras.Sequential([layer for step in steps for layer in step], name="wide_field")


class UniformGrid(keras.layers.Layer):
    """The control that cannot choose: `SpatialSelfAttention` with the plain mean of all cells in attention's place.

        output = X + γ · mean(X W_V) W_O

    Args:
        reduction: what the channels are divided by for the values.

    Raises:
        ValueError: `reduction` is not a positive integer.
    """

    def __init__(self, reduction=8, **kwargs):
        super().__init__(**kwargs)
        self.reduction = check_size("reduction", reduction)
        self.attention = UniformAttention()

    def build(self, grid_shape):
        channels = grid_shape[-1]
        inner = channels // self.reduction  # C'
        self.value_kernel = self.add_weight(shape=(channels, inner), name="value_kernel")
        self.output_kernel = self.add_weight(shape=(inner, channels), name="output_kernel")
        self.gamma = self.add_weight(shape=(), initializer="zeros", name="gamma")
        self.attention.build(*[(grid_shape[0], None, inner)] * 3)

    def call(self, grid):
        """Grid (B, H, W, C) plus γ times the same mean in every cell."""
        batch, height, width, channels = ops.shape(grid)
        value = ops.matmul(ops.reshape(grid, (batch, height * width, channels)), self.value_kernel)  # (B, H · W, C')
        y = ops.matmul(self.attention(value, value), self.output_kernel)  # (B, H · W, C)
        return grid + self.gamma * ops.reshape(y, (batch, height, width, channels))  # (B, H, W, C)

    def compute_output_shape(self, grid_shape):
        return tuple(grid_shape)


def _convolution(size, kernel, name, filters=CHANNELS[-1], **options):
    """Three layers: a convolution, a batch norm, a ReLU."""
    options |= {"padding": "same", "use_bias": False, "kernel_initializer": kernel}
    norm = keras.layers.BatchNormalization(momentum=0.9, name=f"{name}_norm")
    return keras.layers.Conv2D(filters, size, name=name, **options), norm, keras.layers.ReLU(name=f"{name}_relu")
