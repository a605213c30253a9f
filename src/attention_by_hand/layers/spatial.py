"""Where in a picture: two channels that tell every cell of a grid its place (Liu et al. 2018)."""

import keras
import numpy as np
from keras import ops


def coordinates(height, width):
    """Places of the cells of a grid, from −1 (left, top) to 1 (right, bottom), in float32.

        x[i, j] = 2 j / (width − 1) − 1,  y[i, j] = 2 i / (height − 1) − 1;  0 where there is one row or column

    Args:
        height, width: numbers of rows and columns.

    Returns:
        Array (height, width, 2): x, then y.

    Raises:
        ValueError: a number is smaller than 1.
    """
    for name, size in (("height", height), ("width", width)):
        if size < 1:
            raise ValueError(f"{name} must be at least 1; got {size}")
    y, x = (np.linspace(-1.0, 1.0, size) if size > 1 else np.zeros(1) for size in (height, width))
    return np.stack(np.meshgrid(x, y), axis=-1).astype("float32")


@keras.saving.register_keras_serializable("attention_by_hand")
class Coordinates(keras.layers.Layer):
    """Appends to every cell of a grid where it is: a sum over cells says *what* is there, not *where*.

        output[b, i, j] = [grid[b, i, j]; reach · x[i, j]; reach · y[i, j]]

    Call: `layer(grid)` with grid (B, H, W, D) → (B, H, W, D + 2), x and y in [−1, 1]; see `coordinates`.

    Args:
        reach: what x and y are multiplied by, so that two channels are heard among many.
        **kwargs: `name`, `dtype`, `trainable` as in every Keras layer.

    Raises:
        ValueError: `reach` is not positive; the grid has not four axes, or its height or width is unknown.

    Source: Liu et al. 2018, "An Intriguing Failing of Convolutional Neural Networks and the CoordConv Solution", §2.
    """

    def __init__(self, reach=1.0, **kwargs):
        super().__init__(**kwargs)
        if not reach > 0:
            raise ValueError(f"reach must be positive; got {reach!r}")
        self.reach = float(reach)

    def build(self, grid_shape):
        height, width = _size(grid_shape)
        self.place = self.reach * coordinates(height, width)[None]  # (1, H, W, 2)

    def call(self, grid):
        _size(grid.shape)
        place = ops.cast(ops.convert_to_tensor(self.place), self.compute_dtype)
        place = ops.broadcast_to(place, (ops.shape(grid)[0], *self.place.shape[1:]))  # (B, H, W, 2)
        return ops.concatenate([grid, place], axis=-1)  # (B, H, W, D + 2)

    def compute_output_shape(self, grid_shape):
        return (*grid_shape[:-1], grid_shape[-1] + 2)

    def get_config(self):
        return {**super().get_config(), "reach": self.reach}


def _size(shape):
    if len(shape) != 4 or shape[1] is None or shape[2] is None:
        raise ValueError(f"grid must have shape (batch, height, width, features), sizes known; got {tuple(shape)}")
    return shape[1], shape[2]
