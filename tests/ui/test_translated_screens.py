"""Every word on every screen comes from the catalogue: shown in a language in which each text wears brackets."""

from __future__ import annotations

import gettext
import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QTableWidget,
    QTabWidget,
    QTreeWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot

from a3s_desktop import i18n
from a3s_desktop.actions import ACTIONS
from tests.ui.pair_project import make_project
from tests.ui.walk import described, running, screens

_WORD = re.compile(r"[A-Za-zÄÖÜäöüß]{3,}")
# Names of files, keys, products and formats are the same in every language.
_SAME = re.compile(
    r"A3S Desktop[^⟦⟧]*offscreen|A3S Desktop|English|Deutsch|\d-\d\.jpg|\bproject\b|Ctrl|Shift|Space|Home|End|"
    r"Pg(Up|Down)|Alt|Esc|Wheel|Backspace|Return|Del(ete)?|\.?(npy|npz|csv|jpg|json)|JSON|/[^⟦⟧]*/[^⟦⟧ ]*"
)


class Brackets(gettext.NullTranslations):
    """Each text in brackets; what only formats numbers and dates stays."""

    def gettext(self, message: str) -> str:
        return f"⟦{message}⟧"

    def ngettext(self, one: str, many: str, n: int) -> str:
        return f"⟦{one if n == 1 else many}⟧"

    def pgettext(self, context: str, message: str) -> str:
        return message if len(message) < 3 or "%" in message else f"⟦{message}⟧"


@pytest.fixture
def brackets() -> Iterator[None]:
    i18n.use("xx", catalogue=Brackets())
    yield
    i18n.use("en")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("words"))


def texts(top: QWidget) -> Iterator[tuple[QWidget, str]]:
    """What a person reads or hears of a screen."""
    for widget in (top, *top.findChildren(QWidget)):
        tip = html.unescape(re.sub(r"</?span>|<br>", " ", widget.toolTip()))  # as it is shown
        found = [tip, widget.statusTip(), widget.accessibleName(), widget.accessibleDescription()]
        if isinstance(widget, QLabel | QAbstractButton):
            found.append(widget.text())
        if isinstance(widget, QLineEdit):
            found.append(widget.placeholderText())
        if isinstance(widget, QComboBox):
            found += [widget.itemText(i) for i in range(widget.count())]
        if isinstance(widget, QTabWidget):
            found += [widget.tabText(i) for i in range(widget.count())]
        if isinstance(widget, QListWidget):
            found += [widget.item(i).text() for i in range(widget.count())]
        if isinstance(widget, QTreeWidget):
            found += [widget.headerItem().text(i) for i in range(widget.columnCount())]
        if isinstance(widget, QTableWidget):
            heads = (widget.horizontalHeaderItem(i) for i in range(widget.columnCount()))
            found += [head.text() for head in heads if head is not None]
        yield from ((widget, text) for text in found if text)


def bare(text: str) -> str:
    """What of a text stands outside of brackets."""
    before = ""
    while before != text:
        before, text = text, re.sub(r"⟦[^⟦⟧]*⟧", " ", text)
    return _SAME.sub("", re.sub(r"⟦[^⟦⟧]*…$", "", text))  # cut off for want of room


def test_every_word_comes_from_the_catalogue(qtbot: QtBot, tmp_path: Path, project: Path, brackets: None) -> None:
    missing, seen = set(), 0
    with running(qtbot, tmp_path, project) as program:
        for spec in ACTIONS:
            action = program.shortcuts.action(spec.id)
            for text in (action.text(), action.toolTip()):
                if _WORD.search(bare(text)):
                    missing.add(f"action {spec.id}: {text}")
        for menu in program.window.menus.values():
            assert "⟦" in menu.title()
        for name, top in screens(program, qtbot):
            if name == "help.contents":
                continue  # its pages are files of each language
            for widget, text in texts(top):
                seen += 1
                if _WORD.search(bare(text)):
                    missing.add(f"{name}: {text!r} in {described(widget)}")
        missing |= {f"status: {w.text()}" for w in program.window.statusBar().findChildren(QLabel) if _plain(w)}
    assert not missing, "\n".join(sorted(missing))
    assert seen > 200


def _plain(label: QLabel) -> bool:
    return bool(_WORD.search(bare(label.text())))
