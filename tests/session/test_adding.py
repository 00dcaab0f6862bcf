"""Images that come to a project later: nothing said is lost, nothing is asked twice, all or nothing is done."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from a3s_desktop.core.metrics import evaluate
from a3s_desktop.core.types import Answer, InitialOptions, StrategyOptions
from a3s_desktop.errors import Cancelled, InputError, ProjectLockedError, StorageFailedError
from a3s_desktop.session.adding import add_images, check_images
from a3s_desktop.session.opening import create_project, open_session
from a3s_desktop.session.operations import Finish, Junk, Rename
from a3s_desktop.session.session import Session
from a3s_desktop.storage import files
from a3s_desktop.storage.drafts import EARLIER
from a3s_desktop.storage.embedding_options import EmbeddingOptions
from a3s_desktop.storage.later_images import AddSpec
from a3s_desktop.storage.workspace import ProjectSpec
from a3s_desktop.task import Progress, Task
from tests.session.conftest import Data

ROOT = Path(__file__).resolve().parents[2]
OLD = 40


class Grown:
    """A project of the first 40 of the small data's images, the other 8 beside it, with their features."""

    def __init__(self, folder: Path, blobs: Data, strategy: str = "a3s") -> None:
        self.blobs, self.images = blobs, folder / "images"
        order = np.random.default_rng(3).permutation(48)
        self.classes = blobs.classes[order]
        self.values = blobs.views[0][order]
        self.names = [f"{k:03d}.png" for k in range(48)]
        self.images.mkdir(parents=True)
        for k in range(OLD):
            self.draw(self.images / self.names[k], k)
        np.save(folder / "old.npy", self.values[:OLD])
        np.savez(folder / "new.npz", features=self.values[OLD:], names=np.array(self.names[OLD:]))
        clusters = 6 if strategy == "random" else None
        self.spec = ProjectSpec(
            folder / "project", self.images, (folder / "old.npy",),
            strategy=StrategyOptions(strategy=strategy, clusters=clusters), initial=InitialOptions(neighbors=12),
        )  # fmt: skip
        self.project = self.spec.folder
        create_project(self.spec, Task()).close()
        self.later = AddSpec(self.images, (folder / "new.npz",))

    def draw(self, path: Path, k: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), (5 * k, 40, 90)).save(path)

    def arrive(self, folder: Path | None = None) -> None:
        for k in range(OLD, 48):
            self.draw((folder or self.images) / self.names[k], k)

    def answer(self, session: Session, count: int = 1) -> None:
        for _ in range(count):
            question = session.state.question
            if question is None:
                return
            same = self.classes[question.left] == self.classes[question.right]
            session.answer(question.id, Answer.SAME if same else Answer.DIFFERENT)

    def snapshot(self) -> dict[str, bytes]:
        """Every file that counts, but for what a start writes."""
        found = sorted(path for path in self.project.rglob("*") if path.is_file())
        return {
            str(p.relative_to(self.project)): p.read_bytes()
            for p in found
            if "journal" not in p.name and p.name != "lock"
        }


@pytest.fixture
def grown(tmp_path: Path, blobs: Data) -> Grown:
    return Grown(tmp_path, blobs)


def test_all_that_was_said_stays(grown: Grown) -> None:
    session, _ = open_session(grown.project)
    grown.answer(session, 25)
    state = session.state
    sizes = np.bincount(state.labels)
    large = np.argsort(-sizes)
    session.perform(Rename(int(large[0]), "Ada"))
    session.perform(Finish(int(large[1])))
    session.perform(Junk((int(np.flatnonzero(state.labels == large[2])[0]),)))
    before, history = session.state, session.history()
    known = list(session.engine.store.constraints())
    session.close()
    grown.arrive()
    added = add_images(grown.project, grown.later)
    assert (added.images, added.answers) == (8, before.answers)
    assert added.placed + added.grouped + added.single == 8
    assert "8 images were added" in added.text()
    session, report = open_session(grown.project)
    after = session.state
    assert (report.recovered, report.warnings) == ("", ())
    assert after.items == 48
    np.testing.assert_array_equal(after.labels[:OLD], before.labels)
    np.testing.assert_array_equal(after.confirmed[:OLD], before.confirmed)
    np.testing.assert_array_equal(after.is_junk[:OLD], before.is_junk)
    assert dict(after.names) == dict(before.names)
    assert after.finished == before.finished
    assert not set(after.labels[OLD:].tolist()) & {*after.finished, *after.labels[:OLD][before.is_junk].tolist()}
    assert [entry.number for entry in session.history()] == [entry.number for entry in history]
    assert after.answers == before.answers
    asked = {frozenset(pair[:2]) for pair in known}
    while (question := session.state.question) is not None:
        assert frozenset((question.left, question.right)) not in asked
        asked.add(frozenset((question.left, question.right)))
        grown.answer(session)
    for left, right, said in known:
        assert session.engine.store.relation(left, right) is said
    assert session.workspace is not None
    assert session.workspace.items.paths == tuple(grown.names)
    np.testing.assert_array_equal(session.workspace.views()[0], grown.values)
    session.close()


def test_it_goes_on_at_the_very_pair_after_every_start(grown: Grown) -> None:
    session, _ = open_session(grown.project)
    grown.answer(session, 12)
    session.close()
    grown.arrive()
    add_images(grown.project, grown.later)
    session, _ = open_session(grown.project)
    digests = [session.engine.digest()]
    for _ in range(6):
        grown.answer(session)
        digests.append(session.engine.digest())
    session.close()
    session, report = open_session(grown.project)
    assert report.warnings == ()
    assert session.engine.digest() == digests[-1]
    for digest in digests[-2::-1]:
        session.undo()
        assert session.engine.digest() == digest
    for digest in digests[1:]:
        session.redo()
        assert session.engine.digest() == digest
    session.close()


def test_answers_from_before_can_be_taken_back_and_come_back(grown: Grown) -> None:
    session, _ = open_session(grown.project)
    grown.answer(session, 12)
    session.close()
    grown.arrive()
    add_images(grown.project, grown.later)
    session, _ = open_session(grown.project)
    whole, labels = session.engine.digest(), session.state.labels.copy()
    digests = []
    for count in range(11, 6, -1):
        session.undo()
        assert session.state.answers == count
        assert len(list(session.engine.store.constraints())) == count
        np.testing.assert_array_equal(session.state.labels, labels)  # the guess stays
        digests.append(session.engine.digest())
    session.close()
    session, report = open_session(grown.project)
    assert report.warnings == ()
    assert session.engine.digest() == digests[-1]
    for digest in [*digests[-2::-1], whole]:
        session.redo()
        assert session.engine.digest() == digest
    number = session.history()[3].number
    session.change(number, None)
    assert session.state.answers == 11
    changed = session.engine.digest()
    session.undo()
    assert session.engine.digest() == whole
    session.redo()
    assert session.engine.digest() == changed
    session.close()


def test_old_snapshots_are_not_taken_for_new_ones(grown: Grown) -> None:
    session, _ = open_session(grown.project)
    session._snapshot_every = 5
    for _ in range(12):
        grown.answer(session)
        session.look_ahead()
    session.close()
    grown.arrive()
    add_images(grown.project, grown.later)
    session, report = open_session(grown.project)
    assert report.warnings == ()
    session._snapshot_every = 5
    for _ in range(12):
        grown.answer(session)
        session.look_ahead()
    digest = session.engine.digest()
    session.close()
    again, report = open_session(grown.project)
    assert report.warnings == ()
    assert again.engine.digest() == digest
    again.close()


@pytest.mark.parametrize("strategy", ["a3s-paper", "cobra", "random"])
def test_every_strategy_keeps_the_answers(tmp_path: Path, blobs: Data, strategy: str) -> None:
    grown = Grown(tmp_path, blobs, strategy)
    session, _ = open_session(grown.project)
    grown.answer(session, 15)
    known = list(session.engine.store.constraints())
    session.close()
    grown.arrive()
    add_images(grown.project, grown.later)
    session, report = open_session(grown.project)
    assert report.warnings == ()
    grown.answer(session, 10)
    for left, right, said in known:
        assert session.engine.store.relation(left, right) is said
    digest = session.engine.digest()
    session.close()
    again, _ = open_session(grown.project)
    assert again.engine.digest() == digest
    again.close()


def test_images_are_added_twice(grown: Grown) -> None:
    session, _ = open_session(grown.project)
    grown.answer(session, 10)
    session.close()
    for half in (range(OLD, 44), range(44, 48)):
        for k in half:
            grown.draw(grown.images / grown.names[k], k)
        assert add_images(grown.project, grown.later).images == 4
        session, _ = open_session(grown.project)
        grown.answer(session, 5)
        session.close()
    session, report = open_session(grown.project)
    assert report.warnings == ()
    assert session.state.answers == 20
    assert session.workspace is not None
    assert session.workspace.items.paths == tuple(grown.names)
    session.close()
    names = sorted(path.name for path in grown.project.iterdir())
    assert [name for name in names if name.startswith(("items", "features"))] == ["features-3-0.npy", "items-3.json"]


def test_the_project_of_before_can_still_be_opened(grown: Grown) -> None:
    session, _ = open_session(grown.project)
    grown.answer(session, 10)
    digest = session.engine.digest()
    session.close()
    grown.arrive()
    add_images(grown.project, grown.later)
    for _ in range(2):
        session, report = open_session(grown.project / EARLIER)
        assert (report.recovered, report.warnings) == ("", ())
        assert session.engine.digest() == digest
        assert session.workspace is not None
        assert session.workspace.items.available
        session.close()
        open_session(grown.project)[0].close()


@pytest.mark.parametrize("stage", range(8))
def test_cancelled_anywhere_it_is_the_old_project(grown: Grown, stage: int) -> None:
    session, _ = open_session(grown.project)
    grown.answer(session, 5)
    session.close()
    grown.arrive()
    before = grown.snapshot()
    reached: list[int] = []

    def stop(progress: Progress) -> None:
        reached.append(progress.index)
        if progress.index == stage:
            task.cancel()

    task = Task(stop, min_interval=0.0)
    try:
        add_images(grown.project, grown.later, task)
    except Cancelled:
        assert grown.snapshot() == before
    else:
        assert max(reached) < stage
        assert stage >= 6


@pytest.mark.parametrize("primitive", ["open_new", "write_all", "sync_file", "sync_folder", "rename", "make_folder"])
def test_a_fault_at_any_write_leaves_the_old_project_or_the_new_one(
    grown: Grown, monkeypatch: pytest.MonkeyPatch, primitive: str
) -> None:
    session, _ = open_session(grown.project)
    grown.answer(session, 5)
    digest = session.engine.digest()
    session.close()
    grown.arrive()
    real = getattr(files, primitive)
    before = shutil.copytree(grown.project, grown.project.parent / "before")
    for nth in range(200):
        left = [nth]

        def faulty(*args: object, left: list[int] = left) -> object:
            left[0] -= 1
            if left[0] == -1:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*args)

        monkeypatch.setattr(files, primitive, faulty)
        refused = False
        try:
            add_images(grown.project, grown.later)
        except StorageFailedError:
            refused = True
        monkeypatch.setattr(files, primitive, real)
        if left[0] >= 0:
            break
        session, report = open_session(grown.project)
        assert report.recovered == ""
        assert session.state.answers == 5
        assert session.state.items in (OLD, 48)
        done = session.state.items == 48
        if not done:
            assert session.engine.digest() == digest
        session.close()
        if done:
            # The backup before it may fail without a word to the user; else only the very last synchronisation.
            assert not refused or primitive == "sync_folder"
            shutil.rmtree(grown.project)
            shutil.copytree(before, grown.project)
    else:
        pytest.fail("never came to an end")
    assert nth > 0


@pytest.mark.parametrize("beside", [True, False])
def test_images_of_another_folder(grown: Grown, tmp_path: Path, beside: bool) -> None:
    session, _ = open_session(grown.project)
    grown.answer(session, 5)
    session.close()
    folder = tmp_path / "2027" if beside else grown.images / "later" / "2027"
    grown.arrive(folder)
    assert add_images(grown.project, AddSpec(folder, grown.later.features)).images == 8
    session, report = open_session(grown.project)
    assert report.warnings == ()
    assert session.workspace is not None
    items = session.workspace.items
    assert items.root == (tmp_path if beside else grown.images)
    assert items.paths[0] == ("images/000.png" if beside else "000.png")
    assert items.paths[-1] == ("2027/047.png" if beside else "later/2027/047.png")
    assert all(items.photo(k).is_file() for k in range(48))
    session.close()


def test_what_is_wrong_is_said_before_anything_is_written(grown: Grown, tmp_path: Path) -> None:
    def refused(spec: AddSpec) -> str:
        report = check_images(grown.project, spec)
        assert not report.ok
        before = grown.snapshot()
        with pytest.raises(InputError) as caught:
            add_images(grown.project, spec)
        assert grown.snapshot() == before
        assert caught.value.message == report.errors[0].message
        assert caught.value.hint
        return caught.value.message

    assert "no new image (40 are in the project already)" in refused(grown.later)
    grown.arrive()
    assert "No features" in refused(AddSpec(grown.images))
    assert "1 feature file; 2 were given" in refused(AddSpec(grown.images, grown.later.features * 2))
    np.savez(
        tmp_path / "wide.npz", features=np.ones((8, 3)) * np.arange(1, 9)[:, None], names=np.array(grown.names[OLD:])
    )
    assert "3 columns, the project's features have 8" in refused(AddSpec(grown.images, (tmp_path / "wide.npz",)))
    unit = grown.values[OLD:] / np.linalg.norm(grown.values[OLD:], axis=1, keepdims=True)
    np.savez(tmp_path / "unit.npz", features=unit, names=np.array(grown.names[OLD:]))
    assert "not of the same length" in refused(AddSpec(grown.images, (tmp_path / "unit.npz",)))
    np.savez(tmp_path / "few.npz", features=grown.values[OLD:46], names=np.array(grown.names[OLD:46]))
    assert "046.png" in refused(AddSpec(grown.images, (tmp_path / "few.npz",)))
    assert add_images(grown.project, AddSpec(grown.images, (tmp_path / "few.npz",), leave_out=True)).images == 6


def test_rows_of_old_images_are_passed_over(grown: Grown, tmp_path: Path) -> None:
    grown.arrive()
    shuffled = np.random.default_rng(0).permutation(48)
    np.savez(tmp_path / "all.npz", features=grown.values[shuffled], names=np.array(grown.names)[shuffled])
    assert add_images(grown.project, AddSpec(grown.images, (tmp_path / "all.npz",))).images == 8
    session, _ = open_session(grown.project)
    assert session.workspace is not None
    places = [grown.names.index(path) for path in session.workspace.items.paths]
    np.testing.assert_array_equal(session.workspace.views()[0], grown.values[places])
    session.close()


def test_a_single_image_and_one_that_cannot_be_read(grown: Grown, tmp_path: Path) -> None:
    (grown.images / "040.png").write_bytes(b"")
    np.save(tmp_path / "one.npy", grown.values[40:41])
    added = add_images(grown.project, AddSpec(grown.images, (tmp_path / "one.npy",)))
    assert added.images == 1
    assert [problem.path for problem in added.problems] == ["040.png"]
    session, _ = open_session(grown.project)
    assert session.workspace is not None
    assert list(session.workspace.items.problems) == [40]
    session.close()


def test_images_that_were_described_are_described_alike(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    faces = [rng.integers(0, 255, (16, 16, 3), np.uint8) for _ in range(4)]

    def draw(k: int) -> None:
        noisy = np.clip(faces[k % 4].astype(int) + rng.integers(-9, 9, (16, 16, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(noisy).resize((64, 64), Image.Resampling.NEAREST).save(tmp_path / "images" / f"{k:02d}.png")

    (tmp_path / "images").mkdir()
    for k in range(24):
        draw(k)
    spec = ProjectSpec(tmp_path / "project", tmp_path / "images", (), embedding=EmbeddingOptions())
    create_project(spec, Task()).close()
    for k in range(24, 32):
        draw(k)
    added = add_images(spec.folder, AddSpec(tmp_path / "images"))
    assert added.images == 8
    session, _ = open_session(spec.folder)
    labels = session.state.labels
    assert session.workspace is not None
    rows = session.workspace.views()[0]
    nearest = np.argsort(-(rows[24:] @ rows[:24].T), axis=1)[:, 0]
    assert (nearest % 4 == np.arange(24, 32) % 4).all()
    assert evaluate(labels, (np.arange(32) % 4).astype(np.int32)).purity > 0.95
    session.close()


def test_parts_of_a_new_photo_are_kept_apart_where_that_was_chosen(grown: Grown, tmp_path: Path) -> None:
    table = tmp_path / "parts.csv"
    head = "file,x,y,width,height\n"
    table.write_text(head + "".join(f"{name},0,0,8,8\n" for name in grown.names[:OLD]))
    spec = ProjectSpec(
        tmp_path / "parts", grown.images, (tmp_path / "old.npy",), parts=table, parts_differ=True,
        initial=InitialOptions(neighbors=12),
    )  # fmt: skip
    create_project(spec, Task()).close()
    grown.draw(grown.images / "two.png", 7)
    table.write_text(head + "two.png,0,0,4,8\ntwo.png,4,0,4,8\n")
    np.save(tmp_path / "two.npy", np.repeat(grown.values[:1], 2, axis=0))
    add = AddSpec(grown.images, (tmp_path / "two.npy",), parts=table)
    assert not check_images(spec.folder, AddSpec(grown.images, add.features)).ok
    assert add_images(spec.folder, add).images == 2
    session, _ = open_session(spec.folder)
    assert session.engine.store.relation(OLD, OLD + 1) is Answer.DIFFERENT
    assert session.state.labels[OLD] != session.state.labels[OLD + 1]
    session.undo()
    assert session.engine.store.relation(OLD, OLD + 1) is None
    session.close()


def test_a_project_in_use_is_left_alone(grown: Grown) -> None:
    grown.arrive()
    session, _ = open_session(grown.project)
    with pytest.raises(ProjectLockedError):
        add_images(grown.project, grown.later)
    session.close()


def test_zipped_and_unpacked_elsewhere_it_is_the_same(grown: Grown, tmp_path: Path) -> None:
    session, _ = open_session(grown.project)
    grown.answer(session, 10)
    session.close()
    grown.arrive()
    add_images(grown.project, grown.later)
    session, _ = open_session(grown.project)
    grown.answer(session, 5)
    state, digest = session.state, session.engine.digest()
    session.close()
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for path in (*grown.project.rglob("*"), *grown.images.rglob("*")):
            archive.write(path, path.relative_to(tmp_path).as_posix())
    shutil.rmtree(grown.project)
    shutil.rmtree(grown.images)
    elsewhere = tmp_path / "other system"
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        archive.extractall(elsewhere)
    project = elsewhere / "project"
    facts = json.loads((project / "project.json").read_text())
    facts["images"]["absolute"] = "D:\\photos\\images"  # as another system writes it
    (project / "project.json").write_text(json.dumps(facts))
    session, report = open_session(project)
    assert (report.recovered, report.warnings) == ("", ())
    assert session.engine.digest() == digest
    np.testing.assert_array_equal(session.state.labels, state.labels)
    assert session.workspace is not None
    assert session.workspace.items.root == elsewhere / "images"
    session.close()


ADDER = """
import sys
from pathlib import Path
from a3s_desktop.session.adding import add_images
from a3s_desktop.session.opening import open_session
from a3s_desktop.storage.later_images import AddSpec

print("ready", flush=True)
add_images(Path(sys.argv[1]), AddSpec(Path(sys.argv[2]), (Path(sys.argv[3]),)))
print("done", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_killed_at_random_moments_it_is_the_old_project_or_the_new_one(grown: Grown, tmp_path: Path) -> None:
    session, _ = open_session(grown.project)
    grown.answer(session, 6)
    session.close()
    grown.arrive()
    rng = np.random.default_rng(2)
    for kill in range(8):
        project = tmp_path / f"killed-{kill}"
        shutil.copytree(grown.project, project)
        with subprocess.Popen(
            [sys.executable, "-c", ADDER, str(project), str(grown.images), str(grown.later.features[0])],
            env=dict(os.environ, PYTHONPATH=str(ROOT)), stdout=subprocess.PIPE, text=True,
        ) as process:  # fmt: skip
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(float(rng.uniform(0.0, 1.2)))
            process.kill()
            done = "done" in process.stdout.read()
        for _ in range(2):
            session, report = open_session(project)
            assert report.recovered == ""
            assert session.state.answers == 6
            assert session.state.items in ((48,) if done else (OLD, 48))
            session.close()
        if not done and session.state.items == OLD:
            assert add_images(project, grown.later).images == 8
