"""Numbers in prose name their source, and agree with it.

In a Markdown cell a decimal number is followed by a hidden comment: `0.071<!-- 05.entropy.raw.1024 -->` quotes
a claim of `data/claims.json`, `0.45<!-- given -->` is no result of ours. With `%` between number and comment the
number is the claim times 100. A whole number is compared when it is followed by a claim's name.
Exempt: code, math, links, HTML comments; versions (`3.13.2`, `Keras 3.15`); section and exercise numbers.
"""

import re
from dataclasses import dataclass
from decimal import Decimal

GIVEN = "given"
_KEEP = re.compile(r"<!--.*?-->", re.DOTALL)
_SKIPPED = re.compile(
    r"""
    (?P<fence>^[ ]*(```+|~~~+).*?^[ ]*\2[ ]*$)   # fenced code
    | (?P<code>(`+)(?!`).+?(?<!`)\4(?!`))        # code span
    | \$\$.+?\$\$ | (?<!\\)\$(?=\S)[^$]*?(?<=\S)\$  # math
    | !?\[[^\]]*\]\([^)]*\)                      # link, image
    | <https?://[^>]*> | https?://\S+            # bare address
    | <(?!!--)[a-zA-Z/][^>]*>                    # HTML tag
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
_WORDS = (
    r"exercises?|questions?|problems?|refreshers?|sections?|secs?\.?|chapters?|ch\.|appendix|equations?|eqs?\.?"
    r"|tables?|figures?|fig\.?|arxiv:?|versions?|python|keras|torch|pytorch|jax|tensorflow|numpy|matplotlib"
    r"|nbformat|jupyterlab|ipython|cuda|apache-?"
)
_UNSOURCED = r"(?![\d.]*[*_]*\s?%?[*_]*<!--)"  # a number with a source is a quantity, whatever stands before it
# "Exercise 5.2", "**Exercises 5.1 and 5.2**", "§3.2", "Keras 3.13": a name, not a quantity.
_NAMED = re.compile(
    rf"(?:\b(?:{_WORDS})|§+|≥|>=)[\s*_(]*\d+(?:\.\d+)+"
    rf"(?:\s*(?:\([^()]*\)\s*)?(?:,|and|or|to|–|-|&)\s*\d+(?:\.\d+)+{_UNSOURCED})*{_UNSOURCED}",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^#+\s+[*_]*\d+(?:\.\d+)+\.?(?=\s)", re.MULTILINE)
_VERSION = re.compile(r"(?<![\w.])[vA-Z]?\.?\d+(?:\.\d+){2,}\w*|\b[A-Z]\.\d+(?:\.\d+)*")
_NUMBER = re.compile(
    r"(?<![\w.])(?P<sign>[-−])?(?P<digits>\d+(?:[,\u202f]\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?)(?![\d])"
    r"(?P<mark>[*_]*)(?P<percent>\s?%)?[*_]*(?:<!--\s*(?P<source>.*?)\s*-->)?",
    re.DOTALL,
)
_CLAIM = re.compile(r"\d\d(\.[A-Za-z0-9_+-]+)+")


@dataclass(frozen=True)
class Problem:
    """A number whose source is missing, unknown or says something else."""

    number: str
    message: str

    def __str__(self):
        return f"{self.number}: {self.message}"


def check(markdown, claims):
    """The problems of one Markdown cell, in order.

    Args:
        markdown: the cell's source.
        claims: the content of `data/claims.json`.

    Returns:
        A list of `Problem`; empty if every decimal number names a source that agrees with it.
    """
    text = _blank(markdown)
    problems = []
    for match in _NUMBER.finditer(text):
        problem = _judge(match, claims)
        if problem:
            problems.append(Problem(match[0].split("<!--")[0].strip(), problem))
    return problems


def _blank(markdown):
    """The text without what is exempt; comments stay where they are."""
    for pattern in (_SKIPPED, _HEADING, _NAMED):
        markdown = pattern.sub(" x ", markdown)
    kept = []
    position = 0
    for comment in _KEEP.finditer(markdown):  # a claim's own name looks like a version: leave comments alone
        kept += [_VERSION.sub(" x ", markdown[position : comment.start()]), comment[0]]
        position = comment.end()
    text = "".join([*kept, _VERSION.sub(" x ", markdown[position:])])
    return _detached(text)


def _detached(text):
    """Drop comments that follow no number, so that numbers inside them are not read as prose."""
    return re.sub(r"(?<![\d%*_])<!--.*?-->", " ", text, flags=re.DOTALL)


def _judge(match, claims):
    source, digits = match["source"], match["digits"]
    decimal = "." in digits
    if source is None:
        return "names no source; follow it with <!-- name.of.claim --> or <!-- given -->" if decimal else None
    if source == GIVEN:
        return None
    if not _CLAIM.fullmatch(source):
        return f"the comment {source!r} is neither a claim's name nor {GIVEN!r}" if decimal else None
    if source not in claims:
        return f"there is no claim {source!r} in data/claims.json"
    number = Decimal(digits.replace(",", "").replace("\u202f", "")) * (-1 if match["sign"] else 1)
    half = Decimal(5).scaleb(number.as_tuple().exponent - 1)
    factor = 100 if match["percent"] else 1
    values = [Decimal(repr(v)) * factor for vs in claims[source]["values"].values() for v in vs]
    low, high = min(values), max(values)
    if not low - half <= number <= high + half:
        return f"{source} is between {float(low):g} and {float(high):g}"
    return None
