"""The partition: which cluster each sample is in now. Every change is logged, and ids are stable."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from a3s_desktop.core.room import enlarged
from a3s_desktop.core.runs import missing, run_starts
from a3s_desktop.core.types import IndexArray, IntArray
from a3s_desktop.core.undo import UndoLog

_NOBODY = np.zeros(0, np.int32)
_REST = -1  # in the place of a group: what belongs to none


class Partition:
    """Cluster ids of N samples, with the members of each cluster at hand.

    A merge keeps the larger cluster's id (ties: the smaller id), a split keeps the id for its largest part, and new
    ids are never reused, so that colours and names can hang on them. The initial members are one sorted index
    array; only clusters that changed since have an array of their own, so a million singletons cost nothing.

    Parameters
    ----------
    labels : int array, shape (N,)
        Cluster ids >= 0.
    log : UndoLog
    next_id : int, optional
        First id for new clusters; default: one past the largest.
    """

    def __init__(self, labels: IntArray, log: UndoLog, next_id: int | None = None) -> None:
        self._log = log
        self._version = 0
        self._changed_at = np.zeros(0, np.int64)
        self._adopt(np.array(labels, np.int32))
        self._next_id = int(self._labels.max(initial=-1)) + 1 if next_id is None else next_id

    # --- reading

    @property
    def labels(self) -> IntArray:
        """Cluster id of every sample, int32 (N,), a read-only view of the live array."""
        view = self._labels.view()
        view.flags.writeable = False
        return view

    @property
    def version(self) -> int:
        """Grows with every change, and with every change that is taken back."""
        return self._version

    @property
    def stamp(self) -> int:
        """Where it is the same the labels are, too: other than the version, after an undo it is as before."""
        return self._stamp

    def changed_at(self, clusters: IndexArray) -> IndexArray:
        """The `version` with which the members of each of some clusters were last changed, int64 (m,)."""
        self._make_room(int(clusters.max(initial=0)) + 1)
        return np.maximum(self._changed_at[clusters], self._adopted_at)

    @property
    def next_id(self) -> int:
        """The id that the next new cluster gets."""
        return self._next_id

    @property
    def n_clusters(self) -> int:
        """Number of clusters with at least two members."""
        return self._n_clusters

    @property
    def n_singletons(self) -> int:
        """Number of clusters with one member."""
        return self._n_singletons

    def cluster_of(self, i: int) -> int:
        """Cluster id of sample ``i``."""
        return int(self._labels[i])

    def size(self, cluster: int) -> int:
        """Number of members; 0 for an id that no sample has."""
        return len(self.members(cluster))

    def members(self, cluster: int) -> IntArray:
        """Members of a cluster, int32, ascending; empty for an id that no sample has. Not to be written to.

        The same array object as long as the cluster is the same, also after it changed and was changed back.
        """
        changed = self._changed.get(cluster)
        if changed is not None:
            return changed
        slices = self._slices
        if cluster not in slices:
            known = 0 <= cluster < len(self._starts) - 1
            slices[cluster] = self._order[self._starts[cluster] : self._starts[cluster + 1]] if known else _NOBODY
        return slices[cluster]

    def cluster_ids(self) -> IntArray:
        """Ids of all clusters that have members, int32, ascending."""
        return np.flatnonzero(np.bincount(self._labels)).astype(np.int32)

    # --- changing

    def merge(self, a: int, b: int) -> int:
        """Unite two clusters; returns the id that stays."""
        if a == b:
            raise ValueError("a cluster cannot be merged with itself")
        first, second = self.members(a), self.members(b)
        if not len(first) or not len(second):
            raise ValueError(f"no such cluster: {a if not len(first) else b}")
        if (-len(first), a) > (-len(second), b):
            a, b, first, second = b, a, second, first
        self._set({a: np.sort(np.concatenate((first, second))), b: first[:0]})
        return a

    def split(self, cluster: int, parts: Sequence[IntArray]) -> list[int]:
        """Divide a cluster into disjoint non-empty parts that cover it; returns their ids in the order given.

        The largest part (ties: the first) keeps the id.
        """
        sizes = [len(part) for part in parts]
        if not sizes or min(sizes) == 0 or sum(sizes) != self.size(cluster):
            raise ValueError("the parts of a split must be non-empty and cover the cluster")
        largest = sizes.index(max(sizes))
        ids = [cluster if k == largest else self._new_id() for k in range(len(parts))]
        self._set({new: np.sort(part).astype(np.int32) for new, part in zip(ids, parts, strict=True)})
        return ids

    def regroup(self, groups: Sequence[IntArray]) -> tuple[list[int], list[int]]:
        """Make a cluster of each of some groups of samples; of the clusters that they leave, the rest stays together.

        The largest piece of a cluster (ties: the rest, then the first group) keeps its id; a group that would keep
        several has that of its largest piece (ties: the smaller id).

        Parameters
        ----------
        groups : sequence of int32 arrays
            Disjoint, not empty.

        Returns
        -------
        old, new : list of int
            The clusters that changed, and those that their samples are in now, ascending.
        """
        pieces = self._pieces(groups) if groups else {}
        if not pieces:
            return [], []
        kept: dict[int, tuple[int, int]] = {}  # group -> of its largest piece with an id: size, negative; id
        for cluster, here in pieces.items():
            at = max(here, key=lambda at: len(here[at]))
            if at >= 0:
                kept[at] = min(kept.get(at, (0, 0)), (-len(here[at]), cluster))
        members = dict.fromkeys(pieces, _NOBODY)
        made: set[int] = set()
        for cluster, here in pieces.items():
            stays = max(map(len, here.values())) == len(here[_REST])
            for at, piece in here.items():
                if at == _REST and len(piece):
                    members[cluster if stays else self._new_id()] = piece
                elif at not in made and at != _REST:
                    made.add(at)
                    members[kept[at][1] if at in kept else self._new_id()] = np.sort(groups[at]).astype(np.int32)
        self._set(members)
        return sorted(pieces), sorted(cluster for cluster, new in members.items() if len(new))

    def relabel(self, labels: IntArray) -> None:
        """Replace the whole partition (for strategies that cluster anew).

        New clusters take over the old ids that they share most samples with, largest overlap first, so that colours
        stay as stable as a new clustering allows.
        """
        old = self._labels
        _, inverse = np.unique(labels, return_inverse=True)
        pairs, counts = np.unique(np.stack((inverse, old)), axis=1, return_counts=True)
        names: dict[int, int] = {}
        taken: set[int] = set()
        for at in np.lexsort((pairs[1], pairs[0], -counts)):
            new, previous = int(pairs[0, at]), int(pairs[1, at])
            if new not in names and previous not in taken:
                names[new] = previous
                taken.add(previous)
        for new in range(int(inverse.max(initial=-1)) + 1):
            if new not in names:
                names[new] = self._new_id()
        table = np.array([names[k] for k in range(len(names))], np.int32)
        whole = (old, self._order, self._starts, self._changed, self._n_clusters, self._n_singletons)
        self._log.push(self._put_back, self._stamp, *whole)
        self._adopt(table[inverse])

    # --- inner workings

    def _pieces(self, groups: Sequence[IntArray]) -> dict[int, dict[int, IntArray]]:
        """Of each cluster that some groups leave, ascending: what stays (`_REST`), and what is of each group. Clusters
        that are such a group already are left out."""
        samples = np.concatenate(groups)
        key = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        key += self._labels[samples].astype(np.int64) * len(groups)
        order = np.lexsort((samples, key))
        samples, key = samples[order], key[order]
        starts = run_starts(key)
        found: dict[int, dict[int, IntArray]] = {}
        for start, piece in zip(starts, np.split(samples, starts[1:]), strict=True):
            cluster, at = divmod(int(key[start]), len(groups))
            found.setdefault(cluster, {_REST: _NOBODY})[at] = piece
        for cluster, here in list(found.items()):
            here[_REST] = missing(self.members(cluster), np.sort(np.concatenate(list(here.values()))))
            size = self.size(cluster)
            if any(len(piece) == size == len(groups[at]) for at, piece in here.items() if at != _REST):
                del found[cluster]
        return found

    def _new_id(self) -> int:
        new = self._next_id
        self._log.push(setattr, self, "_next_id", new)
        self._next_id = new + 1
        return new

    def _adopt(self, labels: IntArray) -> None:
        self._version += 1
        self._adopted_at = self._stamp = self._version
        self._labels = labels
        self._order = np.argsort(labels, kind="stable").astype(np.int32)
        counts = np.bincount(labels) if len(labels) else np.zeros(0, np.int64)
        self._starts = np.concatenate(([0], np.cumsum(counts)))
        self._changed: dict[int, IntArray] = {}
        self._slices: dict[int, IntArray] = {}
        self._n_clusters = int(np.count_nonzero(counts > 1))
        self._n_singletons = int(np.count_nonzero(counts == 1))

    def _put_back(
        self,
        stamp: int,
        labels: IntArray,
        order: IntArray,
        starts: IndexArray,
        changed: dict[int, IntArray],
        n_clusters: int,
        n_singletons: int,
    ) -> None:
        self._version += 1
        self._adopted_at, self._stamp = self._version, stamp
        self._labels, self._order, self._starts, self._changed = labels, order, starts, changed
        self._slices = {}
        self._n_clusters, self._n_singletons = n_clusters, n_singletons

    def _set(self, members: dict[int, IntArray]) -> None:
        stamp = self._stamp
        self._note(members)
        self._stamp = self._version
        before = {cluster: self._changed.get(cluster) for cluster in members}
        old_members = {cluster: self.members(cluster) for cluster in members}
        old_counts = (self._n_clusters, self._n_singletons)
        for cluster, new in members.items():
            for sizes, sign in ((len(old_members[cluster]), -1), (len(new), 1)):
                self._n_clusters += sign * (sizes > 1)
                self._n_singletons += sign * (sizes == 1)
            self._changed[cluster] = new
            self._labels[new] = cluster
        self._log.push(self._unset, stamp, before, old_members, old_counts)

    def _unset(
        self,
        stamp: int,
        before: dict[int, IntArray | None],
        old_members: dict[int, IntArray],
        old_counts: tuple[int, int],
    ) -> None:
        self._note(before)
        self._stamp = stamp
        for cluster, changed in before.items():
            if changed is None:
                del self._changed[cluster]
            else:
                self._changed[cluster] = changed
            self._labels[old_members[cluster]] = cluster
        self._n_clusters, self._n_singletons = old_counts

    def _note(self, clusters: Collection[int]) -> None:
        """Some clusters are changing."""
        self._version += 1
        self._make_room(max(clusters, default=-1) + 1)
        self._changed_at[list(clusters)] = self._version

    def _make_room(self, clusters: int) -> None:
        if clusters > len(self._changed_at):
            self._changed_at = enlarged(self._changed_at, 3 * clusters // 2)
