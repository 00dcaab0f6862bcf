"""How a correction that the annotator made by hand is carried out: thousands of samples at a time, as a map's lasso
chooses them, so that no step costs more than what changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.context import Context
from a3s_desktop.core.correction import Correction
from a3s_desktop.core.types import IntArray


class Corrector:
    """Changes the partition of a context to what a correction says; its constraints are in the store already.

    Parameters
    ----------
    context : Context
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._store, self._partition, self._junk = context.store, context.partition, context.junk

    def carry_out(self, correction: Correction) -> None:
        """Change the partition."""
        self._take_out(correction.leave)
        self._bring_back(correction.restore)
        if correction.identities:
            self._part_identities()
        self._unite((*correction.together, *chain.from_iterable(map(pairwise, correction.identities))))
        for left, right in correction.apart:
            if self._partition.cluster_of(left) == self._partition.cluster_of(right):
                (self._context.divider or self._cut)(left, right)
        if correction.identities:
            self._announce(sorted({self._context.home(group[0]) for group in correction.identities}))
        self._put_away(correction.junk)
        self._context.finished.put(correction.finish, True)
        self._context.finished.put(correction.reopen, False)
        if correction.requeue:
            self._store.requeue()

    def _unite(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Unite the clusters of must-linked samples; of junk ones, those of all that are must-linked with them."""
        cluster_of = self._partition.cluster_of
        gathered: set[int] = set()  # roots
        for left, right in pairs:
            if self._junk[left] or self._junk[right]:
                root = self._store.find(left)
                if root not in gathered:
                    gathered.add(root)
                    self._gather(left)
            elif cluster_of(left) != cluster_of(right):
                self._context.merge(cluster_of(left), cluster_of(right), (left, right))

    def _gather(self, sample: int) -> None:
        """Unite the clusters of all samples that are must-linked with one; it may be what links them."""
        present = [i for i in self._store.component(sample) if not self._junk[i]]
        for other in present[1:]:
            a, b = self._partition.cluster_of(present[0]), self._partition.cluster_of(other)
            if a != b:
                self._context.merge(a, b, (present[0], other))

    def _take_out(self, groups: Sequence[Sequence[int]]) -> None:
        """Take groups of samples out of their clusters, each with all there that is must-linked with it. A group of one
        identity becomes one cluster; of another one, what was in one cluster."""
        labels, pieces = self._partition.labels, []
        taken: set[int] = set()
        for group in groups:
            chosen: dict[int, list[int]] = {}  # root -> samples
            for sample in group:
                if not self._junk[sample] and sample not in taken:
                    chosen.setdefault(self._store.find(sample), []).append(sample)
            mates = [self._mates(samples) for samples in chosen.values()]
            if len(mates) > 1:
                some = np.concatenate(mates)
                pieces += _lots(some, labels[some])
            else:
                pieces += mates
            taken.update(*(own.tolist() for own in mates))
        self._context.regroup(pieces)

    def _mates(self, samples: Sequence[int]) -> IntArray:
        """Of some samples of one component, all of it that is in their clusters, ascending."""
        labels, own = self._partition.labels, np.array(self._store.component(samples[0]), np.int32)
        return own[np.isin(labels[own], labels[samples])]

    def _put_away(self, samples: Sequence[int]) -> None:
        fresh = sorted({sample for sample in samples if not self._junk[sample]})
        self._junk.put(fresh, True)
        self._divide({sample: sample for sample in fresh})
        self._tell_of(fresh)

    def _bring_back(self, samples: Sequence[int]) -> None:
        fresh = sorted({sample for sample in samples if self._junk[sample]})
        self._junk.put(fresh, False)
        self._tell_of(fresh)
        roots = np.array([self._store.find(sample) for sample in fresh], np.int64)
        lots = _lots(np.array(fresh, np.int32), roots)
        self._context.regroup(lots)
        for lot in lots:
            self._gather(int(lot[0]))

    def _tell_of(self, singles: Sequence[int]) -> None:
        """Have the watchers look again at samples that became junk, or are no longer, each a cluster of its own."""
        self._announce(self._partition.labels[list(singles)].tolist())

    def _announce(self, clusters: Sequence[int]) -> None:
        """Have the watchers look again at some clusters."""
        for watcher in self._context.watchers if clusters else ():
            watcher.divided(clusters, clusters)

    def _part_identities(self) -> None:
        """Divide every cluster that holds samples of several known identities; what else is in it stays behind."""
        here: dict[int, dict[int, int]] = {}  # cluster -> sample -> identity
        for identity in self._store.identities():
            for sample in self._store.component(identity):
                if not self._junk[sample]:
                    here.setdefault(self._partition.cluster_of(sample), {})[sample] = identity
        mixed = [group_of for group_of in here.values() if len(set(group_of.values())) > 1]
        self._divide({sample: identity for group_of in mixed for sample, identity in group_of.items()})

    def _divide(self, group_of: Mapping[int, int]) -> None:
        """Divide every cluster that holds some of the samples: what is not named, and one part for each group."""
        chosen = np.array(sorted(group_of), np.int32)
        groups = np.array([group_of[sample] for sample in chosen.tolist()], np.int64)
        self._context.regroup(_lots(chosen, groups, self._partition.labels[chosen]))

    def _cut(self, left: int, right: int) -> None:
        """Divide a cluster between two samples that differ; each must-link component goes whole, to the nearer one."""
        store, cluster = self._store, self._partition.cluster_of(left)
        members = self._partition.members(cluster)
        nearer = self._context.pair_probabilities(members, np.array((left, right), np.int32))
        side = nearer[:, 1] > nearer[:, 0]
        sides = {store.find(left): False, store.find(right): True}
        for place, i in enumerate(members.tolist()):
            if store.is_touched(i):
                side[place] = sides.setdefault(store.find(i), bool(side[place]))
        self._context.split(cluster, (members[~side], members[side]))


def _lots(samples: IntArray, *keys: npt.NDArray[np.integer[Any]]) -> list[IntArray]:
    """Samples whose keys are all equal, by the keys, the last one first; each lot ascending."""
    order = np.lexsort((samples, *keys))
    other = np.zeros(len(samples), np.bool_)
    for key in keys:
        other[1:] |= key[order[1:]] != key[order[:-1]]
    return np.split(samples[order], np.flatnonzero(other)) if len(samples) else []
