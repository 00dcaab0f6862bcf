"""What a sync tool left of a project, in the real window: merged, kept apart, put off."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from a3s_desktop.core.types import Answer
from a3s_desktop.session.opening import open_session
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage.conflicts import conflict_copies
from a3s_desktop.ui.dialogs import MessageDialog
from a3s_desktop.ui.jobs import Worker
from a3s_desktop.ui.program import Program
from tests.ui.history_project import answered
from tests.ui.pair_project import make_project

JOURNAL = "journal (Ann's conflicted copy 2026-11-28).sqlite"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = make_project(tmp_path_factory.mktemp("synced"))
    answered(project, 6)
    return project


@pytest.fixture
def project(original: Path, tmp_path: Path) -> Path:
    """Answered on this computer for 2 pairs more, and on another for 5 (in `elsewhere`)."""
    ours, theirs = (Path(shutil.copytree(original, tmp_path / name)) for name in ("owls", "elsewhere"))
    answered(ours, 2)
    answered(theirs, 5)
    return ours


class Opened:
    """The program with a project that a sync tool has been at."""

    def __init__(self, qtbot: QtBot, folder: Path, project: Path, read_only: bool = False) -> None:
        self.qtbot = qtbot
        self.program = Program(SettingsStore(None), folder / "demos", with_map=False)
        self.program.help.offers_tour = False
        self.flow, self.bridge = self.program.conflict_flow, self.program.bridge
        with qtbot.waitActive(self.program.window):
            self.program.show()
        self.program.shell.open_project(project, read_only)
        self.until(lambda: self.bridge.state is not None and self.bridge.phase in ("asking", "finished"))

    def until(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition, timeout=20_000)

    def settled(self) -> None:
        """Until all that was begun is through."""
        self.until(lambda: not any(self.program.jobs.busy(worker) for worker in Worker))

    def question(self) -> MessageDialog:
        self.until(lambda: self.flow.dialog is not None and self.flow.dialog.isVisible())
        assert self.flow.dialog is not None
        return self.flow.dialog

    def answers(self) -> int:
        assert self.bridge.state is not None
        return self.bridge.state.answers

    def close(self) -> None:
        self.program.shutdown()
        self.qtbot.wait(1)


@pytest.fixture
def opened(qtbot: QtBot, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    made: list[Opened] = []

    def open_it(project: Path, read_only: bool = False) -> Opened:
        for one in made[:]:
            one.close()
            made.remove(one)
        made.append(Opened(qtbot, tmp_path, project, read_only))
        return made[-1]

    yield open_it
    for one in made:
        one.close()


def leave_journal(project: Path) -> Path:
    return Path(shutil.copy(project.parent / "elsewhere" / "journal.sqlite", project / JOURNAL))


def leave_folder(project: Path) -> Path:
    return Path(shutil.copytree(project.parent / "elsewhere", project.with_name("owls (1)")))


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("leave", [leave_journal, leave_folder])
def test_a_copy_is_merged_after_a_backup_and_moved_aside(
    project: Path, opened: Callable[..., Opened], leave: Callable[[Path], Path]
) -> None:
    left = leave(project)
    content = (left / "journal.sqlite" if left.is_dir() else left).read_bytes()
    window = opened(project)
    before, backups = window.answers(), names(project / "backups")
    dialog = window.question()
    assert dialog.message.text() == "A sync tool left a second copy with 5 answers that are not in this one."
    assert set(dialog.buttons) == {"close", "apart", "merge"}
    dialog.buttons["merge"].click()
    window.until(lambda: not left.exists())
    assert window.answers() > before
    assert len(names(project / "backups") - backups) == 1
    (kept,) = [path for path in left.parent.iterdir() if ".merged-" in path.name]
    assert (kept / "journal.sqlite" if kept.is_dir() else kept).read_bytes() == content
    assert conflict_copies(project) == ()
    window.settled()
    assert window.flow.dialog is None
    assert window.bridge.state is not None
    assert window.bridge.state.can_undo
    window.bridge.undo()
    window.until(lambda: window.answers() == before)
    again = opened(project)
    again.settled()
    assert again.flow.dialog is None, "it is not asked about again"


def test_later_asks_again_and_kept_apart_does_not(project: Path, opened: Callable[..., Opened]) -> None:
    left = leave_journal(project)
    opened(project).question().buttons["close"].click()
    window = opened(project)
    window.question().buttons["apart"].click()
    window.until(lambda: (project / "conflicts.json").exists())
    window = opened(project)
    window.settled()
    assert window.flow.dialog is None
    assert left.exists()
    with left.open("ab") as file:
        file.write(bytes(4096))  # the tool brought something new
    assert opened(project).question()


def test_several_are_asked_about_one_after_the_other(project: Path, opened: Callable[..., Opened]) -> None:
    first, second = leave_journal(project), leave_folder(project)
    window = opened(project)
    window.question().buttons["merge"].click()
    window.until(lambda: not first.exists())
    dialog = window.question()
    assert "All that it holds is here already." in dialog.message.text()
    dialog.buttons["aside"].click()
    window.until(lambda: not second.exists())


def test_what_disagrees_is_decided_on_after_the_copy_is_aside(
    original: Path, tmp_path: Path, opened: Callable[..., Opened]
) -> None:
    for name, answer in (("owls", Answer.SAME), ("elsewhere", Answer.DIFFERENT)):
        session, _ = open_session(Path(shutil.copytree(original, tmp_path / name)))
        assert session.state.question is not None
        session.answer(session.state.question.id, answer)
        session.close()
    left = leave_journal(tmp_path / "owls")
    window = opened(tmp_path / "owls")
    window.question().buttons["merge"].click()
    window.until(lambda: not left.exists())
    window.until(lambda: window.program.merge_flow.dialog is not None)


def test_a_copy_that_cannot_be_read_is_said_to_be_that(project: Path, opened: Callable[..., Opened]) -> None:
    left = project / JOURNAL
    left.write_bytes(b"no journal")
    window = opened(project)
    dialog = window.question()
    assert "cannot be merged" in dialog.message.text()
    assert "No entry could be recovered" in dialog.hint.text()
    assert set(dialog.buttons) == {"close", "apart"}
    dialog.buttons["apart"].click()
    window.until(lambda: (project / "conflicts.json").exists())
    assert left.exists()


def test_a_copy_that_is_open_elsewhere_stays_where_it_is(project: Path, opened: Callable[..., Opened]) -> None:
    left = leave_folder(project)
    elsewhere, _ = open_session(left)
    window = opened(project)
    before = window.answers()
    window.question().buttons["merge"].click()
    window.until(lambda: window.answers() > before)

    def said() -> list[str]:
        found = window.program.window.findChildren(MessageDialog)
        return [dialog.message.text() for dialog in found if dialog.isVisible()]

    window.until(lambda: bool(said()))
    assert "already open" in said()[0]
    elsewhere.close()
    assert left.exists()
    for dialog in window.program.window.findChildren(MessageDialog):
        dialog.reject()


def test_one_who_only_reads_is_not_asked(project: Path, opened: Callable[..., Opened]) -> None:
    leave_journal(project)
    window = opened(project, read_only=True)
    window.settled()
    assert window.flow.dialog is None


def test_closing_the_project_takes_the_question_away(project: Path, opened: Callable[..., Opened]) -> None:
    leave_journal(project)
    window = opened(project)
    window.question()
    window.bridge.close_project()
    assert window.flow.dialog is None
    window.settled()
