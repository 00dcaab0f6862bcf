"""The best of many candidates: against a plain sort, whatever was put before."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from a3s_desktop.core.ranking import Ranking


@pytest.mark.parametrize("count", [1, 700, 60_000])
def test_all_come_in_the_order_of_a_sort(count: int) -> None:
    rng = np.random.default_rng(count)
    ranking, gain = Ranking(), np.zeros(0)
    for size in (count // 2 + 1, count):
        gain = np.concatenate((gain, np.zeros(size - len(gain))))
        for share in (1.0, 0.01):
            places = np.flatnonzero(rng.random(size) <= share)
            gain[places] = rng.integers(-3, 50, len(places)) / 7.0  # many are equal, some are no candidates
            ranking.put(places, gain[places], size)
        first, second = rng.permutation(size), rng.permutation(size)
        order = np.lexsort((second, first, -gain))
        order = order[gain[order] > 0.0]
        found = list(islice(ranking.descending(first, second), 3000))
        assert [place for _, place in found] == order[:3000].tolist()
        assert [value for value, _ in found] == gain[order[:3000]].tolist()
