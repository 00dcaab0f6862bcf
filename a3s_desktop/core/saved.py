"""An engine's state as tables, and a look at such tables before they are taken up: they come from a file, which may
hold anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.context import Context
from a3s_desktop.core.types import Answer

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


def tables_of(context: Context) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """All that the undo log covers, except the next id: arrays, and the strategy's values that are none."""
    constraints = ((left, right, answer is Answer.SAME) for left, right, answer in context.store.constraints())
    arrays: dict[str, npt.NDArray[Any]] = {
        "labels": context.partition.labels.copy(),
        "constraints": np.fromiter(constraints, np.dtype((np.int32, 3)), context.store.n_constraints),
        "skipped": np.array(list(context.store.skipped()), np.int32).reshape(-1, 3),
        "junk": context.junk.samples(),
        "finished": context.finished.samples(),
        "leaders": _pairs(context.leaders.sorted_items()),
    }
    if context.store.identities():
        arrays["identities"] = np.array(context.store.identities(), np.int32)
    for name, table in context.tables.items():
        if len(table):
            arrays[f"table.{name}"] = _pairs(table.sorted_items())
    for name, rows in context.rows_of.items():
        if len(rows):
            arrays[f"rows.{name}"] = rows.array()
    plain: dict[str, Any] = {}
    for name, value in context.values.sorted_items():
        if isinstance(value, np.ndarray):
            arrays[f"value.{name}"] = value
        else:
            plain[name] = value
    return arrays, plain


def _pairs(items: Any) -> npt.NDArray[np.int64]:
    return np.array(list(items), np.int64).reshape(-1, 2)
