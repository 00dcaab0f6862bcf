"""The figure for images that come later, on real data where it is there."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "packaging" / "later_images.py"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    specification = importlib.util.spec_from_file_location("a3s_later_images", SCRIPT)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    monkeypatch.setitem(sys.modules, "a3s_later_images", module)
    specification.loader.exec_module(module)
    return module


def test_the_held_out_tenth_is_of_every_class_in_proportion(script: ModuleType) -> None:
    classes = np.repeat(np.arange(5), (100, 50, 30, 20, 10)).astype(np.int32)
    order = script.held_out(classes, 0.1, 3)
    assert sorted(order) == list(range(210))
    np.testing.assert_array_equal(np.bincount(classes[order[-21:]]), (10, 5, 3, 2, 1))


@pytest.mark.slow
def test_a_tenth_added_late_leads_as_far_as_all_from_the_start(script: ModuleType, shared_data: Path) -> None:
    values = np.load(shared_data / "mk100" / "features.npy").astype(np.float32)
    classes = np.load(shared_data / "mk100" / "labels.npy").astype(np.int32)
    for seed in (0,):
        order = script.held_out(classes, 0.1, seed)
        found = script.added_late(values, classes, seed, 525, 120)
        assert found.images == 165
        assert (found.lost, found.asked_again) == (0, 0)
        assert found.curve[-1] >= script.from_the_start(values[order], classes[order], 525)
