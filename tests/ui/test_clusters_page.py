"""The clusters page on the real window and a real session: look, select, correct, name, finish, undo; by keyboard."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.cluster_cards import CLUSTER_MIME
from a3s_desktop.ui.cluster_order import Kind, MemberOrder, Order
from a3s_desktop.ui.cluster_picker import ClusterPicker
from a3s_desktop.ui.clusters_page import ClustersPage, Mode
from a3s_desktop.ui.dialogs import MessageDialog
from a3s_desktop.ui.member_grid import dragged
from a3s_desktop.ui.merge_preview import MergePreview
from a3s_desktop.ui.program import Program
from tests.ui.pair_project import make_project

KEY = Qt.Key


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("clusters"))


class Desk:
    """The program on its clusters page."""

    def __init__(self, qtbot, settings: SettingsStore, folder: Path) -> None:
        self.qtbot = qtbot
        self.program = Program(settings, folder / "demos")
        self.window = self.program.window
        with qtbot.waitActive(self.window):
            self.program.show()
            self.window.activateWindow()

    @property
    def page(self) -> ClustersPage:
        return self.program.clusters_page

    @property
    def state(self):
        return self.program.bridge.state

    def until(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition, timeout=10_000)

    def open(self, project: Path) -> None:
        self.program.shell.open_project(project)
        self.until(lambda: self.program.bridge.state is not None and self.window.working)
        self.key(KEY.Key_L, Qt.KeyboardModifier.ControlModifier)
        self.until(lambda: bool(self.page.gallery.ids()) or not self.state.clusters + self.state.singletons)

    def key(self, key: Qt.Key, held=Qt.KeyboardModifier.NoModifier) -> None:
        """A key as the person presses it: to what has the focus."""
        self.window.activateWindow()
        self.until(self.window.isActiveWindow)
        QTest.keyClick(QApplication.focusWidget() or self.window, key, held)

    def does(self, act: Callable[[], object]) -> None:
        """Do something that changes the session, and wait until the page shows it."""
        before = self.state.revision
        act()
        self.until(lambda: self.state.revision > before)
        self.settle()

    def settle(self) -> None:
        self.until(lambda: not any(fetch.waiting for fetch in self.page._fetches.values()))

    def cluster(self, least: int = 3, unlike: tuple[int, ...] = ()) -> int:
        sizes = np.bincount(self.state.labels)
        return next(c for c in np.argsort(-sizes, kind="stable").tolist() if sizes[c] >= least and c not in unlike)

    def size(self, cluster: int) -> int:
        return int((self.state.labels == cluster).sum())

    def enter(self, cluster: int) -> None:
        self.page.open_cluster(cluster)
        self.until(lambda: self.page.pane.cluster == cluster)
        self.settle()

    def dialog(self, kind: type[QDialog]):
        def shown() -> list[QWidget]:
            return [w for w in QApplication.topLevelWidgets() if isinstance(w, kind) and w.isVisible()]

        self.until(lambda: bool(shown()))
        return shown()[-1]

    def enabled(self, name: str) -> bool:
        return self.program.shortcuts.action(name).isEnabled()


@pytest.fixture
def settings() -> SettingsStore:
    return SettingsStore(None)


@pytest.fixture
def start(qtbot, settings, tmp_path) -> Iterator[Callable[[], Desk]]:
    desks: list[Desk] = []

    def make() -> Desk:
        desks.append(Desk(qtbot, settings, tmp_path))
        return desks[-1]

    yield make
    for desk in desks:
        desk.program.shutdown()
    qtbot.wait(1)


@pytest.fixture
def project(original: Path, tmp_path: Path) -> Path:
    return shutil.copytree(original, tmp_path / "seals")


@pytest.fixture
def desk(start, project: Path) -> Desk:
    made = start()
    made.open(project)
    return made


# --- the gallery


def test_the_gallery_shows_every_cluster_once_largest_first(desk):
    ids = desk.page.gallery.ids()
    assert sorted(ids) == sorted(set(desk.state.labels.tolist()))
    sizes = [desk.size(c) for c in ids]
    assert sizes == sorted(sizes, reverse=True)


def test_orders_and_kinds(desk):
    gallery, largest = desk.page.gallery, desk.cluster()
    desk.does(lambda: desk.program.corrections.finish(largest))
    desk.does(lambda: desk.program.corrections.rename(desk.cluster(2, (largest,)), "Zoe 10"))
    desk.does(lambda: desk.program.corrections.rename(largest, "Zoe 9"))
    gallery.order.setCurrentIndex(list(Order).index(Order.NAME))
    assert [c.name for c in map(gallery._cards.cluster, range(2))] == ["Zoe 9", "Zoe 10"]
    gallery.order.setCurrentIndex(list(Order).index(Order.UNFINISHED))
    assert gallery.ids()[-1] == largest
    gallery.order.setCurrentIndex(list(Order).index(Order.DOUBT))
    doubts = [gallery._cards.cluster(row).doubt for row in range(len(gallery.ids()))]
    assert doubts == sorted(doubts, reverse=True)
    for kind, fits in (
        (Kind.NAMED, lambda c: bool(c.name)),
        (Kind.SINGLES, lambda c: c.size == 1),
        (Kind.UNFINISHED, lambda c: not c.finished),
        (Kind.GROUPS, lambda c: c.size > 1),
    ):
        gallery.kind.setCurrentIndex(list(Kind).index(kind))
        wanted = {c.id for c in gallery._table.clusters if fits(c)}
        assert set(gallery.ids()) == wanted
        assert wanted


def test_found_by_name_number_and_file(desk):
    gallery, cluster = desk.page.gallery, desk.cluster()
    desk.does(lambda: desk.program.corrections.rename(cluster, "Änne"))
    desk.key(KEY.Key_Slash)
    assert gallery.search.hasFocus()
    for text, wanted in (("ÄNN", {cluster}), (str(cluster), {cluster}), ("2-3.jpg", None), ("nothing like it", set())):
        gallery.search.setText(text)
        if wanted is None:
            item = next(i for i in range(36) if desk.program.bridge.items.name(i) == "2-3.jpg")
            wanted = {int(desk.state.labels[item])}
        desk.until(lambda wanted=wanted: set(gallery.ids()) == wanted)
    assert gallery._empty.isVisible()
    desk.key(KEY.Key_Escape)
    desk.until(lambda: len(gallery.ids()) > 5)


def test_letters_in_the_search_field_correct_nothing(desk):
    before = desk.state.revision
    desk.key(KEY.Key_Slash)
    for key in (KEY.Key_F, KEY.Key_X, KEY.Key_M, KEY.Key_U, KEY.Key_1, KEY.Key_Return):
        desk.key(key) if desk.page.gallery.search.hasFocus() else None
    assert desk.page.gallery.search.text() == "fxmu1"
    assert desk.state.revision == before
    assert desk.page.mode is Mode.ALL


def test_keys_belong_to_the_page_that_is_shown(desk):
    desk.enter(desk.cluster())
    answers = desk.state.answers
    desk.does(lambda: desk.key(KEY.Key_F))  # on the pair page this is the answer "same"
    assert desk.state.answers == answers
    assert desk.page.pane.cluster in desk.state.finished
    desk.key(KEY.Key_1, Qt.KeyboardModifier.AltModifier)
    desk.until(lambda: desk.program.label.ready)
    desk.does(lambda: desk.key(KEY.Key_F))
    assert desk.state.answers == answers + 1


def test_a_card_on_a_card_merges_with_a_preview(desk):
    gallery = desk.page.gallery
    first, second = gallery.ids()[1], gallery.ids()[0]
    sizes = desk.size(first), desk.size(second)
    _drop(gallery.grid, 0, _card(first))
    preview = desk.dialog(MergePreview)
    assert preview.sum.text() == f"{sizes[0]} + {sizes[1]} → {sum(sizes)} images"
    desk.does(preview.merge_button.click)
    assert max(np.bincount(desk.state.labels)) == sum(sizes)
    assert gallery.current().size == sum(sizes), "the keyboard is at the merged cluster"
    desk.does(lambda: desk.key(KEY.Key_U))
    assert {desk.size(first), desk.size(second)} == set(sizes)


def test_a_card_on_itself_does_nothing(desk):
    before = desk.state.revision
    _drop(desk.page.gallery.grid, 0, _card(desk.page.gallery.ids()[0]))
    desk.program.corrections.merge(3, 3)
    assert desk.window.statusBar().currentMessage() == "A cluster cannot be merged with itself."
    assert desk.state.revision == before


def test_two_selected_cards_merge_by_key(desk):
    gallery = desk.page.gallery
    gallery.grid.choose([0, 1], 1)
    desk.key(KEY.Key_M)
    desk.does(desk.dialog(MergePreview).merge_button.click)
    assert desk.state.undo_text == "Merge clusters"


# --- the open cluster


def test_return_opens_and_escape_goes_back_to_the_same_card(desk):
    gallery = desk.page.gallery
    gallery.grid.choose([2], 2)
    cluster = gallery.current().id
    desk.key(KEY.Key_Return)
    desk.until(lambda: desk.page.pane.cluster == cluster)
    desk.key(KEY.Key_Escape)
    desk.until(lambda: desk.page.mode is Mode.ALL and gallery.grid.hasFocus())
    assert gallery.current().id == cluster


def test_members_by_doubt_or_by_name(desk):
    desk.enter(desk.cluster())
    pane = desk.page.pane
    doubts = [doubt for _, doubt in pane.grid._members.rows]
    assert doubts == sorted(doubts, reverse=True)
    pane.order.setCurrentIndex(list(MemberOrder).index(MemberOrder.NAME))
    names = [desk.program.bridge.items.name(i) for i in pane.items]
    assert names == sorted(names)


def test_split_off_keeps_the_cluster_open_and_goes_on(desk):
    cluster = desk.cluster(4)
    desk.enter(cluster)
    grid = desk.page.pane.grid
    grid.choose([0, 1], 1)
    gone, third = set(grid.items[:2]), grid.items[2]
    desk.does(lambda: desk.key(KEY.Key_S))
    labels = desk.state.labels
    assert len({int(labels[i]) for i in gone}) == 1
    assert desk.page.pane.cluster == cluster
    assert not gone & set(grid.items)
    assert grid.chosen().tolist() == [third]
    assert "Split off 2 images" in desk.page.tools.last.toolTip()
    desk.does(desk.page.tools.undo.click)
    assert set(desk.page.pane.items) == set(np.flatnonzero(desk.state.labels == cluster).tolist()) >= gone


def test_the_mouse_draws_around_images_and_shift_extends(desk):
    desk.enter(desk.cluster(4))
    grid = desk.page.pane.grid
    place = [grid.visualRect(grid.model().index(row, 0)) for row in range(4)]
    port = grid.viewport()
    grid.choose([3], 3)
    QTest.mousePress(port, Qt.MouseButton.LeftButton, pos=place[0].center())
    QTest.mouseMove(port, place[0].center() + QPoint(30, 5))
    QTest.mouseMove(port, place[1].center())
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, pos=place[1].center())
    assert grid.chosen_rows() == [0, 1]
    QTest.mouseClick(port, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, place[3].center())
    assert grid.chosen_rows() == [0, 1, 3]
    QTest.mouseClick(port, Qt.MouseButton.LeftButton, pos=place[0].center())
    for _ in range(2):
        desk.key(KEY.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert grid.chosen_rows() == [0, 1, 2]
    desk.key(KEY.Key_Escape)
    assert len(grid.chosen_rows()) == 1
    assert desk.page.mode is Mode.CLUSTER


def test_take_out_one_by_one(desk):
    desk.enter(desk.cluster(4))
    desk.page.pane.grid.choose([0, 1], 0)
    out = desk.page.pane.grid.chosen().tolist()
    desk.does(lambda: desk.key(KEY.Key_E))
    assert [desk.size(int(desk.state.labels[i])) for i in out] == [1, 1]


def test_splitting_all_members_is_said_to_be_nothing(desk):
    desk.enter(desk.cluster())
    before = desk.state.revision
    desk.page.pane.grid.selectAll()
    desk.key(KEY.Key_S)
    dialog = desk.dialog(MessageDialog)
    assert "nothing would stay behind" in dialog.message.text()
    dialog.reject()
    assert desk.state.revision == before


def test_move_by_the_picker_with_the_keyboard(desk):
    first = desk.cluster()
    target = desk.cluster(2, (first,))
    desk.does(lambda: desk.program.corrections.rename(target, "Berta"))
    desk.enter(first)
    desk.page.pane.grid.choose([0], 0)
    item = desk.page.pane.grid.chosen().tolist()[0]
    desk.key(KEY.Key_T)
    picker = desk.dialog(ClusterPicker)
    QTest.keyClicks(picker.search, "ber")
    assert [row.cluster for row in picker.list.rows] == [target]
    desk.does(lambda: QTest.keyClick(picker.search, KEY.Key_Return))
    assert desk.state.labels[item] == target


def test_the_picker_begins_with_the_nearest(desk):
    cluster = desk.cluster()
    desk.enter(cluster)
    nearest = [row.cluster for row in desk.page.pane.near.rows]
    desk.key(KEY.Key_M)
    picker = desk.dialog(ClusterPicker)
    desk.until(lambda: [row.cluster for row in picker.list.rows][: len(nearest)] == nearest)
    assert cluster not in [row.cluster for row in picker.list.rows]
    QTest.keyClick(picker.search, KEY.Key_Down)
    assert picker.list.place == 1
    QTest.keyClick(picker.search, KEY.Key_Return)
    preview = desk.dialog(MergePreview)
    desk.does(lambda: QTest.keyClick(preview.merge_button, KEY.Key_Return))
    assert desk.state.undo_text == "Merge clusters"


def test_one_key_merges_with_the_nearest(desk):
    cluster = desk.cluster()
    desk.enter(cluster)
    near = desk.page.pane.near.marked()
    size = desk.size(cluster) + near.size
    desk.does(lambda: desk.key(KEY.Key_A))
    assert desk.size(desk.page.pane.cluster) == size


def test_large_consequences_ask_once(desk, settings):
    settings.change(confirm_from=2)
    desk.enter(desk.cluster(4))
    desk.page.pane.grid.choose([0, 1], 0)
    before = desk.state.revision
    desk.key(KEY.Key_X)
    desk.dialog(MessageDialog).reject()
    assert desk.state.revision == before
    desk.key(KEY.Key_X)
    dialog = desk.dialog(MessageDialog)
    desk.does(dialog.buttons["do"].click)
    assert desk.state.junk == 2


def test_images_dropped_on_a_near_cluster_move_there(desk):
    desk.enter(desk.cluster())
    near, item = desk.page.pane.near, desk.page.pane.items[0]
    target = near.rows[0].cluster
    desk.does(lambda: _drop(near, 0, dragged(np.array([item]))))
    assert desk.state.labels[item] == desk.state.labels[np.flatnonzero(desk.state.labels == target)[0]]


# --- names


def test_a_name_is_typed_in_its_place(desk):
    cluster = desk.cluster()
    desk.enter(cluster)
    desk.key(KEY.Key_N)
    assert desk.page.pane.editor.hasFocus()
    QTest.keyClicks(desk.page.pane.editor, "Fuxs 1")
    desk.does(lambda: desk.key(KEY.Key_Return))
    assert desk.state.names == {cluster: "Fuxs 1"}
    assert desk.page.pane.title.text() == "Fuxs 1"
    assert not desk.page.pane.editor.isVisible()
    desk.until(desk.page.pane.grid.hasFocus)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [("  A \n B\t", "A B"), ("ש\u202eלום", "שלום"), ("🐞 bug", "🐞 bug"), ("x" * 10_000, None), (" \n ", None)],
)
def test_names_of_all_kinds(desk, typed, kept):
    cluster = desk.cluster()
    desk.enter(cluster)
    desk.key(KEY.Key_N)
    editor = desk.page.pane.editor
    if kept is not None:
        editor.setText(typed)
        desk.does(lambda: desk.key(KEY.Key_Return))
        assert desk.state.names == {cluster: kept}
        return
    editor.setText(typed)
    desk.key(KEY.Key_Return)
    dialog = desk.dialog(MessageDialog)
    assert "10,000 characters" in dialog.message.text() or "at least one letter" in dialog.message.text()
    dialog.reject()
    assert desk.state.names == {}
    assert editor.isVisible(), "what was typed is not lost"


def test_a_name_that_another_cluster_has_proposes_the_merge(desk):
    first = desk.cluster()
    second = desk.cluster(2, (first,))
    desk.does(lambda: desk.program.corrections.rename(second, "Anna"))
    size = desk.size(first) + desk.size(second)
    desk.page.show_all()
    desk.until(lambda: first in desk.page.gallery.ids())
    desk.page.gallery.choose(first)
    desk.key(KEY.Key_F2)
    QTest.keyClicks(desk.page.editor, "aNNa ")
    desk.key(KEY.Key_Return)
    preview = desk.dialog(MergePreview)
    assert "named “Anna” already" in preview.remark.text()  # as it is written there
    desk.does(preview.merge_button.click)
    assert list(desk.state.names.values()) == ["Anna"]
    assert desk.size(next(iter(desk.state.names))) == size


# --- finished, single images, junk


def test_finish_and_reopen(desk):
    cluster = desk.cluster()
    desk.enter(cluster)
    desk.does(lambda: desk.key(KEY.Key_F))
    assert cluster in desk.state.finished
    assert desk.page.pane._seal.isVisible()
    desk.does(lambda: desk.key(KEY.Key_F))
    assert cluster not in desk.state.finished


def test_single_images_one_after_the_other(desk):
    desk.key(KEY.Key_2)
    desk.until(lambda: bool(desk.page.singles.list.rows))
    rows = desk.page.singles.list.rows
    assert {row.item for row in rows} == {i for i in range(36) if desk.size(int(desk.state.labels[i])) == 1}
    assert [row.likeness for row in rows] == sorted((row.likeness for row in rows), reverse=True)
    first, target = rows[0].item, rows[0].cover
    desk.does(lambda: desk.key(KEY.Key_A))
    assert desk.state.labels[first] == desk.state.labels[target]
    marked = desk.page.singles.list.marked()
    assert marked.item != first
    desk.key(KEY.Key_Space)
    after = desk.page.singles.list.marked()
    assert after.item != marked.item
    desk.does(lambda: desk.key(KEY.Key_F))
    assert int(desk.state.labels[after.item]) in desk.state.finished
    assert after.item not in [row.item for row in desk.page.singles.list.rows]


def test_junk_and_back(desk):
    desk.enter(desk.cluster())
    item = desk.page.pane.items[0]
    desk.page.pane.grid.choose([0], 0)
    desk.does(lambda: desk.key(KEY.Key_Delete))
    assert desk.state.is_junk[item]
    desk.key(KEY.Key_3)
    assert desk.page.pane.items == (item,)
    desk.page.pane.grid.choose([0], 0)
    desk.does(lambda: desk.key(KEY.Key_R))
    assert not desk.state.junk
    assert desk.page.pane._empty.text() == "No image is junk."
    assert desk.page.pane._empty.isVisible()


def test_all_images_junk(desk, settings):
    settings.change(confirm_from=0)
    desk.does(lambda: desk.program.corrections.junk(tuple(range(36))))
    desk.until(lambda: not desk.page.gallery.ids())
    assert desk.page.gallery._empty.text() == "There are no clusters: all images are junk."
    desk.key(KEY.Key_2)
    desk.settle()
    assert desk.page.singles.count.text() == "No single image is left to look at."
    desk.does(lambda: desk.key(KEY.Key_U))
    assert desk.state.junk == 0


def test_a_cluster_that_goes_while_it_is_open_closes(desk, settings):
    settings.change(confirm_from=0)
    cluster = desk.cluster()
    desk.enter(cluster)
    desk.page.pane.grid.selectAll()
    desk.does(lambda: desk.key(KEY.Key_X))
    desk.until(lambda: desk.page.mode is Mode.ALL)
    assert cluster not in desk.page.gallery.ids()


def test_images_of_the_map_are_opened_together(desk):
    items = tuple(range(0, 36, 5))
    desk.program.map_panel.selectionActed.emit("open", items)
    desk.until(lambda: set(desk.page.pane.items) == set(items))
    desk.page.pane.grid.selectAll()
    desk.does(lambda: desk.key(KEY.Key_S))
    assert len({int(desk.state.labels[i]) for i in items}) == 1
    before = desk.page.mode
    desk.program.map_panel.selectionActed.emit("open", ())
    assert desk.page.mode is before


@pytest.mark.qt_log_ignore("device not open", "Not a JPEG file")  # what Qt says where one goes while it is opened
def test_images_that_vanish_while_they_are_shown(desk, project):
    root = Path(desk.program.bridge.items.root)
    hidden = root.with_name("hidden images")
    root.rename(hidden)
    try:
        desk.program.loader.clear()
        desk.enter(desk.cluster())
        desk.page.pane.grid.choose([0], 0)
        desk.until(lambda: bool(desk.program.loader._failures))
        desk.does(lambda: desk.key(KEY.Key_S))
        assert desk.state.undo_text == "Split off 1 image"
    finally:
        hidden.rename(root)


def test_corrections_survive_a_restart_and_undo(start, project, qtbot):
    first = start()
    first.open(project)
    cluster = first.cluster()
    first.does(lambda: first.program.corrections.rename(cluster, "Anna"))
    first.enter(cluster)
    first.page.pane.grid.choose([0], 0)
    before = first.state.labels.copy()
    first.does(lambda: first.key(KEY.Key_X))
    first.program.shutdown()
    second = start()
    second.open(project)
    assert second.state.names == {cluster: "Anna"}
    assert second.state.junk == 1
    second.does(lambda: second.key(KEY.Key_U))
    assert np.array_equal(second.state.labels, before)


def test_read_only_corrects_nothing(start, project):
    desk = start()
    desk.program.shell.open_project(project, True)
    desk.until(lambda: desk.window.working)
    desk.program.clusters_desk.show_clusters()
    desk.until(lambda: bool(desk.page.gallery.ids()))
    desk.enter(desk.cluster())
    desk.page.pane.grid.choose([0], 0)
    for name in ("cluster.split", "cluster.junk", "cluster.name", "cluster.finish", "cluster.accept"):
        assert not desk.enabled(name), name
    assert desk.enabled("gallery.open")


def test_another_project_shows_nothing_of_the_last(desk, project, original, tmp_path):
    desk.enter(desk.cluster())
    other = shutil.copytree(original, tmp_path / "other")
    desk.program.shell.open_project(other)
    desk.until(lambda: desk.window.pages.currentWidget() is desk.program.label)
    assert desk.page.mode is Mode.ALL
    assert desk.page.pane.items == ()


def test_three_images_to_the_end(start, tmp_path):
    from PIL import Image

    from a3s_desktop.session.opening import create_project
    from a3s_desktop.storage.spec import ProjectSpec
    from a3s_desktop.task import Task

    images = tmp_path / "three"
    images.mkdir()
    for k in range(3):
        Image.new("RGB", (40, 30), (80 * k, 90, 60)).save(images / f"{k}.png")
    np.save(tmp_path / "three.npy", np.eye(3, 4, dtype=np.float32))
    create_project(ProjectSpec(tmp_path / "p3", images, (tmp_path / "three.npy",)), Task()).close()
    desk = start()
    desk.open(tmp_path / "p3")
    ids = list(desk.page.gallery.ids())
    while len(ids) > 1:
        desk.page.gallery.choose(ids[0])
        desk.program.corrections.merge(ids[0], ids[1])
        desk.does(desk.dialog(MergePreview).merge_button.click)
        ids = list(desk.page.gallery.ids())
    desk.enter(ids[0])
    desk.until(lambda: len(desk.page.pane.items) == 3)
    assert desk.page.pane._near_title.text() == "No other cluster is near."
    for _ in range(3 - len(ids)):
        desk.does(lambda: desk.key(KEY.Key_U))
    assert desk.state.singletons == 3
    desk.until(lambda: len(desk.page.pane.items) == 1)


def _card(cluster: int) -> QMimeData:
    data = QMimeData()
    data.setData(CLUSTER_MIME, str(cluster).encode())
    return data


def _drop(view, row: int, data: QMimeData) -> None:
    place: QPoint = view.visualRect(view.model().index(row, 0)).center()
    kinds = (QDragEnterEvent(place, Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
                             Qt.KeyboardModifier.NoModifier),
             QDragMoveEvent(place, Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
                            Qt.KeyboardModifier.NoModifier),
             QDropEvent(QPointF(place), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
                        Qt.KeyboardModifier.NoModifier))  # fmt: skip
    for event in kinds:
        QApplication.sendEvent(view.viewport(), event)
