"""Two annotators through the command line, on real project folders."""

from __future__ import annotations

import csv
import itertools
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from a3s_desktop import cli
from a3s_desktop.core.types import Answer
from a3s_desktop.session.opening import open_session
from a3s_desktop.session.session import Session
from a3s_desktop.storage.sqlite import connect

N = 24


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """Two copies, ``ours`` and ``theirs``, of a project of 24 small images of four colours."""
    rng = np.random.default_rng(1)
    (tmp_path / "images").mkdir()
    for at in range(N):
        Image.new("RGB", (8, 8), (60 * (at % 4), 90, 10 * at)).save(tmp_path / "images" / f"{at:02}.png")
    features = rng.normal(0, 0.25, (N, 6)) + np.eye(6)[np.arange(N) % 4]
    np.save(tmp_path / "f.npy", features.astype(np.float32))
    monkeypatch.chdir(tmp_path)
    assert cli.main(["new", "ours", "--images", "images", "--features", "f.npy"]) == 0
    shutil.copytree("ours", "theirs")
    capsys.readouterr()
    return tmp_path


def work(folder: Path, author: str, wrong: tuple[int, ...] = (), count: int = 4) -> None:
    """Answer by colour; ``wrong``: numbers of answers that say the opposite."""
    session, _ = open_session(folder)
    session.author = author
    for number in range(count):
        answer(session, number in wrong)
    session.close()


def answer(session: Session, wrong: bool = False) -> None:
    question = session.state.question
    assert question is not None
    same = question.left % 4 == question.right % 4
    session.answer(question.id, Answer.SAME if same is not wrong else Answer.DIFFERENT)


def state(folder: Path) -> tuple[str, tuple[object, ...]]:
    session, _ = open_session(folder, read_only=True)
    try:
        return session.engine.digest(), session.history()
    finally:
        session.close()


def test_the_report_says_what_is_new_known_and_in_dispute(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    work(folder / "ours", "Ann")
    work(folder / "theirs", "Bob", wrong=(0,))
    before = state(folder / "ours")
    assert cli.main(["merge", "ours", "theirs", "--dry-run"]) == 0
    dry = capsys.readouterr().out.splitlines()
    assert dry[1] == "0 entries are known already."
    assert "1 entry disagrees" in dry[2]
    assert "known to both" in dry[3]
    assert state(folder / "ours") == before
    assert cli.main(["merge", "ours", "theirs", "--author", "Ann"]) == 0
    said = capsys.readouterr().out
    assert "taken over." in said
    assert "1 disagreement waits for you." in said
    assert ".png' and '" in said
    session, _ = open_session(folder / "ours")
    assert len(session.state.unsettled) == 1
    assert {entry.author for entry in session.history()} == {"Ann", "Bob"}
    session.undo()
    assert (session.engine.digest(), session.history()) == before
    session.redo()
    session.close()
    assert cli.main(["merge", "ours", "theirs"]) == 0
    assert "0 entries are new and will count." in capsys.readouterr().out
    assert cli.main(["export", "ours", "--format", "constraints", "--out", "said.csv"]) == 0
    rows = list(csv.DictReader((folder / "said.csv").read_text(encoding="utf-8").splitlines()))
    assert {row["author"] for row in rows} == {"Ann", "Bob"}


def test_an_old_journal_without_authors_stays_readable(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    work(folder / "theirs", "")
    assert cli.main(["merge", "ours", "theirs"]) == 0
    assert "4 entries were taken over." in capsys.readouterr().out
    session, _ = open_session(folder / "ours", read_only=True)
    assert {entry.author for entry in session.history()} == {""}
    session.close()


def test_a_project_that_is_being_worked_on_is_read_as_it_is_now(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    writer, _ = open_session(folder / "theirs")
    for _ in range(3):
        answer(writer)
    assert cli.main(["merge", "ours", "theirs"]) == 0
    assert "3 entries were taken over." in capsys.readouterr().out
    answer(writer)
    writer.close()
    assert cli.main(["merge", "ours", "theirs"]) == 0
    assert "1 entry was taken over." in capsys.readouterr().out


def refused(folder: Path, other: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What is said where nothing can be merged; our project stays as it was."""
    before = state(folder / "ours")
    assert cli.main(["merge", "ours", other]) == 1
    assert state(folder / "ours") == before
    return capsys.readouterr().err


def test_what_cannot_be_merged_is_said_in_a_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    work(folder / "ours", "Ann", count=2)
    assert "is the project that is open" in refused(folder, "ours", capsys)
    assert "does not exist" in refused(folder, "nowhere", capsys)
    assert "not a project" in refused(folder, "images", capsys)
    work(folder / "theirs", "Bob", count=2)
    shutil.copytree("theirs", "newer")
    with connect(folder / "newer" / "journal.sqlite") as connection:
        connection.execute("PRAGMA user_version = 999")
    said = refused(folder, "newer", capsys)
    assert "newer' cannot be merged" in said
    assert "format 999" in said
    facts = json.loads((folder / "theirs" / "project.json").read_text(encoding="utf-8"))
    (folder / "theirs" / "project.json").write_text(json.dumps(facts | {"version": 999}), encoding="utf-8")
    assert "format version 999" in refused(folder, "theirs", capsys)


def test_a_record_of_a_newer_version_is_said_of_the_other_project(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session, _ = open_session(folder / "theirs")
    assert session.workspace is not None
    session.workspace.journal.append("dream", {})
    session.close()
    said = refused(folder, "theirs", capsys)
    assert "theirs' cannot be merged" in said
    assert "unknown kind" in said


def test_of_a_damaged_journal_what_can_be_read_is_taken_and_the_rest_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session, _ = open_session(folder / "theirs")
    pairs = iter(itertools.combinations(range(N), 2))
    for left, right in itertools.islice(pairs, 60):
        session.audit(left, right, Answer.SAME)
    answer(session)
    session.close()
    journal = folder / "theirs" / "journal.sqlite"
    raw = journal.read_bytes()
    raw = raw[: int(len(raw) * 0.6)]
    journal.write_bytes(raw)
    assert cli.main(["merge", "ours", "theirs", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "damaged" in said
    assert "0 entries are new" in said, "the answer was at the end, and sample checks are the other's own"
    assert journal.read_bytes() == raw, "the other project is only read"


def test_other_images_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "others").mkdir()
    for at in range(N):
        shutil.copy(folder / "images" / f"{at:02}.png", folder / "others" / f"x{at:02}.png")
    assert cli.main(["new", "strange", "--images", "others", "--features", "f.npy"]) == 0
    work(folder / "strange", "Bob", count=1)
    capsys.readouterr()
    said = refused(folder, "strange", capsys)
    assert "which is not in this project" in said
    assert ".png" in said
    # Another project of the same images is welcome.
    assert cli.main(["new", "fresh", "--images", "images", "--features", "f.npy"]) == 0
    work(folder / "fresh", "Bob", count=3)
    assert cli.main(["merge", "ours", "fresh"]) == 0
    assert "3 entries were taken over." in capsys.readouterr().out


def test_a_copy_that_a_sync_tool_left_is_merged_and_renamed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    work(folder / "ours", "Ann", count=2)
    work(folder / "theirs", "Bob", count=4)
    left = folder / "ours" / "journal.sync-conflict-20261128-101112-ABCDEFG.sqlite"
    shutil.copy(folder / "theirs" / "journal.sqlite", left)
    assert cli.main(["check", "ours"]) == 0
    assert f"A sync tool left a second copy, '{left.name}'" in capsys.readouterr().out
    assert cli.main(["merge", "--dry-run", "ours", str(left)]) == 0
    assert left.exists()
    capsys.readouterr()
    assert cli.main(["merge", "ours", str(left)]) == 0
    told = capsys.readouterr().out
    assert "entries were taken over" in told
    assert "The copy is called 'journal.merged-" in told
    assert not left.exists()
    assert len(list((folder / "ours").glob("journal.merged-*.sqlite"))) == 1
    assert cli.main(["check", "ours"]) == 0
    assert "second copy" not in capsys.readouterr().out


def test_the_journal_of_another_project_is_no_copy(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["merge", "ours", "theirs/journal.sqlite"]) != 0
    assert "is no copy of the journal" in capsys.readouterr().err
    assert cli.main(["merge", "ours", "ours/journal.sqlite"]) != 0
    assert "is no copy of the journal" in capsys.readouterr().err
