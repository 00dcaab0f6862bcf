"""Make inputs of several parts from bytes, and bytes from parts: where a file has checksums or several members."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_MARK = b"\n==\n"


def joined(parts: Sequence[bytes]) -> bytes:
    """Several parts as one input."""
    return _MARK.join(parts)


def parts_of(data: bytes) -> list[bytes]:
    """The parts of an input; at least one."""
    return data.split(_MARK)


def zipped(names: Sequence[str], parts: Sequence[bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A whole zip file: its checksums are right, whatever is in it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method, compresslevel=1) as archive:
        for name, part in zip(names, parts, strict=False):
            archive.writestr(name.replace("\0", "") or "_", part)
    return buffer.getvalue()


def npy(values: npt.NDArray[Any]) -> bytes:
    """An array as a ``.npy`` file."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, values, allow_pickle=False)
    return buffer.getvalue()


def npy_header(text: str, version: int = 1) -> bytes:
    """The header of a ``.npy`` file that says anything."""
    raw = text.encode("latin-1")
    size = struct.pack("<H", len(raw)) if version == 1 else struct.pack("<I", len(raw))
    return b"\x93NUMPY" + bytes((version, 0)) + size + raw


def as_json(value: Any) -> bytes:
    """JSON text."""
    return json.dumps(value).encode("ascii")


def png_sums(data: bytes) -> bytes:
    """A PNG file with the checksums put right."""
    if not data.startswith(b"\x89PNG\r\n\x1a\n"):
        return data
    done, at = bytearray(data[:8]), 8
    while at + 8 <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        chunk = data[at + 4 : at + 8 + length]
        done += data[at : at + 4] + chunk
        if len(chunk) == length + 4:
            done += zlib.crc32(chunk).to_bytes(4, "big")
        at += 12 + length
    return bytes(done)


def text(data: bytes) -> str:
    """Bytes as text that can be a name in a zip file."""
    return data.decode("utf-8", "replace")


def options(values: Mapping[str, Any]) -> bytes:
    """A mapping as a line of JSON."""
    return as_json(dict(values)) + b"\n"
