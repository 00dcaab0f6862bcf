"""The digits demo."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits

from a3s_desktop.demo import digits
from a3s_desktop.errors import InputError


def test_pictures_rows_and_labels_are_the_same_digits(tmp_path: Path) -> None:
    data = digits.write_demo(tmp_path / "digits", count=40, size=32)
    features = np.load(data.features, allow_pickle=False)
    names = data.order.read_text(encoding="utf-8").splitlines()
    with data.labels.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert data.complete
    assert [row["file"] for row in rows] == names
    assert features.shape == (40, 64)

    pixels, classes = load_digits(return_X_y=True)
    for row, name in enumerate(names):
        (source,) = np.flatnonzero((pixels == features[row]).all(axis=1))[:1]
        assert rows[row]["label"] == str(classes[source])
        with Image.open(data.images / name) as image:
            assert image.size == (32, 32)
            shown = 255.0 - np.asarray(image.resize((8, 8), Image.Resampling.BOX), dtype=float)
        assert np.corrcoef(shown.ravel(), features[row])[0, 1] > 0.9


@pytest.mark.parametrize("options", [{"count": 2}, {"count": 1798}, {"size": 4}])
def test_numbers_out_of_range_are_refused(tmp_path: Path, options: dict[str, int]) -> None:
    with pytest.raises(InputError):
        digits.write_demo(tmp_path / "digits", **options)
