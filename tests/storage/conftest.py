"""Small projects on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from a3s_desktop.storage.spec import ProjectSpec


def write_image(path: Path, shade: int = 100) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (8, 6), (shade % 256, 30, 60)).save(path)


@pytest.fixture
def make_spec(tmp_path: Path) -> Callable[..., ProjectSpec]:
    """Makes images and features on disk and describes a project of them."""

    def make(
        names: tuple[str, ...] = ("a.jpg", "b.png", "sub/c.jpg", "sub/d.jpg", "e.jpg"), **changes: object
    ) -> ProjectSpec:
        for index, name in enumerate(names):
            write_image(tmp_path / "images" / name, index * 9)
        features = tmp_path / "features.npy"
        if not features.exists():
            np.save(features, np.random.default_rng(0).normal(size=(len(names), 4)).astype(np.float32))
        values: dict[str, object] = {
            "folder": tmp_path / "project",
            "images": tmp_path / "images",
            "features": (features,),
        }
        return ProjectSpec(**{**values, **changes})  # type: ignore[arg-type]

    return make
