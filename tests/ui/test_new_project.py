"""The form of a new project: checked while it is filled in, in plain words, and created only when it fits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import Qt

from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.creator import Creator
from a3s_desktop.ui.jobs import Jobs
from a3s_desktop.ui.new_project import NewProjectPage


@pytest.fixture
def data(tmp_path) -> Path:
    images = tmp_path / "seals"
    images.mkdir()
    for number in range(8):
        Image.new("RGB", (20, 20), (number * 30, 0, 0)).save(images / f"{number}.jpg")
    np.save(tmp_path / "features.npy", np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32))
    return tmp_path


@pytest.fixture
def creator(qtbot) -> Iterator[Creator]:
    jobs = Jobs()
    yield Creator(jobs)
    jobs.shutdown()


@pytest.fixture
def page(qtbot, creator, data) -> Iterator[NewProjectPage]:
    page = NewProjectPage(creator, SettingsStore(None))
    qtbot.addWidget(page)
    page.resize(1200, 700)
    page.show()
    page.reset()
    page.location.set_path(data)
    yield page
    page._timer.stop()


def fill(page: NewProjectPage, data: Path, features: str = "features.npy") -> None:
    page.images.set_path(data / "seals")
    page.features.add(str(data / features))
    page.name.setText("A project")


def checked(qtbot, page: NewProjectPage, headline: str) -> None:
    qtbot.waitUntil(lambda: page.panel.headline.text() == headline, timeout=10_000)


def test_it_says_what_is_missing_next(page, data):
    assert page.panel.headline.text() == "Choose the folder with the images."
    page.images.set_path(data / "seals")
    assert page.name.text() == "seals"  # as a start; a name that was typed stays
    assert page.panel.headline.text() == "Add the file with the features, or have the images described."
    page.features.add(str(data / "features.npy"))
    assert page.panel.headline.text() == "Checking…"
    assert not page.create_button.isEnabled()


def test_rows_that_match_by_position_must_be_confirmed(qtbot, page, data):
    fill(page, data)
    checked(qtbot, page, "Everything fits")
    assert page.panel.confirm.isVisible()
    assert not page.create_button.isEnabled()
    assert "confirm" in page.reason.text()
    page.panel.confirm.click()
    assert page.create_button.isEnabled()
    with qtbot.waitSignal(page.createRequested) as caught:
        qtbot.mouseClick(page.create_button, Qt.MouseButton.LeftButton)
    assert caught.args[0].folder == data / "A project"
    # Any change asks for a new check and a new confirmation.
    page.options.neighbors.setValue(5)
    assert not page.create_button.isEnabled()
    checked(qtbot, page, "Everything fits")
    assert not page.create_button.isEnabled()


def test_an_order_file_needs_no_confirmation(qtbot, page, data):
    (data / "order.txt").write_text("".join(f"{number}.jpg\n" for number in reversed(range(8))))
    fill(page, data)
    page.order.set_path(data / "order.txt")
    checked(qtbot, page, "Everything fits")
    assert page.create_button.isEnabled()
    assert "order file" in page.panel.facts.text()


def test_every_problem_is_named_with_its_first_row(qtbot, page, data):
    values = np.load(data / "features.npy")
    values[3, 1] = np.nan
    np.save(data / "bad.npy", values[:7])
    fill(page, data, "bad.npy")
    qtbot.waitUntil(lambda: "to put right" in page.panel.headline.text(), timeout=10_000)
    text = " ".join(page.panel.messages)
    assert "bad.npy" in text
    assert "row 3" in text
    assert "7" in text
    assert "8" in text
    assert not page.create_button.isEnabled()


def test_a_missing_location_is_made_later_and_a_missing_image_folder_is_named(qtbot, page, data):
    fill(page, data)
    page.location.set_path(data / "not" / "there yet")
    checked(qtbot, page, "Everything fits")
    page.images.set_path(data / "nowhere")
    qtbot.waitUntil(lambda: "to put right" in page.panel.headline.text(), timeout=10_000)
    assert "nowhere" in " ".join(page.panel.messages)
    assert not (data / "not").exists()


def test_a_name_that_is_taken_is_refused(qtbot, page, data):
    (data / "A project").mkdir()
    (data / "A project" / "file").write_text("x")
    fill(page, data)
    qtbot.waitUntil(lambda: "to put right" in page.panel.headline.text(), timeout=10_000)
    page.name.setText("Another")
    checked(qtbot, page, "Everything fits")


def test_options_are_behind_advanced_and_reach_the_project(qtbot, page, data):
    assert not page.options.isVisible()
    page.advanced_button.click()
    assert page.options.isVisible()
    page.options.seed.setValue(7)
    page.options.pseudo_labels.setValue(20)
    page.options.purity_test.setChecked(False)
    fill(page, data)
    spec = page.spec()
    assert spec is not None
    assert (spec.initial.seed, spec.initial.pseudo_labels, spec.strategy.purity_test) == (7, 20, False)


def test_a_strategy_can_be_chosen_and_what_it_does_not_use_cannot_be_set(qtbot, page, data):
    options = page.options
    assert options.strategy.currentData() == "a3s"
    assert not options.clusters.isEnabled()
    assert not options.purity_test.isEnabled()
    options.strategy.setCurrentIndex(options.strategy.findData("a3s-paper"))
    assert options.purity_test.isEnabled()
    options.strategy.setCurrentIndex(options.strategy.findData("ffqs"))
    assert options.clusters.isEnabled()
    fill(page, data)
    options.clusters.setValue(3)
    spec = page.spec()
    assert spec is not None
    assert (spec.strategy.strategy, spec.strategy.clusters) == ("ffqs", 3)


def test_every_strategy_is_offered(page):
    from a3s_desktop.core.types import STRATEGIES

    offered = [page.options.strategy.itemData(k) for k in range(page.options.strategy.count())]
    assert sorted(offered) == sorted(STRATEGIES)


def test_defaults_of_the_form_are_the_defaults_of_the_options(page):
    from a3s_desktop.core.types import InitialOptions, StrategyOptions

    assert page.options.initial_options() == InitialOptions()
    assert page.options.strategy_options() == StrategyOptions()


def test_the_form_creates_makes_missing_folders_and_cancel_leaves_nothing(qtbot, page, creator, data):
    fill(page, data)
    page.location.set_path(data / "new place")
    checked(qtbot, page, "Everything fits")
    spec = page.spec()
    with qtbot.waitSignal(creator.created, timeout=20_000) as caught:
        creator.create(spec)
    assert caught.args[0] == data / "new place" / "A project"
    assert (data / "new place" / "A project" / "project.json").is_file()
    page.name.setText("Second")
    second = page.spec()
    with qtbot.waitSignal(creator.stopped, timeout=20_000) as caught:
        creator.create(second)
        creator.cancel()
    assert caught.args == [None]
    assert not second.folder.exists()
    assert not creator.creating


def test_what_can_be_focused_has_a_name_for_screen_readers(page):
    from PySide6.QtGui import QAccessible
    from PySide6.QtWidgets import QWidget

    page.advanced_button.click()
    for widget in page.findChildren(QWidget):
        if widget.isVisible() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.focusProxy() is None:
            interface = QAccessible.queryAccessibleInterface(widget)
            if interface is None or type(widget).__name__ in {"QScrollArea", "QTableWidget"}:
                continue
            assert interface.text(QAccessible.Text.Name), (type(widget).__name__, widget.objectName())
