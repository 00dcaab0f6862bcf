"""Tables: other programs read them, spreadsheets take nothing in them for a formula."""

from __future__ import annotations

import builtins
import csv
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from a3s_desktop.errors import InputError
from a3s_desktop.storage.exports.formats import FORMATS, Target, write_export
from a3s_desktop.storage.exports.state import ExportState, TargetExistsError
from a3s_desktop.storage.items import Items
from tests.storage.exports.conftest import PATHS

State = Callable[..., ExportState]
ODD = (
    "plain.jpg", "=1+1.jpg", "+x.jpg", "-y.jpg", "@z.jpg", "a,b;c.jpg", 'q"uo"te.jpg', "it's.jpg", "line\nbreak.jpg",
    "cr\rx.jpg", "tab\tx.jpg", " lead.jpg", "trail.jpg ", "NA", "null", "1e5", "007", "é/e\u0301.jpg", "\U0001f41e.jpg",
    "'=quoted.jpg", "\uff1dwide.jpg", "back\\slash.jpg", "-1", "true", "#x.jpg", "%41.jpg",
)  # fmt: skip


def test_every_file_format_refuses_to_replace_until_told(state: State, out: Path) -> None:
    pytest.importorskip("pyarrow")
    for one in FORMATS:
        if one.target is Target.FILE:
            path = out / f"x{one.suffix}"
            path.write_text("mine")
            with pytest.raises(TargetExistsError) as caught:
                write_export(one.id, state(), path)
            assert caught.value.path == path
            assert path.read_text() == "mine"
            assert write_export(one.id, state(), path, overwrite=True).path == path
            assert path.read_bytes() != b"mine"
            path.unlink()
            path.mkdir()
            with pytest.raises(TargetExistsError, match="folder"):
                write_export(one.id, state(), path, overwrite=True)
            path.rmdir()
    assert list(out.iterdir()) == []


def test_the_confidence_stands_behind_each_row(state: State, out: Path) -> None:
    write_export("csv", state(), out / "x.csv")
    write_export("json", state(), out / "x.json")
    with open(out / "x.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["confidence"] for row in rows] == [f"{value:.3f}" for value in state().confidence]
    assert [row["status"] for row in rows] == 2 * ["confirmed"] + 4 * [
        "automatic",
    ] + ["junk", "automatic"]
    items = json.loads((out / "x.json").read_bytes())["items"]
    assert [item["confidence"] for item in items] == [round(float(value), 3) for value in state().confidence]


def test_parquet_holds_the_same(state: State, out: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    write_export("parquet", state(), out / "x.parquet")
    table = parquet.read_table(out / "x.parquet").to_pydict()
    assert table["path"] == list(PATHS)
    assert table["cluster"] == state().labels.tolist()
    assert table["name"][:4] == ["CON", "CON", "CON", ""]
    assert table["status"][6] == "junk"
    assert np.allclose(table["confidence"], state().confidence)


def test_parquet_without_its_package_says_how_to_get_it(
    state: State, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def lacking(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", lacking)
    with pytest.raises(InputError, match="pyarrow") as caught:
        write_export("parquet", state(), out / "x.parquet")
    assert "pip install" in caught.value.hint
    assert list(out.iterdir()) == []


def test_constraints_name_who_when_and_how(state: State, out: Path) -> None:
    assert write_export("constraints", state(), out / "c.csv").count == 2
    with open(out / "c.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0] == {
        "left": "a/x.jpg", "right": "b/X.JPG", "answer": "same", "when": "2023-11-14T22:13:20+00:00", "author": "",
        "how": "asked",
    }  # fmt: skip
    assert (rows[1]["answer"], rows[1]["how"], rows[1]["author"]) == ("different", "correction", "'=cmd()")


def test_every_odd_name_survives_pandas(state: State, out: Path) -> None:
    pandas = pytest.importorskip("pandas")
    count = len(ODD)
    odd = state(
        items=Items(out, ODD),
        labels=np.arange(count, dtype=np.int32),
        names=dict(enumerate(ODD)),
        confirmed=np.zeros(count, np.bool_),
        is_junk=np.zeros(count, np.bool_),
        confidence=np.ones(count, np.float32),
        links=(),
    )
    write_export("csv", odd, out / "odd.csv")
    table = pandas.read_csv(out / "odd.csv", dtype={"path": str, "name": str}, keep_default_na=False)
    assert [path.removeprefix("./") for path in table["path"]] == list(ODD)
    from a3s_desktop.storage.export import plain_name

    assert [plain_name(name) for name in table["name"]] == list(ODD)
    assert not any(text.startswith(tuple("=+-@\t\r\n")) for text in (*table["path"], *table["name"]))


def test_an_unknown_format_names_those_that_there_are(state: State, out: Path) -> None:
    with pytest.raises(InputError, match="xlsx") as caught:
        write_export("xlsx", state(), out / "x")
    assert "parquet" in caught.value.hint


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system")
def test_a_device_is_never_replaced(state: State, out: Path) -> None:
    os.mkfifo(out / "pipe")
    with pytest.raises(TargetExistsError, match="ordinary"):
        write_export("csv", state(), out / "pipe", overwrite=True)
    assert stat.S_ISFIFO((out / "pipe").stat().st_mode)
