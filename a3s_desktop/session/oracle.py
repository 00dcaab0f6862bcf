"""Who answers in a simulation: the true classes, on request with mistakes and with pairs that cannot be judged."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import Answer
from a3s_desktop.errors import InputError

_STREAM = 0x0AC1E  # keeps these draws apart from every other use of the seed


@dataclass(frozen=True, slots=True)
class OracleOptions:
    """How good the answers are.

    Attributes
    ----------
    error : float
        Probability in [0, 1] that an answer is the opposite of the truth.
    skip : float
        Probability in [0, 1) that a pair is skipped.
    seed : int
    """

    error: float = 0.0
    skip: float = 0.0
    seed: int = 0


class Oracle:
    """Answers pairs from the true classes.

    Every asking of a pair draws anew and independently whether it is skipped, else whether the answer is wrong: the
    mistakes are slips, which a second look can find, not pairs that look alike to everybody. The draw depends on the
    seed, the pair and how often the pair was asked before, on nothing else. All strategies thus meet the same mistakes
    about the same pairs, in whatever order they ask.

    Parameters
    ----------
    labels : int array, shape (N,)
        True class of every row, >= 0.
    options : OracleOptions

    Attributes
    ----------
    wrong : int
        Wrong answers given so far.

    Raises
    ------
    InputError
        A row has no class, or a probability is out of range.
    """

    def __init__(self, labels: npt.NDArray[Any], options: OracleOptions | None = None) -> None:
        values = np.asarray(labels)
        options = options or OracleOptions()
        if values.ndim != 1 or not np.issubdtype(values.dtype, np.integer):
            raise InputError("The labels must be one whole number for each row.")
        if len(values) and values.min() < 0:
            raise InputError(
                f"Row {int(np.argmax(values < 0))} has no label.", "A simulation needs the true label of every row."
            )
        if not 0.0 <= options.error <= 1.0:
            raise InputError(f"The share of wrong answers must be between 0 and 1, not {options.error}.")
        if not 0.0 <= options.skip < 1.0:
            raise InputError(f"The share of skipped pairs must be at least 0 and below 1, not {options.skip}.")
        self._labels = values.copy()
        self._options = options
        self._asked: Counter[tuple[int, int]] = Counter()
        self.wrong = 0

    def answer(self, left: int, right: int) -> Answer:
        """SAME where both samples are of one class, else DIFFERENT; or SKIP, or a wrong answer, as the options say."""
        same = bool(self._labels[left] == self._labels[right])
        if self._options.error or self._options.skip:
            pair = (min(left, right), max(left, right))
            draws = np.random.default_rng([self._options.seed, _STREAM, *pair, self._asked[pair]]).random(2)
            self._asked[pair] += 1
            if draws[0] < self._options.skip:
                return Answer.SKIP
            if draws[1] < self._options.error:
                self.wrong += 1
                same = not same
        return Answer.SAME if same else Answer.DIFFERENT
