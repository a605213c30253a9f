"""Read the weights in an old torch file (before the zip format of 2020) with NumPy alone, and run nothing in it.

Such a file is a pickle, and a pickle can call any function. This reader knows the three names that a table of
tensors needs and refuses all others.
"""

import pickle
from collections import OrderedDict

import numpy as np

_MAGIC = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001
_DTYPES = {
    "FloatStorage": "<f4",
    "DoubleStorage": "<f8",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
}


def read_torch_file(path):
    """The tensors of a `state_dict` that torch saved before version 1.6.

    Args:
        path: the file.

    Returns:
        Dictionary of NumPy arrays by name, in the order of the file.

    Raises:
        ValueError: the file is no such file, is cut off, or its pickle asks for anything but plain tensors.
    """
    with open(path, "rb") as file:
        try:
            if _Unpickler(file).load() != _MAGIC or _Unpickler(file).load() != _PROTOCOL:
                raise pickle.UnpicklingError("it does not begin as one")
            _Unpickler(file).load()  # what machine wrote it: sizes of numbers, byte order
            reader = _Unpickler(file)
            table = reader.load()
            for key in _Unpickler(file).load():
                storage = reader.storages[key]
                (size,) = np.frombuffer(file.read(8), "<i8")
                if size != storage.size:
                    raise pickle.UnpicklingError(f"storage {key} should hold {storage.size} numbers, not {size}")
                storage[:] = np.frombuffer(file.read(int(size) * storage.itemsize), storage.dtype)
        except (pickle.UnpicklingError, EOFError, KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"path must be a file of tensors in torch's format before 1.6; {path}: {error}") from error
    return {name: np.array(tensor) for name, tensor in table.items()}


class _Unpickler(pickle.Unpickler):
    def __init__(self, file):
        super().__init__(file)
        self.storages = {}

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _view
        if module == "torch" and name in _DTYPES:
            return _DTYPES[name]
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is not allowed")

    def persistent_load(self, identity):
        """An array (size,) that is filled once the pickle has been read; tensors are views of it."""
        kind, dtype, key, _, size, *_ = identity
        if kind != "storage" or not isinstance(size, int) or not 0 <= size < 2**31:
            raise pickle.UnpicklingError(f"it holds something that is no storage of tensors: {kind!r}")
        if key not in self.storages:
            self.storages[key] = np.zeros(size, dtype)
        return self.storages[key]


def _view(storage, offset, shape, strides, *_):
    """A tensor (shape) as a view of its storage; `strides` counts numbers, not bytes."""
    last = offset + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    if min((offset, *shape, *strides), default=0) < 0 or (0 not in shape and last >= storage.size):
        raise pickle.UnpicklingError(f"a tensor {tuple(shape)} does not fit into its storage of {storage.size}")
    bytes_of = tuple(step * storage.itemsize for step in strides)
    return np.lib.stride_tricks.as_strided(storage[offset:], tuple(shape), bytes_of, writeable=False)
