"""How pure the clusters are, from a random sample of pairs that are shown for this purpose alone.

The answers that drive the clustering are chosen where the doubt is largest, so their share of *same* says nothing
about the whole. The sample here is drawn evenly from all pairs of images that share a cluster.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from a3s_desktop.core.engine import Engine
from a3s_desktop.core.types import Answer
from a3s_desktop.session.entries import RecordedAudit

_STREAM = 0xA0D17
_TRIES = 200  # draws of a pair that was not shown yet, before the sample counts as exhausted
Z = 1.959964  # 95 % of a normal distribution


@dataclass(frozen=True, slots=True)
class Precision:
    """Estimated share of the pairs within clusters that are one identity.

    Attributes
    ----------
    same, different, unsure : int
        Answers of the sample that speak of pairs which still share a cluster.
    estimate : float or None
    low, high : float
        The share and its 95 % interval (Wilson); None, 0 and 1 without answers.
    """

    same: int = 0
    different: int = 0
    unsure: int = 0
    estimate: float | None = None
    low: float = 0.0
    high: float = 1.0


def wilson(successes: float, trials: int) -> tuple[float, float]:
    """The 95 % interval of a share. Source: Wilson, Probable inference (1927)."""
    if not trials:
        return 0.0, 1.0
    share, spread = successes / trials, Z * Z / trials
    middle = (share + spread / 2) / (1 + spread)
    reach = Z / (1 + spread) * math.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    return max(0.0, middle - reach), min(1.0, middle + reach)


def precision(engine: Engine, audited: Iterable[RecordedAudit]) -> Precision:
    """What the sample says of the clusters as they are now; pairs that no longer share a cluster are left out."""
    labels, junk = engine.labels, engine.junk
    counts = {Answer.SAME: 0, Answer.DIFFERENT: 0, Answer.SKIP: 0}
    for entry in audited:
        if labels[entry.left] == labels[entry.right] and not junk[entry.left] and not entry.withdrawn:
            counts[entry.answer if entry.answer.is_constraint else Answer.SKIP] += 1
    same, different = counts[Answer.SAME], counts[Answer.DIFFERENT]
    low, high = wilson(same, same + different)
    share = same / (same + different) if same + different else None
    return Precision(same, different, counts[Answer.SKIP], share, low, high)


def draw_pair(engine: Engine, shown: set[tuple[int, int]], seed: int) -> tuple[int, int] | None:
    """A pair of images that share a cluster, each pair as likely as any other, and not shown yet.

    Parameters
    ----------
    engine : Engine
    shown : set of (int, int)
        Pairs (smaller item first) of the sample so far.
    seed : int
        Of the project; the same state draws the same pair.

    Returns
    -------
    (int, int) or None
        None where no cluster has two images, or (nearly) all pairs were shown.
    """
    clusters = engine.partition.cluster_ids()
    sizes = np.bincount(engine.labels)[clusters].astype(np.int64)
    ends = np.cumsum(sizes * (sizes - 1) // 2)
    if not len(ends) or not ends[-1]:
        return None
    rng = np.random.default_rng((seed, _STREAM, len(shown)))
    for _ in range(_TRIES):
        at = int(np.searchsorted(ends, rng.integers(ends[-1]), side="right"))
        left, right = np.sort(rng.choice(engine.partition.members(int(clusters[at])), 2, replace=False)).tolist()
        if (left, right) not in shown:
            return (left, right) if rng.random() < 0.5 else (right, left)
    return None
