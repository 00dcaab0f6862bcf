"""A label of one line that is cut to the room that there is."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy

from a3s_desktop.ui.plain import plain_tip


class ElidedLabel(QLabel):
    """A label of one line with "…" where there is no room; the whole text is its tool tip then.

    Parameters
    ----------
    role : str
        Of the style sheet.
    text : str
        Shown letter by letter, never taken for markup.
    mode : Qt.TextElideMode
        Where it is cut.
    """

    def __init__(
        self, role: str = "small", text: str = "", mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight
    ) -> None:
        super().__init__()
        self._whole, self._mode = "", mode
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setProperty("role", role)
        self.set_text(text)

    def set_text(self, text: str) -> None:
        """Show a text, as much of it as there is room for."""
        self._whole = " ".join(text.split())
        self.setAccessibleName(self._whole)
        self._fit()

    def text(self) -> str:
        """The whole text, shown or not."""
        return self._whole

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the text anew."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        shown = self.fontMetrics().elidedText(self._whole, self._mode, max(0, self.width()))
        self.setText(shown)
        self.setToolTip(plain_tip(self._whole if shown != self._whole else ""))
