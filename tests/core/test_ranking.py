"""The best of many candidates: against a plain sort, whatever was put before."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from a3s_desktop.core.ranking import Ranking


@pytest.mark.parametrize("count", [1, 700, 60_000])
@pytest.mark.parametrize("loose", [0.0, 0.5, 20.0])
def test_all_come_in_the_order_of_a_sort(count: int, loose: float) -> None:
    rng = np.random.default_rng(count)
    ranking, gain = Ranking(), np.zeros(0)
    computed = 0

    def gains(places: np.ndarray) -> np.ndarray:
        nonlocal computed
        computed += len(places)
        return gain[places]

    for size in (count // 2 + 1, count):
        gain = np.concatenate((gain, np.zeros(size - len(gain))))
        for share in (1.0, 0.01):
            places = np.flatnonzero(rng.random(size) <= share)
            gain[places] = np.maximum(0, rng.integers(-3, 50, len(places))) / 7.0  # many are equal, some are none
            with np.errstate(divide="ignore"):
                bound = np.log(gain[places]) + loose * rng.random(len(places))
            ranking.put(places, bound, size)
        first, second = rng.permutation(size), rng.permutation(size)
        order = np.lexsort((second, first, -gain))
        order = order[gain[order] > 0.0]
        found = list(islice(ranking.descending(first, second, gains), 3000))
        assert [place for _, place in found] == order[:3000].tolist()
        assert [value for value, _ in found] == gain[order[:3000]].tolist()


def test_where_bounds_are_close_few_are_computed() -> None:
    rng = np.random.default_rng(1)
    gain = rng.pareto(2.0, 100_000) + 1e-3
    ranking, computed = Ranking(), []
    ranking.put(np.arange(len(gain)), np.log(gain) + 0.1 * rng.random(len(gain)), len(gain))

    def gains(places: np.ndarray) -> np.ndarray:
        computed.append(len(places))
        return gain[places]

    assert next(ranking.descending(np.arange(len(gain)), np.arange(len(gain)), gains))[1] == int(gain.argmax())
    assert sum(computed) < 1000
