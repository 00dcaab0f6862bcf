"""The map as it is now, frozen, so that a worker can draw it into a file while the window goes on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import IntArray
from a3s_desktop.i18n import number
from a3s_desktop.ui.map_colours import ColourBy, LegendEntry, legend, look, palette
from a3s_desktop.ui.map_data import MapData
from a3s_desktop.ui.map_hulls import Hulls, no_hulls
from a3s_desktop.ui.map_scene import MapScene
from a3s_desktop.ui.theme import Tokens, cluster_colour

_NAMED = 24  # clusters listed in the legend


@dataclass(frozen=True, slots=True)
class ClusterEntry:
    """A cluster in the picture's legend."""

    cluster: int
    text: str
    count: str
    colour: str


@dataclass(frozen=True, slots=True)
class MapPicture:
    """All that is drawn; no Qt objects.

    Attributes
    ----------
    places : float32, shape (N, 2)
        Map coordinates; y is up.
    labels : int32, shape (N,)
    slots, shapes : uint8, shape (N,)
    palette : tuple of str
        Colour of each slot.
    hulls : Hulls
    names : mapping of cluster id to the text at its middle
    coloured : bool
        Outlines have their clusters' colours.
    legend : tuple of LegendEntry
    clusters : tuple of ClusterEntry
        The largest ones.
    title : str
    theme : Tokens
    """

    places: npt.NDArray[np.float32]
    labels: IntArray
    slots: npt.NDArray[np.uint8]
    shapes: npt.NDArray[np.uint8]
    palette: tuple[str, ...]
    hulls: Hulls
    names: dict[int, str]
    coloured: bool
    legend: tuple[LegendEntry, ...]
    clusters: tuple[ClusterEntry, ...]
    title: str
    theme: Tokens

    def cluster_colour(self, cluster: int) -> str:
        """Colour of a cluster's outline."""
        return cluster_colour(cluster, self.theme).name() if self.coloured else self.theme.outline


def take_picture(scene: MapScene, data: MapData, by: ColourBy, theme: Tokens) -> MapPicture:
    """Freeze what the map shows: all points, not only those in view, and without the pair, which passes."""
    n = len(scene.places)
    known = len(data.labels) == n
    seen = look(data, by) if known else None
    hulls = scene.hulls.hulls if scene.hulls.on else no_hulls()
    largest = np.argsort(-data.sizes, kind="stable")[:_NAMED] if known else np.zeros(0, np.int64)
    coloured = by is ColourBy.CLUSTER
    entries = [
        ClusterEntry(
            int(c), data.cluster_name(int(c)), number(int(data.sizes[c])), cluster_colour(int(c), theme).name()
        )
        for c in largest
        if data.sizes[c] > 1
    ]
    return MapPicture(
        places=scene.places,
        labels=data.labels.copy() if known else np.zeros(n, np.int32),
        slots=seen.slots if seen is not None else np.ones(n, np.uint8),
        shapes=seen.shapes if seen is not None else np.zeros(n, np.uint8),
        palette=palette(by, theme),
        hulls=hulls,
        names={int(c): data.short_name(int(c)) for c in hulls.clusters},
        coloured=coloured,
        legend=legend(data, by, theme) if known else (),
        clusters=tuple(entries) if coloured else (),
        title=data.facts(n, None),
        theme=theme,
    )
