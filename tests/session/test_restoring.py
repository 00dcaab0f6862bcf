"""What backups are said to hold, beside what is there now, and going back to one."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from a3s_desktop.errors import Cancelled, ProjectError
from a3s_desktop.i18n import use
from a3s_desktop.session.backing_up import contents_of
from a3s_desktop.session.opening import create_project, open_session
from a3s_desktop.session.operations import Rename
from a3s_desktop.session.restoring import (
    Listing,
    Preview,
    list_rows,
    look_at_now,
    look_into,
    reason_text,
    restore,
)
from a3s_desktop.storage.backup import list_backups, make_backup
from a3s_desktop.storage.workspace import ProjectSpec
from a3s_desktop.task import Task
from tests.session.conftest import Data

MakeSpec = Callable[..., ProjectSpec]


@pytest.fixture
def project(make_spec: MakeSpec, blobs: Data) -> Path:
    """A backup at five answers, one at eight with a name, and four answers more."""
    spec = make_spec()
    create_project(spec, Task()).close()
    session, _ = open_session(spec.folder)
    for count in (5, 3, 4):
        for _ in range(count):
            blobs.answer(session)
        if count == 3:
            session.perform(Rename(int(session.state.labels[0]), "Ann"))
        if count != 4:
            make_backup(spec.folder, "time", contents_of(session.state), now=1000.0 * count)
    session.close()
    return spec.folder


def previews(project: Path) -> tuple[Listing, list[Preview]]:
    listing, present = list_rows(project, Task()), look_at_now(project, Task())
    return listing, [look_into(row.backup, listing, present, Task()) for row in listing.rows if row.backup is not None]


def test_each_backup_tells_what_it_holds_and_how_it_stands_to_now(project: Path) -> None:
    listing, (newest, five, eight) = previews(project)
    assert [row.problem for row in listing.rows] == ["", "", ""]
    assert (newest.answers, newest.difference, newest.same_as_now) == (12, "as many as now", True)
    assert (five.answers, five.difference) == (5, "7 fewer than now")
    assert (eight.answers, eight.difference) == (8, "4 fewer than now")
    assert (five.names, eight.names) == ((), ("Ann",))
    assert "4 steps made since" in eight.lost
    assert "8 steps made since" in five.lost
    assert eight.last[0].text == "Name: Ann"
    assert eight.last[1].text in ("Same", "Different")
    session, _ = open_session(project, read_only=True)
    with contextlib.closing(session):
        images = session.workspace.items
        entry = session.history(20)[-8]
        assert (images.name(entry.items[0]), images.name(entry.items[1])) == eight.last[1].images
        assert five.images == len(images)


def test_restoring_says_what_it_did_and_can_be_taken_back(project: Path) -> None:
    first = next(row.backup for row in list_rows(project, Task()).rows if row.backup and row.backup.records == 5)
    said = restore(project, first, Task())
    kept = list_backups(project)[0][0]
    assert kept.path.name in said
    assert kept.reason == "restore"
    listing, found = previews(project)
    assert listing.rows[0].backup is not None
    assert listing.rows[0].backup.contents is not None, "another backup of the same entries knows"
    assert found[0].difference == "7 more than now"
    assert "come back" in found[0].lost
    session, _ = open_session(project)
    with contextlib.closing(session):
        assert session.state.answers == 5
    restore(project, kept, Task())
    assert look_at_now(project, Task()).answers == 12


def test_two_lines_of_work_are_compared_where_they_part(project: Path, blobs: Data) -> None:
    restore(project, next(one for one in list_backups(project)[0] if one.records == 5), Task())
    session, _ = open_session(project)
    with contextlib.closing(session):
        blobs.answer(session)
    other = next(one for one in previews(project)[1] if one.answers == 8)
    assert "1 step made since is taken back." in other.lost
    assert "4 steps that are not there now come back." in other.lost


def test_a_cancelled_restoration_leaves_the_project_as_it_was(project: Path) -> None:
    before = (project / "journal.sqlite").read_bytes()
    task = Task(lambda progress: task.cancel() if progress.index == 1 else None)
    with pytest.raises(Cancelled):
        restore(project, list_backups(project)[0][-1], task)
    assert (project / "journal.sqlite").read_bytes() == before
    session, _ = open_session(project)  # nor does it stay locked
    session.close()


def test_damaged_backups_are_listed_by_the_time_in_their_name_and_say_why(project: Path) -> None:
    newest, middle, _ = sorted((project / "backups").iterdir(), reverse=True)
    middle.write_bytes(b"nothing")
    data = bytearray(newest.read_bytes())
    data[600:720] = bytes(120)
    newest.write_bytes(data)
    listing, present = list_rows(project, Task()), look_at_now(project, Task())
    assert [row.path for row in listing.rows][:2] == [newest, middle]
    assert listing.rows[1].backup is None
    assert "damaged" in listing.rows[1].problem
    assert listing.rows[1].made == 5000.0
    assert listing.rows[0].backup is not None
    with pytest.raises(ProjectError, match="damaged"):
        look_into(listing.rows[0].backup, listing, present, Task())


def test_what_cannot_be_read_now_is_not_compared(project: Path) -> None:
    (project / "journal.sqlite").write_bytes(b"")
    found = previews(project)[1][0]
    assert (found.difference, found.same_as_now) == ("", False)
    assert "cannot be read" in found.lost


def test_a_backup_of_another_epoch_is_refused_with_the_reason(project: Path) -> None:
    facts = json.loads((project / "project.json").read_text("utf-8"))
    (project / "project.json").write_text(json.dumps(facts | {"version": 2, "epoch": 2}), "utf-8")
    listing = list_rows(project, Task())
    backup = listing.rows[0].backup
    assert backup is not None
    assert "before images were added" in look_into(backup, listing, look_at_now(project, Task()), Task()).refused


def test_a_newer_project_is_not_given_an_older_description(project: Path) -> None:
    facts = json.loads((project / "project.json").read_text("utf-8"))
    text = json.dumps(facts | {"version": 99})
    (project / "project.json").write_text(text, "utf-8")
    with pytest.raises(ProjectError):
        restore(project, list_backups(project)[0][0], Task())
    assert (project / "project.json").read_text("utf-8") == text


def test_a_project_without_backups_has_an_empty_list(project: Path) -> None:
    for path in (project / "backups").iterdir():
        path.unlink()
    assert list_rows(project, Task()).rows == ()


def test_reasons_are_stored_as_codes_and_told_in_the_users_language(project: Path) -> None:
    use("de")
    try:
        make_backup(project, "repair")
        assert list_backups(project)[0][0].reason == "repair"
        assert reason_text("repair") != "repair"
    finally:
        use("en")
    codes = ("time", "close", "merge", "add", "features", "restore", "repair", "request")
    assert len({reason_text(code) for code in codes}) == len(codes)
    assert reason_text("of a later version") == "For another reason"
