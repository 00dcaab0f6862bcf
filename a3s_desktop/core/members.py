"""Members of clusters that are shown beside a pair."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from a3s_desktop.core.context import Context
from a3s_desktop.core.types import Answer

_POOL = 64  # members that are chosen from: enough for a dozen, bounded for clusters of any size


def representatives(context: Context, cluster: int, exclude: Collection[int], count: int) -> list[int]:
    """See `Engine.representatives`."""
    members = context.partition.members(cluster)
    if len(members) > _POOL:  # a fixed, even choice keeps this O(1) for clusters of any size
        members = members[np.linspace(0, len(members) - 1, _POOL).astype(np.int64)]
    if not len(members):
        return []
    support = context.pair_probabilities(members, members).sum(axis=1)
    order = np.lexsort((members, -support.round(4), ~context.confirmed.values[members]))
    chosen = [i for i in members[order].tolist() if i not in exclude]
    return chosen[:count]


def likeness(context: Context, members: Sequence[int], others: Sequence[int]) -> list[list[float]]:
    """See `Engine.likeness`."""
    rows, columns = np.array(members, np.int32), np.array(others, np.int32)
    found: list[list[float]] = context.pair_probabilities(rows, columns).tolist()
    for near, i in zip(found, members, strict=True):
        for at, j in enumerate(others):
            known = context.store.relation(i, j)
            if known is not None:
                near[at] = float(known is Answer.SAME)
    return found
