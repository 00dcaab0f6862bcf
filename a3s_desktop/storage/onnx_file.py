"""The little of the ONNX file format that is needed without its library: look into a model, write a small one.

ONNX is Protocol Buffers: each field a key (number and kind) and a number or a length with bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.i18n import tr

Field = tuple[int, int, int | memoryview]  # number, kind, value

FLOAT, FLOAT16 = 1, 10
_ELEMENTS = {1: "float32", 10: "float16", 2: "uint8", 11: "float64"}
_DEEPEST = 40
# Which fields of which message hold which messages, as far as tensors may lie in them.
_INSIDE: dict[str, dict[int, str]] = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "function": {7: "node", 11: "attribute"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
}


class OnnxFileError(Exception):
    """The bytes are no ONNX model; the message is a clause."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a model says of itself.

    Attributes
    ----------
    inputs : tuple of (name, element type, shape)
        Without those that are weights; a side is None where it is free.
    outputs : the same
    external : tuple of str
        Places of weights outside of the file, relative to it, as they are written.
    metadata : dict
    """

    inputs: tuple[tuple[str, str, tuple[int | None, ...]], ...]
    outputs: tuple[tuple[str, str, tuple[int | None, ...]], ...]
    external: tuple[str, ...]
    metadata: dict[str, str]


def read_facts(data: bytes) -> Facts:
    """Inputs, outputs, places of external weights and metadata of a model. Raises `OnnxFileError`."""
    try:
        model = memoryview(data)
        graph = b"".join(bytes(value) for number, _, value in _fields(model) if number == 7 and _is_bytes(value))
        if not graph:
            raise OnnxFileError(tr("it holds no network"))
        weights = {_text(tensor, 8) for tensor in _children(memoryview(graph), 5)}
        inputs = tuple(_value(info) for info in _children(memoryview(graph), 11))
        outputs = tuple(_value(info) for info in _children(memoryview(graph), 12))
        external = tuple(sorted(set(_external(model, "model", 0))))
        metadata = {_text(entry, 1): _text(entry, 2) for entry in _children(model, 14)}
        return Facts(tuple(one for one in inputs if one[0] not in weights), outputs, external, metadata)
    except (IndexError, ValueError, UnicodeDecodeError, struct.error) as error:
        raise OnnxFileError(tr("it is damaged ({error})", error=error)) from None


def _is_bytes(value: object) -> bool:
    return isinstance(value, memoryview)


def _fields(data: memoryview) -> Iterator[Field]:
    at = 0
    while at < len(data):
        key, at = _number(data, at)
        kind = key & 7
        value: int | memoryview
        if kind == 0:
            value, at = _number(data, at)
        elif kind == 2:
            length, at = _number(data, at)
            if length > len(data) - at:
                raise OnnxFileError(tr("it is cut off"))
            value, at = data[at : at + length], at + length
        elif kind in (1, 5):
            width = 8 if kind == 1 else 4
            if width > len(data) - at:
                raise OnnxFileError(tr("it is cut off"))
            value, at = data[at : at + width], at + width
        else:
            raise OnnxFileError(tr("it is damaged"))
        yield key >> 3, kind, value


def _number(data: memoryview, at: int) -> tuple[int, int]:
    result = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        at += 1
        result |= (byte & 127) << shift
        if byte < 128:
            return result, at
    raise OnnxFileError(tr("it is damaged"))


def _children(data: memoryview, wanted: int) -> list[memoryview]:
    return [value for number, _, value in _fields(data) if number == wanted and isinstance(value, memoryview)]


def _text(data: memoryview, wanted: int) -> str:
    return next(reversed(_texts(data, wanted)), "")


def _texts(data: memoryview, wanted: int) -> list[str]:
    return [bytes(value).decode("utf-8") for value in _children(data, wanted)]


def _value(info: memoryview) -> tuple[str, str, tuple[int | None, ...]]:
    element = ""
    shape: list[int | None] = []
    for kind in _children(info, 2):
        for tensor in _children(kind, 1):
            code = next((v for n, _, v in _fields(tensor) if n == 1 and isinstance(v, int)), 0)
            element = _ELEMENTS.get(code, "other")
            for sides in _children(tensor, 2):
                for side in _children(sides, 1):
                    fixed = next((v for n, _, v in _fields(side) if n == 1 and isinstance(v, int)), 0)
                    shape.append(fixed if 0 < fixed < 1 << 31 else None)
    return _text(info, 1), element, tuple(shape)


def _external(data: memoryview, message: str, depth: int) -> Iterator[str]:
    """Places named by all tensors, however deep."""
    if depth > _DEEPEST:
        raise OnnxFileError(tr("it is nested too deeply"))
    if message == "tensor":
        # Of a field that is there more than once, readers take the last; here each is looked at, in every entry.
        entries = [(_texts(entry, 1), _texts(entry, 2)) for entry in _children(data, 13)]
        places = [place for names, values in entries if "location" in names for place in values or [""]]
        outside = any(number == 14 and value != 0 for number, _, value in _fields(data))
        yield from places or ([""] if entries or outside else [])
        return
    for number, _, value in _fields(data):
        inside = _INSIDE[message].get(number)
        if inside is not None and isinstance(value, memoryview):
            yield from _external(value, inside, depth + 1)


# ------------------------------------------------------------------------------------------------ writing


def field(number: int, value: int | str | bytes | float) -> bytes:
    """One field."""
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value & (1 << 64) - 1)
    data = value.encode("utf-8") if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(value: int) -> bytes:
    """A whole number, seven bits a byte."""
    data = bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    data.append(value)
    return bytes(data)


def tensor(name: str, values: npt.NDArray[Any]) -> bytes:
    """A TensorProto of float32, float16 or int64."""
    kind = {"float32": FLOAT, "float16": FLOAT16, "int64": 7}[values.dtype.name]
    dims = b"".join(field(1, side) for side in values.shape)
    little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    return dims + field(2, kind) + field(8, name) + field(9, little.tobytes())


def node(operation: str, inputs: Sequence[str], output: str, **attributes: int | str | Sequence[int]) -> bytes:
    """A NodeProto with one output."""
    data = b"".join(field(1, name) for name in inputs) + field(2, output) + field(3, output) + field(4, operation)
    for name, value in attributes.items():
        if isinstance(value, str):
            body = field(4, value) + field(20, 3)
        elif isinstance(value, int):
            body = field(3, value) + field(20, 2)
        else:
            body = b"".join(field(8, number) for number in value) + field(20, 7)
        data += field(5, field(1, name) + body)
    return data


def value_info(name: str, shape: Iterable[int | str], element: int = FLOAT) -> bytes:
    """A ValueInfoProto; a side that is a text is free."""
    sides = b"".join(field(1, field(1, side) if isinstance(side, int) else field(2, side)) for side in shape)
    return field(1, name) + field(2, field(1, field(1, element) + field(2, sides)))


def model(
    nodes: Sequence[bytes],
    tensors: Sequence[bytes],
    inputs: Sequence[bytes],
    outputs: Sequence[bytes],
    metadata: dict[str, str],
) -> bytes:
    """A ModelProto of operator set 13."""
    graph = b"".join(field(1, one) for one in nodes) + field(2, "network")
    graph += b"".join(field(5, one) for one in tensors)
    graph += b"".join(field(11, one) for one in inputs) + b"".join(field(12, one) for one in outputs)
    entries = b"".join(field(14, field(1, key) + field(2, value)) for key, value in metadata.items())
    return field(1, 8) + field(2, "a3s-desktop") + field(7, graph) + field(8, field(1, "") + field(2, 13)) + entries
