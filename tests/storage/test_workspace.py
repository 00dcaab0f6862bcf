"""The project folder: whole or not there, one writer, readable by all, movable."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from a3s_desktop.core.types import InitialOptions, InitialState, PairGraph, StrategyOptions
from a3s_desktop.errors import (
    A3SError,
    Cancelled,
    InputError,
    ProjectError,
    ProjectLockedError,
    ProjectVersionError,
    ReadOnlyError,
    StorageFailedError,
)
from a3s_desktop.storage import files
from a3s_desktop.storage.spec import ProjectSpec, check_spec
from a3s_desktop.storage.workspace import create_workspace, open_workspace
from a3s_desktop.task import Task

Make = Callable[..., ProjectSpec]


def edit(folder: Path, **changes: object) -> None:
    path = folder / "project.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def some_state(n: int) -> InitialState:
    indices = np.array([(i + 1) % n for i in range(n)], np.int32)
    graph = PairGraph(
        np.arange(n + 1, dtype=np.int64), indices, np.ones((1, n), np.float32), np.zeros(n, np.float32), -4.0
    )
    return InitialState(np.zeros(n, np.int32), graph, {"clusters": 1})


# ------------------------------------------------------------------------------------------------ round trips


def test_created_project_has_all_that_was_given(make_spec: Make, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("file,label\na.jpg,x\nb.png,y\ne.jpg,x\nc.jpg,y\nd.jpg,z\n")
    spec = make_spec(
        labels=tmp_path / "labels.csv",
        initial=InitialOptions(neighbors=7),
        strategy=StrategyOptions(seed=3),
        name="Ladybirds",
    )
    report = check_spec(spec)
    assert report.ok
    assert report.how == "sorted"
    assert report.pairs == tuple(enumerate(report.paths))
    assert (report.images, report.rows, report.columns) == (5, 5, (4,))
    with create_workspace(spec, report) as workspace:
        assert workspace.name == "Ladybirds"
        assert workspace.items.paths == ("a.jpg", "b.png", "e.jpg", "sub/c.jpg", "sub/d.jpg")
        assert workspace.items.file(3).is_file()
        assert workspace.items.name(3) == "c.jpg"
        (view,) = workspace.views()
        assert view.dtype == np.float32
        assert (view == np.load(spec.features[0])).all()
        labels = workspace.labels()
        assert labels is not None
        assert [labels.names[code] for code in labels.codes] == ["x", "y", "x", "y", "z"]
        assert workspace.initial_options == spec.initial
        assert workspace.strategy_options == spec.strategy
        assert workspace.recovery.text == ""
        assert workspace.warnings == ()
        workspace.journal.append("answer", {"left": 0})
    with open_workspace(spec.folder) as again:
        assert again.journal.last == 1
        assert again.id == workspace.id


def test_views_and_names_in_other_orders(make_spec: Make, tmp_path: Path) -> None:
    spec = make_spec()
    names = np.array(["sub/d.jpg", "e.jpg", "a.jpg", "b.png", "sub/c.jpg"])
    first, second = np.arange(10.0).reshape(5, 2) + 1, np.arange(15.0).reshape(5, 3) + 100
    np.savez(tmp_path / "one.npz", features=first, names=names)
    shuffled = np.array([3, 1, 0, 4, 2])
    np.savez(tmp_path / "two.npz", features=second[shuffled], names=names[shuffled])
    spec = make_spec(features=(tmp_path / "one.npz", tmp_path / "two.npz"))
    with create_workspace(spec) as workspace:
        assert workspace.items.paths == tuple(names)
        assert [view.tolist() for view in workspace.views()] == [first.tolist(), second.tolist()]


def test_results_are_kept_by_inputs_and_options(make_spec: Make) -> None:
    spec = make_spec()
    with create_workspace(spec) as workspace:
        assert workspace.load_initial() is None
        assert workspace.load_layout() is None
        workspace.save_initial(some_state(5))
        workspace.save_layout(np.ones((5, 2)))
        workspace.save_stage("neighbors-0", {"indices": np.ones((5, 2), np.int32)}, {"seconds": 1.5})
    with open_workspace(spec.folder) as again:
        state = again.load_initial()
        assert state is not None
        assert state.graph.miss == -4.0
        assert state.report == {"clusters": 1}
        layout = again.load_layout()
        assert layout is not None
        assert layout.dtype == np.float32
        stage = again.load_stage("neighbors-0")
        assert stage is not None
        assert stage[1] == {"seconds": 1.5}
    edit(spec.folder, initial={"neighbors": 9})
    with open_workspace(spec.folder) as other:
        assert other.load_initial() is None


def test_results_outlive_options_that_a_later_version_adds(make_spec: Make) -> None:
    spec = make_spec()
    create_workspace(spec).close()
    written = json.loads((spec.folder / "project.json").read_text())["initial"]
    written.pop("refine")  # as if this project were from before that option
    edit(spec.folder, initial=written)
    with open_workspace(spec.folder) as old:
        old.save_initial(some_state(5))
    filled_in = InitialOptions.from_json(written).to_json()
    assert filled_in != written
    with open_workspace(spec.folder, read_only=True) as again:
        assert again.load_initial() is not None
        key = again._key()
    edit(spec.folder, initial=filled_in)
    with open_workspace(spec.folder, read_only=True) as complete:
        assert complete._key() != key  # what is written is what counts


def test_odd_file_names_survive(make_spec: Make) -> None:
    names = ("\U0001f41e.jpg", 'it\'s "q"\n.jpg', "=1+1.jpg", "e\u0301.jpg") + (
        (os.fsdecode(b"raw\xff.jpg"),) if sys.platform == "linux" else ()
    )
    spec = make_spec(names)
    with create_workspace(spec) as workspace:
        assert set(workspace.items.paths) == set(names)
    with open_workspace(spec.folder) as again:
        assert all(again.items.file(i).is_file() for i in range(len(again.items)))
        assert all("\n" not in again.items.name(i) for i in range(len(again.items)))


def test_project_moves_with_and_without_its_images(make_spec: Make, tmp_path: Path) -> None:
    spec = make_spec()
    create_workspace(spec).close()
    shutil.copytree(tmp_path, tmp_path.parent / "moved-both")
    with open_workspace(tmp_path.parent / "moved-both" / "project") as both:
        assert both.items.root == tmp_path.parent / "moved-both" / "images"
    shutil.rmtree(tmp_path.parent / "moved-both")
    archive = shutil.make_archive(str(tmp_path / "archive"), "zip", spec.folder)
    shutil.unpack_archive(archive, tmp_path / "far" / "away")
    with open_workspace(tmp_path / "far" / "away") as alone:
        assert alone.items.root == spec.images
    (tmp_path / "images").rename(tmp_path / "unplugged")
    with open_workspace(spec.folder) as missing:
        assert not missing.items.available
        assert len(missing.items) == 5
        assert "is not there" in missing.warnings[0]


# ------------------------------------------------------------------------------------------------ making


def errors_of(spec: ProjectSpec) -> str:
    report = check_spec(spec)
    assert not report.ok
    assert all(error.hint for error in report.errors)
    with pytest.raises(type(report.errors[0])):
        create_workspace(spec, report)
    assert not (spec.folder / "project.json").exists()
    return " | ".join(error.message for error in report.errors)


def test_everything_wrong_is_said_at_once(make_spec: Make, tmp_path: Path) -> None:
    array = np.ones((7, 4))
    array[2, 1] = np.nan
    array[4] = 0
    np.save(tmp_path / "bad.npy", array)
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "mine.txt").write_text("x")
    text = errors_of(make_spec(features=(tmp_path / "bad.npy", tmp_path / "absent.npy")))
    for words in ("is not empty", "row 2, column 1", "row 4 holds only zeros", "'absent.npy'"):
        assert words in text.replace(f"{tmp_path}/", "")


def test_mismatch_names_the_first(make_spec: Make, tmp_path: Path) -> None:
    np.save(tmp_path / "six.npy", np.random.default_rng(0).normal(size=(6, 3)))
    text = errors_of(make_spec(features=(tmp_path / "six.npy",)))
    assert "6 rows" in text
    assert "5 images" in text
    assert "row 5" in text


@pytest.mark.parametrize("count", [0, 2])
def test_too_few_images(make_spec: Make, tmp_path: Path, count: int) -> None:
    (tmp_path / "images").mkdir()
    np.save(tmp_path / "f.npy", np.eye(5))
    text = errors_of(make_spec(("a.jpg", "b.jpg")[:count], features=(tmp_path / "f.npy",)))
    assert ("no image" if count == 0 else "only 2 images") in text


def test_too_few_images_and_rows_are_said_once(make_spec: Make, tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    np.save(tmp_path / "f.npy", np.eye(2))
    spec = make_spec(("a.jpg", "b.jpg"), features=(tmp_path / "f.npy",))
    (error,) = check_spec(spec).errors
    assert "only 2 images" in error.message


def test_no_permission(make_spec: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x")
    assert "is a file" in errors_of(make_spec(folder=tmp_path / "file" / "project"))
    assert "a file of that name" in errors_of(make_spec(folder=tmp_path / "file"))
    assert "does not exist" in errors_of(make_spec(folder=tmp_path / "a" / "b"))
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    assert "no permission to write" in errors_of(make_spec())


def test_folder_that_must_not_be_changed(make_spec: Make, tmp_path: Path) -> None:
    """Also for the administrator, whom permissions do not stop."""
    locked = tmp_path / "locked"
    locked.mkdir()
    if shutil.which("chattr") is None or subprocess.run(["chattr", "+i", locked], capture_output=True).returncode:
        pytest.skip("no way to make a folder unchangeable here")
    try:
        with pytest.raises(A3SError, match="no permission"):
            create_workspace(make_spec(folder=locked / "project"))
    finally:
        subprocess.run(["chattr", "-i", locked], check=True)
    assert list(locked.iterdir()) == []


def test_images_that_cannot_be_shown_are_carried(make_spec: Make, tmp_path: Path) -> None:
    spec = make_spec()
    (tmp_path / "images" / "a.jpg").write_bytes(b"")
    (tmp_path / "images" / "sub" / "c.jpg").write_bytes(b"nonsense")
    report = check_spec(spec)
    assert report.ok
    assert [problem.path for problem in report.problems] == ["a.jpg", "sub/c.jpg"]
    assert "2 files" in report.warnings[0]
    with create_workspace(spec, report) as workspace:
        assert len(workspace.items) == 5
        assert workspace.items.problems == {0: "the file is empty", 3: report.problems[1].reason}


@pytest.mark.parametrize("primitive", ["open_new", "write_all", "sync_file", "sync_folder", "rename", "make_folder"])
def test_fault_at_any_step_leaves_no_project(
    make_spec: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, primitive: str
) -> None:
    spec = make_spec()
    before = sorted(tmp_path.iterdir())
    real = getattr(files, primitive)
    for position in range(1, 30):
        calls = 0

        def fail(*arguments: object, position: int = position) -> object:
            nonlocal calls
            calls += 1
            if calls == position:
                raise OSError(28, "No space left on device")
            return real(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(files, primitive, fail)
            try:
                workspace = create_workspace(spec)
            except StorageFailedError as error:
                if "the disk is full" not in error.message:
                    raise
                workspace = None
        if workspace is not None:
            workspace.close()
            break
        if spec.folder.exists():  # the very last step: the project is whole
            open_workspace(spec.folder).close()
            shutil.rmtree(spec.folder)
        assert sorted(tmp_path.iterdir()) == before
    else:
        pytest.fail("it never came to an end")


@pytest.mark.parametrize("moment", range(1, 8))
def test_cancel_leaves_nothing(make_spec: Make, tmp_path: Path, moment: int) -> None:
    spec = make_spec()
    before = sorted(tmp_path.iterdir())

    class Impatient(Task):
        looks = 0

        def check(self) -> None:
            self.looks += 1
            if self.looks == moment:
                self.cancel()
            super().check()

    with contextlib.suppress(Cancelled):
        create_workspace(spec, task=Impatient()).discard()
    assert sorted(tmp_path.iterdir()) == before


def test_discard(make_spec: Make, tmp_path: Path) -> None:
    spec = make_spec()
    before = sorted(tmp_path.iterdir())
    create_workspace(spec).discard()
    assert sorted(tmp_path.iterdir()) == before


# ------------------------------------------------------------------------------------------------ opening


def test_second_writer_is_refused_and_may_read(make_spec: Make) -> None:
    spec = make_spec()
    with create_workspace(spec) as writer:
        writer.journal.append("answer", {"left": 1})
        with pytest.raises(ProjectLockedError, match="already open"):
            open_workspace(spec.folder)
        with open_workspace(spec.folder, read_only=True) as reader:
            assert reader.read_only
            assert reader.journal.last == 1
            for change in (
                lambda: reader.save_layout(np.zeros((5, 2))),
                lambda: reader.journal.append("answer", {}),
                reader.discard,
            ):
                with pytest.raises(ReadOnlyError):
                    change()
    open_workspace(spec.folder).close()


def test_reading_changes_nothing(make_spec: Make) -> None:
    spec = make_spec()
    with create_workspace(spec) as workspace:
        workspace.journal.append("answer", {})

    def facts() -> list[tuple[str, int, int]]:
        return sorted((str(p), p.stat().st_mtime_ns, p.stat().st_size) for p in [spec.folder, *spec.folder.rglob("*")])

    before = facts()
    with open_workspace(spec.folder, read_only=True) as reader:
        assert [record.kind for record in reader.journal.records()] == ["answer"]
    assert facts() == before


def test_damaged_journal_is_said(make_spec: Make) -> None:
    spec = make_spec()
    with create_workspace(spec) as workspace:
        for i in range(200):
            workspace.journal.append("answer", {"i": i})
    path = spec.folder / "journal.sqlite"
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    with open_workspace(spec.folder, read_only=True) as reader:
        assert "damaged" in reader.recovery.text
        assert reader.recovery.damaged == ""
        count = reader.journal.last
    with open_workspace(spec.folder) as writer:
        assert writer.journal.last == count
        assert [record.payload["i"] for record in writer.journal.records()] == list(range(count))
        assert (spec.folder / writer.recovery.damaged).is_file()
        assert writer.recovery.damaged in writer.recovery.text
        writer.journal.append("answer", {})
    with open_workspace(spec.folder) as again:
        assert again.recovery.text == ""


@pytest.mark.parametrize("version", [3, 99, 0, -1, "1", None, 1.5, "x" * 500])
def test_unknown_version(make_spec: Make, version: object) -> None:
    spec = make_spec()
    create_workspace(spec).close()
    edit(spec.folder, version=version)
    for read_only in (False, True):
        with pytest.raises(ProjectVersionError, match="format version") as caught:
            open_workspace(spec.folder, read_only)
        assert caught.value.hint


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": 3}, "'name'"),
        ({"images": {}}, "'images'"),
        ({"images": {"absolute": "/x", "relative": 3}}, "'images'"),
        ({"features": []}, "'features'"),
        ({"features": [{"columns": "x"}]}, "'features' (entry 0)"),
        ({"initial": {"what": 1}}, "'initial'"),
        ({"strategy": None}, "'strategy'"),
        ({"format": "other"}, "not of a project"),
    ],
)
def test_damaged_fields_are_named(make_spec: Make, changes: dict[str, object], field: str) -> None:
    spec = make_spec()
    create_workspace(spec).close()
    edit(spec.folder, **changes)
    with pytest.raises(ProjectError) as caught:
        open_workspace(spec.folder)
    assert field in caught.value.message


@pytest.mark.parametrize("name", ["project.json", "items.json"])
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"paths": 3}', b"[" * 100_000, None])
def test_damaged_files_are_named(make_spec: Make, name: str, content: bytes | None) -> None:
    spec = make_spec()
    create_workspace(spec).close()
    if content is None:
        (spec.folder / name).unlink()
    else:
        (spec.folder / name).write_bytes(content)
    with pytest.raises(ProjectError) as caught:
        open_workspace(spec.folder)
    assert str(spec.folder) in caught.value.message
    assert caught.value.hint
    with pytest.raises(ProjectError):  # the lock was let go
        open_workspace(spec.folder)


@pytest.mark.parametrize("path", ["../x.jpg", "/etc/passwd", "a/../../x", "", "a//b", "./a", "a\0b", 3, None])
def test_paths_cannot_leave_the_image_folder(make_spec: Make, path: object) -> None:
    spec = make_spec()
    create_workspace(spec).close()
    (spec.folder / "items.json").write_text(json.dumps({"paths": ["a.jpg", path], "problems": {}}))
    with pytest.raises(ProjectError, match="entry 1"):
        open_workspace(spec.folder)


def test_features_that_do_not_fit(make_spec: Make) -> None:
    spec = make_spec()
    create_workspace(spec).close()
    np.save(spec.folder / "features-0.npy", np.ones((4, 4), np.float32))
    with open_workspace(spec.folder) as workspace, pytest.raises(ProjectError, match="do not fit"):
        workspace.views()
    (spec.folder / "features-0.npy").write_bytes(b"x")
    with open_workspace(spec.folder) as workspace, pytest.raises(ProjectError, match="missing or damaged"):
        workspace.views()


def test_what_is_no_project(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path, words in [
        (tmp_path / "absent", "does not exist"),
        (tmp_path / "file", "is a file"),
        (tmp_path, "is not a project"),
    ]:
        with pytest.raises(ProjectError, match=words):
            open_workspace(path)


def test_writing_without_permission_offers_reading(make_spec: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = make_spec()
    create_workspace(spec).close()
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    with pytest.raises(ProjectError, match="no permission") as caught:
        open_workspace(spec.folder)
    assert "read-only" in caught.value.hint
    open_workspace(spec.folder, read_only=True).close()


def test_unchangeable_project_can_be_read(make_spec: Make) -> None:
    spec = make_spec()
    with create_workspace(spec) as workspace:
        workspace.journal.append("answer", {})
    targets = [spec.folder, *spec.folder.iterdir()]
    if shutil.which("chattr") is None or subprocess.run(["chattr", "+i", *targets], capture_output=True).returncode:
        pytest.skip("no way to make a folder unchangeable here")
    try:
        with pytest.raises(ProjectError, match="no permission") as caught:
            open_workspace(spec.folder)
        assert "read-only" in caught.value.hint
        with open_workspace(spec.folder, read_only=True) as reader:
            assert reader.journal.last == 1
            assert len(reader.views()) == 1
    finally:
        subprocess.run(["chattr", "-i", *targets], check=True)


def test_spec_without_features(make_spec: Make) -> None:
    with pytest.raises(InputError, match="No feature file"):
        create_workspace(make_spec(features=()))
