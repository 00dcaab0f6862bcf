"""A3S as this program does it: every question is the one with the largest expected gain in NMI.

What differs from the published strategy, and why (figures: the benchmark's report):

- *One currency.* Joining clusters of sizes p and q that are one class lowers the entropy of the clustering by Δh
  (Eq. 3) and raises NMI by about NMI Δh / (H(C) + H(W)); taking apart two parts that are not one class raises it by
  (2 - NMI) Δh / (H(C) + H(W)). So merges, purity checks, checks of single members and outliers stand in one list:
  P(same) Δh NMI against P(different) Δh (2 - NMI).
- *P is learnt from the answers* (`link_model`): no K is asked, and wrong calibration mends itself.
- *Candidates are always current*: after an answer only the clusters that it touched are looked at again.
- *Splits by seeds*: *different* inside a cluster divides its tree there, for one answer (`forest`).
- *Joining unasked*: a pair that is same with P >= `SURE` is joined by the model. It can be taken apart by a later
  answer, at the same place.

The settings are global. They were chosen on seventeen feature sets (people, faces, digits, glyph shapes, synthetic
classes) at once, not for any of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.chances import Worth, exactly
from a3s_desktop.core.cluster_graph import ClusterGraph
from a3s_desktop.core.context import Context, Step
from a3s_desktop.core.edge_values import Similarities
from a3s_desktop.core.forest import Forest
from a3s_desktop.core.group_facts import GroupFacts
from a3s_desktop.core.link_model import FACTS, STEADIEST, fit, inner_prior, merge_prior, remembered
from a3s_desktop.core.link_model import MEMORY as MODEL_MEMORY
from a3s_desktop.core.outlook import LEAST_CHANCE, MEMORY, RAISED, Load, Outlook, forecast, load
from a3s_desktop.core.types import Answer, IntArray, Reason

SURE = 0.9
"""The model joins two clusters unasked from this P(same) on."""

ANSWERS_BEFORE_JOINING = 15
"""... but not before it has seen so many answers."""

JOINS_AT_ONCE = 2
"""With more than `LARGE` samples the model joins at most so many pairs of clusters after one answer, the surest first,
and the next answers go on with it: the first fits find hundreds of sure pairs, and nobody shall wait for them all. With
fewer samples the wait is short, and what is joined early counts: digits by four views (2,000 samples) would reach NMI
.61 after 40 answers instead of .94."""

LARGE = 50_000

REFIT_EVERY = 5
"""Answers between two fits of the model."""

TYPICAL_NMI = 0.9
"""The true NMI is not known; the choice depends on it little."""

UNLIKELY = 0.1
"""Below this chance that two clusters are one, asking is worth less than Δh times the chance, by the square of the
proportion.

Of unlikely pairs those are put whose Δh is large, and these are the ones that the model is too sure of. Of 228 pairs of
at least eight samples each that were asked at less than .1 (people, faces, glyphs, digits: six feature sets), 4 were
the same where the model expected 10: none of those at .02, 2 % of those at .045, 3 % of those at .08. See also
`link_model.steadied`; with both, and all else as before, digits by their Fourier coefficients reach NMI .873, ARI .817
after 600 answers instead of .870, .815, those of four views .938, .941 after 40 instead of .915, .913, glyphs .969,
.966 after 83 instead of .967, .964, people .933, .902 after 120 instead of .927, .891, and faces .980, .973 after 40
instead of .977, .967. What is lost are identities that look like two: with people of 100 identities, two large
halves of one are joined after 600 answers and not before 525, which is .016 of the ARI there."""

_MANY = 50_000
"""Pairs of clusters and places inside them above which the outlook is kept for `_OUTLOOK_EVERY` answers."""

_OUTLOOK_EVERY = 200

_LOG_SMALLER = 5  # the fact that is the log of the smaller one's samples

_RAISED_LOGIT = float(np.log(RAISED / (1.0 - RAISED)))


# What it gains to ask whether two clusters are one, and whether two parts of one are not.
_JOINING = Worth(TYPICAL_NMI, LEAST_CHANCE, UNLIKELY, STEADIEST)
_DIVIDING = Worth(2.0 - TYPICAL_NMI, LEAST_CHANCE)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A question that might be put: clusters ``a`` and ``b``, or the node ``b`` inside cluster ``a``."""

    gain: float
    inner: bool
    a: int
    b: int
    facts: npt.NDArray[np.float64]
    pair: tuple[int, int]


class A3S:
    """The default strategy.

    State in the context: values ``merge_weights``, ``inner_weights`` (float64), rows ``merges`` and ``inner`` (facts
    and answers that the model learnt from), table ``confirmed`` (cluster id -> purity questions answered *same*), the
    forest's tables. Links between clusters and facts about groups are derived from these.
    """

    def __init__(self) -> None:
        self._outlook: tuple[int, Outlook] | None = None  # where candidates are many; and after how many answers

    def begin(self, context: Context) -> None:
        """Plant the trees."""
        context.values["merge_weights"] = merge_prior().mean
        context.values["inner_weights"] = inner_prior().mean
        context.values["joined_at"] = -1
        context.values["joins_left"] = False
        Forest(context, self._similarity(context)).grow()

    def next_step(self, context: Context) -> Step | None:
        """The best question, or the model's own merges."""
        facts = self._attached(context)
        answered = self._answered(context)
        due = answered >= ANSWERS_BEFORE_JOINING and (answered % REFIT_EVERY == 0 or context.values["joins_left"])
        if due and context.values["joined_at"] != answered:
            return self._join_sure(context, facts)
        candidate = self._best(context, facts)
        if candidate is None:
            return self._join_sure(context, facts) if context.values["joins_left"] else None
        return self._put(context, facts, candidate)

    def reconsider(self, context: Context) -> None:
        """Nothing to do: candidates are always current."""

    def outlook(self, context: Context) -> Outlook | None:
        """From the candidates that the pending question was chosen among."""
        if self._outlook is not None:
            return self._outlook[1]
        facts, answered = self._attached(context), self._answered(context)
        joining, dividing = self._joining(context), self._dividing(context)
        found = forecast(replace(joining, nodes=dividing.nodes, splits=dividing.splits), answered)
        if facts.pairs.count + facts.nodes.count > _MANY:
            self._outlook = (answered, found)
        return found

    def renew_outlook(self, context: Context) -> None:
        """Make it anew where candidates are many and it is old."""
        if self._outlook is not None and abs(self._answered(context) - self._outlook[0]) >= _OUTLOOK_EVERY:
            self._outlook = None
            self.outlook(context)

    def _joining(self, context: Context) -> Load:
        """What the outlook says of pairs of clusters."""
        weights = context.values["merge_weights"], self._fitted(context, "merges", MEMORY)
        first, second, joins = self._attached(context).pairs.chances(weights[0], _RAISED_LOGIT, weights[1])
        joins[_of_any(context.barred(), first, second)] = 0.0
        return load(first, second, joins, np.zeros(0))

    def _dividing(self, context: Context) -> Load:
        """What it says of places inside clusters."""
        guessed, own = context.values["merge_weights"], context.values["inner_weights"]
        raised = self._attached(context).nodes.doubtful(guessed, own, -_RAISED_LOGIT)
        weights = [self._fitted(context, kind, MEMORY) for kind in ("inner", "merges")]
        divides = 1.0 - exactly(raised.rows, weights, raised.guess)
        none = np.zeros(0, np.int64)
        return load(none, none, np.zeros(0), divides[~_of_any(context.barred(), raised.cluster)])

    # --- the parts that are derived

    def facts(self, context: Context) -> dict[str, npt.NDArray[Any]]:
        """The derived parts as arrays, for `Context.facts` of an engine that takes up this state."""
        return self._attached(context).arrays()

    def _similarity(self, context: Context) -> Similarities:
        """Of the graph's edges; where stage one did not compare neighbourhoods, the probability takes its place."""
        graph = context.graph
        return Similarities(graph.logodds, True) if graph.similarity is None else Similarities(graph.similarity)

    def _attached(self, context: Context) -> GroupFacts:
        """The derived parts, made when a step is first asked of this engine: at its begin, or after its load."""
        for watcher in context.watchers:
            if isinstance(watcher, GroupFacts):
                return watcher
        similarity, saved = self._similarity(context), context.facts
        context.facts = None
        links = ClusterGraph(context, similarity, saved=saved)
        forest = Forest(context, similarity)
        facts = GroupFacts(context, links, forest, saved)
        context.watchers += [links, forest, facts]
        context.divider = forest.cut_between
        return facts

    # --- steps

    def _answered(self, context: Context) -> int:
        return len(context.growing("merges", FACTS + 1)) + len(context.growing("inner", FACTS + 1))

    def _put(self, context: Context, facts: GroupFacts, candidate: _Candidate) -> Step:
        """Ask a candidate's pair, learn from the answer and carry it out."""
        left, right = candidate.pair
        answer = yield from context.ask(left, right, self._reason(facts, candidate))
        if answer is Answer.SKIP:
            return None
        same = answer is Answer.SAME
        guessed = candidate.inner and facts.forest.is_guess(candidate.b)
        kind = "inner" if candidate.inner and not guessed else "merges"
        context.growing(kind, FACTS + 1).append((*candidate.facts, float(same)))
        if candidate.inner:
            if same:
                confirmed = context.table("confirmed")
                confirmed[candidate.a] = confirmed.get(candidate.a, 0) + 1
                facts.links.touch(candidate.a)
                facts.doubt(candidate.a)
            else:
                facts.forest.cut(candidate.a, candidate.b)
        elif same:
            context.merge(candidate.a, candidate.b, (left, right))
        else:
            facts.links.set_apart(candidate.a, candidate.b)
        if self._answered(context) % REFIT_EVERY == 0:
            context.values["merge_weights"] = self._fitted(context, "merges", MODEL_MEMORY)
            context.values["inner_weights"] = self._fitted(context, "inner", MODEL_MEMORY)
        return None

    def _fitted(self, context: Context, kind: str, memory: float) -> npt.NDArray[np.float64]:
        prior, name = (merge_prior(), "merge_weights") if kind == "merges" else (inner_prior(), "inner_weights")
        rows = context.growing(kind, FACTS + 1).array(remembered(memory))
        return fit(rows, prior, memory, context.values[name])

    def _reason(self, facts: GroupFacts, candidate: _Candidate) -> Reason:
        if candidate.inner:
            return Reason.MEMBER if candidate.facts[_LOG_SMALLER] == 0.0 else Reason.PURITY
        return Reason.OUTLIER if min(facts.size(candidate.a), facts.size(candidate.b)) == 1 else Reason.MERGE

    def _join_sure(self, context: Context, facts: GroupFacts) -> Step:
        """Join what is surely the same, best first, until nothing sure is left or as many as one answer may are."""
        yield from ()
        context.values["joined_at"] = self._answered(context)
        left = JOINS_AT_ONCE if context.graph.n > LARGE else context.graph.n
        while True:
            weights = context.values["merge_weights"]
            first, second, chance = facts.pairs.likely(weights, _JOINING, SURE - 1e-6)
            chance = chance.round(9)
            sure = np.flatnonzero((chance >= SURE) & ~_of_any(context.barred(), first, second))
            used: set[int] = set()
            for k in sure[np.lexsort((second[sure], first[sure], -chance[sure]))].tolist():
                a, b = int(first[k]), int(second[k])
                if a in used or b in used:
                    continue
                if not left:
                    context.values["joins_left"] = True
                    return None
                left -= 1
                used |= {a, b}
                forest = facts.forest
                kept = context.merge(a, b, (forest.face(forest.root(a)), forest.face(forest.root(b))))
                forest.mark_guess(kept)
            if not used:
                context.values["joins_left"] = False
                return None

    # --- choice

    def _best(self, context: Context, facts: GroupFacts) -> _Candidate | None:
        barred = frozenset(context.barred().tolist())
        merge = self._best_merge(context, facts, barred)
        inner = self._best_inner(context, facts, barred)
        if merge is None or inner is None:
            return merge or inner
        return merge if merge.gain >= inner.gain else inner

    def _best_merge(self, context: Context, facts: GroupFacts, barred: frozenset[int]) -> _Candidate | None:
        pairs = facts.pairs.scored(context.values["merge_weights"], _JOINING)
        for gain, k in pairs.best:
            a, b = int(pairs.first[k]), int(pairs.second[k])
            if a not in barred and b not in barred:
                pair = self._open_pair(context, facts.faces(a), facts.faces(b))
                if pair is not None:
                    return _Candidate(gain, False, a, b, pairs.rows[k].copy(), pair)
        return None

    def _best_inner(self, context: Context, facts: GroupFacts, barred: frozenset[int]) -> _Candidate | None:
        weights = context.values["merge_weights"], context.values["inner_weights"]
        inner = facts.nodes.scored(*weights, _DIVIDING)
        forest = facts.forest
        for gain, k in inner.best:
            cluster, node = int(inner.cluster[k]), int(inner.node[k])
            if cluster not in barred:
                left, right = forest.children(node)
                pair = self._open_pair(context, (forest.face(left),), (forest.face(right),))
                if pair is not None:
                    return _Candidate(gain, True, cluster, node, inner.rows[k].copy(), pair)
        return None

    def _open_pair(self, context: Context, left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, int] | None:
        """The first pair of representatives that was not skipped; None where the relation is known already."""
        if context.store.relation(left[0], right[0]) is not None:
            return None
        for i, j in sorted(product(range(len(left)), range(len(right))), key=sum):
            if context.store.relation(left[i], right[j]) is None and context.may_ask(left[i], right[j]):
                return left[i], right[j]
        return None


def _of_any(clusters: IntArray, *ids: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Where any of several arrays of cluster ids names one of ``clusters``."""
    found = np.zeros(len(ids[0]), np.bool_)
    if len(clusters):
        for some in ids:
            found |= np.isin(some, clusters)
    return found
