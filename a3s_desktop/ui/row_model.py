"""A list model whose number of rows Qt knows itself.

A view that lays its rows out asks for every index, and ``QAbstractListModel`` asks ``rowCount`` for each of them. In
Python that took 160 ms for 50,000 rows, at every answer; rows that are kept by Qt take 5. What a row holds is still
asked of Python, and only for rows in sight.
"""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QStringListModel, Qt


class RowModel(QStringListModel):
    """Rows without content of their own; a subclass gives ``data`` and must not give ``rowCount``.

    `replace_rows` goes between ``beginResetModel`` and ``endResetModel``.
    """

    def replace_rows(self, count: int) -> None:
        """Have so many rows; the reset that this is a part of is what views hear of it."""
        more = count - self.rowCount()
        before = self.blockSignals(True)
        if more > 0:  # at the beginning, where Qt has room ready
            self.insertRows(0, more)
        elif more < 0:
            self.removeRows(0, -more)
        self.blockSignals(before)

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """Rows can be chosen, not edited."""
        flag = Qt.ItemFlag
        return flag.ItemIsEnabled | flag.ItemIsSelectable if index.isValid() else flag.NoItemFlags

    def supportedDropActions(self) -> Qt.DropAction:
        """What is dragged away stays here, too."""
        return Qt.DropAction.CopyAction
