"""What the history shows: a search by file name and four choices."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from a3s_desktop.i18n import mark, number, tr, trn
from a3s_desktop.session.listing import EntryGroup, HistoryFilter
from a3s_desktop.ui.figures import midnight
from a3s_desktop.ui.theme import SPACE_1, SPACE_2, icon, set_role

_TYPING_MS = 250
_GROUPS: tuple[tuple[str, frozenset[EntryGroup]], ...] = (
    (mark("All kinds"), frozenset()),
    (mark("Same"), frozenset({EntryGroup.SAME})),
    (mark("Different"), frozenset({EntryGroup.DIFFERENT})),
    (mark("Skipped"), frozenset({EntryGroup.SKIP})),
    (mark("Not comparable"), frozenset({EntryGroup.INCOMPARABLE})),
    (mark("Junk"), frozenset({EntryGroup.JUNK})),
    (mark("Corrections"), frozenset({EntryGroup.CORRECTION})),
    (mark("Names"), frozenset({EntryGroup.NAME})),
    (mark("Sample checks"), frozenset({EntryGroup.AUDIT})),
)
_DATES = (mark("Any time"), mark("Today"), mark("Last 7 days"))
_STATES = (mark("All states"), mark("Doubtful answers"), mark("Without effect"))
_ALL, _PAIR, _CHOSEN = range(3)


class HistoryFilterBar(QWidget):
    """See the module.

    Signals
    -------
    changed()
        `wanted` gives another filter.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pair: frozenset[int] = frozenset()
        self._names: Mapping[int, str] = {}
        self.search = QLineEdit()
        self.search.setPlaceholderText(tr("Find by file name"))
        self.search.setAccessibleName(tr("Find entries by file name"))
        self.search.setClearButtonEnabled(True)
        self.kind = _choice(tr("Kind of entry"), [tr(text) for text, _ in _GROUPS])
        self.date = _choice(tr("When it was entered"), [tr(text) for text in _DATES])
        self.state = _choice(tr("State of the entry"), [tr(text) for text in _STATES])
        self.clusters = _choice(tr("Clusters"), [tr("All clusters"), tr("Clusters of this pair"), tr("One cluster…")])
        self.cluster = QLineEdit()
        self.cluster.setPlaceholderText(tr("Number or name of a cluster"))
        self.cluster.setAccessibleName(tr("Number or name of a cluster"))
        self.cluster.hide()
        self.more = QToolButton()
        set_role(self.more, kind="icon")
        self.more.setCheckable(True)
        self.more.setToolTip(tr("Filter by kind, date, state and clusters"))
        self.more.setAccessibleName(tr("Filter"))
        self.more.setIcon(icon("tones"))
        self.count = QLabel()
        set_role(self.count, role="small")
        self.clear = QPushButton(tr("Show all"))
        self.clear.setAccessibleName(tr("Show all entries of the history"))
        set_role(self.clear, kind="quiet")
        self.clear.hide()
        self._lay_out()
        self._typing = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._typing.timeout.connect(self.changed)
        for field in (self.search, self.cluster):
            field.textChanged.connect(self._typing.start)
        for choice in (self.kind, self.date, self.state):
            choice.currentIndexChanged.connect(self._tell)
        self.clusters.currentIndexChanged.connect(self._on_clusters)
        self.clear.clicked.connect(self.reset)
        self.more.toggled.connect(self.choices.setVisible)

    def _lay_out(self) -> None:
        self.choices = QWidget()
        grid = QGridLayout(self.choices)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(SPACE_1)
        for place, choice in enumerate((self.kind, self.date, self.state, self.clusters)):
            grid.addWidget(choice, *divmod(place, 2))
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(1, 1)
        last = QHBoxLayout()
        last.addWidget(self.count, 1)
        last.addWidget(self.clear)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_2, SPACE_2, SPACE_2, SPACE_1)
        column.setSpacing(SPACE_1)
        first = QHBoxLayout()
        first.setSpacing(SPACE_1)
        first.addWidget(self.search, 1)
        first.addWidget(self.more)
        column.addLayout(first)
        column.addWidget(self.choices)
        column.addWidget(self.cluster)
        self.choices.hide()
        column.addLayout(last)

    def wanted(self) -> HistoryFilter:
        """The filter that is set now."""
        since = 0.0
        if self.date.currentIndex():
            since = midnight(-6 if self.date.currentIndex() == 2 else 0)
        return HistoryFilter(
            groups=_GROUPS[self.kind.currentIndex()][1],
            clusters=self._clusters(),
            since=since,
            text=self.search.text(),
            doubtful=self.state.currentIndex() == 1,
            without_effect=self.state.currentIndex() == 2,
        )

    def set_state(self, pair: frozenset[int], names: Mapping[int, str]) -> None:
        """The clusters of the current pair, and the names of clusters."""
        changed = pair != self._pair and self.clusters.currentIndex() == _PAIR
        self._pair, self._names = pair, names
        if changed:
            self.changed.emit()

    def show_clusters(self, clusters: frozenset[int]) -> None:
        """Show only what is about some clusters."""
        self.clusters.blockSignals(True)
        self.clusters.setCurrentIndex(_CHOSEN)
        self.clusters.blockSignals(False)
        self.cluster.blockSignals(True)
        self.cluster.setText(", ".join(str(cluster) for cluster in sorted(clusters)))
        self.cluster.blockSignals(False)
        self._tell()

    def show_without_effect(self) -> None:
        """Show only what has no effect now."""
        self.reset()
        self.state.setCurrentIndex(2)

    @Slot()
    def reset(self) -> None:
        """Everything, newest first."""
        self.blockSignals(True)
        for field in (self.search, self.cluster):
            field.clear()
        for choice in (self.kind, self.date, self.state, self.clusters):
            choice.setCurrentIndex(0)
        self.blockSignals(False)
        self._typing.stop()
        self._tell()

    def show_counts(self, total: int, everything: int) -> None:
        """How many entries are listed, of how many there are."""
        narrow = self.wanted().narrow
        if narrow:
            self.count.setText(tr("{shown} of {all}", shown=number(total), all=number(everything)))
        else:
            self.count.setText(trn("{n} entry", "{n} entries", everything))
        if self.clear.hasFocus() and not narrow:
            self.search.setFocus()
        self.clear.setVisible(narrow)

    def changeEvent(self, event: QEvent) -> None:
        """The icon follows the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "more"):
            self.more.setIcon(icon("tones"))

    @Slot()
    def _tell(self) -> None:
        if any(choice.currentIndex() for choice in (self.kind, self.date, self.state, self.clusters)):
            self.more.setChecked(True)  # what is in force is seen
        self.cluster.setVisible(self.clusters.currentIndex() == _CHOSEN)
        self.changed.emit()

    @Slot()
    def _on_clusters(self) -> None:
        self._tell()
        if self.clusters.currentIndex() == _CHOSEN:
            self.cluster.setFocus()

    def _clusters(self) -> frozenset[int]:
        """The clusters that are wanted; -1, which no image is in, where what is typed names none."""
        if self.clusters.currentIndex() == _PAIR:
            return self._pair or frozenset({-1})
        if self.clusters.currentIndex() != _CHOSEN or not self.cluster.text().strip():
            return frozenset()
        found: set[int] = set()
        for part in self.cluster.text().split(","):
            text = part.strip().lstrip("#").casefold()
            if text.isdecimal() and len(text) < 10:
                found.add(int(text))
            elif text:
                found.update(cluster for cluster, name in self._names.items() if text in name.casefold())
        return frozenset(found or {-1})


def _choice(name: str, texts: list[str]) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(name)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(8)
    box.addItems(texts)
    return box
