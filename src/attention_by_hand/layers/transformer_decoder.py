"""The transformer's decoder: causal self-attention, attention to a memory, an MLP; step by step with a cache."""

import keras
from keras import ops, tree

from attention_by_hand import masks
from attention_by_hand.layers.base import check_floating, check_size
from attention_by_hand.layers.cached_attention import CachedAttention, check_position
from attention_by_hand.layers.transformer import TransformerEncoder, TransformerEncoderBlock, check_x


@keras.saving.register_keras_serializable("attention_by_hand")
class TransformerDecoderBlock(TransformerEncoderBlock):
    """Causal self-attention, then attention to the memory, then the MLP, each with skip and norm as in the encoder.

        h = x + f_self(norm(x)),  h ← h + f_cross(norm(h), memory),  output = h + MLP(norm(h))      (pre-norm)

    Without a memory at the first call there is no second sublayer: a block of a decoder-only model.

    **The cache.** A step from x_t needs the keys and values of x_0 … x_{t−1}, which later tokens cannot change:
    `cache = block.start_cache(max_length, memory)`, then for t = 0, 1, …
    `y, cache = block(x[:, t : t + 1], cache=cache, position=t)`. Nothing is stored on the layer.

    Args, errors and source: see `TransformerEncoderBlock`; Vaswani et al. 2017, §3.1, "Decoder".
    """

    def build(self, x_shape, memory_shape=None):
        self.width = check_x(x_shape)
        self.attention = self.add_attention("attention", CachedAttention, x_shape, x_shape)
        self.memory_width = None
        if memory_shape is not None:
            check_memory(memory_shape, x_shape)
            self.memory_width = memory_shape[-1]
            self.cross_attention = self.add_attention("cross_attention", CachedAttention, x_shape, memory_shape)
        self.add_mlp(x_shape)

    def call(
        self,
        x,
        memory=None,
        padding_mask=None,
        memory_mask=None,
        attention_mask=None,
        use_causal_mask=True,
        cache=None,
        position=None,
        return_attention_scores=False,
        training=None,
    ):
        """Decode: all steps at once, or one step with a cache.

        Args:
            x: floating-point tensor (B, Tq, D); with `cache` (B, 1, D).
            memory: floating-point tensor (B, Tv, C), the encoder's output; with `cache` it is in there.
            padding_mask: boolean (B, Tq), False for padding: weight exactly 0 as a key, output 0. The mask that Keras
                hung on `x` when None. The output carries it to the next layer.
            memory_mask: boolean (B, Tv), False for padding of the memory; the mask that Keras hung on it when None.
            attention_mask: boolean (B, Tq, Tq), (Tq, Tq), or (B, H, Tq, Tq), of the self-attention.
            use_causal_mask: step t may attend to steps 0 … t only.
            cache: what `start_cache` or the step before gave; the masks are not used then, nor dropout.
            position: which step this is, an integer or integers (B,); only with `cache`. The range of an integer is
                checked; tensors' values are not looked at, and one that is out of range writes nothing.
            return_attention_scores: also return the weights.
            training: whether dropout acts.

        Returns:
            Output (B, Tq, D); with `return_attention_scores` then the weights (B, H, Tq, Tq) and, where there is a
            memory, (B, H, Tq, Tv), before dropout; with `cache` last the new cache. With a cache Tq is 1 and the
            first weights are (B, H, 1, max_length).

        Raises:
            ValueError: as the encoder's block; `memory` is missing, has another width than at first, or comes where
                there was none; `cache` without `position`, a position out of range, or not one step with `cache`.
        """
        if cache is not None:
            self.check_step(x, cache, position)
            found = self.step(x, cache, position)  # (B, 1, D), weights, cache
            return found if return_attention_scores else (found[0], found[-1])
        padding_mask, attention_mask = self.check(x, padding_mask, attention_mask)
        memory_mask = self.check_memory(x, memory, memory_mask)
        x = masks.clear(x, padding_mask)  # (B, Tq, D)
        scores = {"return_attention_scores": return_attention_scores, "training": training}

        def attend(h):
            options = {"attention_mask": attention_mask, "use_causal_mask": use_causal_mask, **scores}
            found = self.attention(h, h, value_mask=padding_mask, **options)
            return found if return_attention_scores else (found, None)

        def attend_to_memory(h):
            found = self.cross_attention(h, memory, value_mask=memory_mask, **scores)
            return found if return_attention_scores else (found, None)

        x, weights = self.sublayer("attention", attend, x, training)  # (B, Tq, D), (B, H, Tq, Tq)
        results = [weights]
        if self.memory_width is not None:
            x, weights = self.sublayer("cross_attention", attend_to_memory, x, training)  # …, (B, H, Tq, Tv)
            results.append(weights)
        x = self.mlp(x, training)  # (B, Tq, D)
        x = masks.attach(masks.clear(x, padding_mask), padding_mask)
        return (x, *results) if return_attention_scores else x

    def start_cache(self, max_length, memory=None, memory_mask=None, batch_size=None):
        """The cache before the first step; the memory's keys and values are computed here, once.

        Args:
            max_length: L, the largest number of steps.
            memory: floating-point tensor (B, Tv, C), where the block has a cross-attention.
            memory_mask: boolean (B, Tv), or None.
            batch_size: B, where there is no memory.

        Returns:
            A dictionary of tensors, the rows first: `keys` (B, H, L, Dk), `values` (B, H, L, Dv), and with a memory
            `memory_keys` (B, H, Tv, Dk), `memory_values` (B, H, Tv, Dv), `memory_mask` (B, Tv).

        Raises:
            ValueError: a size is not a positive integer, the layer is not built, or the memory does not fit.
        """
        check_size("max_length", max_length)
        if not self.built:
            raise ValueError("cache needs a layer that is built: call it once, or load its weights, before start_cache")
        if self.memory_width is None:
            self.check_memory(None, memory, memory_mask)
            keys, values = self.attention.empty_cache(check_size("batch_size", batch_size), max_length)
            return {"keys": keys, "values": values}
        memory_mask = self.check_memory(None, memory, memory_mask)
        keys, values = self.attention.empty_cache(ops.shape(memory)[0], max_length)
        memory_keys, memory_values = self.cross_attention.keys_and_values(memory, memory_mask)
        memory_mask = ops.ones(ops.shape(memory)[:2], dtype="bool") if memory_mask is None else memory_mask
        kept = {"memory_keys": memory_keys, "memory_values": memory_values, "memory_mask": memory_mask}
        return {"keys": keys, "values": values, **kept}

    def step(self, x, cache, position):
        """One step, (B, 1, D): output (B, 1, D), the weights of each attention, the new cache."""
        new, results = dict(cache), []

        def attend(h):
            y, weights, new["keys"], new["values"] = self.attention.step(h, cache["keys"], cache["values"], position)
            return y, weights

        def attend_to_memory(h):
            visible = ops.cast(cache["memory_mask"], "bool")[:, None, None, :]  # (B, 1, 1, Tv)
            return self.cross_attention.look_up(h, cache["memory_keys"], cache["memory_values"], visible)

        x, weights = self.sublayer("attention", attend, x, False)  # (B, 1, D), (B, H, 1, L)
        results.append(weights)
        if self.memory_width is not None:
            x, weights = self.sublayer("cross_attention", attend_to_memory, x, False)  # (B, 1, D), (B, H, 1, Tv)
            results.append(weights)
        return self.mlp(x, False), *results, new

    def check_memory(self, x, memory, memory_mask):
        """The memory's mask as booleans, or None; a memory that does not fit is refused."""
        if self.memory_width is None:
            if memory is not None or memory_mask is not None:
                raise ValueError(
                    "memory must come with the first call, or the layer has no attention to it; it did not"
                )
            return None
        if memory is None:
            raise ValueError(f"memory must be given, (B, Tv, {self.memory_width}), as at the first call; got None")
        check_memory(memory.shape, memory.shape if x is None else x.shape, self.memory_width)
        check_floating(memory=memory)
        memory_mask = masks.implicit(memory) if memory_mask is None else memory_mask
        return masks.as_boolean(memory_mask, "memory_mask", {"(B, Tv)": tuple(memory.shape[:2])})

    def check_step(self, x, cache, position):
        """Refuse a step that does not fit the cache."""
        check_x(x.shape, self.width)
        check_floating(x=x)
        if x.shape[1] not in (1, None):
            raise ValueError(f"x must hold one step, (B, 1, D), where cache is given; got {tuple(x.shape)}")
        wanted = {"keys", "values"} | ({"memory_keys", "memory_values", "memory_mask"} if self.memory_width else set())
        if not isinstance(cache, dict) or set(cache) != wanted:
            names = sorted(cache) if isinstance(cache, dict) else type(cache).__name__
            raise ValueError(f"cache must be what start_cache gave, with {sorted(wanted)}; got {names}")
        check_position(position, x.shape[0], cache["keys"].shape[2])

    def compute_output_spec(
        self,
        x,
        memory=None,
        padding_mask=None,
        memory_mask=None,
        attention_mask=None,
        use_causal_mask=True,
        cache=None,
        position=None,
        return_attention_scores=False,
        training=None,
    ):
        """Symbolic outputs, from shapes alone."""
        tensor = lambda *shape: keras.KerasTensor(shape, dtype=self.compute_dtype)  # noqa: E731
        batch, length = x.shape[:2]
        if cache is not None:
            self.check_step(x, cache, position)
            weights = [tensor(batch, self.num_heads, length, cache["keys"].shape[2])]
            if self.memory_width is not None:
                weights.append(tensor(batch, self.num_heads, length, cache["memory_keys"].shape[2]))
            new = tree.map_structure(lambda t: keras.KerasTensor(t.shape, dtype=t.dtype), cache)
            return (tensor(*x.shape), *(weights if return_attention_scores else ()), new)
        padding_mask, _ = self.check(x, padding_mask, attention_mask)
        self.check_memory(x, memory, memory_mask)
        output = masks.attach(tensor(*x.shape), padding_mask)
        weights = [tensor(batch, self.num_heads, length, length)]
        if memory is not None:
            weights.append(tensor(batch, self.num_heads, length, memory.shape[1]))
        return (output, *weights) if return_attention_scores else output


@keras.saving.register_keras_serializable("attention_by_hand")
class TransformerDecoder(TransformerEncoder):
    """`num_layers` decoder blocks, one after the other; after pre-norm blocks a last norm.

    Args:
        num_layers: number of blocks.
        num_heads, mlp_dim, **options: of every block, see `TransformerDecoderBlock`.

    Call: as a block's, with the same arguments. `return_attention_scores` gives, between output and cache, a list by
    block of the weights of self-attention and, where there is a memory, one of those of the attention to it. A cache
    is a list of the blocks' caches; start it with `start_cache`, which takes what a block's takes.
    In functional models make the one of the step first: Keras 3.15 takes the number of a layer's outputs in its first
    call for that of all calls, and a later call with more outputs (the cache) "is not connected to inputs".

    Raises:
        ValueError: as a block, or `num_layers` is not a positive integer; `cache` has not one entry for each block.
    """

    block = TransformerDecoderBlock

    def build(self, x_shape, memory_shape=None):
        for block in self.blocks:
            block.build(x_shape, memory_shape)
        self.build_norm(x_shape)

    def call(
        self,
        x,
        memory=None,
        padding_mask=None,
        memory_mask=None,
        attention_mask=None,
        use_causal_mask=True,
        cache=None,
        position=None,
        return_attention_scores=False,
        training=None,
    ):
        first = self.blocks[0]
        every, new = [], []
        if cache is not None:
            for block, kept in zip(self.blocks, self.check_cache(cache), strict=True):
                x, *weights, kept = block(x, cache=kept, position=position, return_attention_scores=True)
                every.append(weights)
                new.append(kept)
            x = self.finish(x, None)
        else:
            padding_mask, attention_mask = first.check(x, padding_mask, attention_mask)
            memory_mask = first.check_memory(x, memory, memory_mask)
            options = {"padding_mask": padding_mask, "memory_mask": memory_mask, "attention_mask": attention_mask}
            options |= {"use_causal_mask": use_causal_mask, "training": training}
            for block in self.blocks:
                found = block(x, memory, return_attention_scores=return_attention_scores, **options)
                x, *weights = found if return_attention_scores else (found,)
                every.append(weights)
            x = self.finish(x, padding_mask)
        results = [list(weights) for weights in zip(*every, strict=True)] if return_attention_scores else []
        results += [new] if cache is not None else []
        return (x, *results) if results else x

    def start_cache(self, max_length, memory=None, memory_mask=None, batch_size=None):
        """The blocks' caches before the first step, a list; see `TransformerDecoderBlock.start_cache`."""
        return [block.start_cache(max_length, memory, memory_mask, batch_size) for block in self.blocks]

    def check_cache(self, cache):
        """The cache, if it has an entry for every block."""
        if not isinstance(cache, (list, tuple)) or len(cache) != len(self.blocks):
            raise ValueError(f"cache must be a list with one entry for each of {len(self.blocks)} blocks; got {cache}")
        return cache

    def compute_output_spec(self, x, *given, cache=None, return_attention_scores=False, **options):
        """Symbolic outputs, from shapes alone."""
        spec = self.blocks[0].compute_output_spec
        if cache is None:
            output, *weights = spec(x, *given, return_attention_scores=True, **options)
        else:
            self.check_cache(cache)
            output, *weights, _ = spec(x, *given, cache=cache[0], return_attention_scores=True, **options)
        each = lambda w: [keras.KerasTensor(w.shape, dtype=w.dtype) for _ in self.blocks]  # noqa: E731 (one tensor a block)
        results = [each(w) for w in weights] if return_attention_scores else []
        if cache is not None:
            results.append(tree.map_structure(lambda t: keras.KerasTensor(t.shape, dtype=t.dtype), list(cache)))
        return (output, *results) if results else output


def check_memory(shape, x_shape, width=None):
    """Refuse a memory that is not (B, Tv, C), or whose batch or width is another than it was."""
    if len(shape) != 3 or shape[-1] is None:
        raise ValueError(f"memory must have shape (batch, length, width) with a known width; got {tuple(shape)}")
    if None not in (shape[0], x_shape[0]) and shape[0] != x_shape[0]:
        raise ValueError(f"memory must have the batch size of x, {x_shape[0]}; got {tuple(shape)}")
    if width not in (None, shape[-1]):
        raise ValueError(f"memory must have the width that the layer was built for, {width}; got {tuple(shape)}")
