"""Icons of the program in the forms that systems want, drawn from the one SVG."""

from __future__ import annotations

import os
from pathlib import Path

SIZES = (16, 24, 32, 48, 64, 128, 256, 512)


def draw_icons(svg: Path, folder: Path) -> None:
    """Write ``<size>.png``, ``a3s-desktop.ico`` and ``a3s-desktop.icns`` into ``folder``."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PIL import Image
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QGuiApplication, QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    app = QGuiApplication.instance() or QGuiApplication([])
    folder.mkdir(parents=True, exist_ok=True)
    for size in (*SIZES, 1024):
        image = QImage(size, size, QImage.Format.Format_ARGB32)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        QSvgRenderer(str(svg)).render(painter)
        painter.end()
        image.save(str(folder / f"{size}.png"))
    del app
    pictures = {size: Image.open(folder / f"{size}.png") for size in (*SIZES, 1024)}
    wanted = [16, 24, 32, 48, 64, 128, 256]
    pictures[256].save(
        folder / "a3s-desktop.ico",
        sizes=[(size, size) for size in wanted],
        append_images=[pictures[size] for size in wanted[:-1]],
    )
    pictures[1024].save(folder / "a3s-desktop.icns", append_images=[pictures[size] for size in (32, 64, 128, 256, 512)])
