"""Features as they lie in a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.i18n import tr


@dataclass(frozen=True, slots=True)
class FeatureFile:
    """Features as they lie in a file.

    Attributes
    ----------
    values : shape (N, D), any real number type
        Memory-mapped for ``.npy``.
    names : tuple of str or None
        The image of each row, where the file says it.
    path : Path
    lines : int64, shape (N,), or None
        The 1-based line of each row, for text files.
    remarks : tuple of str
        What was left out, in sentences.
    """

    values: npt.NDArray[Any]
    names: tuple[str, ...] | None
    path: Path
    lines: npt.NDArray[np.int64] | None = field(default=None)
    remarks: tuple[str, ...] = ()

    def row(self, index: int) -> str:
        """How a message names a row: 0-based index, and the line where there is one."""
        if self.lines is None:
            return tr("row {index}", index=index)
        return tr("row {index} (line {line})", index=index, line=int(self.lines[index]))
