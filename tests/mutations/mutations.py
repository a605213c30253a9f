"""Single-line mistakes, planted one at a time into a copy of the layers; the unit tests must notice each.

    KERAS_BACKEND=torch python tests/mutations/mutations.py

One process for a backend: Keras is imported once, the package and the tests anew for every mutation. A mutation
is killed when a test *fails*; a test module that cannot be imported, or an error in collecting, does not count.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import pytest

ROOT = Path(__file__).resolve().parents[2]
ONE_HEAD = ("test_values.py", "test_masked_rows.py", "test_dropout.py")  # in tests/unit: quick, and about numbers
HEADS = ("test_multi_head.py", "test_relative.py")

BASE, DOT, MULTI, RELATIVE = "layers/base.py", "layers/dot_product.py", "layers/multi_head.py", "layers/relative.py"
RESHAPED = "ops.reshape(x, (x.shape[0], x.shape[2], x.shape[1], x.shape[3])) for x"
RESHAPED_BACK = "ops.reshape(context, (q.shape[0], q.shape[2], q.shape[1], v.shape[3])), weights"
FLIPPED = "ops.tensordot(ops.flip(context, axis=2), self.output_kernel"
FLIPPED_TABLE = '"bhtr,rd->bthd", ops.flip(by_distance, axis=-1), '
MUTATIONS = (  # name, file, text that occurs once, text in its place
    ("softmax axis", "masks.py", "scores, MASKED_SCORE), axis=-1)", "scores, MASKED_SCORE), axis=-2)"),
    ("softmax axis, no mask", "masks.py", "return ops.softmax(scores, axis=-1)", "return ops.softmax(scores, axis=-2)"),
    ("√D removed", DOT, "self.query_width**-0.5", "1.0"),
    ("√D doubled", DOT, "self.query_width**-0.5", "self.query_width**-1.0"),
    ("mask polarity", "masks.py", "ops.where(mask, scores, MASKED_SCORE)", "ops.where(mask, MASKED_SCORE, scores)"),
    ("mask after softmax", "masks.py", "ops.softmax(ops.where(mask, scores, MASKED_SCORE)", "ops.softmax((scores)"),
    ("query and key swapped", BASE, "self.score(query, key)  #", "self.score(key, query)  #"),
    ("key and value swapped", BASE, "self.score(query, key)  #", "self.score(query, value)  #"),
    ("weights after dropout", BASE, "dropped = keras.random.dropout(", "weights = dropped = keras.random.dropout("),
    (
        "dropout before softmax",
        BASE,
        "masks.masked_softmax(scores, mask)",
        "masks.masked_softmax(keras.random.dropout(scores, 0.5), mask)",
    ),
    ("dropout in inference", BASE, "self.dropout > 0 and training", "self.dropout > 0"),
    ("causal offset", "masks.py", "rows >= columns", "rows > columns"),
    ("scale outside the tanh", DOT, "ops.tanh(query + key)", "self.scaled(ops.tanh(query + key))"),
    ("scale forgotten on keys", DOT, "ops.expand_dims(self.scaled(key), axis=1)", "ops.expand_dims(key, axis=1)"),
    ("constant of a dtype", "masks.py", "MASKED_SCORE = -1e38", "MASKED_SCORE = -1e4"),
    ("mask broadcast", "masks.py", "ops.expand_dims(value_mask, axis=1)", "ops.expand_dims(value_mask, axis=2)"),
    ("padding not cleared", BASE, "value = masks.clear(value, value_mask)", "value = masks.clear(value, None)"),
    ("one bias for all heads", MULTI, "else projected + bias", "else projected + bias[:1]"),
    ("bias of a projection missing", MULTI, "else projected + bias", "else projected"),
    ("bias of the output missing", MULTI, "output = output + self.output_bias", "pass"),
    ("heads reshaped, not moved", MULTI, "ops.transpose(x, (0, 2, 1, 3)) for x", RESHAPED),
    ("heads reshaped back, not moved", MULTI, "ops.transpose(context, (0, 2, 1, 3)), weights", RESHAPED_BACK),
    ("heads swapped before the output projection", MULTI, "ops.tensordot(context, self.output_kernel", FLIPPED),
    ("√key_dim removed", MULTI, '"bhtd,bhsd->bhts", q * self.key_dim**-0.5', '"bhtd,bhsd->bhts", q'),
    (
        "√ of all heads' width",
        MULTI,
        'bhts", q * self.key_dim**-0.5',
        'bhts", q * (self.key_dim * self.num_heads) ** -0.5',
    ),
    ("first head's mask for all", MULTI, "attention_mask if mask is None", "attention_mask[:, :1] if mask is None"),
    ("mask per head not joined", MULTI, "ops.logical_and(mask, attention_mask)", "mask"),
    ("query mask forgotten", MULTI, "output = masks.clear(output, query_mask)", "pass"),
    ("distance not clipped", RELATIVE, "ops.clip(distance, -max_distance, max_distance)", "distance"),
    ("sign of the distance", RELATIVE, "max_distance) + max_distance\n", "max_distance) * -1 + max_distance\n"),
    ("values' table the wrong way round", RELATIVE, '"bhtr,rd->bthd", by_distance, ', FLIPPED_TABLE),
    (
        "rotation the other way",
        RELATIVE,
        "even * cos - odd * sin, even * sin +",
        "even * cos + odd * sin, -even * sin +",
    ),
    (
        "only queries rotated",
        RELATIVE,
        "super().attend(self.rotary(q), self.rotary(k)",
        "super().attend(self.rotary(q), k",
    ),
    ("slopes from h = 0", RELATIVE, "np.arange(1, num_heads + 1)", "np.arange(num_heads)"),
    ("distance added, not subtracted", RELATIVE, "scores = scores - ops.cast(", "scores = scores + ops.cast("),
    ("skewed by one step", RELATIVE, "[..., 1:, :]  #", "[..., :-1, :]  #"),
)


def source_with(mutation, folder):
    """A copy of `src` under `folder` in which one line is changed; None copies it as it is."""
    shutil.copytree(ROOT / "src", folder, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    if mutation is None:
        return
    name, file, old, new = mutation
    path = folder / "attention_by_hand" / file
    text = path.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise ValueError(f"mutation {name!r}: {old!r} must occur once in {file}; it occurs {text.count(old)} times")
    path.write_text(text.replace(old, new), encoding="utf-8")


def tests_for(mutation):
    """The quick tests that must notice: those of one head or of several; for the control, both."""
    if mutation is None:
        return ONE_HEAD + HEADS
    return {MULTI: HEADS, RELATIVE: HEADS[::-1]}.get(mutation[1], ONE_HEAD)


def run_tests(mutation):
    """Exit code of pytest on the quick tests, with the package imported from a (mutated) copy."""
    own = {path.stem for path in (ROOT / "tests" / "unit").glob("*.py")}
    for module in [m for m in sys.modules if m.split(".")[0] in {"attention_by_hand", *own}]:
        del sys.modules[module]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        source_with(mutation, source)
        sys.path.insert(0, str(source))
        sys.dont_write_bytecode = True
        try:
            tests = [str(ROOT / "tests" / "unit" / name) for name in tests_for(mutation)]
            code = pytest.main(["-x", "-q", "--no-header", "--tb=no", "-W", "ignore", "-p", "no:cacheprovider", *tests])
            used = Path(sys.modules["attention_by_hand"].__file__)
        finally:
            sys.path.remove(str(source))
        if source not in used.parents:
            raise RuntimeError(f"the tests imported {used}, not the copy")
    return code


def main():
    """Control without a mutation, then every mutation; exit code 0 when all are killed."""
    if (code := run_tests(None)) != pytest.ExitCode.OK:
        print(f"the tests fail without any mutation (pytest exit code {int(code)})")
        return 2
    survived = []
    for mutation in MUTATIONS:
        code = run_tests(mutation)
        killed = code == pytest.ExitCode.TESTS_FAILED
        print(f"{'killed' if killed else 'SURVIVED'}: {mutation[0]} (pytest exit code {int(code)})", flush=True)
        survived += [] if killed else [mutation[0]]
    print(f"killed {len(MUTATIONS) - len(survived)} of {len(MUTATIONS)} on {keras.backend.backend()}")
    return 1 if survived else 0


if __name__ == "__main__":
    raise SystemExit(main())
