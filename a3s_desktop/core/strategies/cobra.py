"""COBRA: constraint-based repeated aggregation of super-instances.

Source: Van Craenendonck, Dumancic, Blockeel: COBRA, a fast and simple method for active clustering with pairwise
constraints (2018).
"""

from __future__ import annotations

import numpy as np

from a3s_desktop.core.context import Context, Step
from a3s_desktop.core.pckmeans import Clustering, kmeans, squared_distances
from a3s_desktop.core.types import Answer, IndexArray, IntArray, Reason
from a3s_desktop.errors import InputError
from a3s_desktop.i18n import tr

LARGEST = 5_000
"""Most super-instances: all their pairs are put in order."""


class COBRA:
    """K-means makes k super-instances; the closest pair of them that is not known is asked; *same* merges.

    k is ``options.clusters`` where it is given, else the number of clusters of two or more samples in the initial
    clustering. Each super-instance is represented by its medoid, the member nearest to its mean, and stays whole:
    the end (every pair known) is no purer than the super-instances are, and takes more answers the more there are.

    To search from the closest pair again after a merge, as the paper says, and to go on in the list of pairs in order
    of distance are the same: what is known of a pair is never forgotten. Where a pair of medoids is skipped, the
    member next to one of the medoids stands in for it, once.

    State in the context: values ``medoids`` and ``stand_ins`` (int64 (k,); -1 where there is none) and ``at``
    (position in the list of pairs). What is kept on the object follows from the medoids.
    """

    def __init__(self) -> None:
        self._pairs: tuple[IndexArray, IndexArray] | None = None

    def begin(self, context: Context) -> None:
        """Make the super-instances; they are the first partition."""
        features = context.rows(np.arange(context.graph.n, dtype=np.int32))
        rng = np.random.default_rng(context.options.seed)
        found = kmeans(features, self._count(context), rng)
        medoids, stand_ins = _central(found)
        context.partition.relabel(found.labels)
        context.values["medoids"], context.values["stand_ins"] = medoids, stand_ins
        context.values["at"] = 0

    def next_step(self, context: Context) -> Step | None:
        """The closest pair of super-instances whose relation is not known."""
        first, second = self._order(context)
        medoids = context.values["medoids"]
        cluster_of, store = context.partition.cluster_of, context.store
        for at in range(context.values["at"], len(first)):
            left, right = int(medoids[first[at]]), int(medoids[second[at]])
            is_open = store.relation(left, right) is None and context.may_ask(left, right)
            if is_open and cluster_of(left) != cluster_of(right):
                context.values["at"] = at
                return self._ask(context, int(first[at]), int(second[at]))
        return None

    def reconsider(self, context: Context) -> None:
        """Go through the list of pairs again: some may be open that were not."""
        context.values["at"] = 0

    def _ask(self, context: Context, first: int, second: int) -> Step:
        medoids, stand_ins = context.values["medoids"], context.values["stand_ins"]
        left, right = int(medoids[first]), int(medoids[second])
        answer = yield from context.ask(left, right, Reason.MERGE)
        if answer is Answer.SKIP:
            if stand_ins[first] >= 0:
                left = int(stand_ins[first])
            elif stand_ins[second] >= 0:
                right = int(stand_ins[second])
            else:
                return None
            answer = yield from context.ask(left, right, Reason.MERGE)
        a, b = context.partition.cluster_of(left), context.partition.cluster_of(right)
        if answer is Answer.SAME and a != b:
            context.merge(a, b, (left, right))
        return answer

    def _count(self, context: Context) -> int:
        n, wanted = context.graph.n, context.options.clusters
        if wanted is None:
            wanted = context.partition.n_clusters or context.partition.n_singletons
        elif not 1 <= wanted <= n:
            raise InputError(
                tr("The number of super-instances must be between 1 and {count}, not {wanted}.", count=n, wanted=wanted)
            )
        if wanted > LARGEST:
            raise InputError(
                tr(
                    "COBRA puts all pairs of {wanted} super-instances in order; the most it takes are {largest}.",
                    wanted=wanted,
                    largest=LARGEST,
                ),
                tr("Give a smaller number of groups (Advanced, or --clusters), or choose another strategy."),
            )
        return wanted

    def _order(self, context: Context) -> tuple[IndexArray, IndexArray]:
        """All pairs of super-instances by the distance of their medoids, as positions."""
        if self._pairs is None:
            rows = context.rows(context.values["medoids"].astype(np.int32))
            first, second = np.triu_indices(len(rows), 1)
            distance = squared_distances(rows, rows.astype(np.float64))[first, second]
            order = np.argsort(distance, kind="stable")
            self._pairs = first[order], second[order]
        return self._pairs


def _central(found: Clustering) -> tuple[IndexArray, IndexArray]:
    """Of each cluster that has members: the member nearest to its mean, and the next."""
    own: IntArray = found.labels
    apart = ((found.space - found.centroids[own]) ** 2).sum(axis=1).round(9)
    order = np.lexsort((np.arange(len(own)), apart, own))
    counts = np.bincount(own, minlength=len(found.centroids))
    starts = np.cumsum(counts) - counts
    medoids = order[starts[counts > 0]]
    following = np.minimum(starts + 1, len(own) - 1)
    stand_ins = np.where(counts > 1, order[following], -1)[counts > 0]
    return medoids.astype(np.int64), stand_ins.astype(np.int64)
