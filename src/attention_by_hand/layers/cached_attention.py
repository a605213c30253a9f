"""Multi-head attention that can keep keys and values, so that a decoder projects every token once."""

import keras
from keras import ops

from attention_by_hand import masks
from attention_by_hand.layers.multi_head import MultiHeadAttention, project


@keras.saving.register_keras_serializable("attention_by_hand")
class CachedAttention(MultiHeadAttention):
    """`MultiHeadAttention` with three more methods, for decoding one token after the other.

        K[:, t] = x_t W_k + b_k,  V[:, t] = x_t W_v + b_v        written once, at position t
        output_t = softmax(Q_t K[:, : t + 1]ᵀ / √key_dim) V[:, : t + 1] W_o + b_o

    Nothing is stored on the layer: keys and values come as arguments, and the longer ones are returned. Their shape
    (B, H, L, d) never changes, L being the longest sequence there can be, so that a compiler compiles one step once.

    Arguments, call and errors: see `MultiHeadAttention`.

    Source: of the step-by-step form Shazeer 2019, "Fast Transformer Decoding: One Write-Head is All You Need", §2.3.
    """

    def keys_and_values(self, memory, mask=None):
        """Keys (B, H, Tv, Dk) and values (B, H, Tv, Dv) of all heads.

        Args:
            memory: floating-point tensor (B, Tv, D).
            mask: boolean (B, Tv), False for padding; or None.
        """
        memory = masks.clear(ops.cast(memory, self.compute_dtype), mask)  # (B, Tv, D)
        return self.heads(memory, self.key_kernel, self.key_bias), self.heads(
            memory, self.value_kernel, self.value_bias
        )

    def empty_cache(self, batch_size, max_length):
        """Keys (B, H, L, Dk) and values (B, H, L, Dv) of nothing yet: zeros."""
        sizes = ((batch_size, self.num_heads, max_length, width) for width in (self.key_dim, self.value_dim))
        return tuple(ops.zeros(size, dtype=self.compute_dtype) for size in sizes)

    def look_up(self, x, keys, values, mask=None):
        """Attend from one token a row to keys and values that are already projected.

        Args:
            x: floating-point tensor (B, 1, D).
            keys, values: (B, H, Tv, Dk) and (B, H, Tv, Dv).
            mask: boolean that broadcasts to (B, 1, 1, Tv), False = nothing there; or None.

        Returns:
            Output (B, 1, width) and weights (B, H, 1, Tv).
        """
        query = self.heads(x, self.query_kernel, self.query_bias)  # (B, H, 1, Dk)
        scores = ops.matmul(query * self.key_dim**-0.5, ops.transpose(keys, (0, 1, 3, 2)))  # (B, H, 1, Tv)
        weights = masks.masked_softmax(scores, mask)  # (B, H, 1, Tv), rows sum to 1
        context = ops.transpose(ops.matmul(weights, values), (0, 2, 1, 3))  # (B, 1, H, Dv)
        output = ops.tensordot(context, self.cast(self.output_kernel), axes=2)  # (B, 1, width)
        return output + self.cast(self.output_bias) if self.use_bias else output, weights

    def step(self, x, keys, values, position):
        """Write one token's key and value at `position`, then attend to all positions up to it.

        Args:
            x: floating-point tensor (B, 1, D).
            keys, values: (B, H, L, Dk) and (B, H, L, Dv), written up to `position` − 1.
            position: integer, or integers (B,) with one position a row, in 0 … L − 1.

        Returns:
            Output (B, 1, width), weights (B, H, 1, L), and the new keys and values.
        """
        key, value = self.keys_and_values(x)  # (B, H, 1, Dk), (B, H, 1, Dv)
        here, seen = places(position, keys.shape[2])  # (1 or B, 1, L, 1), (1 or B, 1, 1, L)
        keys, values = ops.where(here, key, keys), ops.where(here, value, values)
        return *self.look_up(x, keys, values, seen), keys, values

    def heads(self, x, kernel, bias):
        """One projection, head by head: (B, T, D) → (B, H, T, d)."""
        projected = project(x, self.cast(kernel), None if bias is None else self.cast(bias))  # (B, T, H, d)
        return ops.transpose(projected, (0, 2, 1, 3))

    def cast(self, weight):
        """A weight as it takes part in the computation: these methods are also used outside of `call`."""
        return ops.cast(weight, self.compute_dtype)


def places(position, length):
    """Where `position` is, and what may be seen from it, among `length` places.

    Args:
        position: integer, or integers (B,).
        length: L, an integer.

    Returns:
        Booleans (1 or B, 1, L, 1), True at the position, and (1 or B, 1, 1, L), True up to it.
    """
    position = ops.reshape(ops.cast(position, "int32"), (-1, 1))  # (1 or B, 1)
    every = ops.expand_dims(ops.arange(length, dtype="int32"), axis=0)  # (1, L)
    return ops.equal(every, position)[:, None, :, None], (every <= position)[:, None, None, :]


def check_position(position, batch_size, length):
    """Refuse a position of the wrong shape, or an integer outside of the cache; tensors' values are not looked at."""
    if position is None:
        raise ValueError(f"position must come with cache: an integer, or integers (B,), in 0 … {length - 1}; got None")
    shape = tuple(getattr(position, "shape", ()))
    if shape not in ((), (1,)) and (len(shape) != 1 or None not in (*shape, batch_size) and shape[0] != batch_size):
        raise ValueError(f"position must be an integer or have shape (B,) = ({batch_size},); got shape {shape}")
    if isinstance(position, int) and not 0 <= position < length:
        raise ValueError(f"position must be in 0 … {length - 1}, the places of cache; got {position}")
