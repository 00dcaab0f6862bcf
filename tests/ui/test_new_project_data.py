"""The form with all that it offers beside images and one feature file, on real files, up to the project."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from a3s_desktop.session.opening import open_session
from a3s_desktop.storage import lite0, onnx_file
from a3s_desktop.storage.embedding_options import LITE0
from a3s_desktop.storage.embedding_outlook import preset_there
from a3s_desktop.ui.advanced_box import patterns_of
from a3s_desktop.ui.description_form import BUILT_IN, MODEL_ONLY, DescriptionForm, three_numbers
from a3s_desktop.ui.feature_source import duration_text
from tests.ui.new_project_kit import COUNT, choose, creator, data, make, page, settled

__all__ = ["creator", "data", "page"]  # fixtures


def described(page, way: str = BUILT_IN) -> None:
    page.source.describe.setChecked(True)
    form = page.advanced.description
    form.way.setCurrentIndex(form.way.findData(way))


def pooling(size: int | str) -> bytes:
    """A model whose features are the means of the channels."""
    return onnx_file.model(
        [onnx_file.node("ReduceMean", ["images"], "features", axes=[2, 3], keepdims=0)], [],
        [onnx_file.value_info("images", ["n", 3, size, size], onnx_file.FLOAT)],
        [onnx_file.value_info("features", ["n", 3], onnx_file.FLOAT)], {},
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------ no features


def test_images_without_features_are_described_and_the_time_is_told(qtbot, page, creator, data):
    assert page.features.isVisible()
    page.source.describe.click()
    assert not page.features.isVisible()
    described(page)
    assert "built-in description" in page.source.used.text()
    assert "Everything fits" in settled(qtbot, page)
    assert f"Describing {COUNT} images takes a few seconds" in page.source.time.text()
    assert "measured on" in page.source.time.text()
    assert "12 images will be described" in page.panel.facts.text()
    assert not page.panel.confirm.isVisible()  # no rows, nothing to be confirmed
    assert not (data / "A project").exists()  # nothing is written by looking
    folder = make(qtbot, creator, page)
    session, report = open_session(folder)
    assert session.state.items == COUNT
    assert session.state.question is not None
    assert report.warnings == ()
    session.close()
    assert json.loads((folder / "project.json").read_text())["choices"]["embedding"]["model"] == ""


def test_the_preset_is_preferred_where_it_is_installed_and_not_offered_elsewhere(qtbot, page):
    with_it, without = DescriptionForm(True), DescriptionForm(False)
    for form in (with_it, without):
        qtbot.addWidget(form)
    assert with_it.options().model == LITE0
    assert with_it.options().descriptor
    assert without.options().model == ""
    assert "not installed" in without.weak.text()
    assert "weak for animals" in without.weak.text()
    assert (page.advanced.description.options().model == LITE0) == preset_there()
    assert preset_there() == (lite0.weights_file() is not None)


def test_cancelling_keeps_what_was_described_and_the_next_attempt_uses_it(qtbot, page, creator, data):
    described(page)
    settled(qtbot, page)
    stages = []

    def stop_in_time(progress):
        stages.append(progress.stage)
        if progress.stage == "Describing images" and progress.fraction > 0:
            creator.cancel()

    many(data, 120)
    page.check_again()
    settled(qtbot, page)
    creator.progressed.connect(stop_in_time)
    with qtbot.waitSignal(creator.stopped, timeout=60_000) as caught:
        creator.create(page._fit)
    creator.progressed.disconnect(stop_in_time)
    assert caught.args == [None]
    assert os.listdir(data / "A project") == ["embedding"]
    page.check_again()
    settled(qtbot, page)
    assert "described already, from an earlier attempt" in page.source.time.text()
    folder = make(qtbot, creator, page)
    assert (folder / "project.json").is_file()


def many(data, count: int) -> None:
    content = (data / "seals" / "00.png").read_bytes()
    for number in range(count):
        (data / "seals" / f"more{number:03}.png").write_bytes(content)


def test_cancelling_leaves_no_empty_folders(qtbot, page, creator, data):
    page.features.add(str(data / "features.npy"))
    page.location.set_path(data / "new" / "place")
    settled(qtbot, page)
    with qtbot.waitSignal(creator.stopped, timeout=20_000):
        creator.create(page._fit)
        creator.cancel()
    assert not (data / "new").exists()


# ------------------------------------------------------------------------------------------------ models


def test_a_model_is_asked_for_and_what_it_does_not_say_is_said(qtbot, page, creator, data):
    pytest.importorskip("onnxruntime", reason="there is no onnxruntime for this system")
    (data / "model.onnx").write_bytes(pooling("side"))
    described(page, MODEL_ONLY)
    form = page.advanced.description
    assert page.panel.headline.text() == "Choose the file of the ONNX model."
    form.model.set_path(data / "model.onnx")
    assert "model.onnx" in page.source.used.text()
    text = settled(qtbot, page)
    assert "does not say what size" in text
    assert "mean and deviation" in text
    form.side.setValue(32)
    form.mean.setText("0,5; 0,5; 0,5")
    form.deviation.setText("0.25, 0.25, 0.2")
    text = settled(qtbot, page)
    assert "does not say" not in text
    options = page.spec().embedding
    assert (options.descriptor, options.model_options.size) == (False, 32)
    assert (options.model_options.mean, options.model_options.std) == ((0.5, 0.5, 0.5), (0.25, 0.25, 0.2))
    folder = make(qtbot, creator, page)
    kept = json.loads((folder / "project.json").read_text())["choices"]["embedding"]
    assert kept["model"] == str(data / "model.onnx")
    assert kept["model_options"]["std"] == [0.25, 0.25, 0.2]


def test_numbers_of_a_model_that_are_none_are_named(page, data):
    described(page, MODEL_ONLY)
    form = page.advanced.description
    form.model.set_path(data / "model.onnx")
    form.deviation.setText("a half")
    assert page.spec() is None
    assert page.panel.headline.text().startswith("Deviation: give three numbers")
    assert not page.create_button.isEnabled()


def test_a_model_that_cannot_run_is_said_before_anything_is_made(qtbot, page, data):
    pytest.importorskip("onnxruntime", reason="there is no onnxruntime for this system")
    unknown = onnx_file.model(
        [onnx_file.node("RunProgram", ["images"], "features")], [],
        [onnx_file.value_info("images", ["n", 3, 16, 16], onnx_file.FLOAT)],
        [onnx_file.value_info("features", ["n", 3], onnx_file.FLOAT)], {},
    )  # fmt: skip
    (data / "model.onnx").write_bytes(unknown)
    described(page, MODEL_ONLY)
    page.advanced.description.model.set_path(data / "model.onnx")
    assert "cannot be run" in settled(qtbot, page)
    assert not page.create_button.isEnabled()


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("0.5, 0.4, 0.3", (0.5, 0.4, 0.3)),
        ("0.5,0.4,0.3", (0.5, 0.4, 0.3)),
        ("[0.5 0.4 0.3]", (0.5, 0.4, 0.3)),
        ("0,5; 0,4; 0,3", (0.5, 0.4, 0.3)),
        ("0,5 0,4 0,3", (0.5, 0.4, 0.3)),
        ("0.5", (0.5, 0.5, 0.5)),
        ("0.5, 0.4", None),
        ("nan, 1, 1", None),
        ("1e400 1 1", None),
        ("red", None),
        ("", None),
    ],
)
def test_three_numbers_as_people_write_them(text, numbers):
    assert three_numbers(text) == numbers


# ------------------------------------------------------------------------------------------------ which images


def test_patterns_choose_images(qtbot, page, data):
    page.features.add(str(data / "features.npy"))
    page.advanced.exclude.setText("0[0-3].png ; ")
    text = settled(qtbot, page)
    assert "12" in text
    assert page.spec().exclude == ("0[0-3].png",)
    np.save(data / "eight.npy", np.load(data / "features.npy")[4:])
    page.features.set_paths((data / "eight.npy",))
    assert "Everything fits" in settled(qtbot, page)
    assert patterns_of(" *.jpg;left/* ;; ") == ("*.jpg", "left/*")


def test_parts_of_photos_that_differ_are_an_entry_of_the_history(qtbot, page, creator, data):
    lines = ["file,x,y,width,height"]
    for number in range(COUNT):
        lines += [f"{number:02}.png,0,0,24,40", f"{number:02}.png,24,0,24,40"]
    (data / "parts.csv").write_text("\n".join(lines))
    described(page)
    assert not page.advanced.parts_differ.isEnabled()
    page.advanced.parts.set_path(data / "parts.csv")
    page.advanced.parts_differ.setChecked(True)
    assert "Everything fits" in settled(qtbot, page)
    assert "24 images will be described" in page.panel.facts.text()
    session, _ = open_session(make(qtbot, creator, page))
    (entry,) = session.history()
    assert entry.text == "Parts of one photo are different: 12 pairs"
    session.close()


# ------------------------------------------------------------------------------------------------ rows


def test_several_files_have_weights(qtbot, page, data):
    values = np.load(data / "features.npy")
    np.save(data / "second.npy", values[:, :3])
    page.features.add(str(data / "features.npy"))
    page.advanced_button.click()
    assert not page.advanced.weights.isVisible()
    page.features.add(str(data / "second.npy"))
    assert page.advanced.weights.isVisible()
    assert page.spec().initial.weights == ()  # all alike
    page.advanced.weights.spin(data / "second.npy").setValue(0.5)
    assert page.spec().initial.weights == (1.0, 0.5)
    assert "Everything fits" in settled(qtbot, page)
    page.features.set_paths((data / "second.npy",))
    assert page.spec().initial.weights == ()
    assert not page.advanced.weights.isVisible()


@pytest.fixture
def partial(data):
    """Features with names: of eight images, and of two that are not there."""
    names = [f"{number:02}.png" for number in range(COUNT - 4)] + ["gone-1.png", "gone-2.png"]
    np.savez(data / "some.npz", features=np.load(data / "features.npy")[: len(names)], names=np.array(names))
    return data / "some.npz"


def test_what_is_without_a_match_is_listed_and_asked_about(qtbot, page, creator, partial):
    choices = page.panel.unmatched
    assert not choices.isVisible()
    page.features.add(str(partial))
    text = settled(qtbot, page)
    assert "gone-1.png" in text
    assert not page.create_button.isEnabled()
    assert choices.rows.title.text() == "2 rows without an image"
    assert [choices.rows.list.item(row).text() for row in range(2)] == ["row 8: gone-1.png", "row 9: gone-2.png"]
    assert choices.images.title.text() == "4 images without a row"
    assert [choices.images.list.item(row).text() for row in range(4)] == [f"{n:02}.png" for n in range(8, 12)]
    choose(choices.rows.choice, "leave out")
    text = settled(qtbot, page)
    assert "08.png" in text
    assert not page.create_button.isEnabled()
    choose(choices.images.choice, "leave out")
    assert "Everything fits" in settled(qtbot, page)
    assert choices.isVisible()  # the choice can be looked at and changed
    session, _ = open_session(make(qtbot, creator, page))
    assert session.state.items == 8
    session.close()


def test_images_without_a_row_can_be_described(qtbot, page, creator, partial):
    page.features.add(str(partial))
    settled(qtbot, page)
    page.advanced_button.click()
    form = page.advanced.description
    assert not form.isVisible()
    choose(page.panel.unmatched.rows.choice, "leave out")
    choose(page.panel.unmatched.images.choice, "compute")
    assert form.isVisible()
    form.way.setCurrentIndex(form.way.findData(BUILT_IN))
    text = settled(qtbot, page)
    assert "Everything fits" in text
    assert "Describing" in text
    session, _ = open_session(make(qtbot, creator, page))
    assert session.state.items == COUNT
    session.close()


def test_a_choice_holds_for_the_data_that_were_shown(qtbot, page, data, partial):
    page.features.add(str(partial))
    settled(qtbot, page)
    choose(page.panel.unmatched.rows.choice, "leave out")
    page.name.setText("Another name")
    assert page.spec().unmatched.rows == "leave out"
    page.features.set_paths((data / "features.npy",))
    assert page.spec().unmatched.rows == "stop"
    assert not page.panel.unmatched.isVisible()


def test_tables_of_columns_are_read(qtbot, page, data):
    pyarrow = pytest.importorskip("pyarrow", reason="there is no pyarrow for this system")
    from pyarrow import feather, parquet

    values = np.load(data / "features.npy")
    columns = {f"f{at}": values[:, at] for at in range(values.shape[1])}
    table = pyarrow.table({"file": [f"{number:02}.png" for number in range(COUNT)], **columns})
    parquet.write_table(table, data / "features.parquet")
    feather.write_feather(table, data / "features.feather")
    for name in ("features.parquet", "features.feather"):
        page.features.set_paths((data / name,))
        assert "Everything fits" in settled(qtbot, page)
        assert "by the names" in page.panel.facts.text()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(3, "a few seconds"), (34, "about 30 seconds"), (60, "about 1 minute"), (1800, "about 30 minutes"),
     (7300, "about 2 hours")],
)  # fmt: skip
def test_times_are_coarse(seconds, text):
    assert duration_text(seconds) == text
