"""What the check of a new project found: fits or not, every problem in plain words, the rows and files side by side."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QScrollArea,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from a3s_desktop.errors import A3SError
from a3s_desktop.i18n import mark, number, tr, trn
from a3s_desktop.storage.matching import UnmatchedError
from a3s_desktop.storage.spec import SpecReport
from a3s_desktop.ui.plain import plain_tip
from a3s_desktop.ui.theme import SPACE_2, SPACE_3, SPACE_4, icon_pixmap, tokens
from a3s_desktop.ui.unmatched_choice import UnmatchedChoice

MAX_MESSAGES = 20  # of each kind; more would not be read
_UNSAID = {
    "size": mark(
        "The model does not say what size of images it wants: 224 pixels are taken. Another size can be given under "
        "Advanced."
    ),
    "numbers": mark(
        "The model does not say by which mean and deviation images are to be scaled: those of ImageNet are taken. "
        "Give others under Advanced if it was trained with others."
    ),
}


class CheckPanel(QFrame):
    """Shows the state of the check and asks for confirmation where only the user can know.

    Signals
    -------
    confirmationChanged()
    """

    confirmationChanged = Signal()  # noqa: N815 - Qt's naming

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_4)
        layout.setSpacing(SPACE_3)
        head = QHBoxLayout()
        head.setSpacing(SPACE_2)
        self._symbol = QLabel()
        head.addWidget(self._symbol)
        self.headline = QLabel()
        self.headline.setProperty("role", "heading")
        self.headline.setWordWrap(True)
        self.headline.setAccessibleName(tr("Result of the check"))
        head.addWidget(self.headline, 1)
        layout.addLayout(head)
        self.facts = QLabel()
        self.facts.setProperty("role", "muted")
        self.facts.setWordWrap(True)
        self.facts.setTextFormat(Qt.TextFormat.PlainText)
        layout.addWidget(self.facts)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setAccessibleName(tr("What the check found"))
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.viewport().setAutoFillBackground(False)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_2)
        self._first, self._then = QVBoxLayout(), QVBoxLayout()  # what is in the way; all else
        for blocks in (self._first, self._then):
            blocks.setSpacing(SPACE_2)
        self.unmatched = UnmatchedChoice()  # stays when messages change: it holds a choice, and the focus
        column.addLayout(self._first)
        column.addWidget(self.unmatched)
        column.addLayout(self._then)
        column.addStretch(1)
        self._scroll.setWidget(content)
        content.setAutoFillBackground(False)  # the scroll area has switched it on
        layout.addWidget(self._scroll, 1)
        self._state: tuple[str, str] = ("", "")
        self.confirm = QCheckBox(tr("These rows and images belong together"))
        self.confirm.toggled.connect(self.confirmationChanged)
        self.confirm.hide()
        layout.addWidget(self.confirm)
        self._needs_confirmation = False
        self.messages: list[str] = []
        self.show_waiting(tr("Choose an image folder and a feature file."))

    @property
    def confirmed(self) -> bool:
        """Whether the user has said what had to be said."""
        return not self._needs_confirmation or self.confirm.isChecked()

    def show_waiting(self, text: str) -> None:
        """Nothing to check yet, or the check is running."""
        self._head("clock" if text.endswith("…") else "info", text)
        self.facts.hide()
        self._fill()
        self._ask_confirmation(False)

    def show_failure(self, error: A3SError) -> None:
        """The check itself could not be finished."""
        self._head("warning", tr("This cannot be used yet"))
        self.facts.hide()
        self._fill([_message(error.message, error.hint, "banner-danger")])
        self.messages = [str(error)]
        self._ask_confirmation(False)

    def show_report(self, report: SpecReport) -> None:
        """A finished check.

        Parameters
        ----------
        report : SpecReport
        """
        errors, warnings = list(report.errors), list(report.warnings)
        first: list[QWidget] = [
            _message(error.message, _hint(error), "banner-danger") for error in errors[:MAX_MESSAGES]
        ]
        if len(errors) > MAX_MESSAGES:
            first.append(_message(tr("… and {n} more.", n=number(len(errors) - MAX_MESSAGES)), "", "banner-danger"))
        then: list[QWidget] = [_message(str(warning), "", "banner-warning") for warning in warnings[:MAX_MESSAGES]]
        if report.pairs and report.how != "described":
            then.append(self._pairs(report))
        if errors:
            self._head(
                "warning",
                trn("{n} thing to put right", "{n} things to put right", len(errors)),
            )
        else:
            self._head("check-circle", tr("Everything fits"))
        self.facts.setText(_facts(report))
        self.facts.setVisible(bool(self.facts.text()))
        self._fill(first, then)
        self.unmatched.show_lists(report.rows_without_image, report.images_without_row)
        self.messages = [str(error) for error in errors] + [str(warning) for warning in warnings]
        self._ask_confirmation(not errors and report.how == "sorted")

    def show_outlook(self, text: str, unsaid: Sequence[str]) -> None:
        """Add what was measured after the check, and what the model's file does not say."""
        said = [tr(_UNSAID[name]) for name in unsaid]
        if text:
            self._then.addWidget(_message(text, "", "banner"))
        for sentence in said:
            self._then.addWidget(_message(sentence, "", "banner-warning"))
        self.messages += [text] * bool(text) + said

    def _head(self, symbol: str, text: str) -> None:
        theme = tokens()
        colour = {"check-circle": theme.same, "warning": theme.warning}.get(symbol, theme.muted)
        self._symbol.setPixmap(icon_pixmap(symbol, colour, 22, self.devicePixelRatioF()))
        self._state = (symbol, text)
        self.headline.setText(text)

    def changeEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        """The symbol follows the theme."""
        if event.type() == event.Type.PaletteChange and hasattr(self, "_state") and self._state[0]:
            self._head(*self._state)
        super().changeEvent(event)

    def _ask_confirmation(self, needed: bool) -> None:
        if needed != self._needs_confirmation or not needed:
            self.confirm.setChecked(False)
        self._needs_confirmation = needed
        self.confirm.setVisible(needed)
        self.confirmationChanged.emit()

    def _fill(self, first: Sequence[QWidget] = (), then: Sequence[QWidget] = ()) -> None:
        self.messages = []
        for layout, blocks in ((self._first, first), (self._then, then)):
            while (item := layout.takeAt(0)) is not None:
                item.widget().hide()
                item.widget().deleteLater()
            for block in blocks:
                layout.addWidget(block)

    def _pairs(self, report: SpecReport) -> QWidget:
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        title = QLabel(tr("First and last rows"))
        title.setProperty("role", "muted")
        column.addWidget(title)
        pairs = list(report.pairs)
        table = QTableWidget(len(pairs), 2)
        table.setHorizontalHeaderLabels([tr("Row"), tr("Image")])
        table.verticalHeader().hide()
        table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        table.setShowGrid(False)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        table.setWordWrap(False)
        table.setTextElideMode(Qt.TextElideMode.ElideLeft)
        table.setAccessibleName(tr("First and last rows with their images"))
        table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        for line, pair in enumerate(pairs):
            row, name = int(pair[0]), str(pair[1])
            table.setItem(line, 0, QTableWidgetItem(str(row)))  # from 0, as the messages count
            item = QTableWidgetItem(name)
            item.setToolTip(plain_tip(name))
            table.setItem(line, 1, item)
        line_height = self.fontMetrics().height() + 9
        table.verticalHeader().setDefaultSectionSize(line_height)
        table.setFixedHeight(line_height * len(pairs) + line_height + 8)
        table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column.addWidget(table)
        return box


def _hint(error: A3SError) -> str:
    if isinstance(error, UnmatchedError):
        return tr("Choose below what to do with them, or choose the folder and the features that belong together.")
    return error.hint


def _facts(report: SpecReport) -> str:
    parts = []
    if report.images:
        parts.append(trn("{n} image.", "{n} images.", report.images))
        if report.skipped:
            parts.append(trn("{n} other file is left alone.", "{n} other files are left alone.", report.skipped))
    if report.rows:
        parts.append(
            tr(
                "{rows} rows of {columns} numbers.",
                rows=number(report.rows),
                columns=" + ".join(number(columns) for columns in report.columns),
            )
        )
    how = {
        "order file": tr("Rows are matched by the order file."),
        "names": tr("Rows are matched by the names in the feature file."),
        "sorted": tr("Rows are matched by position: the images in sorted order, the first row first."),
        "described": trn("{n} image will be described.", "{n} images will be described.", len(report.paths)),
    }
    parts.append(how.get(report.how, ""))
    return " ".join(part for part in parts if part)


def _message(text: str, hint: str, role: str) -> QFrame:
    frame = QFrame()
    frame.setProperty("role", role)
    column = QVBoxLayout(frame)
    column.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_2)
    column.setSpacing(2)
    for part, part_role in ((text, ""), (hint, "muted")):
        if part:
            label = QLabel(part)
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            if part_role:
                label.setProperty("role", part_role)
            column.addWidget(label)
    return frame
