"""Exercises that tell *what* is wrong: one module a chapter, one `check` for all.

In a notebook: `abh.check("5.2", scores)`.
"""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from attention_by_hand import strings
from attention_by_hand.exercises.framework import Function, Question, Result

__all__ = ["Function", "Question", "Result", "check", "exercises"]


@cache
def exercises():
    """All exercises by id, `{"5.2": Function(…), …}`, collected from the modules `chapter_NN`."""
    found = {}
    for module in iter_modules(__path__):
        if module.name.startswith("chapter_"):
            for exercise in import_module(f"{__name__}.{module.name}").EXERCISES:
                found[exercise.id] = exercise
    return found


def check(exercise_id, answer=...):
    """Check an answer and say what is right or what the likely mistake is.

    Args:
        exercise_id: for example `"5.2"`.
        answer: the function or the value that the exercise asks for; `...` counts as not attempted.

    Returns:
        A `Result`, whose text a notebook shows when `check` is the last line of a cell; true if right.

    Raises:
        KeyError: there is no such exercise.
    """
    known = exercises()
    if exercise_id not in known:
        raise KeyError(strings.text("checks.unknown", id=exercise_id, known=", ".join(sorted(known, key=_order))))
    return known[exercise_id].check(answer)


def _order(exercise_id):
    """Sorts "0.10" after "0.9"."""
    return [int(part) if part.isdigit() else -1 for part in exercise_id.split(".")]
