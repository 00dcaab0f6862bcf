"""Exports: read by other programs, harmless in spreadsheets, readable back."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.errors import StorageFailedError
from a3s_desktop.storage.export import export_csv, export_json, plain_name, safe_name, safe_path
from a3s_desktop.storage.items import Items
from a3s_desktop.storage.matching import load_labels

PATHS = (
    "a.jpg",
    'it\'s, "q".jpg',
    "line\nbreak\r.jpg",
    "=cmd|' /C calc'!A0.jpg",
    "\U0001f41e/\u00e9.jpg",
    "raw\udcff.jpg",
)
LABELS = np.array([0, 0, 1, 2, 2, 1], np.int32)
NAMES = {0: "=1+1", 1: "'-2", 2: "Ann; Bob"}
CONFIRMED = np.array([True, True, False, False, True, False])


def test_csv_as_other_programs_read_it(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    export_csv(out, Items(tmp_path, PATHS), LABELS, NAMES, CONFIRMED)
    assert out.read_bytes().startswith(
        b"path,cluster,name,status,confidence\na.jpg,0,'=1+1,confirmed,\n".replace(b"'=1+1", b'"\'=1+1"')
    )
    with open(out, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["path"] for row in rows] == [*PATHS[:3], f"./{PATHS[3]}", PATHS[4], "raw\\udcff.jpg"]
    assert [int(row["cluster"]) for row in rows] == LABELS.tolist()
    assert [plain_name(row["name"]) for row in rows] == [NAMES[label] for label in LABELS.tolist()]
    assert [row["status"] == "confirmed" for row in rows] == CONFIRMED.tolist()
    assert not any(row[column].startswith(("=", "+", "-", "@")) for row in rows for column in ("path", "name"))


def test_csv_comes_back_as_labels(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    export_csv(out, Items(tmp_path, PATHS), LABELS, NAMES, CONFIRMED)
    order = (3, 1, 5, 0, 2, 4)
    labels = load_labels(out, 6, [PATHS[i] for i in order])
    assert [labels.names[code] for code in labels.codes] == [str(LABELS[i]) for i in order]


def test_json_keeps_everything(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    export_json(out, Items(tmp_path, PATHS), LABELS, NAMES, CONFIRMED)
    content = json.loads(out.read_bytes())
    assert content["format"] == "a3s-clusters"
    assert [item["path"] for item in content["items"]] == list(PATHS)
    assert [item["name"] for item in content["items"]] == [NAMES[label] for label in LABELS.tolist()]


@pytest.mark.parametrize("export", [export_csv, export_json])
def test_many_items_and_no_overwriting(tmp_path: Path, export: object) -> None:
    items = Items(tmp_path, tuple(f"{i}.jpg" for i in range(9000)))
    arguments = (tmp_path / "out", items, np.zeros(9000, np.int32), {}, np.zeros(9000, bool))
    export(*arguments)  # type: ignore[operator]
    text = (tmp_path / "out").read_text()
    assert text.count(".jpg") == 9000
    if export is export_json:
        assert len(json.loads(text)["items"]) == 9000
    with pytest.raises(StorageFailedError, match="there already") as caught:
        export(*arguments)  # type: ignore[operator]
    assert caught.value.hint
    export(*arguments, overwrite=True)  # type: ignore[operator]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@given(st.text(max_size=30))
def test_names_come_back_and_are_no_formulas(name: str) -> None:
    safe = safe_name(name)
    assert plain_name(safe) == name
    assert not safe.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    assert not safe_path(name).startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
