"""Comparing on the real pair page: every way of looking, by key, and nothing of it touches files or answers."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from a3s_desktop.actions import Scope
from a3s_desktop.ui.adjustments import Adjustments, Orientation
from a3s_desktop.ui.compare import Compare
from a3s_desktop.ui.compare_stage import CompareStage, Mode
from a3s_desktop.ui.image_pane import ImagePane
from a3s_desktop.ui.linked_panes import LinkedPanes
from a3s_desktop.ui.pair_area import PairArea
from tests.ui.pair_project import Desk, make_desk, make_project

SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("compare"))


@pytest.fixture
def desk(qtbot: QtBot, made: Path, tmp_path: Path) -> Iterator[Desk]:
    shutil.copytree(made, tmp_path / "project")
    desk = make_desk(qtbot)
    desk.open(tmp_path / "project")
    yield desk
    desk.close()


def press(desk: Desk, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(desk.page, key, modifiers)


def panes(desk: Desk) -> tuple[ImagePane, ImagePane]:
    area = desk.page.findChild(PairArea)
    return area.left.pane, area.right.pane


def stage(desk: Desk) -> CompareStage:
    return desk.page.findChild(CompareStage)


def compare(desk: Desk) -> Compare:
    return desk.page.findChild(Compare)


def middle(widget: QWidget, at: QPoint | None = None) -> QColor:
    image = widget.grab().toImage()
    point = at or QPoint(image.width() // 2, image.height() // 2)
    return image.pixelColor(point)


def near(a: QColor, b: QColor, tolerance: int = 12) -> bool:
    return all(abs(x - y) <= tolerance for x, y in zip(a.getRgb()[:3], b.getRgb()[:3], strict=True))


def different_pair(desk: Desk) -> None:
    """Go on to a pair of two individuals: they are drawn in different colours."""
    for _ in range(60):
        question, items = desk.page.question, desk.bridge.items
        assert question is not None
        assert items is not None
        if items.name(question.left)[0] != items.name(question.right)[0]:
            return
        press(desk, Qt.Key.Key_F)
        desk.until(lambda: not desk.page.ready)
        desk.until(desk.waits)
    raise AssertionError("no such pair")


def lower(pane: QWidget) -> QPoint:
    """A point of the plain ground of the drawn images, below badge and text."""
    return QPoint(pane.width() // 2, pane.height() // 2 + 40)


def next_pair(desk: Desk) -> None:
    press(desk, Qt.Key.Key_Space)
    desk.until(lambda: not desk.page.ready)
    desk.until(desk.waits)


# In one place


@pytest.mark.parametrize(
    ("key", "mode"),
    [(Qt.Key.Key_O, Mode.OVERLAY), (Qt.Key.Key_S, Mode.SPLIT), (Qt.Key.Key_D, Mode.DIFFERENCE)],
)
def test_a_key_shows_both_in_one_place_and_the_same_key_goes_back(desk: Desk, key: Qt.Key, mode: Mode) -> None:
    press(desk, key)
    assert stage(desk).mode is mode
    assert stage(desk).isVisible()
    press(desk, key)
    assert stage(desk).mode is Mode.SIDES
    assert not stage(desk).isVisible()
    press(desk, key)
    press(desk, Qt.Key.Key_Escape)
    assert stage(desk).mode is Mode.SIDES


def test_one_way_of_showing_ends_the_other(desk: Desk) -> None:
    press(desk, Qt.Key.Key_O)
    press(desk, Qt.Key.Key_S)
    checked = [n for n in ("overlay", "split", "difference") if desk.shortcuts.action(f"compare.{n}").isChecked()]
    assert (stage(desk).mode, checked) == (Mode.SPLIT, ["split"])


def test_overlay_mixes_the_images_by_the_amount(desk: Desk) -> None:
    different_pair(desk)
    left, right = panes(desk)
    a, b = middle(left, lower(left)), middle(right, lower(right))
    assert not near(a, b)
    press(desk, Qt.Key.Key_O)
    shown = stage(desk)
    desk.until(lambda: all(p.has_image for p in panes(desk)))
    half = QColor(*((x + y) // 2 for x, y in zip(a.getRgb()[:3], b.getRgb()[:3], strict=True)))
    assert near(middle(shown, lower(shown)), half)
    for _ in range(12):
        press(desk, Qt.Key.Key_Down)
    assert shown.amount == 0
    assert near(middle(shown, lower(shown)), a)
    for _ in range(30):
        press(desk, Qt.Key.Key_Up)
    assert shown.amount == 1
    assert near(middle(shown, lower(shown)), b)


def test_split_shows_each_image_on_its_side_of_the_line(desk: Desk) -> None:
    different_pair(desk)
    left, right = panes(desk)
    a, b = middle(left, lower(left)), middle(right, lower(right))
    press(desk, Qt.Key.Key_S)
    shown = stage(desk)
    beside = QPoint(40, 0)
    assert near(middle(shown, lower(shown) - beside), a)
    assert near(middle(shown, lower(shown) + beside), b)
    line = QPoint(shown.width() // 2, shown.height() - 40)
    QTest.mousePress(shown, Qt.MouseButton.LeftButton, pos=line)
    QTest.mouseMove(shown, line + QPoint(80, 0))
    QTest.mouseRelease(shown, Qt.MouseButton.LeftButton, pos=line + QPoint(80, 0))
    assert shown.amount > 0.5
    assert near(middle(shown, lower(shown) + beside), a)


def test_difference_is_black_for_one_image_with_itself(desk: Desk) -> None:
    different_pair(desk)
    left, right = panes(desk)
    other = right.path
    right.set_image(left.path, "", left.number)
    press(desk, Qt.Key.Key_D)
    shown = stage(desk)
    desk.until(lambda: near(middle(shown, lower(shown)), QColor("black"), 2))
    right.set_image(other, "", left.number)
    desk.until(lambda: not near(middle(shown, lower(shown)), QColor("black"), 20))


@pytest.mark.parametrize("key", [Qt.Key.Key_O, Qt.Key.Key_S, Qt.Key.Key_D])
def test_answers_are_taken_once_the_stage_has_painted_the_next_pair(desk: Desk, key: Qt.Key) -> None:
    press(desk, key)
    mode, first = stage(desk).mode, desk.page.question
    for _ in range(3):
        next_pair(desk)
    assert stage(desk).mode is mode, "the way of showing stays"
    assert desk.page.question != first
    press(desk, Qt.Key.Key_Escape)
    assert desk.page.ready


def test_each_pair_begins_half_and_half(desk: Desk) -> None:
    press(desk, Qt.Key.Key_O)
    for _ in range(20):
        press(desk, Qt.Key.Key_Down)
    next_pair(desk)
    assert stage(desk).amount == 0.5


def test_zoom_and_drag_on_the_stage_move_both_and_unlinked_the_right_image(desk: Desk) -> None:
    press(desk, Qt.Key.Key_O)
    link = desk.page.findChild(LinkedPanes).link
    left, right = panes(desk)
    shown = stage(desk)
    for _ in range(5):
        shown.wheelZoomed.emit(1.25, QPointF(30, 40))
    assert link.shown(0, left.frame()).zoom == link.shown(1, right.frame()).zoom > 2
    press(desk, Qt.Key.Key_L)
    before = link.shown(0, left.frame()), link.shown(1, right.frame())
    shown.dragged.emit(QPointF(25, 0))
    assert link.shown(0, left.frame()) == before[0]
    assert link.shown(1, right.frame()) != before[1]


def test_an_image_that_is_missing_says_so_on_the_stage(desk: Desk) -> None:
    left, right = panes(desk)
    right.set_image(Path("gone.jpg"), "gone.jpg", right.number, "The file is missing.")
    ground = middle(left, lower(left))
    for key in (Qt.Key.Key_O, Qt.Key.Key_S, Qt.Key.Key_D):
        with desk.qtbot.waitSignal(stage(desk).painted):
            press(desk, key)
        shown = stage(desk)
        assert near(middle(shown, lower(shown) - QPoint(30, 0)), ground), "what there is is shown"
    press(desk, Qt.Key.Key_Space)
    desk.until(desk.waits)


# Flip


def test_flip_lasts_while_the_key_is_held(desk: Desk) -> None:
    different_pair(desk)
    left, right = panes(desk)
    a, b = middle(left, lower(left)), middle(right, lower(right))
    window = desk.window.windowHandle()
    QTest.keyPress(window, Qt.Key.Key_V)
    assert near(middle(left, lower(left)), b)
    assert near(middle(right, lower(right)), a)
    QTest.keyRelease(window, Qt.Key.Key_V)
    desk.until(lambda: near(middle(left, lower(left)), a))
    assert near(middle(right, lower(right)), b)


def test_flip_shows_the_same_relative_place(desk: Desk) -> None:
    left, right = panes(desk)
    for _ in range(6):
        left.wheelZoomed.emit(1.25, QPointF(left.width() / 4, left.height() / 3))
    theirs = right.grab(QRect(20, 60, 100, 100)).toImage()
    desk.shortcuts.action("compare.flip").trigger()  # by the mouse: until it is chosen again
    assert left.grab(QRect(20, 60, 100, 100)).toImage() == theirs
    desk.shortcuts.action("compare.flip").trigger()
    assert left.grab(QRect(20, 60, 100, 100)).toImage() != theirs


def test_a_flip_does_not_last_over_an_answer(desk: Desk) -> None:
    desk.shortcuts.action("compare.flip").trigger()
    next_pair(desk)
    left, _ = panes(desk)
    own = left.grab().toImage()
    desk.shortcuts.action("compare.flip").trigger()
    desk.shortcuts.action("compare.flip").trigger()
    assert left.grab().toImage() == own


# Turning


def test_turned_and_mirrored_images_keep_what_is_in_the_middle(desk: Desk) -> None:
    left, right = panes(desk)
    link = desk.page.findChild(LinkedPanes).link
    for _ in range(6):
        left.wheelZoomed.emit(1.25, QPointF(left.width() / 4, left.height() / 3))
    wide = (left.source.size.width(), left.source.size.height())
    x, y = link.wanted[0].x, link.wanted[0].y
    theirs = link.wanted[1]
    press(desk, Qt.Key.Key_E)
    assert left.source.orientation == Orientation(1)
    assert (left.source.size.height(), left.source.size.width()) == wide
    assert (link.wanted[0].x, link.wanted[0].y) == pytest.approx((1 - y, x))
    assert link.wanted[1] == theirs
    press(desk, Qt.Key.Key_E, SHIFT)
    assert (link.wanted[0].x, link.wanted[0].y) == pytest.approx((y, x))
    assert "turned 90°" in left.note
    assert "mirrored" in left.note
    assert right.note == ""
    left.dragged.emit(QPointF(-20, 0))
    assert link.wanted[1] != theirs, "they still move together"
    press(desk, Qt.Key.Key_W)
    assert left.source.orientation == Orientation()
    assert left.note == ""


def test_turning_ends_with_the_pair(desk: Desk) -> None:
    press(desk, Qt.Key.Key_R)
    press(desk, Qt.Key.Key_E, SHIFT)
    next_pair(desk)
    assert all(pane.source.orientation == Orientation() and pane.note == "" for pane in panes(desk))
    assert all(pane.source.size.width() in (240, 320) for pane in panes(desk))


def test_four_turns_are_none(desk: Desk) -> None:
    _, right = panes(desk)
    before = right.grab().toImage()
    for _ in range(4):
        press(desk, Qt.Key.Key_R)
    desk.until(lambda: right.grab().toImage() == before)


# Tones


def test_tones_stay_from_pair_to_pair_are_marked_and_one_key_ends_them(desk: Desk) -> None:
    left, right = panes(desk)
    plain = middle(left, lower(left))
    for _ in range(3):
        press(desk, Qt.Key.Key_B)
    press(desk, Qt.Key.Key_K, SHIFT)
    press(desk, Qt.Key.Key_G)
    press(desk, Qt.Key.Key_Q)
    press(desk, Qt.Key.Key_Q)
    assert compare(desk).adjustments == Adjustments(30, -10, 10)
    desk.until(lambda: not near(middle(left, lower(left)), plain))
    next_pair(desk)
    assert compare(desk).adjustments == Adjustments(30, -10, 10)
    for pane in panes(desk):
        assert pane.has_image
        assert "tones changed" in pane.note
        assert "W" in pane.note
        assert pane.source.image.pixelColor(3, 3) != desk.loader.best(pane.path).pixelColor(3, 3)
    press(desk, Qt.Key.Key_W)
    assert compare(desk).adjustments == Adjustments()
    assert (left.note, right.note) == ("", "")
    assert left.source.image.pixelColor(3, 3) == desk.loader.best(left.path).pixelColor(3, 3)


def test_sliders_and_keys_say_the_same(desk: Desk) -> None:
    press(desk, Qt.Key.Key_A)
    tones = desk.page.findChild(PairArea).tones
    assert tones.isVisible()
    press(desk, Qt.Key.Key_B)
    sliders = tones.sliders
    assert sliders["brightness"].value() == 10
    sliders["contrast"].setValue(40)
    assert compare(desk).adjustments == Adjustments(10, 40)
    assert all(s.focusPolicy() == Qt.FocusPolicy.NoFocus for s in sliders.values())
    press(desk, Qt.Key.Key_A)
    assert not tones.isVisible()
    assert compare(desk).adjustments == Adjustments(10, 40)


def test_looking_changes_neither_files_nor_answers(desk: Desk) -> None:
    items, state = desk.bridge.items, desk.bridge.state
    assert items is not None

    def prints() -> list[str]:
        return [hashlib.sha256(items.file(i).read_bytes()).hexdigest() for i in range(len(items))]

    before = prints()
    for action in desk.shortcuts.actions(Scope.PAIR):
        if action.objectName().startswith(("view.", "compare.")):
            action.trigger()
            desk.qtbot.wait(5)
    assert prints() == before
    assert desk.bridge.state == state


# Facts, blind mode


def test_facts_of_the_files_are_shown_on_demand_for_every_pair(desk: Desk) -> None:
    left, right = panes(desk)
    assert left.facts == ()
    press(desk, Qt.Key.Key_I)
    desk.until(lambda: bool(left.facts and right.facts))
    for _ in range(2):
        for pane in (left, right):
            assert pane.path is not None
            text = "\n".join(pane.facts)
            assert pane.path.name in text
            assert f"{pane.source.size.width()} × {pane.source.size.height()}" in text
            assert "kB" in text or "bytes" in text
            assert "file of 20" in text
        next_pair(desk)
        desk.until(lambda: bool(left.facts and right.facts))
    press(desk, Qt.Key.Key_I)
    assert (left.facts, right.facts) == ((), ())


def test_scores_are_hidden_until_they_are_asked_for(desk: Desk) -> None:
    def words() -> str:
        return " ".join(label.text() for label in desk.page.findChildren(QLabel))

    assert desk.settings.value.blind
    assert "%" not in words()
    QTest.keyClick(desk.page, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    assert not desk.settings.value.blind
    assert "%" in words()


# Nothing jumps


@pytest.mark.parametrize("width", [880, 1280])
def test_nothing_jumps_between_pairs(qtbot: QtBot, tmp_path: Path, width: int) -> None:
    """Names of 1 to 200 characters, images of many sizes, missing ones: every widget stays where it is."""
    project = make_project(tmp_path, motley=True)
    desk = make_desk(qtbot)
    desk.window.resize(width, 720)
    try:
        desk.open(project)
        area = desk.page.findChild(PairArea)
        press(desk, Qt.Key.Key_I)

        def places() -> list[tuple[str, QRect]]:
            found = [w for w in desk.page.findChildren(QWidget) if w.isVisible() and w is not area.tones]
            return [(type(w).__name__, QRect(w.mapTo(desk.page, QPoint()), w.size())) for w in found]

        next_pair(desk)
        before, seen = places(), set()
        for number in range(25):
            question = desk.page.question
            assert question is not None
            seen |= {question.left, question.right}
            if number % 6 == 0:
                press(desk, Qt.Key.Key_B)
            next_pair(desk)
            if desk.bridge.phase == "finished":
                break
            assert places() == before
        assert len(seen) > 10
    finally:
        desk.close()


# Whole photos


def test_parts_of_photos_can_be_seen_in_their_photos(qtbot: QtBot, tmp_path: Path) -> None:
    project = make_project(tmp_path, parts=True)
    desk = make_desk(qtbot)
    try:
        desk.open(project)
        left, right = panes(desk)
        question, items = desk.page.question, desk.bridge.items
        assert question is not None
        assert items is not None
        part = items.part(question.left)
        assert part is not None
        own, size = left.path, left.source.size
        assert (size.width(), size.height()) == (part.width, part.height)
        left.wheelZoomed.emit(2.0, QPointF(5, 5))
        press(desk, Qt.Key.Key_P)
        desk.until(lambda: left.has_image and right.has_image)
        assert left.path == items.photo(question.left)
        assert left.source.size.width() > part.width
        frame, ratio = left.target(), left.devicePixelRatioF()
        assert frame is not None
        scale = frame[2] / left.source.size.width()
        edge = QPoint(
            round((frame[0] + (part.x + part.width / 3) * scale) / ratio), round((frame[1] + part.y * scale) / ratio)
        )
        assert near(middle(left, edge), QColor("#FFD479"), 60), "the part is marked"
        press(desk, Qt.Key.Key_P)
        assert left.path == own
        press(desk, Qt.Key.Key_P)
        next_pair(desk)
        assert not desk.shortcuts.action("compare.photo").isChecked(), "each pair begins with what is asked"
        assert desk.page.question is not None
        assert left.path == items.file(desk.page.question.left)
    finally:
        desk.close()


def test_whole_photos_are_not_offered_for_whole_images(desk: Desk) -> None:
    assert not desk.shortcuts.action("compare.photo").isEnabled()
