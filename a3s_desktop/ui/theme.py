"""Looks: design tokens, light and dark palettes on Fusion, the style sheet, icons, cluster colours.

Widgets say what they are by dynamic properties, the style sheet says how that looks:

* ``QLabel``: ``role`` = display | title | heading | strong | muted | small | value | error | key
* ``QPushButton`` / ``QToolButton``: ``kind`` = primary | same | different | quiet | danger
* ``QFrame``: ``role`` = card | bar | banner | banner-warning | banner-danger | chip | line

Spacing comes from the ``SPACE_*`` steps, colours from `tokens`. A widget that paints by itself asks `tokens` inside
its paint event, so a change of theme needs no signal: the palette change repaints it.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cache, lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QGuiApplication,
    QIcon,
    QPainter,
    QPalette,
    QPixmap,
    QPixmapCache,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QStyleFactory, QWidget

from a3s_desktop.resources import resource
from a3s_desktop.ui.dressing import dress
from a3s_desktop.ui.theme_tokens import (
    CLUSTERS_DARK,
    CLUSTERS_LIGHT,
    CONTRAST_DARK,
    CONTRAST_LIGHT,
    DARK,
    LIGHT,
    THEMES,
    Tokens,
)

__all__ = [
    "CONTRAST_DARK", "CONTRAST_LIGHT", "DARK", "ICON", "LIGHT", "RADIUS", "RADIUS_SMALL", "SPACE_1", "SPACE_2",
    "SPACE_3", "SPACE_4", "SPACE_5", "SPACE_6", "TYPE_SCALE", "Tokens", "apply_theme", "base_font", "cluster_colour",
    "cluster_colours", "contrast", "icon", "icon_pixmap", "palette", "resolve", "scaled_font", "set_role",
    "style_sheet", "tokens",
]  # fmt: skip

SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_5, SPACE_6 = 4, 8, 12, 16, 24, 40  # logical pixels
RADIUS = 8
RADIUS_SMALL = 5
ICON = 18
TYPE_SCALE = {"small": 0.86, "base": 1.0, "heading": 1.12, "title": 1.4, "display": 1.95}  # of the base font
_THEME_PROPERTY = "a3s_theme"
_TEXT_PROPERTY = "a3s_text_size"
_FAMILIES = ("Inter", "Segoe UI", "SF Pro Text", "Cantarell", "Ubuntu", "Noto Sans", "DejaVu Sans")


def contrast(first: str, second: str) -> float:
    """WCAG 2 contrast ratio of two colours, 1 .. 21."""

    def luminance(text: str) -> float:
        colour = QColor(text)
        parts = (colour.redF(), colour.greenF(), colour.blueF())
        r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def resolve(mode: str) -> Tokens:
    """The tokens for "light", "dark", "contrast" or "system" (light where the system does not say).

    "contrast" is white on black; "system" is of high contrast, on the system's side, where the system asks for it.
    """
    if mode != "system":
        return {"dark": DARK, "contrast": CONTRAST_DARK}.get(mode, LIGHT)
    hints = QGuiApplication.styleHints()
    if hints is None:
        return LIGHT
    dark = hints.colorScheme() == Qt.ColorScheme.Dark
    if hints.accessibility().contrastPreference() == Qt.ContrastPreference.HighContrast:
        return CONTRAST_DARK if dark else CONTRAST_LIGHT
    return DARK if dark else LIGHT


def tokens() -> Tokens:
    """Tokens of the theme that is applied now (light before `apply_theme`)."""
    app = QApplication.instance()
    return THEMES.get(str(app.property(_THEME_PROPERTY)), LIGHT) if app is not None else LIGHT


def apply_theme(app: QApplication, mode: str = "system", text_size: int | None = None) -> Tokens:
    """Dress the application: Fusion, palette, font, style sheet. Can be called again at any time.

    Parameters
    ----------
    app : QApplication
    mode : str
        "system", "light", "dark" or "contrast".
    text_size : int, optional
        Size of all text in per cent of the system's; None leaves it.

    Notes
    -----
    Following the system while it runs: connect ``app.styleHints().colorSchemeChanged`` to a slot that calls this
    with "system".
    """
    chosen = resolve(mode)
    if text_size is not None:
        app.setProperty(_TEXT_PROPERTY, text_size)
    if app.property(_THEME_PROPERTY) is None and app.style().objectName().lower() != "fusion":
        app.setStyle(QStyleFactory.create("Fusion"))  # once: below a style sheet its name cannot be asked any more
    app.setProperty(_THEME_PROPERTY, chosen.name)
    if app.font() != base_font():  # all widgets would be laid out anew
        app.setFont(base_font())
    app.setPalette(palette(chosen))
    dress(app, style_sheet(chosen, QFont(base_font()).pointSizeF()))
    return chosen


def base_font() -> QFont:
    """The font of running text: the system's, but a good family and a readable size where the system has no opinion."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    if font.family().lower() in {"", "sans", "sans serif", "sans-serif", "dejavu sans"}:
        font.setFamily(_good_family() or font.family())
    app = QApplication.instance()
    share = (app.property(_TEXT_PROPERTY) if app is not None else None) or 100
    font.setPointSizeF(max(font.pointSizeF(), 10.0) * share / 100)
    return font


@cache
def _good_family() -> str:
    return next(filter(QFontDatabase.hasFamily, _FAMILIES), "")


def scaled_font(step: str, bold: bool = False) -> QFont:
    """A font of the type scale, for widgets that paint text themselves."""
    font = QFont(QApplication.font())
    font.setPointSizeF(font.pointSizeF() * TYPE_SCALE[step])
    font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    return font


def palette(t: Tokens) -> QPalette:
    """A complete Qt palette."""
    result = QPalette()
    role, group = QPalette.ColorRole, QPalette.ColorGroup
    colours = {
        role.Window: t.window, role.WindowText: t.text, role.Base: t.surface, role.AlternateBase: t.hover,
        role.Text: t.text, role.PlaceholderText: t.muted, role.Button: t.raised, role.ButtonText: t.text,
        role.BrightText: t.danger, role.ToolTipBase: t.raised, role.ToolTipText: t.text, role.Link: t.accent,
        role.LinkVisited: t.accent, role.Highlight: t.accent, role.HighlightedText: t.on_accent, role.Light: t.hover,
        role.Midlight: t.hover, role.Mid: t.border, role.Dark: t.border, role.Shadow: "#000000", role.Accent: t.accent,
    }  # fmt: skip
    for each, colour in colours.items():
        result.setColor(each, QColor(colour))
    for each in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        result.setColor(group.Disabled, each, QColor(t.disabled))
    result.setColor(group.Disabled, role.Highlight, QColor(t.border))
    return result


def cluster_colours(t: Tokens | None = None) -> tuple[QColor, ...]:
    """The colours clusters are drawn in, in order; use `cluster_colour` for one cluster."""
    return _cluster_colours((t or tokens()).dark)


@cache
def _cluster_colours(dark: bool) -> tuple[QColor, ...]:
    return tuple(QColor(c) for c in (CLUSTERS_DARK if dark else CLUSTERS_LIGHT))


def cluster_colour(cluster: int, t: Tokens | None = None) -> QColor:
    """Colour of a cluster: depends on its id only, so it is stable over merges and splits of others."""
    colours = cluster_colours(t)
    return QColor(colours[cluster * 7 % len(colours)])


def icon(name: str, colour: str | None = None, size: int = ICON) -> QIcon:
    """An icon of ``resources/icons`` in the theme's text colour, with paler disabled and accent-coloured "on" states.

    An unknown name gives an empty icon. Icons do not follow a change of theme; ask again (see `Shortcuts.retheme`).
    """
    if not _drawing(name):
        return QIcon()
    t = tokens()
    result = QIcon()
    states = (
        (QIcon.Mode.Normal, QIcon.State.Off, colour or t.text),
        (QIcon.Mode.Disabled, QIcon.State.Off, t.disabled),
        (QIcon.Mode.Normal, QIcon.State.On, colour or t.accent),
        (QIcon.Mode.Disabled, QIcon.State.On, t.disabled),
    )
    # Only what a screen can show: eighty icons take a third of the start.
    app = QApplication.instance()
    fine = isinstance(app, QApplication) and app.devicePixelRatio() > 1
    for ratio in (1.0, 2.0) if fine else (1.0,):
        for mode, state, paint in states:
            result.addPixmap(icon_pixmap(name, paint, size, ratio), mode, state)
    return result


def icon_pixmap(name: str, colour: str, size: int, ratio: float = 1.0) -> QPixmap:
    """One icon as a pixmap, for widgets that paint it themselves; kept, since some paint it at every frame."""
    key = f"a3s-icon {name} {colour} {size} {ratio}"
    pixmap = QPixmap()
    if QPixmapCache.find(key, pixmap):
        return pixmap
    if source := _drawing(name):
        pixmap = _render(source, colour, size, ratio)
        QPixmapCache.insert(key, pixmap)
    return pixmap


@cache
def _drawing(name: str) -> bytes:
    path = resource("icons", f"{name}.svg")
    return path.read_bytes() if name and path.is_file() else b""


def _render(source: bytes, colour: str, size: int, ratio: float) -> QPixmap:
    pixmap = QPixmap(QSize(size, size) * ratio)
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    renderer = QSvgRenderer(QByteArray(source.replace(b"#000000", colour.encode())))
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(0, 0, size, size))
    painter.end()
    return pixmap


def set_role(widget: QWidget, **properties: str) -> None:
    """Set dynamic properties that the style sheet reads, and polish the widget anew."""
    for name, value in properties.items():
        widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


@lru_cache(maxsize=4)
def style_sheet(t: Tokens, base: float) -> str:
    """The style sheet of ``resources/style/app.qss`` with the tokens filled in.

    Parameters
    ----------
    t : Tokens
    base : float
        Size of the base font in points.
    """
    text = resource("style", "app.qss").read_text(encoding="utf-8")
    values = {f.name: str(getattr(t, f.name)) for f in fields(t)}
    values |= {f"font_{step}": f"{base * factor:.1f}pt" for step, factor in TYPE_SCALE.items()}
    values |= {"radius": f"{RADIUS}px", "radius_small": f"{RADIUS_SMALL}px"}
    side = "dark" if t.dark else "light"
    for drawn in ("check", "tick", "arrow", "close", "float"):
        values[drawn] = resource("style", f"{drawn}-{side}.svg").as_posix()
    for name in sorted(values, key=len, reverse=True):
        text = text.replace(f"@{name}", values[name])
    return text
