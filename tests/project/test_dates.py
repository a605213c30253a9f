"""Dates in the formats of the Unicode CLDR: links by field, and what is refused."""

import re
import sys

import pytest

from attention_by_hand.datasets import dates

SMALL = {"train": 200, "random": 50}


@pytest.fixture(params=["ko", "fr", "es"])
def corpus(request):
    return dates(request.param, sizes=SMALL)


def fields(text):
    """Spans of the fields that one can tell without CLDR: the year, the day, the words."""
    year = re.search(r"\d{4}", text)
    rest = text[: year.start()] + "####" + text[year.end() :]
    return year.span(), rest


def test_the_year_is_linked_digit_by_digit(corpus):
    for pair in corpus.splits["train"]:
        (s, _), _ = fields("".join(pair.source))
        (t, _), _ = fields("".join(pair.target))
        assert {(t + i, s + i) for i in range(4)} <= pair.sure <= pair.possible
        assert {source for target, source in pair.possible if target == t} == set(range(s, s + 4))


def test_the_day_is_linked_to_the_day_and_the_weekday_to_the_weekday():
    for pair in dates("ko", sizes=SMALL).splits["random"]:
        source, target = "".join(pair.source), "".join(pair.target)
        weekday, month, day, year = (
            re.fullmatch(r"(\w+), (\w+) (\d+), (\d+)", source).span(1),
            *(re.fullmatch(r"(\w+), (\w+) (\d+), (\d+)", source).span(i) for i in (2, 3, 4)),
        )
        found = re.fullmatch(r"(\d{4})년 (\d+월) (\d+)일 (\S+)", target)
        assert found, target
        expected = {
            (t, s)
            for i, span in ((1, year), (2, month), (3, day), (4, weekday))
            for t in range(*found.span(i))
            for s in range(*span)
        }
        assert pair.possible == expected
        assert {t for t, _ in pair.sure} == {*range(*found.span(1)), *range(*found.span(3))}


def test_dates_are_all_different_and_their_characters_known(corpus):
    sources = [pair.source for pairs in corpus.splits.values() for pair in pairs]
    assert len(set(sources)) == len(sources) == 250
    assert all(character in corpus.target for pair in corpus.splits["train"] for character in pair.target)


def test_the_same_seed_gives_the_same_dates():
    assert dates("fr", sizes=SMALL, seed=3).splits == dates("fr", sizes=SMALL, seed=3).splits
    assert dates("fr", sizes=SMALL, seed=3).splits != dates("fr", sizes=SMALL, seed=4).splits


def test_a_run_is_told_that_the_data_is_not_ours(tmp_path, monkeypatch):
    monkeypatch.setenv("ABH_PATH_FILE", str(tmp_path / "path"))
    dates("es", sizes=SMALL)
    assert re.fullmatch(r"dates of CLDR, babel [\d.]+\n", (tmp_path / "path").read_text(encoding="utf-8"))


def test_without_babel_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "babel", None)
    with pytest.raises(ImportError, match="pip install babel"):
        dates("ko")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "xx_klingon"}, "does not know the language 'xx_klingon'"),
        ({"source_format": "tiny"}, "got 'tiny'"),
        ({"source_format": "long"}, "fields that the source's lacks, E"),
        ({"source_format": "short", "target_format": "long"}, "two digits"),
        ({"sizes": {"train": 400}, "years": (2001, 2001)}, "at most the 365 days"),
        ({"sizes": {"random": 5}}, 'must have "train"'),
    ],
)
def test_wrong_input_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        dates(**options)
