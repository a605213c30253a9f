"""Every number in the chapters' prose names its source, and quoted results agree with data/claims.json."""

import math

import nbformat

from attention_by_hand.course import claims, prose

from .conftest import ROOT
from .test_notebooks import FILES, each

CLAIMS = claims.load(ROOT / "data" / "claims.json")


@each
def test_numbers_in_prose_agree_with_their_sources(file):
    cells = [cell for cell in nbformat.read(file, as_version=4).cells if cell.cell_type == "markdown"]
    problems = [f"cell {cell.id}: {problem}" for cell in cells for problem in prose.check(cell.source, CLAIMS)]
    assert problems == []


def test_committed_claims_hold_on_every_seed():
    counts = {len(values) for entry in CLAIMS.values() for values in entry["values"].values()}
    assert counts <= {len(claims.SEEDS)}
    outside = [
        f"{name} on {backend}: {value}"
        for name, entry in CLAIMS.items()
        for backend, values in entry["values"].items()
        for value in values
        if not (math.isfinite(value) and entry["band"][0] <= value <= entry["band"][1])
    ]
    assert outside == []


def test_claims_file_is_as_the_command_writes_it():
    file = ROOT / "data" / "claims.json"
    assert list(CLAIMS) == sorted(CLAIMS)
    assert not file.exists() or file.read_text(encoding="utf-8") == claims.dumps(CLAIMS)


def test_claims_belong_to_a_chapter():
    assert {name[:2] for name in CLAIMS} <= {file.stem[:2] for file in FILES}
