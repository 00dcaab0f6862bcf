"""A small project with images that are really there, and names that someone chose to do harm."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from a3s_desktop.storage.exports.state import CurvePoint, ExportState, Link
from a3s_desktop.storage.items import Items

PATHS = ("a/x.jpg", "b/X.JPG", "b/<img src=y>.png", "c.png", "d.png", "e.png", "f.png", "g.png#xywh=2,1,4,5")


@pytest.fixture
def state(tmp_path: Path) -> Callable[..., ExportState]:
    """Makes a state; fields can be given other values."""
    root = tmp_path / "images"
    for at, path in enumerate(PATHS):
        file = root / path.partition("#")[0]
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (16, 12), (20 * at, 90, 160)).save(file, "JPEG" if file.suffix.lower() == ".jpg" else "PNG")

    def make(**more: Any) -> ExportState:
        values: dict[str, Any] = {
            "name": "Seals & <b>co</b>",
            "items": Items(root, PATHS),
            "labels": np.array([0, 0, 0, 3, 3, 5, 6, 7], np.int32),
            "names": {0: "CON", 7: "<script>alert(1)</script>"},
            "confirmed": np.array([1, 1, 0, 0, 0, 0, 0, 0], np.bool_),
            "is_junk": np.array([0, 0, 0, 0, 0, 0, 1, 0], np.bool_),
            "finished": frozenset({3}),
            "confidence": np.linspace(0.1, 1, 8).astype(np.float32),
            "links": (
                Link(0, 1, True, 1_700_000_000.0, "asked"),
                Link(0, 3, False, 1_700_000_060.0, "correction", "=cmd()"),
            ),
            "times": (1_700_000_000.0, 1_700_003_600.0),
            "curve": (CurvePoint(0, 4, 4), CurvePoint(2, 2, 2)),
            "facts": (("Strategy", "a3s"),),
        }
        return ExportState(**{**values, **more})

    return make


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder to export into."""
    folder = tmp_path / "out"
    folder.mkdir()
    return folder
