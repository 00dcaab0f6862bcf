"""Small copies on disk: kept, found again, bounded, and never in the way."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path

import pytest

from a3s_desktop.storage.keys import Part
from a3s_desktop.storage.thumbnails import Thumbnail, ThumbnailStore, remove_thumbnails, thumbnail_key


def _key(number: int) -> bytes:
    return number.to_bytes(16, "big")


def _copy(number: int, size: int = 1000) -> Thumbnail:
    return Thumbnail(number.to_bytes(4, "big") * (size // 4), 4000 + number, 3000, number % 2 == 1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "thumbnails.sqlite"


def test_what_was_kept_is_there_at_once_and_after_the_next_start(file: Path) -> None:
    store = ThumbnailStore(file, 10**6)
    for number in range(50):  # some of them written, some waiting
        store.put(_key(number), _copy(number))
    assert [store.get(_key(number)) for number in range(50)] == [_copy(number) for number in range(50)]
    assert store.get(_key(99)) is None
    store.close()

    again = ThumbnailStore(file, 10**6)
    assert [again.get(_key(number)) for number in range(50)] == [_copy(number) for number in range(50)]
    again.close()


def test_the_file_stays_within_its_bound_and_those_used_last_stay(file: Path) -> None:
    bound = 100_000
    store = ThumbnailStore(file, bound)
    for number in range(64):
        store.put(_key(number), _copy(number))
    store.close()
    for start in range(100, 1000, 40):
        store = ThumbnailStore(file, bound)  # one day after the other
        assert store.get(_key(7)) == _copy(7), start
        for number in range(start, start + 40):
            store.put(_key(number), _copy(number))
        store.close()
    with sqlite3.connect(file) as connection:
        ((total,),) = connection.execute("SELECT sum(length(data)) FROM copies").fetchall()
    connection.close()
    assert bound / 2 < total <= bound
    assert file.stat().st_size < 3 * bound  # room that was freed is used again


def test_a_changed_file_another_part_or_size_has_another_key(tmp_path: Path) -> None:
    photo = tmp_path / "photo.jpg"
    photo.write_bytes(b"1")
    keys = [
        thumbnail_key(photo, None, 256),
        thumbnail_key(photo, Part(0, 0, 5, 5), 256),
        thumbnail_key(photo, Part(0, 0, 5, 6), 256),
        thumbnail_key(photo, None, 128),
    ]
    photo.write_bytes(b"22")
    keys.append(thumbnail_key(photo, None, 256))
    os.utime(photo, ns=(1, 1))
    keys.append(thumbnail_key(photo, None, 256))
    assert None not in keys
    assert len(set(keys)) == len(keys)
    assert thumbnail_key(photo, None, 256) == keys[-1]
    assert thumbnail_key(tmp_path / "missing.jpg", None, 256) is None


@pytest.mark.parametrize("damage", [b"no database at all" * 400, b"SQLite format 3\0" + b"\xff" * 8000])
def test_a_damaged_file_is_begun_anew(file: Path, damage: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(damage)
    store = ThumbnailStore(file, 10**6)
    assert store.get(_key(1)) is None
    store.put(_key(1), _copy(1))
    store.close()
    again = ThumbnailStore(file, 10**6)
    assert again.get(_key(1)) == _copy(1)
    again.close()


def test_pages_damaged_in_the_middle_cost_only_the_copies(file: Path) -> None:
    store = ThumbnailStore(file, 10**7)
    for number in range(200):
        store.put(_key(number), _copy(number))
    store.close()
    content = bytearray(file.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    file.write_bytes(bytes(content))
    store = ThumbnailStore(file, 10**7)
    for number in range(200):
        assert store.get(_key(number)) in (None, _copy(number))
        store.put(_key(number), _copy(number))
    store.close()


def test_a_database_of_another_program_or_version_is_replaced(file: Path) -> None:
    file.parent.mkdir()
    connection = sqlite3.connect(file)
    connection.execute('CREATE TABLE "odd "" name" (x)')
    connection.execute("CREATE TABLE copies (other)")
    connection.commit()
    connection.close()
    store = ThumbnailStore(file, 10**6)
    for number in range(40):
        store.put(_key(number), _copy(number))
    assert store.get(_key(3)) == _copy(3)
    store.close()


def test_where_nothing_can_be_written_the_program_does_without(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    store = ThumbnailStore(blocked / "cache" / "thumbnails.sqlite", 10**6)
    for number in range(100):
        store.put(_key(number), _copy(number))
        assert store.get(_key(number)) in (None, _copy(number))
    store.close()


def test_many_threads_and_two_programs_share_the_file(file: Path) -> None:
    stores = [ThumbnailStore(file, 10**7) for _ in range(2)]
    wrong: list[int] = []

    def work(start: int) -> None:
        store = stores[start % 2]
        for number in range(start, start + 150):
            store.put(_key(number), _copy(number))
            if store.get(_key(number)) not in (None, _copy(number)):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(start,)) for start in (0, 1001, 2000, 3001)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for store in stores:
        store.close()
    assert not wrong
    again = ThumbnailStore(file, 10**7)
    assert again.get(_key(5)) == _copy(5)
    again.close()
    assert remove_thumbnails(file)
    assert not file.exists()


def test_what_another_program_keeps_from_being_written_is_written_later(file: Path) -> None:
    first = ThumbnailStore(file, 10**7)
    for number in range(40):
        first.put(_key(number), _copy(number))
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for number in range(40, 120):
        first.put(_key(number), _copy(number))
    assert all(first.get(_key(number)) == _copy(number) for number in range(120))
    other.execute("ROLLBACK")
    other.close()
    first.close()
    again = ThumbnailStore(file, 10**7)
    assert all(again.get(_key(number)) == _copy(number) for number in range(120))
    again.close()
