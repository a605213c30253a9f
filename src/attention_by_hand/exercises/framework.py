"""How an answer is checked: compared with the solution and with known wrong answers, on fresh random inputs."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from keras import ops

from attention_by_hand import strings
from attention_by_hand.backend import to_numpy

DRAWS = 3  # fresh inputs an answer must be right on


@dataclass(frozen=True)
class Result:
    """What `check` found. True if right; its text is the sentence for the student.

    Attributes:
        id: the exercise.
        status: `"right"`, `"not yet"` or `"not attempted"`.
        mistake: name of the recognised mistake, `"other"` for one that is not known, or None.
        text: the sentence that is shown.
    """

    id: str
    status: str
    mistake: str | None
    text: str

    def __bool__(self):
        return self.status == "right"

    def __repr__(self):
        return self.text


class Exercise:
    """What functions and questions share: the three kinds of result."""

    id: str

    def right(self):
        return Result(self.id, "right", None, strings.text("checks.right", id=self.id))

    def not_attempted(self):
        return Result(self.id, "not attempted", None, strings.text("checks.not_attempted", id=self.id))

    def not_yet(self, mistake, sentence):
        return Result(self.id, "not yet", mistake, strings.text("checks.not_yet", id=self.id, mistake=sentence))

    def sentence(self, mistake):
        """The string of a mistake: the exercise's own if there is one, else the common one."""
        own = f"exercises.{self.id.replace('.', '_')}.{mistake}"
        try:
            return strings.text(own)
        except KeyError:
            return strings.text(f"checks.common.{mistake}")


@dataclass(frozen=True)
class Function(Exercise):
    """An exercise whose answer is a function of tensors.

    Args:
        id: `"chapter.number"`.
        inputs: draws the arguments, `inputs(rng) -> tuple`; NumPy arrays become tensors of the backend.
            All sizes must differ, so that a swapped axis shows.
        solution: the right function.
        mistakes: `{name: wrong function}`; each has a sentence in the string table, at
            `exercises.<id with _>.<name>` or `checks.common.<name>`.
        tolerance: largest allowed difference, absolute and relative.
    """

    id: str
    inputs: Callable
    solution: Callable
    mistakes: dict[str, Callable] = field(default_factory=dict)
    tolerance: float = 1e-4

    def check(self, answer):
        if answer is ... or answer is None:
            return self.not_attempted()
        if not callable(answer):
            return self.not_yet("not_a_function", strings.text("checks.not_a_function", type=type(answer).__name__))
        rng = np.random.default_rng()
        for _ in range(DRAWS):
            result = self._check_once(answer, self.inputs(rng), self.inputs(rng))
            if result is not None:
                return result
        return self.right()

    def _tensors(self, arguments):
        """Fresh copies: an answer that changes its arguments in place must not change what is expected."""
        return [ops.convert_to_tensor(x.copy()) if isinstance(x, np.ndarray) else x for x in arguments]

    def _check_once(self, answer, arguments, others):
        """None when right, else the result that says what is wrong; `others` are inputs that confirm a mistake."""
        try:
            given = answer(*self._tensors(arguments))
        except NotImplementedError:
            return self.not_attempted()
        except Exception as error:  # whatever a student's code raises is part of the diagnosis
            mistake = strings.text("checks.raised", error=f"{_first_line(error)}")
            return self.not_yet("raised", mistake)
        if given is None or given is ...:
            return self.not_attempted()
        try:
            given = [_numbers(part) for part in _parts(given)]
        except Exception:  # not convertible: a dict, a string, a ragged list
            return self.not_yet("not_a_tensor", strings.text("checks.not_a_tensor", type=type(given).__name__))
        expected = self._run(self.solution, arguments)
        if self._same(given, expected):
            return None
        for name, wrong in self.mistakes.items():
            if self._same(given, self._run(wrong, arguments), equal_nan=True) and self._agree(answer, wrong, others):
                return self.not_yet(name, self.sentence(name))
        return self.not_yet(*_difference(given, expected))

    def _agree(self, answer, wrong, arguments):
        """Whether both give the same: on one draw, two mistakes may give one number by accident."""
        try:
            return self._same(self._run(answer, arguments), self._run(wrong, arguments), equal_nan=True)
        except Exception:  # an answer that breaks here is not that mistake
            return False

    def _run(self, function, arguments):
        return [_numbers(part) for part in _parts(function(*self._tensors(arguments)))]

    def _same(self, a, b, equal_nan=False):
        """Whether all parts agree. NaN equals NaN only for a mistake, which may be known by it."""
        close = {"rtol": self.tolerance, "atol": self.tolerance, "equal_nan": equal_nan}
        return len(a) == len(b) and all(
            x.shape == y.shape and np.allclose(x, y, **close) for x, y in zip(a, b, strict=True)
        )


@dataclass(frozen=True)
class Question(Exercise):
    """An exercise whose answer is a value: a number, a string, a tuple (of a shape, say).

    Args:
        id: `"chapter.number"`.
        expected: the right value.
        mistakes: `{name: wrong value}`, with sentences as in `Function`.
        tolerance: largest allowed difference of numbers, absolute and relative.
    """

    id: str
    expected: object
    mistakes: dict[str, object] = field(default_factory=dict)
    tolerance: float = 1e-2

    def check(self, answer):
        parts = answer if isinstance(answer, (tuple, list)) else [answer]
        if any(part is ... or part is None for part in parts):
            return self.not_attempted()
        if self._same(answer, self.expected):
            return self.right()
        for name, wrong in self.mistakes.items():
            if self._same(answer, wrong):
                return self.not_yet(name, self.sentence(name))
        return self.not_yet("other", strings.text("checks.wrong_value"))

    def _same(self, a, b):
        """Words without regard to case, truth values and whole numbers exactly, other numbers within the tolerance."""
        if isinstance(b, str) or isinstance(a, str):
            return isinstance(a, str) and isinstance(b, str) and a.strip().lower() == b.lower()
        if isinstance(b, bool) or isinstance(a, (bool, np.bool_)):
            return isinstance(b, bool) and isinstance(a, (bool, np.bool_)) and bool(a) is b
        try:
            x, y = _numbers(a), np.asarray(b)
        except Exception:  # whatever cannot be read as numbers is not the expected number
            return False
        tolerance = 0 if y.dtype.kind in "iu" else self.tolerance
        return x.shape == y.shape and bool(np.allclose(x, y, rtol=tolerance, atol=tolerance))


def _first_line(error):
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"


def _numbers(part):
    """A NumPy array of numbers of a tensor, array or list; raises when it is anything else."""
    found = np.asarray(part) if isinstance(part, (list, tuple)) else to_numpy(part)
    if found.dtype.kind == "V":  # half precision of some backends has a kind of its own
        return found.astype("float32")
    if found.dtype.kind not in "biuf":
        raise TypeError(f"numbers expected, got dtype {found.dtype}")
    return found


def _parts(result):
    """A result as a list of tensors."""
    return list(result) if isinstance(result, (tuple, list)) else [result]


def _difference(given, expected):
    """Name and sentence of a difference that matches no known mistake, from general signs."""
    if len(given) != len(expected):
        return "parts", strings.text("checks.parts", given=len(given), expected=len(expected))
    for x, y in zip(given, expected, strict=True):
        if x.shape != y.shape:
            return _shape_difference(x, y)
        if not np.isfinite(x).all():
            return "not_finite", strings.text("checks.not_finite")
        if np.allclose(x, y, rtol=1e-4, atol=1e-4):
            continue
        if y.size == 1:  # every wrong number is some factor of the right one: say both
            return "other", strings.text("checks.number", given=f"{x.item():.4g}", expected=f"{y.item():.4g}")
        ratio = np.sum(x * y) / max(np.sum(y * y), 1e-12)
        if np.allclose(x, ratio * y, rtol=1e-3, atol=1e-4) and abs(ratio) > 1e-3:
            return "factor", strings.text("checks.factor", factor=f"{ratio:.3g}")
        gap = np.abs(np.subtract(x, y, dtype="float64"))  # also for booleans, which have no minus
        index = tuple(int(i) for i in np.argwhere(gap > 1e-4)[0])
        return "other", strings.text("checks.values", difference=f"{gap.max():.3g}", index=index)
    return "other", strings.text("checks.wrong_value")


def _shape_difference(x, y):
    swapped = np.swapaxes(x, -1, -2) if x.ndim >= 2 else x
    if swapped.shape == y.shape and np.allclose(swapped, y, rtol=1e-3, atol=1e-4):
        return "transposed", strings.text("checks.transposed", shape=x.shape)
    return "shape", strings.text("checks.shape", shape=x.shape, expected=y.shape)
