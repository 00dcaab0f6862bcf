"""Picture files that ask for gigabytes or for minutes, in processes that have neither."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from a3s_desktop.storage.images import probe_images, scan_images
from tests.hostile.bombs import bombs, plain_tiff, png, progressive, webp
from tests.hostile.reading import SECONDS

ROOT = Path(__file__).resolve().parents[2]
HEIC = ROOT / "tests" / "storage" / "heic" / "turn-1.heic"
MOST = 300  # MB above what the process had
# What is no bomb after all: odd, but shown as any program shows it.
SHOWN = {"app.jpg", "exif.jpg", "frames.gif", "loop.tif", "pages.tif", "profile.jpg", "xmp.jpg"}

# Qt leaves out the text that is too long and shows the picture, Pillow refuses the whole.
TEXTS = {"ztxt.png", "itxt.png", "iccp.png"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bombs")
    for name, make in bombs(HEIC.read_bytes()).items():
        (folder / name).write_bytes(make())
    (folder / "photo.png").write_bytes(png(60, 40))
    return folder


@pytest.fixture(scope="module")
def readings(folder: Path) -> dict[str, dict[str, Any]]:
    if sys.platform != "linux":
        pytest.skip("the memory of a process is bounded and measured as on Linux")
    command = [sys.executable, "-m", "tests.hostile.reading", *map(str, sorted(folder.iterdir()))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=170, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["file"]: line for line in lines}


def test_every_file_was_read_on_every_way(folder: Path, readings: dict[str, dict[str, Any]]) -> None:
    assert set(readings) == {path.name for path in folder.iterdir()}
    assert {name for name, found in readings.items() if len(found["said"]) != 8} == set()


def test_none_takes_much_memory_or_hangs(readings: dict[str, dict[str, Any]]) -> None:
    wrong = {
        name: found
        for name, found in readings.items()
        if not 0 <= found["mb"] <= MOST or found["s"] >= SECONDS or "enough memory" in str(found["said"])
    }
    assert wrong == {}


def test_each_is_shown_or_refused_with_a_reason(readings: dict[str, dict[str, Any]]) -> None:
    for name, found in readings.items():
        said = found["said"]
        if name in SHOWN | {"photo.png"}:
            assert said["show"] == said["show whole"] == "False", (name, said)  # not null
            assert said["read"].startswith("("), (name, said)
            assert said["whole"].startswith("("), (name, said)
        else:
            assert all(said[way].startswith("PictureError: ") for way in ("read", "whole")), (name, said)
            shown = "False" if name in TEXTS else "DecodeError: "
            assert all(said[way].startswith(shown) for way in ("show", "show whole")), (name, said)


def test_the_rest_of_the_folder_works(folder: Path) -> None:
    """Those that a look at their head gives away are in the list of problems, the photo among them is not."""
    paths = scan_images(folder).paths
    found = {problem.path: problem.reason for problem in probe_images(folder, paths)}
    assert set(found) <= set(paths) - SHOWN - {"photo.png"}
    assert found["blank.png"] == "it announces 14000 × 14000 pixels, but its file has only 134 bytes"
    assert found["canvas2.webp"] == "it is too large to be shown (16384 × 16384 pixels)"
    # Their fault is not in the head: it is said when they are read.
    assert set(paths) - set(found) - SHOWN <= {"photo.png", "scans.jpg", *TEXTS}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("page.png", png(7000, 5000, kind=0, depth=1)),
        ("wide.tif", plain_tiff(64, 64)),
        ("passes.jpg", progressive(1500, 1000, 12)),
        ("small.webp", webp(40, 30)),
    ],
)
def test_what_is_only_packed_well_is_no_bomb(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    assert probe_images(tmp_path, [name]) == ()
    from a3s_desktop.storage.picture import read_picture

    assert read_picture(tmp_path / name, (100, 100)).pixels.size
