"""The safetensors reader: what is written is read, and a file that lies is refused by the name of the tensor."""

import json
import struct

import numpy as np
import pytest

from attention_by_hand.models import read_safetensors, write_safetensors


def pack(header, numbers=b""):
    """A file by hand, independent of the writer."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode("utf-8")
    return struct.pack("<Q", len(text)) + text + numbers


def entry(begin, end, shape, dtype="F32"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


@pytest.fixture
def refuse(tmp_path):
    def check(content, message):
        file = tmp_path / "bad.safetensors"
        file.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            read_safetensors(file)

    return check


def test_a_file_made_by_hand_is_read(tmp_path, rng):
    a, b = rng.normal(size=(2, 3)).astype("<f4"), np.array([[7], [-8]], "<i8")
    header = {"__metadata__": {"format": "pt"}, "b": entry(24, 40, [2, 1], "I64"), "a": entry(0, 24, [2, 3])}
    file = tmp_path / "x"
    file.write_bytes(pack(header, a.tobytes() + b.tobytes()))
    found = read_safetensors(file)
    assert list(found) == ["b", "a"]
    np.testing.assert_array_equal(found["a"], a)
    np.testing.assert_array_equal(found["b"], b)


def test_what_is_written_has_the_format_and_comes_back(tmp_path, rng):
    table = {
        "wide.name/…": rng.normal(size=(3, 1, 2)).astype("float32"),
        "double": rng.normal(size=4),
        "half": np.array(1.5, "float16"),
        "yes": np.array([True, False]),
        "none": np.zeros((0, 5), "int32"),
    }
    write_safetensors(tmp_path / "x", table)
    data = (tmp_path / "x").read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    assert length % 8 == 0 and header["double"]["dtype"] == "F64" and header["half"]["shape"] == []
    found = read_safetensors(tmp_path / "x")
    assert list(found) == list(table)
    for name, array in table.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype and not found[name].flags.writeable


def test_an_array_that_the_format_does_not_know_is_named(tmp_path):
    with pytest.raises(ValueError, match="z must be of one of F64, .*; got complex128"):
        write_safetensors(tmp_path / "x", {"z": np.zeros(2, complex)})


def test_a_file_cut_off_anywhere_is_refused(tmp_path, refuse):
    write_safetensors(tmp_path / "whole", {"a": np.arange(6.0), "b": np.arange(4)})
    whole = (tmp_path / "whole").read_bytes()
    for length in (0, 7, 8, 20, len(whole) // 2, len(whole) - 1):
        refuse(whole[:length], "must be a safetensors file|b must lie within")


def test_a_length_beyond_the_file_or_the_limit_is_refused(refuse):
    refuse(struct.pack("<Q", 2**63) + b"{}", "should have 9223372036854775808 bytes and cannot")
    refuse(struct.pack("<Q", 3) + b"{}", "should have 3 bytes and cannot")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"not json", "its header is no JSON"),
        (b"\xff\xfe", "its header is no JSON"),
        (b"[1, 2]", "its header is a list"),
        (b"[" * 100_000, "its header is no JSON"),
        (b'{"a": 1, "a": 2}', "a name appears twice"),
        ({"a": 5}, "a must have dtype, shape and two data_offsets"),
        ({"a": {"dtype": "F32", "shape": [1]}}, "a must have dtype, shape and two data_offsets"),
        ({"a": entry(0, 4, None)}, "a must have dtype, shape and two data_offsets"),
        ({"a": entry(0, 4, [1], "F8")}, "a must be of one of .*; got 'F8'"),
        ({"a": entry(0, 4, [-1])}, "a must have sizes and offsets that count"),
        ({"a": entry(0, 4, [1.0])}, "a must have sizes and offsets that count"),
        ({"a": entry(-4, 0, [1])}, "a must have sizes and offsets that count"),
        ({"a": entry(0, 8, [2])}, "a must lie within the file's 4 bytes"),
        ({"a": entry(4, 0, [1])}, "a must lie within the file's 4 bytes"),
        ({"a": entry(0, 4, [2])}, r"a of shape \(2,\) and F32 needs 8 bytes; its offsets give 4"),
        ({"a": entry(0, 4, [2**40, 2**40])}, "a of shape .* needs"),
        ({"a": entry(0, 4, [1]), "b": entry(0, 4, [1])}, "b must begin where the tensor before it ends, at byte 4"),
        ({"a": entry(2, 4, [1], "F16")}, "a must begin where the tensor before it ends, at byte 0"),
        ({"a": entry(0, 2, [1], "F16")}, "must fill the file's 4 bytes of numbers; they end at 2"),
    ],
)
def test_a_header_that_lies_is_refused_by_name(refuse, header, message):
    refuse(pack(header, b"\0" * 4), message)


def test_a_pickle_is_refused_and_not_run(tmp_path, refuse):
    mark = tmp_path / "was_run"
    refuse(
        b"\x80\x02cpathlib\nPath.touch\n(X" + struct.pack("<I", len(str(mark))) + str(mark).encode() + b"tR.", "must be"
    )
    assert not mark.exists()
