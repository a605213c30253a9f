"""The part that looks: three convolutions, trained to name single shapes, then frozen and used for scenes."""

import keras
import numpy as np

WIDTHS = (24, 48, 64)


def build_extractor(widths=WIDTHS, seed=0):
    """A small convolutional network from a picture to a grid of features.

        h = ReLU(norm(conv(h))), once for each width: 4 × 4 kernels, stride 2, so that every step halves the grid

    A cell of the default grid sees 22 × 22 pixels of the picture and stands for 8 × 8 of them.

    Args:
        widths: number of features after each convolution.
        seed: seed of the kernels; NumPy draws them, so that they are the same on every backend.

    Returns:
        A model from uint8 pictures (B, H, W, 3), 0 … 255, to features (B, H/2ⁿ, W/2ⁿ, D): (B, 8, 8, 64) for pictures
        of 64 × 64 pixels.

    Raises:
        ValueError: no width, or one that is not a positive integer.
    """
    if not widths or any(not isinstance(w, int) or w < 1 for w in widths):
        raise ValueError(f"widths must be positive integers, one for each convolution; got {widths!r}")
    rng = np.random.default_rng(seed)
    pictures = keras.Input((None, None, 3), dtype="uint8", name="pictures")
    x, depth = keras.layers.Rescaling(1 / 127.5, offset=-1.0, name="scale")(pictures), 3  # −1 … 1
    for number, width in enumerate(widths, start=1):
        kernel = keras.initializers.Constant(rng.normal(0.0, (2 / (16 * depth)) ** 0.5, (4, 4, depth, width)))
        convolution = keras.layers.Conv2D(
            width, 4, strides=2, padding="same", use_bias=False, kernel_initializer=kernel, name=f"convolution_{number}"
        )
        x = keras.layers.BatchNormalization(momentum=0.9, name=f"norm_{number}")(convolution(x))
        x, depth = keras.layers.ReLU(name=f"features_{number}")(x), width
    return keras.Model(pictures, x, name="extractor")


def pretrain_extractor(data, epochs=4, batch_size=32, learning_rate=6e-3, widths=WIDTHS, seed=0, verbose=0):
    """Train an extractor on another task – what is the one object in the picture? – and freeze it.

    The largest value of every feature over the grid goes to one linear layer for each label.

    Args:
        data: `{"images": (N, H, W, 3) uint8, label: (N,) integers, …}` as `datasets.single_shapes` gives; every
            one-dimensional array of integers is a label.
        epochs, batch_size, learning_rate: of the training with Adam; the rate falls to 0 along a cosine.
        widths, seed: as in `build_extractor`.
        verbose: of `fit`.

    Returns:
        `(extractor, classifier)`, sharing the convolutions: the frozen extractor, and the model from pictures to
        `{label: logits (B, classes)}`, compiled with accuracies, for `evaluate`.

    Raises:
        ValueError: `data` lacks `images` or has no label, or `epochs` or `batch_size` is smaller than 1.
    """
    for name, number in (("epochs", epochs), ("batch_size", batch_size)):
        if number < 1:
            raise ValueError(f"{name} must be at least 1; got {number}")
    labels = _labels(data)
    extractor = build_extractor(widths, seed)
    pooled = keras.layers.GlobalMaxPooling2D(name="largest")(extractor.output)  # (B, D)
    logits = {name: keras.layers.Dense(int(y.max()) + 1, name=name)(pooled) for name, y in labels.items()}
    classifier = keras.Model(extractor.input, logits, name="classifier")
    steps = epochs * -(-len(data["images"]) // batch_size)
    classifier.compile(
        keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(learning_rate, steps)),
        {name: keras.losses.SparseCategoricalCrossentropy(from_logits=True) for name in labels},
        metrics={name: ["accuracy"] for name in labels},
    )
    classifier.optimizer.build(classifier.trainable_variables)  # else tensorflow traces the whole step twice
    classifier.fit(data["images"], labels, epochs=epochs, batch_size=batch_size, verbose=verbose)
    extractor.trainable = False  # also makes the norms use their running means, whatever `training` says
    return extractor, classifier


def extract(extractor, images, batch_size=64):
    """Features of many pictures, computed once: a frozen extractor would give the same in every epoch.

    The last batch is filled up, so that only one shape of batch is compiled.

    Args:
        extractor: a model from pictures to a grid, as `pretrain_extractor` gives.
        images: pictures (N, H, W, 3).
        batch_size: pictures at a time.

    Returns:
        float32 array (N, H', W', D).

    Raises:
        ValueError: `images` has not four axes or is empty, the extractor can still be trained, or `batch_size` is
            smaller than 1.
    """
    images = np.asarray(images)
    if images.ndim != 4 or not len(images):
        raise ValueError(f"images must have shape (N, height, width, channels), N at least 1; got {images.shape}")
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1; got {batch_size}")
    if extractor.trainable_variables:
        raise ValueError("extractor must be frozen: set extractor.trainable = False first")
    fill = -len(images) % batch_size
    filled = np.concatenate([images, np.repeat(images[-1:], fill, axis=0)]) if fill else images
    return extractor.predict(filled, batch_size=batch_size, verbose=0)[: len(images)]


def _labels(data):
    if "images" not in data:
        raise ValueError(f"data must have images; got {', '.join(sorted(data)) or 'nothing'}")
    arrays = {name: np.asarray(x) for name, x in data.items() if name != "images"}
    labels = {name: y for name, y in arrays.items() if y.ndim == 1 and np.issubdtype(y.dtype, np.integer)}
    if not labels:
        raise ValueError(f"data must have a label, integers (N,), beside images; got {', '.join(arrays) or 'nothing'}")
    return labels
