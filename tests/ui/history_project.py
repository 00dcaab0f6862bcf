"""The program on a small real project that was answered before, with some wrong answers, for tests of old answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pytestqt.qtbot import QtBot

from a3s_desktop.core.types import Answer
from a3s_desktop.session.opening import open_session
from a3s_desktop.session.session import Session
from a3s_desktop.session.state import HistoryEntry
from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.program import Program


def answered(project: Path, answers: int = 40, wrong: tuple[int, ...] = ()) -> list[HistoryEntry]:
    """Answer by the individuals that the file names tell; ``wrong``: numbers of answers that say the opposite."""
    session, _ = open_session(project)
    assert session.workspace is not None
    items = session.workspace.items
    for number in range(1, answers + 1):
        question = session.state.question
        if question is None:
            break
        same = items.name(question.left)[0] == items.name(question.right)[0]
        session.answer(question.id, Answer.SAME if same is not (number in wrong) else Answer.DIFFERENT)
    return closed(session)


def closed(session: Session) -> list[HistoryEntry]:
    """Close a session; its entries, oldest first."""
    entries = list(reversed(session.history()))
    session.close()
    return entries


class Window:
    """A running program with the history in sight."""

    def __init__(self, qtbot: QtBot, folder: Path, project: Path) -> None:
        self.qtbot = qtbot
        self.program = Program(SettingsStore(None), folder / "demos")
        self.program.help.offers_tour = False
        self.errors: list[object] = []
        self.bridge, self.panel = self.program.bridge, self.program.history
        self.bridge.failed.connect(self.errors.append)
        with qtbot.waitActive(self.program.window):
            self.program.show()
        self.program.shell.open_project(project)
        self.until(self.idle)
        dock = self.program.window.dock("history")
        dock.show()
        dock.raise_()
        self.until(lambda: self.panel.isVisible())
        self.fresh()

    def until(self, condition: Callable[[], bool]) -> None:
        """Run the event loop until something holds."""
        self.qtbot.waitUntil(condition, timeout=20_000)

    def idle(self) -> bool:
        """Whether an operation would be taken."""
        return self.bridge.state is not None and self.bridge.phase in ("asking", "finished")

    def fresh(self) -> None:
        """Wait until the list is filled anew."""
        with self.qtbot.waitSignal(self.panel.feed.refreshed, timeout=20_000):
            self.panel.feed.refresh()

    def listed(self) -> list[HistoryEntry]:
        """The entries in the list, from the top."""
        model = self.panel.model
        entries = [model.entry(row) for row in range(model.rowCount())]
        assert None not in entries
        return [entry for entry in entries if entry is not None]

    def choose(self, number: int) -> HistoryEntry:
        """Make an entry of the list the current one."""
        row = self.panel.model.row_of(number)
        assert row >= 0
        self.panel.list.go_to(row)
        entry = self.panel.list.current
        assert entry is not None
        return entry

    def close(self) -> None:
        """In the order of the program."""
        self.program.shutdown()
        self.qtbot.wait(1)
