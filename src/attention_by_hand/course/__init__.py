"""The course's command line: run chapters on the backends, collect claims, keep notebooks clean.

Importing this package does not import Keras: only the kernels that run a chapter do.
"""

import sys

# jsonschema, which nbformat needs, would spend two seconds of each start on a grammar of internet addresses
# that no notebook uses. Without that optional package it skips the check of such addresses.
sys.modules.setdefault("rfc3987_syntax", None)

BACKENDS = ("torch", "jax", "tensorflow")


class CourseError(Exception):
    """Something the user can put right; the message is one sentence or two that say how."""
