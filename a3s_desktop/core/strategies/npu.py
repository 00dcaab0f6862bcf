"""NPU: normalised point-based uncertainty, with PCKMeans.

Source: Xiong, Azimi, Fern: Active learning of constraints for semi-supervised clustering (2014).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.context import Context
from a3s_desktop.core.strategies.neighbourhoods import Neighbourhoods, NeighbourhoodStrategy


class NPU(NeighbourhoodStrategy):
    """The sample of largest entropy over the neighbourhoods for each question that it is expected to take. Needs K.

    P(sample is of a neighbourhood) goes by the mean similarity with its members, 0 where they are known to differ.
    The original takes the proximity in a random forest trained on the current clustering; here the similarity is an
    affinity of nearest neighbours, the calibrated P(same class) of the neighbour graph. It costs one pass over the
    edges, and knows nothing of the current clustering. The sample is asked against the neighbourhoods in falling
    probability until *same*, else it founds one, of which there may become more than K.
    """

    def _choose(self, context: Context, known: Neighbourhoods, candidates: npt.NDArray[np.int64]) -> int:
        shares = self._open_shares(context, known, candidates)
        entropy = -np.sum(shares * np.log(np.maximum(shares, 1e-12)), axis=1)
        falling = -np.sort(-shares, axis=1)
        questions = falling @ np.arange(1.0, shares.shape[1] + 1.0)
        worth = (entropy / np.maximum(questions, 1e-12)).round(9)
        best = candidates[worth == worth.max()]
        return int(self._rng(context).choice(best))

    def _distances(self, context: Context, known: Neighbourhoods, sample: int) -> npt.NDArray[np.float64]:
        return np.asarray(-self._affinities(context, known)[sample], np.float64)
