"""The one module that knows which framework runs underneath: torch, jax or tensorflow.

Keras reads the environment variable `KERAS_BACKEND` once, when it is imported. Everything here asks the
Keras that was imported, never the variable alone, so that what it reports is what runs.
"""

import contextlib
import os
import platform

import keras
import numpy as np

BACKENDS = ("torch", "jax", "tensorflow")
_asked = None  # the BACKEND that the setup cell named when it first ran in this process


def name():
    """The backend that runs now: `"torch"`, `"jax"` or `"tensorflow"`."""
    return keras.backend.backend()


def device():
    """The device that tensors live on, as one word: `"cpu"`, `"gpu"` or what the framework calls it."""
    if name() == "torch":
        from keras.src.backend.torch.core import get_device

        return str(get_device()).split(":")[0]
    if name() == "jax":
        import jax

        return jax.default_backend()
    import tensorflow as tf

    return "gpu" if tf.config.list_physical_devices("GPU") else "cpu"


def versions():
    """Versions of Python, Keras, NumPy and the backend in use, as a dictionary."""
    packages = {"keras": keras.__version__, "numpy": np.__version__}
    module = __import__(name())
    return {"python": platform.python_version(), **packages, name(): module.__version__}


def describe():
    """One line that says what is in use: backend, versions, device."""
    parts = [f"{package} {version}" for package, version in versions().items()]
    return f"backend {name()} · " + " · ".join(parts) + f" · device {device()}"


def setup(wanted=None):
    """Prepare a notebook and describe it in one line; the setup cell prints the result.

    Args:
        wanted: the backend that the setup cell names, or None. An environment variable `KERAS_BACKEND`
            that was set before the notebook started wins over it, and the line says so.

    Returns:
        The line of `describe()`, with a remark where `wanted` is not what runs.

    Raises:
        ValueError: `wanted` is not the name of a backend.
        RuntimeError: Keras was imported with another backend than `KERAS_BACKEND` asks for now, or the
            setup cell was changed and run again. Only a new kernel can change the backend.
    """
    global _asked
    if wanted is not None and wanted not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}; got {wanted!r}")
    environment = os.environ.get("KERAS_BACKEND", name())
    changed = wanted if _asked not in (None, wanted) else None
    target = changed or environment
    if target != name():
        raise RuntimeError(
            f"Keras was already imported with the backend {name()!r}, and {target!r} is asked for. "
            "Keras reads KERAS_BACKEND only once: restart the kernel, then run the setup cell first."
        )
    _asked = wanted or _asked
    if name() == "torch":  # small steps are far slower with many threads than with one on a busy machine
        set_threads(int(os.environ.get("ABH_THREADS", "1")))
    line = describe()
    if wanted and wanted != name():
        line += f" (KERAS_BACKEND={name()} was set outside and wins over BACKEND = {wanted!r})"
    return line


def seed():
    """The seed of this run: 0, or what the environment variable `ABH_SEED` says (`make claims` sets it)."""
    return int(os.environ.get("ABH_SEED", "0"))


def set_seed(value=None):
    """Seed Python, NumPy and the backend with `value` (default: `seed()`) and return it.

    The same seed gives the same numbers on the same backend and device. It does not give the same
    random numbers on two backends: to compare them, copy the weights.
    """
    value = seed() if value is None else int(value)
    keras.utils.set_random_seed(value)
    return value


def set_threads(count):
    """Use `count` threads for one operation on the CPU, from now on, where the backend allows it.

    Args:
        count: number of threads, at least 1.

    Raises:
        ValueError: `count` is smaller than 1.
        RuntimeError: on jax always, on tensorflow once it has run: they read the number when they start.
            Set it for a new process with `course.threads.environment`.
    """
    if count < 1:
        raise ValueError(f"count must be at least 1; got {count}")
    if name() == "torch":
        import torch

        torch.set_num_threads(count)
    elif name() == "tensorflow":
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(count)
    else:
        raise RuntimeError("jax reads its number of threads from XLA_FLAGS when it starts; it cannot change later")


@contextlib.contextmanager
def highest_precision():
    """Within it, float32 matrix products use all 24 bits; accelerators otherwise may shorten them.

    On a CPU nothing changes.
    """
    if name() == "jax":
        import jax

        with jax.default_matmul_precision("highest"):
            yield
    elif name() == "torch":
        import torch

        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("highest")
        try:
            yield
        finally:
            torch.set_float32_matmul_precision(before)
    else:
        import tensorflow as tf

        before = tf.config.experimental.tensor_float_32_execution_enabled()
        tf.config.experimental.enable_tensor_float_32_execution(False)
        try:
            yield
        finally:
            tf.config.experimental.enable_tensor_float_32_execution(before)


def has_fused_attention():
    """Whether `keras.ops.dot_product_attention` is one kernel here, faster than the steps written out.

    torch has one everywhere; jax and tensorflow write the steps out on the CPU (measured: 1.0 to 1.2 times the
    time of our own steps there).
    """
    return name() == "torch" or (name() == "jax" and device() != "cpu")


def compiles_loops():
    """Whether a loop over time steps is better compiled as one loop than written out, step after step.

    On jax it is: twelve steps written out compile nearly twice as long and run no faster. torch runs step by step
    anyway; tensorflow takes about 1.2 times as long with the loop (measured: 12 steps of a decoder, training).
    """
    return name() == "jax"


def to_numpy(tensor):
    """A NumPy copy of a tensor, variable or array of any backend, cut off from its gradient."""
    return np.array(keras.ops.convert_to_numpy(tensor))


def value_and_grad(function, inputs=(), variables=()):
    """Value and gradient of a scalar function, computed by the backend's own automatic differentiation.

    torch uses `autograd.grad`, jax `jax.value_and_grad` over a pure function, tensorflow a `GradientTape`.

    Args:
        function: called as `function(*inputs)` with tensors; returns a scalar tensor. It may use `variables`.
        inputs: floating-point arrays or tensors to differentiate by. Close over integers and masks instead.
        variables: Keras variables to differentiate by, for example `layer.trainable_variables`.

    Returns:
        `(value, input_gradients, variable_gradients)`: a float and two lists of NumPy arrays, shaped like
        `inputs` and `variables`. A gradient that does not exist (the value does not depend on it) is zeros.

    Raises:
        ValueError: an input is not floating point, or the function's result is not a scalar.
    """
    value, _, *gradients = differentiate(lambda *tensors: (function(*tensors), ()), variables)(inputs)
    return value, *gradients


def differentiate(function, variables=(), compiled=False):
    """Like `value_and_grad`, for a function with further results, and to be called many times.

    Args:
        function: called as `function(*inputs, *others)` with tensors; returns `(scalar, extras)`.
        variables: Keras variables to differentiate by.
        compiled: on jax, compile the whole at once instead of every operation alone: for functions of many steps.

    Returns:
        A callable `run(inputs, others=())`, with `inputs` to differentiate by and `others` arrays or None, which
        gives `(value, extras, input_gradients, variable_gradients)`: a float and three lists of NumPy arrays.

    Raises:
        ValueError: as `value_and_grad`, when `run` is called.
    """
    variables = list(variables)
    engine = {"torch": _grad_torch, "jax": _grad_jax, "tensorflow": _grad_tensorflow}[name()]

    def run(inputs, others=()):
        tensors = [keras.ops.convert_to_tensor(x) for x in inputs]
        others = [None if x is None else keras.ops.convert_to_tensor(x) for x in others]
        for position, tensor in enumerate(tensors):
            dtype = keras.backend.standardize_dtype(tensor.dtype)
            if not keras.backend.is_float_dtype(dtype):
                raise ValueError(f"inputs[{position}] must be floating point to have a gradient; got dtype {dtype}")

        def checked(*tensors):
            value, extras = function(*tensors, *others)
            if tuple(value.shape) != ():
                raise ValueError(f"function must return a scalar; got shape {tuple(value.shape)}")
            return value, extras

        options = {"compiled": compiled} if name() == "jax" else {}
        value, extras, found = engine(checked, tensors, variables, **options)
        likes = [*tensors, *variables]
        found = [np.zeros(x.shape, "float32") if g is None else to_numpy(g) for g, x in zip(found, likes, strict=True)]
        return float(to_numpy(value)), [to_numpy(x) for x in extras], found[: len(tensors)], found[len(tensors) :]

    return run


def _grad_torch(function, tensors, variables):
    import torch

    leaves = [x.detach().clone().requires_grad_() for x in tensors]
    with torch.enable_grad():
        value, extras = function(*leaves)
        wanted = [*leaves, *(v.value for v in variables)]
        if not value.requires_grad:
            return value, extras, [None] * len(wanted)
        return value, extras, torch.autograd.grad(value, wanted, allow_unused=True)


def _grad_jax(function, tensors, variables, compiled):
    import jax

    def pure(inputs, values):
        with keras.StatelessScope(state_mapping=list(zip(variables, values, strict=True))):
            return function(*inputs)

    compute = jax.value_and_grad(pure, argnums=(0, 1), has_aux=True)
    compute = jax.jit(compute) if compiled else compute
    (value, extras), (inputs, values) = compute(tensors, [v.value for v in variables])
    return value, extras, [*inputs, *values]


def _grad_tensorflow(function, tensors, variables):
    import tensorflow as tf

    tensors = [tf.identity(x) for x in tensors]  # a tensor that is given twice has two gradients, not their sum
    wanted = [*tensors, *(v.value for v in variables)]
    with tf.GradientTape() as tape:
        for tensor in tensors:
            tape.watch(tensor)
        value, extras = function(*tensors)
    grads = tape.gradient(value, wanted)
    return value, extras, [tf.convert_to_tensor(g) if isinstance(g, tf.IndexedSlices) else g for g in grads]


def torch_multi_head(weights, query, value, key=None, mask=None):
    """What `torch.nn.MultiheadAttention` computes with the weights of a Keras layer; None on other backends.

    Its `embed_dim` is the width of the query and must equal H · Dk, with values as wide as keys. It stores its
    kernels transposed, all heads in one matrix, and its masks mean the opposite: True = ignore.

    Args:
        weights: eight arrays in Keras's order: query, key, value and output, each a kernel and a bias.
        query, value, key: float32 arrays (B, Tq, Dq), (B, Tv, Dv), (B, Tv, Dk); the values when `key` is None.
        mask: boolean array that broadcasts to (B, H, Tq, Tv), True = may attend; or None.

    Returns:
        `(output (B, Tq, Dq), weights (B, H, Tq, Tv))` as NumPy arrays, or None.
    """
    if name() != "torch":
        return None
    import torch

    key = value if key is None else key
    heads, width = weights[0].shape[1], query.shape[-1]
    sizes = {"kdim": key.shape[-1], "vdim": value.shape[-1], "batch_first": True, "device": "cpu"}
    layer = torch.nn.MultiheadAttention(width, heads, **sizes)
    kernels = [torch.tensor(k.reshape(k.shape[0], -1).T) for k in weights[0:6:2]]  # (H · Dk, D) each
    state = {"in_proj_bias": torch.tensor(np.concatenate([b.reshape(-1) for b in weights[1:6:2]]))}
    if "in_proj_weight" in layer.state_dict():  # torch joins the three kernels when their widths are equal
        state["in_proj_weight"] = torch.cat(kernels)
    else:
        state |= dict(zip(("q_proj_weight", "k_proj_weight", "v_proj_weight"), kernels, strict=True))
    state["out_proj.weight"] = torch.tensor(weights[6].reshape(-1, weights[6].shape[-1]).T)
    state["out_proj.bias"] = torch.tensor(weights[7])
    layer.load_state_dict(state)
    if mask is not None:
        shape = (len(query), heads, query.shape[1], value.shape[1])
        mask = torch.tensor(~np.broadcast_to(mask, shape)).reshape(-1, *shape[2:])  # (B · H, Tq, Tv), True = ignore
    with torch.no_grad():
        inputs = (torch.tensor(x) for x in (query, key, value))  # key before value
        output, found = layer(*inputs, attn_mask=mask, average_attn_weights=False)
    return output.numpy(), found.numpy()
