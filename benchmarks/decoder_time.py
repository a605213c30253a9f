"""Training-step time of `AttentionDecoder`, as a multiple of `keras.layers.RNN` around a cell with Keras's attention.

    KERAS_BACKEND=torch python benchmarks/decoder_time.py [--pairs 20] [--out times.json]

Both decoders have 64 units, the paper's score, 12 steps over a masked memory of 12 places (batch 64), which a trained
layer makes, so that its gradient is needed. Compiled as `model.compile` does by default; interleaved pairs, median of
the ratios and its 90 % bootstrap interval. The bar is 0.5 on torch and 1.0 on jax and tensorflow; it holds if the
interval's lower end meets it, otherwise the exit code is 1. One thread.
"""

import argparse
import json

import step_time  # first: it settles the number of threads

# isort: split
import keras
import numpy as np
from keras import ops

from attention_by_hand import backend
from attention_by_hand.layers import AttentionDecoder

BARS = {"torch": 0.5, "jax": 1.0, "tensorflow": 1.0}
BATCH, STEPS, PLACES, WIDTH, MEMORY, UNITS = 64, 12, 12, 64, 128, 64


class AttentionCell(keras.layers.Layer):
    """A GRU cell that asks Keras's additive attention first; the memory is handed over as an attribute."""

    def __init__(self, units):
        super().__init__()
        self.state_size = self.output_size = units
        self.cell = keras.layers.GRUCell(units)
        self.query = keras.layers.Dense(units, use_bias=False)
        self.attention = keras.layers.AdditiveAttention()
        self.memory = self.keys = self.mask = None

    def build(self, input_shape):
        units = self.state_size
        self.query.build((None, units))
        self.attention.build([(None, 1, units), (None, PLACES, MEMORY), (None, PLACES, units)])
        self.cell.build((None, input_shape[-1] + MEMORY))

    def call(self, inputs, states, training=False):
        query = ops.expand_dims(self.query(states[0]), axis=1)
        context = self.attention([query, self.memory, self.keys], mask=[None, self.mask])[:, 0]
        return self.cell(ops.concatenate([inputs, context], axis=-1), states)


class BuiltIn(keras.layers.Layer):
    """The decoder composed of Keras's layers, the keys projected once."""

    def __init__(self, units):
        super().__init__()
        self.cell = AttentionCell(units)
        self.rnn = keras.layers.RNN(self.cell, return_sequences=True)
        self.key = keras.layers.Dense(units, use_bias=False)

    def build(self, x_shape, memory_shape, memory_mask_shape=None):
        self.key.build(memory_shape)
        self.cell.build(x_shape)

    def call(self, x, memory, memory_mask=None):
        self.cell.memory, self.cell.keys, self.cell.mask = memory, self.key(memory), memory_mask
        states = self.rnn(x)
        self.cell.memory = self.cell.keys = self.cell.mask = None
        return states


def model(decoder):
    """A compiled model around one decoder."""
    x, memory = keras.Input((STEPS, WIDTH)), keras.Input((PLACES, MEMORY))
    mask = keras.Input((PLACES,), dtype="bool")
    states = decoder(x, keras.layers.Dense(MEMORY)(memory), memory_mask=mask)
    built = keras.Model([x, memory, mask], states)
    built.compile("adam", "mse")
    return built


def main():
    """Measure and print one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--out", help="also write the result to this JSON file")
    arguments = parser.parse_args()
    if backend.name() == "torch":
        backend.set_threads(1)
    print(backend.describe())
    rng = np.random.default_rng(backend.set_seed(0))
    data = [rng.normal(size=size).astype("float32") for size in ((BATCH, STEPS, WIDTH), (BATCH, PLACES, MEMORY))]
    data.append(np.arange(PLACES) < rng.integers(PLACES // 3, PLACES + 1, size=(BATCH, 1)))
    target = rng.normal(size=(BATCH, STEPS, UNITS)).astype("float32")
    models = [model(AttentionDecoder(UNITS)), model(BuiltIn(UNITS))]
    times = np.zeros((arguments.pairs + step_time.WARM_UP, 2))
    for i in range(len(times)):
        for j in (0, 1) if i % 2 else (1, 0):
            times[i, j] = step_time.seconds(lambda m=models[j]: m.train_on_batch(data, target))
    times = times[step_time.WARM_UP :]
    ratios = times[:, 0] / times[:, 1]
    low, high = step_time.interval(ratios, rng)
    medians, bar = 1000 * np.median(times, axis=0), BARS[backend.name()]
    ok = bool(low <= bar)
    print(
        f"decoder, {STEPS} steps, batch {BATCH}, {UNITS} units: ratio {np.median(ratios):.2f} [{low:.2f}, {high:.2f}]  "
        f"{medians[0]:.1f} ms / {medians[1]:.1f} ms, bar {bar}: {'ok' if ok else 'ABOVE THE BAR'}"
    )
    if arguments.out:
        result = {"ratio": float(np.median(ratios)), "low": float(low), "high": float(high), "bar": bar, "ok": ok}
        with open(arguments.out, "w", encoding="utf-8") as file:
            json.dump({"backend": backend.versions(), "milliseconds": medians.tolist(), **result}, file)
    return 0 if ok else 1


if __name__ == "__main__":
    raise SystemExit(main())
