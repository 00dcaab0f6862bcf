"""What the map knows of the images: clusters, names, what is confirmed, doubtful, junk; and how it is said in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import IndexArray, IntArray
from a3s_desktop.i18n import tr, trn
from a3s_desktop.ui.map_raster import ascending, flags

SHARE = 4  # one in so many images changed: then all are looked at anew, which is faster
_FEW = 8  # clusters that are looked for one by one
_LONG = 60  # characters of a cluster's name that are shown


def differing(before: npt.NDArray[Any] | None, now: npt.NDArray[Any] | None) -> IndexArray | None:
    """Where two arrays differ; None where there are not two of one length."""
    return None if before is None or now is None or len(before) != len(now) else np.flatnonzero(before != now)


class MapItems(Protocol):
    """What the map asks of the project's items (``storage.items.Items``)."""

    def file(self, item: int, /) -> Any:
        """Path of the image file."""

    def name(self, item: int, /) -> str:
        """File name to show."""

    def __len__(self) -> int:
        """Number of items."""


@dataclass(slots=True)
class MapData:
    """See the module. Arrays by item; those that are not known are None.

    Attributes
    ----------
    labels : int32, shape (N,)
    sizes : int64, by cluster id; junk is not counted
    confirmed, junk : bool, shape (N,), or None
    doubt : float32 in 0 .. 1, shape (N,), or None
    names : mapping of cluster id to name
    """

    labels: IntArray = field(default_factory=lambda: np.zeros(0, np.int32))
    sizes: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    confirmed: npt.NDArray[np.bool_] | None = None
    doubt: npt.NDArray[np.float32] | None = None
    junk: npt.NDArray[np.bool_] | None = None
    names: Mapping[int, str] = field(default_factory=dict)
    items: MapItems | None = None

    def count(self) -> None:
        """Count the clusters anew, after `labels` or `junk` changed."""
        self.drop_unfit()
        n = len(self.labels)
        length = int(self.labels.max()) + 1 if n else 0
        self.sizes = np.bincount(self.labels, minlength=length).astype(np.int64)
        if self.junk is not None and n:
            self.sizes -= np.bincount(self.labels[self.junk], minlength=length)

    def drop_unfit(self) -> None:
        """Forget arrays of another project; what comes before the labels is kept for them."""
        n = len(self.labels)
        for name in ("confirmed", "doubt", "junk"):
            array = getattr(self, name)
            if array is not None and n and len(array) != n:
                setattr(self, name, None)

    def move(self, labels: IntArray, moved: IndexArray) -> tuple[IndexArray, IndexArray]:
        """Take over labels that differ from the former ones for ``moved`` only.

        Returns
        -------
        clusters, items : int64
            The clusters that are not as before; the items that look different now (they moved, or their cluster
            became one of a single image, or ceased to be one).
        """
        before, after = self.labels[moved], labels[moved]
        self.labels = labels
        length = max(len(self.sizes), int(after.max(initial=-1)) + 1)
        changed = ascending(np.concatenate([before, after]), length)
        was = np.concatenate([self.sizes, np.zeros(length - len(self.sizes), np.int64)])
        counts = slice(None) if self.junk is None or len(self.junk) != len(labels) else ~self.junk[moved]
        gone, come = (np.bincount(part[counts], minlength=length) for part in (before, after))
        self.sizes = was - gone + come
        return changed, self._looking_different(moved, changed, was)

    def set_junk(self, junk: npt.NDArray[np.bool_] | None) -> tuple[IndexArray | None, IndexArray | None] | None:
        """Take over which items are junk.

        Returns
        -------
        clusters, items : int64, or None
            As of `move`; None: all. No pair at all where nothing is not as before.
        """
        n, before = len(self.labels), self.junk
        now = None if junk is None or not junk.any() else np.array(junk, np.bool_)
        if before is None and now is None:
            return None
        nothing = np.zeros(n, np.bool_)
        changed = differing(nothing if before is None else before, nothing if now is None else now)
        self.junk = now
        if changed is None:
            self.count()
            return None, None
        if not len(changed):
            return None
        length, was = len(self.sizes), self.sizes
        clusters = self.labels[changed]
        gone = np.zeros(len(changed), np.bool_) if now is None else now[changed]
        self.sizes = (
            was - np.bincount(clusters[gone], minlength=length) + np.bincount(clusters[~gone], minlength=length)
        )
        if len(changed) > n // SHARE:
            return None, None
        touched = ascending(clusters, length)
        return touched, self._looking_different(changed, touched, was)

    def _looking_different(self, items: IndexArray, clusters: IndexArray, was: npt.NDArray[np.int64]) -> IndexArray:
        """Items, and those of the clusters that became one of a single image, or ceased to be one."""
        turned = clusters[(was[clusters] > 1) != (self.sizes[clusters] > 1)]
        if len(turned) <= _FEW:
            others = [np.flatnonzero(self.labels == cluster) for cluster in turned]
        else:
            others = [np.flatnonzero(flags(turned, len(was))[self.labels])]
        return ascending(np.concatenate([items, *others]), len(self.labels))

    def members(self, clusters: Iterable[int]) -> IndexArray:
        """Items of a few clusters, ascending."""
        found = [np.flatnonzero(self.labels == cluster) for cluster in set(clusters)]
        return np.sort(np.concatenate(found)) if found else np.zeros(0, np.int64)

    @property
    def clusters(self) -> int:
        """Number of clusters of two or more."""
        return int((self.sizes > 1).sum())

    @property
    def singles(self) -> int:
        """Number of clusters of one."""
        return int((self.sizes == 1).sum())

    @property
    def junk_count(self) -> int:
        """Number of items that are junk."""
        return 0 if self.junk is None else int(self.junk.sum())

    def short_name(self, cluster: int) -> str:
        """The cluster's name on one line, or its number."""
        name = " ".join(self.names.get(cluster, "").split())
        if not name:
            return str(cluster)
        return name if len(name) <= _LONG else f"{name[: _LONG - 1]}…"

    def cluster_name(self, cluster: int) -> str:
        """The cluster's name with its number, for sentences."""
        named = bool(self.names.get(cluster, "").strip())
        if named:
            return tr("{name} (cluster {number})", name=self.short_name(cluster), number=cluster)
        return tr("Cluster {number}", number=cluster)

    def cluster_text(self, item: int) -> str:
        """Cluster of an item and how many images it has; empty where that is not known."""
        if item >= len(self.labels):
            return ""
        if self.junk is not None and self.junk[item]:
            return tr("Junk")
        cluster = int(self.labels[item])
        size = int(self.sizes[cluster])
        count = trn("{n} image", "{n} images", size) if size > 1 else tr("single image")
        return f"{self.cluster_name(cluster)} · {count}"

    def item_name(self, item: int) -> str:
        """File name of an item, or its number where there are no files."""
        if self.items is None:
            return tr("Image {number}", number=item + 1)
        return self.items.name(item)

    def facts(self, n: int, pair: tuple[int, int] | None) -> str:
        """What the map of ``n`` images shows, in one line; empty where there is nothing on it."""
        if not n:
            return ""
        parts = [trn("{n} image", "{n} images", n)]
        if len(self.labels) == n:
            parts.append(trn("{n} cluster", "{n} clusters", self.clusters))
            parts.append(trn("{n} single", "{n} single", self.singles))
            if self.junk_count:
                parts.append(trn("{n} junk", "{n} junk", self.junk_count))
            if pair is not None:
                first, second = (int(self.labels[item]) for item in pair)
                if first == second:
                    parts.append(tr("pair in cluster {number}", number=first))
                else:
                    parts.append(tr("pair in clusters {first} and {second}", first=first, second=second))
        return " · ".join(parts)
