"""Facts of a file, in lines a person reads; files that are gone or broken give what there is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PIL import Image

from a3s_desktop.ui.file_facts import FileFacts, byte_text, fact_lines, read_facts


def test_the_date_of_the_photo_goes_before_that_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    exif = Image.Exif()
    exif.get_ifd(0x8769)[0x9003] = "2019:07:08 09:10:11"
    Image.new("RGB", (40, 30)).save(path, exif=exif)
    os.utime(path, (1_600_000_000, 1_600_000_000))
    lines = fact_lines("a.jpg", "flank/left", (40, 30), read_facts(path))
    assert lines[:2] == ("a.jpg", "flank/left")
    assert lines[2].startswith("40 × 30 · ")
    assert lines[3] == "taken 2019-07-08 09:10:11"
    plain = tmp_path / "b.png"
    Image.new("RGB", (40, 30)).save(plain)
    os.utime(plain, (1_600_000_000, 1_600_000_000))
    assert fact_lines("b.png", "", None, read_facts(plain))[3].startswith("file of 2020-09-1")


@pytest.mark.parametrize("content", [None, b"", b"\xff\xd8\xff no image", b"\x89PNG\r\n\x1a\n" + b"\0" * 50])
def test_missing_and_broken_files_have_the_facts_there_are(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "x.jpg"
    if content is not None:
        path.write_bytes(content)
    facts = read_facts(path)
    assert facts.taken is None
    lines = fact_lines("x.jpg", "", None, facts)
    if content is None:
        assert facts == FileFacts()
        assert lines[-1] == "the file cannot be read now"
    else:
        assert facts.size == len(content)
        assert lines[-1].startswith("file of ")


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (45_300, "45.3 kB"), (999_600, "1.0 MB"),
     (3_210_000, "3.2 MB"), (123_400_000, "123 MB"), (5_000_000_000_000, "5,000 GB")],
)  # fmt: skip
def test_sizes_as_people_write_them(count: int, text: str) -> None:
    assert byte_text(count) == text
