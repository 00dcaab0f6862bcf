"""What the points of the map look like: by cluster, by "confirmed", by doubt. No colour says anything alone.

A cluster's colour follows from its id alone, and ids are stable over merges, splits, undo and restarts; so are the
colours. There are sixteen, so a number or name stands beside every cluster that is large enough on the screen. What is
confirmed is a disc and what is not a ring, what is junk a cross; doubt grows with contrast, not only with the hue.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import IndexArray
from a3s_desktop.i18n import mark, tr, trn
from a3s_desktop.ui.map_data import MapData
from a3s_desktop.ui.theme import Tokens, cluster_colour, cluster_colours
from a3s_desktop.ui.theme_tokens import CLUSTERS_LIGHT

GREY = 1  # slot of what has no colour of its own; slot 0 is never drawn
STEPS = 8  # of doubt

# From sure to doubtful: blue to yellow or brown, which all eyes tell apart, and ever further from the ground.
_DOUBT_DARK = ("#4A6A96", "#5E7AA3", "#7A8AA0", "#98958F", "#BBA577", "#DDB65C", "#F4CB4C", "#FFE66B")
_DOUBT_LIGHT = ("#8FAFD3", "#859FC4", "#8490AA", "#8C7E80", "#946A55", "#985230", "#8C3A12", "#6A2200")


class ColourBy(enum.Enum):
    """What the colours mean; the value is the text for the user."""

    CLUSTER = mark("Cluster")
    CONFIRMED = mark("Confirmed")
    DOUBT = mark("Doubt")


class Shape(enum.IntEnum):
    """How a point is drawn."""

    DISC = 0
    RING = 1
    CROSS = 2


@dataclass(frozen=True, slots=True)
class Look:
    """Colour slot and `Shape` of every item, both uint8, shape (N,)."""

    slots: npt.NDArray[np.uint8]
    shapes: npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A row of the legend: one colour and shape, or a scale of several colours."""

    text: str
    colours: tuple[str, ...]
    shape: Shape = Shape.DISC


def colour_slots(labels: npt.NDArray[np.int32], sizes: npt.NDArray[np.int64] | None = None) -> npt.NDArray[np.uint8]:
    """Colour slot of every item: grey for a cluster of one, else a colour that follows from the cluster's id alone."""
    if not len(labels):
        return np.zeros(0, np.uint8)
    counted = np.bincount(labels) if sizes is None else sizes
    # A table by cluster is looked up once per item; the arithmetic is done once per cluster.
    by_cluster = np.arange(len(counted)) % len(cluster_colours()) + (GREY + 1)
    return np.where(counted > 1, by_cluster, GREY).astype(np.uint8)[labels]


def look(data: MapData, by: ColourBy, items: IndexArray | None = None) -> Look:
    """Slots and shapes for a choice of colours, of all items or of some."""
    labels = data.labels if items is None else data.labels[items]
    confirmed, doubt = (part if part is None or items is None else part[items] for part in (data.confirmed, data.doubt))
    junk = data.junk if data.junk is None or items is None else data.junk[items]
    shapes = np.zeros(len(labels), np.uint8)
    if not len(labels):
        return Look(np.zeros(0, np.uint8), shapes)
    if by is ColourBy.CONFIRMED and confirmed is not None:
        slots = confirmed.astype(np.uint8) + np.uint8(GREY)
        np.putmask(shapes, np.logical_not(confirmed), Shape.RING)
    elif by is ColourBy.DOUBT and doubt is not None:
        known = np.isfinite(doubt)
        level = np.clip(np.nan_to_num(doubt, posinf=0, neginf=0) * STEPS, 0, STEPS - 1).astype(np.uint8)
        slots = np.where(known, level + np.uint8(GREY + 1), np.uint8(GREY))
    else:
        slots = colour_slots(labels, data.sizes)
    if junk is not None:
        np.putmask(slots, junk, np.uint8(GREY))
        np.putmask(shapes, junk, np.uint8(Shape.CROSS))
    return Look(slots, shapes)


@lru_cache(maxsize=16)
def palette(by: ColourBy, theme: Tokens) -> tuple[str, ...]:
    """Colour of each slot as ``#rrggbb``."""
    if by is ColourBy.CONFIRMED:
        return theme.outline, theme.outline, theme.accent
    if by is ColourBy.DOUBT:
        return theme.outline, theme.outline, *(_DOUBT_DARK if theme.dark else _DOUBT_LIGHT)
    clusters = (cluster_colour(c, theme).name() for c in range(len(cluster_colours(theme))))
    return theme.outline, theme.outline, *clusters


def slot_count(by: ColourBy) -> int:
    """Number of colour slots, slot 0 included; the same in every theme."""
    return GREY + 1 + {ColourBy.CONFIRMED: 1, ColourBy.DOUBT: STEPS}.get(by, len(CLUSTERS_LIGHT))


def legend(data: MapData, by: ColourBy, theme: Tokens) -> tuple[LegendEntry, ...]:
    """What the colours and shapes mean now."""
    if not len(data.labels):
        return ()
    colours = palette(by, theme)
    entries: list[LegendEntry] = []
    junk = data.junk_count
    if by is ColourBy.CONFIRMED and data.confirmed is not None:
        kept = data.confirmed if data.junk is None else data.confirmed & ~data.junk
        yes = int(kept.sum())
        entries = [
            LegendEntry(trn("{n} confirmed", "{n} confirmed", yes), colours[GREY + 1 :]),
            LegendEntry(trn("{n} automatic", "{n} automatic", len(kept) - junk - yes), colours[GREY : GREY + 1],
                        Shape.RING),
        ]  # fmt: skip
    elif by is ColourBy.DOUBT and data.doubt is not None:
        entries = [LegendEntry(tr("sure to doubtful"), colours[GREY + 1 :])]
        if not np.isfinite(data.doubt).all():
            entries.append(LegendEntry(tr("not known"), colours[GREY : GREY + 1]))
    else:
        if data.clusters:
            entries.append(LegendEntry(tr("cluster"), colours[GREY + 1 : GREY + 5]))
        if data.singles:
            entries.append(LegendEntry(tr("single image"), colours[GREY : GREY + 1]))
    if junk:
        entries.append(LegendEntry(trn("{n} junk", "{n} junk", junk), colours[GREY : GREY + 1], Shape.CROSS))
    return tuple(entries)
