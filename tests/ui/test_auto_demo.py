"""The demo that runs by itself leaves a picture of every screen, and numbers that are true."""

from __future__ import annotations

import csv

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from a3s_desktop.ui.auto_demo import auto_demo
from a3s_desktop.ui.theme import apply_theme

PICTURES = {
    "1-start", "2-new-project", "3-progress", "4-pair-light", "5-pair-dark", "6-map", "7-cluster", "8-history",
    "9-export", "10-finished",
}  # fmt: skip


@pytest.mark.slow
def test_every_screen_and_a_table_of_results(qapp, tmp_path):
    out = auto_demo(tmp_path / "out", answers=12)
    apply_theme(QApplication.instance(), "light")
    assert {path.stem for path in out.glob("*.png")} == PICTURES
    for path in out.glob("*.png"):
        picture = QImage(str(path))
        assert picture.width() >= 1400
        shades = {picture.pixel(x, y) for x in range(0, picture.width(), 40) for y in range(0, picture.height(), 40)}
        assert len(shades) > 5, path.name
    corner = {name: QImage(str(out / f"{name}.png")).pixelColor(5, 5).lightness() for name in PICTURES}
    assert corner["4-pair-light"] > 180
    assert corner["5-pair-dark"] < 80
    with (out / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["answers"]) for row in rows][:3] == [0, 10, 12]
    assert 0.4 <= float(rows[0]["ari"]) <= 0.7  # a fair task at the start
    assert float(rows[-1]["ari"]) >= 0.97  # at the end of all questions
    text = (out / "results.md").read_text()
    assert "240 images of 24 individuals" in text
    assert "10-finished.png" in text
    assert len((out / "clusters.csv").read_text().splitlines()) == 241
