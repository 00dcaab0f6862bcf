"""FFQS: explore and consolidate, with PCKMeans.

Source: Basu, Banerjee, Mooney: Active semi-supervision for pairwise constrained clustering (2004).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.context import Context
from a3s_desktop.core.pckmeans import Float64Array, squared_distances
from a3s_desktop.core.strategies.neighbourhoods import Neighbourhoods, NeighbourhoodStrategy
from a3s_desktop.core.strategies.reclustering import number_wanted


class FFQS(NeighbourhoodStrategy):
    """Farthest-first query selection. Needs K.

    *Explore*, until K neighbourhoods exist: the sample farthest from all members of neighbourhoods is asked against
    them, the nearest first, until *same*, else it founds one. *Consolidate*: a random sample is asked against the
    neighbourhoods in order of the distance of their centroids until *same*; none is founded any more.
    """

    def _exploring(self, context: Context, known: Neighbourhoods) -> bool:
        return len(known.founders) < number_wanted(context)

    def _may_found(self, context: Context, known: Neighbourhoods) -> bool:
        return self._exploring(context, known)

    def _choose(self, context: Context, known: Neighbourhoods, candidates: npt.NDArray[np.int64]) -> int:
        if not self._exploring(context, known):
            return int(self._rng(context).choice(candidates))
        features = self.features(context)
        inside = features[np.concatenate(known.members)].astype(np.float64)
        nearest = squared_distances(features[candidates], inside).min(axis=1)
        return int(candidates[nearest.argmax()])

    def _distances(self, context: Context, known: Neighbourhoods, sample: int) -> Float64Array:
        features = self.features(context)
        own = features[sample : sample + 1]
        if self._exploring(context, known):
            every = squared_distances(own, features[np.concatenate(known.members)].astype(np.float64))[0]
            sizes = np.array([len(members) for members in known.members])
            return np.asarray(np.minimum.reduceat(every, np.cumsum(sizes) - sizes), np.float64)
        centroids = np.stack([features[members].mean(axis=0, dtype=np.float64) for members in known.members])
        return np.asarray(squared_distances(own, centroids)[0], np.float64)
