"""What one backup holds: how it stands to what is there now, its counts, its names, and the last things done."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout

from a3s_desktop.i18n import number, tr, trn
from a3s_desktop.session.restoring import LAST, Preview, Row, Told
from a3s_desktop.ui.dialogs import wrapped
from a3s_desktop.ui.elided_label import ElidedLabel
from a3s_desktop.ui.history_text import when_text
from a3s_desktop.ui.one_line import shortened
from a3s_desktop.ui.theme import SPACE_1, SPACE_3, SPACE_4, SPACE_5, set_role

_NAMES = 8  # that are listed; of the others only the number
_LETTERS = 40  # of a name in the list
_FILE_LETTERS = 20


class BackupPreview(QScrollArea):
    """See the module. Takes the keyboard, so that a long one can be scrolled without a mouse."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "field")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("What the backup holds"))
        card = QFrame()
        card.setProperty("role", "card")
        row = QHBoxLayout(card)
        row.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_3)
        row.setSpacing(SPACE_5)
        left, right = QVBoxLayout(), QVBoxLayout()
        for column in (left, right):
            column.setSpacing(SPACE_1)
        self.headline, self.lost = wrapped("", "heading"), wrapped("", "")
        self.refused, self.counts, self.names = wrapped("", "error"), wrapped("", "muted"), wrapped("", "muted")
        for label in (self.headline, self.lost, self.refused, self.counts, self.names):
            left.addWidget(label)
        left.addStretch(1)
        self._last_heading = QLabel(tr("Last entries"))
        set_role(self._last_heading, role="strong")
        right.addWidget(self._last_heading)
        self.last = [ElidedLabel("muted") for _ in range(LAST)]
        for line in self.last:
            right.addWidget(line)
        right.addStretch(1)
        row.addLayout(left, 1)
        row.addLayout(right, 1)
        self.setWidget(card)

    def show_row(self, row: Row, preview: Preview | None, problem: str) -> None:
        """A backup, with what is known of it by now."""
        self._last_heading.setVisible(preview is not None and not problem)
        for line in self.last:
            line.setVisible(preview is not None and not problem)
        if problem:
            self._say(tr("This backup cannot be restored."), problem)
        elif preview is None:
            self._say(tr("Reading the backup…"))
        else:
            self._show(row, preview)

    def _say(self, headline: str, *more: str) -> None:
        self.headline.setText(headline)
        texts = (*more, "", "", "", "")
        for label, text in zip((self.lost, self.refused, self.counts, self.names), texts, strict=False):
            label.setText(text)
            label.setVisible(bool(text))

    def _show(self, row: Row, preview: Preview) -> None:
        told = row.backup.contents if row.backup is not None else None
        parts = [
            tr("{same} same, {different} different", same=number(preview.same), different=number(preview.different)),
            trn("{n} other entry", "{n} other entries", preview.others),
        ]
        if preview.images:
            parts.append(trn("{n} image", "{n} images", preview.images))
        if told is not None:
            parts.append(trn("{n} cluster", "{n} clusters", told.clusters))
        answers = trn("{n} answer", "{n} answers", preview.answers)
        self._say(
            tr("{answers}, {difference}", answers=answers, difference=preview.difference)
            if preview.difference
            else answers,
            preview.lost,
            preview.refused,
            " · ".join(parts),
            names_text(preview.names),
        )
        lines = [told_text(one) for one in preview.last] or [tr("Nothing was done yet.")]
        for place, line in enumerate(self.last):
            line.set_text(lines[place] if place < len(lines) else "")
            line.setVisible(place < len(lines))


def names_text(names: tuple[str, ...]) -> str:
    """The newest names, and how many more there are; "" for none."""
    if not names:
        return tr("No cluster has a name.")
    shown = ", ".join(f"“{shortened(name, _LETTERS)}”" for name in names[:_NAMES])
    more = len(names) - _NAMES
    if more > 0:
        return trn("Names: {names} and {n} more.", "Names: {names} and {n} more.", more, names=shown)
    return tr("Names: {names}.", names=shown)


def told_text(one: Told) -> str:
    """One of the last entries in a line."""
    when = when_text(one.when)
    if not one.images:
        return tr("{time}  {what}", time=when, what=one.text)
    left, right = (shortened(name, _FILE_LETTERS) for name in one.images)
    return tr("{time}  {what}: {left} and {right}", time=when, what=one.text, left=left, right=right)
