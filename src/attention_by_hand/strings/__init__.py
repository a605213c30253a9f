"""Every string that a figure, table or check shows, by language: `strings/en.toml` holds the English.

A second language is a second file, `strings/ko.toml`, with the same keys: no code changes. The environment
variable `ABH_LANG` chooses it; a key that a language lacks is shown in English.
"""

import os
import tomllib
from functools import cache
from importlib import resources

DEFAULT = "en"


def language():
    """The language in use: what `ABH_LANG` says, English otherwise."""
    return os.environ.get("ABH_LANG", DEFAULT)


@cache
def table(name):
    """All strings of one language as nested dictionaries; empty when there is no such file."""
    file = resources.files(__name__).joinpath(f"{name}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def text(key, **values):
    """The string of a dotted key in the language in use, with `{name}` filled in from `values`.

    Raises:
        KeyError: no string has this key, or it needs a value that was not given.
    """
    for name in (language(), DEFAULT):
        found = table(name)
        for part in key.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        if isinstance(found, str):
            return found.format(**values) if values else found
    raise KeyError(f"no string {key!r} in strings/{DEFAULT}.toml")


def romanised(label):
    """The Latin form of a Korean label, for figures on a machine without a Korean font; others unchanged."""
    return table("romanised").get(label, label)
