"""The journal: durable, chained, and never lost in silence, whatever happens to its file."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from a3s_desktop.errors import A3SError, ProjectVersionError, ReadOnlyError, StorageFailedError
from a3s_desktop.storage import journal_opening, sqlite
from a3s_desktop.storage.journal import Journal, pack_arrays, unpack_arrays
from a3s_desktop.storage.journal_opening import create_journal, open_journal, read_journal
from a3s_desktop.storage.journal_types import MemoryJournal, Record, kept_snapshots

PAYLOADS = [{"left": i, "right": i * 7 + 1, "answer": "same" if i % 3 else "different"} for i in range(400)]


def new_journal(path: Path, count: int = 0, snapshots: bool = False) -> Journal:
    create_journal(path)
    journal = open_journal(path)
    for i in range(count):
        journal.append("answer", PAYLOADS[i % len(PAYLOADS)], at=1000.0 + i)
        if snapshots and i % 50 == 49:
            journal.save_snapshot({"labels": np.arange(500) + i}, {"at": i})
    return journal


def expected(count: int) -> list[Record]:
    return [Record(i + 1, "answer", PAYLOADS[i % len(PAYLOADS)], 1000.0 + i) for i in range(count)]


def assert_prefix(journal: Journal, most: int, least: int = 0) -> None:
    """Whole records from the first on, and the journal can be written again."""
    found = list(journal.records())
    assert found == expected(len(found))
    assert least <= len(found) <= most
    assert journal.last == len(found)
    assert journal.recovery.recovered == len(found)
    if not journal.read_only:
        assert journal.append("answer", PAYLOADS[len(found) % len(PAYLOADS)], at=1000.0 + len(found)) == len(found) + 1


@pytest.mark.parametrize("kind", ["disk", "memory"])
def test_records_come_back_in_order(tmp_path: Path, kind: str) -> None:
    journal = new_journal(tmp_path / "j.sqlite") if kind == "disk" else MemoryJournal()
    assert journal.last == 0
    assert journal.append("answer", {"left": np.int32(3), "odd": "\udcff\n'\""}, at=5.5) == 1
    assert journal.append("undo", {}) == 2
    records = list(journal.records())
    assert records[0] == Record(1, "answer", {"left": 3, "odd": "\udcff\n'\""}, 5.5)
    assert [record.kind for record in journal.records(1)] == ["undo"]
    journal.close()
    journal.close()
    with pytest.raises(StorageFailedError):
        journal.append("undo", {})


def test_more_records_than_one_page_of_reading(tmp_path: Path) -> None:
    journal = new_journal(tmp_path / "j.sqlite", 1203)
    assert list(journal.records()) == expected(1203)
    assert list(journal.records(1000)) == expected(1203)[1000:]
    journal.close()
    again = open_journal(tmp_path / "j.sqlite")
    assert list(again.records()) == expected(1203)
    assert again.recovery.text == ""
    again.close()


def test_every_commit_is_synchronised(tmp_path: Path) -> None:
    journal = new_journal(tmp_path / "j.sqlite")
    connection = journal._connection
    assert connection is not None
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    journal.close()


@pytest.mark.parametrize("statement", ["DELETE FROM records", "UPDATE records SET kind = 'x'"])
def test_records_cannot_be_changed(tmp_path: Path, statement: str) -> None:
    new_journal(tmp_path / "j.sqlite", 3).close()
    with sqlite3.connect(tmp_path / "j.sqlite") as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute(statement)
    connection.close()


def test_nan_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    journal = new_journal(tmp_path / "j.sqlite")
    with pytest.raises(ValueError, match="JSON"):
        journal.append("answer", {"p": float("nan")})
    assert journal.last == 0
    journal.close()


def test_full_disk_keeps_nothing_and_goes_on_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = new_journal(tmp_path / "j.sqlite", 3)
    connection = journal._connection
    assert connection is not None
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    real, most = sqlite.make_durable, [pages]

    def limited(fresh: sqlite3.Connection) -> None:
        real(fresh)
        fresh.execute(f"PRAGMA max_page_count = {most[0]}")

    monkeypatch.setattr(sqlite, "make_durable", limited)
    connection.execute(f"PRAGMA max_page_count = {pages}")
    big = {"text": "x" * 30_000}
    for _ in range(3):
        with pytest.raises(StorageFailedError, match="the disk is full") as caught:
            journal.append("note", big)
    assert "Free some space" in caught.value.hint
    assert list(journal.records()) == expected(3)
    most[0] = 1_000_000
    limited(journal._connection)
    assert journal.append("note", big) == 4
    journal.close()
    again = open_journal(tmp_path / "j.sqlite")
    assert [record.kind for record in again.records()] == ["answer"] * 3 + ["note"]
    again.close()


def test_another_writer_is_noticed(tmp_path: Path) -> None:
    journal, other = new_journal(tmp_path / "j.sqlite", 2), open_journal(tmp_path / "j.sqlite")
    other.append("answer", {})
    with pytest.raises(StorageFailedError, match="changed by another program"):
        journal.append("answer", {})
    journal.close()
    other.close()


# ------------------------------------------------------------------------------------------------ snapshots


@pytest.mark.parametrize("kind", ["disk", "memory"])
def test_snapshots_are_found_by_position(tmp_path: Path, kind: str) -> None:
    journal = new_journal(tmp_path / "j.sqlite") if kind == "disk" else MemoryJournal()
    assert journal.newest_snapshot() is None
    journal.save_snapshot({"a": np.arange(3)}, {"n": 0})
    for i in range(4):
        journal.append("answer", {"i": i})
    journal.save_snapshot({"a": np.arange(6, dtype=np.int32).reshape(2, 3)}, {"n": 4})
    newest = journal.newest_snapshot()
    assert newest is not None
    assert newest.seq == 4
    assert newest.meta == {"n": 4}
    assert newest.arrays["a"].dtype == np.int32
    assert (newest.arrays["a"] == np.arange(6).reshape(2, 3)).all()
    older = journal.newest_snapshot(3)
    assert older is not None
    assert older.seq == 0
    journal.close()


def test_damaged_snapshot_is_passed_over(tmp_path: Path) -> None:
    journal = new_journal(tmp_path / "j.sqlite", 120, snapshots=True)
    connection = journal._connection
    assert connection is not None
    connection.execute("UPDATE snapshots SET arrays = zeroblob(100) WHERE seq = 100")
    found = journal.newest_snapshot()
    assert found is not None
    assert found.seq == 50
    journal.close()


def test_number_of_snapshots_grows_slowly(tmp_path: Path) -> None:
    seqs: list[int] = []
    for seq in range(200, 60_001, 200):
        seqs = sorted(kept_snapshots([*seqs, seq]))
    assert seqs[-1] == 60_000
    assert len(seqs) <= 24
    # Undo from anywhere must not replay everything: there is always one not much farther back than asked for.
    for target in (59_900, 55_000, 40_000):
        assert 60_000 - max(seq for seq in seqs if seq <= target) <= 2.2 * (60_000 - target) + 1000


def test_arrays_round_trip_without_pickle() -> None:
    arrays = {"a": np.zeros((0, 3), np.float32), "b": np.array(["x", "\u00e9"]), "c": np.array(7)}
    again = unpack_arrays(pack_arrays(arrays))
    assert all((again[name] == arrays[name]).all() and again[name].dtype == arrays[name].dtype for name in arrays)
    with pytest.raises(ValueError, match="Object"):
        pack_arrays({"o": np.array([object()])})


# ------------------------------------------------------------------------------------------------ damage


@pytest.fixture(scope="module")
def fast() -> Iterator[Path]:
    """A folder in memory where the system has one: these tests repair thousands of files, which synchronise."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


class Content(bytes):
    """Bytes that hypothesis does not print."""

    def __repr__(self) -> str:
        return f"<{len(self)} bytes>"


@pytest.fixture(scope="module")
def closed(fast: Path) -> bytes:
    """The file of a journal of 300 records with snapshots, closed."""
    path = place(fast / "closed", b"")
    path.unlink()
    new_journal(path, 300, snapshots=True).close()
    return Content(path.read_bytes())


@pytest.fixture(scope="module")
def killed(fast: Path) -> tuple[bytes, bytes]:
    """File and log of a journal of 300 records whose program was killed."""
    folder = fast / "killed"
    folder.mkdir()
    journal = new_journal(folder / "j.sqlite", 300, snapshots=True)
    pair = Content((folder / "j.sqlite").read_bytes()), Content((folder / "j.sqlite-wal").read_bytes())
    journal.close()
    return pair


def place(folder: Path, data: bytes, log: bytes = b"") -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "j.sqlite").write_bytes(data)
    if log:
        (folder / "j.sqlite-wal").write_bytes(log)
    return folder / "j.sqlite"


def test_killed_journal_is_whole(tmp_path: Path, killed: tuple[bytes, bytes]) -> None:
    journal = open_journal(place(tmp_path / "p", *killed))
    assert journal.recovery.text == ""
    assert_prefix(journal, 300, 300)
    journal.close()


@given(share=st.floats(0, 1), read_only=st.booleans())
def test_truncation_anywhere_recovers_a_prefix(fast: Path, closed: bytes, share: float, read_only: bool) -> None:
    path = place(fast / "p", closed[: int(share * (len(closed) - 1))])
    journal = read_journal(path) if read_only else open_journal(path)
    assert journal.recovery.text
    assert_prefix(journal, 300)
    kept = journal.recovery.damaged
    journal.close()
    if not read_only:
        assert (path.parent / kept).read_bytes() == closed[: int(share * (len(closed) - 1))]
        again = open_journal(path)
        assert again.recovery.text == ""
        again.close()


def test_more_survives_the_later_the_cut(tmp_path: Path, closed: bytes) -> None:
    counts = []
    for share in (0.2, 0.5, 0.8, 0.99):
        journal = open_journal(place(tmp_path / "p", closed[: int(share * len(closed))]))
        counts.append(journal.last)
        journal.close()
    assert counts == sorted(counts)
    assert counts[-1] >= 250


@given(at=st.integers(0, 1 << 30), bit=st.integers(0, 7))
@example(at=18, bit=3)  # SQLite takes the file for one that must not be written
@example(at=3670, bit=7)  # the schema is no text any more, nor is SQLite's message
def test_flipped_bit_never_gives_a_wrong_record(fast: Path, closed: bytes, at: int, bit: int) -> None:
    data = bytearray(closed)
    data[at % len(data)] ^= 1 << bit
    try:
        journal = open_journal(place(fast / "p", bytes(data)))
    except ProjectVersionError:
        return  # the bit was in the version number
    assert_prefix(journal, 300)
    journal.close()


@given(share=st.floats(0, 1))
def test_log_cut_anywhere_recovers_a_prefix(fast: Path, killed: tuple[bytes, bytes], share: float) -> None:
    data, log = killed
    journal = open_journal(place(fast / "p", data, log[: int(share * len(log))]))
    assert_prefix(journal, 300)
    journal.close()


@given(at=st.integers(0, 1 << 30), bit=st.integers(0, 7))
def test_flipped_bit_in_the_log_loses_at_most_what_it_hit(
    fast: Path, killed: tuple[bytes, bytes], at: int, bit: int
) -> None:
    """SQLite alone forgets all commits after a damaged frame, without a word."""
    data, log = killed
    changed = bytearray(log)
    changed[at % len(log)] ^= 1 << bit
    journal = open_journal(place(fast / "p", data, bytes(changed)))
    assert_prefix(journal, 300, 299)
    journal.close()


@given(noise=st.binary(min_size=0, max_size=3000))
def test_any_bytes_are_survived(fast: Path, noise: bytes) -> None:
    path = place(fast / "p", noise, noise[::-1])
    for opener in (read_journal, open_journal):
        journal = opener(path)
        assert list(journal.records()) == []
        assert journal.recovery.text
        journal.close()


def test_a_journal_that_is_there_is_never_called_missing(tmp_path: Path) -> None:
    path = place(tmp_path / "p", bytes(9000), b"")
    for opener in (read_journal, open_journal):
        journal = opener(path)
        assert journal.recovery.text.startswith("The journal was damaged. No entry could be recovered.")
        journal.close()


def test_missing_journal_is_said(tmp_path: Path) -> None:
    journal = open_journal(tmp_path / "j.sqlite")
    assert "missing or empty" in journal.recovery.text
    assert_prefix(journal, 0)
    journal.close()


def test_long_records_on_overflow_pages_are_recovered(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    journal = new_journal(path)
    for i in range(20):
        journal.append("note", {"i": i, "text": str(i) * (9000 if i % 2 else 20)}, at=float(i) + 0.25)
    whole = list(journal.records())
    journal.close()
    data = bytearray(path.read_bytes())
    data[28:32] = b"\xff\xff\xff\xff"  # the page count of the header
    data[40:100] = bytes(60)
    data[100:4096] = bytes(3996)  # the schema
    path.write_bytes(bytes(data))
    again = open_journal(path)
    assert list(again.records()) == whole
    assert "20 entries were recovered" in again.recovery.text
    again.close()


def test_readable_snapshots_are_carried_over(tmp_path: Path, closed: bytes) -> None:
    path = place(tmp_path / "p", closed)
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TRIGGER records_keep")
        connection.execute("UPDATE records SET payload = '{}' WHERE seq = 260")
    connection.close()
    journal = open_journal(path)
    assert journal.last == 259
    assert journal.recovery.lost == 41
    assert "41 later entries are lost" in journal.recovery.text
    shot = journal.newest_snapshot()
    assert shot is not None
    assert shot.seq == 250
    journal.close()


@pytest.mark.parametrize("step", ["rename", "sync_folder", "copy_file", "remove_file"])
def test_repair_that_is_interrupted_is_done_again(
    tmp_path: Path, killed: tuple[bytes, bytes], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    data, log = killed
    for position in range(1, 5):
        path = place(tmp_path / "p", data[: len(data) // 2], log)
        calls = 0
        real = getattr(journal_opening.files, step)

        def fail(*arguments: object, real: object = real, position: int = position) -> object:
            nonlocal calls
            calls += 1
            if calls == position:
                raise OSError(5, "injected")
            return real(*arguments)  # type: ignore[operator]

        with monkeypatch.context() as patch:
            patch.setattr(journal_opening.files, step, fail)
            with open_or_fail(path) as journal:
                if journal is not None:
                    journal.close()
        journal = open_journal(path)
        assert_prefix(journal, 300, 300)
        journal.close()


class open_or_fail:  # noqa: N801 - reads as a sentence
    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Journal | None:
        try:
            return open_journal(self.path)
        except A3SError as error:
            if not error.message:
                raise
            return None

    def __exit__(self, *_: object) -> None:
        return


def test_newer_version_is_refused_politely(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    new_journal(path, 2).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {sqlite.VERSION + 1}")
    connection.close()
    for opener in (open_journal, read_journal):
        with pytest.raises(ProjectVersionError, match="format 2"):
            opener(path)


# ------------------------------------------------------------------------------------------------ readers


def test_reader_sees_what_is_committed_and_leaves_the_writer_alone(tmp_path: Path) -> None:
    writer = new_journal(tmp_path / "j.sqlite", 10)
    before = sorted(entry.name for entry in tmp_path.iterdir())
    reader = read_journal(tmp_path / "j.sqlite")
    assert list(reader.records()) == expected(10)
    with pytest.raises(ReadOnlyError):
        reader.append("answer", {})
    with pytest.raises(ReadOnlyError):
        reader.save_snapshot({}, {})
    assert sorted(entry.name for entry in tmp_path.iterdir()) == before
    writer.append("answer", {})
    assert reader.last == 10
    reader.close()
    connection = writer._connection
    assert connection is not None
    assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0  # no reader holds it up
    writer.close()


def test_reader_beside_a_busy_writer(tmp_path: Path) -> None:
    """A checkpoint between the copies of log and file must not look like damage."""
    writer = new_journal(tmp_path / "j.sqlite", 5)
    connection = writer._connection
    assert connection is not None
    connection.execute("PRAGMA wal_autocheckpoint = 3")
    for i in range(5, 60):
        writer.append("answer", PAYLOADS[i], at=1000.0 + i)
        reader = read_journal(tmp_path / "j.sqlite")
        assert reader.recovery.text == ""
        assert list(reader.records()) == expected(i + 1)
        reader.close()
    writer.close()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_killed_writer_loses_nothing_acknowledged(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from a3s_desktop.storage.journal_opening import create_journal, open_journal\n"
        "path = Path(sys.argv[1]); create_journal(path); journal = open_journal(path)\n"
        "i = 0\n"
        "while True:\n"
        "    print(journal.append('answer', {'i': i}), flush=True); i += 1\n"
    )
    for moment in (3, 40, 150):
        path = tmp_path / f"j{moment}.sqlite"
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True, cwd=os.getcwd()
        )
        assert process.stdout is not None
        acknowledged = [int(process.stdout.readline()) for _ in range(moment)]
        process.send_signal(signal.SIGKILL)
        acknowledged += [int(line) for line in process.stdout.read().splitlines() if line]
        process.wait()
        process.stdout.close()
        journal = open_journal(path)
        assert journal.last >= acknowledged[-1]
        assert [record.payload["i"] for record in journal.records()] == list(range(journal.last))
        assert journal.recovery.text == ""
        journal.close()
