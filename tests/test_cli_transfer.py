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


def test_names_go_out_as_side_cars_and_come_in_from_the_photos(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names(project, {"00.png": "Ann", "04.png": "Ann", "01.png": "Bert"})
    assert cli.main(["labels", "p", "--from-photos"]) == 1
    assert "No photo names a person." in capsys.readouterr().err
    assert cli.main(["labels", "p", "names.csv"]) == 0
    assert cli.main(["export", "p", "--format", "sidecars", "--out", "images"]) == 0
    assert cli.main(["new", "q", "--images", "images", "--features", "f.npy"]) == 0
    assert cli.main(["labels", "q", "--from-photos"]) == 0
    session, _ = open_session(project / "q", read_only=True)
    assert sorted(session.state.names.values()) == ["Ann", "Bert"]
    assert session.state.labels[0] == session.state.labels[4] != session.state.labels[1]
    session.close()
    for wrong in (["labels", "q"], ["labels", "q", "names.csv", "--from-photos"]):
        capsys.readouterr()
        assert cli.main(wrong) == 1
        assert "--from-photos" in capsys.readouterr().err


def test_marked_persons_become_parts_with_names(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["regions", "images", "--out", "r.csv"]) == 1
    assert "No photo has a person with a rectangle." in capsys.readouterr().err
    area = '<m:Area a:x="{x}" a:y="0.5" a:w="0.5" a:h="1" a:unit="normalized"/>'
    person = '<r:li><r:Description m:Name="{name}" m:Type="Face">' + area + "</r:Description></r:li>"
    for at in range(N):
        marked = person.format(name=f"left {at % 4}", x=0.25) + person.format(name=f"right {at % 4}", x=0.75)
        (project / "images" / f"{at:02}.png.xmp").write_text(
            '<x:xmpmeta xmlns:x="adobe:ns:meta/"><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
            '<r:Description xmlns:m="http://www.metadataworkinggroup.com/schemas/regions/" '
            'xmlns:a="http://ns.adobe.com/xmp/sType/Area#"><m:Regions r:parseType="Resource"><m:RegionList><r:Bag>'
            f"{marked}</r:Bag></m:RegionList></m:Regions></r:Description></r:RDF></x:xmpmeta>"
        )
    assert cli.main(["regions", "images", "--out", "r.csv"]) == 0
    assert "48 rectangles" in capsys.readouterr().out
    assert cli.main(["regions", "images", "--out", "r.csv"]) == 1
    assert cli.main(["new", "q", "--images", "images", "--parts", "r.csv", "--no-embeddings"]) == 0
    assert cli.main(["labels", "q", "r.csv"]) == 0
    session, _ = open_session(project / "q", read_only=True)
    assert session.workspace is not None
    assert session.workspace.items.paths[0] == "00.png#xywh=0,0,4,8"
    assert len(session.state.names) == 8
    session.close()


def test_tables_for_excel_begin_with_a_mark_and_come_back(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names(project, {"00.png": "Änn", "04.png": "Änn"})
    assert cli.main(["labels", "p", "names.csv"]) == 0
    for one in ("csv", "constraints"):
        assert cli.main(["export", "p", "--format", one, "--out", f"plain-{one}"]) == 0
        assert cli.main(["export", "p", "--format", one, "--out", f"excel-{one}", "--excel"]) == 0
        plain, marked = ((project / f"{kind}-{one}").read_bytes() for kind in ("plain", "excel"))
        assert marked == b"\xef\xbb\xbf" + plain
    assert cli.main(["new", "q", "--images", "images", "--features", "f.npy"]) == 0
    (project / "excel-csv").rename(project / "excel.csv")
    assert cli.main(["labels", "q", "excel.csv"]) == 0
    session, _ = open_session(project / "q", read_only=True)
    assert list(session.state.names.values()) == ["Änn"]
    session.close()
