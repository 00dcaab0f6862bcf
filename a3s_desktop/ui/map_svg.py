"""The map as SVG: real points, outlines, texts and a legend that a drawing program can change. Plain text, no Qt."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from a3s_desktop.i18n import tr
from a3s_desktop.ui.map_colours import LegendEntry, Shape
from a3s_desktop.ui.map_picture import MapPicture
from a3s_desktop.ui.map_sheet import HEAD, MARGIN, ROW, Sheet, sheet_of, texts_of
from a3s_desktop.ui.one_line import shortened

SINGLE_CIRCLES = 20_000  # up to this many images each is a circle of its own, grouped by cluster
MOST_POINTS = 200_000  # beyond, images that lie (almost) on each other become one: the file stays below 3 MB
_MOST_OUTLINES = 2_000
_FONT = "font-family='Inter, Segoe UI, Helvetica, Arial, DejaVu Sans, sans-serif'"


def svg_text(picture: MapPicture) -> str:
    """The whole file.

    Parameters
    ----------
    picture : MapPicture

    Returns
    -------
    str
        Of at most about 3 MB, however many images there are.
    """
    return "\n".join(_lines(picture)) + "\n"


def _lines(picture: MapPicture) -> Iterator[str]:
    sheet, theme = sheet_of(picture), picture.theme
    wide, high = f"{sheet.width:.0f}", f"{sheet.height:.0f}"
    yield "<?xml version='1.0' encoding='UTF-8'?>"
    yield f"<svg xmlns='http://www.w3.org/2000/svg' width='{wide}' height='{high}' viewBox='0 0 {wide} {high}' {_FONT}>"
    yield f"<title>{_escaped(tr('Map of the images'))}</title>"
    yield f"<desc>{_escaped(picture.title)}</desc>"
    yield f"<rect width='{wide}' height='{high}' fill='{theme.surface}'/>"
    yield _text(MARGIN, MARGIN + HEAD / 2, picture.title, 18, theme.text)
    yield "<g id='outlines' stroke-width='1.2'>"
    yield from _outlines(picture, sheet)
    yield "</g>"
    yield "<g id='points'>"
    yield from _circles(picture, sheet) if len(picture.places) <= SINGLE_CIRCLES else _dots(picture, sheet)
    yield "</g>"
    # The same text twice, since not every program knows how to draw a text's outline behind it.
    halo = f"fill='{theme.surface}' stroke='{theme.surface}' stroke-width='4' stroke-linejoin='round'"
    for paint in (halo, f"id='names' fill='{theme.text}'"):
        yield f"<g text-anchor='middle' font-size='14' font-weight='600' {paint}>"
        for x, y, text, _ in texts_of(picture, sheet):
            yield f"<text x='{x:.1f}' y='{y + 5:.1f}'>{_escaped(text)}</text>"
        yield "</g>"
    yield "<g id='legend'>"
    yield from _legend(picture, sheet)
    yield "</g>"
    yield "</svg>"


def _outlines(picture: MapPicture, sheet: Sheet) -> Iterator[str]:
    hulls = picture.hulls
    for row in range(min(len(hulls), _MOST_OUTLINES)):
        cluster = int(hulls.clusters[row])
        x, y = sheet.x(hulls.corners[row, :, 0]), sheet.y(hulls.corners[row, :, 1])
        path = "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
        colour = picture.cluster_colour(cluster)
        yield f"<path d='M{path}Z' fill='{colour}' fill-opacity='.1' stroke='{colour}' stroke-opacity='.6'/>"


def _circles(picture: MapPicture, sheet: Sheet) -> Iterator[str]:
    """Each image a mark of its own, in a group per cluster that carries its name."""
    x, y = np.round(sheet.x(picture.places[:, 0]), 1), np.round(sheet.y(picture.places[:, 1]), 1)
    order = np.argsort(picture.labels, kind="stable")
    starts = np.flatnonzero(np.diff(picture.labels[order], prepend=-1))
    for items in np.split(order, starts[1:]) if len(order) else ():
        cluster = int(picture.labels[items[0]])
        name = shortened(picture.names.get(cluster, str(cluster)), 80)
        yield f"<g id='cluster-{cluster}'><title>{_escaped(name)}</title>"
        for item in items.tolist():
            colour = picture.palette[int(picture.slots[item])]
            yield _mark(float(x[item]), float(y[item]), sheet.radius, colour, Shape(int(picture.shapes[item])))
        yield "</g>"


def _mark(x: float, y: float, radius: float, colour: str, shape: Shape) -> str:
    if shape is Shape.RING:
        line = radius * 0.38
        return (
            f"<circle cx='{x:g}' cy='{y:g}' r='{radius - line / 2:.2f}' fill='none' stroke='{colour}' "
            f"stroke-width='{line:.2f}'/>"
        )
    if shape is Shape.CROSS:
        arm = round(radius * 0.75, 2)
        path = f"M{x - arm:g} {y - arm:g}l{2 * arm:g} {2 * arm:g}m0 {-2 * arm:g}l{-2 * arm:g} {2 * arm:g}"
        return f"<path d='{path}' fill='none' stroke='{colour}' stroke-width='{radius * 0.4:.2f}'/>"
    return f"<circle cx='{x:g}' cy='{y:g}' r='{radius:g}' fill='{colour}'/>"


def _dots(picture: MapPicture, sheet: Sheet) -> Iterator[str]:
    """Many images: one path per colour and shape, of lines of (nearly) no length with round ends."""
    x, y = sheet.x(picture.places[:, 0]), sheet.y(picture.places[:, 1])
    kept, step = _thinned(x, y, picture.slots)
    digits = 1 if step < 1 else 0
    keys = picture.shapes[kept].astype(np.int64) * 256 + picture.slots[kept]
    for key in np.unique(keys)[::-1].tolist():  # crosses, rings, discs on top
        some = kept[keys == key]
        points = zip(np.round(x[some], digits).tolist(), np.round(y[some], digits).tolist(), strict=True)
        colour, shape = picture.palette[key % 256], Shape(key // 256)
        if shape is Shape.CROSS:
            arm = round(sheet.radius * 0.75, 1)
            sign = f"l{2 * arm:g} {2 * arm:g}m0 {-2 * arm:g}l{-2 * arm:g} {2 * arm:g}"
            path = "".join(f"M{a - arm:g} {b - arm:g}{sign}" for a, b in points)
            yield f"<path d='{path}' fill='none' stroke='{colour}' stroke-width='{sheet.radius * 0.4:.2f}'/>"
            continue
        path = "".join(f"M{a:g} {b:g}h.01" for a, b in points)
        line = f"stroke='{colour}' stroke-width='{2 * sheet.radius:g}' stroke-linecap='round'"
        yield f"<path d='{path}' fill='none' {line}/>"


def _thinned(
    x: npt.NDArray[np.float32], y: npt.NDArray[np.float32], slots: npt.NDArray[np.uint8]
) -> tuple[npt.NDArray[np.int64], float]:
    """Images to be drawn, and the width of the cells of which each has at most one per colour."""
    step = 0.1
    kept = np.arange(len(x))
    while len(kept) > MOST_POINTS:
        step *= 2
        column, row = np.floor(x / step).astype(np.int64), np.floor(y / step).astype(np.int64)
        kept = np.sort(np.unique((row * 100_000 + column) * 256 + slots, return_index=True)[1])
    return kept, step


def _legend(picture: MapPicture, sheet: Sheet) -> Iterator[str]:
    left, top, theme = sheet.legend_left, MARGIN + HEAD + ROW / 2, picture.theme
    for entry in picture.legend:
        yield from _sign(left, top, entry)
        yield _text(left + 60, top, entry.text, 14, theme.text)
        top += ROW
    top += ROW / 2
    for row in picture.clusters:
        yield f"<circle cx='{left + 6:g}' cy='{top:g}' r='6' fill='{row.colour}'/>"
        yield _text(left + 20, top, shortened(row.text), 14, theme.text)
        yield _text(sheet.width - MARGIN / 2, top, row.count, 14, theme.muted, anchor="end")
        top += ROW


def _sign(left: float, top: float, entry: LegendEntry) -> Iterator[str]:
    step = min(14.0, 48.0 / len(entry.colours))
    for index, colour in enumerate(entry.colours):
        if len(entry.colours) > 4:
            yield f"<rect x='{left + index * step:g}' y='{top - 6:g}' width='{step:g}' height='12' fill='{colour}'/>"
        else:
            yield _mark(left + 6 + index * step, top, 6.0, colour, entry.shape)


def _text(x: float, y: float, text: str, size: int, colour: str, anchor: str = "start") -> str:
    place = f"x='{x:.1f}' y='{y + size * 0.35:.1f}'"
    return f"<text {place} font-size='{size}' fill='{colour}' text-anchor='{anchor}'>{_escaped(text)}</text>"


def _escaped(text: str) -> str:
    """A text without what XML does not allow."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    return clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
