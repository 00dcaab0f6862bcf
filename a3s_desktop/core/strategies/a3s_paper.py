"""A3S as published: adaptive aggregation and splitting (Algorithms 1-3), for comparison and for the paper's figures.

Differences from the paper's text follow the authors' published behaviour: the list of candidate pairs is made once in
an iteration, and the aggregation probability is a mean by default. What the paper leaves open is decided here:

- pairs of clusters whose relation is known already do not use up places in an iteration's list;
- a split asks each member against its most probable subcluster only (`COMPARISONS`);
- the outlier stage goes in rounds: the best home of every outlier first, in order of expected gain, then the next;
- an outlier is asked only against clusters that its neighbours belong to;
- a *skip* never moves samples: a member that was skipped against the centre in a split stays with the centre.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import groupby
from operator import itemgetter

import numpy as np

from a3s_desktop.core.aggregation import cluster_pairs, merge_entropy
from a3s_desktop.core.context import Context, Step
from a3s_desktop.core.types import Answer, IntArray, Question, Reason

PURITY_RANK = 0.7
"""Rank by distance from the centre of the member that is tested: the sphere that holds 70 % of them (Eq. 6)."""

LARGEST_DENSITY_SAMPLE = 400
"""Clusters above this size have their density measured on so many members, spread evenly: bounded work per test."""

COMPARISONS = 1
"""Subclusters that a member is asked against in a split. A cluster of 42 images of 29 identities costs about 500
answers when each member is asked against all, before anything is merged; the paper's own curves do not pay that."""

_AGGREGATE, _OUTLIERS, _DONE = 0, 1, 2


class A3SPaper:
    """The published strategy.

    State in the context: values ``phase``, ``iteration``, ``at`` (position in the list), ``list`` (int64 (m, 2):
    leaders of the pairs of clusters in turn; an outlier comes first), ``tau``; table ``pure`` (cluster id ->
    1 where the purity test was passed or bought).
    """

    def begin(self, context: Context) -> None:
        """Start with the first iteration's list."""
        context.values["iteration"] = 0
        self._start_iteration(context)

    def next_step(self, context: Context) -> Step | None:
        """One pair of clusters, one outlier, or the change to the next list."""
        phase, at = context.values["phase"], context.values["at"]
        if phase == _DONE:
            return None
        if at >= len(context.values["list"]):
            return self._next_list(context)
        first, second = (int(i) for i in context.values["list"][at])
        act = self._aggregate if phase == _AGGREGATE else self._place
        return act(context, first, second)

    def reconsider(self, context: Context) -> None:
        """Where nothing was left to ask, look for outliers again."""
        if context.values["phase"] == _DONE:
            self._start_outlier_round(context)

    # --- lists

    def _start_iteration(self, context: Context) -> None:
        """Candidate pairs of an iteration: of all pairs the k most probable, in order of expected NMI gain."""
        pairs = cluster_pairs(context.graph, context.partition.labels, context.options.aggregation)
        sizes = np.bincount(context.partition.labels)
        larger = np.flatnonzero((sizes[pairs.first] > 1) & (sizes[pairs.second] > 1))
        rows: list[tuple[float, int, int]] = []
        for k in larger[np.argsort(-pairs.probability[larger].round(9), kind="stable")].tolist():
            if len(rows) == context.partition.n_clusters:
                break
            left, right = context.leader(int(pairs.first[k])), context.leader(int(pairs.second[k]))
            if context.store.relation(left, right) is None and context.may_ask(left, right):
                rows.append((-round(float(pairs.gain[k]), 12), left, right))
        rows.sort(key=lambda row: row[0])  # stable: equal gains stay in order of probability
        context.values["tau"] = self._mean_density(context) + context.options.tau_offset
        self._set_list(context, _AGGREGATE, [row[1:] for row in rows])

    def _start_outlier_round(self, context: Context) -> None:
        """The most probable open home of every outlier, in order of expected NMI gain."""
        sizes = np.bincount(context.partition.labels)
        found = list(self._best_homes(context))
        table = np.array(found, np.float64).reshape(-1, 3)
        outliers, homes = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
        gains = merge_entropy(sizes[outliers], sizes[homes], context.graph.n) / (1.0 + np.exp(-table[:, 2]))
        rows = [
            (-gain, context.leader(outlier), context.leader(home))
            for gain, (outlier, home, _) in zip(gains.round(12).tolist(), found, strict=True)
        ]
        rows.sort()
        self._set_list(context, _OUTLIERS if rows else _DONE, [row[1:] for row in rows])

    def _next_list(self, context: Context) -> Step:
        yield from ()  # a step is a generator, also where it asks nothing
        if context.values["phase"] == _AGGREGATE:
            context.values["iteration"] = context.values["iteration"] + 1
        if context.values["iteration"] < context.options.iterations:
            self._start_iteration(context)
        else:
            self._start_outlier_round(context)
        return None

    def _set_list(self, context: Context, phase: int, rows: list[tuple[int, int]]) -> None:
        context.values["phase"] = phase
        context.values["list"] = np.array(rows, np.int64).reshape(-1, 2)
        context.values["at"] = 0

    # --- aggregation and splitting

    def _aggregate(self, context: Context, first: int, second: int) -> Step:
        """Algorithm 1 for one pair: test the purity of both clusters, then ask whether they are one class."""
        cluster_of = context.partition.cluster_of
        if cluster_of(first) != cluster_of(second):
            for sample in (first, second):
                yield from self._ensure_pure(context, cluster_of(sample))
        a, b = cluster_of(first), cluster_of(second)
        if a != b:
            left, right = context.leader(a), context.leader(b)
            answer = yield from context.ask(left, right, Reason.MERGE)
            if answer is Answer.SAME:
                context.merge(a, b, (left, right))
        context.values["at"] = context.values["at"] + 1
        return None

    def _ensure_pure(self, context: Context, cluster: int) -> Step:
        """Purity test (Eq. 5-6): by density first; where that fails the annotator decides, and *different* splits."""
        members = context.partition.members(cluster)
        pure = context.table("pure")
        if not context.options.purity_test or len(members) < 3 or cluster in pure or context.is_barred(cluster):
            return None
        if self._density(context, members) <= context.values["tau"]:
            ordered = context.from_centre(members)
            tested = int(ordered[max(1, int(np.ceil(PURITY_RANK * len(ordered))) - 1)])
            answer = yield from context.ask(int(ordered[0]), tested, Reason.PURITY)
            if answer is Answer.SKIP:
                return None
            if answer is Answer.DIFFERENT:
                yield from self._partition(context, ordered, tested)
                return None
        pure[cluster] = 1
        return None

    def _partition(self, context: Context, ordered: IntArray, tested: int) -> Step:
        """Algorithm 2, subcluster partition: each member, from the centre outwards, joins its subcluster or opens one.

        It is asked against the representative of the subcluster that is most probable for it (`COMPARISONS`); what
        is left apart wrongly is found by the aggregation and the outlier stage, at a better price. Every answer is
        carried out at once, so that the partition agrees with all answers whenever a question is open.
        """
        cluster_of, pure = context.partition.cluster_of, context.table("pure")
        p = context.pair_probabilities(ordered, ordered)
        at_tested = int(np.flatnonzero(ordered == tested)[0])
        centre = int(ordered[0])
        parts: list[list[int]] = [[0], [at_tested]]  # positions in `ordered`; the first of each represents it
        context.isolate(tested)
        for at, sample in enumerate(ordered.tolist()):
            if at in (0, at_tested):
                continue
            if cluster_of(sample) != cluster_of(centre):  # it left together with a must-linked member
                homes = [cluster_of(int(ordered[part[0]])) for part in parts]
                parts[homes.index(cluster_of(sample))].append(at)
                continue
            nearest = sorted(range(len(parts)), key=lambda k: (-round(float(p[at, parts[k]].max()), 6), k))
            home = yield from self._find_home(context, sample, [int(ordered[parts[k][0]]) for k in nearest])
            if home is None and context.store.is_skipped(sample, centre):
                continue  # nobody said that it does not belong here
            if home is None:
                parts.append([at])
                context.isolate(sample)
            else:
                parts[nearest[home]].append(at)
                context.join(sample, int(ordered[parts[nearest[home]][0]]))
        for part in parts:
            pure[cluster_of(int(ordered[part[0]]))] = 1
            context.leaders[cluster_of(int(ordered[part[0]]))] = int(ordered[part[0]])
        return None

    def _find_home(
        self, context: Context, sample: int, representatives: list[int]
    ) -> Generator[Question, Answer, int | None]:
        """Position of the representative that a sample is *same* with, of a list by falling probability, or None."""
        relations = [context.store.relation(sample, representative) for representative in representatives]
        if Answer.SAME in relations:
            return relations.index(Answer.SAME)
        left = COMPARISONS
        for k, representative in enumerate(representatives):
            if left == 0 or relations[k] is not None:
                continue
            answer = yield from context.ask(representative, sample, Reason.SPLIT)
            if answer is Answer.SAME:
                return k
            left -= answer is Answer.DIFFERENT
        return None

    # --- outliers

    def _place(self, context: Context, outlier: int, home: int) -> Step:
        """Ask an outlier against the leader of one neighbouring cluster."""
        a, b = context.partition.cluster_of(outlier), context.partition.cluster_of(home)
        if a != b:
            left, right = context.leader(b), context.leader(a)
            answer = yield from context.ask(left, right, Reason.OUTLIER)
            if answer is Answer.SAME:
                context.merge(a, b, (left, right))
        context.values["at"] = context.values["at"] + 1
        return None

    def _best_homes(self, context: Context) -> Iterator[tuple[int, int, float]]:
        """Each outlier's most probable neighbouring cluster of those not known to differ: (outlier, home, log-odds)."""
        graph, labels, store = context.graph, context.partition.labels, context.store
        samples = np.flatnonzero(np.bincount(labels)[labels] <= 2)
        edges, own = graph.edges_of(samples), np.repeat(labels[samples], graph.degrees(samples))
        other, logodds = labels[graph.indices[edges]], graph.logodds[edges]
        order = np.lexsort((other, -logodds, own))
        order = order[own[order] != other[order]]
        edges_by_outlier = zip(own[order].tolist(), other[order].tolist(), logodds[order].tolist(), strict=True)
        for outlier, group in groupby(edges_by_outlier, key=itemgetter(0)):
            leader = context.leader(outlier)
            seen: set[int] = set()  # a home comes once for each edge that leads to it, the most probable first
            for _, home, value in group:
                if home in seen:
                    continue
                seen.add(home)
                other_leader = context.leader(home)
                if store.relation(leader, other_leader) is None and context.may_ask(leader, other_leader):
                    yield outlier, home, value
                    break

    # --- density

    def _density(self, context: Context, members: IntArray) -> float:
        """Mean probability between each member and the members just less probable to it than its median one (Eq. 5).

        Of the less probable half the √n nearest the median count, as in the authors' code: with all of them, large
        clusters fail for the pairs that the sparse graph does not hold. A single sample has density 1.
        """
        if len(members) > LARGEST_DENSITY_SAMPLE:
            members = members[np.linspace(0, len(members) - 1, LARGEST_DENSITY_SAMPLE).astype(np.int64)]
        n = len(members)
        if n < 2:
            return 1.0
        p = -np.sort(-context.pair_probabilities(members, members), axis=1)[:, 1:]  # each row without itself
        median, count = (n - 1) // 2, int(np.ceil(np.sqrt(n)))
        return round(float(p[:, median : median + count].mean()), 9)

    def _mean_density(self, context: Context) -> float:
        """Mean density over all clusters, single samples included."""
        partition = context.partition
        clusters = np.flatnonzero(np.bincount(partition.labels) >= 2)
        total = sum(self._density(context, partition.members(int(c))) for c in clusters) + partition.n_singletons
        return total / (partition.n_clusters + partition.n_singletons)
