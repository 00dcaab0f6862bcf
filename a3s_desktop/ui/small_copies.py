"""Small pictures of large files: from the copies on disk where there is one, else from the file, and then kept.

Runs on decoding threads.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QSize
from PySide6.QtGui import QImage

from a3s_desktop.storage.keys import locate_part
from a3s_desktop.storage.thumbnails import Thumbnail, ThumbnailStore, thumbnail_key
from a3s_desktop.ui.image_decode import SHOWN, decode, say_cut, scaled_copy, source_size

EDGE = 256  # pixels; larger pictures come from the file
_WORTH = 96_000  # bytes of a file: smaller ones decode as fast as their copy
_QUALITY = 84


def small_or_whole(path: Path, box: QSize, store: ThumbnailStore | None) -> QImage:
    """As `image_decode.decode`, by way of the store where that is faster the next time.

    Raises
    ------
    DecodeError
    """
    if store is None or not box.isValid() or max(box.width(), box.height()) > EDGE:
        return decode(path, box)
    photo, part = locate_part(path)
    if part is None and not _is_worth(photo):
        return decode(path, box)
    key = thumbnail_key(photo, part, EDGE)
    if key is None:
        return decode(path, box)
    kept = store.get(key)
    image = None if kept is None else _unpacked(kept)
    if image is None:
        image = decode(photo, QSize(EDGE, EDGE), part)
        copy = _packed(image)
        if copy is not None:
            store.put(key, copy)
    return scaled_copy(image, box)


def _is_worth(photo: Path) -> bool:
    try:
        return photo.stat().st_size > _WORTH
    except (OSError, ValueError):
        return False


def _packed(image: QImage) -> Thumbnail | None:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    kind = "PNG" if image.hasAlphaChannel() else "JPG"
    bare = QImage(image)
    for name in bare.textKeys():  # they would be written into the copy
        bare.setText(name, "")
    if not bare.save(buffer, kind, -1 if kind == "PNG" else _QUALITY):
        return None
    size = source_size(image)
    return Thumbnail(bytes(buffer.data().data()), size.width(), size.height(), bool(image.text("note")))


def _unpacked(copy: Thumbnail) -> QImage | None:
    kind = "PNG" if copy.data.startswith(b"\x89PNG") else "JPG"
    # In no other format, whatever it may hold. PySide's own declaration has the type of the name wrong.
    image = QImage.fromData(copy.data, kind)  # type: ignore[arg-type]
    if image.isNull() or max(image.width(), image.height()) > EDGE:
        return None
    image.convertTo(SHOWN[1] if image.hasAlphaChannel() else SHOWN[0])
    image.setText("source", f"{copy.width}x{copy.height}")
    if copy.cut:
        say_cut(image)
    return image
