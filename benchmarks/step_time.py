"""Training-step time of our layers, as a multiple of the built-in layer's that they reproduce.

    KERAS_BACKEND=torch python benchmarks/step_time.py [--pairs 20] [--only additive] [--out times.json]

Two equal models that differ only in the attention layer, compiled as `model.compile` does by default, one
`train_on_batch` each in turn. After a warm-up, `--pairs` pairs are timed, the order within a pair alternating.
Printed are the median of the ratios ours / built-in and its 90 % bootstrap interval. The bar (1.1; 1.0 for
multi-head attention) holds if the interval's lower end meets it; otherwise the exit code is 1. One thread.
"""

import argparse
import json
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")
os.environ.setdefault("TF_NUM_INTEROP_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import keras
import numpy as np

from attention_by_hand import backend
from attention_by_hand.layers import AdditiveAttention, DotProductAttention, MultiHeadAttention

BAR, MULTI_HEAD_BAR = 1.1, 1.0
WARM_UP = 4
ADDITIVE_SIZES = ((16, 32, 64), (32, 64, 64))  # (B, T, D): the (B, T, T, D) intermediate costs most
DOT_SIZES = ((32, 64, 64), (8, 256, 128))
MULTI_HEAD_SIZES = ((32, 64, 128), (8, 256, 256))
HEADS = 8


def pairs_of_layers():
    """`(name, function that makes ours, function that makes the built-in, sizes)`."""
    layers, attention = keras.layers, DotProductAttention
    return (
        ("additive", AdditiveAttention, layers.AdditiveAttention, ADDITIVE_SIZES),
        ("dot", attention, layers.Attention, DOT_SIZES),
        ("dot learned", lambda: attention("learned"), lambda: layers.Attention(use_scale=True), DOT_SIZES),
        (
            "concat",
            lambda: attention(score_mode="concat"),
            lambda: layers.Attention(score_mode="concat"),
            ADDITIVE_SIZES,
        ),
        (
            "concat learned",
            lambda: attention("learned", score_mode="concat"),
            lambda: layers.Attention(use_scale=True, score_mode="concat"),
            ADDITIVE_SIZES,
        ),
        ("multi-head", MultiHeadAttention, layers.MultiHeadAttention, MULTI_HEAD_SIZES),
    )


def model(make, size, masked):
    """A compiled model around one attention layer: self-attention over x, with a value mask if `masked`."""
    _, length, width = size
    multi_head = make in (MultiHeadAttention, keras.layers.MultiHeadAttention)
    layer = make(HEADS, width // HEADS) if multi_head else make()
    x = keras.Input((length, width))
    mask = keras.Input((length,), dtype="bool") if masked else None
    query = keras.layers.Dense(width)(x)
    if multi_head or isinstance(layer, (AdditiveAttention, DotProductAttention)):
        y = layer(query, x, value_mask=mask)
    else:
        y = layer([query, x], mask=[None, mask] if masked else None)
    built = keras.Model([x, mask] if masked else [x], keras.layers.Dense(1)(y))
    built.compile("sgd", "mse")
    return built


def batch(size, masked, rng):
    """Random data for `model`: about a third of the steps is padding."""
    number, length, width = size
    inputs = [rng.normal(size=size).astype("float32")]
    if masked:
        inputs.append(np.arange(length) < rng.integers(length // 3, length, size=(number, 1)))
    return inputs, rng.normal(size=(number, length, 1)).astype("float32")


def seconds(step):
    """Time of one call."""
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def measure(ours, builtin, size, masked, pairs, rng):
    """Times (pairs, 2) of interleaved steps: ours, built-in."""
    models = [model(make, size, masked) for make in (ours, builtin)]
    data = batch(size, masked, rng)
    steps = [lambda m=m: m.train_on_batch(*data) for m in models]
    for _ in range(WARM_UP):
        for step in steps:
            step()
    times = np.zeros((pairs, 2))
    for i in range(pairs):
        for j in (0, 1) if i % 2 else (1, 0):
            times[i, j] = seconds(steps[j])
    return times


def interval(ratios, rng, share=0.9, draws=2000):
    """Bootstrap interval of the median."""
    medians = np.median(rng.choice(ratios, size=(draws, len(ratios))), axis=1)
    return np.quantile(medians, [(1 - share) / 2, (1 + share) / 2])


def main():
    """Measure every pair of layers and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--only", help="measure only layers whose name contains this")
    parser.add_argument("--out", help="also write the results to this JSON file")
    arguments = parser.parse_args()
    if backend.name() == "torch":
        backend.set_threads(1)
    print(backend.describe())
    rng, results = np.random.default_rng(backend.set_seed(0)), []
    for name, ours, builtin, sizes in pairs_of_layers():
        if arguments.only and arguments.only not in name:
            continue
        for size in sizes:
            for masked in (False, True):
                times = measure(ours, builtin, size, masked, arguments.pairs, rng)
                ratios = times[:, 0] / times[:, 1]
                low, high = interval(ratios, rng)
                medians = 1000 * np.median(times, axis=0)
                ok = bool(low <= (MULTI_HEAD_BAR if name == "multi-head" else BAR))
                results.append({"layer": name, "size": size, "masked": masked, "ratio": float(np.median(ratios))})
                results[-1] |= {"low": float(low), "high": float(high), "milliseconds": medians.tolist(), "ok": ok}
                print(
                    f"{name:15s} (B, T, D) = {size!s:14s} {'value mask' if masked else 'no mask':10s} "
                    f"ratio {np.median(ratios):.2f} [{low:.2f}, {high:.2f}]  "
                    f"{medians[0]:.1f} ms / {medians[1]:.1f} ms  {'ok' if ok else 'ABOVE THE BAR'}",
                    flush=True,
                )
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as file:
            json.dump(
                {
                    "backend": backend.versions(),
                    "bars": [BAR, MULTI_HEAD_BAR],
                    "pairs": arguments.pairs,
                    "results": results,
                },
                file,
            )
    return 0 if all(result["ok"] for result in results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
