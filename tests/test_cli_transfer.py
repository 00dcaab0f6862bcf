"""Results out and known names in, through the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from a3s_desktop import cli
from a3s_desktop.cli import transfer
from a3s_desktop.session.opening import open_session
from a3s_desktop.storage.exports.formats import FORMATS

N = 24


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A project ``p`` of 24 small images of four colours."""
    rng = np.random.default_rng(1)
    (tmp_path / "images").mkdir()
    for at in range(N):
        Image.new("RGB", (8, 8), (60 * (at % 4), 90, 10 * at)).save(tmp_path / "images" / f"{at:02}.png")
    features = rng.normal(0, 0.1, (N, 6)) + np.eye(6)[np.arange(N) % 4]
    np.save(tmp_path / "f.npy", features.astype(np.float32))
    monkeypatch.chdir(tmp_path)
    assert cli.main(["new", "p", "--images", "images", "--features", "f.npy"]) == 0
    capsys.readouterr()
    return tmp_path


def names(folder: Path, rows: dict[str, str]) -> None:
    with open(folder / "names.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("file", "label"), *rows.items()])


def test_the_commands_formats_are_those_of_the_table() -> None:
    assert tuple(one.id for one in FORMATS) == transfer.FORMATS


def test_every_format_is_written(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow")
    names(project, {"00.png": "Ann", "04": "ann", "images/01.png": "Bert"})
    assert cli.main(["labels", "p", "names.csv"]) == 0
    assert capsys.readouterr().out == "3 images in 2 groups were taken over.\n"
    for one in transfer.FORMATS:
        assert cli.main(["export", "p", "--format", one, "--out", f"out-{one}"]) == 0
    out = capsys.readouterr().out
    assert f"{N} images were written to out-csv" in out
    assert (project / "out-sidecars" / "00.png.xmp").is_file()
    assert (project / "out-folders" / "Ann" / "00.png").is_file()
    assert "Ann" in (project / "out-report").read_text(encoding="utf-8")
    rows = list(csv.DictReader((project / "out-constraints").read_text(encoding="utf-8").splitlines()))
    assert [(row["left"], row["right"], row["answer"], row["how"]) for row in rows] == [
        ("00.png", "04.png", "same", "known labels")
    ]


def test_options_of_folders_and_side_cars(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names(project, {"00.png": "Ann"})
    assert cli.main(["labels", "p", "names.csv"]) == 0
    arguments = ["export", "p", "--format", "folders", "--out", "out", "--link", "symbolic", "--by-number"]
    assert cli.main([*arguments, "--no-singles"]) == 0
    assert not (project / "out" / "Ann").exists()
    assert next((project / "out").rglob("00.png")).is_symlink()
    assert cli.main(arguments) == 1
    assert "not empty" in capsys.readouterr().err
    side = ["export", "p", "--format", "sidecars", "--out", "images"]
    assert cli.main(side) == 0
    assert cli.main(side) == 1
    said = capsys.readouterr().err
    assert "00.png.xmp" in said
    assert "--merge" in said
    assert cli.main([*side, "--merge"]) == 0


def test_conflicts_are_listed_before_anything_is_done(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names(project, {"00.png": "Ann", "04.png": "Ann", "../../etc/passwd": "Bert", "/etc/hostname": "Ann"})
    assert cli.main(["labels", "p", "names.csv", "--dry-run"]) == 0
    told = capsys.readouterr()
    assert "2 images in 1 groups would be taken over; 2 conflicts." in told.out
    assert "../../etc/passwd" in told.err
    assert cli.main(["labels", "p", "names.csv"]) == 1
    assert "--skip-conflicts" in capsys.readouterr().err
    session, _ = open_session(project / "p", read_only=True)
    assert session.history() == ()
    session.close()
    assert cli.main(["labels", "p", "names.csv", "--skip-conflicts"]) == 0
    session, _ = open_session(project / "p", read_only=True)
    assert list(session.state.names.values()) == ["Ann"]
    assert session.state.labels[0] == session.state.labels[4]
    session.close()


def test_json_lists_are_read(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "a.json").write_text(json.dumps({"02.png": "Cleo", "06.png": "Cleo"}))
    (project / "b.json").write_text(json.dumps([{"file": "03.png", "identity": 7}]))
    assert cli.main(["labels", "p", "a.json"]) == 0
    assert cli.main(["labels", "p", "b.json"]) == 0
    session, _ = open_session(project / "p", read_only=True)
    assert sorted(session.state.names.values()) == ["7", "Cleo"]
    session.close()
    for text in ("", "[1]", "{", '[{"file": 1, "label": "x"}]', "NaN", '{"a.png": []}'):
        (project / "c.json").write_text(text)
        assert cli.main(["labels", "p", "c.json"]) == 1
        assert "c.json" in capsys.readouterr().err
