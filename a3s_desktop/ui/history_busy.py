"""Says how far a long change of clusters or old answers is, and stops it. Comes only when it takes a while."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from a3s_desktop.i18n import tr, trn
from a3s_desktop.task import Progress
from a3s_desktop.ui.bridge import Bridge, BridgePhase
from a3s_desktop.ui.theme import SPACE_3, SPACE_5, set_role

PATIENCE = 600  # ms; what is done by then needs no dialog


class BusyDialog(QDialog):
    """See the module. Made once; it shows and hides itself.

    Parameters
    ----------
    bridge : Bridge
    parent : QWidget
        The window that it covers.
    """

    def __init__(self, bridge: Bridge, parent: QWidget) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(tr("Please wait"))
        self.setMinimumWidth(420)
        self._text = QLabel(" ")
        self._text.setWordWrap(True)
        set_role(self._text, role="heading")
        self._hint = QLabel(tr("What you see stays as it is until this is done. Cancel leaves everything as it was."))
        self._hint.setWordWrap(True)
        set_role(self._hint, role="muted")
        self.bar = QProgressBar()
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Share of the work that is done"))
        self._left = QLabel(" ")
        set_role(self._left, role="small")
        self.cancel_button = QPushButton(tr("Cancel"))
        self.cancel_button.setAutoDefault(False)
        self.cancel_button.clicked.connect(self.reject)
        row = QHBoxLayout()
        row.addWidget(self._left, 1)
        row.addWidget(self.cancel_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_5, SPACE_5, SPACE_5, SPACE_3)
        column.setSpacing(SPACE_3)
        for widget in (self._text, self._hint, self.bar):
            column.addWidget(widget)
        column.addLayout(row)
        self._wait = QTimer(self, singleShot=True, interval=PATIENCE)
        self._wait.timeout.connect(self._appear)
        bridge.operationProgress.connect(self._on_progress)
        bridge.phaseChanged.connect(self._on_phase)

    def reject(self) -> None:
        """Escape, the button, the window's own: ask the engine to stop; it goes when the engine has."""
        self.cancel_button.setEnabled(False)
        self._left.setText(tr("Stopping…"))
        self._bridge.cancel_operation()

    @Slot(object)
    def _on_progress(self, progress: Progress) -> None:
        self._text.setText(progress.stage)
        self.bar.setValue(round(progress.fraction * 1000))
        if self.cancel_button.isEnabled():
            left = progress.seconds_left
            seconds = max(1, round(left)) if left is not None else 0
            self._left.setText(trn("About {n} second left", "About {n} seconds left", seconds) if seconds else " ")
        if not self.isVisible() and not self._wait.isActive():
            self._wait.start()

    @Slot()
    def _appear(self) -> None:
        if self._bridge.phase is BridgePhase.STORING:
            self.cancel_button.setEnabled(True)
            self.cancel_button.setFocus()
            self.show()

    @Slot(str)
    def _on_phase(self, phase: str) -> None:
        if phase != BridgePhase.STORING:
            self._wait.stop()
            self.cancel_button.setEnabled(True)
            self.bar.setValue(0)
            self._left.setText(" ")
            if self.isVisible():
                self.done(0)
