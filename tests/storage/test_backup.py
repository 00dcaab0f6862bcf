"""Backups: made beside a writer, thinned by age, restored as one step, used by the repair of a journal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from a3s_desktop.errors import ProjectError, ProjectLockedError, StorageFailedError
from a3s_desktop.storage.backup import kept_backups, list_backups, loss_of, make_backup, restore_backup
from a3s_desktop.storage.backup_file import Contents
from a3s_desktop.storage.spec import ProjectSpec
from a3s_desktop.storage.workspace import Workspace, create_workspace, open_workspace

MakeSpec = Callable[..., ProjectSpec]


def fill(workspace: Workspace, count: int) -> None:
    for number in range(count):
        workspace.journal.append("answer", {"number": number}, at=1000.0 + number)


def numbers(workspace: Workspace) -> list[int]:
    return [int(record.payload["number"]) for record in workspace.journal.records()]


@pytest.fixture
def project(make_spec: MakeSpec) -> Path:
    with create_workspace(make_spec()) as workspace:
        fill(workspace, 5)
    return workspace.folder


def test_a_backup_beside_a_writer_holds_what_was_answered(project: Path) -> None:
    with open_workspace(project) as workspace:
        fill(workspace, 2)
        made = make_backup(project, "time", Contents(7, 3, 2, 1))
        fill(workspace, 4)
        assert (made.records, made.contents) == (7, Contents(7, 3, 2, 1))
        assert loss_of(project, made).entries == 4
    assert list_backups(project) == ([made], [])
    assert "4 entries" in loss_of(project, made).text()


def test_restoring_keeps_what_was_there_and_can_be_taken_back(project: Path) -> None:
    first = make_backup(project, "time", now=1.0)
    with open_workspace(project) as workspace:
        fill(workspace, 3)
        with pytest.raises(ProjectLockedError):
            restore_backup(project, first)
    restore_backup(project, first)
    with open_workspace(project) as workspace:
        assert (numbers(workspace), workspace.recovery.text) == ([0, 1, 2, 3, 4], "")
    (newest, _), bad = list_backups(project)
    assert (newest.reason, newest.records, bad) == ("restore", 8, [])
    restore_backup(project, newest)
    with open_workspace(project) as workspace:
        assert numbers(workspace) == [0, 1, 2, 3, 4, 0, 1, 2]


@pytest.mark.parametrize("at", [0, 10, 200, 900])
def test_a_damaged_backup_is_refused_and_changes_nothing(project: Path, at: int) -> None:
    made = make_backup(project, "time")
    data = bytearray(made.path.read_bytes())
    at = min(at, len(data) - 1)
    data[at : at + 40] = bytes(len(data[at : at + 40]))
    made.path.write_bytes(data)
    before = (project / "journal.sqlite").read_bytes()
    with pytest.raises(ProjectError):
        restore_backup(project, made)
    assert (project / "journal.sqlite").read_bytes() == before


def test_a_repair_takes_lost_entries_from_the_newest_backup(project: Path) -> None:
    make_backup(project, "time")
    (project / "journal.sqlite").write_bytes(b"")
    with open_workspace(project) as workspace:
        assert numbers(workspace) == [0, 1, 2, 3, 4]
        assert "backup" in workspace.recovery.text
        assert (project / workspace.recovery.damaged).is_file()


@pytest.mark.parametrize("name", ["project.json", "items.json"])
def test_a_lost_description_comes_back_with_a_restoration(project: Path, name: str) -> None:
    made = make_backup(project, "time")
    whole = (project / name).read_bytes()
    (project / name).write_bytes(b"{")
    restore_backup(project, made)
    assert (project / name).read_bytes() == whole
    assert list(project.glob(f"{Path(name).stem}.damaged-*"))


def test_ten_backups_stay_the_newest_and_the_oldest_among_them(project: Path) -> None:
    for minute in range(14):
        make_backup(project, "time", now=60.0 * minute)
    kept = [one.made / 60 for one in list_backups(project)[0]]
    assert len(kept) == 10
    assert kept[:3] == [13, 12, 11]
    assert kept[-1] == 0


def test_backups_of_months_stay_far_apart() -> None:
    times: list[float] = []
    for hour in range(2000):
        times.append(3600.0 * hour)
        keep = kept_backups(times, times[-1])
        times = [times[index] for index in sorted(keep)]
    ages = [(times[-1] - one) / 3600 for one in reversed(times)]
    assert ages[:3] == [0, 1, 2]
    assert 4 < ages[5] < 200
    assert ages[-2] > 300


@pytest.mark.parametrize("years", [-10, 10])
def test_a_clock_that_was_set_wrong_costs_no_new_backup(years: int) -> None:
    hour, jump = 3600.0, years * 365 * 86400.0
    made = [jump + hour * number for number in range(12)]  # with the wrong clock
    for number in range(30):
        now = hour * (20 + number)
        made.append(now)
        keep = kept_backups(made, now)
        assert len(keep) <= 10
        made = [made[index] for index in sorted(keep)]
        newest = sorted(one for one in made if one <= now and one >= 0)[-3:]
        assert newest == [hour * (20 + one) for one in range(max(number - 2, 0), number + 1)]


def test_a_backup_is_kept_though_the_clock_was_set_back(project: Path) -> None:
    for number in range(12):
        make_backup(project, "time", now=2e9 + 3600 * number)
    made = make_backup(project, "time", now=1.7e9)
    assert made.path in [one.path for one in list_backups(project)[0]]


def test_a_failed_backup_leaves_no_file(project: Path) -> None:
    (project / "backups").write_bytes(b"in the way")
    with pytest.raises(StorageFailedError):
        make_backup(project, "time")
    assert list_backups(project) == ([], [])
