"""The encoder of BERT's form: equal to loops in NumPy, filled by the names and axes of torch, picky about tables."""

import math

import keras
import numpy as np
import pytest

from attention_by_hand.models import (
    BertEmbedding,
    bert_encoder,
    bert_sizes,
    encode_texts,
    load_bert,
    load_map,
    mean_of_tokens,
    random_table,
)
from attention_by_hand.parity import bert_in_numpy

SIZES = {"vocabulary": 23, "layers": 2, "heads": 3, "width": 12, "mlp_dim": 17, "positions": 9}
LENGTH = 7
TOKENS = np.array([[2, 22, 5, 7, 3, 0, 0], [2, 9, 9, 1, 4, 8, 3]], "int32")
MASK = np.array([[1, 1, 1, 1, 1, 0, 0], [1] * 7], bool)


@pytest.fixture(scope="module")
def model():
    return bert_encoder(**SIZES, length=LENGTH)


@pytest.fixture(scope="module")
def table(model):
    """Random in every number, biases and γ included; no two tensors alike."""
    rng = np.random.default_rng(3)
    return {name: rng.normal(0.1, 0.4, x.shape).astype("float32") for name, x in random_table(model).items()}


@pytest.fixture(scope="module")
def found(model, table):
    load_bert(model, table)
    return model.predict({"tokens": TOKENS, "mask": MASK}, verbose=0)


def loop(table, tokens, heads, layers):
    """BERT, token by token and head by head, with torch's (out, in) matrices: y_i = Σ_j W_ij x_j + b_i."""

    def dense(x, name):
        W, b = table[f"{name}.weight"].astype("float64"), table[f"{name}.bias"]
        return np.array([[sum(W[i, j] * row[j] for j in range(len(row))) + b[i] for i in range(len(b))] for row in x])

    def norm(x, name):
        out = [(row - row.mean()) / math.sqrt(((row - row.mean()) ** 2).mean() + 1e-12) for row in x]
        return np.array(out) * table[f"{name}.weight"] + table[f"{name}.bias"]

    word, position, segment = (
        table[f"embeddings.{n}_embeddings.weight"].astype("float64") for n in ("word", "position", "token_type")
    )
    h = norm(np.array([word[n] + position[t] + segment[0] for t, n in enumerate(tokens)]), "embeddings.LayerNorm")
    hidden, maps, size = [h], [], h.shape[1] // heads
    for layer in (f"encoder.layer.{n}" for n in range(layers)):
        q, k, v = (dense(h, f"{layer}.attention.self.{name}") for name in ("query", "key", "value"))
        A, context = np.zeros((heads, len(h), len(h))), np.zeros_like(h)
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            for t in range(len(h)):
                e = np.exp([q[t, part] @ k[s, part] / math.sqrt(size) for s in range(len(h))])
                A[head, t] = e / e.sum()
                context[t, part] = sum(A[head, t, s] * v[s, part] for s in range(len(h)))
        h = norm(h + dense(context, f"{layer}.attention.output.dense"), f"{layer}.attention.output.LayerNorm")
        inner = dense(h, f"{layer}.intermediate.dense")
        inner = np.vectorize(lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2)(inner)
        h = norm(h + dense(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
        hidden.append(h)
        maps.append(A)
    return np.array(hidden), np.array(maps)


def test_hidden_states_and_maps_are_those_of_loops_and_padding_changes_nothing(found, table):
    for n, length in enumerate(MASK.sum(axis=1)):
        hidden, maps = loop(table, TOKENS[n, :length], SIZES["heads"], SIZES["layers"])
        np.testing.assert_allclose(found["hidden"][n, :, :length], hidden, atol=2e-5, rtol=1e-5)
        np.testing.assert_allclose(found["weights"][n, :, :, :length, :length], maps, atol=1e-5)
        assert (found["weights"][n, :, :, :, length:] == 0).all()
        np.testing.assert_allclose(found["sentence"][n], hidden[-1].mean(axis=0), atol=2e-5, rtol=1e-5)


def test_the_reference_of_the_stand_in_is_the_same_loops(table):
    for mine, other in zip(bert_in_numpy(table, TOKENS[1], 3), loop(table, TOKENS[1], 3, 2), strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-9)


def test_each_tensor_has_one_weight_and_each_weight_one_tensor(model):
    rows = load_map(model)
    assert len(rows) == 5 + 16 * SIZES["layers"]
    assert len({name for name, *_ in rows}) == len({id(weight) for _, weight, *_ in rows}) == len(rows)
    assert {id(weight) for _, weight, *_ in rows} == {id(weight) for weight in model.weights}


@pytest.mark.parametrize("part", ["self.query", "self.value", "output.dense"])
def test_a_square_matrix_that_is_not_transposed_fits_and_gives_other_numbers(model, table, found, part):
    name = f"encoder.layer.0.attention.{part}.weight"
    assert table[name].shape == (12, 12)
    load_bert(model, table | {name: table[name].T})
    wrong = model.predict({"tokens": TOKENS, "mask": MASK}, verbose=0)
    load_bert(model, table)
    assert np.abs(wrong["hidden"] - found["hidden"]).max() > 0.1
    np.testing.assert_allclose(wrong["weights"][1].sum(axis=-1), 1, atol=1e-5)


def test_sizes_are_read_off_the_table(table):
    assert bert_sizes(table, heads=3) == SIZES
    with pytest.raises(ValueError, match="must hold embeddings.word_embeddings.weight"):
        bert_sizes({}, heads=3)


def test_tensors_that_nobody_uses_are_named_and_strangers_refused(model, table):
    assert load_bert(model, table | {"pooler.dense.weight": np.zeros((12, 12))}) == ["pooler.dense.weight"]
    stranger = "encoder.layer.2.output.dense.bias"
    with pytest.raises(ValueError, match=f"{stranger} has no place in a model of 37 tensors"):
        load_bert(model, table | {stranger: np.zeros(12, "float32")})


WRONG = {
    "missing": (lambda x: None, "the table must hold NAME; it has 36 other tensors"),
    "transposed": (lambda x: x.T, r"NAME must have shape \(17, 12\); got \(12, 17\)"),
    "flat": (lambda x: x.ravel(), r"NAME must have shape \(17, 12\); got \(204,\)"),
    "integers": (lambda x: x.astype("int64"), "NAME must hold finite floating-point numbers; got int64"),
    "not a number": (lambda x: np.where(x == x.max(), np.nan, x), "NAME must hold finite floating-point numbers"),
}


@pytest.mark.parametrize("change", WRONG)
def test_a_tensor_that_does_not_fit_is_named_and_the_model_left_as_it_was(model, table, change):
    name = "encoder.layer.1.intermediate.dense.weight"
    function, message = WRONG[change]
    load_bert(model, table)
    before = model.get_weights()
    changed = {key: x + 1 for key, x in table.items() if key != name}
    if (array := function(table[name])) is not None:
        changed[name] = array
    with pytest.raises(ValueError, match=message.replace("NAME", name)):
        load_bert(model, changed)
    for one, other in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_random_tables_are_what_bert_starts_from(model):
    table = random_table(model, seed=5)
    assert all((x == 0).all() for name, x in table.items() if name.endswith("bias"))
    assert all((x == 1).all() for name, x in table.items() if name.endswith("LayerNorm.weight"))
    drawn = np.concatenate([x.ravel() for x in table.values() if x.ndim == 2])
    assert 0.018 < drawn.std() < 0.022 and not np.array_equal(drawn[:9], drawn[9:18])
    assert not np.array_equal(
        drawn, np.concatenate([x.ravel() for x in random_table(model, 6).values() if x.ndim == 2])
    )


def test_texts_go_through_in_batches_of_one_size(model, table, found):
    class Words:
        """Stands in for a tokenizer: a text is the number of its row."""

        def encode(self, texts, length):
            assert length == LENGTH and all(type(text) is str for text in texts)
            rows = [int(text) for text in texts]
            return {"tokens": TOKENS[rows], "mask": MASK[rows]}

    load_bert(model, table)
    read = encode_texts(model, Words(), np.array(["1", "0", "1"]), batch_size=2)
    np.testing.assert_array_equal(read["tokens"], TOKENS[[1, 0, 1]])
    np.testing.assert_allclose(read["sentence"], found["sentence"][[1, 0, 1]], atol=1e-5)
    assert read["weights"].shape == (3, 2, 3, 7, 7)


def test_mean_leaves_padding_out(rng):
    hidden = rng.normal(size=(2, 7, 5)).astype("float32")
    expected = [hidden[0, :5].mean(axis=0), hidden[1].mean(axis=0)]
    np.testing.assert_allclose(keras.ops.convert_to_numpy(mean_of_tokens(hidden, MASK)), expected, atol=1e-6)


def test_wrong_sizes_are_named():
    with pytest.raises(ValueError, match="layers must be a positive integer; got 0"):
        bert_encoder(**{**SIZES, "layers": 0})
    with pytest.raises(ValueError, match="num_heads must divide the width of x, 12"):
        bert_encoder(**{**SIZES, "heads": 5}, length=LENGTH)
    with pytest.raises(ValueError, match=r"tokens must have shape \(B, T\), T known and at most 9; got \(None, 10\)"):
        bert_encoder(**SIZES, length=10)
    with pytest.raises(ValueError, match="vocabulary must be a positive integer; got 2.5"):
        BertEmbedding(2.5, 4, 6)


def test_the_embedding_comes_back_from_its_configuration():
    layer = BertEmbedding(11, 5, 4, epsilon=1e-9)
    again = BertEmbedding.from_config(layer.get_config())
    assert (again.sizes, again.epsilon) == (layer.sizes, 1e-9)
    assert layer.compute_output_shape((None, 3)) == (None, 3, 4)
