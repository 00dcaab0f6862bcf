"""Parts of the pair page without knowledge of the session: banner, counters, legend, answer buttons."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QRect, QRectF, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QAction, QColor, QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from a3s_desktop.i18n import number, tr
from a3s_desktop.ui.theme import (
    ICON,
    RADIUS_SMALL,
    SPACE_2,
    SPACE_3,
    SPACE_4,
    icon,
    icon_pixmap,
    scaled_font,
    set_role,
    tokens,
)

_GREY_MS = 250
WORDS, SYMBOLS, TIGHT = range(3)  # how much an answer's button says; see `AnswerButton.set_room`
_BANNER_ICONS = {"banner": "info", "banner-warning": "lock", "banner-danger": "warning"}


class Banner(QFrame):
    """One sentence across the page, with a symbol; hidden while there is nothing to say."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._symbol = QLabel()
        self._text = QLabel()
        self._text.setWordWrap(True)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._role = "banner"
        row = QHBoxLayout(self)
        row.setContentsMargins(SPACE_4, SPACE_2, SPACE_4, SPACE_2)
        row.setSpacing(SPACE_3)
        row.addWidget(self._symbol)
        row.addWidget(self._text, 1)
        self.hide()

    def say(self, text: str, role: str = "banner") -> None:
        """Show a sentence ("" hides the banner); ``role`` as in ``theme``."""
        self._role = role
        self._text.setText(text)
        set_role(self, role=role)
        self.recolour()
        self.setVisible(bool(text))

    @property
    def text(self) -> str:
        """What it says."""
        return self._text.text()

    def recolour(self) -> None:
        """After a change of theme."""
        t = tokens()
        colour = {"banner-warning": t.warning, "banner-danger": t.danger}.get(self._role, t.accent)
        self._symbol.setPixmap(icon_pixmap(_BANNER_ICONS[self._role], colour, ICON, self.devicePixelRatioF()))


class Counters(QWidget):
    """A row of numbers with a word under each; widths do not jump as the numbers grow."""

    def __init__(self, names: Sequence[tuple[str, str, str]], parent: QWidget | None = None) -> None:
        """``names``: of each number its name, the word below it, and the widest text that room is kept for."""
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACE_4)
        self._values: dict[str, QLabel] = {}
        self._words: dict[str, QLabel] = {}
        for name, caption, _longest in names:
            column = QVBoxLayout()
            column.setSpacing(0)
            column.addStretch(1)
            value, word = QLabel("0"), QLabel(tr(caption))
            value.setProperty("role", "value")
            word.setProperty("role", "small")
            for label in (value, word):
                label.setAlignment(Qt.AlignmentFlag.AlignRight)
                column.addWidget(label)
            value.setAccessibleName(tr(caption))
            keeps = word.sizePolicy()
            keeps.setRetainSizeWhenHidden(True)  # a number that comes later must not push the others aside
            word.setSizePolicy(keeps)
            column.addStretch(1)
            self._values[name], self._words[name] = value, word
            row.addLayout(column)
        self._longest = {name: longest for name, _caption, longest in names}
        self._keep_widths()

    def set_value(self, name: str, value: int) -> None:
        """Show a number."""
        self._values[name].setText(number(value))

    def set_text(self, name: str, text: str) -> None:
        """Show a text in place of a number; "" leaves the place empty."""
        self._values[name].setText(text)
        self._words[name].setVisible(bool(text))

    def text(self, name: str) -> str:
        """The number as shown."""
        return self._values[name].text()

    def changeEvent(self, event: QEvent) -> None:
        """Another size of text needs other widths."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_longest"):
            self._keep_widths()

    def _keep_widths(self) -> None:
        metrics = QFontMetrics(scaled_font("heading", bold=True))
        for name, longest in self._longest.items():
            self._values[name].setMinimumWidth(max(44, metrics.horizontalAdvance(longest)))


class _Lag(QObject):
    """Lets a button follow its action, but grey only after a moment.

    Between an answer and the next pair the answers are off for some hundredths of a second; buttons that blinked at
    every answer would be tiring. Clicking meanwhile does nothing, since the action itself is off at once.
    """

    def __init__(self, action: QAction, button: QAbstractButton) -> None:
        super().__init__(button)
        self._action, self._button = action, button
        self._timer = QTimer(self, singleShot=True, interval=_GREY_MS)
        self._timer.timeout.connect(self._grey)
        button.clicked.connect(action.trigger)
        action.enabledChanged.connect(self._follow)
        button.setEnabled(action.isEnabled())

    @Slot(bool)
    def _follow(self, enabled: bool) -> None:
        if enabled:
            self._timer.stop()
            self._button.setEnabled(True)
        else:
            self._timer.start()

    @Slot()
    def _grey(self) -> None:
        self._button.setEnabled(self._action.isEnabled())


class AnswerButton(QPushButton):
    """Shows an answer with its key. Takes no focus, so Space can never press it; a double click counts once."""

    def __init__(self, action: QAction, kind: str, key: str = "", *, compact: bool = False) -> None:
        super().__init__(action.text())
        self._action = action
        self._key = key
        self._compact = compact  # no wider than its word
        self._room = WORDS
        self.setAccessibleName(action.text())
        self.setProperty("kind", kind)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setIconSize(QSize(ICON, ICON))
        self._lag = _Lag(action, self)
        self.set_key(key)
        self.recolour()

    def set_key(self, key: str) -> None:
        """The key shown on the button."""
        self._key = key
        bare = self._room == TIGHT and self._compact
        self.setStyleSheet("padding: 0px;" if bare else f"padding-right: {self._cap_width() + 18}px; text-align: left;")
        self.setToolTip(self._action.toolTip())
        self.updateGeometry()

    def recolour(self) -> None:
        """After a change of theme."""
        t = tokens()
        kind = self.property("kind")
        colour = {"same": t.on_same, "different": t.on_different}.get(kind, t.text)
        self.setIcon(icon(str(self._action.property("icon_name")), colour))

    def sizeHint(self) -> QSize:
        """Room for the key cap."""
        return QSize(self.width_for(self._room), max(38, self.fontMetrics().height() + 16))

    def width_for(self, room: int) -> int:
        """Width where there is so much room."""
        if self._compact and room != WORDS:
            return 2 * SPACE_3 + ICON + (SPACE_2 + self._cap_width() if room == SYMBOLS else 0)
        metrics = QFontMetrics(scaled_font("base", bold=True))
        width = ICON + SPACE_2 + metrics.horizontalAdvance(self._action.text()) + SPACE_3 + self._cap_width()
        return width + 2 * SPACE_3 if self._compact or room == TIGHT else max(132, width + 2 * SPACE_4)

    def set_room(self, room: int) -> None:
        """Show all, or of the rarer answers only symbol and key, or only the symbol; the rest is in the tool tip."""
        if room != self._room:
            self._room = room
            self.setText("" if self._compact and room != WORDS else self._action.text())
            self.set_key(self._key)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt's button, then the key cap."""
        super().paintEvent(event)
        painter = QPainter(self)
        self.draw_cap(painter)
        painter.end()

    def draw_cap(self, painter: QPainter) -> None:
        """Paint the key as a small cap at the right edge."""
        if self._compact and self._room == TIGHT:
            return
        t = tokens()
        kind = self.property("kind")
        colour = {"same": t.on_same, "different": t.on_different}.get(kind, t.muted)
        if not self.isEnabled():
            colour = t.outline
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width = self._cap_width()
        cap = QRectF(self.width() - width - 10, (self.height() - 22) / 2, width, 22)
        line = QColor(colour)
        line.setAlphaF(0.55)
        painter.setPen(QPen(line, 1))
        painter.drawRoundedRect(cap, RADIUS_SMALL, RADIUS_SMALL)
        painter.setPen(QColor(colour))
        painter.setFont(scaled_font("small", bold=True))
        painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, self._key)

    def changeEvent(self, event: QEvent) -> None:
        """Another size of text needs another width."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.updateGeometry()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """The second click of a double click would answer a pair that nobody has seen."""
        event.accept()

    def _cap_width(self) -> int:
        return max(22, QFontMetrics(scaled_font("small", bold=True)).horizontalAdvance(self._key) + 12)


class ToolIcon(QToolButton):
    """A small icon button for an action; takes no focus."""

    def __init__(self, action: QAction, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.action = action
        self.setProperty("kind", "icon")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setIconSize(QSize(ICON, ICON))
        self.setCheckable(action.isCheckable())
        self.setChecked(action.isChecked())
        self.setAccessibleName(action.text())
        action.toggled.connect(self.setChecked)
        action.changed.connect(self._follow)
        self._lag = _Lag(action, self)
        self._follow()

    @Slot()
    def _follow(self) -> None:
        """Icon and tool tip (with the keys) as the action has them now."""
        if self.icon().cacheKey() != self.action.icon().cacheKey():
            self.setIcon(self.action.icon())
        self.setToolTip(self.action.toolTip())


class Legend(QWidget):
    """Keys and what they do, in as many rows as the width needs."""

    _ROW = 26

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: list[tuple[tuple[str, ...], str]] = []
        self._limit = 0
        # Not fixed: the size hint knows only the former width, and must not bound the height at the new one.
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def set_entries(self, entries: Sequence[tuple[tuple[str, ...], str]]) -> None:
        """Show ``(keys, words)`` entries in this order."""
        self._entries = list(entries)
        self.setAccessibleName(tr("Keys"))
        self.setAccessibleDescription("; ".join(f"{tr(' or ').join(keys)}: {text}" for keys, text in entries))
        self.updateGeometry()
        self.update()

    def set_limit(self, rows: int) -> None:
        """At most so many rows (0: all that are needed); the last entry, which hides the keys, always has a place."""
        if rows != self._limit:
            self._limit = rows
            self.updateGeometry()
            self.update()

    @property
    def entries(self) -> list[tuple[tuple[str, ...], str]]:
        """What is shown."""
        return list(self._entries)

    def hasHeightForWidth(self) -> bool:
        """Rows depend on the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Height of the rows."""
        return self._rows(width) * self._ROW

    def sizeHint(self) -> QSize:
        """One row where it can be."""
        return QSize(600, self.heightForWidth(max(self.width(), 300)))

    def minimumSizeHint(self) -> QSize:
        """At least one row."""
        return QSize(300, self._ROW)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's; see `draw`."""
        painter = QPainter(self)
        self.draw(painter)
        painter.end()

    def draw(self, painter: QPainter) -> None:
        """Paint the entries."""
        t = tokens()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        bold, plain = scaled_font("small", bold=True), scaled_font("small")
        for keys, text, rect in self._layout(self.width()):
            x = float(rect.left())
            painter.setFont(bold)
            for key in keys:
                width = max(20, painter.fontMetrics().horizontalAdvance(key) + 10)
                cap = QRectF(x + 0.5, rect.top() + 3.5, width, 19)
                painter.setPen(QPen(QColor(t.border), 1))
                painter.setBrush(QColor(t.raised))
                painter.drawRoundedRect(cap, 4, 4)
                painter.setPen(QColor(t.text))
                painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, key)
                x += width + 3
            painter.setFont(plain)
            painter.setPen(QColor(t.muted))
            words = QRectF(x + 3, rect.top(), rect.right() - x, rect.height())
            painter.drawText(words, Qt.AlignmentFlag.AlignVCenter, text)

    def _layout(self, width: int) -> list[tuple[tuple[str, ...], str, QRect]]:
        bold, plain = QFontMetrics(scaled_font("small", bold=True)), QFontMetrics(scaled_font("small"))
        widths = [
            sum(max(20, bold.horizontalAdvance(key) + 10) + 3 for key in keys) + 4 + plain.horizontalAdvance(text)
            for keys, text in self._entries
        ]
        result, x, y = [], 0, 0
        last, full = len(self._entries) - 1, False
        for place, ((keys, text), wide) in enumerate(zip(self._entries, widths, strict=True)):
            final = self._limit and y // self._ROW == self._limit - 1
            reserved = widths[last] + SPACE_4 if final and place != last else 0
            if x and x + wide + reserved > width:
                if final:
                    full = True
                else:
                    x, y = 0, y + self._ROW
            if full and place != last:
                continue
            result.append((keys, text, QRect(x, y, wide, self._ROW)))
            x += wide + SPACE_4
        return result

    def _rows(self, width: int) -> int:
        placed = self._layout(width)
        return placed[-1][2].top() // self._ROW + 1 if placed else 1
