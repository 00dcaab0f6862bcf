"""Data for other processes: what is mapped, what is written, and that it arrives unchanged."""

from __future__ import annotations

import pickle
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from a3s_desktop.distributed.shared import LARGE, pack


def test_parts_of_a_mapped_file_stay_in_it(tmp_path: Path) -> None:
    table = np.arange(200_000, dtype=np.float32).reshape(-1, 8)
    np.save(tmp_path / "table.npy", table)
    mapped = np.load(tmp_path / "table.npy", mmap_mode="r")
    for part in (mapped, np.asarray(mapped), np.ascontiguousarray(mapped)[5000:]):
        packed, written = pack(partial(np.add, part), tmp_path)
        assert written == 0
        assert len(packed) < 1000
        np.testing.assert_array_equal(pickle.loads(packed).args[0], part)
    assert [path.name for path in tmp_path.iterdir()] == ["table.npy"]


def test_what_is_in_memory_or_may_change_is_written(tmp_path: Path) -> None:
    np.save(tmp_path / "table.npy", np.arange(200_000, dtype=np.float32).reshape(-1, 8))
    changing = np.load(tmp_path / "table.npy", mmap_mode="c")
    changing[3] = -1
    matrix = sparse.random_array((3000, 3000), density=0.01, format="csr", rng=0)
    for value in (changing, np.load(tmp_path / "table.npy", mmap_mode="r")[:, 3:], np.arange(LARGE)[::-1]):
        packed, written = pack([value], tmp_path)
        assert written == value.nbytes
        assert len(packed) < 1000
        (found,) = pickle.loads(packed)
        np.testing.assert_array_equal(found, value)
        with pytest.raises(ValueError, match="read-only"):
            found[:] = 0
    packed, written = pack(matrix, tmp_path)
    assert written >= matrix.data.nbytes
    assert (pickle.loads(packed) != matrix).nnz == 0


def test_small_arrays_travel_with_the_work(tmp_path: Path) -> None:
    packed, written = pack(np.arange(10), tmp_path)
    assert written == 0
    assert pickle.loads(packed).tolist() == list(range(10))
    assert list(tmp_path.iterdir()) == []
