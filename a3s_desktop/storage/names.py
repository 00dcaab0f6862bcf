"""Match the names that a feature, order or label file uses to the images of a folder."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from a3s_desktop.storage.keys import split_key

_BYTES = re.compile(r"(?:\\udc[0-9a-f]{2})+")
_ESCAPED = re.compile(r"\\ud[89a-f][0-9a-f]{2}", re.IGNORECASE)


def export_form(path: str) -> str:
    """A path as exports write it: lone surrogates (bytes that are no UTF-8) as ``\\udcxx``, all else as it is."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def as_bytes(text: str) -> str:
    """A text in the form that exports use for bytes that are no text: ``\\udcxx`` for each byte of it in UTF-8."""
    return "".join(f"\\udc{byte:02x}" for byte in text.encode("utf-8", "surrogateescape"))


def normal(name: str) -> str:
    """The form in which names are compared: NFC, ``/`` between parts, no leading ``./``."""
    text = unicodedata.normalize("NFC", name)
    while text.startswith("./"):
        text = text[2:].lstrip("/")
    return text


def can_be_path(text: str) -> bool:
    """Whether a text can name a file at all: JSON can hold what no system takes, at which opening it would fail."""
    try:
        return "\0" not in text and bool(os.fsencode(text))
    except UnicodeEncodeError:
        return False


def _from_bytes(found: re.Match[str]) -> str:
    return bytes.fromhex(found[0].replace("\\udc", "")).decode("utf-8", "surrogateescape")


class NameIndex:
    """Finds images by the names that other programs gave them.

    A name is tried as the whole relative path, then with ``\\`` read as ``/`` and the image folder's own path taken
    off, then as a base name, then as a base name without extension, each only where it fits exactly one image.

    Parameters
    ----------
    paths : sequence of str
        Relative paths of the images.
    root : str
        The image folder, so that absolute names below it are understood.
    """

    def __init__(self, paths: Sequence[str], root: str = "") -> None:
        self._paths = paths
        self._root = normal(root.replace("\\", "/")).rstrip("/") + "/" if root else ""
        self._exact = {path: index for index, path in enumerate(paths)}
        self._normal = _unique((normal(path), index) for index, path in enumerate(paths))
        # A photo that has one part among the items may be named for it.
        split = [split_key(path) for path in paths]
        photos = _unique((normal(photo), i) for i, (photo, part) in enumerate(split) if part is not None)
        self._normal.update({photo: index for photo, index in photos.items() if photo not in self._normal})
        self._base: dict[str, int] | None = None
        self._stem: dict[str, int] | None = None

    def find(self, name: str) -> int | None:
        """Index of the image that is meant; None where there is none or it is not certain."""
        index = self._exact.get(name)
        if index is not None:
            return index
        for text in self._variants(name):
            index = self._normal.get(text, -1)
            if index >= 0:
                return index
        base = PurePosixPath(normal(name.replace("\\", "/"))).name
        if self._base is None or self._stem is None:
            whole = [normal(path) for path in self._paths]
            self._base = _unique((PurePosixPath(path).name, i) for i, path in enumerate(whole))
            photos = [split_key(path)[0] for path in whole]
            self._stem = _unique((PurePosixPath(path).stem, i) for i, path in enumerate(photos))
            if photos != whole:
                names = _unique((PurePosixPath(path).name, i) for i, path in enumerate(photos))
                self._base = {**names, **self._base}
        for table in (self._base, self._stem):
            index = table.get(base, -1)
            if index >= 0:
                return index
        return None

    def _variants(self, name: str) -> list[str]:
        texts = [normal(name)]
        if "\\" in name:
            texts.append(normal(name.replace("\\", "/")))
            if _ESCAPED.search(name):
                raw = _ESCAPED.sub(lambda match: chr(int(match.group()[2:], 16)), name)
                texts.append(normal(raw))
                texts.append(normal(_BYTES.sub(_from_bytes, name)))
        if self._root:
            texts += [text.removeprefix(self._root) for text in list(texts) if text.startswith(self._root)]
        return texts


def _unique(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    """A look-up that holds -1 for keys that fit several images."""
    found: dict[str, int] = {}
    for key, index in pairs:
        found[key] = -1 if key in found else index
    return found
