"""Drives of the network are told, and the journal there works without memory that programs share."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.errors import A3SError, StorageFailedError
from a3s_desktop.storage import drives, files, salvage, sqlite
from a3s_desktop.storage.backup import list_backups, loss_of, make_backup, restore_backup
from a3s_desktop.storage.journal import Journal
from a3s_desktop.storage.journal_files import look_at
from a3s_desktop.storage.journal_opening import create_journal, keep_aside, open_journal, read_journal
from a3s_desktop.storage.spec import ProjectSpec
from a3s_desktop.storage.sqlite import UNDO
from a3s_desktop.storage.thumbnails import Thumbnail, ThumbnailStore
from a3s_desktop.storage.workspace import create_workspace, open_workspace

TABLE = r"""22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 0:26 / /home/ann/nas rw,nosuid - nfs4 nas:/export rw,vers=4.2
31 22 0:27 / /mnt/with\040blank rw - cifs //nas/photos rw
32 22 0:28 / /run/user/1000/gvfs rw - fuse.gvfsd-fuse gvfsd-fuse rw
33 22 0:29 / /media/stick rw - fuseblk /dev/sdb1 rw
34 22 0:30 / /mnt/ssh rw shared:7 master:2 - fuse.sshfs ann@nas: rw
35 22 0:31 / /mnt/ntfs rw - fuse.ntfs-3g /dev/sdc1 rw
36 22 0:32 / /lazy rw - autofs systemd-1 rw
37 36 254:1 / /lazy rw - xfs /dev/vdb rw
38 22 0:33 / /home/ann/nas/inner rw - tmpfs tmpfs rw
39 22 0:34 / /mnt/qemu rw - 9p share rw
nonsense
"""


@pytest.mark.parametrize(
    ("path", "network"),
    [
        ("/", False),
        ("/home/ann/owls", False),
        ("/home/ann/nas/owls", True),
        ("/home/ann/nas", True),
        ("/home/ann/nasty", False),
        ("/home/ann/nas/inner/owls", False),
        ("/mnt/with blank/owls", True),
        ("/run/user/1000/gvfs/smb-share:server=nas/owls", True),
        ("/media/stick/owls", False),
        ("/mnt/ssh/owls", True),
        ("/mnt/ntfs/owls", False),
        ("/lazy/owls", False),
        ("/mnt/qemu/owls", True),
    ],
)
def test_linux_says_what_lies_where(path: str, network: bool) -> None:
    assert drives.is_remote_linux(path, TABLE) is network


def test_no_table_is_no_network() -> None:
    assert not drives.is_remote_linux("/home", "")


@pytest.mark.parametrize(
    ("path", "network"),
    [
        ("/Users/ann/owls", False),
        ("/Volumes/photos/owls", True),
        ("/Volumes/stick/owls", False),
        ("/Volumes/with (1) name/owls", True),
    ],
)
def test_macos_says_what_lies_where(path: str, network: bool) -> None:
    table = (
        "/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)\n"
        "/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse)\n"
        "//ann@nas/photos on /Volumes/photos (smbfs, nodev, nosuid, mounted by ann)\n"
        "nas:/export on /Volumes/with (1) name (nfs, nodev)\n"
        "/dev/disk4s1 on /Volumes/stick (exfat, local, nodev, nosuid, noowners)\n"
    )
    assert drives.is_remote_mac(path, table) is network


@pytest.mark.parametrize(
    ("path", "kind", "network"),
    [
        ("C:\\Users\\ann", 3, False),
        ("Z:\\owls", 4, True),
        ("\\\\nas\\photos\\owls", 1, True),
        ("//nas/photos/owls", 1, True),
        ("\\\\?\\C:\\Users", 3, False),
        ("\\\\?\\UNC\\nas\\photos\\owls", 1, True),
    ],
)
def test_windows_says_what_lies_where(path: str, kind: int, network: bool) -> None:
    assert drives.is_remote_windows(path, kind) is network


@pytest.mark.skipif(not drives.MOUNTS.exists(), reason="the table of this system is read in another way")
def test_the_table_of_this_system_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not drives.is_network(Path("/proc"))
    table = tmp_path / "mountinfo"
    table.write_text(f"1 0 0:1 / / rw - ext4 /dev/vda rw\n2 1 0:2 / {os.path.realpath(tmp_path)} rw - nfs nas: rw\n")
    monkeypatch.setattr(drives, "MOUNTS", table)
    assert drives.is_network(tmp_path / "not yet there")


# ------------------------------------------------------------------------------------------------ the journal there


class Drive:
    """A folder that is on the network, or not, as the test has it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.network = True

    def holds(self, path: Path) -> bool:
        return self.network and str(path).startswith(str(self.folder))


@pytest.fixture
def drive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Drive:
    made = Drive(tmp_path)
    monkeypatch.setattr(drives, "is_network", made.holds)
    return made


def write(path: Path, count: int = 20, snapshots: bool = True) -> Journal:
    if not path.exists():
        create_journal(path)
    journal = open_journal(path)
    for _ in range(count):
        journal.append("answer", {"number": journal.last + 1}, at=5.0)
        if snapshots and journal.last % 10 == 0:
            journal.save_snapshot({}, {"at": journal.last})
    return journal


def numbers(journal: Journal) -> list[int]:
    return [int(record.payload["number"]) for record in journal.records()]


def mode_of(journal: Journal) -> tuple[str, int, str]:
    connection = journal._connection
    assert connection is not None
    names = ("journal_mode", "synchronous", "locking_mode")
    return tuple(connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names)  # type: ignore[return-value]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_there_is_no_log_and_every_commit_is_whole_on_the_disk(drive: Drive) -> None:
    journal = write(drive.folder / "j.sqlite")
    assert mode_of(journal) == ("delete", 3, "normal")
    assert names_in(drive.folder) == ["j.sqlite"]
    journal.close()
    again = open_journal(drive.folder / "j.sqlite")
    assert numbers(again) == list(range(1, 21))
    again.close()


def test_a_drive_that_cannot_synchronise_folders(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "sync_folder", lambda folder: False)
    journal = write(drive.folder / "j.sqlite")
    assert mode_of(journal) == ("delete", 2, "normal")
    journal.close()


def test_a_drive_that_turns_out_not_to_share_memory(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    drive.network = False
    real = sqlite._set_mode
    monkeypatch.setattr(
        sqlite, "_set_mode", lambda connection, mode: "delete" if mode == "wal" else real(connection, mode)
    )
    journal = write(drive.folder / "j.sqlite")
    assert mode_of(journal)[:2] == ("delete", 3)
    journal.close()


@pytest.mark.parametrize("killed", [False, True])
def test_a_project_that_is_copied_to_and_fro_is_changed_at_the_opening(drive: Drive, killed: bool) -> None:
    place, count = drive.folder / "0" / "j.sqlite", 0
    place.parent.mkdir()
    for turn in range(1, 5):
        drive.network = turn % 2 == 0
        journal = write(place, 10)
        count += 10
        assert mode_of(journal)[0] == ("delete" if drive.network else "wal")
        if not killed:
            journal.close()
        fresh = drive.folder / str(turn) / "j.sqlite"
        shutil.copytree(place.parent, fresh.parent)
        journal.close()
        place = fresh
    reader = read_journal(place)
    assert numbers(reader) == list(range(1, count + 1))
    assert reader.recovery.text == ""
    reader.close()
    assert numbers(write(place, 0)) == list(range(1, count + 1))


def test_another_program_that_has_the_log_open_is_said(drive: Drive) -> None:
    drive.network = False
    journal = write(drive.folder / "j.sqlite")
    drive.network = True
    with pytest.raises(StorageFailedError, match="another program holds the file"):
        open_journal(drive.folder / "j.sqlite")
    journal.close()


# ------------------------------------------------------------------------------------------------ what a kill leaves


@pytest.fixture(scope="module")
def fast() -> Iterator[Path]:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


Half = tuple[bytes, bytes, bytes]


@pytest.fixture(scope="module")
def half(fast: Path) -> Half:
    """Database and rollback journal in the middle of a record, and the database 5 records later."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drives, "is_network", lambda path: str(path).startswith(str(fast)))
        path, other = fast / "made.sqlite", fast / "half.sqlite"
        write(path, 30).close()
        shutil.copy(path, other)
        with contextlib.closing(sqlite.connect(other)) as connection:
            connection.execute("PRAGMA cache_size = 4")
            connection.execute("BEGIN IMMEDIATE")
            for seq in range(31, 400):  # more than is kept in memory: the rollback journal is written
                connection.execute(sqlite.INSERT_RECORD, (seq, "answer", f'{{"number": {seq}}}', 5.0, "x" * 300))
            undo = other.with_name(other.name + UNDO).read_bytes()
            connection.execute("COMMIT")
        data = other.read_bytes()
        journal = write(path, 5, snapshots=False)
        journal.close()
    return data, undo, path.read_bytes()


def place(folder: Path, data: bytes, undo: bytes) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "j.sqlite").write_bytes(data)
    if undo:
        (folder / ("j.sqlite" + UNDO)).write_bytes(undo)
    return folder / "j.sqlite"


@pytest.mark.parametrize("network", [True, False])
@pytest.mark.parametrize("opener", [open_journal, read_journal])
def test_a_record_left_half_written_is_undone(
    drive: Drive, half: Half, opener: Callable[[Path], Journal], network: bool
) -> None:
    drive.network = network
    data, undo, _ = half
    path = place(drive.folder / "p", data, undo)
    with contextlib.closing(sqlite3.connect(place(drive.folder / "q", data, b""))) as connection:
        assert connection.execute("SELECT max(seq) FROM records").fetchone()[0] > 30, "something is to be undone"
    journal = opener(path)
    assert journal.recovery.text == ""
    assert numbers(journal) == list(range(1, 31))
    shot = journal.newest_snapshot()
    assert shot is not None
    assert shot.seq == 30
    journal.close()
    assert names_in(path.parent) == ["j.sqlite", "j.sqlite-journal"][: 2 if opener is read_journal else 1]


def test_one_who_only_reads_needs_no_rights(drive: Drive, half: Half) -> None:
    path = place(drive.folder / "p", half[0], half[1])
    before = [file.read_bytes() for file in (path, path.with_name(path.name + UNDO))]
    path.parent.chmod(0o555)
    try:
        journal = read_journal(path)
        assert numbers(journal) == list(range(1, 31))
        journal.close()
    finally:
        path.parent.chmod(0o755)
    assert [file.read_bytes() for file in (path, path.with_name(path.name + UNDO))] == before


def test_no_room_for_the_copy_is_said(drive: Drive, half: Half, monkeypatch: pytest.MonkeyPatch) -> None:
    path = place(drive.folder / "p", half[0], half[1])

    def full(path: Path, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write_scratch", full)
    with pytest.raises(StorageFailedError, match="the disk is full"):
        read_journal(path)


@pytest.mark.parametrize("opener", [open_journal, read_journal])
def test_a_rollback_journal_of_before_beside_a_newer_file_takes_nothing(
    drive: Drive, half: Half, opener: Callable[[Path], Journal]
) -> None:
    """A sync tool brings the two at different times: SQLite alone goes back, without a word."""
    _, undo, newer = half
    journal = opener(place(drive.folder / "p", newer, undo))
    assert numbers(journal) == list(range(1, 36))
    journal.close()


@given(at=st.integers(0, 1 << 30), bit=st.integers(0, 7), which=st.integers(0, 1), cut=st.booleans())
def test_damage_to_what_a_kill_left_never_gives_a_wrong_record(
    fast: Path, half: Half, at: int, bit: int, which: int, cut: bool
) -> None:
    contents = [bytearray(half[0]), bytearray(half[1])]
    hit = contents[which]
    if cut:
        del hit[at % len(hit) :]
    else:
        hit[at % len(hit)] ^= 1 << bit
    try:
        journal = open_journal(place(fast / "p", bytes(contents[0]), bytes(contents[1])))
    except A3SError:
        return  # the bit was in the version number
    found = numbers(journal)
    assert found == list(range(1, len(found) + 1))
    assert len(found) <= 30
    if which == 1:
        assert len(found) == 30, "the records themselves are all in the file"
    journal.close()


def test_pages_of_a_rollback_journal_are_looked_at(half: Half) -> None:
    data, undo, _ = half
    assert {record.seq for record in salvage.scan(b"", b"", undo)} <= set(range(1, 31))
    assert 30 in {record.seq for record in salvage.scan(b"", b"", undo)}
    wiped = bytes(len(data))
    assert salvage.scan(wiped, b"", undo)


def test_a_damaged_journal_is_kept_with_all_its_companions(drive: Drive, half: Half) -> None:
    path = place(drive.folder / "p", half[0], half[1])
    name = keep_aside(path)
    assert (path.parent / (name + UNDO)).read_bytes() == half[1]


def test_what_is_left_where_the_file_itself_is_gone(drive: Drive, half: Half) -> None:
    """A sync tool may bring the companion alone: it is kept, and what it holds is looked at."""
    path = place(drive.folder / "p", b"", half[1])
    path.unlink()
    reader = read_journal(path)
    assert reader.recovery.text
    reader.close()
    journal = open_journal(path)
    assert journal.recovery.text
    assert (path.parent / (journal.recovery.damaged + UNDO)).read_bytes() == half[1]
    journal.append("answer", {"number": journal.last + 1})
    journal.close()


# ------------------------------------------------------------------------------------------------ failures


class Refusing:
    """A connection whose commits fail after they were done: as where only the folder could not be synchronised."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, text: str, values: tuple[object, ...] = ()) -> sqlite3.Cursor:
        cursor = self._connection.execute(text, values)
        if text == "COMMIT":
            raise sqlite3.OperationalError("disk I/O error")
        return cursor

    def __getattr__(self, name: str) -> object:
        return getattr(self._connection, name)


@pytest.mark.parametrize("again", [False, True], ids=["the drive is back at once", "later"])
def test_a_record_that_was_said_not_to_be_kept_is_taken_out(
    drive: Drive, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    path = drive.folder / "j.sqlite"
    journal = write(path, 3)
    assert journal._connection is not None
    journal._connection = Refusing(journal._connection)  # type: ignore[assignment]
    real = sqlite.renewed
    if again:

        def gone(*_: object) -> sqlite3.Connection:
            raise sqlite3.OperationalError("disk I/O error")

        monkeypatch.setattr(sqlite, "renewed", gone)
    with pytest.raises(StorageFailedError, match="not kept"):
        journal.append("answer", {"number": 99})
    monkeypatch.setattr(sqlite, "renewed", real)
    reader = read_journal(path)
    assert again == (99 in numbers(reader))
    reader.close()
    assert journal.append("answer", {"number": 4}) == 4
    journal.close()
    reader = open_journal(path)
    assert numbers(reader) == [1, 2, 3, 4]
    assert reader.recovery.text == ""
    connection = reader._connection
    assert connection is not None
    with pytest.raises(sqlite3.IntegrityError, match="never deleted"):
        connection.execute("DELETE FROM records")
    reader.close()


def test_a_reader_beside_a_writer_sees_whole_records(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file changes between any two of the reader's steps."""
    path = drive.folder / "j.sqlite"
    journal = write(path, 20)
    real, steps = files.read_bytes, itertools.count(1)

    def meanwhile(one: Path) -> bytes:
        found = real(one)
        if one.parent == path.parent and next(steps) in (2, 4, 6, 8):
            journal.append("answer", {"number": journal.last + 1})
        return found

    monkeypatch.setattr(files, "read_bytes", meanwhile)
    first = look_at(path)
    assert not first.steady
    reader = read_journal(path)
    assert reader.recovery.text == ""
    assert len(numbers(reader)) in (22, 23, 24)
    reader.close()
    journal.close()


# ------------------------------------------------------------------------------------------------ whole projects


def test_backups_and_going_back_to_them(drive: Drive, make_spec: Callable[..., ProjectSpec]) -> None:
    with create_workspace(make_spec()) as workspace:
        folder = workspace.folder
        for number in range(1, 6):
            workspace.journal.append("answer", {"number": number})
        made = make_backup(folder, "by hand")
        assert made.records == 5
        for number in range(6, 9):
            workspace.journal.append("answer", {"number": number})
        assert loss_of(folder, made).entries == 3
        assert not list(folder.glob("journal.sqlite-*"))
    restore_backup(folder, list_backups(folder)[0][0])
    with open_workspace(folder) as again:
        assert again.journal.last == 5
        assert again.journal.append("answer", {"number": 6}) == 6


def test_small_copies_are_kept_in_a_home_that_is_on_the_network(drive: Drive) -> None:
    file = drive.folder / "copies.sqlite"
    stores = [ThumbnailStore(file, 1 << 20) for _ in range(2)]
    for number, store in enumerate(stores):
        store.put(bytes([number]) * 16, Thumbnail(b"x" * 500, 8, 8, False))
        store.close()
    stores = [ThumbnailStore(file, 1 << 20) for _ in range(2)]
    assert all(store.get(bytes([number]) * 16) for number in range(2) for store in stores)
    assert names_in(drive.folder) == ["copies.sqlite"]
    for store in stores:
        store.close()
