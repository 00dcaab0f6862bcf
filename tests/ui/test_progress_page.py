"""Progress in human terms, and a way out that is taken once."""

from __future__ import annotations

import pytest

from a3s_desktop.task import Progress
from a3s_desktop.ui.progress_page import ProgressPage, overall, time_left


@pytest.fixture
def page(qtbot) -> ProgressPage:
    page = ProgressPage()
    qtbot.addWidget(page)
    page.begin("Making seals", "Once.")
    page.show()
    return page


@pytest.mark.parametrize(
    ("progress", "share"),
    [
        (Progress("a", 0, 4, 0.0, None), 0.0),
        (Progress("a", 1, 4, 0.5, None), 0.375),
        (Progress("a", 3, 4, 1.0, None), 1.0),
        (Progress("a", 7, 4, 1.0, None), 1.0),  # more stages than were planned
        (Progress("a", 0, 0, 0.25, None), 0.25),
    ],
)
def test_share_of_the_whole(progress, share):
    assert overall(progress) == pytest.approx(share)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, ""),
        (0.2, "a few seconds left"),
        (12.4, "about 10 s left"),
        (58.0, "about 1 min left"),
        (200.0, "about 3 min left"),
        (7000.0, "about 1.9 h left"),
    ],
)
def test_time_left_is_coarse(seconds, text):
    assert time_left(seconds) == text


def test_stages_are_ticked_off_one_by_one(page):
    for index, name in enumerate(("Checking", "Copying", "Comparing")):
        page.show_progress(Progress(name, index, 5, 0.0, None))
    page.show_progress(Progress("Comparing", 2, 5, 0.5, 42.0))
    assert page.stage.text() == "Comparing…"
    assert page.step.text() == "Step 3 of 5: 50%"
    assert page.left.text() == "about 40 s left"
    assert page.bar.value() == 500
    assert page._list.count() == 2


def test_cancel_is_asked_once_and_stays_visible(page, qtbot):
    with qtbot.waitSignal(page.cancelRequested):
        page.cancel_button.click()
    with qtbot.assertNotEmitted(page.cancelRequested, wait=20):
        page.cancel()
    page.show_progress(Progress("Comparing", 2, 5, 0.9, 1.0))  # a late report
    assert page.stage.text() == "Stopping…"


def test_it_can_be_used_again(page):
    page.show_progress(Progress("Checking", 0, 2, 0.5, 3.0))
    page.cancel()
    page.begin("Another")
    assert page.cancel_button.isEnabled()
    assert page._list.count() == 0
    assert not page.explanation.isVisible()
