"""Zoom and position of an image in relative coordinates, and how two of them follow each other. No widgets here."""

from __future__ import annotations

from dataclasses import dataclass, replace

STEP = 1.25  # one wheel notch or key press
MAX_PIXEL = 16.0  # screen pixels for one image pixel
MIN_LIMIT = 8.0  # small images can be enlarged to this many times their fitted size at least


@dataclass(frozen=True, slots=True)
class View:
    """What part of an image is shown.

    Attributes
    ----------
    zoom : float
        1 fits the whole image into its pane.
    x, y : float
        The point of the image at the middle of the pane, as shares of its width and height, in [0, 1].
    """

    zoom: float = 1.0
    x: float = 0.5
    y: float = 0.5


@dataclass(frozen=True, slots=True)
class Frame:
    """Sizes in device pixels: the pane, and the image (its original, upright)."""

    pane_width: float
    pane_height: float
    image_width: float
    image_height: float

    @property
    def fit(self) -> float:
        """Device pixels for one image pixel when the whole image fits."""
        return min(self.pane_width / self.image_width, self.pane_height / self.image_height)

    @property
    def max_zoom(self) -> float:
        """How far the image can be enlarged."""
        return max(MIN_LIMIT, MAX_PIXEL / self.fit)

    @property
    def actual(self) -> float:
        """Zoom at which one image pixel is one device pixel (at least 1, the whole image)."""
        return max(1.0, 1.0 / self.fit)

    def shares(self, zoom: float) -> tuple[float, float]:
        """Shares of the image's width and height that the pane shows at ``zoom``; above 1: it shows beyond."""
        scale = self.fit * zoom
        return self.pane_width / (self.image_width * scale), self.pane_height / (self.image_height * scale)

    def clamped(self, view: View) -> View:
        """The nearest view that shows no empty ground where there could be image."""
        zoom = min(max(view.zoom, 1.0), self.max_zoom)
        wide, high = self.shares(zoom)
        return View(zoom, _clamp_axis(view.x, wide), _clamp_axis(view.y, high))

    def point(self, view: View, px: float, py: float) -> tuple[float, float]:
        """The image point (shares) under a pane position given in device pixels."""
        wide, high = self.shares(view.zoom)
        return view.x + (px / self.pane_width - 0.5) * wide, view.y + (py / self.pane_height - 0.5) * high

    def zoomed(self, view: View, factor: float, px: float, py: float) -> View:
        """``view`` enlarged by ``factor`` with the image point under (px, py) staying there; not clamped in x, y."""
        zoom = min(max(view.zoom * factor, 1.0), self.max_zoom)
        anchor_x, anchor_y = self.point(view, px, py)
        wide, high = self.shares(zoom)
        return View(
            zoom, anchor_x - (px / self.pane_width - 0.5) * wide, anchor_y - (py / self.pane_height - 0.5) * high
        )

    def moved(self, view: View, dx: float, dy: float) -> View:
        """``view`` dragged by device pixels; not clamped."""
        wide, high = self.shares(view.zoom)
        return replace(view, x=view.x - dx / self.pane_width * wide, y=view.y - dy / self.pane_height * high)

    def target(self, view: View) -> tuple[float, float, float, float]:
        """Where the whole image lies on the pane: left, top, width, height in device pixels."""
        scale = self.fit * view.zoom
        width, height = self.image_width * scale, self.image_height * scale
        return self.pane_width / 2 - view.x * width, self.pane_height / 2 - view.y * height, width, height


def _clamp_axis(value: float, share: float) -> float:
    return 0.5 if share >= 1.0 else min(max(value, share / 2), 1.0 - share / 2)


@dataclass(frozen=True, slots=True)
class Offset:
    """How the right view differs from the left one, kept while both move together."""

    zoom: float = 1.0
    x: float = 0.0
    y: float = 0.0


class ViewLink:
    """Two views that move together, or each on its own.

    While linked, both show the same part in relative coordinates, for images of any two sizes. A person who unlinks,
    lines the images up by hand and links again keeps that offset. `reset` drops it.

    Attributes
    ----------
    linked : bool
    wanted : list of View
        Per side, before clamping to the image: so that a side that has less room does not hold the other back.
    """

    def __init__(self, linked: bool = True) -> None:
        self.linked = linked
        self.wanted = [View(), View()]
        self._offset = Offset()

    def reset(self) -> None:
        """Both sides whole."""
        self.wanted = [View(), View()]
        self._offset = Offset()

    def set_linked(self, linked: bool) -> None:
        """Link or unlink; linking remembers how the sides differ now."""
        if linked and not self.linked:
            left, right = self.wanted
            self._offset = Offset(right.zoom / left.zoom, right.x - left.x, right.y - left.y)
        self.linked = linked

    def shown(self, side: int, frame: Frame) -> View:
        """The view of a side (0 left, 1 right) as its image allows."""
        return frame.clamped(self.wanted[side])

    def zoom(self, side: int, frame: Frame, factor: float, px: float, py: float) -> None:
        """Zoom at a point of one side; the other follows while linked."""
        before = self.shown(side, frame)
        after = frame.zoomed(before, factor, px, py)
        wide, high = frame.shares(after.zoom)
        held = self.wanted[side]
        # An axis on which this image fits wholly says nothing about where to look: keep what the other side wants.
        x = held.x if wide >= 1.0 else frame.clamped(after).x
        y = held.y if high >= 1.0 else frame.clamped(after).y
        if after.zoom <= 1.0:
            x = y = 0.5
        self._set(side, View(after.zoom, x, y))

    def move(self, side: int, frame: Frame, dx: float, dy: float) -> None:
        """Drag one side by device pixels; the other follows while linked."""
        view = self.shown(side, frame)
        moved = frame.moved(view, dx, dy)
        wide, high = frame.shares(view.zoom)
        held = self.wanted[side]
        x = frame.clamped(moved).x if wide < 1.0 else _inside(held.x + moved.x - view.x)
        y = frame.clamped(moved).y if high < 1.0 else _inside(held.y + moved.y - view.y)
        self._set(side, View(held.zoom if self.linked else view.zoom, x, y))

    def place(self, side: int, x: float, y: float) -> None:
        """Let one side alone look at another point, as its image was turned; the sides keep that offset."""
        linked = self.linked
        self.linked = False
        self.wanted[side] = replace(self.wanted[side], x=_inside(x), y=_inside(y))
        self.set_linked(linked)

    def _set(self, side: int, view: View) -> None:
        self.wanted[side] = view
        if not self.linked:
            return
        sign = 1 if side == 0 else -1
        o = self._offset
        self.wanted[1 - side] = View(
            view.zoom * o.zoom**sign, _inside(view.x + sign * o.x), _inside(view.y + sign * o.y)
        )


def _inside(value: float) -> float:
    return min(max(value, 0.0), 1.0)
