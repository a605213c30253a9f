"""Read and write the safetensors format with NumPy alone: a length, a JSON header, numbers. Nothing in it can run.

8 bytes   length n of the header, unsigned, little-endian
n bytes   JSON: {name: {"dtype", "shape", "data_offsets": [begin, end]}, …, "__metadata__": {…}}
the rest  the tensors' numbers, in C order, little-endian; offsets count from here
"""

import json
import math
import struct
from pathlib import Path

import numpy as np

LONGEST_HEADER = 100_000_000  # bytes: the limit of the format's own library
_DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U8": "|u1",
    "BOOL": "|b1",
}


def read_safetensors(path):
    """The tensors of a file, by name.

    Args:
        path: the file.

    Returns:
        Dictionary of read-only NumPy arrays by name, in the order of the header; they share one buffer.

    Raises:
        ValueError: the file is cut off, its header is no header, or a tensor does not fit; the message names it.

    Source: the format's description, https://huggingface.co/docs/safetensors.
    """
    data = Path(path).read_bytes()
    header, start = _header(data, path)
    header.pop("__metadata__", None)
    spans = {name: _span(name, entry, len(data) - start) for name, entry in header.items()}
    _check_gaps(spans, len(data) - start)
    return {
        name: np.frombuffer(data, dtype, math.prod(shape), start + begin).reshape(shape)
        for name, (begin, _, dtype, shape) in spans.items()
    }


def write_safetensors(path, table):
    """Write arrays as `read_safetensors` reads them.

    Args:
        path: the file.
        table: NumPy arrays by name.

    Raises:
        ValueError: an array is of a kind that the format, or this reader, does not know.
    """
    names = {np.dtype(code): name for name, code in _DTYPES.items()}
    header, parts, at = {}, [], 0
    for name, array in table.items():
        array = np.asarray(array)
        little = array.dtype.newbyteorder("<")
        if little not in names:
            raise ValueError(f"{name} must be of one of {', '.join(_DTYPES)}; got {array.dtype}")
        numbers = array.astype(little).tobytes()
        header[name] = {"dtype": names[little], "shape": list(array.shape), "data_offsets": [at, at + len(numbers)]}
        parts.append(numbers)
        at += len(numbers)
    text = json.dumps(header).encode("utf-8")
    text += b" " * (-len(text) % 8)  # numbers begin at a multiple of 8
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


def _header(data, path):
    """The header as a dictionary, and where the numbers begin."""
    if len(data) < 8:
        raise ValueError(f"{path} must be a safetensors file; it has {len(data)} bytes and ends before its header")
    (length,) = struct.unpack_from("<Q", data)
    if length > min(LONGEST_HEADER, len(data) - 8):
        raise ValueError(f"{path} must be a safetensors file; its header should have {length} bytes and cannot")
    try:
        header = json.loads(data[8 : 8 + length].decode("utf-8"), object_pairs_hook=_no_twice)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} must be a safetensors file; its header is no JSON: {error}") from error
    if not isinstance(header, dict):
        raise ValueError(f"{path} must be a safetensors file; its header is a {type(header).__name__}, not a table")
    return header, 8 + length


def _no_twice(pairs):
    """A JSON object with one name twice would hide one of its tensors."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name appears twice")
    return found


def _span(name, entry, size):
    """Begin, end, dtype and shape of one tensor; an entry that does not fit is refused."""
    try:
        dtype, shape, (begin, end) = entry["dtype"], tuple(entry["shape"]), entry["data_offsets"]
    except (TypeError, KeyError, ValueError) as error:
        raise ValueError(f"{name} must have dtype, shape and two data_offsets in the header; got {entry!r}") from error
    if dtype not in _DTYPES:
        raise ValueError(f"{name} must be of one of {', '.join(_DTYPES)}; got {dtype!r}")
    if not all(type(n) is int and n >= 0 for n in (*shape, begin, end)):
        raise ValueError(f"{name} must have sizes and offsets that count something; got {shape}, {begin} and {end}")
    if not begin <= end <= size:
        raise ValueError(f"{name} must lie within the file's {size} bytes of numbers; its offsets are {begin}, {end}")
    wanted = math.prod(shape) * np.dtype(_DTYPES[dtype]).itemsize
    if end - begin != wanted:
        raise ValueError(f"{name} of shape {shape} and {dtype} needs {wanted} bytes; its offsets give {end - begin}")
    return begin, end, _DTYPES[dtype], shape


def _check_gaps(spans, size):
    """Tensors lie one after the other: with overlaps or holes, a file could hold two readings."""
    at = 0
    for name, (begin, end, _, _) in sorted(spans.items(), key=lambda item: item[1][:2]):
        if begin != at:
            raise ValueError(f"{name} must begin where the tensor before it ends, at byte {at}; it begins at {begin}")
        at = end
    if at != size:
        raise ValueError(f"the tensors must fill the file's {size} bytes of numbers; they end at {at}")
