"""The map over a real session: colours and places stay what they were, through answers, undo and a restart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from a3s_desktop.core.types import Answer
from a3s_desktop.session.opening import open_session
from a3s_desktop.session.state import Phase
from a3s_desktop.task import Task
from a3s_desktop.ui.engine_room import MapLayout
from a3s_desktop.ui.map_colours import colour_slots
from tests.ui.pair_project import PHOTOS, make_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path)


def answer(session: object, count: int) -> None:
    """Answer by the true individuals."""
    for _ in range(count):
        question = session.state.question
        if session.state.phase is not Phase.ASKING or question is None:
            return
        same = question.left // PHOTOS == question.right // PHOTOS
        session.answer(question.id, Answer.SAME if same else Answer.DIFFERENT)


def test_only_what_moved_changes_its_colour_and_undo_and_restart_bring_all_back(project: Path) -> None:
    session, _ = open_session(project)
    seen = [session.state.labels.copy()]
    changes = 0
    for _ in range(25):
        before = session.state.labels
        answer(session, 1)
        after, moved = session.state.labels, session.last_change.moved
        still = np.setdiff1d(np.arange(len(after)), moved)
        # A cluster of one is grey, so a partner that came or went changes that, and nothing else may.
        sizes, former = np.bincount(after), np.bincount(before)
        alike = still[(sizes[after[still]] > 1) == (former[before[still]] > 1)]
        assert (colour_slots(after)[alike] == colour_slots(before)[alike]).all()
        changes += len(moved) > 0
        seen.append(after.copy())
    assert changes > 3
    for expected in seen[-2:-8:-1]:
        session.undo()
        assert (colour_slots(session.state.labels) == colour_slots(expected)).all()
    last = colour_slots(session.state.labels)
    session.close()
    again, _ = open_session(project)
    assert (colour_slots(again.state.labels) == last).all()
    again.close()


def test_the_layout_is_computed_once_kept_and_the_same_everywhere(project: Path, tmp_path: Path) -> None:
    session, _ = open_session(project)
    layout = MapLayout(1, session.workspace)
    assert not layout.known
    first, better = layout.first(Task())[1], layout.better(Task())[1]
    assert not np.array_equal(first.x, better.x)  # the quick picture is replaced
    assert MapLayout(1, session.workspace).known
    kept = MapLayout(1, session.workspace).first(Task())[1]
    assert np.array_equal(kept.x, better.x)
    assert np.array_equal(kept.y, better.y)
    session.close()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other, _ = open_session(make_project(elsewhere))
    twin = MapLayout(2, other.workspace).better(Task())[1]
    assert np.array_equal(twin.x, better.x)
    assert np.array_equal(twin.y, better.y)
    other.close()
