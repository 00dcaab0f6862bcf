"""What the pair page shows when nothing is left to ask: what was reached, and what can be done next."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from a3s_desktop.i18n import mark, tr, trn
from a3s_desktop.session.state import SessionState
from a3s_desktop.ui.figures import precision_text
from a3s_desktop.ui.theme import ICON, SPACE_2, SPACE_3, SPACE_4, SPACE_5, icon, icon_pixmap, tokens

# Button, icon, what it is good for.
_STEPS = (
    ("audit", mark("Check a random sample"), "sample",
     mark("Pairs drawn at random tell how many of the sorted pairs are right.")),
    ("singles", mark("Look at single images"), "image", mark("Each one beside the cluster it most likely belongs to.")),
    ("requeue", mark("Ask skipped pairs again"), "requeue", mark("A second look at what was not clear at first.")),
    ("clusters", mark("Look at the clusters"), "grid", mark("Name them, correct them, mark them as finished.")),
    ("export", mark("Export clusters…"), "export", mark("Write the result to a file.")),
    ("undo", mark("Undo last answer"), "undo", mark("And go on from there.")),
)  # fmt: skip


class FinishedPanel(QWidget):
    """Shown when nothing is left to ask: what was reached, and what can be done next.

    Signals
    -------
    exportWanted(), clustersWanted(), undoWanted(), auditWanted(), singlesWanted(), requeueWanted()
    """

    exportWanted = Signal()  # noqa: N815 - Qt's naming
    clustersWanted = Signal()  # noqa: N815
    undoWanted = Signal()  # noqa: N815
    auditWanted = Signal()  # noqa: N815
    singlesWanted = Signal()  # noqa: N815
    requeueWanted = Signal()  # noqa: N815

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._symbol, self._title, self._text, self._note = QLabel(), QLabel(), QLabel(), QLabel()
        self._title.setProperty("role", "display")
        self._note.setProperty("role", "muted")
        self._buttons = {name: QPushButton(tr(text)) for name, text, *_ in _STEPS}
        self._whys = {name: QLabel(tr(why)) for name, _, _, why in _STEPS}
        self.export_button, self.clusters_button = self._buttons["export"], self._buttons["clusters"]
        self.undo_button, self.audit_button = self._buttons["undo"], self._buttons["audit"]
        self.singles_button, self.requeue_button = self._buttons["singles"], self._buttons["requeue"]
        self._build()
        for name, wanted in (
            ("export", self.exportWanted),
            ("clusters", self.clustersWanted),
            ("undo", self.undoWanted),
            ("audit", self.auditWanted),
            ("singles", self.singlesWanted),
            ("requeue", self.requeueWanted),
        ):
            self._buttons[name].clicked.connect(wanted)
        self.recolour()

    def _build(self) -> None:
        card = QFrame()
        card.setProperty("role", "card")
        card.setMaximumWidth(680)
        inner = QVBoxLayout(card)
        inner.setContentsMargins(SPACE_5, SPACE_5, SPACE_5, SPACE_5)
        inner.setSpacing(SPACE_2)
        inner.addWidget(self._symbol)
        for label in (self._symbol, self._title, self._text, self._note):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        for label in (self._title, self._text, self._note):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            inner.addWidget(label)
        inner.addSpacing(SPACE_3)
        grid = QGridLayout()
        grid.setHorizontalSpacing(SPACE_4)
        grid.setVerticalSpacing(SPACE_2)
        grid.setColumnStretch(1, 1)
        for row, (name, *_) in enumerate(_STEPS):
            button, why = self._buttons[name], self._whys[name]
            button.setStyleSheet("text-align: left;")
            button.setIconSize(QSize(ICON, ICON))
            button.setAccessibleDescription(why.text())
            why.setProperty("role", "muted")
            why.setWordWrap(True)
            grid.addWidget(button, row, 0)
            grid.addWidget(why, row, 1)
        inner.addLayout(grid)
        page = QWidget()
        outer = QVBoxLayout(page)
        outer.addStretch(2)
        middle = QHBoxLayout()
        middle.addStretch(1)
        middle.addWidget(card, 8)
        middle.addStretch(1)
        outer.addLayout(middle)
        outer.addStretch(3)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(page)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(scroll)

    def set_state(self, state: SessionState) -> None:
        """Say what was reached, and offer what can be done."""
        words = {
            "answers": trn("{n} answer", "{n} answers", state.answers),
            "images": trn("{n} image", "{n} images", state.items - state.junk),
            "clusters": trn("{n} cluster", "{n} clusters", state.clusters),
            "singles": trn("{n} single image", "{n} single images", state.singletons),
        }
        if state.junk == state.items:
            text = tr("All images are junk: nothing is left to sort.")
        elif state.junk == state.items - 1:
            text = tr("All images but one are junk: nothing is left to sort.")
        elif not state.answers and not state.clusters:
            text = tr("No two of {images} are known to be the same.", **words)
        elif not state.answers and state.singletons:
            text = tr("{images} are in {clusters} and {singles}.", **words)
        elif not state.answers:
            text = tr("{images} are in {clusters}.", **words)
        elif state.singletons and not state.clusters:
            text = tr("{answers} found no two images that are the same: {singles}.", **words)
        elif state.singletons:
            text = tr("{answers} sorted {images} into {clusters} and {singles}.", **words)
        else:
            text = tr("{answers} sorted {images} into {clusters}.", **words)
        self._text.setText(text)
        notes = [tr("No further answer is expected to change a cluster."), tr("Every answer is saved.")]
        if state.skipped:
            notes.insert(1, trn("{n} skipped pair stayed open.", "{n} skipped pairs stayed open.", state.skipped))
        if 0 < state.junk < state.items:
            notes.insert(1, trn("{n} image was put aside as junk.", "{n} images were put aside as junk.", state.junk))
        if state.audit.estimate is not None:
            notes.append(tr("By the sample, {share} of the pairs are right.", share=precision_text(state.audit)))
        self._note.setText(" ".join(notes))
        writable = not state.read_only
        self._offer("audit", writable and state.clusters > 0)
        self._offer("singles", state.singletons > 0)
        self._offer("requeue", writable and state.skipped > 0)
        self._offer("clusters", state.junk < state.items)
        self._offer("undo", writable and state.can_undo)
        # The step that tells most comes first, and is pointed at until it was taken.
        first = "audit" if state.clusters and writable and state.audit.estimate is None else "export"
        for name, button in self._buttons.items():
            kind = "primary" if name == first else "quiet" if name == "undo" else ""
            if button.property("kind") != kind:
                button.setProperty("kind", kind)
                button.style().unpolish(button)
                button.style().polish(button)
        self.recolour()

    def _offer(self, name: str, offered: bool) -> None:
        self._buttons[name].setVisible(offered)
        self._whys[name].setVisible(offered)

    @property
    def text(self) -> str:
        """All its words."""
        return f"{self._title.text()} {self._text.text()} {self._note.text()}"

    def recolour(self) -> None:
        """After a change of theme."""
        t = tokens()
        self._title.setText(tr("Nothing left to ask"))
        self._symbol.setPixmap(icon_pixmap("check-circle", t.same, 56, self.devicePixelRatioF()))
        for name, _, symbol, _ in _STEPS:
            button = self._buttons[name]
            button.setIcon(icon(symbol, t.on_accent if button.property("kind") == "primary" else t.text))

    def changeEvent(self, event: QEvent) -> None:
        """Icons follow the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.recolour()
