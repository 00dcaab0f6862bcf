"""Images that were moved are found again: by path, else by what they hold; nothing is dropped."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from a3s_desktop.errors import InputError
from a3s_desktop.session.opening import locate_images, open_session
from tests.session.conftest import Data
from tests.session.test_adding import OLD, Grown


@pytest.fixture
def grown(tmp_path: Path, blobs: Data) -> Grown:
    return Grown(tmp_path, blobs)


@pytest.fixture
def away(grown: Grown, tmp_path: Path) -> Path:
    """The folder that the images were moved to."""
    session, _ = open_session(grown.project)
    grown.answer(session, 8)
    session.close()
    target = tmp_path / "drive" / "photos"
    target.parent.mkdir()
    shutil.move(grown.images, target)
    return target


def check(grown: Grown, missing: int = 0) -> None:
    session, report = open_session(grown.project)
    assert session.state.answers == 8
    assert session.workspace is not None
    items = session.workspace.items
    assert len(items) == OLD
    there = [k for k in range(OLD) if items.photo(k).is_file()]
    assert len(there) == OLD - missing
    from PIL import Image

    for k in there:
        with Image.open(items.photo(k)) as image:
            assert image.getpixel((0, 0)) == (5 * k, 40, 90)
    assert bool(report.warnings) == (missing == OLD)
    session.close()


def test_without_its_folder_placeholders_are_shown_and_nothing_is_dropped(grown: Grown, away: Path) -> None:
    check(grown, missing=OLD)


@pytest.mark.parametrize("parent", [False, True])
def test_a_folder_that_was_moved_whole(grown: Grown, away: Path, parent: bool) -> None:
    if parent:
        away = away.rename(away.parent / "images")
    found = locate_images(grown.project, away.parent if parent else away)
    assert (found.by_path, found.by_content, found.missing) == (OLD, 0, ())
    check(grown)


def test_renamed_and_moved_inside(grown: Grown, away: Path) -> None:
    for k in range(0, OLD, 2):
        target = away / f"group {k % 3}" / f"renamed é {k}.png"
        target.parent.mkdir(exist_ok=True)
        (away / grown.names[k]).rename(target)
    (away / grown.names[1]).unlink()
    found = locate_images(grown.project, away)
    assert (found.by_path, found.by_content, found.missing) == (OLD // 2 - 1, OLD // 2, (grown.names[1],))
    assert "1 is missing" in found.text()
    check(grown, missing=1)
    locate_images(grown.project, away)  # once more: nothing changes
    check(grown, missing=1)


def test_two_names_that_were_swapped_for_each_other_elsewhere(grown: Grown, away: Path) -> None:
    """Equal files are taken in order, each once."""
    shutil.copy(away / grown.names[3], away / "copy of 3.png")
    (away / grown.names[3]).unlink()
    found = locate_images(grown.project, away)
    assert (found.by_content, found.missing) == (1, ())
    check(grown)


def test_a_wrong_folder_is_refused_and_changes_nothing(grown: Grown, away: Path, tmp_path: Path) -> None:
    before = grown.snapshot()
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "nowhere"):
        with pytest.raises(InputError):
            locate_images(grown.project, folder)
    assert grown.snapshot() == before


def test_it_is_the_same_project_afterwards(grown: Grown, away: Path) -> None:
    session, _ = open_session(grown.project)
    digest = session.engine.digest()
    session.close()
    (away / grown.names[0]).rename(away / "z.png")
    locate_images(grown.project, away)
    session, report = open_session(grown.project)
    assert report.warnings == ()
    assert session.engine.digest() == digest
    assert session.workspace is not None
    assert session.workspace.items.paths[0] == "z.png"
    np.testing.assert_array_equal(session.workspace.views()[0], grown.values[:OLD])
    session.close()
