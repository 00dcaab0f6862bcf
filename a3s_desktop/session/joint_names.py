"""Names of two annotators: which of the other's can be taken as they are, and which need a person."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.correction import Correction
from a3s_desktop.core.types import Answer, IntArray
from a3s_desktop.session.entries import CorrectionKind, Entry, RecordedAnswer, RecordedCorrection
from a3s_desktop.session.names import Names, home_of, name_key


class JointNames:
    """Our names and clusters.

    Parameters
    ----------
    names : Names
    labels : int32, shape (N,)
    junk : bool, shape (N,)
    """

    def __init__(self, names: Names, labels: IntArray, junk: npt.NDArray[np.bool_]) -> None:
        self._names, self._labels, self._junk = names, labels, junk

    def sorted_out(self, fresh: Sequence[Entry], theirs: Names, place: Callable[[int], int]) -> list[Entry]:
        """The new entries without names that say nothing, and with those held back that need a person.

        Parameters
        ----------
        fresh : sequence of Entry
        theirs : Names
            The other's, in force there.
        place : callable
            From the other's items to ours.
        """
        united = self._united(fresh)
        in_force = {key: (name, tuple(place(item) for item in at)) for key, (name, at) in theirs.by_key.items()}
        renamed = {
            key for entry in fresh if isinstance(entry, RecordedCorrection) and entry.name for key in entry.replaces
        }
        found: list[Entry] = []
        for entry in fresh:
            if not isinstance(entry, RecordedCorrection):
                found.append(entry)
            elif entry.known:
                found += self._of_list(entry, in_force, united)
            elif entry.what is not CorrectionKind.NAME:
                found.append(entry)
            elif entry.name and in_force.get(name_key(entry.name)) == (entry.name, entry.anchors):
                verdict = self._verdict(entry.name, entry.anchors, entry.replaces, united)
                if verdict is not None:
                    found.append(replace(entry, held=verdict))
            elif not entry.name and any(
                key in self._names.by_key and key not in in_force and key not in renamed for key in entry.replaces
            ):
                found.append(replace(entry, held=True))
        return found

    def _of_list(
        self, entry: RecordedCorrection, in_force: dict[str, tuple[str, tuple[int, ...]]], united: IntArray
    ) -> list[Entry]:
        """A list of names: what it says of images, the names that are free, and one entry for each held name."""
        free, held = [], []
        for one in entry.known:
            if in_force.get(name_key(one.name)) != (one.name, one.anchors):
                continue
            verdict = self._verdict(one.name, one.anchors, (), united)
            if verdict is None:
                continue
            if not verdict:
                free.append(one)
                continue
            held.append(
                RecordedCorrection(
                    CorrectionKind.NAME,
                    Correction(),
                    one.anchors[:1],
                    1,
                    entry.when,
                    one.name,
                    one.anchors,
                    author=entry.author,
                    foreign=True,
                    held=True,
                )
            )
        return [replace(entry, known=tuple(free)), *held]

    def _verdict(self, name: str, anchors: tuple[int, ...], replaces: tuple[str, ...], united: IntArray) -> bool | None:
        """Whether a name must wait for a person; None: it is here already."""
        home = home_of(anchors, united, self._junk)
        ours = self._names.of_clusters(united, self._junk)
        holder = next((cluster for cluster, other in ours.items() if name_key(other) == name_key(name)), None)
        if holder is not None and holder == home:
            return None
        return holder is not None or home in ours or any(key in self._names.by_key for key in replaces)

    def _united(self, fresh: Sequence[Entry]) -> IntArray:
        """Our clusters, where the other's answers make several of them one: about as they will be."""
        parent: dict[int, int] = {}

        def find(cluster: int) -> int:
            while (up := parent.get(cluster, cluster)) != cluster:
                cluster = up
            return cluster

        for entry in fresh:
            same: tuple[tuple[int, int], ...] = ()
            if isinstance(entry, RecordedAnswer) and entry.answer is Answer.SAME:
                same = ((entry.left, entry.right),)
            elif isinstance(entry, RecordedCorrection):
                groups = entry.correction.identities
                same = (*entry.correction.together, *(pair for group in groups for pair in pairwise(group)))
            for left, right in same:
                a, b = sorted((find(int(self._labels[left])), find(int(self._labels[right]))))
                parent[b] = a
        return np.array([find(int(cluster)) for cluster in self._labels], np.int32)
