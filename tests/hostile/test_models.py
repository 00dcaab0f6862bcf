"""ONNX models that would read other files, or fill the memory."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from a3s_desktop.errors import InputError
from a3s_desktop.storage.onnx_file import field, model, node, read_facts, tensor, value_info
from a3s_desktop.storage.onnx_model import ModelOptions, OnnxModel, check_model

pytest.importorskip("onnxruntime")


def weights(*entries: bytes, outside: int = 1) -> bytes:
    """A tensor whose numbers are in another file; each entry a pair of key and value."""
    return field(1, 4) + field(2, 1) + field(8, "w") + field(14, outside) + b"".join(field(13, one) for one in entries)


def at(place: str) -> bytes:
    return field(1, "location") + field(2, place)


def network(*tensors: bytes, nodes: list[bytes] | None = None) -> bytes:
    inside = nodes or [node("GlobalAveragePool", ["x"], "y")]
    shapes = value_info("x", ("n", 3, 32, 32)), value_info("y", ("n", 3, 1, 1))
    return model(inside, list(tensors), [shapes[0]], [shapes[1]], {})


def in_graph(inner: bytes) -> bytes:
    """A model whose tensor lies in a graph within a node."""
    body = field(1, "body") + field(6, field(5, inner)) + field(20, 5)
    return network(nodes=[node("Identity", ["x"], "y") + field(5, body)])


def nested(depth: int) -> bytes:
    graph = field(1, node("Identity", ["x"], "y"))
    for _ in range(depth):
        graph = field(1, node("Loop", ["x"], "y") + field(5, field(1, "body") + field(6, graph) + field(20, 5)))
    ends = field(11, value_info("x", ("n", 3, 32, 32))) + field(12, value_info("y", ("n", 3, 1, 1)))
    return field(1, 8) + field(7, graph + ends)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret.bin").write_bytes(bytes(16))
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "ok.bin").write_bytes(bytes(16))
    if sys.platform != "win32":
        (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
        (folder / "up").symlink_to(tmp_path)
    return folder


PLACES = (
    "/etc/passwd",
    "../secret.bin",
    "a/../../secret.bin",
    "C:\\x",
    "C:x",
    "\\\\host\\x",
    "/dev/zero",
    "",
    "a\0b",
    ".",
)
LINKS = ("link.bin", "up/secret.bin")


@pytest.mark.parametrize("place", [*PLACES, *(LINKS if sys.platform != "win32" else ())])
@pytest.mark.parametrize("where", ["graph", "node", "twice", "two entries"])
def test_no_weights_are_read_outside_of_the_folder(folder: Path, place: str, where: str) -> None:
    data = {
        "graph": network(weights(at(place))),
        "node": in_graph(weights(at(place))),
        "twice": network(weights(at("ok.bin") + field(2, place))),
        "two entries": network(weights(at("ok.bin"), at(place), at("ok.bin"))),
    }[where]
    (folder / "m.onnx").write_bytes(data)
    for use in (lambda path: check_model(path, ModelOptions()), lambda path: OnnxModel(path, ModelOptions())):
        with pytest.raises(InputError, match="outside of its own folder"):
            use(str(folder / "m.onnx"))


@pytest.mark.parametrize("flag", [1, 257, 1 << 32])
def test_weights_without_a_place_are_nowhere(flag: int) -> None:
    assert read_facts(network(weights(outside=flag))).external == ("",)
    assert read_facts(network(weights(field(1, "key") + field(2, "x"), outside=0))).external == ("",)


@pytest.mark.parametrize("depth", [20, 5_000])
def test_a_model_that_is_nested_endlessly_is_refused(folder: Path, depth: int) -> None:
    (folder / "m.onnx").write_bytes(nested(depth))
    with pytest.raises(InputError, match="nested too deeply"):
        check_model(str(folder / "m.onnx"), ModelOptions())


def test_a_model_that_asks_for_terabytes_fails_with_a_sentence(folder: Path) -> None:
    huge = tensor("s", np.array([1 << 22, 1 << 22], np.int64))
    nodes = [node("ConstantOfShape", ["s"], "c"), node("GlobalAveragePool", ["x"], "y")]
    nodes.append(node("ReduceMax", ["c"], "z"))
    (folder / "m.onnx").write_bytes(network(huge, nodes=[*nodes[:1], nodes[2], node("Add", ["x", "z"], "y")]))
    with pytest.raises(InputError, match=r"m\.onnx' cannot be run"):
        OnnxModel(str(folder / "m.onnx"), ModelOptions()).describe(np.zeros((1, 32, 32, 3), np.uint8))
