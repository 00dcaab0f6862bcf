"""Finding images, and telling which cannot be shown."""

from __future__ import annotations

import os
import sys
import time
import unicodedata
from pathlib import Path

import pytest
from PIL import Image

from a3s_desktop.errors import Cancelled, InputError
from a3s_desktop.storage.images import probe_images, scan_images
from a3s_desktop.task import Task

posix = pytest.mark.skipif(sys.platform == "win32", reason="names and links that Windows does not have")


def touch(path: Path, content: bytes = b"x") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def test_nested_images_in_sorted_order(tmp_path: Path) -> None:
    names = ["b.JPG", "a.jpg", "a.png", "sub/a.jpg", "sub/deep/er/x.webp", "sub-2/a.jpg"]
    for name in names:
        touch(tmp_path / name)
    for name in (".hidden.jpg", ".git/x.jpg", "notes.txt", "Thumbs.db", "__MACOSX/a.jpg"):
        touch(tmp_path / name)
    scan = scan_images(tmp_path)
    assert scan.paths == tuple(sorted(names))
    assert scan.skipped == 1
    assert scan.problems == ()


@pytest.mark.parametrize(
    ("include", "exclude", "left"),
    [
        (("*.jpg",), (), ["Left/a.jpg", "b.JPG", "right/c.jpg", "right/old/d.jpg"]),
        (("left/*",), (), ["Left/a.jpg", "Left/e.png"]),
        (("right",), (), ["right/c.jpg", "right/old/d.jpg"]),
        ((), ("right",), ["Left/a.jpg", "Left/e.png", "b.JPG"]),
        ((), ("*/old/*", "?.png"), ["Left/a.jpg", "b.JPG", "right/c.jpg"]),
        (("*.jpg",), ("left", "b.*"), ["right/c.jpg", "right/old/d.jpg"]),
        (("right\\c.jpg", " [ab].jpg "), (), ["Left/a.jpg", "b.JPG", "right/c.jpg"]),
        (("nothing",), (), []),
    ],
)
def test_patterns(tmp_path: Path, include: tuple[str, ...], exclude: tuple[str, ...], left: list[str]) -> None:
    names = ["Left/a.jpg", "Left/e.png", "b.JPG", "right/c.jpg", "right/old/d.jpg"]
    for name in names:
        touch(tmp_path / name)
    scan = scan_images(tmp_path, None, include, exclude)
    assert scan.paths == tuple(left)
    assert scan.left_out == len(names) - len(left)


def test_patterns_know_accents_in_either_form(tmp_path: Path) -> None:
    touch(tmp_path / unicodedata.normalize("NFD", "Möwe.jpg"))
    assert len(scan_images(tmp_path, None, [unicodedata.normalize("NFC", "MÖW*")]).paths) == 1


@posix
def test_odd_names_survive(tmp_path: Path) -> None:
    names = [
        unicodedata.normalize("NFD", "\u00e9.jpg"),
        "\U0001f41e \u2728.jpg",
        'it\'s "quoted".jpg',
        "line\nbreak\ttab.jpg",
        " blanks .jpg",
        "trailing.jpg ",
        "trailing .jpg",
        "back\\slash.jpg",
        "-rf.jpg",
        os.fsdecode(b"raw\xff\xfe.jpg"),
    ]
    for name in names:
        touch(tmp_path / name)
    assert scan_images(tmp_path).paths == tuple(sorted(names))


@posix
def test_paths_beyond_the_limits_of_windows(tmp_path: Path) -> None:
    folder = tmp_path.joinpath(*["d" * 100] * 5)
    touch(folder / "a.jpg")
    (path,) = scan_images(tmp_path).paths
    assert len(path) > 500


@posix
def test_links(tmp_path: Path) -> None:
    touch(tmp_path / "images/real/a.jpg")
    touch(tmp_path / "elsewhere/b.jpg")
    root = tmp_path / "images"
    (root / "loop").symlink_to(root, target_is_directory=True)
    (root / "real/up").symlink_to("..", target_is_directory=True)
    (root / "again").symlink_to("real", target_is_directory=True)
    (root / "outside").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (root / "file.jpg").symlink_to("real/a.jpg")
    (root / "self.jpg").symlink_to("self.jpg")
    (root / "broken.jpg").symlink_to("nothing")
    scan = scan_images(root)
    assert scan.paths == ("file.jpg", "outside/b.jpg", "real/a.jpg")
    assert [(problem.path, problem.reason) for problem in scan.problems] == [
        ("broken.jpg", "the link leads nowhere"),
        ("self.jpg", "the link leads nowhere"),
    ]


@posix
def test_pipes_are_no_images(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jpg")
    assert scan_images(tmp_path).paths == ()


def test_bad_roots(tmp_path: Path) -> None:
    touch(tmp_path / "file")
    with pytest.raises(InputError, match="does not exist"):
        scan_images(tmp_path / "absent")
    with pytest.raises(InputError, match="it is a file"):
        scan_images(tmp_path / "file")


def test_cancel(tmp_path: Path) -> None:
    task = Task()
    task.cancel()
    with pytest.raises(Cancelled):
        scan_images(tmp_path, task)
    with pytest.raises(Cancelled):
        probe_images(tmp_path, ["a.jpg"], task)


def test_ten_thousand_files_within_two_seconds(tmp_path: Path) -> None:
    for folder in range(100):
        (tmp_path / str(folder)).mkdir()
        for name in range(100):
            (tmp_path / str(folder) / f"{name}.jpg").touch()
    scan_images(tmp_path)
    started = time.perf_counter()
    assert len(scan_images(tmp_path).paths) == 10_000
    assert time.perf_counter() - started <= 2.0


@pytest.mark.parametrize("suffix", ["jpg", "png", "gif", "bmp", "webp", "tif", "ppm"])
def test_whole_and_cut_images(tmp_path: Path, suffix: str) -> None:
    picture = Image.effect_noise((120, 90), 60).convert("RGB")
    picture.save(tmp_path / f"whole.{suffix}")
    data = (tmp_path / f"whole.{suffix}").read_bytes()
    (tmp_path / f"cut.{suffix}").write_bytes(data[: len(data) // 2])
    (tmp_path / f"empty.{suffix}").write_bytes(b"")
    (tmp_path / f"text.{suffix}").write_bytes(b"this is no image " * 30)
    (tmp_path / f"trailer.{suffix}").write_bytes(data + b"maker's notes" * 20)
    names = [f"{stem}.{suffix}" for stem in ("whole", "cut", "empty", "text", "trailer", "absent")]
    problems = {problem.path.split(".")[0]: problem.reason for problem in probe_images(tmp_path, names)}
    assert set(problems) == {"cut", "empty", "text", "absent"}
    assert problems["empty"] == "the file is empty"
    assert "does not exist" in problems["absent"]
    assert all(reason for reason in problems.values())


def test_wrong_extension_is_no_problem(tmp_path: Path) -> None:
    Image.new("RGB", (5, 5)).save(tmp_path / "a.png")
    (tmp_path / "a.png").rename(tmp_path / "a.jpg")
    assert probe_images(tmp_path, ["a.jpg"]) == ()
