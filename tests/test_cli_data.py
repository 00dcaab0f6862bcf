"""What the command line does about data: choosing images, describing them, leaving out what does not fit."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from a3s_desktop import cli
from tests.core.test_descriptor import pictures


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nine photos of three kinds; the working directory is above them."""
    folder = tmp_path / "photos"
    folder.mkdir()
    rng = np.random.default_rng(4)
    for kind, picture in enumerate(pictures(3)):
        for number in range(3):
            noisy = np.clip(picture + rng.normal(0, 8, picture.shape), 0, 255).astype(np.uint8)
            Image.fromarray(noisy).save(folder / f"{kind}-{number}.png")
    monkeypatch.chdir(tmp_path)
    return folder


def facts(folder: str = "p") -> dict[str, object]:
    return json.loads(Path(folder, "project.json").read_text())


def items(folder: str = "p") -> list[str]:
    return json.loads(Path(folder, "items.json").read_text())["paths"]


def test_a_project_without_features(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["new", "p", "--images", "photos", "--no-embeddings", "--exclude", "2-*"]) == 0
    out = capsys.readouterr().out
    assert "6 images will be described" in out
    assert "The project is ready" in out
    assert items() == ["0-0.png", "0-1.png", "0-2.png", "1-0.png", "1-1.png", "1-2.png"]
    assert facts()["matched"] == "described"
    assert facts()["choices"]["exclude"] == ["2-*"]  # type: ignore[index]
    assert cli.main(["info", "p"]) == 0


def test_what_does_not_fit_is_left_out_when_told(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["0-1.png", "gone.png", "1-1.png", "2-1.png", "0-0.png"]
    np.savez("f.npz", features=np.random.default_rng(0).normal(size=(5, 3)), names=np.array(names))
    new = ["new", "p", "--images", "photos", "--features", "f.npz"]
    assert cli.main(new) == 1
    assert "gone.png" in capsys.readouterr().err
    assert cli.main([*new, "--rows-without-image", "leave-out"]) == 1
    assert "4 rows" in capsys.readouterr().err or not Path("p").exists()
    assert cli.main([*new, "--rows-without-image", "leave-out", "--images-without-row", "leave-out"]) == 0
    assert "left out" in capsys.readouterr().err
    assert items() == ["0-1.png", "1-1.png", "2-1.png", "0-0.png"]


def test_rows_that_lack_are_computed(photos: Path) -> None:
    names = [f"{kind}-{number}.png" for kind in range(3) for number in range(2)]
    rows = np.repeat(np.eye(3), 2, axis=0) * 4 + np.random.default_rng(0).normal(0, 0.1, (6, 3))
    np.savez("f.npz", features=rows, names=np.array(names))
    new = ["new", "p", "--images", "photos", "--features", "f.npz", "--images-without-row", "compute"]
    assert cli.main(new) == 0
    assert items() == [*names, "0-2.png", "1-2.png", "2-2.png"]
    values = np.load("p/features-0.npy")
    assert values[6:].argmax(axis=1).tolist() == [0, 1, 2]


def test_parts_and_weights(photos: Path) -> None:
    lines = [f"{kind}-0.png,{x},0,60,128" for kind in range(3) for x in (0, 64)]
    Path("parts.csv").write_text("file,x,y,width,height\n" + "\n".join(lines) + "\n")
    rng = np.random.default_rng(0)
    np.save("f.npy", rng.normal(size=(6, 3)))
    np.save("g.npy", rng.normal(size=(6, 2)))
    new = ["new", "p", "--images", "photos", "--views", "f.npy", "g.npy", "--parts", "parts.csv", "--parts-differ"]
    assert cli.main([*new, "--weights", "1"]) == 1
    assert cli.main([*new, "--weights", "1,0.5"]) == 0
    assert items()[:2] == ["0-0.png#xywh=0,0,60,128", "0-0.png#xywh=64,0,60,128"]
    assert facts()["choices"]["parts_differ"] is True  # type: ignore[index]
    assert facts()["initial"]["weights"] == [1.0, 0.5]  # type: ignore[index]
    assert cli.main(["info", "p"]) == 0


def test_features_to_a_file(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (photos / "bad.png").write_bytes(b"")
    assert cli.main(["embed", "--images", "photos", "--out", "e.npz", "--dimensions", "4"]) == 0
    captured = capsys.readouterr()
    assert "10 rows of 4 columns" in captured.out
    assert "bad.png" in captured.err
    assert sorted(os.listdir(".")) == ["e.npz", "photos"]
    with np.load("e.npz") as found:
        assert found["names"].tolist()[0] == "0-0.png"
        assert found["features"].shape == (10, 4)
    assert cli.main(["embed", "--images", "photos", "--out", "e.npz"]) == 1
    assert "there already" in capsys.readouterr().err
    assert cli.main(["new", "p", "--images", "photos", "--features", "e.npz"]) == 0


def test_the_preset_and_models_by_file(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnxruntime", reason="there is no onnxruntime for this system")
    assert cli.main(["save-model", "--out", "lite0.onnx"]) == 0
    assert "Apache-2.0" in capsys.readouterr().out
    new = ["--images", "photos", "--no-embeddings", "--include", "0-*", "--include", "1-0*", "--model-only"]
    assert cli.main(["new", "p", *new, "--model", "lite0.onnx"]) == 0
    assert cli.main(["new", "q", *new, "--model", "lite0"]) == 0
    assert np.load("p/features-0.npy") == pytest.approx(np.load("q/features-0.npy"), abs=1e-4)
    capsys.readouterr()
    assert cli.main(["new", "r", *new, "--model", "none.onnx"]) == 1
    assert "none.onnx" in capsys.readouterr().err
    assert not Path("r").exists()


@pytest.mark.parametrize(
    "arguments",
    [["--features", "f.npy", "--no-embeddings"], [], ["--no-embeddings", "--model-mean", "1,2"], ["--weights", "a"]],
)
def test_wrong_usage(photos: Path, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["new", "p", "--images", "photos", *arguments])
    assert caught.value.code == 2
