"""What a merge will make of two clusters, in numbers and pictures, before it is done."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from a3s_desktop.i18n import number, tr, trn
from a3s_desktop.ui.cluster_rows import Row
from a3s_desktop.ui.image_loader import NEXT, ImageLoader
from a3s_desktop.ui.pictures import Pictures
from a3s_desktop.ui.theme import SPACE_2, SPACE_3, SPACE_4, SPACE_5, scaled_font, set_role
from a3s_desktop.ui.thumbnails import ViewItems

FACES = 4
_SIDE = 116


class Faces(QWidget):
    """Some images of a cluster in a row."""

    def __init__(self, loader: ImageLoader, items: ViewItems, faces: tuple[int, ...], group: str) -> None:
        super().__init__()
        self._faces = faces
        self._pictures = Pictures(loader, group, self, NEXT)
        self._pictures.items = items
        self._pictures.changed.connect(self.update)
        self.setFixedHeight(_SIDE)
        self.setMinimumWidth(FACES * (_SIDE + SPACE_2) - SPACE_2)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        for k, item in enumerate(self._faces):
            self._pictures.draw(painter, QRect(k * (_SIDE + SPACE_2), 0, _SIDE, _SIDE), item)
        painter.end()

    def sizeHint(self) -> QSize:
        return QSize(FACES * (_SIDE + SPACE_2) - SPACE_2, _SIDE)


class MergePreview(QDialog):
    """See the module. Return merges, Escape does not.

    Signals
    -------
    agreed()
        The two are to be merged.
    """

    agreed = Signal()
    ROOM = 300  # pixels for a name

    def __init__(
        self,
        parent: QWidget | None,
        loader: ImageLoader,
        items: ViewItems,
        sides: tuple[tuple[Row, tuple[int, ...]], tuple[Row, tuple[int, ...]]],
        remark: str = "",
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(tr("Merge clusters"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACE_5, SPACE_5, SPACE_5, SPACE_4)
        layout.setSpacing(SPACE_3)
        (first, _), (second, _) = sides
        self.sum = QLabel(
            tr("{first} + {second} → {total} images", first=number(first.size), second=number(second.size),
               total=number(first.size + second.size))
        )  # fmt: skip
        set_role(self.sum, role="title")
        layout.addWidget(self.sum)
        for side, (row, faces) in enumerate(sides):
            # The name is cut, not the size behind it.
            name = QFontMetrics(scaled_font("base", bold=True)).elidedText(
                row.title, Qt.TextElideMode.ElideMiddle, self.ROOM
            )
            title = QLabel(f"{name}  ·  {row.facts}")
            title.setTextFormat(Qt.TextFormat.PlainText)
            set_role(title, role="strong")
            layout.addWidget(title)
            layout.addWidget(Faces(loader, items, faces, f"merge preview {side}"))
        names = [row.name for row, _ in sides if row.name]
        text = remark or (
            tr("Both have a name: the newer name stays. Undo brings both back.") if len(names) > 1 else ""
        )
        self.remark = QLabel(text)
        self.remark.setTextFormat(Qt.TextFormat.PlainText)
        self.remark.setWordWrap(True)
        self.remark.setVisible(bool(text))
        set_role(self.remark, role="muted")
        layout.addWidget(self.remark)
        self.merge_button = QPushButton(trn("Merge {n} image", "Merge {n} images", first.size + second.size))
        set_role(self.merge_button, kind="primary")
        self.merge_button.setDefault(True)
        self.merge_button.clicked.connect(self._agree)
        cancel = QPushButton(tr("Cancel"))
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(self.merge_button)
        layout.addLayout(buttons)
        self.merge_button.setFocus()

    @Slot()
    def _agree(self) -> None:
        self.accept()
        self.agreed.emit()
