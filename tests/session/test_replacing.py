"""Other features: what they would change is said before, and every answer stays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from a3s_desktop.core.types import Answer
from a3s_desktop.errors import InputError, ProjectLockedError
from a3s_desktop.session.adding import add_images
from a3s_desktop.session.opening import open_session
from a3s_desktop.session.replacing import ReplaceSpec, Replacing, moved_between
from a3s_desktop.storage.later_images import AddSpec
from tests.session.conftest import Data
from tests.session.test_adding import OLD, Grown


@pytest.fixture
def grown(tmp_path: Path, blobs: Data) -> Grown:
    return Grown(tmp_path, blobs)


@pytest.fixture
def better(grown: Grown, tmp_path: Path) -> ReplaceSpec:
    """Features that tell the classes apart without fail, in three columns more than there are classes."""
    rng = np.random.default_rng(1)
    values = np.eye(9)[grown.classes[:OLD]] * 4 + rng.normal(0, 0.1, (OLD, 9))
    np.save(tmp_path / "better.npy", values.astype(np.float32))
    return ReplaceSpec((tmp_path / "better.npy",))


def test_answers_stay_and_the_report_is_what_comes(grown: Grown, better: ReplaceSpec) -> None:
    session, _ = open_session(grown.project)
    grown.answer(session, 12)
    before = session.state
    known = list(session.engine.store.constraints())
    session.close()
    files = grown.snapshot()
    with Replacing(grown.project, better) as replacing:
        report = replacing.report
        with pytest.raises(ProjectLockedError):
            open_session(grown.project)
    assert {name: files[name] for name in files} == {n: d for n, d in grown.snapshot().items() if n in files}
    session, _ = open_session(grown.project)
    np.testing.assert_array_equal(session.state.labels, before.labels)
    session.close()
    with Replacing(grown.project, better) as replacing:
        assert replacing.report == report
        replacing.commit()
    session, opened = open_session(grown.project)
    assert opened.warnings == ()
    assert session.state.answers == report.answers == 12
    for left, right, said in known:
        assert session.engine.store.relation(left, right) is said
    assert report.moved == moved_between(before.labels, session.state.labels) > 0
    assert report.clusters == (before.clusters, session.state.clusters)
    assert report.singletons == (before.singletons, session.state.singletons)
    for _ in range(10):
        session.undo()
    assert session.state.answers == 2
    for _ in range(10):
        session.redo()
    session.close()


def test_wrong_answers_are_doubted(grown: Grown, better: ReplaceSpec) -> None:
    session, _ = open_session(grown.project)
    grown.answer(session, 6)
    pair = None
    while pair is None:
        question = session.state.question
        assert question is not None
        if grown.classes[question.left] != grown.classes[question.right]:
            session.answer(question.id, Answer.SAME)
            pair = {question.left, question.right}
        else:
            grown.answer(session)
    session.close()
    with Replacing(grown.project, better) as replacing:
        assert pair in [{entry.left, entry.right} for entry in replacing.report.doubted]


def test_images_can_be_added_afterwards(grown: Grown, better: ReplaceSpec, tmp_path: Path) -> None:
    with Replacing(grown.project, better) as replacing:
        replacing.commit()
    grown.arrive()
    with pytest.raises(InputError, match="9"):
        add_images(grown.project, grown.later)
    rng = np.random.default_rng(2)
    new = (np.eye(9)[grown.classes[OLD:]] * 4 + rng.normal(0, 0.1, (8, 9))).astype(np.float32)
    np.savez(tmp_path / "new9.npz", features=new, names=np.array(grown.names[OLD:]))
    added = add_images(grown.project, AddSpec(grown.images, (tmp_path / "new9.npz",)))
    assert added.placed >= 5
    session, _ = open_session(grown.project)
    labels = session.state.labels
    for k in range(OLD, 48):
        mates = [i for i in range(OLD) if labels[i] == labels[k]]
        assert {int(grown.classes[i]) for i in mates} <= {int(grown.classes[k])}
    session.close()


def test_rows_are_matched_by_name_in_any_order(grown: Grown, tmp_path: Path) -> None:
    order = np.random.default_rng(4).permutation(OLD)
    np.savez(tmp_path / "named.npz", features=grown.values[order] * 2, names=np.array(grown.names)[order])
    with Replacing(grown.project, ReplaceSpec((tmp_path / "named.npz",))) as replacing:
        replacing.commit()
    session, _ = open_session(grown.project)
    assert session.workspace is not None
    np.testing.assert_array_equal(session.workspace.views()[0], grown.values[:OLD] * 2)
    session.close()


def test_features_that_do_not_fit_change_nothing(grown: Grown, tmp_path: Path) -> None:
    files = grown.snapshot()
    np.save(tmp_path / "few.npy", grown.values[:30])
    for spec in (ReplaceSpec(()), ReplaceSpec((tmp_path / "few.npy",)), ReplaceSpec((tmp_path / "none.npy",))):
        with pytest.raises(InputError):
            Replacing(grown.project, spec)
        assert grown.snapshot() == files
        open_session(grown.project)[0].close()


def test_moved_images_are_counted_by_the_best_pairing_of_clusters() -> None:
    same = np.array([0, 0, 0, 1, 1, 2], np.int32)
    assert moved_between(same, np.array([7, 7, 7, 3, 3, 0], np.int32)) == 0
    assert moved_between(same, np.array([7, 7, 3, 3, 3, 0], np.int32)) == 1
    assert moved_between(same, np.zeros(6, np.int32)) == 3
