"""The delivery log and its reader: gold is right, the past tells what it should, copies are independent."""

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest
from keras import ops

import attention_by_hand as abh
from attention_by_hand import masks
from attention_by_hand.datasets import delivery_log, prefixes, without_tags
from attention_by_hand.datasets.delivery_log import ASK, BILL, TAG

CARD = Path(__file__).parents[2] / "data" / "delivery_log.md"
SIZES = {"count": 200, "tagged": 3, "untagged": 4, "articles": 9, "prices": 5}
T = 3 * 3 + 2 * 4


@pytest.fixture(params=[0, 1])
def log(request):
    return delivery_log(**SIZES, seed=request.param)


def checksum(data):
    """SHA-256 over names, dtypes, shapes and little-endian bytes of all arrays."""
    digest = hashlib.sha256()
    for name in sorted(data):
        array = data[name].astype(data[name].dtype.newbyteorder("<"))
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def test_shapes_and_dtypes(log):
    shapes = {name: (a.shape, a.dtype.name) for name, a in log.items()}
    assert shapes.pop("tokens") == ((200, T, 3), "int32") and shapes.pop("length") == ((200,), "int32")
    assert {shapes.pop(name) for name in ("real", "asked", "known")} == {((200, T), "bool")}
    assert shapes == {"target": ((200, T), "int32"), "position": ((200, T), "int32")}


def test_every_ask_is_followed_by_the_bill_of_its_article(log):
    for tokens, length in zip(log["tokens"], log["length"], strict=True):
        for t, (kind, article, price) in enumerate(tokens[: length - 1]):
            if kind == ASK:
                assert price == 0 and tokens[t + 1, 0] == BILL and tokens[t + 1, 1] == article


def test_a_known_ask_has_its_tag_in_the_past_and_the_bill_is_one_more(log):
    assert log["known"].sum() > 200
    for n, t in np.argwhere(log["known"]):
        kind, article, price = log["tokens"][n, log["position"][n, t]]
        assert log["position"][n, t] < t and kind == TAG and article == log["tokens"][n, t, 1]
        assert log["target"][n, t] == price % 5 + 1


def test_an_unknowable_ask_has_no_tag_anywhere(log):
    unknowable = log["asked"] & ~log["known"]
    assert unknowable.sum() > 200
    for n, t in np.argwhere(unknowable):
        tags = log["tokens"][n][log["tokens"][n, :, 0] == TAG]
        assert log["tokens"][n, t, 1] not in tags[:, 1]


def test_targets_stand_at_asks_only_and_name_the_next_bill(log):
    assert (log["target"][~log["asked"]] == 0).all() and (log["target"][log["asked"]] > 0).all()
    for n, t in np.argwhere(log["asked"]):
        if t + 1 < log["length"][n]:
            assert log["target"][n, t] == log["tokens"][n, t + 1, 2]


def test_each_article_is_asked_for_once_and_padding_is_0_at_the_end(log):
    for tokens, real, length in zip(log["tokens"], log["real"], log["length"], strict=True):
        asked = tokens[tokens[:, 0] == ASK, 1]
        assert len(set(asked)) == len(asked)
        assert (real == (np.arange(T) < length)).all() and (tokens[~real] == 0).all() and (tokens[real, :2] > 0).all()
    assert set(log["length"]) == set(range(T // 4, T + 1))


def test_unknowable_prices_are_spread_evenly():
    log = delivery_log(4000, seed=3)
    found = np.bincount(log["target"][log["asked"] & ~log["known"]], minlength=9)[1:]
    assert np.abs(found / found.sum() - 1 / 8).max() < 0.01


def test_without_tags_only_tags_are_gone(log):
    bare = without_tags(log)
    tag = log["tokens"][:, :, 0] == TAG
    assert (bare["tokens"][tag] == 0).all() and not bare["real"][tag].any()
    np.testing.assert_array_equal(bare["tokens"][~tag], log["tokens"][~tag])
    np.testing.assert_array_equal(bare["real"][~tag], log["real"][~tag])


def test_prefixes_show_the_past_and_nothing_else(log):
    cut = prefixes(log)
    tokens, real = cut["tokens"].reshape(T, 200, T, 3), cut["real"].reshape(T, 200, T)
    for t in range(T):
        np.testing.assert_array_equal(tokens[t, :, : t + 1], log["tokens"][:, : t + 1])
        assert not tokens[t, :, t + 1 :].any() and not real[t, :, t + 1 :].any()
        np.testing.assert_array_equal(real[t, :, : t + 1], log["real"][:, : t + 1])


@pytest.mark.parametrize("bad", [{"articles": 6}, {"min_length": 0}, {"min_length": 99}])
def test_sizes_that_do_not_fit_are_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        delivery_log(**{**SIZES, **bad})


def test_the_card_holds_the_checksums_of_the_data():
    rows = re.findall(r"`delivery_log\((\d+), seed=(\d+)\)` \| `([0-9a-f]{64})`", CARD.read_text(encoding="utf-8"))
    assert len(rows) == 2
    for count, seed, digest in rows:
        assert checksum(delivery_log(int(count), seed=int(seed))) == digest


# The reader. Three copies: B = 2 logs, T = 17 steps.

COPIES = {
    "right": lambda real: masks.combine(masks.causal(T), real[:, None, :]),
    "open": lambda real: real[:, None, :],
    "late": lambda real: masks.combine(masks.causal(T), real[:, None, :]),
    "mean": lambda real: masks.combine(masks.causal(T), real[:, None, :]),
}


def reader_and_inputs():
    log = delivery_log(**{**SIZES, "count": 2}, seed=5)
    options = {"after_softmax": ["late"], "uniform": ["mean"], "articles": 9, "prices": 5, "key_dim": 6}
    reader = abh.models.LogReader(COPIES, seed=1, **options)
    x = ops.cast(reader.one_hot(log["tokens"]), "float32")
    return reader, log, x, ops.convert_to_tensor(log["real"])


def test_one_hot_marks_kind_article_and_price():
    reader, log, x, _ = reader_and_inputs()
    expected = np.zeros((2, T, 4 + 10 + 6))
    for n, t in np.ndindex(2, T):
        kind, article, price = log["tokens"][n, t]
        expected[n, t, [kind, 4 + article, 14 + price]] = 1
    np.testing.assert_array_equal(abh.backend.to_numpy(x), expected)


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_computes_what_its_formula_says(name):
    reader, log, x, real = reader_and_inputs()
    logits, weights = (abh.backend.to_numpy(a)[:, reader.names.index(name)] for a in reader.read(x, real))
    wq, wk, wv, wo = (abh.backend.to_numpy(w)[reader.names.index(name)].astype("float64") for w in reader.weights)
    x = abh.backend.to_numpy(x).astype("float64")
    for n, t in np.ndindex(2, T):
        seen = [j for j in range(T) if log["real"][n, j] and (name == "open" or j <= t)]
        over = range(T) if name == "late" else seen
        raised = {j: 1.0 if name == "mean" else np.exp((x[n, t] @ wq) @ (x[n, j] @ wk) / 6**0.5) for j in over}
        a = np.array([raised[j] / sum(raised.values()) if j in seen else 0.0 for j in range(T)])
        np.testing.assert_allclose(weights[n, t], a, atol=1e-5)
        np.testing.assert_allclose(logits[n, t], a @ x[n] @ wv @ wo, atol=1e-5)


def test_the_attention_of_a_copy_is_a_self_attention_layer():
    reader, log, x, real = reader_and_inputs()
    weights = abh.backend.to_numpy(reader.read(x, real)[1])[:, 0]
    layer = reader.attention("right")
    found = layer(x, mask=real, use_causal_mask=True, return_attention_scores=True)[1]
    np.testing.assert_allclose(abh.backend.to_numpy(found)[log["real"]], weights[log["real"]], atol=1e-5)


def test_copies_share_nothing():
    """The gradient of one copy's logits by the weights of another is 0."""
    reader, _, x, real = reader_and_inputs()

    def loss(x):
        return ops.sum(reader.read(x, real)[0][:, 0] ** 2)

    for gradient in abh.value_and_grad(loss, [x], reader.trainable_variables)[2]:
        assert (gradient[0] != 0).any() and (gradient[1:] == 0).all()


def test_calling_the_model_gives_the_logits_of_read():
    reader, log, x, real = reader_and_inputs()
    logits = reader({"tokens": log["tokens"], "real": log["real"]})
    np.testing.assert_allclose(abh.backend.to_numpy(logits), abh.backend.to_numpy(reader.read(x, real)[0]), atol=1e-6)
