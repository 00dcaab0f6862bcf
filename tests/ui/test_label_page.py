"""The pair page on the real bridge with a real project: keys answer exactly the pair that was seen."""

from __future__ import annotations

import itertools
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt
from PySide6.QtGui import QAccessible, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from a3s_desktop.actions import ACTIONS
from a3s_desktop.core.types import Answer
from a3s_desktop.errors import StorageFailedError
from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui import image_loader, small_copies
from a3s_desktop.ui.finished_panel import FinishedPanel
from a3s_desktop.ui.image_pane import ImagePane
from a3s_desktop.ui.label_parts import AnswerButton, Banner, Legend
from a3s_desktop.ui.linked_panes import LinkedPanes
from a3s_desktop.ui.member_strip import MemberStrip
from a3s_desktop.ui.pair_area import PairArea
from a3s_desktop.ui.theme import apply_theme
from tests.ui.pair_project import Desk, make_desk, make_project

KEYS = {
    Answer.SAME: Qt.Key.Key_F,
    Answer.DIFFERENT: Qt.Key.Key_J,
    Answer.SKIP: Qt.Key.Key_Space,
    Answer.INCOMPARABLE: Qt.Key.Key_N,
    Answer.JUNK_LEFT: Qt.Key.Key_Z,
    Answer.JUNK_RIGHT: Qt.Key.Key_X,
    Answer.JUNK_BOTH: Qt.Key.Key_C,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("pair"))


@pytest.fixture
def project(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "project")
    return tmp_path / "project"


@pytest.fixture
def desk(qtbot: QtBot) -> Iterator[Desk]:
    desk = make_desk(qtbot)
    yield desk
    desk.close()


def panes(desk: Desk) -> tuple[ImagePane, ImagePane]:
    left, right = desk.page.findChild(PairArea).columns
    return left.pane, right.pane


def press(desk: Desk, key: Qt.Key) -> None:
    QTest.keyClick(desk.page, key)


def answers(desk: Desk) -> tuple[int, int]:
    assert desk.bridge.state is not None
    return desk.bridge.state.answers, desk.bridge.state.skipped


def test_the_first_pair_is_shown(desk: Desk, project: Path) -> None:
    desk.open(project)
    question, items = desk.page.question, desk.bridge.items
    assert question is not None
    assert items is not None
    left, right = panes(desk)
    assert (left.path, right.path) == (items.file(question.left), items.file(question.right))
    assert left.has_image
    assert right.has_image
    assert left.fit_box() == right.fit_box(), "what is decoded ahead fits either side"
    column = desk.page.findChild(PairArea).left
    assert str(question.left_size) in column.title.text or question.left_size == 1
    assert [m.item for m in column.strip.members] == list(question.left_strip)


@pytest.mark.parametrize("answer", list(Answer))
def test_each_key_answers_once_and_the_next_pair_follows(desk: Desk, project: Path, answer: Answer) -> None:
    desk.open(project)
    before = desk.page.question
    press(desk, KEYS[answer])
    assert not desk.page.ready
    press(desk, KEYS[answer])  # the pair on screen is not a new one yet
    desk.until(desk.waits)
    state = desk.bridge.state
    assert state is not None
    counts = (state.same, state.different, state.skipped, state.incomparable, state.junk)
    assert before is not None
    assert (
        counts
        == {
            Answer.SAME: (1, 0, 0, 0, 0),
            Answer.DIFFERENT: (0, 1, 0, 0, 0),
            Answer.SKIP: (0, 0, 1, 0, 0),
            Answer.INCOMPARABLE: (0, 0, 0, 1, 0),
            Answer.JUNK_LEFT: (0, 0, 0, 0, 1),
            Answer.JUNK_RIGHT: (0, 0, 0, 0, 1),
            Answer.JUNK_BOTH: (0, 0, 0, 0, 2),
        }[answer]
    )
    assert set(answer.junked(before.left, before.right)) == {int(i) for i in state.is_junk.nonzero()[0]}
    assert desk.page.question is not None
    assert desk.page.question.id != before.id


def test_undo_and_redo_by_key_bring_the_pairs_back(desk: Desk, project: Path) -> None:
    desk.open(project)
    seen = []
    for _ in range(3):
        question = desk.page.question
        assert question is not None
        seen.append((question.left, question.right))
        press(desk, KEYS[desk.truth()])
        desk.until(desk.waits)
    for expected in reversed(seen):
        desk.shortcuts.action("edit.undo").setEnabled(True)
        press(desk, Qt.Key.Key_U)
        desk.until(lambda: not desk.page.ready)
        desk.until(desk.waits)
        question = desk.page.question
        assert question is not None
        assert (question.left, question.right) == expected
    assert answers(desk) == (0, 0)


def test_no_key_counts_before_both_images_are_painted(
    desk: Desk, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, real = threading.Event(), small_copies.decode

    def held(path: Path, box: QSize) -> object:
        gate.wait(10)
        return real(path, box)

    monkeypatch.setattr(small_copies, "decode", held)
    desk.bridge.open(project, False)
    desk.until(lambda: desk.page.question is not None)
    desk.qtbot.wait(80)
    for key in KEYS.values():
        press(desk, key)
    desk.qtbot.wait(30)
    assert answers(desk) == (0, 0)
    assert not desk.page.ready
    gate.set()
    desk.until(desk.waits)
    press(desk, Qt.Key.Key_F)
    desk.until(lambda: answers(desk) == (1, 0))
    desk.until(desk.waits)


def test_a_double_tap_counts_once(qtbot: QtBot, project: Path) -> None:
    store = SettingsStore()
    store.change(settle_ms=400)
    desk = make_desk(qtbot, store)
    try:
        desk.open(project)
        question = desk.page.question
        press(desk, Qt.Key.Key_F)
        desk.until(lambda: desk.bridge.can_answer and desk.page.question != question)
        press(desk, Qt.Key.Key_F)  # the new pair is painted, but only just
        desk.qtbot.wait(50)
        assert answers(desk) == (1, 0)
        desk.until(desk.waits)
    finally:
        desk.close()


def test_a_held_key_counts_once(desk: Desk, project: Path) -> None:
    desk.open(project)
    QTest.keyPress(desk.page, Qt.Key.Key_F)
    for _ in range(20):
        event = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_F, Qt.KeyboardModifier.NoModifier, "f", True)
        QApplication.sendEvent(desk.page, event)
        desk.qtbot.wait(15)
    assert answers(desk) == (1, 0)


def test_typing_does_not_answer(desk: Desk, project: Path) -> None:
    desk.open(project)
    field = QLineEdit(desk.page)
    field.show()
    field.setFocus()
    QTest.keyClicks(field, "fj u")
    desk.qtbot.wait(20)
    assert field.text() == "fj u"
    assert answers(desk) == (0, 0)


def test_no_button_beside_the_pair_takes_the_focus(desk: Desk, project: Path) -> None:
    desk.open(project)
    finished = desk.page.findChild(FinishedPanel)
    for widget in desk.page.findChildren(QWidget):
        if not finished.isAncestorOf(widget):
            assert widget.focusPolicy() == Qt.FocusPolicy.NoFocus, widget
    QTest.keyClick(desk.page, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is desk.page


def test_a_double_click_on_a_button_answers_once(desk: Desk, project: Path) -> None:
    desk.open(project)
    button = next(b for b in desk.page.findChildren(AnswerButton) if b.text() == "Same")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    desk.until(lambda: answers(desk) == (1, 0))
    desk.until(desk.waits)
    QTest.mouseDClick(button, Qt.MouseButton.LeftButton)  # press, release, and the second press of a double click
    desk.qtbot.wait(50)
    assert answers(desk)[0] <= 2
    desk.until(desk.waits)


def test_buttons_do_not_blink_between_pairs(desk: Desk, project: Path) -> None:
    desk.open(project)
    buttons = desk.page.findChildren(AnswerButton)
    press(desk, Qt.Key.Key_F)
    assert not desk.page.ready
    assert all(button.isEnabled() for button in buttons)
    desk.until(desk.waits)


def test_look_ahead_is_decoded_before_the_answer(desk: Desk, project: Path) -> None:
    got: list[tuple[int, ...]] = []
    desk.bridge.prefetch.connect(got.append)
    desk.open(project)
    desk.until(lambda: bool(got))
    box, items = panes(desk)[0].fit_box(), desk.bridge.items
    assert items is not None
    desk.until(lambda: all(desk.loader.get(items.file(i), box) is not None for i in got[0]))
    shown = desk.page.question
    assert shown is not None
    press(desk, Qt.Key.Key_F)
    desk.until(desk.waits)
    question = desk.page.question
    assert question is not None
    assert {question.left, question.right} <= {*got[0], shown.left, shown.right}  # what is on screen is decoded, too


def test_a_missing_and_a_broken_image_are_placeholders_and_can_be_answered(desk: Desk, project: Path) -> None:
    desk.open(project)
    question, items = desk.page.question, desk.bridge.items
    assert question is not None
    assert items is not None
    desk.bridge.close_project()
    moved = project.parent / "images"
    shutil.copytree(items.root, moved)
    (moved / items.paths[question.left]).write_bytes(b"")
    (moved / items.paths[question.right]).unlink()
    desk.loader.clear()
    text = (project / "project.json").read_text(encoding="utf-8")
    assert str(items.root) in text
    (project / "project.json").write_text(text.replace(str(items.root), str(moved)), encoding="utf-8")
    desk.open(project)
    left, right = panes(desk)
    assert (left.has_image, right.has_image) == (False, False)
    assert "empty" in left.reason
    assert "missing" in right.reason
    press(desk, Qt.Key.Key_Space)
    desk.until(lambda: answers(desk) == (0, 1))
    desk.until(desk.waits)


def test_a_failure_is_said_and_the_same_pair_stays(desk: Desk, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.open(project)
    question = desk.page.question
    room = desk.bridge._room

    def full(*_args: object) -> None:
        raise StorageFailedError("The disk is full.", "Free some space and answer again.")

    with monkeypatch.context() as patch:
        patch.setattr(room, "answer", full)
        press(desk, Qt.Key.Key_F)
        desk.until(lambda: bool(desk.errors))
    banner = desk.page.findChild(Banner)
    assert "disk is full" in banner.text
    assert desk.page.question == question
    desk.until(desk.waits)
    press(desk, Qt.Key.Key_F)
    desk.until(lambda: answers(desk) == (1, 0))
    desk.until(desk.waits)
    assert banner.text == ""


def test_read_only_is_said_and_takes_no_answer(desk: Desk, project: Path) -> None:
    desk.open(project, read_only=True)
    desk.until(lambda: all(pane.has_image for pane in panes(desk)))
    desk.qtbot.wait(100)
    assert "Read-only" in desk.page.findChild(Banner).text
    press(desk, Qt.Key.Key_F)
    desk.qtbot.wait(30)
    assert answers(desk) == (0, 0)
    assert not desk.page.ready


def test_answered_to_the_end(desk: Desk, project: Path) -> None:
    desk.open(project)
    for _ in range(400):
        if desk.bridge.phase == "finished":
            break
        press(desk, KEYS[desk.truth()])
        desk.until(lambda: not desk.page.ready)
        desk.until(desk.waits)
    panel = desk.page.findChild(FinishedPanel)
    assert panel.isVisible()
    assert "Nothing left to ask" in panel.text
    assert "36 images" in panel.text
    assert not desk.page.findChild(Legend).isVisible()
    for signal, button in (
        (desk.page.exportWanted, panel.export_button),
        (desk.page.clustersWanted, panel.clusters_button),
    ):
        with desk.qtbot.waitSignal(signal):
            QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    press(desk, Qt.Key.Key_F)
    QTest.mouseClick(panel.undo_button, Qt.MouseButton.LeftButton)
    desk.until(lambda: desk.page.ready)
    assert not panel.isVisible()
    assert QApplication.focusWidget() is desk.page


def test_a_member_is_compared_and_left_again(desk: Desk, project: Path) -> None:
    desk.open(project)
    area = desk.page.findChild(PairArea)
    column = next((c for c in area.columns if c.strip.fitting()), None)
    assert column is not None
    own = column.pane.path
    member = column.strip.members[0]
    QTest.mouseClick(column.strip, Qt.MouseButton.LeftButton, pos=column.strip.cell(0).center())
    assert column.pane.path == member.path
    desk.until(lambda: column.pane.has_image)
    assert desk.page.ready, "the pair was seen; it can be answered while comparing"
    press(desk, Qt.Key.Key_Escape)
    assert column.pane.path == own
    QTest.mouseClick(column.strip, Qt.MouseButton.LeftButton, pos=column.strip.cell(0).center())
    QTest.mouseClick(column.strip, Qt.MouseButton.LeftButton, pos=column.strip.cell(0).center())
    assert column.pane.path == own


def test_wheel_and_drag_move_both_images(desk: Desk, project: Path) -> None:
    desk.open(project)
    left, right = panes(desk)
    linked = desk.page.findChild(LinkedPanes)
    for _ in range(6):
        left.wheelZoomed.emit(1.25, QPointF(left.width() / 4, left.height() / 3))
    views = [linked.link.shown(i, pane.frame()) for i, pane in enumerate((left, right))]
    assert views[0].zoom == views[1].zoom > 3
    QTest.mousePress(right, Qt.MouseButton.LeftButton, pos=QPoint(200, 100))
    QTest.mouseMove(right, QPoint(150, 90))
    QTest.mouseRelease(right, Qt.MouseButton.LeftButton, pos=QPoint(150, 90))
    press(desk, Qt.Key.Key_L)
    assert desk.settings.value.linked is False
    before = linked.link.shown(0, left.frame())
    right.wheelZoomed.emit(1.25, QPointF(10, 10))
    assert linked.link.shown(0, left.frame()) == before
    press(desk, Qt.Key.Key_0)
    assert linked.link.shown(1, right.frame()).zoom == 1.0
    assert answers(desk) == (0, 0)


def test_the_legend_lists_the_user_s_keys_and_hides(desk: Desk, project: Path) -> None:
    desk.open(project)
    legend = desk.page.findChild(Legend)
    assert (("F", "←"), "same") in legend.entries
    assert legend.isVisible()
    QTest.keyClicks(desk.page, "?")
    assert not legend.isVisible()
    assert desk.settings.value.legend is False
    desk.settings.change(keys={"answer.same": ("S",)})
    desk.shortcuts.rebind()
    assert (("S",), "same") in legend.entries


def test_nothing_is_left_of_a_closed_project(desk: Desk, project: Path) -> None:
    desk.open(project)
    desk.bridge.close_project()
    assert desk.page.question is None
    assert all(pane.path is None for pane in panes(desk))
    assert all(not strip.members for strip in desk.page.findChildren(MemberStrip))
    assert not desk.page.ready


def test_what_screen_readers_hear(desk: Desk, project: Path) -> None:
    desk.open(project)
    left, _ = panes(desk)
    named = [left, desk.page, *desk.page.findChildren(MemberStrip), *desk.page.findChildren(QAbstractButton)]
    for widget in named:
        interface = QAccessible.queryAccessibleInterface(widget)
        assert interface.text(QAccessible.Text.Name), widget
    assert left.caption in QAccessible.queryAccessibleInterface(left).text(QAccessible.Text.Name)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_it_is_drawn_in_both_themes(desk: Desk, project: Path, qapp: QApplication, mode: str) -> None:
    desk.open(project)
    theme = apply_theme(qapp, mode)
    desk.qtbot.wait(30)
    image = desk.window.grab().toImage()
    # A point of the page's rim beside the images, and one of the head.
    area = desk.page.findChild(PairArea)
    area.stop_flash()
    corner = area.mapTo(desk.window, QPoint(4, area.height() // 2))
    assert image.pixelColor(corner).name() == theme.window.lower()
    apply_theme(qapp, "light")


def test_a_name_with_markup_is_text(qtbot: QtBot) -> None:
    loader = image_loader.ImageLoader()
    holder = QWidget()
    layout = QVBoxLayout(holder)
    pane = ImagePane(loader)
    layout.addWidget(pane)
    qtbot.addWidget(holder)
    holder.resize(300, 300)
    pane.set_image(Path("/nowhere/x.jpg"), "<b>x</b>" * 100, 3)
    with qtbot.waitSignal(pane.painted) as got:
        holder.show()
    assert got.args == [3]
    assert pane.reason == "The file is missing."
    assert SimpleNamespace(caption=pane.caption).caption.startswith("<b>")
    loader.shutdown()


def test_no_answer_is_cut_on_a_narrow_page(desk: Desk, project: Path) -> None:
    desk.open(project)
    page = desk.page
    buttons, legend = page.findChildren(AnswerButton), page.findChild(Legend)
    for width in (1200, 620, 1200, 860):
        desk.window.resize(width, 700)
        desk.qtbot.wait(30)
        assert all(button.width() >= button.sizeHint().width() for button in buttons), width
        assert legend.height() == legend.heightForWidth(legend.width()), width
        assert not any(button.visibleRegion().isEmpty() for button in buttons), width


def test_every_answer_has_a_button_and_words_at_any_width(desk: Desk, project: Path) -> None:
    """Where the page is too narrow for the words of the rarer answers, the legend has them."""
    desk.open(project)
    legend = desk.page.findChild(Legend)
    names = {spec.id for spec in ACTIONS if spec.id.startswith("answer.")}
    for width in (1500, 700):
        desk.window.resize(width, 700)
        desk.qtbot.wait(30)
        buttons = desk.page.findChildren(AnswerButton)
        assert len(buttons) == len(names) == 7
        assert all(button.isVisible() and button.accessibleName() for button in buttons)
        shown = {button.text() for button in buttons if button.text()} | {text for _, text in legend.entries}
        expected = {"Not comparable", "Junk both"} if width > 1000 else {"not comparable", "junk left, right, both"}
        assert expected <= shown
        rows = sorted((button.x(), button.x() + button.width()) for button in buttons)
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(rows))
