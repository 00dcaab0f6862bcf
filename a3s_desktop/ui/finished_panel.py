"""What the pair page shows when nothing is left to ask."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from a3s_desktop.i18n import tr, trn
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
        self._title = QLabel(tr("Nothing left to ask"))
        self._title.setProperty("role", "display")
        self._text = QLabel()
        self._note = QLabel()
        self._note.setProperty("role", "muted")
        self.export_button = QPushButton(tr("Export clusters…"))
        self.clusters_button = QPushButton(tr("Look at the clusters"))
        self.undo_button = QPushButton(tr("Undo last answer"))
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
        words = {
            "answers": trn("{n} answer", "{n} answers", answers),
            "images": trn("{n} image", "{n} images", items),
            "clusters": trn("{n} cluster", "{n} clusters", clusters),
            "singles": trn("{n} single image", "{n} single images", singles),
        }
        if singles:
            text = tr("{answers} sorted {images} into {clusters} and {singles}.", **words)
        else:
            text = tr("{answers} sorted {images} into {clusters}.", **words)
        self._text.setText(text)
        notes = [tr("No further answer would change a cluster."), tr("Every answer is saved.")]
        if skipped:
            notes.insert(1, trn("{n} skipped pair stayed open.", "{n} skipped pairs stayed open.", skipped))
        self._note.setText(" ".join(notes))

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
