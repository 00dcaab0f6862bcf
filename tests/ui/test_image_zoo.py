"""Qt's fast reading and the program's own give the same pixels on every file of the zoo."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage

from a3s_desktop.storage.picture import Picture, read_picture
from a3s_desktop.ui.image_decode import DecodeError, decode, image_note
from tests.storage.zoo import Specimen, zoo


def reason(path: Path) -> str:
    """Why a file is not shown, or what is said of it while it is."""
    try:
        return image_note(decode(path, QSize()))
    except DecodeError as error:
        return str(error)


@pytest.mark.qt_log_ignore(
    "Corrupt JPEG", "JPEG datastream", "ICC", "Bogus", "TIFF", "samples", "compression", "directory", "libpng"
)
@pytest.mark.parametrize("specimen", zoo(), ids=lambda specimen: specimen.name)
def test_the_window_shows_what_reports_and_descriptors_see(tmp_path: Path, specimen: Specimen) -> None:
    path = tmp_path / specimen.name
    path.write_bytes(specimen.data)
    if specimen.pixels is None:
        assert reason(path).endswith(".")
        return
    image = decode(path, QSize()).convertToFormat(QImage.Format.Format_RGBA8888)
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1, 4)[:, : image.width()]
    shown = Picture(pixels, (0, 0)).opaque()
    assert shown.shape == specimen.pixels.shape
    assert np.abs(shown.astype(int) - specimen.pixels).mean() <= specimen.tolerance
    assert np.abs(shown.astype(int) - read_picture(path).opaque()).mean() <= 1.0
