"""Where everything lies on the sheet of a saved map; the same for PNG and SVG. Lengths are in units of 1/1600 sheet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from a3s_desktop.ui.map_picture import MapPicture
from a3s_desktop.ui.map_raster import point_radius
from a3s_desktop.ui.one_line import shortened

SIDE = 1600.0  # longer side of the map
MARGIN = 40.0
HEAD = 34.0  # height of the title
ROW = 24.0  # of the legend
LETTER = 8.2  # width of a letter of the 14-unit font, reckoned generously: fonts differ from machine to machine
_LEGEND = 280.0
_MOST_TEXTS = 300
_CELL = 10.0


@dataclass(frozen=True, slots=True)
class Sheet:
    """The sheet's size and how map coordinates become its own: ``place * scale + shift``, y downwards.

    Attributes
    ----------
    width, height : float
    map_width, map_height : float
        Of the part with the points, whose corner is at (MARGIN, MARGIN + HEAD).
    legend_left : float
    radius : float
        Of a point.
    """

    width: float
    height: float
    map_width: float
    map_height: float
    legend_left: float
    radius: float
    scale: float
    shift_x: float
    shift_y: float

    def x(self, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Horizontal places on the sheet."""
        return np.asarray(values * np.float32(self.scale) + np.float32(self.shift_x))

    def y(self, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Vertical places on the sheet."""
        return np.asarray(np.float32(self.shift_y) - values * np.float32(self.scale))


def sheet_of(picture: MapPicture) -> Sheet:
    """Lay the sheet out for a picture."""
    places = picture.places
    low = places.min(axis=0).astype(float) if len(places) else np.zeros(2)
    high = places.max(axis=0).astype(float) if len(places) else np.ones(2)
    wide, high_ = (max(float(extent), 1e-12) for extent in high - low)
    longest = max(wide, high_)
    spare = 0.03 * longest
    scale = SIDE / (longest + 2 * spare)
    map_width, map_height = (max((extent + 2 * spare) * scale, SIDE / 4) for extent in (wide, high_))
    rows = len(picture.legend) + len(picture.clusters) + 1
    height = max(map_height, rows * ROW) + 2 * MARGIN + HEAD
    left = MARGIN + map_width + MARGIN
    middle = (low + high) / 2
    return Sheet(
        width=left + _LEGEND, height=height, map_width=map_width, map_height=map_height, legend_left=left,
        radius=point_radius(len(places), map_width * map_height, 1.0, 1.0), scale=scale,
        shift_x=MARGIN + map_width / 2 - float(middle[0]) * scale,
        shift_y=MARGIN + HEAD + map_height / 2 + float(middle[1]) * scale,
    )  # fmt: skip


def texts_of(picture: MapPicture, sheet: Sheet) -> list[tuple[float, float, str, int]]:
    """Middle, text and cluster of the names that have room on the sheet, the largest clusters first."""
    hulls = picture.hulls
    x, y, radii = sheet.x(hulls.centres[:, 0]), sheet.y(hulls.centres[:, 1]), hulls.radii * sheet.scale
    found: list[tuple[float, float, str, int]] = []
    taken: set[tuple[int, int]] = set()
    for row in range(len(hulls)):
        if radii[row] < 9 or len(found) >= _MOST_TEXTS:
            continue
        cluster = int(hulls.clusters[row])
        text = shortened(picture.names.get(cluster, str(cluster)))
        if len(text) * LETTER > 3.2 * radii[row]:
            text = str(cluster)
        half, up = len(text) * LETTER / 2, 9.0
        if half * 2 > 3.2 * radii[row]:
            continue
        middle = float(y[row])
        if radii[row] < 4 * up:  # inside it would hide most of the images
            middle = float(sheet.y(hulls.corners[row, :, 1]).min()) - up + 4
        cells = {
            (column, line)
            for column in range(int((x[row] - half) // _CELL), int((x[row] + half) // _CELL) + 1)
            for line in range(int((middle - up) // _CELL), int((middle + up) // _CELL) + 1)
        }
        if not cells & taken:
            taken |= cells
            found.append((float(x[row]), middle, text, cluster))
    return found
