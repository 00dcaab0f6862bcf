"""Journals with a schema that runs, deletes, never ends or lies: nothing of it happens, and what was said is there."""

from __future__ import annotations

import random
import shutil
import sqlite3
from pathlib import Path

import pytest

from a3s_desktop.errors import ProjectVersionError
from a3s_desktop.storage.journal_opening import create_journal, open_journal, read_journal
from a3s_desktop.storage.thumbnails import Thumbnail, ThumbnailStore

COUNT = 30
ENDLESS = "WITH RECURSIVE r(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM r) SELECT"
RECORD = "seq, 'a' AS kind, '{}' AS payload, 0.0 AS at, 'x' AS checksum"
COPY = "x'00' AS key, 1 AS used, 1 AS bytes, 1 AS width, 1 AS height, 0 AS cut, x'' AS data"
COLUMNS = "seq INTEGER PRIMARY KEY, kind TEXT, payload TEXT, at REAL, checksum TEXT"
# What is put beside the records, or over them without taking them out of the file.
BESIDE = {
    "trigger that deletes": [
        "CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM snapshots; DELETE FROM records; END"
    ],
    "trigger that ignores": ["CREATE TRIGGER t BEFORE INSERT ON records BEGIN SELECT RAISE(IGNORE); END"],
    "trigger that forges": [
        "CREATE TRIGGER t AFTER INSERT ON records BEGIN"
        " INSERT INTO records VALUES (new.seq + 1, 'a', '{}', 0, 'x'); END"
    ],
    "snapshots without end": [
        "DROP TABLE snapshots",
        f"CREATE VIEW snapshots AS {ENDLESS} max(seq) AS seq, '' AS chain, '' AS meta, '' AS checksum, '' AS arrays"
        " FROM r",
    ],
    "huge blob": ["INSERT INTO snapshots VALUES (5, '', '{}', '', zeroblob(10000000))"],
    "computed blob": [
        "DROP TABLE snapshots",
        "CREATE TABLE snapshots (seq INTEGER PRIMARY KEY, chain TEXT, meta TEXT, checksum TEXT,"
        " arrays BLOB GENERATED ALWAYS AS (zeroblob(900000000)) VIRTUAL)",
        "INSERT INTO snapshots (seq, chain, meta, checksum) VALUES (1, '', '{}', '')",
    ],
    "wrong types": ["INSERT INTO records VALUES (31, 1, zeroblob(10), 'abc', 5)"],
    "huge number": ["INSERT INTO records VALUES (9223372036854775807, 'a', '{}', 0, 'x')"],
    "virtual table": [
        "PRAGMA writable_schema = ON",
        "INSERT INTO sqlite_master VALUES"
        " ('table', 'e', 'e', 0, 'CREATE VIRTUAL TABLE e USING csv(filename=/etc/passwd)')",
    ],
    "schema that is no SQL": [
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = 'garbage' WHERE name = 'records'",
    ],
    "a thousand tables": ["BEGIN", *(f"CREATE TABLE t{n} (a)" for n in range(1000)), "COMMIT"],
}
# What takes the records out: they are gone before the program sees the file, which keeps it and says so.
INSTEAD = {
    "records without end": f"CREATE VIEW records AS {ENDLESS} {RECORD} FROM r",
    "no record in endless time": f"CREATE VIEW records AS {ENDLESS} {RECORD} FROM r WHERE seq < 0",
    "check that loads": f"CREATE TABLE records ({COLUMNS}, CHECK (load_extension('x')))",
    "other order": f"CREATE TABLE records ({COLUMNS} COLLATE NOCASE)",
    "no types": "CREATE TABLE records (seq, kind, payload, at, checksum)",
}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("journal") / "journal.sqlite"
    create_journal(path)
    journal = open_journal(path)
    for at in range(COUNT):
        journal.append("answer", {"n": at, "text": "y" * 60})
    journal.close()
    return path


def changed(good: Path, folder: Path, statements: list[str]) -> Path:
    path = folder / "journal.sqlite"
    shutil.copyfile(good, path)
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()
    return path


@pytest.mark.parametrize("name", BESIDE)
def test_the_records_are_there_whatever_is_beside_them(good: Path, tmp_path: Path, name: str) -> None:
    path = changed(good, tmp_path, BESIDE[name])
    before = path.read_bytes()
    reader = read_journal(path)
    assert [record.payload["n"] for record in reader.records()] == list(range(COUNT))
    reader.newest_snapshot()
    reader.close()
    assert path.read_bytes() == before
    writer = open_journal(path)
    assert writer.append("answer", {"n": COUNT}) == COUNT + 1
    writer.close()
    again = open_journal(path)
    assert [record.payload["n"] for record in again.records()] == list(range(COUNT + 1))
    again.close()


@pytest.mark.parametrize("name", INSTEAD)
def test_a_table_that_is_none_is_kept_aside(good: Path, tmp_path: Path, name: str) -> None:
    path = changed(good, tmp_path, ["DROP TABLE records", INSTEAD[name]])
    before = path.read_bytes()
    reader = read_journal(path)
    assert not list(reader.records())
    assert "damaged" in reader.recovery.text
    reader.close()
    writer = open_journal(path)
    assert writer.append("answer", {"n": 0}) == 1
    assert "damaged" in writer.recovery.text
    writer.close()
    assert before in [kept.read_bytes() for kept in tmp_path.glob("journal.damaged-*")]


def test_a_journal_from_the_future_is_left_alone(good: Path, tmp_path: Path) -> None:
    path = changed(good, tmp_path, ["PRAGMA user_version = 99"])
    before = path.read_bytes()
    for opening in (read_journal, open_journal):
        with pytest.raises(ProjectVersionError, match="has format 99") as caught:
            opening(path)
        assert caught.value.hint == "Update the program."
    assert path.read_bytes() == before


def test_flipped_bits_never_make_or_change_an_answer(good: Path, tmp_path: Path) -> None:
    """A flip in each page, and a hundred anywhere: what is read is always the beginning of what was said."""
    whole = good.read_bytes()
    dice = random.Random(5)
    places = [page + dice.randrange(4096) for page in range(0, len(whole), 4096)]
    places += [dice.randrange(len(whole)) for _ in range(100)]
    path = tmp_path / "journal.sqlite"
    recovered = []
    for place in places:
        data = bytearray(whole)
        data[place] ^= 1 << dice.randrange(8)
        path.write_bytes(data)
        try:
            journal = read_journal(path)
        except ProjectVersionError:
            assert 60 <= place < 64  # the number of the version itself
            continue
        found = [record.payload["n"] for record in journal.records()]
        journal.close()
        assert found == list(range(len(found)))
        recovered.append(len(found))
    assert sum(count == COUNT for count in recovered) > len(places) // 2


@pytest.mark.parametrize("cut", [0, 1, 99, 100, 4096, 4097, 8191])
def test_a_journal_that_was_cut_off_opens(good: Path, tmp_path: Path, cut: int) -> None:
    path = tmp_path / "journal.sqlite"
    path.write_bytes(good.read_bytes()[:cut])
    journal = open_journal(path)
    assert [record.payload["n"] for record in journal.records()] == list(range(journal.last))
    assert journal.append("answer", {"n": journal.last}) == journal.last
    journal.close()


@pytest.mark.parametrize(
    "statement",
    [
        f"CREATE VIEW copies AS {ENDLESS} {COPY} FROM r",
        "CREATE TABLE copies (key)",
        "CREATE TABLE other (a)",
    ],
)
def test_small_copies_do_without_a_foreign_file(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "copies.sqlite"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(statement)
    connection.execute("CREATE TABLE victim (a)")
    connection.close()
    store = ThumbnailStore(path, 1 << 20)
    store.put(b"k" * 16, Thumbnail(b"data", 4, 3, False))
    store.close()
    again = ThumbnailStore(path, 1 << 20)
    found = again.get(b"k" * 16)
    again.close()
    assert found is None or found.data == b"data"
