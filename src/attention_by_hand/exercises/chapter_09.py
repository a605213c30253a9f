"""Exercises of chapter 09: n-grams by convolution, receptive fields, multiply-adds, layers on the longest path."""

import math

from keras import ops

from attention_by_hand.exercises.framework import Function


def _normal(rng, *shape):
    return rng.normal(size=shape).astype("float32")


def _slide(x, kernel, places=None):
    """Σ_j x[t + j] W[j] for every place where the kernel fits: (n, d), (k, d, f) → (n − k + 1, f)."""
    steps = x.shape[0] - kernel.shape[0] + 1 if places is None else places
    return sum(ops.matmul(x[j : j + steps], kernel[j]) for j in range(kernel.shape[0]))


def _padded(x, before, after):
    return ops.pad(x, [[before, after], [0, 0]])


NGRAMS = Function(
    "9.1",
    inputs=lambda rng: (_normal(rng, int(rng.integers(8, 11)), 4), _normal(rng, 3, 4, 5)),
    solution=_slide,
    mistakes={
        "flipped": lambda x, w: _slide(x, ops.flip(w, axis=0)),
        "padded_same": lambda x, w: _slide(_padded(x, 1, 1), w),
        "padded_causal": lambda x, w: _slide(_padded(x, 2, 0), w),
        "averaged": lambda x, w: _slide(x, w) / w.shape[0],
        "one_tap": lambda x, w: ops.matmul(x[: x.shape[0] - w.shape[0] + 1], w[0]),
        "one_place_missing": lambda x, w: _slide(x, w)[:-1],
        "one_kernel_for_all_taps": lambda x, w: _slide(x, ops.stack([w[0]] * w.shape[0])),
        "no_overlap": lambda x, w: _slide(x, w)[:: w.shape[0]],
    },
)


def _field(widths, dilations, strides, grow=lambda k, r: (k - 1) * r, late=True):
    """Inputs that one output sees; `late`: a stride spreads the layers after it, not its own."""
    field, jump = 1, 1
    for width, dilation, stride in zip(widths, dilations, strides, strict=True):
        jump *= 1 if late else stride
        field += grow(width, dilation) * jump
        jump *= stride if late else 1
    return field


def _backwards(widths, dilations, strides):
    return _field(widths[::-1], dilations[::-1], strides[::-1])


def _stack_inputs(rng):
    """Three layers, such that no wrong rule gives the right number."""
    widths, strides = [5, 4, 3], [2, 2, 3]
    dilations = [[2, 3, 4], [2, 4, 1], [3, 1, 2], [3, 2, 1], [4, 1, 2], [4, 3, 2]]
    return widths, dilations[rng.integers(len(dilations))], strides


FIELD = Function(
    "9.2",
    inputs=_stack_inputs,
    solution=_field,
    mistakes={
        "strides_ignored": lambda k, r, s: _field(k, r, [1] * len(s)),
        "dilations_ignored": lambda k, r, s: _field(k, [1] * len(r), s),
        "whole_widths": lambda k, r, s: _field(k, r, s, grow=lambda width, rate: width * rate),
        "dilation_times_width": lambda k, r, s: _field(k, r, s, grow=lambda width, rate: width * rate - 1),
        "own_stride": lambda k, r, s: _field(k, r, s, late=False),
        "last_layer_first": _backwards,
        "first_word_missing": lambda k, r, s: _field(k, r, s) - 1,
        "product": lambda k, r, s: math.prod(k),
    },
)


def _work(n, d, key_dim, value_dim, projections=True, scores=True, mean=True, pairs=None):
    pairs = n * n if pairs is None else pairs
    per_pair = key_dim * scores + value_dim * mean
    return n * d * (2 * key_dim + value_dim) * projections + pairs * per_pair


SIZES = [
    (7, 12, 17, 9),
    (13, 5, 16, 7),
    (17, 9, 11, 7),
    (16, 17, 7, 11),
    (16, 12, 11, 17),
    (5, 13, 11, 12),
]  # n, d, key_dim, value_dim: no wrong rule gives the right number, or another's

WORK = Function(
    "9.3",
    inputs=lambda rng: SIZES[rng.integers(len(SIZES))],
    solution=_work,
    mistakes={
        "no_projections": lambda n, d, k, v: _work(n, d, k, v, projections=False),
        "no_scores": lambda n, d, k, v: _work(n, d, k, v, scores=False),
        "no_mean": lambda n, d, k, v: _work(n, d, k, v, mean=False),
        "once_a_word": lambda n, d, k, v: _work(n, d, k, v, pairs=n),
        "half_of_the_pairs": lambda n, d, k, v: _work(n, d, k, v, pairs=n * (n + 1) // 2),
        "one_projection": lambda n, d, k, v: _work(n, d, k, v) - n * d * (k + v),
        "project_once": lambda n, d, k, v: _work(n, d, k, v) - (n - 1) * d * (2 * k + v),
        "output_projection": lambda n, d, k, v: _work(n, d, k, v) + n * d * v,
        "width_of_words": lambda n, d, k, v: _work(n, d, d, d),
    },
)


def _layers(steps, k, dilated, reach=lambda k: k - 1, base=None):
    """Fewest layers whose last output sees `steps` steps back."""
    count = seen = 0
    while seen < steps:
        seen += reach(k) * ((base or k) ** count if dilated else 1)
        count += 1
    return count


LAYERS = Function(
    "9.4",
    inputs=lambda rng: (int(rng.integers(190, 240)), int(rng.integers(4, 6))),
    solution=lambda n, k: (_layers(n - 1, k, False), _layers(n - 1, k, True)),
    mistakes={
        "whole_width": lambda n, k: (math.ceil(n / k), _layers(n - 1, k, True)),
        "rounded_down": lambda n, k: ((n - 1) // (k - 1), math.floor(math.log(n, k))),
        "centred": lambda n, k: (math.ceil(2 * (n - 1) / (k - 1)), _layers(n - 1, k, True)),
        "powers_of_two": lambda n, k: (_layers(n - 1, k, False), _layers(n - 1, k, True, base=2)),
        "log_two": lambda n, k: (_layers(n - 1, k, False), math.ceil(math.log2(n))),
        "swapped": lambda n, k: (_layers(n - 1, k, True), _layers(n - 1, k, False)),
        "no_dilation": lambda n, k: (_layers(n - 1, k, False), _layers(n - 1, k, False)),
        "one_too_many": lambda n, k: (_layers(n - 1, k, False) + 1, _layers(n - 1, k, True) + 1),
    },
)

EXERCISES = [NGRAMS, FIELD, WORK, LAYERS]
