"""Fonts of figures: Korean labels where a Korean font is found, their Latin form elsewhere."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from matplotlib import font_manager

from attention_by_hand import strings

_KOREAN = ("Noto Sans KR", "Noto Sans CJK KR", "NanumGothic", "Malgun Gothic", "AppleGothic", "Apple SD Gothic Neo")


@cache
def korean_font():
    """Name of a font with Hangul that matplotlib can use, or None. The package `pylopdf-fonts-ko` brings one."""
    spec = find_spec("pylopdf_fonts_ko")
    if spec and spec.origin:
        for file in sorted(Path(spec.origin).parent.rglob("*.[ot]t[fc]")):
            font_manager.fontManager.addfont(file)
    known = {font.name for font in font_manager.fontManager.ttflist}
    return next((name for name in _KOREAN if name in known), None)


def families():
    """Font families in the order matplotlib should try them: Hangul first, symbols and math after it."""
    return [*([korean_font()] if korean_font() else []), "DejaVu Sans"]


def label(word):
    """A Korean word as figures can show it: itself with a Korean font, romanised without."""
    return word if korean_font() else strings.romanised(word)
