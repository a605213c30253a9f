"""Attention by Hand: every attention mechanism built with `keras.ops` and proved equal to Keras.

In notebooks: `import attention_by_hand as abh`. Names are loaded when first used, so that the command line
starts without Keras and a chapter pays only for what it uses.
"""

import importlib

__version__ = "0.1.0"

_MODULES = (
    "backend",
    "datasets",
    "decoding",
    "diagrams",
    "exercises",
    "layers",
    "masks",
    "measure",
    "metrics",
    "models",
    "parity",
    "plots",
    "steps",
    "strings",
)
_NAMES = {
    "setup": "backend",
    "seed": "backend",
    "set_seed": "backend",
    "value_and_grad": "backend",
    "check": "exercises",
    "claim": "claims",
    "diagram": "diagrams",
    "everywhere": "processes",
    "show_source": "source",
}
__all__ = [*_MODULES, *_NAMES]


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _NAMES:
        return getattr(importlib.import_module(f"{__name__}.{_NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__])
