"""The first code cell of every chapter, the same in all of them; a test compares.

It works where the package is installed, in a clone where it is not, and in a folder that holds nothing but
the notebook, as in Colab: there it installs the helpers alone, and never the frameworks that are already there.
"""

METADATA = {"cellView": "form"}  # Colab shows the two choices and hides the code

SETUP_CELL = """
# @title Setup: choose a backend and run this cell first (a KERAS_BACKEND that is already set wins)
BACKEND = "torch"  # @param ["torch", "jax", "tensorflow"]
HELPERS = "attention-by-hand"  # @param {type:"string"}
import importlib.util, os, pathlib, subprocess, sys

os.environ |= dict(KERAS_BACKEND=BACKEND, XLA_PYTHON_CLIENT_PREALLOCATE="false", TF_CPP_MIN_LOG_LEVEL="3") | os.environ
sys.path += [f"{p}/src" for p in pathlib.Path("_").absolute().parents if (p / "src/attention_by_hand").is_dir()]
pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", os.environ.get("ABH_HELPERS", HELPERS)]
if not importlib.util.find_spec("attention_by_hand") and subprocess.run(pip, capture_output=True).returncode:
    sys.exit(f"Cannot install the helpers from {pip[-1]!r}: go online, or set HELPERS to their wheel, and run again.")
import attention_by_hand as abh

print(abh.setup(BACKEND))
""".strip()
