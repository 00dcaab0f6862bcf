"""Readers of what the program keeps: projects, journals, backups, computed results, settings."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import sqlite3
import struct
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from a3s_desktop.core.correction import Correction
from a3s_desktop.core.neighbors import nearest_neighbors
from a3s_desktop.core.types import Answer, InitialState, PairGraph, Reason, StrategyOptions
from a3s_desktop.session import restoring
from a3s_desktop.session.benchmark_data import DESCRIPTION, read_cases
from a3s_desktop.session.entries import CorrectionKind, KnownName, RecordedAnswer, RecordedAudit, RecordedCorrection
from a3s_desktop.session.history import ANSWER, AUDIT, CHANGE, CORRECT, MERGE, REDO, UNDO, History
from a3s_desktop.session.merging import read_other
from a3s_desktop.session.opening import load_base
from a3s_desktop.session.session import Session
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage import artifacts, backup, backup_file, check, conflicts, files, salvage, sqlite
from a3s_desktop.storage.embedding_blocks import BlockStore
from a3s_desktop.storage.journal import pack_arrays, snapshot_checksum
from a3s_desktop.storage.journal_opening import create_journal, open_journal, read_journal
from a3s_desktop.storage.journal_types import CHAIN_START, MemoryJournal, Record, encode_payload, link
from a3s_desktop.storage.lock import FileLock
from a3s_desktop.storage.project_file import PROJECT_FILE, feature_name, items_name
from a3s_desktop.storage.relink import read_contents
from a3s_desktop.storage.salvage import RawRecord
from a3s_desktop.storage.thumbnails import Thumbnail, ThumbnailStore
from a3s_desktop.storage.workspace import ProjectSpec, create_workspace, open_workspace
from a3s_desktop.task import Task
from a3s_desktop.ui.key_maps import read_keys
from a3s_desktop.ui.last_run import LastRun
from a3s_desktop.ui.recent import probe_project
from tests.fuzz import inputs
from tests.fuzz.harness import Parser, known

_ITEMS = 12
_KINDS = {b"a": ANSWER, b"c": CORRECT, b"s": AUDIT, b"h": CHANGE, b"m": MERGE, b"u": UNDO, b"r": REDO}


@functools.cache
def _views() -> tuple[np.ndarray[Any, np.dtype[np.float32]], ...]:
    rng = np.random.default_rng(5)
    return (
        np.repeat(rng.normal(size=(3, 4)), 4, axis=0).astype(np.float32) + rng.normal(0, 0.3, (12, 4)).astype("f4"),
    )


@functools.cache
def _initial() -> InitialState:
    """A stage one of a few lines, as long as the real one takes."""
    near, far = nearest_neighbors(_views()[0], 5, Task())
    rows = np.repeat(np.arange(_ITEMS), near.shape[1])
    found: dict[tuple[int, int], float] = {}
    for a, b, distance in zip(rows.tolist(), near.ravel().tolist(), far.ravel().tolist(), strict=True):
        found[a, b] = found[b, a] = distance
    pairs = np.array(sorted(found), np.int64)
    lengths = np.array([found[a, b] for a, b in pairs.tolist()], np.float32)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(pairs[:, 0], minlength=_ITEMS)))).astype(np.int64)
    logodds = (np.median(lengths) - lengths).astype(np.float32)
    graph = PairGraph(indptr, pairs[:, 1].astype(np.int32), lengths[None], logodds, -2.0)
    return InitialState(np.repeat(np.arange(6), 2).astype(np.int32), graph, {})


# ------------------------------------------------------------------------------------------------ project folder


def _make_project(folder: Path) -> Path:
    """A project with a few answers, a result of stage one, and a backup."""
    photos, features = folder / "photos", folder / "features.npy"
    photos.mkdir()
    for at in range(_ITEMS):
        (photos / f"{at:02}.jpg").write_bytes(b"no image")
    np.save(features, _views()[0])
    with create_workspace(ProjectSpec(folder / "p", photos, (features,))) as workspace:
        workspace.save_initial(_initial())
        for kind, payload in _records():
            workspace.journal.append(kind, payload, 1.5)
    backup.make_backup(folder / "p", "time", backup.Contents(3, 2, 1, 0), 1e9)
    return folder / "p"


@functools.cache
def _project() -> tuple[tuple[str, bytes], ...]:
    """The files of such a project, by relative path."""
    with tempfile.TemporaryDirectory() as folder:
        made = _make_project(Path(folder))
        return tuple((str(p.relative_to(made.parent)), p.read_bytes()) for p in sorted(made.rglob("*")) if p.is_file())


def _lay_out(folder: Path) -> Path:
    """Such a project below ``folder``."""
    for name, data in _project():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder / "p"


def _walk(project: Path, write: bool) -> None:
    with known(), open_workspace(project, read_only=not write) as workspace:
        for work in (workspace.views, workspace.labels, workspace.load_initial, workspace.load_layout):
            with known():
                work()
        load_base(workspace)
        for index in range(min(len(workspace.items), 3)):
            workspace.items.part(index), workspace.items.name(index)
            with contextlib.suppress(OSError):
                workspace.items.photo(index).stat()
        read_contents(workspace.items.root, workspace.items.paths[:3], Task())
    with known():
        for finding in check.check_files(project, Task()):
            finding.text.encode()
    with known():
        backup.list_backups(project)
    with known():
        read_other(project)
    probe_project(project, Task())


_PLACES = {
    b"p": PROJECT_FILE,
    b"i": items_name(1),
    b"l": "labels.json",
    b"f": feature_name(0, 1),
    b"k": "lock",
    b"n": conflicts.NOTES,
}


def _project_file(data: bytes, folder: Path) -> None:
    """The first byte says which file it is; in capitals: the project is opened for writing."""
    project = _lay_out(folder)
    (project / _PLACES.get(data[:1].lower(), PROJECT_FILE)).write_bytes(data[1:])
    if data[:1] in b"nN":
        (project / "journal (1).sqlite").write_bytes(b"")
    _walk(project, data[:1].isupper())


def _project_seeds(_folder: Path) -> list[bytes]:
    content = dict(_project())
    text = json.dumps(json.loads(content["p/project.json"])).encode()
    labels = inputs.as_json({"codes": [0, 1] * (_ITEMS // 2), "names": ["a", "b"]})
    holder = inputs.as_json({"host": "elsewhere", "pid": 7, "time": 1.5, "beat": 1.7e9, "token": "ab"})
    changed = text.replace(b'"version": 1', b'"version": 2, "epoch": 2, "changes": []')
    odd = inputs.as_json({"paths": ["\ud800.jpg", "\udc80.jpg"] * (_ITEMS // 2), "problems": {"1": "x"}})
    notes = inputs.as_json({"apart": {"journal (1).sqlite": 0, "project (2).json": 5}})
    found = [
        b"p" + text,
        b"P" + changed,
        b"i" + content["p/items.json"],
        b"l" + labels,
        b"k" + holder,
        b"n" + notes,
        b"i" + odd,
    ]
    return [*found, *(one[:1].upper() + one[1:] for one in found), b"f" + content["p/features-0.npy"]]


# ------------------------------------------------------------------------------------------------ computed results


def _results(data: bytes, folder: Path) -> None:
    """``meta.json`` and an array as they are, the array with a right description, or a block of descriptions."""
    meta, *arrays = inputs.parts_of(data[1:])
    array = arrays[0] if arrays else b""
    if data[:1] == b"b":
        (folder / "abc-1.json").write_bytes(meta)
        (folder / "abc-1.npy").write_bytes(array)
        store = BlockStore(folder, "abc")
        store.rows(("a", "b")), store.lengths(("a", "b")), store.has("a", (1, 2))
        return
    (folder / "meta.json").write_bytes(meta)
    (folder / "x.npy").write_bytes(array)
    for mapped in (True, False):
        with known():
            artifacts.load_arrays(folder, mapped, verify=data[:1] == b"v")


def _results_seeds(folder: Path) -> list[bytes]:
    found = []
    for at, values in enumerate((np.arange(6, dtype=np.int32).reshape(2, 3), np.array([], np.int64), np.array(5.0))):
        place = folder / str(at)
        artifacts.save_arrays(place, {"x": values}, {"a": 1})
        whole = inputs.joined([(place / "meta.json").read_bytes(), (place / "x.npy").read_bytes()])
        found += [b"v" + whole, b"n" + whole]
    block = {"keys": ["a", "b"], "stamps": [[1, 2], [3, 4]], "lengths": [1.0, 2.5]}
    return [*found, b"b" + inputs.joined([inputs.as_json(block), inputs.npy(np.ones((2, 3), np.float16))])]


def _stage(data: bytes, folder: Path) -> None:
    """The arrays of stage one, each with its right checksum: a session is opened on what is taken for usable."""
    names = ("labels", "indptr", "indices", "distances", "logodds", "similarity")
    meta, *members = inputs.parts_of(data)
    arrays: dict[str, Any] = {}
    for name, member in zip(names, members, strict=False):
        kind = {b"i": "<i4", b"l": "<i8", b"f": "<f4", b"d": "<f8"}.get(member[:1], "<i4")
        values = np.frombuffer(member[1 : 1 + (len(member) - 1) // 8 * 8], kind)
        arrays[name] = values[None] if name in ("distances",) else values
    try:
        facts = json.loads(meta)
    except (ValueError, RecursionError):
        return
    if not isinstance(facts, dict):
        return
    project = _lay_out(folder)
    with open_workspace(project) as workspace:
        try:
            workspace.save_stage("initial", arrays, facts)
        except ValueError:
            return  # NaN in what this harness writes
        initial = workspace.load_initial()
    if initial is not None:
        with open_workspace(project, read_only=True) as workspace:
            session = Session(initial, workspace.views(), workspace.strategy_options, workspace.journal, read_only=True)
            session.close()


def _stage_seeds(_folder: Path) -> list[bytes]:
    state = _initial()
    letters = {"<i4": b"i", "<i8": b"l", "<f4": b"f"}
    members = []
    for values in state.arrays().values():
        flat = values.ravel()
        padded = np.concatenate((flat, np.zeros(-len(flat) % 2, flat.dtype)))
        members.append(letters[values.dtype.str] + padded.tobytes())
    members[1] += bytes(0)
    return [inputs.joined([inputs.as_json(state.meta()), *members])]


# ------------------------------------------------------------------------------------------------ journal


def _records() -> list[tuple[str, dict[str, Any]]]:
    answer = RecordedAnswer(0, 1, Answer.SAME, Reason.MERGE, 1.5, author="Anna")
    name = RecordedCorrection(CorrectionKind.NAME, Correction(), (0, 1), 2, 1.5, "Bea", (0, 1), ("old",))
    return [
        (ANSWER, answer.payload()),
        (CORRECT, name.payload()),
        (AUDIT, RecordedAudit(4, 5, Answer.SKIP, 2.5).payload()),
    ]


def _more_records() -> list[tuple[str, dict[str, Any]]]:
    moved = Correction(leave=((2, 3),), together=((2, 8),), apart=((1, 9),), junk=(5,), finish=(0, 1), requeue=True)
    known_labels = Correction(identities=((0, 1), (4,)), together=((0, 1),))
    listed = RecordedCorrection(
        CorrectionKind.LABELS, known_labels, (0,), 3, 1.0, known=(KnownName("Eva", (0, 1)), KnownName("Ida", (4,)))
    )
    entries = [{"kind": ANSWER, "at": 1.5} | _records()[0][1], {"kind": CORRECT, "at": 2.5} | listed.payload()]
    source = {"name": "p", "project": "x", "author": "Bea"}
    return [
        (CORRECT, RecordedCorrection(CorrectionKind.MOVE, moved, (2,), 2, 1.0).payload()),
        (CORRECT, listed.payload()),
        (CHANGE, {"amend": [[1, "different"], [2, [0]], [3, None]], "by": "Ida"}),
        (MERGE, {"source": source, "entries": entries, "amend": [[1, None]]}),
        (UNDO, {}),
        (REDO, {}),
    ]


def _record_bytes(records: list[tuple[str, dict[str, Any]]]) -> bytes:
    letters = {kind: letter for letter, kind in _KINDS.items()}
    return b"\n".join(letters[kind] + inputs.as_json(payload) for kind, payload in records)


def _records_in(data: bytes) -> list[tuple[str, str, float]]:
    """Kind, payload and time of each line."""
    found = []
    for at, line in enumerate(data.split(b"\n")[:40]):
        payload = line[1:].decode("utf-8", "replace")
        found.append((_KINDS.get(line[:1], line[:1].decode("latin-1")), payload, at * 1.25))
    return found


class _Lines(MemoryJournal):
    """A journal that holds the records of an input, as if their checksums were right."""

    def __init__(self, records: list[tuple[str, str, float]]):
        super().__init__()
        for seq, (kind, text, at) in enumerate(records, 1):
            self._records.append(Record(seq, kind, salvage.decode_payload(text), at))


def _open(journal: MemoryJournal) -> None:
    session = Session(_initial(), _views(), StrategyOptions(), journal, read_only=True, snapshot_every=0)
    for node in session.history(50):
        str(node)
    session.overview.clusters(), session.listing.times(0.0), session.audit_pair()
    session.close()


def _entries(data: bytes, folder: Path) -> None:
    """Records of a journal, one a line, whose checksums are right: a session is opened on them."""
    try:
        journal = _Lines(_records_in(data))
    except (ValueError, RecursionError):
        return  # the journal's own reader says so: see the parser "journal"
    for record in journal.records():
        encode_payload(record.payload)
    _open(journal)


def _entries_seeds(_folder: Path) -> list[bytes]:
    every = _records() + _more_records()
    return [
        _record_bytes(every[:1]),
        _record_bytes(every[:3]),
        _record_bytes(every[:5]),
        _record_bytes([*every[:3], every[5]]),
        _record_bytes([*every[:3], every[6]]),
        _record_bytes([*every[:2], *every[7:]]),
    ]


def _snapshot(data: bytes, folder: Path) -> None:
    """Meta, records, and the arrays of a snapshot: its checksum is right."""
    parts = inputs.parts_of(data)
    if len(parts) < 3:
        return
    meta, records, names, *members = parts
    blob = inputs.zipped([f"{name}.npy" for name in inputs.text(names).split("/")], members) if members else names
    try:
        facts = json.loads(meta)
        base = _Lines(_records_in(records))
    except (ValueError, RecursionError):
        return
    path = folder / "journal.sqlite"
    create_journal(path, durable=False)
    journal = open_journal(path)
    try:
        for record in base.records():
            journal.append(record.kind, record.payload, record.at)
        with contextlib.suppress(ValueError, TypeError):
            journal.save_snapshot({}, facts)
        checksum = snapshot_checksum(encode_payload(facts), blob)
        connection = journal._open()
        connection.execute("UPDATE snapshots SET arrays = ?, checksum = ?", (blob, checksum))
        session = Session(_initial(), _views(), StrategyOptions(), journal, read_only=True, snapshot_every=0)
        session.close()
        journal = open_journal(path)
        journal.damaged_snapshots()
    finally:
        journal.close()


def _snapshot_seeds(_folder: Path) -> list[bytes]:
    journal = MemoryJournal()
    records = _records()
    for kind, payload in records:
        journal.append(kind, payload, 1.0)
    session = Session(_initial(), _views(), StrategyOptions(), journal)
    session.close()
    with contextlib.suppress(Exception):
        session._source.save_snapshot(session._history.entries, session._position)
    shot = journal.newest_snapshot()
    if shot is None:
        return [inputs.joined([b"{}", _record_bytes(records), pack_arrays({"x": np.arange(3)})])]
    members = [inputs.npy(values) for values in shot.arrays.values()]
    head = [inputs.as_json(shot.meta), _record_bytes(records)]
    return [
        inputs.joined([*head, "/".join(shot.arrays).encode(), *members]),
        inputs.joined([*head, pack_arrays({"x": np.arange(3)})]),
    ]


def _journal(data: bytes, folder: Path) -> None:
    """A journal as a file, with or without its companions; or the records of one, with right checksums."""
    path = folder / "journal.sqlite"
    if data[:1] == b"r":
        records, chain = list[RawRecord](), CHAIN_START
        for seq, (kind, text, at) in enumerate(_records_in(data[1:]), 1):
            chain = link(chain, seq, kind, text, at)
            records.append(RawRecord(seq, kind, text, at, chain))
        create_journal(path, records, durable=False)
    else:
        database, *companions = inputs.parts_of(data[1:])
        path.write_bytes(database)
        for suffix, content in zip(("-wal", "-journal"), companions, strict=False):
            if content:
                sqlite.beside(path, suffix).write_bytes(content)
    for opener in (read_journal, open_journal) if data[:1].islower() else (open_journal,):
        with known():
            journal = opener(path)
            try:
                with known():
                    History.fold(journal.records())
                with known():
                    journal.newest_snapshot(), journal.damaged_snapshots(), journal.recovery.text.encode()
            finally:
                journal.close()


def _journal_seeds(folder: Path) -> list[bytes]:
    path = folder / "seed.sqlite"
    create_journal(path, durable=False)
    journal = open_journal(path)
    for kind, payload in _records():
        journal.append(kind, payload, 1.5)
    journal.save_snapshot({"x": np.arange(3)}, {"a": 1})
    database, log = path.read_bytes(), files.read_bytes(sqlite.beside(path, "-wal"))
    journal.close()
    closed = path.read_bytes()
    whole = inputs.joined([database, log])
    undone = inputs.joined([closed, b"", bytes.fromhex("d9d505f920a163d7") + struct.pack(">5I", 1, 7, 3, 512, 4096)])
    return [
        b"d" + whole,
        b"D" + whole,
        b"d" + closed,
        b"D" + closed,
        b"D" + undone,
        b"d"
        + _endless(folder / "endless.sqlite", sqlite.APPLICATION_ID, {"records": _RECORDS, "snapshots": _SNAPSHOTS}),
        b"r" + _record_bytes(_records() + _more_records()),
    ]


_RECORDS = ("seq", "kind", "payload", "at", "checksum")
_SNAPSHOTS = ("seq", "chain", "meta", "checksum", "arrays")


def _endless(path: Path, application: int, views: dict[str, tuple[str, ...]]) -> bytes:
    """A database of the program's kind whose tables are views that never come to an end."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA application_id = {application}")
        connection.execute("PRAGMA user_version = 1")
        for name, columns in views.items():
            numbers = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
            chosen = ", ".join(f"x AS {column}" for column in columns)
            connection.execute(f"CREATE VIEW {name} AS {numbers} SELECT {chosen} FROM n WHERE x < 0")
    return path.read_bytes()


def _backup(data: bytes, folder: Path) -> None:
    """A backup as a file, or its members; it is looked at, compared, and restored."""
    if data[:1] == b"Z":
        names, *members = inputs.parts_of(data[1:])
        made = inputs.zipped(inputs.text(names).split("|"), members)
    else:
        made = data
    project = _lay_out(folder)
    for path in backup_file.paths_in(project):
        path.unlink()
    place = project / backup_file.FOLDER / f"20300101-000000{backup_file.SUFFIX}"
    place.write_bytes(made)
    with known():
        backup_file.unpack(place)
    with known():
        backup_file.records_of(place)
    listing, now = restoring.list_rows(project, Task()), restoring.look_at_now(project, Task())
    whole, _ = backup.list_backups(project)
    for one in whole:
        with known():
            restoring.look_into(one, listing, now, Task())
    for one in whole:
        with known():
            backup.loss_of(project, one)
        with known():
            backup.restore_backup(project, one)
    with known(), open_workspace(project) as workspace:
        History.fold(workspace.journal.records())


def _backup_seeds(_folder: Path) -> list[bytes]:
    data = next(content for name, content in _project() if name.endswith(backup_file.SUFFIX))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        members = [archive.read(name) for name in names]
    small = [(name, member) for name, member in zip(names, members, strict=True) if not name.endswith(".sqlite")]
    packed = inputs.zipped([name for name, _ in small], [member for _, member in small], zipfile.ZIP_LZMA)
    facts = json.loads(small[0][1])
    return [
        data,
        packed,
        packed[:60] + bytes(4) + packed[64:],
        b"Z" + inputs.joined([b"backup.json", inputs.as_json(facts | {"contents": [], "made": 1e300})]),
        b"Z" + inputs.joined(["|".join(names).encode(), *members]),
        b"Z" + inputs.joined(["|".join(name for name, _ in small).encode(), *(member for _, member in small)]),
        b"Z" + inputs.joined([b"backup.json|../evil|journal.sqlite", small[0][1], b"x", b"y"]),
    ]


# ------------------------------------------------------------------------------------------------ small files


def _settings(data: bytes, folder: Path) -> None:
    """Settings, a file of keys, the note of a former run."""
    path = folder / "settings.json"
    path.write_bytes(data)
    with known():
        read_keys(path)
    (folder / "running").mkdir()
    (folder / "running" / "x.json").write_bytes(data)
    run = LastRun(folder)
    run.begin()
    run.complete()
    run.end()
    store = SettingsStore(path)
    store.value.effective_keys()
    store.change(theme="dark" if store.value.theme == "light" else "light")
    again = SettingsStore(path)
    if again.value != store.value or again.problems:
        raise AssertionError(f"saved settings are read otherwise: {again.problems}")


def _settings_seeds(_folder: Path) -> list[bytes]:
    keys = {"answer.same": ["F", "Ctrl+F"], "edit.undo": ["W"]}
    return [
        inputs.as_json(
            {"version": 1, "theme": "dark", "keys": keys, "recent": ["/a", "/b"], "settle_ms": 50, "new": [1]}
        ),
        inputs.as_json({"format": "a3s-desktop-keys", "version": 1, "keys": keys | {"other": ["X"]}}),
        inputs.as_json({"complete": False, "failed": 2, "crash": 10}),
        inputs.as_json(
            {"text_size": 115, "language": "de", "annotator": "Bea", "window_geometry": "AAEC", "version": 9}
        ),
    ]


def _lock(data: bytes, folder: Path) -> None:
    """Who holds a project, and the description of data for the benchmark."""
    path = folder / "lock"
    path.write_bytes(data)
    lock = FileLock(path, 3600.0, "here")
    str(lock.holder()).encode()
    for take_over in (False, True):
        with known():
            lock.acquire(take_over)
            lock.check()
    lock.release()
    path.rename(folder / DESCRIPTION)
    (folder / DESCRIPTION).write_bytes(data)
    np.save(folder / "f.npy", _views()[0])
    np.save(folder / "l.npy", np.arange(_ITEMS))
    read_cases(folder)


def _lock_seeds(_folder: Path) -> list[bytes]:
    now = time.time()
    holder = {"host": "elsewhere", "pid": 7, "time": 1.5, "beat": now, "token": "ab"}
    cases = [{"name": "c", "features": ["f.npy"]}]
    return [
        inputs.as_json(holder),
        inputs.as_json(holder | {"host": "here", "beat": 2.5}),
        inputs.as_json({"name": "d", "labels": "l.npy", "cases": cases}),
        b"",
    ]


def _thumbnails(data: bytes, folder: Path) -> None:
    path = folder / "t.sqlite"
    path.write_bytes(data)
    key = bytes(16)
    for _ in range(2):
        store = ThumbnailStore(path, 1 << 16)
        store.get(key)
        for at in range(40):
            store.put(bytes((at,)) * 16, Thumbnail(b"x" * 2000, 5, 6, False))
        store.get(key)
        store.close()


def _thumbnails_seeds(folder: Path) -> list[bytes]:
    path = folder / "thumbnails.sqlite"
    store = ThumbnailStore(path, 1 << 20)
    for at in range(3):
        store.put(bytes((at,)) * 16, Thumbnail(b"jpeg" * 9, 5, 6, bool(at)))
    store.close()
    columns = ("rowid", "key", "used", "bytes", "width", "height", "cut", "data")
    return [path.read_bytes(), _endless(folder / "endless.sqlite", 0x61337374, {"copies": columns})]


_JSON = (b'"paths":', b'"problems":', b"1e999", b"-1", b"null", b"[[", b"\\ud800", b"99999999999999999999")
_SQLITE = (b"SQLite format 3\0", struct.pack(">I", 1), b"records", b"snapshots", b"CREATE TABLE")

PARSERS = (
    Parser("project", "files of a project", _project_file, _project_seeds, (*_JSON, b'"epoch": 2', b"..")),
    Parser("results", "computed results and descriptions", _results, _results_seeds, (*_JSON, b"\n==\n", b"'descr'")),
    Parser("stage", "the result of stage one", _stage, _stage_seeds, (b"\n==\n", b"\xff\xff\xff\xff")),
    Parser("entries", "records of a journal", _entries, _entries_seeds, (*_JSON, b'"identities":', b'"amend":')),
    Parser("snapshot", "snapshots of the engine", _snapshot, _snapshot_seeds, (*_JSON, b"\n==\n"), 16384),
    Parser("journal", "journals", _journal, _journal_seeds, (*_SQLITE, b"\n==\n"), 65536),
    Parser("backup", "backups", _backup, _backup_seeds, (b"PK\x05\x06", b"../", b"\n==\n", b'"contents":'), 65536),
    Parser("settings", "settings, keys, notes of former runs", _settings, _settings_seeds, (*_JSON, b'"keys":')),
    Parser("lock", "lock files, data for the benchmark", _lock, _lock_seeds, (*_JSON, b'"time":', b'"pid":')),
    Parser("thumbnails", "small copies of images", _thumbnails, _thumbnails_seeds, _SQLITE, 32768),
)  # fmt: skip
