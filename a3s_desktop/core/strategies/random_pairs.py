"""Random: pairs drawn evenly from those whose relation is not known, with PCKMeans."""

from __future__ import annotations

import numpy as np

from a3s_desktop.core.context import Context
from a3s_desktop.core.pckmeans import Closure
from a3s_desktop.core.strategies.reclustering import Reclustering

_TRIES = 100  # draws before the open pairs are counted: they are rare by then


class RandomPairs(Reclustering):
    """Uniform pairs not yet implied, the plainest baseline. Needs K. Ends when every pair is known or skipped."""

    def _pair(self, context: Context) -> tuple[int, int] | None:
        n, store = context.graph.n, context.store
        rng = self._rng(context)
        for left, right in rng.integers(n, size=(_TRIES, 2)).tolist():
            if left != right and store.relation(left, right) is None and context.may_ask(left, right):
                return left, right
        return self._rare_pair(context, rng)

    def _rare_pair(self, context: Context, rng: np.random.Generator) -> tuple[int, int] | None:
        """One of the open pairs, each as likely as any other, by counting them."""
        n, store = context.graph.n, context.store
        closure = Closure.of(store, n)
        free = ~np.isin(context.partition.labels, context.barred())
        skipped: dict[int, list[int]] = {}
        for i, j, _ in store.skipped():
            if store.relation(i, j) is None and free[i] and free[j]:
                skipped.setdefault(i, []).append(j)
                skipped.setdefault(j, []).append(i)
        sizes = np.array([free[group].sum() for group in closure.members], np.int64)
        known = np.array([sizes[at] + sizes[apart].sum() for at, apart in enumerate(closure.apart)], np.int64)
        touched = closure.component >= 0
        count = np.full(n, free.sum() - 1, np.int64)
        count[touched] = free.sum() - known[closure.component[touched]]
        count[~free] = 0
        for i, others in skipped.items():
            count[i] -= len(others)
        ends = np.cumsum(count)
        if not ends[-1]:
            return None
        left = int(np.searchsorted(ends, rng.integers(ends[-1]), side="right"))
        open_to = free
        open_to[left] = False
        if touched[left]:
            at = int(closure.component[left])
            open_to[touched] &= ~np.isin(closure.component[touched], [at, *closure.apart[at].tolist()])
        open_to[skipped.get(left, [])] = False
        partners = np.flatnonzero(open_to)
        return left, int(partners[rng.integers(len(partners))])
