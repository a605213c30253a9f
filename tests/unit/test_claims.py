"""`abh.claim`: prints, holds, fails, records."""

import json

import numpy as np
import pytest
from keras import ops

from attention_by_hand import backend
from attention_by_hand.claims import ClaimError, claim


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    monkeypatch.delenv("ABH_CLAIMS_FILE", raising=False)
    monkeypatch.delenv("ABH_CLAIMS_SOFT", raising=False)


def test_a_number_in_its_band_is_printed_and_returned(capsys):
    assert claim("05.entropy.raw", 0.0714, band=(0, 0.15)) == 0.0714
    assert capsys.readouterr().out == "05.entropy.raw = 0.0714   in [0, 0.15]\n"


def test_both_ends_belong_to_the_band():
    assert claim("00.a", 1, band=(1, 2)) == 1
    assert claim("00.a", 2, band=(1, 2)) == 2


@pytest.mark.parametrize("value", [0.99, 2.01, float("nan"), float("inf"), -float("inf")])
def test_a_number_outside_its_band_fails(value):
    with pytest.raises(ClaimError, match="OUTSIDE"):
        claim("00.a", value, band=(1, 2))


def test_infinity_fails_even_in_an_open_band():
    with pytest.raises(ClaimError):
        claim("00.a", float("inf"), band=(0, float("inf")))


def test_a_number_just_outside_does_not_look_as_if_it_were_inside():
    with pytest.raises(ClaimError, match="1.00001 is OUTSIDE"):
        claim("00.a", 1.00001, band=(0, 1))


@pytest.mark.parametrize("value", [np.float32(1.5), np.array(1.5), np.array([1.5]), np.float64(1.5), np.array([[1.5]])])
def test_a_numpy_number_is_a_number(value):
    assert claim("00.a", value, band=(1, 2)) == 1.5


def test_a_tensor_with_one_element_is_a_number():
    assert claim("00.a", ops.mean(ops.convert_to_tensor([1.0, 2.0])), band=(1, 2)) == 1.5
    assert claim("00.a", ops.convert_to_tensor([1.5]), band=(1, 2)) == 1.5


def test_several_numbers_are_refused():
    with pytest.raises(ValueError, match="one number"):
        claim("00.a", np.ones(3), band=(0, 2))


@pytest.mark.parametrize("name", ["", "5.entropy", "entropy", "05", "05.", "05.a b", "05.a..b"])
def test_a_name_without_its_chapter_is_refused(name):
    with pytest.raises(ValueError, match="name must look like"):
        claim(name, 1, band=(0, 2))


@pytest.mark.parametrize("band", [(2, 1), (float("nan"), 1), (0, float("nan"))])
def test_a_band_that_is_no_band_is_refused(band):
    with pytest.raises(ValueError, match="band"):
        claim("00.a", 1, band=band)


def test_the_file_gets_one_line_of_json_a_claim(tmp_path, monkeypatch):
    file = tmp_path / "claims.jsonl"
    monkeypatch.setenv("ABH_CLAIMS_FILE", str(file))
    monkeypatch.setenv("ABH_SEED", "2")
    claim("00.a", 1.5, band=(np.float32(1), 2))
    with pytest.raises(ClaimError):
        claim("00.b", 5, band=(1, 2))
    first, second = map(json.loads, file.read_text().splitlines())
    assert first == {"name": "00.a", "value": 1.5, "band": [1, 2], "backend": backend.name(), "seed": 2}
    assert (second["name"], second["value"]) == ("00.b", 5)


def test_soft_records_a_number_outside_and_goes_on(tmp_path, monkeypatch, capsys):
    file = tmp_path / "claims.jsonl"
    monkeypatch.setenv("ABH_CLAIMS_FILE", str(file))
    monkeypatch.setenv("ABH_CLAIMS_SOFT", "1")
    assert claim("00.a", 5, band=(1, 2)) == 5
    assert "OUTSIDE" in capsys.readouterr().out
    assert json.loads(file.read_text())["value"] == 5


def test_a_claim_at_the_end_of_a_cell_shows_its_line_only():
    """IPython asks `_ipython_display_` first, and shows nothing more."""
    from IPython.core.formatters import DisplayFormatter

    assert DisplayFormatter().format(claim("00.a", 1, band=(0, 2))) == ({}, {})
