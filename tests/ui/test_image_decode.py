"""Images are shown upright, small, in the right colours; what cannot be shown has a reason in plain words."""

from __future__ import annotations

import ast
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage

from a3s_desktop.storage import picture_opening
from a3s_desktop.ui import image_decode
from a3s_desktop.ui.image_decode import DecodeError, decode, fitted, image_note, scaled_copy, source_size

BOX = QSize(200, 200)
WHOLE = QSize()
SHOWN = (QImage.Format.Format_RGB32, QImage.Format.Format_ARGB32_Premultiplied)


def picture(width: int = 240, height: int = 160) -> Image.Image:
    """Quarters: red, green / blue, white."""
    values = np.zeros((height, width, 3), np.uint8)
    values[: height // 2, : width // 2] = (220, 30, 30)
    values[: height // 2, width // 2 :] = (30, 200, 30)
    values[height // 2 :, : width // 2] = (30, 30, 220)
    values[height // 2 :, width // 2 :] = (240, 240, 240)
    return Image.fromarray(values)


def colours(image: QImage) -> tuple[str, ...]:
    """Nearest name of the colour in each quarter."""
    names = {"r": (220, 30, 30), "g": (30, 200, 30), "b": (30, 30, 220), "w": (240, 240, 240)}
    result = []
    for y in (0.25, 0.75):
        for x in (0.25, 0.75):
            c = image.pixelColor(int(image.width() * x), int(image.height() * y))
            distance = {n: abs(c.red() - r) + abs(c.green() - g) + abs(c.blue() - b) for n, (r, g, b) in names.items()}
            name = min(distance, key=lambda n: distance[n])
            assert distance[name] < 90
            result.append(name)
    return tuple(result)


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "bmp", "tif", "avif", "gif"])
def test_formats(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    picture().save(path)
    image = decode(path, BOX)
    assert image.size() == QSize(200, 133)
    assert source_size(image) == QSize(240, 160)
    assert image.format() in SHOWN
    assert colours(image) == ("r", "g", "b", "w")


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tif", "avif"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientations(tmp_path: Path, orientation: int, suffix: str) -> None:
    stored = {
        1: None, 2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_90, 7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }[orientation]  # fmt: skip
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / f"a.{suffix}"
    (picture().transpose(stored) if stored is not None else picture()).save(path, exif=exif)
    image = decode(path, BOX)
    assert image.size() == QSize(200, 133)
    assert source_size(image) == QSize(240, 160)
    assert colours(image) == ("r", "g", "b", "w")


def test_cmyk_and_wrong_extension(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    picture().convert("CMYK").save(path, format="JPEG")
    assert colours(decode(path, BOX)) == ("r", "g", "b", "w")


@pytest.mark.parametrize("suffix", ["png", "tif"])
def test_sixteen_bits(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    Image.fromarray(np.linspace(0, 65535, 300 * 400).reshape(300, 400).astype(np.uint16)).save(path)
    image = decode(path, BOX)
    assert 120 <= image.pixelColor(100, 75).red() <= 136
    assert image.pixelColor(100, 5).red() < 20


def test_floats_of_any_range(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    Image.fromarray(np.linspace(-3000, 9000, 300 * 400).reshape(300, 400).astype(np.float32)).save(path)
    image = decode(path, BOX)
    assert 118 <= image.pixelColor(100, 75).red() <= 138


def test_pillow_alone_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_decode, "_by_qt", lambda _path, _box, _kind: None)
    exif = Image.Exif()
    exif[0x0112] = 6
    for name, image in (("a.jpg", picture()), ("b.png", picture().convert("RGBA")), ("c.gif", picture().convert("P"))):
        image.transpose(Image.Transpose.ROTATE_90).save(tmp_path / name, exif=exif)
        result = decode(tmp_path / name, BOX)
        assert result.format() in SHOWN
        if name != "c.gif":  # has no orientation
            assert result.size() == QSize(200, 133)
            assert colours(result) == ("r", "g", "b", "w")
    sixteen = np.full((30, 40), 0x7FFF, np.uint16)
    Image.fromarray(sixteen).save(tmp_path / "d.png")
    assert decode(tmp_path / "d.png", BOX).pixelColor(5, 5).red() == 127


def test_transparency_is_kept(tmp_path: Path) -> None:
    image = picture().convert("RGBA")
    image.putalpha(0)
    image.save(tmp_path / "a.png")
    assert decode(tmp_path / "a.png", BOX).pixelColor(3, 3).alpha() == 0


def test_small_images_are_not_enlarged(tmp_path: Path) -> None:
    picture(20, 10).save(tmp_path / "a.png")
    assert decode(tmp_path / "a.png", BOX).size() == QSize(20, 10)
    assert decode(tmp_path / "a.png", WHOLE).size() == QSize(20, 10)


def test_extreme_shapes(tmp_path: Path) -> None:
    Image.new("RGB", (5000, 2)).save(tmp_path / "a.png")
    assert decode(tmp_path / "a.png", BOX).size() == QSize(200, 1)
    assert fitted(QSize(1, 100_000), BOX) == QSize(1, 200)


def test_an_odd_name(tmp_path: Path) -> None:
    path = tmp_path / "ä 'q' \"d\" 🐞 <b>.jpg"
    picture().save(path, format="JPEG")
    assert colours(decode(path, BOX)) == ("r", "g", "b", "w")


def bad_files(folder: Path) -> dict[str, Path]:
    data = io.BytesIO()
    picture().save(data, "WEBP")
    files = {
        "is empty": b"",
        "no image of a known format": b"hello, world",
        "cannot be decoded": data.getvalue()[:60],
    }
    for i, text in enumerate(files.values()):
        (folder / f"{i}.jpg").write_bytes(text)
    result = {reason: folder / f"{i}.jpg" for i, reason in enumerate(files)}
    result["missing"] = folder / "none.jpg"
    result["folder"] = folder
    return result


@pytest.mark.parametrize("reason", ["is empty", "no image of a known format", "cannot be decoded", "missing", "folder"])
def test_reasons(tmp_path: Path, reason: str) -> None:
    with pytest.raises(DecodeError, match=reason):
        decode(bad_files(tmp_path)[reason], BOX)


@pytest.mark.qt_log_ignore("Corrupt JPEG data")
def test_a_cut_photo_is_shown_with_a_note(tmp_path: Path) -> None:
    data = io.BytesIO()
    picture(800, 600).save(data, "JPEG")
    (tmp_path / "a.jpg").write_bytes(data.getvalue()[:-600])
    image = decode(tmp_path / "a.jpg", BOX)
    assert "missing" in image_note(image)
    assert colours(image)[:2] == ("r", "g")
    assert "missing" in image_note(scaled_copy(image, QSize(50, 50)))


def test_a_bomb_is_refused_before_it_is_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_opening, "MAX_PIXELS", 10_000)
    picture().save(tmp_path / "a.png")
    with pytest.raises(DecodeError, match="too large"):
        decode(tmp_path / "a.png", BOX)
    monkeypatch.setattr(image_decode, "_by_qt", lambda _path, _box, _kind: None)
    with pytest.raises(DecodeError, match="too large"):
        decode(tmp_path / "a.png", BOX)


def test_a_small_copy_remembers_the_original(tmp_path: Path) -> None:
    picture().save(tmp_path / "a.png")
    copy = scaled_copy(decode(tmp_path / "a.png", WHOLE), QSize(60, 60))
    assert copy.size() == QSize(60, 40)
    assert source_size(copy) == QSize(240, 160)


def test_a_part_of_a_photo_is_named_by_its_path(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    picture().transpose(Image.Transpose.ROTATE_90).save(tmp_path / "a.png", exif=exif)
    lower_left = decode(tmp_path / "a.png#xywh=0,80,120,80", WHOLE)
    assert lower_left.size() == source_size(lower_left) == QSize(120, 80)
    assert colours(lower_left) == ("b", "b", "b", "b")
    assert decode(tmp_path / "a.png#xywh=0,0,240,160", QSize(60, 60)).size() == QSize(60, 40)
    with pytest.raises(DecodeError, match="outside"):
        decode(tmp_path / "a.png#xywh=240,0,10,10", WHOLE)
    with pytest.raises(DecodeError, match="missing"):
        decode(tmp_path / "none.png#xywh=0,0,10,10", WHOLE)


def test_qt_never_guesses_the_kind_of_a_file() -> None:
    """Its guessing holds the interpreter and takes a lock of Qt's signals: the window stood still for ever by that."""
    for path in sorted(Path(image_decode.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "QImageReader":
                assert len(node.args) == 2, f"{path.name}:{node.lineno}"
