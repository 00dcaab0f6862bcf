"""Images without features are described: all of them, once, resumable, and aligned with their rows."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from a3s_desktop.core import descriptor
from a3s_desktop.errors import Cancelled, InputError, ProjectError
from a3s_desktop.session.opening import create_project, open_session
from a3s_desktop.storage import embedding, embedding_blocks
from a3s_desktop.storage.embedding import describe_images, describe_later, prepare
from a3s_desktop.storage.embedding_blocks import BlockStore
from a3s_desktop.storage.embedding_options import EmbeddingOptions, ModelOptions
from a3s_desktop.storage.keys import Part, part_key
from a3s_desktop.storage.spec import ProjectSpec, check_spec
from a3s_desktop.storage.workspace import create_workspace
from a3s_desktop.task import Progress, Task
from tests.core.test_descriptor import pictures
from tests.storage.zoo import zoo

KINDS, EACH = 4, 3


class Counting:
    """A source that tells how often it was asked: mean colours."""

    name = "counting"
    size = 16

    def __init__(self) -> None:
        self.seen = 0

    def describe(self, images: np.ndarray, /) -> np.ndarray:
        self.seen += len(images)
        return np.concatenate([images.mean(axis=(1, 2)), np.ones((len(images), 1))], axis=1).astype(np.float32)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Four kinds of pictures, three of each; one is in a sub-folder."""
    folder = tmp_path / "photos"
    (folder / "sub").mkdir(parents=True)
    rng = np.random.default_rng(4)
    for kind, picture in enumerate(pictures(KINDS)):
        for number in range(EACH):
            noisy = np.clip(picture + rng.normal(0, 8, picture.shape), 0, 255).astype(np.uint8)
            name = f"{kind}{number}.png" if number else f"sub/{kind}{number}.png"
            Image.fromarray(noisy).save(folder / name)
    return folder


def spec_of(photos: Path, **changes: object) -> ProjectSpec:
    values: dict[str, object] = {
        "folder": photos.parent / "project",
        "images": photos,
        "features": (),
        "embedding": EmbeddingOptions(),
    }
    return ProjectSpec(**{**values, **changes})  # type: ignore[arg-type]


def kind_of(path: str) -> int:
    return int(path.rpartition("/")[2][0])


def test_a_project_without_features(photos: Path) -> None:
    spec = spec_of(photos)
    report = check_spec(spec)
    assert report.ok, report.errors
    assert report.how == "described"
    assert not spec.folder.exists()
    create_project(spec, Task(), report).close()
    session, _ = open_session(spec.folder)
    try:
        assert session.workspace is not None
        (values,) = session.workspace.views()
        assert values.dtype == np.float32
        assert np.linalg.norm(values, axis=1) == pytest.approx(np.ones(12), rel=1e-4)
        kinds = np.array([kind_of(path) for path in session.workspace.items.paths])
        likeness = values @ values.T - 2 * np.eye(12)
        assert (kinds[likeness.argmax(axis=1)] == kinds).all()
        assert session.workspace.choices["embedding"]["descriptor"] is True
    finally:
        session.close()
    assert sorted(os.listdir(spec.folder / "embedding")) == ["blocks", "projection"]


def test_without_features_or_a_description_nothing_is_made(photos: Path) -> None:
    report = check_spec(spec_of(photos, embedding=None))
    assert "No feature file" in str(report.errors[0])


def test_what_cannot_be_read_is_a_placeholder_and_rows_stay_aligned(photos: Path) -> None:
    (photos / "00.png").write_bytes(b"")
    flipped = bytearray((photos / "11.png").read_bytes())
    flipped[len(flipped) // 2] ^= 255
    (photos / "11.png").write_bytes(flipped)  # found only when it is read whole
    spec = spec_of(photos)
    report = check_spec(spec)
    assert {problem.path for problem in report.problems} == {"00.png"}
    with create_workspace(spec, report) as workspace:
        paths = workspace.items.paths
        assert {paths[item] for item in workspace.items.problems} == {"00.png", "11.png"}
        assert "checksum" in workspace.items.problems[paths.index("11.png")]
        (values,) = workspace.views()
        kinds = np.array([kind_of(path) for path in paths])
        good = np.array([item not in workspace.items.problems for item in range(len(paths))])
        likeness = values @ values.T - 2 * np.eye(len(paths))
        assert (kinds[likeness.argmax(axis=1)] == kinds)[good].all()
        assert np.linalg.norm(values, axis=1) == pytest.approx(np.ones(len(paths)), rel=1e-4)


def test_a_folder_of_nothing_but_damaged_images_is_refused(photos: Path) -> None:
    for path in photos.rglob("*.png"):
        path.write_bytes(b"\x89PNG\r\n\x1a\n nothing")
    spec = spec_of(photos)
    with pytest.raises(InputError, match="Fewer than three"):
        prepare(spec, check_spec(spec))


def test_cancelled_work_goes_on_where_it_was(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting()
    monkeypatch.setattr(embedding, "sources_of", lambda options: [(1.0, counting)])
    spec = spec_of(photos)
    report = check_spec(spec)

    def stop(progress: Progress) -> None:
        if counting.seen >= 8:
            task.cancel()

    task = Task(stop, 0.0)
    with pytest.raises(Cancelled):
        prepare(spec, report, task)
    assert counting.seen == 8
    assert os.listdir(spec.folder) == ["embedding"]
    report = check_spec(spec)  # the folder that waits is no obstacle
    assert report.ok, report.errors
    with create_workspace(spec, report) as workspace:
        assert len(workspace.items) == 12
    assert counting.seen == 12


def test_a_cancelled_first_stage_keeps_the_descriptions(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting()
    monkeypatch.setattr(embedding, "sources_of", lambda options: [(1.0, counting)])
    spec = spec_of(photos)
    workspace = create_workspace(spec, check_spec(spec))
    workspace.discard()
    assert os.listdir(spec.folder) == ["embedding"]
    create_workspace(spec, check_spec(spec)).close()
    assert counting.seen == 12


def test_a_project_that_is_there_is_never_taken_for_unfinished_work(photos: Path) -> None:
    spec = spec_of(photos)
    create_workspace(spec, check_spec(spec)).close()
    report = check_spec(spec)
    assert isinstance(report.errors[0], ProjectError)


def test_only_what_changed_is_described_again(photos: Path, tmp_path: Path) -> None:
    counting, blocks = Counting(), tmp_path / "blocks"
    keys = [path.relative_to(photos).as_posix() for path in sorted(photos.rglob("*.png"))]

    def run(wanted: list[str]) -> np.ndarray:
        described = describe_images(photos, wanted, [(1.0, counting)], blocks, Task())
        rows, known = described.stores[0][1].rows(wanted)
        assert known.all()
        return rows

    first = run(keys)
    assert counting.seen == 12
    assert (run(keys[::-1]) == first[::-1]).all()
    assert counting.seen == 12
    Image.fromarray(np.full((40, 40, 3), 250, np.uint8)).save(photos / keys[3])
    Image.fromarray(np.full((40, 40, 3), 20, np.uint8)).save(photos / "new.png")
    changed = run([*keys, "new.png"])
    assert counting.seen == 14
    assert (changed[3] != first[3]).any()
    assert (np.delete(changed[:12], 3, axis=0) == np.delete(first, 3, axis=0)).all()


def test_a_damaged_block_is_computed_again(photos: Path, tmp_path: Path) -> None:
    counting, blocks = Counting(), tmp_path / "blocks"
    keys = [path.relative_to(photos).as_posix() for path in sorted(photos.rglob("*.png"))]
    describe_images(photos, keys, [(1.0, counting)], blocks, Task())
    (table,) = blocks.glob("*.json")
    table.write_text('{"keys": [1, null')
    describe_images(photos, keys, [(1.0, counting)], blocks, Task())
    assert counting.seen == 24


def test_later_images_are_described_alike(photos: Path) -> None:
    spec = spec_of(photos)
    with create_workspace(spec, check_spec(spec)) as workspace:
        paths = workspace.items.paths
        (values,) = workspace.views()
    shutil.copy(photos / "21.png", photos / "later.png")
    rows, problems = describe_later(spec.folder, photos, ["later.png", "01.png", "none.png"], Task())
    assert rows[:2] == pytest.approx(values[[paths.index("21.png"), paths.index("01.png")]], abs=1e-3)
    assert [problem.path for problem in problems] == ["none.png"]
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(3), rel=1e-4)


def test_parts_are_described_each_by_itself(photos: Path, tmp_path: Path) -> None:
    picture = np.zeros((40, 80, 3), np.uint8)
    picture[:, 40:] = 200
    Image.fromarray(picture).save(photos / "two.png")
    keys = [part_key("two.png", Part(0, 0, 40, 40)), part_key("two.png", Part(40, 0, 40, 40))]
    described = describe_images(photos, keys, [(1.0, Counting())], tmp_path / "blocks", Task())
    store = described.stores[0][1]
    assert store.lengths(keys) == pytest.approx([1.0, np.sqrt(3 * 200**2 + 1)], rel=1e-3)


def test_many_images_need_no_open_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = BlockStore(tmp_path / "blocks", "x")
    for number in range(20):
        store.save([f"{number}"], [(1, 2)], np.full((1, 3), number + 1.0, np.float32))
    again = BlockStore(tmp_path / "blocks", "x")
    rows, known = again.rows([f"{number}" for number in range(20)])
    assert known.all()
    assert rows == pytest.approx(np.full((20, 3), 3**-0.5), rel=1e-3)
    assert len(again._recent) <= embedding_blocks._OPEN_BLOCKS


def test_results_of_another_version_are_not_mixed(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = spec_of(photos)
    prepare(spec, check_spec(spec))
    before = len(list((spec.folder / "embedding" / "blocks").iterdir()))
    monkeypatch.setattr(
        embedding,
        "_BuiltIn",
        lambda: type(
            "New", (), {"name": "builtin999", "size": descriptor.SIDE, "describe": staticmethod(descriptor.describe)}
        )(),
    )
    prepare(spec, check_spec(spec))
    assert len(list((spec.folder / "embedding" / "blocks").iterdir())) == 2 * before
    shutil.rmtree(spec.folder)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (EmbeddingOptions(descriptor=False), "Neither"),
        (EmbeddingOptions(dimensions=1), "dimensions"),
        (EmbeddingOptions(descriptor_weight=0.0), "weight"),
        (EmbeddingOptions(model_options=ModelOptions(size=4)), "input size"),
        (EmbeddingOptions(model_options=ModelOptions(std=(1.0, 0.0, 1.0))), "above 0"),
        (EmbeddingOptions(model_options=ModelOptions(mean=(float("nan"), 0.0, 1.0))), "three numbers"),
    ],
)
def test_options_out_of_range_are_said_before_anything_runs(
    photos: Path, options: EmbeddingOptions, words: str
) -> None:
    report = check_spec(spec_of(photos, embedding=options))
    assert any(words in str(error) for error in report.errors)


def test_options_survive_the_project_file() -> None:
    options = EmbeddingOptions(model="m.onnx", model_options=ModelOptions(mean=(0.1, 0.2, 0.3)), dimensions=64)
    assert EmbeddingOptions.from_json({**options.to_json(), "of_later_versions": 1}) == options


def test_the_whole_zoo_is_described_or_listed(tmp_path: Path) -> None:
    folder = tmp_path / "zoo"
    folder.mkdir()
    animals = {specimen.name: specimen for specimen in zoo()}
    for name, specimen in animals.items():
        (folder / name).write_bytes(specimen.data)
    spec = spec_of(folder)
    with create_workspace(spec, check_spec(spec)) as workspace:
        paths = workspace.items.paths
        assert set(paths) == set(animals)
        listed = {paths[item] for item in workspace.items.problems}
        assert listed == {name for name, specimen in animals.items() if specimen.pixels is None}
        (values,) = workspace.views()
        assert np.linalg.norm(values, axis=1) == pytest.approx(np.ones(len(paths)), rel=1e-4)
    # One picture, whatever the format and orientation; before centring, which leaves nothing but noise of equals.
    turns = [
        f"turn-{turn}.{suffix}" for turn in range(1, 9) for suffix in ("jpg", "png", "heic", "avif", "tif", "webp")
    ]
    rows, known = BlockStore(spec.folder / "embedding" / "blocks", "builtin1").rows(
        ["plain.png", *turns, "plain-half.png"]
    )
    assert known.tolist() == [True] * 49 + [False]
    assert (rows[1:-1] @ rows[0]).min() > 0.9


def test_features_of_the_whole_zoo_stay_aligned(tmp_path: Path) -> None:
    folder = tmp_path / "zoo"
    folder.mkdir()
    names = [specimen.name for specimen in zoo()]
    for specimen in zoo():
        (folder / specimen.name).write_bytes(specimen.data)
    shuffled = [names[at] for at in np.random.default_rng(0).permutation(len(names))]
    rows = np.random.default_rng(1).normal(size=(len(names), 3)).astype(np.float32)
    np.savez(tmp_path / "f.npz", features=rows, names=np.array(shuffled))
    spec = spec_of(folder, features=(tmp_path / "f.npz",), embedding=None)
    report = check_spec(spec)
    assert report.ok, report.errors
    with create_workspace(spec, report) as workspace:
        assert workspace.items.paths == tuple(shuffled)
        assert (workspace.views()[0] == rows).all()
