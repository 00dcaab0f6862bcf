"""The best candidates are found whatever changed, and however few are looked at: against a plain sort."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.core import chances as chances_module
from a3s_desktop.core.chances import Chances, Worth, exactly
from a3s_desktop.core.link_model import FACTS, STEADIEST, steadied
from tests.examples import examples

JOINING, DIVIDING, PLAIN = Worth(0.9, 0.01, 0.1), Worth(1.1, 0.01), Worth(1.0, 1e-4)
STEADY = Worth(0.9, 0.01, 0.1, STEADIEST)


class Table:
    """Rows that change, with the chances of all of them at hand."""

    def __init__(self, seed: int, same: bool, kinds: int, worth: Worth, digits: int = 9) -> None:
        self.rng = np.random.default_rng(seed)
        self.digits = digits
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
        self.rows[places] = self.rng.normal(scale=2.0, size=(len(places), FACTS)).round(self.digits)
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
        self.chances.forget()
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
        if self.worth == STEADY:
            return self.worth(chance, self.entropy[places], steadied(chance, self.rows[places, 5]))
        return self.worth(chance if self.same else 1.0 - chance, self.entropy[places])

    def check(self) -> None:
        """All that is asked of the chances, against the definition."""
        every = np.arange(len(self.rows))
        gain = self.gains(every)
        first, second = self.rng.integers(0, 3, len(every)), self.rng.permutation(len(every))
        found = list(islice(self.chances.best(first, second, self.gains), 40))
        order = np.lexsort((second, first, -gain))
        expected = order[gain[order] > 0.0][:40]
        assert [place for _, place in found] == expected.tolist()
        assert [value for value, _ in found] == gain[expected].tolist()
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


@examples(100)
@given(
    st.integers(0, 10_000),
    st.sampled_from(((True, 1, JOINING), (True, 1, STEADY), (False, 1, PLAIN), (False, 2, DIVIDING))),
    st.sampled_from((1, 5, 40, 2_048)),
    STEPS,
)
def test_the_best_are_found_whatever_changes(seed: int, of: tuple, wanted: int, steps: list[tuple]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chances_module, "WANTED", wanted)
        patch.setattr(chances_module, "_BLOCK", 16)
        patch.setattr(chances_module, "_FIRST", 3)
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


def test_equal_gains_come_by_their_clusters() -> None:
    """Thousands of rows that are the same: the floor lies in the midst of them."""
    table = Table(0, True, 1, JOINING)
    table.put(np.arange(6_000))
    table.rows[:], table.entropy[:] = table.rows[0], 2.0
    table.rows[5_990:] *= 0.5
    table.weights = [np.abs(table.rows[0]) / 10.0]
    table.update()
    table.check()


def test_of_many_rows_few_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a change of the weights, and after changes of some rows."""
    table = Table(0, True, 1, JOINING)
    table.put(np.arange(50_000))
    table.update()
    computed: list[int] = []
    gains = table.gains

    def counted(places: np.ndarray) -> np.ndarray:
        computed.append(len(places))
        return gains(places)

    for step in range(20):
        computed.clear()
        if step % 5 == 4:
            table.learn(0.02)
        else:
            table.put(table.rng.integers(0, 50_000, 100))
        table.update()
        found = next(table.chances.best(np.arange(50_000), np.arange(50_000), counted))
        gain = gains(np.arange(50_000))
        assert found == (gain.max(), int(gain.argmax()))
        assert sum(computed) < 5_000


@pytest.mark.parametrize("worth", [JOINING, DIVIDING, PLAIN])
def test_the_logit_that_is_needed_pays_its_share(worth: Worth) -> None:
    share = np.linspace(0.0, 1.2, 500)
    logit = worth.needed(share)
    assert (np.isinf(logit) & (logit > 0.0) == (share >= 1.0)).all()
    some = share < 1.0
    for shift, above in ((1e-6, True), (-1e-6, False)):
        chance = 1.0 / (1.0 + np.exp(-(logit[some] + shift)))
        paid = np.where(chance >= worth.least, worth.paid(chance), 0.0)
        assert ((paid >= share[some]) & (paid > 0.0) == above).all()
