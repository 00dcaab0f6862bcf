"""Checking and repairing whole projects: each kind of damage is found, named and mended; no entry is thrown away."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from a3s_desktop.cli import main
from a3s_desktop.errors import Cancelled, ProjectLockedError
from a3s_desktop.session.checking import check_project, is_whole
from a3s_desktop.session.opening import create_project, open_session
from a3s_desktop.session.operations import Rename
from a3s_desktop.storage import array_files
from a3s_desktop.storage.backup import list_backups
from a3s_desktop.storage.check import Level
from a3s_desktop.storage.journal import pack_arrays, snapshot_checksum, unpack_arrays
from a3s_desktop.storage.workspace import ProjectSpec
from a3s_desktop.task import Progress, Task
from tests.session.conftest import Data

MakeSpec = Callable[..., ProjectSpec]
ANSWERS = 12


@pytest.fixture
def project(make_spec: MakeSpec, blobs: Data) -> Path:
    """Twelve answers, one of them taken back, a name, a snapshot, and the backup of its closing."""
    spec = make_spec()
    create_project(spec, Task()).close()
    session, _ = open_session(spec.folder)
    session._snapshot_every = 5
    for _ in range(ANSWERS):
        blobs.answer(session)
        session.look_ahead()
    session.undo()
    session.perform(Rename(int(session.state.labels[0]), "Ann"))
    session.close()
    return spec.folder


def damaged(project: Path) -> set[str]:
    return {one.part for one in check_project(project) if one.level is Level.DAMAGED}


def entries(project: Path) -> int:
    session, _ = open_session(project, read_only=True)
    with contextlib.closing(session):
        return session.state.answers


def names(project: Path) -> set[str]:
    session, _ = open_session(project, read_only=True)
    with contextlib.closing(session):
        return set(session.state.names.values())


def test_a_whole_project_is_whole_also_beside_its_writer(project: Path) -> None:
    found = check_project(project)
    assert is_whole(found)
    assert {one.part for one in found} >= {
        *("description", "features", "journal", "snapshots", "results", "backups", "clusters", "names")
    }
    session, _ = open_session(project)
    with contextlib.closing(session):
        assert is_whole(check_project(project))


def test_closing_makes_a_backup_that_says_what_it_holds(project: Path) -> None:
    (backup,), _ = list_backups(project)
    assert backup.contents is not None
    assert (backup.contents.answers, backup.contents.named) == (entries(project), 1)
    session, _ = open_session(project)
    session.close()
    assert len(list_backups(project)[0]) == 1, "nothing was new"


def zero(path: Path, start: int = 0, count: int = 4000) -> None:
    data = bytearray(path.read_bytes())
    data[start : start + count] = bytes(min(count, len(data) - start))
    path.write_bytes(data)


def spoil_snapshot(project: Path) -> None:
    with contextlib.closing(sqlite3.connect(project / "journal.sqlite")) as connection:
        connection.execute("UPDATE snapshots SET arrays = x'00'")
        connection.commit()


def in_journal(project: Path, *statements: str) -> None:
    """As somebody with a database tool, who takes away what forbids changes, and puts it back."""
    with contextlib.closing(sqlite3.connect(project / "journal.sqlite")) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        taken, put = [f"DROP TRIGGER {name}" for name, _ in triggers], [sql for _, sql in triggers]
        for statement in (*taken, *statements, *put):
            connection.execute(statement)
        connection.commit()


def forge_snapshots(project: Path, change: Callable[[dict[str, np.ndarray]], None]) -> None:
    """Snapshots that hold something else, with checksums that fit."""
    with contextlib.closing(sqlite3.connect(project / "journal.sqlite")) as connection:
        for seq, meta, blob in connection.execute("SELECT seq, meta, arrays FROM snapshots").fetchall():
            arrays = {name: array.copy() for name, array in unpack_arrays(blob).items()}
            change(arrays)
            packed = pack_arrays(arrays)
            values = (packed, snapshot_checksum(meta, packed), seq)
            connection.execute("UPDATE snapshots SET arrays = ?, checksum = ? WHERE seq = ?", values)
        connection.commit()


def part_what_is_same(arrays: dict[str, np.ndarray]) -> None:
    """Two images that were said to be the same come into two clusters, which keep their sizes."""
    labels = arrays["labels"]
    left, right = next((a, b) for a, b, answer in arrays["constraints"] if answer and labels[a] == labels[b])
    other = int(np.flatnonzero((labels != labels[left]) & (np.arange(len(labels)) != right))[0])
    labels[left], labels[other] = labels[other], labels[left]


def outside_of_every_cluster(arrays: dict[str, np.ndarray]) -> None:
    arrays["labels"][3] = -1


def forge_initial(project: Path) -> None:
    """An image that the first clustering puts nowhere, with a checksum that fits."""
    folder = next((project / "artifacts").glob("initial-*"))
    labels = np.load(folder / "labels.npy")
    labels[3] = -1
    np.save(folder / "labels.npy", labels)
    meta = json.loads((folder / "meta.json").read_text("utf-8"))
    meta["arrays"]["labels"]["sha256"] = array_files.hash_array(labels)
    (folder / "meta.json").write_text(json.dumps(meta), "utf-8")


ANOTHER_ANSWER = (
    "UPDATE records SET payload = replace(replace(replace(payload, '\"same\"', '\"x\"'), "
    "'\"different\"', '\"same\"'), '\"x\"', '\"different\"') WHERE seq = 4"
)
ANOTHER_NAME = "UPDATE records SET payload = replace(payload, 'Ann', 'Bob') WHERE kind = 'correct'"
FORGED = (
    "INSERT INTO records SELECT (SELECT max(seq) + 1 FROM records), kind, payload, at, checksum FROM records "
    "WHERE seq = 1"
)
SWAPPED = (
    "UPDATE records SET seq = -4 WHERE seq = 4",
    "UPDATE records SET seq = 4 WHERE seq = 5",
    "UPDATE records SET seq = 5 WHERE seq = -4",
)

KINDS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "project.json": ("description", lambda p: (p / "project.json").write_bytes(b"{}")),
    "items.json": ("description", lambda p: (p / "items.json").write_bytes(b"[")),
    "journal cut": ("journal", lambda p: zero(p / "journal.sqlite", 8000, 1 << 20)),
    "journal gone": ("journal", lambda p: (p / "journal.sqlite").unlink()),
    "snapshot": ("snapshots", spoil_snapshot),
    "an answer changed": ("journal", lambda p: in_journal(p, ANOTHER_ANSWER)),
    "an answer removed": ("journal", lambda p: in_journal(p, "DELETE FROM records WHERE seq = 4")),
    "two answers swapped": ("journal", lambda p: in_journal(p, *SWAPPED)),
    "an answer added": ("journal", lambda p: in_journal(p, FORGED)),
    "a name changed": ("journal", lambda p: in_journal(p, ANOTHER_NAME)),
    "a checksum": ("journal", lambda p: in_journal(p, "UPDATE records SET checksum = 'x' WHERE seq = 12")),
    "closure in the snapshots": ("snapshots", lambda p: forge_snapshots(p, part_what_is_same)),
    "no cluster in the snapshots": ("snapshots", lambda p: forge_snapshots(p, outside_of_every_cluster)),
    "no cluster in the results": ("results", forge_initial),
    "result": ("results", lambda p: zero(next((p / "artifacts").glob("initial-*")) / "labels.npy", 130)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_named_and_repaired_without_losing_an_answer(project: Path, kind: str) -> None:
    part, damage = KINDS[kind]
    before, before_names = entries(project), names(project)
    there = set(project.rglob("*"))
    damage(project)
    assert part in damaged(project)
    found = check_project(project, repair=True)
    assert is_whole(found), [one.line() for one in found]
    said = " ".join(one.text for one in found if one.level is Level.REPAIRED)
    if part == "journal":
        assert ("came from the backup" in said) is (kind != "an answer added")
        assert any(path.name in said for path in set(project.rglob("*")) - there) or "gone" in kind
    elif part != "description":
        assert said.startswith("A backup of the present state was made.")
    assert said
    assert entries(project) == before
    assert names(project) == before_names == {"Ann"}
    assert damaged(project) == set()


def test_what_is_wrong_in_a_snapshot_is_told(project: Path) -> None:
    forge_snapshots(project, part_what_is_same)
    texts = [one.text for one in check_project(project) if one.level is Level.DAMAGED]
    assert any(text.startswith("In the newest snapshot: ") and "not kept by the clusters" in text for text in texts)


def test_the_parts_of_a_check_are_planned_and_it_can_be_cancelled(project: Path) -> None:
    told: list[Progress] = []
    check_project(project, Task(told.append, min_interval=0.0))
    shares = [(one.index + one.fraction) / one.count for one in told]
    assert shares == sorted(shares)
    assert 0.0 <= shares[0] <= shares[-1] <= 1.0
    spoil_snapshot(project)
    task = Task(lambda progress: task.cancel() if progress.index == 2 else None)
    with pytest.raises(Cancelled):
        check_project(project, task, repair=True)
    assert is_whole(check_project(project, repair=True)), "nothing stayed locked or half-mended"


def test_damaged_features_and_backups_are_named_with_their_source(project: Path) -> None:
    zero(next((project / "backups").iterdir()), 60, 400)
    assert damaged(project) == {"backups"}
    assert is_whole(check_project(project, repair=True))
    assert list((project / "backups").glob("*.damaged"))
    zero(project / "features-0.npy", 200, 40)
    (line,) = [one.line() for one in check_project(project) if one.level is Level.DAMAGED]
    assert "features-0.npy" in line
    assert "features.npy" in line


def test_no_repair_beside_a_writer(project: Path) -> None:
    spoil_snapshot(project)
    session, _ = open_session(project)
    with contextlib.closing(session), pytest.raises(ProjectLockedError):
        check_project(project, repair=True)


def test_the_commands_say_and_do_it(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = entries(project)
    assert main(["check", str(project)]) == 0
    assert "damaged" not in capsys.readouterr().out
    (project / "journal.sqlite").write_bytes(b"")
    assert main(["check", str(project)]) == 1
    assert "damaged: " in capsys.readouterr().out
    assert main(["check", str(project), "--repair"]) == 0
    assert "Repaired." in capsys.readouterr().out
    assert entries(project) == before
    assert main(["backup", str(project)]) == 0
    assert main(["backup", str(project), "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"{before} answers" in lines[-1]
    assert main(["backup", str(project), "--restore", lines[-1].split()[0]]) == 0
    assert main(["backup", str(project), "--restore", "nothing"]) == 1
    assert entries(project) == before
