"""ONNX models by file: what they say is used, what they hide is refused; the preset is the published network."""

from __future__ import annotations

import collections
import io
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from a3s_desktop.errors import InputError
from a3s_desktop.storage import lite0, onnx_file
from a3s_desktop.storage.embedding_options import EmbeddingOptions, ModelOptions
from a3s_desktop.storage.onnx_file import FLOAT, FLOAT16, OnnxFileError, field, node, read_facts, tensor, value_info
from a3s_desktop.storage.onnx_model import OnnxModel, check_model
from a3s_desktop.storage.torch_weights import read_weights

pytest.importorskip("onnxruntime", reason="there is no onnxruntime for this system")

IMAGES = np.random.default_rng(0).integers(0, 256, (5, 16, 16, 3)).astype(np.uint8)


def pooling(shape: list[int | str], element: int = FLOAT, extra: bytes = b"", **metadata: str) -> bytes:
    """A model whose features are the means of the channels."""
    axes = [2, 3] if shape[1] == 3 else [1, 2]
    nodes = [node("ReduceMean", ["images"], "features", axes=axes, keepdims=0)]
    info = [value_info("images", shape, element)]
    result = [value_info("features", ["batch", 3], element)]
    return onnx_file.model(nodes, [extra] if extra else [], info, result, metadata)


def saved(folder: Path, data: bytes, name: str = "model.onnx") -> str:
    path = folder / name
    path.write_bytes(data)
    return str(path)


@pytest.mark.parametrize("shape", [["batch", 3, 16, 16], ["batch", 16, 16, 3], [2, 3, 16, 16], ["n", 3, "h", "w"]])
def test_size_and_layout_are_read_from_the_model(tmp_path: Path, shape: list[int | str]) -> None:
    options = ModelOptions(mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0), size=16)
    model = OnnxModel(saved(tmp_path, pooling(shape)), options)
    assert model.size == 16
    rows = model.describe(IMAGES)
    assert rows.dtype == np.float32
    assert rows == pytest.approx(IMAGES.mean(axis=(1, 2)) / 255, abs=1e-5)


def test_mean_and_deviation(tmp_path: Path) -> None:
    plain = IMAGES.mean(axis=(1, 2)) / 255
    path = saved(tmp_path, pooling(["n", 3, 16, 16], **{"a3s.mean": "0.5,0.4,0.3", "a3s.std": "0.2,0.2,0.1"}))
    own = (plain - [0.5, 0.4, 0.3]) / [0.2, 0.2, 0.1]
    assert OnnxModel(path, ModelOptions()).describe(IMAGES) == pytest.approx(own, abs=1e-4)
    asked = OnnxModel(path, ModelOptions(mean=(0.0, 0.0, 0.0), std=(2.0, 2.0, 2.0), channels="bgr"))
    assert asked.describe(IMAGES) == pytest.approx(plain[:, ::-1] / 2, abs=1e-5)
    silent = OnnxModel(saved(tmp_path, pooling(["n", 3, 16, 16]), "b.onnx"), ModelOptions())
    usual = (plain - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    assert silent.describe(IMAGES) == pytest.approx(usual, abs=1e-4)
    assert len({OnnxModel(path, ModelOptions()).name, asked.name, silent.name}) == 3


def test_half_precision(tmp_path: Path) -> None:
    path = saved(tmp_path, pooling(["n", 3, 16, 16], FLOAT16))
    rows = OnnxModel(path, ModelOptions(mean=(0.0,) * 3, std=(1.0,) * 3)).describe(IMAGES)  # type: ignore[arg-type]
    assert rows == pytest.approx(IMAGES.mean(axis=(1, 2)) / 255, abs=2e-3)


def test_maps_are_averaged(tmp_path: Path) -> None:
    data = onnx_file.model(
        [node("Clip", ["images"], "maps")], [], [value_info("images", ["n", 3, 16, 16])],
        [value_info("maps", ["n", 3, 16, 16])], {},
    )  # fmt: skip
    rows = OnnxModel(saved(tmp_path, data), ModelOptions(mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0))).describe(IMAGES)
    assert rows.shape == (5, 3)


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        (b"", ModelOptions(), "no network"),
        (b"This is a letter.", ModelOptions(), "no ONNX model"),
        (pooling(["n", 3, 16, 16])[:-40], ModelOptions(), "no ONNX model"),
        (pooling(["n", 4, 16, 16]), ModelOptions(layout="nchw"), "4 channels"),
        (pooling(["n", 3, 16, 16]), ModelOptions(size=32), "16 pixels"),
        (pooling(["n", 3, 16, 20]), ModelOptions(), "squares"),
        (pooling(["n", 3, 16]), ModelOptions(), "one batch of images"),
        (pooling(["n", 3, 16, 16], 9), ModelOptions(), "type"),
    ],
)
def test_models_that_do_not_fit_are_refused(tmp_path: Path, data: bytes, options: ModelOptions, words: str) -> None:
    path = saved(tmp_path, data)
    with pytest.raises(InputError) as caught:
        check_model(path, options)
    assert words in caught.value.message
    report = EmbeddingOptions(model=path, model_options=options)
    with pytest.raises(InputError):
        report.check()


def test_an_unknown_operator_is_said(tmp_path: Path) -> None:
    data = onnx_file.model(
        [node("RunProgram", ["images"], "features")], [], [value_info("images", ["n", 3, 16, 16])],
        [value_info("features", ["n", 3])], {},
    )  # fmt: skip
    with pytest.raises(InputError, match="cannot be run"):
        OnnxModel(saved(tmp_path, data), ModelOptions())


def test_a_missing_output_and_a_missing_file_are_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no output 'other'"):
        OnnxModel(saved(tmp_path, pooling(["n", 3, 16, 16])), ModelOptions(output="other"))
    with pytest.raises(InputError, match="There is no file"):
        check_model(str(tmp_path / "none.onnx"), ModelOptions())


# ------------------------------------------------------------------------------------------------ hostile models


def outside(place: str) -> bytes:
    """A weight that lies in another file."""
    entry = field(13, field(1, "location") + field(2, place))
    return field(1, 3) + field(2, FLOAT) + field(8, "bias") + entry + field(14, 1)


@pytest.mark.parametrize(
    "place", ["../secret.bin", "/etc/passwd", "a/../../secret.bin", "C:\\secret.bin", "..\\secret.bin", "", "link"]
)
def test_weights_outside_of_the_folder_are_refused(tmp_path: Path, place: str) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(12))
    os.symlink(tmp_path / "secret.bin", folder / "link")
    path = saved(folder, pooling(["n", 3, 16, 16], extra=outside(place)))
    for use in (check_model, OnnxModel):
        with pytest.raises(InputError, match="outside of its own folder"):
            use(path, ModelOptions())


def test_weights_beside_the_model_are_allowed_and_must_be_there(tmp_path: Path) -> None:
    path = saved(tmp_path, pooling(["n", 3, 16, 16], extra=outside("weights.bin")))
    with pytest.raises(InputError, match="lacks its file of weights"):
        check_model(path, ModelOptions())
    (tmp_path / "weights.bin").write_bytes(bytes(12))
    check_model(path, ModelOptions())
    assert OnnxModel(path, ModelOptions()).describe(IMAGES).shape == (5, 3)


def test_weights_hidden_in_branches_are_found() -> None:
    inner = field(5, outside("../x"))  # a graph with a weight
    attribute = field(1, "then_branch") + field(6, inner) + field(20, 5)
    graph = field(1, field(4, "If") + field(5, attribute))
    assert read_facts(field(1, 8) + field(7, graph)).external == ("../x",)


def test_endless_nesting_ends() -> None:
    graph = field(2, "x")
    for _ in range(200):
        graph = field(1, field(5, field(6, graph)))
    with pytest.raises(OnnxFileError, match="nested"):
        read_facts(field(7, graph))


@pytest.mark.parametrize("seed", range(30))
def test_damaged_bytes_never_crash(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = bytearray(pooling(["n", 3, 16, 16], extra=tensor("w", np.ones((3, 3), np.float32))))
    for at in rng.integers(0, len(data), 6):
        data[at] = rng.integers(0, 256)
    try:
        read_facts(bytes(data[: rng.integers(1, len(data) + 1)]))
    except OnnxFileError as error:
        assert str(error)  # noqa: PT017 - either way is right


# ------------------------------------------------------------------------------------------------ the preset


def test_the_preset_is_the_published_network(tmp_path: Path) -> None:
    data = lite0.build()
    assert 6_600_000 < len(data) < 6_900_000
    model = OnnxModel("lite0", ModelOptions())
    assert model.size == 224
    images = np.stack([np.full((224, 224, 3), shade, np.uint8) for shade in (0, 127, 255)])
    rows = model.describe(images)
    assert rows.shape == (3, 1280)
    assert rows.min() >= 0
    assert 0.02 < rows.mean() < 2
    # The classifier on top knows what a plain white picture looks like to it, as the weights' authors do.
    weights = read_weights(lite0.weights_file() or Path())
    assert weights["_fc.weight"].shape == (1000, 1280)
    scores = rows @ weights["_fc.weight"].T + weights["_fc.bias"]
    assert np.isfinite(scores).all()
    by_file = OnnxModel(saved(tmp_path, data), ModelOptions())
    assert (by_file.describe(images) == rows).all()


def test_the_preset_agrees_with_features_made_elsewhere(shared_data: Path) -> None:
    from PIL import Image

    from a3s_desktop.core import projection

    folder = shared_data / "people200"
    names = [line.split(",")[0] for line in (folder / "labels.csv").read_text().splitlines()[1:]]
    model = OnnxModel("lite0", ModelOptions())
    squares = [
        np.asarray(Image.open(folder / "images" / name).convert("RGB").resize((224, 224), Image.Resampling.BILINEAR))
        for name in names
    ]
    rows = np.concatenate([model.describe(np.stack(squares[at : at + 4])) for at in range(0, len(squares), 4)])
    small = projection.learn(lambda: iter([rows]), 1280, 128).apply(rows)
    other = np.load(folder / "lite0.npy")
    other = other / np.linalg.norm(other, axis=1, keepdims=True)
    assert np.corrcoef((small @ small.T).ravel(), (other @ other.T).ravel())[0, 1] > 0.97


# ------------------------------------------------------------------------------------------------ weights


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch hacked",)


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_pickle_with_a_program_is_refused_and_nothing_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: int
) -> None:
    monkeypatch.chdir(tmp_path)
    legacy = pickle.dumps(119547037146038801333356) + pickle.dumps(1001) + pickle.dumps({"little_endian": True})
    for data in (pickle.dumps(Evil(), protocol), legacy + pickle.dumps({"w": Evil()}, protocol)):
        (tmp_path / "w.pth").write_bytes(data)
        with pytest.raises(InputError, match="asks for"):
            read_weights(tmp_path / "w.pth")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a/data.pkl", pickle.dumps(Evil(), protocol))
    (tmp_path / "w.pth").write_bytes(archive.getvalue())
    with pytest.raises(InputError, match="asks for"):
        read_weights(tmp_path / "w.pth")
    assert sorted(os.listdir(tmp_path)) == ["w.pth"]


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"letter", pickle.dumps(collections.OrderedDict())])
def test_other_files_are_no_weights(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "w.pth").write_bytes(data)
    with pytest.raises(InputError):
        read_weights(tmp_path / "w.pth")


def test_weights_of_another_network_are_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(lite0, "read_weights", lambda path: {"conv1.weight": np.zeros((64, 3, 7, 7), np.float32)})
    with pytest.raises(InputError, match="not of EfficientNet-Lite0"):
        lite0.build(tmp_path / "x.pth")
    monkeypatch.setattr(lite0, "PACKAGE", "a_package_that_is_not_there")
    with pytest.raises(InputError, match="not installed"):
        lite0.build()


def test_a_tensor_larger_than_its_numbers_is_refused(tmp_path: Path) -> None:
    """Strides of 0 would make a few numbers fill any memory."""
    head = pickle.dumps(119547037146038801333356) + pickle.dumps(1001) + pickle.dumps({"little_endian": True})
    shape = b"(I1000000\nI1000000\nt(I0\nI0\nt"
    storage = b"(S'storage'\nctorch\nFloatStorage\nS'k'\nS'cpu'\nI1\ntQ"
    body = b"(S'w'\nctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"I0\n" + shape + b"tRd."
    tail = pickle.dumps(["k"]) + (1).to_bytes(8, "little") + b"\0\0\x80\x3f"
    (tmp_path / "w.pth").write_bytes(head + body + tail)
    with pytest.raises(InputError, match="beyond its numbers"):
        read_weights(tmp_path / "w.pth")
    good = body.replace(b"I1000000\n", b"I1\n")
    (tmp_path / "w.pth").write_bytes(head + good + tail)
    assert read_weights(tmp_path / "w.pth")["w"].tolist() == [[1.0]]
