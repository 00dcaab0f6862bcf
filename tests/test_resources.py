"""The program finds its files in a checkout, a wheel and a frozen bundle."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from a3s_desktop import resources
from a3s_desktop.errors import A3SError


def test_the_checkout_has_them() -> None:
    assert resources.resource("style", "app.qss").is_file()


def test_a_bundle_is_looked_at_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "resources" / "icons").mkdir(parents=True)
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    assert resources.resource_folder() == tmp_path / "resources"


def test_without_them_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "candidates", lambda: (tmp_path,))
    with pytest.raises(A3SError, match="missing"):
        resources.resource_folder()


def test_icons_are_plain_line_drawings_of_one_size() -> None:
    for path in resources.resource("icons").glob("*.svg"):
        root = ET.fromstring(path.read_text(encoding="utf-8"))
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert tags <= {"svg", "path", "circle", "rect", "defs", "linearGradient", "stop"}, path.name
        if path.name != "app.svg":
            assert root.get("viewBox") == "0 0 24 24"
            assert root.get("stroke") == "#000000", "icons are recoloured by replacing black"
