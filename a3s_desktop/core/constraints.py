"""The constraint store: must-links and cannot-links, closed under transitivity, with free snapshots.

Source: fast transitive inference (Algorithm 3). same + same => same; same + different => different.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import Answer
from a3s_desktop.core.undo import UndoLog
from a3s_desktop.errors import ContradictionError
from a3s_desktop.i18n import tr, trn

Constraint = tuple[int, int, Answer]

_BITS = 32
_LOW = (1 << _BITS) - 1


class ConstraintStore:
    """Union-find by size without path compression, cannot-link sets between roots, and an undo log.

    Only samples that took part in an answer occupy memory: O(answers), whatever N is, some 30 bytes for most answers.
    `find` is O(log answers).
    Every link of the closure can be explained by the answers it follows from (`chain`).

    Parameters
    ----------
    log : UndoLog
        Shared with whatever must be restored together with the store.
    """

    def __init__(self, log: UndoLog) -> None:
        self._log = log
        self._parent: dict[int, int] = {}
        self._component: dict[int, list[int]] = {}  # root -> members, the root's own subtree first
        self._cannot: dict[int, array[int]] = {}  # root -> root << 32 | number of the answer behind it, ascending
        self._links: dict[int, list[int]] = {}  # must-link answers as a graph, to explain a closure
        self._left, self._right = array("i"), array("i")  # the answers in the order they were added
        self._said = bytearray()  # 1: same
        self._skipped: dict[tuple[int, int], bool] = {}  # pair -> whether for good
        self._identity: dict[int, int] = {}  # root of a known identity -> the sample that it was declared with

    # --- reading

    def find(self, i: int) -> int:
        """The root that stands for the must-link component of sample ``i``."""
        parent = self._parent
        while (up := parent.get(i, i)) != i:
            i = up
        return i

    def relation(self, i: int, j: int) -> Answer | None:
        """What is known of a pair: SAME or DIFFERENT where it was answered or is implied, else None."""
        a, b = self.find(i), self.find(j)
        if a == b:
            return Answer.SAME
        if self._evidence(a, b) >= 0 or (a in self._identity and b in self._identity):
            return Answer.DIFFERENT
        return None

    def component(self, i: int) -> tuple[int, ...]:
        """All samples must-linked with ``i``, itself included, ascending."""
        return tuple(sorted(self._component.get(self.find(i), (i,))))

    def is_touched(self, i: int) -> bool:
        """Whether sample ``i`` took part in any must-link or cannot-link answer."""
        return i in self._parent

    def roots(self, samples: Iterable[int]) -> set[int]:
        """The roots of those of some samples that took part in any such answer."""
        parent, found = self._parent, set()
        for i in filter(parent.__contains__, samples):
            while (up := parent[i]) != i:
                i = up
            found.add(i)
        return found

    def is_confirmed(self, i: int) -> bool:
        """Whether sample ``i`` is must-linked with another sample."""
        return len(self._component.get(self.find(i), ())) > 1

    def separated_from(self, i: int) -> npt.NDArray[np.int64]:
        """Roots of the components known to differ from that of ``i``, int64 (m,), ascending; there may be a hundred
        thousand."""
        root = self.find(i)
        known = np.array(self._cannot.get(root, ()), np.int64) >> _BITS
        if root in self._identity:
            return np.array(sorted({*known.tolist(), *self._identity} - {root}), np.int64)
        return known

    def n_known(self, i: int) -> int:
        """Number of samples must-linked with ``i``, and of components that answers, or both being known identities,
        hold apart from it."""
        root = self.find(i)
        known = len(self._component.get(root, (i,))) - 1 + len(self._cannot.get(root, ()))
        return known + len(self._identity) - 1 if root in self._identity else known

    def touched(self) -> Iterator[int]:
        """All samples that took part in a must-link or cannot-link answer, or are known identities."""
        return iter(self._parent)

    def identities(self) -> list[int]:
        """One sample of each component that is a known identity, ascending; no two of them are the same."""
        return sorted(self._identity.values())

    def is_identity(self, i: int) -> bool:
        """Whether the component of sample ``i`` is a known identity: it differs from all other such ones."""
        return self.find(i) in self._identity

    def is_skipped(self, i: int, j: int) -> bool:
        """Whether the pair was skipped, or cannot be compared."""
        return _key(i, j) in self._skipped

    @property
    def n_constraints(self) -> int:
        """Number of must-link and cannot-link answers in force."""
        return len(self._said)

    @property
    def n_skipped(self) -> int:
        """Number of skipped pairs in force, those that cannot be compared included."""
        return len(self._skipped)

    def constraints(self) -> Iterator[Constraint]:
        """The answers in force as (left, right, SAME | DIFFERENT), in the order they were added."""
        return map(self._constraint, range(len(self._said)))

    def skipped(self) -> Iterator[tuple[int, int, bool]]:
        """The skipped pairs in the order they were added: smaller index, larger index, whether for good."""
        return ((i, j, for_good) for (i, j), for_good in self._skipped.items())

    def chain(self, i: int, j: int) -> tuple[Constraint, ...]:
        """The answers from which the relation of a pair follows, as a path from ``i`` to ``j``.

        All links are SAME but at most one; empty where nothing is known of the pair.
        """
        a, b = self.find(i), self.find(j)
        if a == b:
            return self._path(i, j)
        evidence = self._evidence(a, b)
        if evidence >= 0:
            u, v, _ = self._constraint(evidence)
        elif a in self._identity and b in self._identity:
            u, v = self._identity[a], self._identity[b]
        else:
            return ()
        if self.find(u) != a:
            u, v = v, u
        return (*self._path(i, u), (u, v, Answer.DIFFERENT), *self._path(v, j))

    # --- changing

    def add(self, i: int, j: int, answer: Answer) -> None:
        """Take an answer and everything that follows from it.

        Parameters
        ----------
        i, j : int
            Samples, different from each other.
        answer : Answer
            SAME or DIFFERENT.

        Raises
        ------
        ContradictionError
            Earlier answers imply the opposite; nothing was changed, and the error carries the chain.
        ValueError
            ``i == j``, or an answer that is no constraint.
        """
        if i == j or answer not in (Answer.SAME, Answer.DIFFERENT):
            raise ValueError(f"no constraint: {i}, {j}, {answer}")
        known = self.relation(i, j)
        if known is not None and known != answer:
            chain = self.chain(i, j)
            raise ContradictionError(
                trn("This contradicts {n} earlier answer.", "This contradicts {n} earlier answers.", len(chain)),
                tuple((left, right, str(said)) for left, right, said in chain),
                tr("Change or drop one of them first."),
            )
        self._touch(i)
        self._touch(j)
        if answer is Answer.SAME:
            self._links.setdefault(i, []).append(j)
            self._links.setdefault(j, []).append(i)
            self._log.push(self._unlink, i, j)
            if known is None:
                self._union(self.find(i), self.find(j))
        elif known is None:
            self._separate(self.find(i), self.find(j), len(self._said))
        self._left.append(i)
        self._right.append(j)
        self._said.append(answer is Answer.SAME)
        self._log.push(self._drop_constraint)

    def identify(self, i: int) -> None:
        """Declare the component of a sample to be a known identity: it differs from every other such component.

        Thousands of them cost no more than their number, where the pairs would be millions.
        """
        self._touch(i)
        root = self.find(i)
        if root not in self._identity:
            self._put_identity(root, i)
            self._log.push(self._put_identity, root, None)

    def disown(self, i: int) -> None:
        """The component of a sample is no longer known to differ from other identities."""
        root = self.find(i)
        sample = self._identity.get(root)
        if sample is not None:
            self._put_identity(root, None)
            self._log.push(self._put_identity, root, sample)

    def skip(self, i: int, j: int, for_good: bool = False) -> None:
        """Remember that the annotator could not tell; no constraint.

        Parameters
        ----------
        i, j : int
        for_good : bool
            The two cannot be compared: `requeue` leaves the pair where it is.
        """
        key = _key(i, j)
        if key not in self._skipped:
            self._skipped[key] = for_good
            self._log.push(self._unskip, key)

    def requeue(self) -> None:
        """Forget the skipped pairs, so that they may be asked again; those that cannot be compared stay."""
        before = self._skipped
        self._skipped = {key: True for key, for_good in before.items() if for_good}
        self._log.push(self._put_skipped, before)

    # --- inner workings

    def _touch(self, sample: int) -> None:
        if sample not in self._parent:
            self._parent[sample] = sample
            self._component[sample] = [sample]
            self._log.push(self._forget, sample)

    def _put_identity(self, root: int, sample: int | None) -> None:
        if sample is None:
            del self._identity[root]
        else:
            self._identity[root] = sample

    def _union(self, a: int, b: int) -> None:
        if (-len(self._component[a]), a) > (-len(self._component[b]), b):
            a, b = b, a  # the larger component's root stays; ties: the smaller index
        self._parent[b] = a
        kept = len(self._component[a])
        self._component[a].extend(self._component[b])
        self._log.push(self._ununion, a, b, kept)
        if b in self._identity:  # then a is none, or the two would differ
            sample = self._identity[b]
            self._put_identity(b, None)
            self._log.push(self._put_identity, b, sample)
            self._put_identity(a, sample)
            self._log.push(self._put_identity, a, None)
        for link in self._cannot.get(b, ()):
            other, evidence = link >> _BITS, link & _LOW
            self._drop_cannot(other, b)
            self._log.push(self._put_cannot, other, b, evidence)
            if self._evidence(a, other) < 0:
                self._separate(a, other, evidence)

    def _separate(self, a: int, b: int, evidence: int) -> None:
        self._put_cannot(a, b, evidence)
        self._put_cannot(b, a, evidence)
        self._log.push(self._unseparate, a, b)

    def _evidence(self, a: int, b: int) -> int:
        """Number of the answer by which two roots are known to differ; -1 where they are not."""
        row = self._cannot.get(a)
        if row is None:
            return -1
        at = bisect_left(row, b << _BITS)
        return row[at] & _LOW if at < len(row) and row[at] >> _BITS == b else -1

    def _constraint(self, number: int) -> Constraint:
        return self._left[number], self._right[number], Answer.SAME if self._said[number] else Answer.DIFFERENT

    def _unskip(self, key: tuple[int, int]) -> None:
        del self._skipped[key]

    def _put_skipped(self, skipped: dict[tuple[int, int], bool]) -> None:
        self._skipped = skipped

    def _unseparate(self, a: int, b: int) -> None:
        self._drop_cannot(a, b)
        self._drop_cannot(b, a)

    def _put_cannot(self, a: int, b: int, evidence: int) -> None:
        row = self._cannot.setdefault(a, array("q"))
        row.insert(bisect_left(row, b << _BITS), b << _BITS | evidence)

    def _drop_cannot(self, a: int, b: int) -> None:
        row = self._cannot[a]
        del row[bisect_left(row, b << _BITS)]

    def _ununion(self, a: int, b: int, kept: int) -> None:
        self._parent[b] = b
        del self._component[a][kept:]

    def _unlink(self, i: int, j: int) -> None:
        self._links[i].pop()
        self._links[j].pop()

    def _forget(self, sample: int) -> None:
        del self._parent[sample]
        del self._component[sample]

    def _drop_constraint(self) -> None:
        self._left.pop()
        self._right.pop()
        self._said.pop()

    def _path(self, i: int, j: int) -> tuple[Constraint, ...]:
        if i == j:
            return ()
        came_from = {i: i}
        queue = deque([i])
        while queue and j not in came_from:
            here = queue.popleft()
            for there in self._links.get(here, ()):
                if there not in came_from:
                    came_from[there] = here
                    queue.append(there)
        path: list[Constraint] = []
        while j != i:
            path.append((came_from[j], j, Answer.SAME))
            j = came_from[j]
        return tuple(reversed(path))


def _key(i: int, j: int) -> tuple[int, int]:
    return (i, j) if i < j else (j, i)
