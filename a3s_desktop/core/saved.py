"""Look at a saved engine before it is taken up: it comes from a file, which may hold anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

_MOST_CLUSTERS = 1 << 22  # ids that were ever given; of each, a hundred bytes may be kept


def check_saved(arrays: Mapping[str, npt.NDArray[Any]], meta: Mapping[str, Any], count: int) -> None:
    """Raise `ValueError` where a state names clusters or samples that cannot be: tables are as long as the largest."""
    labels, next_id = arrays["labels"], meta["next_id"]
    if type(next_id) is not int or not 0 <= next_id <= _MOST_CLUSTERS + 4 * count:
        raise ValueError("clusters that cannot be")
    named = [arrays[name].ravel() for name in ("junk", "finished", "identities") if name in arrays]
    named += [arrays[name][:, :2].ravel() for name in ("constraints", "skipped")]
    for values, end in ((labels, next_id), *((samples, count) for samples in named)):
        if values.dtype.kind not in "iu" or (values.size and not (values.min() >= 0 and values.max() < end)):
            raise ValueError("samples or clusters that are not there")
    if labels.shape != (count,):
        raise ValueError("other samples")
