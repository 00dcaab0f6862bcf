"""Checking and repairing whole projects: each kind of damage is found, named and mended; no entry is thrown away."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from a3s_desktop.cli import main
from a3s_desktop.errors import ProjectLockedError
from a3s_desktop.session.checking import check_project, is_whole
from a3s_desktop.session.opening import create_project, open_session
from a3s_desktop.session.operations import Rename
from a3s_desktop.storage.backup import list_backups
from a3s_desktop.storage.check import Level
from a3s_desktop.storage.workspace import ProjectSpec
from a3s_desktop.task import Task
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


KINDS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "project.json": ("description", lambda p: (p / "project.json").write_bytes(b"{}")),
    "items.json": ("description", lambda p: (p / "items.json").write_bytes(b"[")),
    "journal cut": ("journal", lambda p: zero(p / "journal.sqlite", 8000, 1 << 20)),
    "journal gone": ("journal", lambda p: (p / "journal.sqlite").unlink()),
    "snapshot": ("snapshots", spoil_snapshot),
    "result": ("results", lambda p: zero(next((p / "artifacts").glob("initial-*")) / "labels.npy", 130)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_named_and_repaired_without_losing_an_answer(project: Path, kind: str) -> None:
    part, damage = KINDS[kind]
    before = entries(project)
    damage(project)
    assert part in damaged(project)
    found = check_project(project, repair=True)
    assert is_whole(found), [one.line() for one in found]
    assert any(one.level is Level.REPAIRED for one in found)
    assert entries(project) == before
    assert damaged(project) == set()


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
