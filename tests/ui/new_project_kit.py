"""A form of a new project on real files, for its tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.creator import Creator
from a3s_desktop.ui.jobs import Jobs
from a3s_desktop.ui.new_project import NewProjectPage

COUNT = 12


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Twelve drawn images ``seals/00.png`` …, and a row of numbers for each in ``features.npy``."""
    rng = np.random.default_rng(0)
    (tmp_path / "seals").mkdir()
    for number in range(COUNT):
        small = rng.integers(0, 256, (6, 6, 3)).astype(np.uint8)
        Image.fromarray(small).resize((48, 40)).save(tmp_path / "seals" / f"{number:02}.png")
    np.save(tmp_path / "features.npy", rng.normal(size=(COUNT, 4)).astype(np.float32))
    return tmp_path


@pytest.fixture
def creator(qtbot) -> Iterator[Creator]:
    jobs = Jobs()
    yield Creator(jobs)
    jobs.shutdown()


@pytest.fixture
def page(qtbot, creator: Creator, data: Path) -> Iterator[NewProjectPage]:
    """The form with the images and a place chosen, but no features."""
    page = NewProjectPage(creator, SettingsStore(None))
    qtbot.addWidget(page)
    page.resize(1200, 700)
    page.show()
    page.reset()
    page.location.set_path(data)
    page.images.set_path(data / "seals")
    page.name.setText("A project")
    yield page
    page._timer.stop()


def settled(qtbot, page: NewProjectPage) -> str:
    """Wait for the check of the form as it stands; returns all that is said."""
    qtbot.waitUntil(
        lambda: not page._timer.isActive() and page._creator._check is None and "…" not in page.panel.headline.text(),
        timeout=30_000,
    )
    return "\n".join([page.panel.headline.text(), *page.panel.messages])


def choose(choice, key: str) -> None:
    """Choose in a list, as a user does."""
    choice.setCurrentIndex(choice.findData(key))
    choice.activated.emit(choice.currentIndex())


def make(qtbot, creator: Creator, page: NewProjectPage) -> Path:
    """Make the project that the form describes."""
    assert page.create_button.isEnabled(), page.panel.messages
    with qtbot.waitSignal(creator.created, timeout=60_000) as caught:
        creator.create(page._fit)
    return caught.args[0]
