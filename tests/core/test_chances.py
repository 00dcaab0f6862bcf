"""Bounds of chances hold whatever changed, in whatever order the blocks were computed again; and the best are found."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from a3s_desktop.core import chances as chances_module
from a3s_desktop.core.chances import Chances, Worth, exactly
from a3s_desktop.core.link_model import FACTS

JOINING, DIVIDING, PLAIN = Worth(0.9, 0.01, 0.1), Worth(1.1, 0.01), Worth(1.0, 1e-4)


class Table:
    """Rows that change, with the chances of all of them at hand."""

    def __init__(self, seed: int, same: bool, kinds: int, worth: Worth) -> None:
        self.rng = np.random.default_rng(seed)
        self.same = same
        self.worth = worth
        self.chances = Chances(same)
        self.weights = [self.rng.normal(size=FACTS) for _ in range(kinds)]
        self.grown = False  # since the last update
        self.rows = np.zeros((0, FACTS))
        self.entropy = np.zeros(0)  # 0 where there is no candidate
        self.kind = np.zeros(0, np.bool_)
        self.changed: list[np.ndarray] = []

    def put(self, places: np.ndarray) -> None:
        """Replace some rows, and make room for them."""
        room = int(places.max(initial=-1)) + 1 - len(self.rows)
        if room > 0:
            self.grown = True
            self.rows = np.concatenate((self.rows, np.zeros((room, FACTS))))
            self.entropy = np.concatenate((self.entropy, np.zeros(room)))
            self.kind = np.concatenate((self.kind, np.zeros(room, np.bool_)))
        self.rows[places] = self.rng.normal(scale=2.0, size=(len(places), FACTS))
        self.rows[places, 0] = 1.0
        self.entropy[places] = (1.4 + self.rng.pareto(1.0, len(places))) * (self.rng.random(len(places)) < 0.9)
        self.kind[places] = self.rng.random(len(places)) < 0.3
        self.changed.append(places)

    def learn(self, step: float) -> None:
        """Change the weights by about so much."""
        self.weights = [one + step * self.rng.normal(size=FACTS) for one in self.weights]

    def compact(self) -> None:
        """Keep a part of the rows, and make room behind them."""
        if self.grown:
            self.update()
        live = np.flatnonzero(self.rng.random(len(self.rows)) < 0.7)
        place = np.full(len(self.rows), -1)
        place[live] = np.arange(len(live))
        room = len(live) + 7
        for name in ("rows", "entropy", "kind"):
            old = getattr(self, name)
            new = np.zeros((room, *old.shape[1:]), old.dtype)
            new[: len(live)] = old[live]
            setattr(self, name, new)
        self.chances.rearrange(live, room)
        self.changed = [place[some][place[some] >= 0] for some in self.changed]

    def update(self) -> None:
        kind = self.kind if len(self.weights) > 1 else None
        self.chances.update(
            self.rows,
            lambda at: self.worth(np.ones(len(at)), self.entropy[at]),
            tuple(self.weights),
            self.changed,
            self.worth,
            kind,
        )
        self.changed.clear()
        self.grown = False

    def gains(self, places: np.ndarray) -> np.ndarray:
        kind = self.kind[places] if len(self.weights) > 1 else None
        chance = exactly(self.rows[places], tuple(self.weights), kind)
        return self.worth(chance if self.same else 1.0 - chance, self.entropy[places])

    def check(self) -> None:
        """All that is asked of the chances, against the definition."""
        every = np.arange(len(self.rows))
        gain = self.gains(every)
        with np.errstate(divide="ignore"):
            assert (self.chances._ranking._bound[: len(gain)] >= np.log(gain)).all()
        found = list(islice(self.chances.best(every, every, self.gains), 40))
        order = np.lexsort((every, -gain))
        expected = order[gain[order] > 0.0][:40]
        assert [place for _, place in found] == expected.tolist()
        if len(self.weights) == 1 and self.same:
            chance = exactly(self.rows, tuple(self.weights))
            likely = set(self.chances.likely(0.3).tolist())
            assert likely >= set(np.flatnonzero((chance >= 0.3) & (self.entropy > 0.0)).tolist())


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 60), st.integers(0, 40)),
        st.tuples(st.just("learn"), st.sampled_from((1e-7, 0.003, 0.05, 1.0))),
        st.tuples(st.just("compact")),
        st.tuples(st.just("update")),
    ),
    max_size=30,
)


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.sampled_from(((True, 1, JOINING), (False, 1, PLAIN), (False, 2, DIVIDING))), STEPS)
def test_bounds_hold_in_whatever_order_blocks_are_computed_again(seed: int, of: tuple, steps: list[tuple]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chances_module, "BLOCK", 8)
        patch.setattr(chances_module, "AT_ONCE", 1)
        table = Table(seed, *of)
        table.put(np.arange(20))
        for step, *arguments in steps:
            if step == "put":
                first, count = arguments
                table.put(np.arange(first, first + count))
            elif step == "learn":
                table.learn(*arguments)
            elif step == "compact":
                table.compact()
            else:
                table.update()
                table.check()
        table.update()
        table.check()


def test_only_so_many_blocks_are_computed_again_at_a_time_and_in_the_end_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chances_module, "BLOCK", 64)
    monkeypatch.setattr(chances_module, "AT_ONCE", 3)
    table = Table(0, True, 1, JOINING)
    table.put(np.arange(640))
    table.update()
    table.learn(1.0)
    for left in (7, 4, 1, 0, 0):
        table.update()
        assert np.count_nonzero(table.chances._moved) == left
        table.check()
    table.learn(chances_module.LOOSE / 1e3)  # hardly anything: bounds are close enough
    table.update()
    assert np.count_nonzero(table.chances._moved) == 10
    table.check()


def test_facts_that_were_zero_at_first_leave_the_bounds_close() -> None:
    """As answers that confirm a cluster do: there are none in the beginning."""
    table = Table(0, True, 1, JOINING)
    table.put(np.arange(20_000))
    table.rows[:, 7], table.entropy[:] = 0.0, 1.0
    table.update()
    some = np.arange(0, 20_000, 10)
    table.rows[some, 7] = 1.0
    table.changed.append(some)
    table.learn(4e-3)
    table.update()
    some = some[table.gains(some) > 0.0]
    above = table.chances._ranking._bound[some] - np.log(table.gains(some))
    assert above.min() > 0.0
    assert above.max() < 1.0
