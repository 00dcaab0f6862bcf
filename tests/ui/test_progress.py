"""The figures of the progress, the sample check and the end page, in the running program."""

from __future__ import annotations

import datetime
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from a3s_desktop.core.outlook import Outlook
from a3s_desktop.core.types import Answer
from a3s_desktop.session.audit import Precision, wilson
from a3s_desktop.session.listing import Times
from a3s_desktop.session.opening import open_session
from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.figures import PAUSE, midnight, per_minute, precision_text, range_text, rounded
from a3s_desktop.ui.finished_panel import FinishedPanel
from a3s_desktop.ui.label_bars import QuestionBar
from a3s_desktop.ui.program import Program
from a3s_desktop.ui.progress_curve import Point, ProgressCurve
from tests.ui.pair_project import make_project

# --- figures


def test_estimates_do_not_look_exact() -> None:
    assert [rounded(n) for n in (0, 7, 19, 23, 97, 143, 287, 1287, 3219)] == [0, 7, 19, 25, 95, 140, 290, 1300, 3200]
    assert range_text(Outlook(90, 131, 188)) == "90–190"
    assert range_text(Outlook(0, 0, 0)) == "0"


def test_the_rate_leaves_pauses_out() -> None:
    steady = [1000.0 + 6 * k for k in range(20)]
    assert per_minute(steady[::-1]) == pytest.approx(10.0)
    after_lunch = [*steady, *(steady[-1] + 3600 + 6 * k for k in range(10))]
    assert per_minute(after_lunch[::-1]) == pytest.approx(10.0)
    assert per_minute(steady[:3]) is None, "too few to tell"
    assert per_minute([k * (PAUSE + 1) for k in range(9, 0, -1)]) is None, "nothing but pauses"


@pytest.mark.parametrize(("day", "hours"), [((2026, 3, 29), 23), ((2026, 10, 25), 25), ((2026, 6, 1), 24)])
def test_days_begin_at_midnight_where_the_clocks_are_changed(
    monkeypatch: pytest.MonkeyPatch, day: tuple[int, int, int], hours: int
) -> None:
    if not hasattr(time, "tzset"):
        pytest.skip("the place of a Windows process is the computer's")
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    try:
        today = datetime.date(*day)
        assert datetime.datetime.fromtimestamp(midnight(0, today)).time() == datetime.time()
        assert midnight(1, today) - midnight(0, today) == hours * 3600
        assert midnight(-6, today) < midnight(0, today) - 5 * 86_400
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_night_asleep_or_a_clock_that_was_set_is_no_thinking_time() -> None:
    steady = [1000.0 + 6 * k for k in range(10)]
    year = 365 * 86_400.0
    for jump in (8 * 3600.0, year, -year, -3600.0):
        times = [*steady, *(steady[-1] + jump + 6 * k for k in range(1, 10))]
        assert per_minute(times[::-1]) == pytest.approx(10.0), jump


def test_a_share_comes_with_its_interval() -> None:
    low, high = wilson(58, 60)
    assert precision_text(Precision(58, 2, 0, 58 / 60, low, high)) == "97% (89% to 99%)"
    assert precision_text(Precision()) == ""


def test_the_curve_ends_earlier_after_an_undo(qtbot: QtBot) -> None:
    curve = ProgressCurve()
    qtbot.addWidget(curve)
    for k in range(6):
        curve.add(Point(k, 20 - k, 10 + k))
    curve.add(Point(3, 17, 13))
    assert [p.answers for p in curve.points] == [0, 1, 2, 3]
    curve.add(Point(3, 16, 14))  # a correction by hand: no answer more
    assert curve.points[-1] == Point(3, 16, 14)
    for k in range(4, 10_000):
        curve.add(Point(k, 10, 10))
    assert len(curve.points) < 5000, "bounded for a long day"
    assert (curve.points[0].answers, curve.points[-1].answers) == (0, 9999)
    curve.resize(300, 160)
    curve.show()
    assert not curve.grab().isNull()


# --- in the program


class Desk:
    """A running program on a real project."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self.qtbot = qtbot
        settings = SettingsStore(None)
        settings.change(tour_done=True)
        self.program = Program(settings, folder / "demos")
        self.window, self.label, self.audit = self.program.window, self.program.label, self.program.audit
        with qtbot.waitActive(self.window):
            self.program.show()

    def until(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition, timeout=20_000)

    def open(self, project: Path, read_only: bool = False) -> None:
        self.program.shell.open_project(project, read_only)
        self.until(lambda: self.program.bridge.state is not None)
        if not read_only:
            self.until(self.waits)

    def waits(self) -> bool:
        return self.label.ready or self.program.bridge.phase == "finished"

    def trigger(self, name: str) -> None:
        self.program.shortcuts.action(name).trigger()

    def press(self, key: Qt.Key) -> None:
        """A key, with the window in front: off the screen nothing brings it there by itself."""
        self.window.activateWindow()
        self.until(self.window.isActiveWindow)
        QTest.keyClick(self.window, key)

    def truth(self, left: int, right: int) -> bool:
        items = self.program.bridge.items
        assert items is not None
        return items.name(left)[0] == items.name(right)[0]

    def answer(self, key: Qt.Key | None = None) -> None:
        question = self.label.question
        assert question is not None
        right = Qt.Key.Key_F if self.truth(question.left, question.right) else Qt.Key.Key_J
        self.press(key or right)
        self.until(lambda: self.label.question is None or self.label.question.id != question.id)
        self.until(self.waits)

    def to_the_end(self) -> None:
        for _ in range(400):
            if self.program.bridge.phase == "finished":
                return
            self.answer()

    def check(self, key: Qt.Key | None = None) -> tuple[int, int]:
        """One pair of the sample, by default with the true answer."""
        self.until(lambda: self.audit.ready)
        pair = self.audit.pair
        assert pair is not None
        self.press(key or (Qt.Key.Key_F if self.truth(*pair) else Qt.Key.Key_J))
        self.until(lambda: self.audit.pair != pair or not self.audit.ready)
        self.until(lambda: self.program.bridge.phase != "storing")
        return pair

    @property
    def state(self):
        return self.program.bridge.state


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("progress"))


@pytest.fixture
def project(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "project")


@pytest.fixture
def desk(qtbot: QtBot, tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(qtbot, tmp_path)
    yield desk
    desk.program.shutdown()
    qtbot.wait(1)


def test_the_panel_tells_what_was_reached(desk: Desk, project: Path) -> None:
    desk.open(project)
    panel = desk.program.progress
    desk.window.dock("progress").show()
    desk.window.dock("progress").raise_()
    for _ in range(6):
        desk.answer()
    desk.until(lambda: panel.text("today") == "6")
    assert panel.text("answers") == "6"
    assert panel.text("rate") != ""
    assert panel.text("clusters") == str(desk.state.clusters)
    assert panel.text("useful") == f"{desk.state.useful} of the last 6"
    assert panel.text("left") == f"about {rounded(desk.state.outlook.middle)}"
    assert panel.text("range") == range_text(desk.state.outlook)
    assert panel.text("skipped") == panel.text("right") == ""
    assert [p.answers for p in panel.curve.points] == list(range(7))
    head = desk.label.findChild(QuestionBar)
    assert head.count_text("left") == range_text(desk.state.outlook)
    desk.trigger("edit.undo")
    desk.until(lambda: desk.state.answers == 5)
    desk.until(lambda: panel.text("today") == "5")
    assert len(panel.curve.points) == 6


def test_skipped_pairs_are_asked_again_by_one_action_with_their_number(desk: Desk, project: Path) -> None:
    desk.open(project)
    action = desk.program.shortcuts.action("edit.requeue")
    assert not action.isEnabled()
    question = desk.label.question
    desk.answer(Qt.Key.Key_Space)
    assert (action.text(), action.isEnabled()) == ("Ask 1 skipped pair again", True)
    desk.answer(Qt.Key.Key_Space)
    assert action.text() == "Ask 2 skipped pairs again"
    action.trigger()
    desk.until(lambda: desk.state.skipped == 0)
    desk.until(desk.waits)
    assert not action.isEnabled()
    again = desk.label.question
    assert {again.left, again.right} == {question.left, question.right}
    desk.trigger("edit.undo")
    desk.until(lambda: desk.state.skipped == 2)


def test_the_sample_measures_and_changes_nothing(desk: Desk, project: Path) -> None:
    desk.open(project)
    for _ in range(8):
        desk.answer()
    labels, answers, question = desk.state.labels.copy(), desk.state.answers, desk.label.question
    desk.trigger("audit.open")
    assert desk.window.pages.currentWidget() is desk.audit
    assert "No pair checked yet" in desk.audit.text
    seen = []
    for _ in range(5):
        left, right = desk.check()
        assert labels[left] == labels[right], "drawn from within a cluster"
        seen.append(frozenset((left, right)))
    assert len(set(seen)) == 5
    desk.check(Qt.Key.Key_Space)
    audit = desk.state.audit
    right_ones = sum(desk.truth(*pair) for pair in seen)
    assert (audit.same, audit.different, audit.unsure) == (right_ones, 5 - right_ones, 1)
    assert (audit.low, audit.high) == wilson(right_ones, 5)
    assert precision_text(audit) in desk.audit.text
    assert (desk.state.labels == labels).all()
    assert desk.state.answers == answers
    desk.until(lambda: desk.audit.ready)
    desk.press(Qt.Key.Key_Escape)
    desk.until(lambda: desk.label.ready)
    assert (desk.label.question.left, desk.label.question.right) == (question.left, question.right)


def test_a_pair_of_the_sample_is_taken_back_and_drawn_again(desk: Desk, project: Path) -> None:
    desk.open(project)
    desk.trigger("audit.open")
    first = desk.check()
    second = desk.check(Qt.Key.Key_Space)
    desk.until(lambda: desk.audit.ready)
    desk.trigger("edit.undo")
    desk.until(lambda: desk.state.audit.unsure == 0)
    desk.until(lambda: desk.audit.ready)
    assert set(desk.audit.pair) == set(second)
    desk.trigger("edit.undo")
    desk.until(lambda: desk.state.audit.estimate is None)
    desk.until(lambda: desk.audit.ready)
    assert set(desk.audit.pair) == set(first)


def test_keys_answer_the_page_that_is_in_sight(desk: Desk, project: Path) -> None:
    desk.open(project)
    desk.trigger("audit.open")
    desk.check()
    assert desk.state.answers == 0
    assert desk.state.audit.same + desk.state.audit.different == 1
    desk.until(lambda: desk.audit.ready)
    desk.trigger("audit.back")
    desk.until(lambda: desk.label.ready)
    desk.answer()
    assert desk.state.answers == 1
    assert desk.state.audit.same + desk.state.audit.different == 1


def test_the_sample_is_kept_with_the_project(desk: Desk, project: Path) -> None:
    desk.open(project)
    desk.trigger("audit.open")
    desk.check()
    audit = desk.state.audit
    desk.program.shutdown()
    session, _ = open_session(project)
    assert session.state.audit == audit
    session.close()


def test_read_only_shows_and_takes_nothing(desk: Desk, project: Path) -> None:
    desk.open(project, read_only=True)
    assert not desk.program.shortcuts.action("audit.open").isEnabled()
    assert not desk.program.shortcuts.action("edit.requeue").isEnabled()


def test_the_end_says_what_can_be_done_next(desk: Desk, project: Path) -> None:
    desk.open(project)
    desk.answer(Qt.Key.Key_Space)
    desk.to_the_end()
    panel = desk.label.findChild(FinishedPanel)
    assert panel.isVisible()
    assert desk.state.outlook == Outlook(0, 0, 0)
    assert desk.program.progress.text("left") == "none" or desk.program.progress.isHidden()
    shown = (panel.audit_button, panel.export_button, panel.clusters_button, panel.undo_button)
    assert all(button.isVisible() and button.focusPolicy() & Qt.FocusPolicy.TabFocus for button in shown)
    assert panel.singles_button.isVisible() == (desk.state.singletons > 0)
    assert panel.requeue_button.isVisible() == (desk.state.skipped > 0)
    assert panel.audit_button.property("kind") == "primary", "not checked yet"
    QTest.mouseClick(panel.audit_button, Qt.MouseButton.LeftButton)
    desk.check()
    desk.until(lambda: desk.audit.ready)
    desk.trigger("audit.back")
    desk.until(panel.isVisible)
    assert "By the sample" in panel.text
    assert panel.export_button.property("kind") == "primary"
    if desk.state.skipped:
        QTest.mouseClick(panel.requeue_button, Qt.MouseButton.LeftButton)
        desk.until(lambda: desk.state.skipped == 0)


def test_answers_from_before_a_restart_count_for_today(desk: Desk, project: Path) -> None:
    session, _ = open_session(project)
    for answer in (Answer.SAME, Answer.SKIP, Answer.DIFFERENT):
        session.answer(session.state.question.id, answer)
    times = session.listing.times(0.0)
    assert times.count == len(times.newest) == 2
    assert session.listing.times(times.newest[0] + 1.0) == Times(0, ())
    session.close()
    desk.open(project)
    desk.window.dock("progress").show()
    desk.window.dock("progress").raise_()
    desk.until(lambda: desk.program.progress.text("today") == "2")
