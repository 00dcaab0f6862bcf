"""The commands for what comes later: add, replace-features, locate."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from a3s_desktop import cli
from a3s_desktop.session.opening import open_session
from tests.session.conftest import Data, start
from tests.session.test_adding import OLD, Grown


@pytest.fixture
def grown(tmp_path: Path) -> Grown:
    rng = np.random.default_rng(5)
    classes = np.repeat(np.arange(6), 8).astype(np.int32)
    values = (rng.normal(0, 1, (6, 8))[classes] + rng.normal(0, 0.4, (48, 8))).astype(np.float32)
    return Grown(tmp_path, Data((values,), classes, start(values)))


def test_images_are_added(grown: Grown, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["add", str(grown.project), "--images", str(grown.images), "--features", str(grown.later.features[0])]
    assert cli.main(command) == 1
    assert "no new image" in capsys.readouterr().err
    grown.arrive()
    assert cli.main(command) == 0
    assert "8 images were added" in capsys.readouterr().out
    assert cli.main(["info", str(grown.project)]) == 0
    assert "48 images" in capsys.readouterr().out


def test_features_are_replaced_only_when_told(grown: Grown, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "other.npy", np.random.default_rng(0).normal(size=(OLD, 5)).astype(np.float32))
    command = ["replace-features", str(grown.project), "--features", str(tmp_path / "other.npy")]
    before = grown.snapshot()
    assert cli.main(command) == 0
    assert "Nothing was changed" in capsys.readouterr().out
    assert grown.snapshot() == before
    assert cli.main([*command, "--yes"]) == 0
    assert "replaced" in capsys.readouterr().out
    assert (grown.project / "features-2-0.npy").is_file()


def test_the_pairs_that_new_features_speak_against_are_named(
    grown: Grown, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session, _ = open_session(grown.project)
    grown.answer(session, 8)
    said = {frozenset(grown.names[item] for item in entry.items): str(entry.answer) for entry in session.history()}
    session.close()
    values = grown.values[:OLD].copy()
    values[::2] = np.roll(values[::2], 5, axis=0)
    np.save(tmp_path / "other.npy", values)
    command = ["replace-features", str(grown.project), "--features", str(tmp_path / "other.npy")]
    assert cli.main(command) == 0
    named = [line for line in capsys.readouterr().out.splitlines() if "wrong with P" in line]
    assert named
    for line in named:
        pair, _, rest = line.strip().partition(": ")
        assert said[frozenset(name.strip("'") for name in pair.split(" and "))] == rest.split(",")[0]
    assert cli.main([*command, "--doubted", "0"]) == 0
    assert "wrong with P" not in capsys.readouterr().out


def test_a_moved_folder_is_located(grown: Grown, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.move(grown.images, tmp_path / "moved")
    assert cli.main(["locate", str(grown.project), str(tmp_path / "moved")]) == 0
    assert "40 images were found" in capsys.readouterr().out
