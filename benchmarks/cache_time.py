"""Time of greedy decoding with a key/value cache and without: how many times faster the cache is.

    KERAS_BACKEND=torch python benchmarks/cache_time.py [--length 256] [--runs 5] [--out times.json]

A decoder-only stack of 4 layers, width 256, 8 heads, MLP 1024, vocabulary 1000, batch 8, learned positions, random
weights. Both decoders are Keras models whose step is compiled once, as `model.predict_on_batch` compiles (torch runs
what it is given), with static shapes: with the cache a step sees one token, without it the prefix, padded to the full
length. Each decodes `--length` tokens after a warm-up of two steps; runs alternate. Before, both must give the same
tokens, and log-probabilities of them that differ by at most 1e-4. Printed is the median of the ratios uncached / cached
and its 90 % bootstrap interval (from five runs on). The bar of 5 is that of 256 tokens: it holds if the interval's
lower end meets it; otherwise the exit code is 1. One thread.
"""

import argparse
import json
import time

import step_time  # first: it settles the number of threads

# isort: split
import keras
import numpy as np
from keras import ops

from attention_by_hand import backend
from attention_by_hand.layers import TransformerDecoder

BAR, TOLERANCE = 5.0, 1e-4
LAYERS, WIDTH, HEADS, MLP, BATCH, VOCABULARY = 4, 256, 8, 1024, 8, 1000
JIT = "auto" if keras.backend.backend() == "torch" else True


class Writer:
    """One language model, and two compiled steps of it: with and without a cache."""

    def __init__(self, length, rng):
        self.length = length
        self.words = keras.layers.Embedding(VOCABULARY, WIDTH)
        self.places = keras.layers.Embedding(length, WIDTH)
        self.decoder = TransformerDecoder(LAYERS, HEADS, MLP)
        self.read_out = keras.layers.Dense(VOCABULARY)
        position = keras.Input((1,), BATCH, dtype="int32", name="position")
        self.decoder.build((BATCH, length, WIDTH))
        # The step's model first: Keras 3.15 expects of later calls of a layer no more outputs than the first had.
        token = keras.Input((1,), BATCH, dtype="int32", name="token")
        self.empty = keras.tree.map_structure(backend.to_numpy, self.decoder.start_cache(length, batch_size=BATCH))
        cache = keras.tree.map_structure(lambda t: keras.Input(batch_shape=t.shape, dtype=str(t.dtype)), self.empty)
        x = self.words(token) + self.places(position)  # (B, 1, D)
        y, new = self.decoder(x, cache=cache, position=position[:, 0])
        step = {"y": ops.log_softmax(self.read_out(y)[:, 0]), "cache": new}
        self.stepping = keras.Model({"token": token, "position": position, "cache": cache}, step)
        ids = keras.Input((length,), BATCH, dtype="int32", name="ids")
        at = keras.Input((length,), BATCH, dtype="int32", name="at")
        y = self.decoder(self.words(ids) + self.places(at))  # (B, L, D)
        here = ops.equal(at, position)[..., None]  # (B, L, 1): only this step's vector is read out
        y = ops.sum(ops.where(here, y, 0.0), axis=1)  # (B, D)
        self.whole = keras.Model({"ids": ids, "at": at, "position": position}, ops.log_softmax(self.read_out(y)))
        for weight in self.whole.weights:
            if len(weight.shape) > 1:
                weight.assign(rng.normal(0, 0.08, weight.shape))
        for model in (self.whole, self.stepping):
            model.compile(jit_compile=JIT)

    def cached(self, steps):
        """Tokens (B, steps) and their log-probabilities; one token goes in at a time."""
        token, cache, found = np.ones((BATCH, 1), "int32"), self.empty, []
        token[:, 0] = np.arange(BATCH)
        for t in range(steps):
            position = np.full((BATCH, 1), t, "int32")
            result = self.stepping.predict_on_batch({"token": token, "position": position, "cache": cache})
            cache = result["cache"]
            token = result["y"].argmax(-1).astype("int32")[:, None]
            found.append((token[:, 0], result["y"].max(-1)))
        return tuple(np.stack(parts, axis=1) for parts in zip(*found, strict=True))

    def uncached(self, steps):
        """The same; the whole prefix goes in every time."""
        ids, found = np.zeros((BATCH, self.length), "int32"), []
        at = np.tile(np.arange(self.length, dtype="int32"), (BATCH, 1))
        ids[:, 0] = np.arange(BATCH)
        for t in range(steps):
            y = self.whole.predict_on_batch({"ids": ids, "at": at, "position": np.full((BATCH, 1), t, "int32")})
            token = y.argmax(-1).astype("int32")
            if t + 1 < self.length:
                ids[:, t + 1] = token
            found.append((token, y.max(-1)))
        return tuple(np.stack(parts, axis=1) for parts in zip(*found, strict=True))


def seconds(decode, steps):
    """Time of one decoding, and what it found."""
    start = time.perf_counter()
    found = decode(steps)
    return time.perf_counter() - start, found


def main():
    """Measure and print two lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--length", type=int, default=256)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--out", help="also write the result to this JSON file")
    arguments = parser.parse_args()
    if backend.name() == "torch":
        backend.set_threads(1)
    print(backend.describe(), flush=True)
    rng = np.random.default_rng(backend.set_seed(0))
    writer = Writer(arguments.length, rng)
    decoders = (writer.uncached, writer.cached)
    for decode in decoders:
        decode(2)
    times = np.zeros((arguments.runs, 2))
    for run in range(arguments.runs):
        found = [None, None]
        for j in (0, 1) if run % 2 else (1, 0):
            times[run, j], found[j] = seconds(decoders[j], arguments.length)
    same = bool((found[0][0] == found[1][0]).all())
    difference = float(np.abs(found[0][1] - found[1][1]).max())
    ratios = times[:, 0] / times[:, 1]
    low, high = step_time.interval(ratios, rng) if arguments.runs >= 5 else (ratios.min(), ratios.max())
    medians = np.median(times, axis=0)
    ok = same and difference <= TOLERANCE and bool(low >= BAR)
    print(
        f"{arguments.length} tokens, {len(np.unique(found[0][0]))} different ones; "
        f"same tokens: {same}, log-probabilities differ by at most {difference:.1e}\n"
        f"uncached {medians[0]:.2f} s / cached {medians[1]:.2f} s = {np.median(ratios):.1f} "
        f"[{low:.1f}, {high:.1f}], bar {BAR}: {'ok' if ok else 'NOT MET'}",
        flush=True,
    )
    if arguments.out:
        result = {"ratio": float(np.median(ratios)), "low": float(low), "high": float(high), "bar": BAR, "ok": ok}
        result |= {"same_tokens": same, "difference": difference, "length": arguments.length}
        with open(arguments.out, "w", encoding="utf-8") as file:
            json.dump({"backend": backend.versions(), "seconds": medians.tolist(), **result}, file)
    return 0 if ok else 1


if __name__ == "__main__":
    raise SystemExit(main())
