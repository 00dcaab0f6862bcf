"""Facts of the nodes inside all clusters, cluster by cluster, of which an answer changes only a few clusters'."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.chances import Chances, Worth, exactly, logits
from a3s_desktop.core.link_model import FACTS
from a3s_desktop.core.room import enlarged
from a3s_desktop.core.runs import run_starts

Column = npt.NDArray[np.float64]

_DEAD = 64  # ranges of dead nodes that are looked through for room
_TOLD = 64  # clusters after which progress is told


@dataclass(frozen=True, slots=True)
class Inner:
    """Nodes inside clusters, all of shape (m, ...)."""

    cluster: npt.NDArray[np.int64]
    node: npt.NDArray[np.int64]
    rows: Column
    entropy: npt.NDArray[np.float64]
    guess: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ScoredNodes:
    """All nodes as they stand in the table, dead ones among them: for reading, until the next change.

    ``best`` are gains and places of those that a question may be put about, best first.
    """

    cluster: npt.NDArray[np.int64]
    node: npt.NDArray[np.int64]
    rows: Column
    best: Iterator[tuple[float, int]]


class NodeTable:
    """The nodes of each cluster side by side; those of a cluster that changed are put where dead ones were, or at the
    end.

    Parameters
    ----------
    look : callable
        The nodes inside a cluster, given what was found when it was last looked at; None where the cluster has fewer
        than two members, or is no more.
    clusters : iterable of int
        All clusters.
    tell : callable
        Hears which share of the clusters was looked at.
    known : Inner, optional
        The nodes of all of them, cluster by cluster.
    """

    def __init__(
        self,
        look: Callable[[int, Inner | None], Inner | None],
        clusters: Iterable[int],
        tell: Callable[[float], None],
        known: Inner | None = None,
    ) -> None:
        self._look, self._tell = look, tell
        self._doubted = dict.fromkeys(() if known is not None else clusters)
        self._ranges: dict[int, tuple[int, int]] = {}
        self._end = 0
        self._dead: list[tuple[int, int]] = []  # ranges that may be written to again, the newest last
        self._cluster = np.full(0, -1, np.int64)  # -1 where the node is dead
        self._node = np.zeros(0, np.int64)
        self._rows = np.zeros((0, FACTS))
        self._entropy = np.zeros(0)
        self._guess = np.zeros(0, np.bool_)
        self._chances = Chances(same=False)
        self._unscored: list[npt.NDArray[np.int64]] = []
        if known is not None and len(known.node):
            self._make_room(len(known.node))
            self._write(known)
            starts = run_starts(known.cluster).tolist()
            ends = [*starts[1:], len(known.cluster)]
            self._ranges = dict(zip(known.cluster[starts].tolist(), zip(starts, ends, strict=True), strict=True))

    def doubt(self, *clusters: int) -> None:
        """Look again at some clusters when the nodes are next asked for."""
        self._doubted.update(dict.fromkeys(clusters))

    def forget(self, *clusters: int) -> None:
        """Look again at some clusters, from the beginning: what was found of their nodes is true no more."""
        for cluster in clusters:
            self._take_out(cluster)
        self.doubt(*clusters)

    def facts(self) -> Inner:
        """All nodes, in no fixed order."""
        self._renew()
        return self._at(np.flatnonzero(self._cluster >= 0))

    @property
    def count(self) -> int:
        """Number of nodes as they were when last asked for."""
        return int(np.count_nonzero(self._cluster >= 0))

    def doubtful(self, guessed: Column, own: Column, logit: float) -> Inner:
        """The nodes whose logit of P(same) is at most so much, but for the last bits; in no fixed order."""
        self._renew()
        found = logits(self._rows, (own, guessed), self._guess)
        return self._at(np.flatnonzero((found <= logit) & (self._cluster >= 0)))

    def scored(self, guessed: Column, own: Column, worth: Worth) -> ScoredNodes:
        """All nodes in the order of their worth; only what changed, and the best, are computed.

        Parameters
        ----------
        guessed, own : float64, shape (FACTS,)
            Weights of the models for nodes that the model joined, and for others.
        worth : Worth
            From P(different) and Δh times N to the gain to be expected.
        """
        self._renew()

        def most(places: npt.NDArray[np.int64]) -> Column:
            return worth(np.ones(len(places)), self._entropy[places]) * (self._cluster[places] >= 0)

        def gains(places: npt.NDArray[np.int64]) -> Column:
            chance = exactly(self._rows.take(places, axis=0), (own, guessed), self._guess[places])
            return worth(1.0 - chance, self._entropy[places])

        self._chances.update(self._rows, most, (own, guessed), self._unscored, worth, self._guess)
        self._unscored.clear()
        best = self._chances.best(self._cluster, self._node, gains)
        return ScoredNodes(self._cluster, self._node, self._rows, best)

    # --- inner workings

    def _renew(self) -> None:
        if not self._doubted:
            return
        found: list[Inner] = []
        for count, cluster in enumerate(self._doubted):
            if count % _TOLD == 0:
                self._tell(count / len(self._doubted))
            nodes = self._look(cluster, self._take_out(cluster))
            if nodes is not None:
                found.append(nodes)
        self._doubted.clear()
        count = sum(len(nodes.node) for nodes in found)
        if self._end + count > len(self._cluster):
            self._make_room(count)
        for nodes in found:
            if len(nodes.node):
                self._ranges[int(nodes.cluster[0])] = self._write(nodes)
        del self._dead[:-_DEAD]

    def _take_out(self, cluster: int) -> Inner | None:
        """What was found of a cluster, which leaves the table; to be read before anything is added."""
        old = self._ranges.pop(cluster, None)
        if old is None:
            return None
        at = slice(*old)
        self._cluster[at] = -1
        self._dead.append(old)
        self._unscored.append(np.arange(*old))
        return Inner(self._cluster[at], self._node[at], self._rows[at], self._entropy[at], self._guess[at])

    def _at(self, places: npt.NDArray[np.int64]) -> Inner:
        rows = self._rows.take(places, axis=0)
        return Inner(self._cluster[places], self._node[places], rows, self._entropy[places], self._guess[places])

    def _write(self, nodes: Inner) -> tuple[int, int]:
        start, end = self._place(len(nodes.node))
        at = slice(start, end)
        self._cluster[at], self._node[at], self._rows[at] = nodes.cluster, nodes.node, nodes.rows
        self._entropy[at], self._guess[at] = nodes.entropy, nodes.guess
        self._unscored.append(np.arange(start, end))
        return start, end

    def _place(self, count: int) -> tuple[int, int]:
        """Where so many nodes fit: among the newest dead ones, else at the end."""
        for k in range(len(self._dead) - 1, -1, -1):
            start, end = self._dead[k]
            if end - start >= count:
                self._dead[k : k + 1] = [(start + count, end)] if end - start > count else []
                return start, start + count
        start, self._end = self._end, self._end + count
        return start, self._end

    def _make_room(self, count: int) -> None:
        """Drop what is dead, and make the table half as large again as what is left and comes."""
        live = np.flatnonzero(self._cluster >= 0)
        room = 3 * (len(live) + count) // 2 + 64
        place = np.full(len(self._cluster) + 1, -1, np.int64)
        place[live] = np.arange(len(live))
        self._cluster = enlarged(self._cluster[live], room, -1)
        self._node, self._rows = enlarged(self._node[live], room), enlarged(self._rows[live], room)
        self._entropy, self._guess = enlarged(self._entropy[live], room), enlarged(self._guess[live], room)
        self._ranges = {cluster: (int(place[a]), int(place[b - 1]) + 1) for cluster, (a, b) in self._ranges.items()}
        self._end = len(live)
        self._dead.clear()
        self._chances.forget()
        moved = (place[places] for places in self._unscored)
        self._unscored = [places[places >= 0] for places in moved]
