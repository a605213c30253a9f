"""Numbers that the text claims: printed, held inside a band, and recorded for `make claims`."""

import json
import math
import os
import re

from attention_by_hand import backend, strings


class ClaimError(AssertionError):
    """A measured number is outside the band that the text relies on."""


def claim(name, value, band):
    """Print a number that the text relies on, and fail when it is outside its band.

    With `ABH_CLAIMS_FILE` set, the result is appended there as one line of JSON; with `ABH_CLAIMS_SOFT` set,
    a number outside its band is printed and recorded but does not raise. `make claims` uses both.

    Args:
        name: `chapter.what.detail`, for example `"05.entropy.raw.1024"`.
        value: a number, or a tensor with one element.
        band: `(lowest, highest)`, both included.

    Returns:
        The value as a float.

    Raises:
        ValueError: the name does not start with a chapter's two digits, or the band is not two ordered numbers.
        ClaimError: the value is not finite or outside the band.
    """
    if not re.fullmatch(r"\d\d(\.[A-Za-z0-9_+-]+)+", name):
        raise ValueError(f'name must look like "05.entropy.raw"; got {name!r}')
    low, high = band
    if not low <= high:
        raise ValueError(f"band must be (lowest, highest); got {band}")
    value = float(value if isinstance(value, (int, float)) else backend.to_numpy(value))
    held = math.isfinite(value) and low <= value <= high
    line = strings.text(
        "claims.line" if held else "claims.outside", name=name, value=f"{value:.4g}", low=f"{low:g}", high=f"{high:g}"
    )
    _record(name, value, (low, high))
    if not held and not os.environ.get("ABH_CLAIMS_SOFT"):
        raise ClaimError(line)
    print(line)
    return value


def _record(name, value, band):
    path = os.environ.get("ABH_CLAIMS_FILE")
    if path:
        entry = {"name": name, "value": value, "band": list(band), "backend": backend.name(), "seed": backend.seed()}
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
