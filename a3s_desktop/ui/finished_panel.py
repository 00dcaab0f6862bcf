"""What the pair page shows when nothing is left to ask."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from a3s_desktop.ui.theme import SPACE_2, SPACE_3, SPACE_4, SPACE_5, icon_pixmap, tokens


class FinishedPanel(QWidget):
    """Shown when nothing is left to ask: what was reached, and what can be done next.

    Signals
    -------
    exportWanted(), clustersWanted(), undoWanted()
    """

    exportWanted = Signal()  # noqa: N815 - Qt's naming
    clustersWanted = Signal()  # noqa: N815
    undoWanted = Signal()  # noqa: N815

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._card = QFrame()
        self._card.setProperty("role", "card")
        self._card.setMaximumWidth(620)
        self._symbol = QLabel()
        self._symbol.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._title = QLabel("Nothing left to ask")
        self._title.setProperty("role", "display")
        self._text = QLabel()
        self._note = QLabel()
        self._note.setProperty("role", "muted")
        self.export_button = QPushButton("Export clusters…")
        self.clusters_button = QPushButton("Look at the clusters")
        self.undo_button = QPushButton("Undo last answer")
        self.export_button.setProperty("kind", "primary")
        self.undo_button.setProperty("kind", "quiet")
        self._build()
        self.export_button.clicked.connect(self.exportWanted)
        self.clusters_button.clicked.connect(self.clustersWanted)
        self.undo_button.clicked.connect(self.undoWanted)

    def _build(self) -> None:
        inner = QVBoxLayout(self._card)
        inner.setContentsMargins(SPACE_5 * 2, SPACE_5 * 2, SPACE_5 * 2, SPACE_5 * 2)
        inner.setSpacing(SPACE_3)
        inner.addWidget(self._symbol)
        for label in (self._title, self._text, self._note):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setWordWrap(True)
            inner.addWidget(label)
        inner.addSpacing(SPACE_4)
        buttons = QHBoxLayout()
        buttons.setSpacing(SPACE_2)
        buttons.addStretch(1)
        for button in (self.export_button, self.clusters_button, self.undo_button):
            buttons.addWidget(button)
        buttons.addStretch(1)
        inner.addLayout(buttons)
        outer = QVBoxLayout(self)
        outer.addStretch(2)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self._card, 6)
        row.addStretch(1)
        outer.addLayout(row)
        outer.addStretch(3)
        self.recolour()

    def set_result(self, items: int, answers: int, clusters: int, singles: int, skipped: int) -> None:
        """Say what was reached."""
        single = f" and {count(singles, 'single image')}" if singles else ""
        self._text.setText(
            f"{count(answers, 'answer')} sorted {count(items, 'image')} into {count(clusters, 'cluster')}{single}."
        )
        left = f" {count(skipped, 'pair')} skipped stayed open." if skipped else ""
        self._note.setText(f"No further answer would change a cluster.{left} Every answer is saved.")

    def set_can_undo(self, possible: bool) -> None:
        """Whether there is an answer to take back."""
        self.undo_button.setVisible(possible)

    @property
    def text(self) -> str:
        """All its words."""
        return f"{self._title.text()} {self._text.text()} {self._note.text()}"

    def recolour(self) -> None:
        """After a change of theme."""
        self._symbol.setPixmap(icon_pixmap("check-circle", tokens().same, 56, self.devicePixelRatioF()))

    def changeEvent(self, event: QEvent) -> None:
        """Icons follow the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.recolour()


def count(number: int, noun: str) -> str:
    """``number`` with its noun in singular or plural."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
