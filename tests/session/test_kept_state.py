"""What is kept of a large project: openings load it instead of deriving it again, and are the same without it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from a3s_desktop.core import learnt_metric
from a3s_desktop.session import kept_state
from a3s_desktop.session.kept_state import KeptState
from a3s_desktop.session.opening import create_project, open_once, open_session
from a3s_desktop.session.operations import SplitOff
from a3s_desktop.session.session import Session
from a3s_desktop.storage import files
from a3s_desktop.storage.workspace import ProjectSpec
from a3s_desktop.task import Task
from tests.session.conftest import Data


@pytest.fixture(autouse=True)
def every_project_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_state, "KEPT_FROM", 0)
    monkeypatch.setattr(kept_state, "_NEAR", (5, 5))
    monkeypatch.setattr(KeptState, "worth", 1000)


@pytest.fixture
def project(make_spec: Callable[..., ProjectSpec]) -> Path:
    spec = make_spec()
    with create_project(spec, Task()) as workspace:
        count = len(workspace.items)
    open_once(spec.folder, count)
    return spec.folder


@pytest.fixture
def derived(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each time that the metric was learnt."""
    times: list[int] = []
    learn = learnt_metric._whitening

    def noted(gap: np.ndarray) -> np.ndarray:
        times.append(len(gap))
        return learn(gap)

    monkeypatch.setattr(learnt_metric, "_whitening", noted)
    return times


def kept(project: Path) -> Path:
    (place,) = (project / "artifacts").glob("state-*")
    return place


def look(session: Session) -> tuple[str, object]:
    question = session.state.question
    return session.engine.digest(), question and (question.left, question.right, question.text, question.left_strip)


def test_a_new_project_opens_without_deriving(project: Path, blobs: Data, derived: list[int]) -> None:
    session, _ = open_session(project)
    assert derived == []
    first = look(session)
    for _ in range(4):
        blobs.answer(session)
    then = look(session)
    session.close()
    files.remove_tree(kept(project))
    again, report = open_session(project)
    assert len(derived) == 1
    assert report.warnings == ()
    assert look(again) == then
    for _ in range(4):
        again.undo()
    assert look(again) == first
    again.close()


def test_the_state_is_kept_again_after_many_answers(project: Path, blobs: Data, derived: list[int]) -> None:
    written = (kept(project) / "meta.json").read_bytes()
    for answers, new in ((3, False), (6, True), (2, False)):
        session, report = open_session(project)
        assert report.warnings == ()
        for _ in range(answers):
            blobs.answer(session)
        left = look(session)
        session.close()
        before, written = written, (kept(project) / "meta.json").read_bytes()
        assert (written != before) == new
        session, _ = open_session(project)
        assert look(session) == left
        session.close()
    assert derived == []


def test_the_state_is_kept_again_after_a_correction_of_many_images(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Giving it again at each opening would take as long as it took."""
    monkeypatch.setattr(kept_state, "_PER_ANSWER", 2)
    written = (kept(project) / "meta.json").read_bytes()
    for count, new in ((1, False), (12, True)):
        session, _ = open_session(project)
        largest = int(np.bincount(session.state.labels).argmax())
        items = session.members(largest)[:1] if count == 1 else tuple(range(0, 4 * count, 4))
        session.perform(SplitOff(items))
        left = look(session)
        session.close()
        assert ((kept(project) / "meta.json").read_bytes() != written) == new
        session, _ = open_session(project)
        assert look(session) == left
        session.undo()
        session.close()


def test_a_state_of_answers_that_were_taken_back_is_not_used(project: Path, blobs: Data) -> None:
    session, _ = open_session(project)
    for _ in range(8):
        blobs.answer(session)
    session.close()
    session, _ = open_session(project)
    for _ in range(3):
        session.undo()
    left = look(session)
    blobs.answer(session)
    after = look(session)
    session.close()
    session, report = open_session(project)
    assert report.warnings == ()
    assert look(session) == after
    session.undo()
    assert look(session) == left
    session.close()


@pytest.mark.parametrize("damage", ["cut off", "other", "gone", "version"])
def test_a_damaged_state_costs_time_and_nothing_else(
    project: Path, blobs: Data, derived: list[int], damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, _ = open_session(project)
    blobs.answer(session)
    left = look(session)
    session.close()
    place = kept(project) / "facts.cells.npy"
    if damage == "cut off":
        place.write_bytes(place.read_bytes()[:-8])
    elif damage == "other":
        place.write_bytes(place.read_bytes()[:-8] + b"\0" * 8)
    elif damage == "gone":
        place.unlink()
    else:
        monkeypatch.setattr(kept_state, "FORMAT", 99)
    session, report = open_session(project)
    assert len(derived) == 1
    assert report.warnings == ()
    assert look(session) == left
    session.close()


def test_the_first_opening_keeps_it_whatever_comes_then(
    make_spec: Callable[..., ProjectSpec], derived: list[int]
) -> None:
    spec = make_spec()
    create_project(spec, Task()).close()
    reader, _ = open_session(spec.folder, read_only=True)
    reader.close()
    assert list((spec.folder / "artifacts").glob("state-*")) == []
    first, _ = open_session(spec.folder)
    derived.clear()
    second, _ = open_session(spec.folder, read_only=True)  # beside it: nothing was closed yet
    assert derived == []
    assert look(second) == look(first)
    second.close()
    first.close()


def test_small_projects_keep_none(make_spec: Callable[..., ProjectSpec], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_state, "KEPT_FROM", 5_000)
    spec = make_spec()
    create_project(spec, Task()).close()
    session, _ = open_session(spec.folder)
    session.close()
    open_once(spec.folder, 4_999)
    assert list((spec.folder / "artifacts").glob("state-*")) == []
