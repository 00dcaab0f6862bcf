"""What is known of two groups of samples before anyone is asked: the facts that `link_model` works on.

Facts of cluster pairs and of the nodes inside clusters, kept for each cluster and computed again only where the
cluster, or one next to it, changed. All of it is derived from the partition, the store and the forest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.cluster_graph import ClusterGraph
from a3s_desktop.core.context import Context
from a3s_desktop.core.forest import PLANTED, Forest
from a3s_desktop.core.learnt_metric import LearntMetric, differences, evenly
from a3s_desktop.core.moments import Moments
from a3s_desktop.core.node_facts import NodeFacts
from a3s_desktop.core.node_table import Inner, NodeTable
from a3s_desktop.core.pair_table import Pairs, PairTable
from a3s_desktop.core.types import IntArray
from a3s_desktop.core.watcher import Watcher

Matrix = npt.NDArray[np.float64]

FACES = 3
"""Samples that may stand for a cluster, where the pair of the first ones was skipped."""

_PAIRS, _NODES = 0.45, 0.35  # shares of the making of an engine, after the trees

_MOST_FOR_CENTRE = 2048  # samples that the mean of all is taken from


class GroupFacts(Watcher):
    """Facts about the clusters of one engine. A `Watcher` that looks at most of what changed when it is asked.

    Parameters
    ----------
    context : Context
    links : ClusterGraph
    forest : Forest
    saved : mapping, optional
        What `arrays` gave for this state of all three.
    """

    def __init__(
        self,
        context: Context,
        links: ClusterGraph,
        forest: Forest,
        saved: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> None:
        self._context = context
        self.links = links
        self.forest = forest
        metric: tuple[Matrix, float, float] | None = None
        known: Inner | None = None
        if saved is None:
            some = evenly(context.graph.n, _MOST_FOR_CENTRE).astype(np.int32)
            self._centre = context.rows(some).mean(axis=0, dtype=np.float64)
            self._middle, self._spread = self._edge_distances()
        else:
            self._centre = saved["centre"]
            self._middle, self._spread, middle, spread = saved["scale"].tolist()
            metric, known = (saved["whiten"], middle, spread), _nodes_from(saved)
        self._learnt = LearntMetric(context.graph, links.similarity, self.rows, metric)
        self._moments = Moments(context.partition, self.rows, self._learnt.whiten, saved)
        distances = (self.distance, self._learnt.distance)
        self.pairs = PairTable(links, self._moments, distances, self._is_closed, self._tell_pairs, saved)
        self._inside = NodeFacts(context, links, forest, self.rows, self.distance)
        clusters = context.partition.cluster_ids().tolist()
        self.nodes = NodeTable(self._inside.of, clusters, self._tell_nodes, known)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All that is dear to derive again, as arrays of their own."""
        inner = self.nodes.facts()
        order = np.argsort(inner.cluster, kind="stable")
        return {
            **self.pairs.arrays(),
            **self._moments.arrays(),
            "centre": self._centre,
            "scale": np.array((self._middle, self._spread, self._learnt.middle, self._learnt.spread)),
            "whiten": self._learnt.whiten,
            "nodes": np.stack((inner.cluster, inner.node), axis=1)[order].astype(np.int32),
            "node_facts": inner.rows[order],
            "node_entropy": inner.entropy[order],
            "node_guess": inner.guess[order],
        }

    def constrained(self, left: int, right: int) -> None:
        """Look again at the nodes inside a cluster that something was said of, be it by way of a junk sample."""
        cluster = self._context.home(left)
        if cluster == self._context.home(right):
            self.doubt(cluster)

    def merged(self, kept: int, gone: int) -> None:
        """Look again at the nodes of two clusters."""
        self.doubt(kept, gone)

    def divided(self, old: Sequence[int], parts: Sequence[int]) -> None:
        """Look again at the nodes of the parts."""
        self.doubt(*old, *parts)

    def doubt(self, *clusters: int) -> None:
        """Look again at the nodes inside some clusters, also when what changed them is taken back."""
        self.nodes.doubt(*clusters)
        self._context.log.push(self._forget, *clusters)

    def _forget(self, *clusters: int) -> None:
        # Nodes that were made since are gone, and their numbers will be given to others.
        self._inside.forget(*clusters)
        self.nodes.forget(*clusters)

    def size(self, cluster: int) -> int:
        """Number of members of a cluster."""
        return self._context.partition.size(cluster)

    def faces(self, cluster: int) -> tuple[int, ...]:
        """Samples that may stand for a cluster, best first."""
        first = self.forest.face(self.forest.root(cluster))
        members = self._context.partition.members(cluster)
        others = [i for i in members[:: max(1, len(members) // FACES)].tolist() if i != first]
        return (first, *others[: FACES - 1])

    def _tell_pairs(self, share: float) -> None:
        self._context.tell(PLANTED + _PAIRS * share)

    def _tell_nodes(self, share: float) -> None:
        self._context.tell(PLANTED + _PAIRS + _NODES * share)

    # --- pairs of clusters

    def merges(self) -> Pairs:
        """All linked pairs of clusters about which something can be asked, in no fixed order."""
        return self.pairs.facts()

    def _is_closed(self, a: int, b: int) -> bool:
        face, root = self.forest.face, self.forest.root
        return self._context.store.relation(face(root(a)), face(root(b))) is not None

    # --- nodes inside clusters

    def inner(self) -> Inner:
        """The nodes inside all clusters at which a division is possible (not answered *same*), in no fixed order."""
        return self.nodes.facts()

    # --- distances

    def distance(self, gap: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Root mean squared distances between two groups, in units of the edges' spread around their mean."""
        return (np.sqrt(gap.round(12)) - self._middle) / self._spread

    def rows(self, samples: IntArray) -> Matrix:
        """Features of some samples less the mean of all (about): squares of large numbers would hide small ones."""
        rows: Matrix = np.subtract(self._context.rows(samples), self._centre, dtype=np.float64)
        return rows

    def _edge_distances(self) -> tuple[float, float]:
        """Mean and standard deviation of the length of edges, in the scaled features, from at most 20,000 of them."""
        graph = self._context.graph
        if not len(graph.indices):
            return 0.0, 1.0
        length = np.sqrt((differences(graph, evenly(len(graph.indices)), self.rows) ** 2).sum(axis=1))
        return float(length.mean()), float(length.std()) or 1.0


def _nodes_from(saved: Mapping[str, npt.NDArray[Any]]) -> Inner:
    cluster, node = saved["nodes"].astype(np.int64).T
    return Inner(cluster, node, saved["node_facts"], saved["node_entropy"], saved["node_guess"])
