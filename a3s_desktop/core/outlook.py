"""How many questions are left, honestly: an estimate with a range, from the candidates that a strategy still has.

"Left" means: until the strategy has nothing to ask that is expected to change a label, if every answer is true. That
is not known beforehand, for each answer makes some candidates pointless and brings up others. The estimate counts
candidates by how likely their answer is to change something, each kind with the number of questions that it came to
in simulated runs to their ends (`tests/benchmarks/outlook.py` makes the table and the fit).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.context import Context

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Outlook:
    """Questions left until nothing is expected to change.

    Attributes
    ----------
    low, middle, high : int
        In four of five simulated runs the true number was from ``low`` to ``high``.
    """

    low: int
    middle: int
    high: int


@runtime_checkable
class Forecaster(Protocol):
    """A strategy that can say how much is left."""

    def outlook(self, context: Context) -> Outlook | None:
        """The estimate for the present state, in which a question is pending; None where nothing can be said."""
        ...
