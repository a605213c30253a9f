"""Count what a computation costs by doing it: numbers that remember how many dependent steps lie behind them.

A computation is written out number by number, with `Counter.dot` and `Counter.apply`. It then yields three things at
once: its result, how many multiply-adds it took, and the length of the longest chain of steps that wait for each other.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Number:
    """A number, and the longest chain of steps that leads to it.

    Attributes:
        value: the number.
        depth: steps that had to be done one after the other; 0 for an input, None for what depends on no input
            that is followed (a constant, a zero of the padding).
    """

    value: float
    depth: int | None = None


class Counter:
    """Does arithmetic on `Number`s and keeps the books.

    Attributes:
        multiply_adds: pairs of numbers that were multiplied and added so far.
    """

    def __init__(self):
        self.multiply_adds = 0

    def dot(self, numbers, others):
        """Σ a·b: one step, whatever the length, as the products do not wait for each other.

        Args:
            numbers, others: two sequences of the same length, of `Number`s or plain numbers.

        Returns:
            A `Number`.

        Raises:
            ValueError: the lengths differ.
        """
        if len(numbers) != len(others):
            raise ValueError(f"numbers and others must have the same length; got {len(numbers)} and {len(others)}")
        self.multiply_adds += len(numbers)
        value = sum(_value(a) * _value(b) for a, b in zip(numbers, others, strict=True))
        return Number(value, _next([*numbers, *others]))

    def apply(self, function, *numbers):
        """`function` of some numbers: one step, no multiply-add.

        Args:
            function: takes as many floats as there are numbers, returns a float.
            numbers: `Number`s or plain numbers.
        """
        return Number(float(function(*map(_value, numbers))), _next(numbers))


def numbers(array, follow=None):
    """A table of inputs as lists of `Number`s.

    Args:
        array: (T, D), one row a step of the sequence.
        follow: index of the one row whose depth is 0, so that chains are counted from there; all rows when None.

    Returns:
        A list of T lists of D `Number`s.

    Raises:
        ValueError: `array` has not two axes, or there is no row `follow`.
    """
    array = np.asarray(array, "float64")
    if array.ndim != 2:
        raise ValueError(f"array must have shape (T, D); got {array.shape}")
    if follow is not None and not 0 <= follow < len(array):
        raise ValueError(f"follow must be between 0 and {len(array) - 1}; got {follow}")
    return [
        [Number(float(x), 0 if follow is None or t == follow else None) for x in row] for t, row in enumerate(array)
    ]


def values(rows):
    """The values of a list of lists of `Number`s, as an array."""
    return np.array([[_value(x) for x in row] for row in rows])


def depth(rows):
    """The longest chain behind any number of a list of lists; None if none depends on what is followed."""
    found = [x.depth for row in rows for x in row if x.depth is not None]
    return max(found, default=None)


def _value(x):
    return x.value if isinstance(x, Number) else float(x)


def _next(used):
    """The depth of a step: one more than the deepest of what it uses."""
    depths = [x.depth for x in used if isinstance(x, Number) and x.depth is not None]
    return max(depths) + 1 if depths else None
