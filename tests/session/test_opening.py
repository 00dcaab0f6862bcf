"""Projects on disk: made whole or not at all, resumed at the very pair, read-only beside a writer."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from a3s_desktop.core import initial_clusterings
from a3s_desktop.core.types import Answer, InitialOptions
from a3s_desktop.errors import (
    Cancelled,
    InputError,
    ProjectError,
    ProjectLockedError,
    ProjectVersionError,
    ReadOnlyError,
    StorageFailedError,
)
from a3s_desktop.session.opening import create_project, open_session
from a3s_desktop.session.session import Session
from a3s_desktop.storage.workspace import ProjectSpec, check_spec
from a3s_desktop.task import Progress, Task
from tests.session.conftest import Data

MakeSpec = Callable[..., ProjectSpec]


@pytest.fixture
def project(make_spec: MakeSpec) -> Path:
    spec = make_spec()
    create_project(spec, Task()).close()
    return spec.folder


def test_a_new_project_is_ready_for_its_first_question(make_spec: MakeSpec) -> None:
    reports: list[Progress] = []
    spec = make_spec()
    create_project(spec, Task(reports.append)).close()
    session, report = open_session(spec.folder)
    assert (report.recovered, report.warnings) == ("", ())
    assert session.state.items == 48
    assert session.state.question is not None
    session.close()
    stages = [entry.index for entry in reports]
    assert stages == sorted(stages)
    assert max(stages) == reports[-1].count - 1
    assert all(entry.stage for entry in reports)


def test_a_first_clustering_that_did_not_look_at_everything_is_told_until_there_are_answers(
    make_spec: MakeSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(initial_clusterings, "MINI_BATCH_FROM", 20)
    spec = make_spec(initial=InitialOptions(initial="kmeans"))
    create_project(spec, Task()).close()
    session, report = open_session(spec.folder)
    assert report.warnings == ("K-means went through the 48 samples in batches.",)
    question = session.state.question
    assert question is not None
    session.answer(question.id, Answer.SAME)
    session.close()
    session, report = open_session(spec.folder)
    assert report.warnings == ()
    session.close()


def test_a_report_that_was_shown_is_not_made_again(make_spec: MakeSpec) -> None:
    spec = make_spec()
    create_project(spec, Task(), check_spec(spec)).close()
    session, _ = open_session(spec.folder)
    session.close()


def test_what_cannot_be_used_is_said_and_nothing_is_written(make_spec: MakeSpec, tmp_path: Path) -> None:
    np.save(tmp_path / "features.npy", np.zeros((7, 3), np.float32))
    spec = make_spec()
    with pytest.raises(InputError):
        create_project(spec, Task())
    assert not spec.folder.exists()


@pytest.mark.parametrize("stage", range(6))
def test_cancelling_at_any_stage_leaves_nothing(make_spec: MakeSpec, tmp_path: Path, stage: int) -> None:
    spec = make_spec()
    before = sorted(tmp_path.iterdir())

    def stop(progress: Progress) -> None:
        if progress.index == stage:
            task.cancel()

    task = Task(stop, min_interval=0.0)
    with pytest.raises(Cancelled):
        create_project(spec, task)
    assert sorted(tmp_path.iterdir()) == before
    create_project(spec, Task()).close()


def test_resumes_at_the_very_pair(project: Path, blobs: Data) -> None:
    session, _ = open_session(project)
    for _ in range(7):
        blobs.answer(session)
    session.undo()
    left, digest, history = session.state, session.engine.digest(), session.history()
    session.close()
    again, report = open_session(project)
    assert report.warnings == ()
    assert again.engine.digest() == digest
    assert again.history() == history
    assert left.question is not None
    assert again.state.question is not None
    assert (again.state.question.left, again.state.question.right) == (left.question.left, left.question.right)
    assert (again.state.can_undo, again.state.can_redo) == (True, True)
    again.redo()
    for _ in range(7):
        again.undo()
    assert again.state.answers == 0
    again.close()


def test_what_was_answered_is_on_disk_without_closing(project: Path, blobs: Data) -> None:
    session, _ = open_session(project)
    for _ in range(5):
        blobs.answer(session)
    reader, _ = open_session(project, read_only=True)
    assert reader.state.answers == 5
    assert reader.engine.digest() == session.engine.digest()
    reader.close()
    session.close()


def test_one_writer_many_readers(project: Path, blobs: Data) -> None:
    writer, _ = open_session(project)
    with pytest.raises(ProjectLockedError):
        open_session(project)
    reader, _ = open_session(project, read_only=True)
    assert reader.state.read_only
    for change in (lambda: blobs.answer(reader), reader.undo, reader.redo):
        with pytest.raises(ReadOnlyError):
            change()
    blobs.answer(writer)
    reader.close()
    writer.close()
    again, _ = open_session(project)
    assert again.state.answers == 1
    again.close()


def test_a_project_killed_before_its_first_stage_was_kept_is_initialized_when_opened(project: Path) -> None:
    whole, _ = open_session(project)
    digest = whole.engine.digest()
    whole.close()
    for file in sorted((project / "artifacts").rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    with pytest.raises(ProjectError, match="initialized"):
        open_session(project, read_only=True)
    session, _ = open_session(project)
    assert session.engine.digest() == digest
    session.close()


def test_cancelling_the_opening_releases_the_project(project: Path) -> None:
    task = Task()
    task.cancel()
    with pytest.raises(Cancelled):
        open_session(project, task=task)
    session, _ = open_session(project)
    session.close()


def test_no_project_is_said_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ProjectError):
        open_session(tmp_path / "nowhere")
    with pytest.raises(ProjectError):
        open_session(tmp_path)


def test_an_unknown_version_is_refused(project: Path) -> None:
    path = project / "project.json"
    facts = json.loads(path.read_text())
    facts["version"] = 99
    path.write_text(json.dumps(facts))
    with pytest.raises(ProjectVersionError):
        open_session(project)


def test_a_record_of_a_newer_version_is_refused_and_the_project_released(project: Path) -> None:
    session, _ = open_session(project)
    assert session.workspace is not None
    session.workspace.journal.append("rename", {"cluster": 1})
    session.close()
    for _ in range(2):
        with pytest.raises(ProjectVersionError, match="rename"):
            open_session(project)


def test_a_truncated_journal_opens_with_what_is_whole_and_says_so(project: Path, blobs: Data) -> None:
    session, _ = open_session(project)
    digests = [session.engine.digest()]
    while session.state.question is not None:
        blobs.answer(session)
        digests.append(session.engine.digest())
    session.close()
    path = project / "journal.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    raw = path.read_bytes()
    path.write_bytes(raw[: int(len(raw) * 0.6)])
    again, report = open_session(project)
    assert report.recovered
    assert again.engine.digest() == digests[again.state.answers]
    again.close()


def test_snapshots_and_undo_beyond_a_restart(project: Path, blobs: Data) -> None:
    session, _ = open_session(project)
    session._snapshot_every = 5
    digests = [session.engine.digest()]
    while session.state.question is not None:
        blobs.answer(session)
        session.look_ahead()
        digests.append(session.engine.digest())
    session.close()
    again, _ = open_session(project)
    assert again.engine.digest() == digests[-1]
    for digest in digests[-2::-1]:
        again.undo()
        assert again.engine.digest() == digest
    again.close()


def test_export_is_what_the_screen_shows(project: Path, blobs: Data, tmp_path: Path) -> None:
    session, _ = open_session(project)
    while session.state.question is not None:
        blobs.answer(session)
    out = tmp_path / "groups.csv"
    assert session.export("csv", out).path == out
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["path", "cluster", "name", "status", "confidence"]
    assert [row["path"] for row in rows] == [f"{k:03d}.png" for k in range(48)]
    assert [int(row["cluster"]) for row in rows] == session.state.labels.tolist()
    tied = {item for entry in session.history() if entry.answer is Answer.SAME for item in (entry.left, entry.right)}
    assert {k for k, row in enumerate(rows) if row["status"] == "confirmed"} == tied
    with pytest.raises(StorageFailedError):
        session.export("csv", out)
    session.export("csv", out, overwrite=True)
    session.export("json", tmp_path / "groups.json")
    assert json.loads((tmp_path / "groups.json").read_text(encoding="utf-8"))
    with pytest.raises(InputError, match="xlsx"):
        session.export("xlsx", tmp_path / "groups.xlsx")
    session.close()


def test_a_closed_session_takes_no_answers(project: Path, blobs: Data) -> None:
    session: Session
    session, _ = open_session(project)
    session.close()
    before = session.state
    with pytest.raises(StorageFailedError):
        blobs.answer(session)
    assert session.state is before
