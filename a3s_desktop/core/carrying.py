"""An engine's state carried over to a data set that has more samples: all that was learnt stays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import IntArray

State = tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]

_SAID = {"constraints": 3, "skipped": 3, "junk": 0, "finished": 0}
"""Arrays of what annotators said, and their columns; those that may be absent are left out."""

_LEARNT = ("labels", "leaders", "table.", "rows.", "value.")

_OF_NODES = {"rows.nodes": ((0, 3), (0, 1)), "table.guess": ((0, 2), (0,)), "table.root": ((0, 2), (1,))}
"""The forest's rows and tables: their shape where there are none, and the columns that hold nodes, which are numbered
from the number of samples on."""


def with_more_samples(arrays: Mapping[str, npt.NDArray[Any]], meta: Mapping[str, Any], homes: IntArray) -> State:
    """A state of the strategy ``a3s`` for a data set with further samples.

    Parameters
    ----------
    arrays, meta : as `Engine.dump` gives them
        Its steps ask one question each, so none can be half done.
    homes : int32
        Cluster of each further sample: an old one, or one from ``next_id`` on, each of these at least once. A question
        can take them apart as it can take apart what the initial clustering joined.

    Returns
    -------
    arrays, meta : for `Engine.load`
        The numbers of old samples and clusters are what they were.
    """
    old, count = len(arrays["labels"]), len(arrays["labels"]) + len(homes)
    grown = dict(arrays)
    for name, (none, columns) in _OF_NODES.items():
        table = arrays.get(name, np.zeros(none, np.int32)).copy()
        for column in columns:
            table[table[:, column] >= old, column] += len(homes)
        grown[name] = table
    root, nodes = dict(grown["table.root"].tolist()), grown["rows.nodes"].tolist()
    for sample, home in enumerate(homes.tolist(), old):
        if home in root:
            top = root[home]
            root[home] = count + len(nodes)
            nodes.append((top, sample, nodes[top - count][2] if top >= count else top))
        else:
            root[home] = sample
    grown["rows.nodes"] = np.array(nodes, np.int32).reshape(-1, 3)
    grown["table.root"] = np.array(sorted(root.items()), np.int64)
    grown["labels"] = np.concatenate((arrays["labels"], homes)).astype(np.int32)
    own = {**meta["values"], "joined_at": -1}
    next_id = max(int(meta["next_id"]), int(homes.max(initial=-1)) + 1)
    return grown, {**meta, "answers": [], "next_id": next_id, "values": own}


def without_answers(arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """A state in which nothing was said by anyone, but clusters and all that was learnt are as they are."""
    kept = {name: array for name, array in arrays.items() if name.startswith(_LEARNT)}
    empty = {name: np.zeros((0, width) if width else 0, np.int32) for name, width in _SAID.items()}
    return {**kept, **empty}
