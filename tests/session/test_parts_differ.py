"""Two parts of one photo are two individuals: said once, seen in the history, never asked and never joined."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from a3s_desktop.core.types import Answer
from a3s_desktop.errors import InputError
from a3s_desktop.session.opening import create_project, open_session
from a3s_desktop.session.operations import PartsDiffer
from a3s_desktop.session.session import Session
from a3s_desktop.session.state import EntryKind
from a3s_desktop.storage.embedding_options import EmbeddingOptions
from a3s_desktop.storage.workspace import ProjectSpec, check_spec
from a3s_desktop.task import Progress, Task

PHOTOS = 12


@pytest.fixture
def spec(tmp_path: Path) -> ProjectSpec:
    """Twelve photos of two animals; the two of one photo look alike, so that a model would join them.

    The first photo also has a second, overlapping rectangle of its first animal: these two are not said to differ.
    """
    photos = tmp_path / "photos"
    photos.mkdir()
    lines, rows, rng = ["file,x,y,width,height"], [], np.random.default_rng(3)
    for photo in range(PHOTOS):
        Image.new("RGB", (60, 30), (20 * photo, 90, 30)).save(photos / f"{photo:02}.png")
        look = rng.normal(0.0, 1.0, 8)
        for at, box in enumerate([(0, 0, 30, 30), (30, 0, 30, 30)] + ([(1, 0, 28, 30)] if photo < 6 else [])):
            lines.append(f"{photo:02}.png,{','.join(map(str, box))}")
            rows.append(look + rng.normal(0.0, 0.02 if at else 0.01, 8))
    (tmp_path / "parts.csv").write_text("\n".join(lines))
    np.save(tmp_path / "rows.npy", np.array(rows, np.float32))
    return ProjectSpec(
        folder=tmp_path / "project",
        images=photos,
        features=(tmp_path / "rows.npy",),
        parts=tmp_path / "parts.csv",
        parts_differ=True,
    )


def pairs_of(session: Session) -> list[tuple[int, int]]:
    """Pairs of parts of one photo that lie side by side, by their keys alone."""
    assert session.workspace is not None
    keys = [key.split("#") for key in session.workspace.items.paths]
    return [
        (a, b)
        for a in range(len(keys))
        for b in range(a + 1, len(keys))
        if keys[a][0] == keys[b][0] and (keys[a][1].startswith("xywh=30,") != keys[b][1].startswith("xywh=30,"))
    ]


def joined(session: Session) -> list[tuple[int, int]]:
    return [(a, b) for a, b in pairs_of(session) if session.state.labels[a] == session.state.labels[b]]


def test_such_pairs_are_one_entry_of_the_history_from_the_start(spec: ProjectSpec) -> None:
    create_project(spec, Task()).close()
    session, report = open_session(spec.folder)
    assert report.warnings == ()
    (entry,) = session.history()
    assert (entry.kind, entry.what, entry.count) == (EntryKind.CORRECTION, "parts", 18)
    assert entry.text == "Parts of one photo are different: 18 pairs"
    assert len(pairs_of(session)) == 18
    assert not joined(session)
    assert session.state.answers == 0
    session.close()
    again, _ = open_session(spec.folder)
    assert len(again.history()) == 1
    again.close()


def test_no_such_pair_is_ever_asked_or_joined_whatever_is_answered(spec: ProjectSpec) -> None:
    create_project(spec, Task()).close()
    session, _ = open_session(spec.folder)
    apart = set(pairs_of(session))
    rng = np.random.default_rng(0)
    asked = 0
    while (question := session.state.question) is not None:
        assert (min(question.left, question.right), max(question.left, question.right)) not in apart
        session.answer(question.id, Answer.SAME if rng.random() < 0.7 else Answer.DIFFERENT)
        assert not joined(session)
        asked += 1
    assert asked
    session.close()
    again, _ = open_session(spec.folder)
    assert not joined(again)
    assert not again.state.conflicts
    again.close()


def test_it_can_be_taken_back_and_brought_back(spec: ProjectSpec) -> None:
    create_project(spec, Task()).close()
    session, _ = open_session(spec.folder)
    assert session.state.undo_text == "Parts of one photo are different: 18 pairs"
    session.undo()
    assert joined(session)  # they look alike: without the entry they belong together
    session.redo()
    assert not joined(session)
    number = session.history()[0].number
    question = session.state.question
    assert question is not None
    session.answer(question.id, Answer.DIFFERENT)
    session.change(number, None)
    assert joined(session)
    session.close()
    again, _ = open_session(spec.folder)
    assert joined(again)  # and it does not come back by itself
    again.close()


def test_a_project_whose_making_was_cut_off_gets_the_entry_once(spec: ProjectSpec) -> None:
    workspace = create_project(spec, Task())
    workspace.close()
    for path in (spec.folder / "artifacts").iterdir():
        for file in path.rglob("*") if path.is_dir() else [path]:
            if file.is_file():
                file.write_bytes(b"")
    session, _ = open_session(spec.folder)
    assert len(session.history()) == 1
    session.close()


def test_there_is_no_entry_unless_it_was_chosen_or_where_no_photo_has_two_parts(spec: ProjectSpec) -> None:
    create_project(replace(spec, parts_differ=False), Task()).close()
    session, _ = open_session(spec.folder)
    assert session.history() == ()
    session.perform(PartsDiffer(tuple(pairs_of(session))))  # later, by hand
    assert session.history()[0].count == 18
    with pytest.raises(InputError, match="two parts"):
        session.perform(PartsDiffer(()))
    session.close()


@pytest.mark.parametrize("given", [True, False])
def test_stages_are_counted_where_images_are_described(spec: ProjectSpec, given: bool) -> None:
    reports: list[Progress] = []
    plain = replace(spec, features=(), parts=None, embedding=EmbeddingOptions())
    create_project(plain, Task(reports.append), check_spec(plain) if given else None).close()
    indices = [entry.index for entry in reports]
    assert indices == sorted(indices)
    assert max(indices) == reports[-1].count - 1
    stages = list(dict.fromkeys(entry.stage for entry in reports))
    assert stages.index("Describing images") < stages.index("Copying the features")
