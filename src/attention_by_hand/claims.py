"""Numbers that the text claims: printed, held inside a band, and recorded for `make claims`."""

import json
import math
import os
import re

from attention_by_hand import backend, strings


class ClaimError(AssertionError):
    """A measured number is outside the band that the text relies on."""


class _Claimed(float):
    """A float that shows nothing at the end of a cell: the claim's line has been printed."""

    def _ipython_display_(self):
        pass


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
        ValueError: the name does not start with a chapter's two digits, the value is not one number, or the band
            is not two ordered numbers.
        ClaimError: the value is not finite or outside the band.
    """
    if not re.fullmatch(r"\d\d(\.[A-Za-z0-9_+-]+)+", name):
        raise ValueError(f'name must look like "05.entropy.raw"; got {name!r}')
    low, high = (float(bound) for bound in band)
    if not low <= high:
        raise ValueError(f"band must be (lowest, highest); got {band}")
    value = _number(value)
    held = math.isfinite(value) and low <= value <= high
    shown = f"{value:.4g}" if held else f"{value:.10g}"  # a number just outside must not look as if it were inside
    key = "claims.line" if held else "claims.outside"
    line = strings.text(key, name=name, value=shown, low=f"{low:g}", high=f"{high:g}")
    _record(name, value, (low, high))
    if not held and not os.environ.get("ABH_CLAIMS_SOFT"):
        raise ClaimError(line)
    print(line)
    return _Claimed(value)


def _number(value):
    """A float of a number or of a tensor with one element."""
    if isinstance(value, (int, float)):
        return float(value)
    found = backend.to_numpy(value)
    if found.size != 1:
        raise ValueError(f"value must be one number; got shape {found.shape}")
    return float(found.reshape(()))


def _record(name, value, band):
    path = os.environ.get("ABH_CLAIMS_FILE")
    if path:
        entry = {"name": name, "value": value, "band": list(band), "backend": backend.name(), "seed": backend.seed()}
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
