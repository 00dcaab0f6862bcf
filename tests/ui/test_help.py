"""The help: every page in every language, keys as they are now, links and search that lead somewhere, by keyboard."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from a3s_desktop import i18n
from a3s_desktop.actions import ACTIONS
from a3s_desktop.resources import resource
from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.help_text import PAGES, known_actions, pages
from a3s_desktop.ui.help_window import HelpWindow
from a3s_desktop.ui.shortcuts import Shortcuts


@pytest.fixture(params=list(i18n.LANGUAGES))
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    i18n.use(request.param, resource("locale"))
    yield request.param
    i18n.use("en")


@pytest.fixture
def shortcuts(qtbot: QtBot) -> Shortcuts:
    return Shortcuts(SettingsStore())


@pytest.fixture
def window(qtbot: QtBot, shortcuts: Shortcuts) -> Iterator[HelpWindow]:
    window = HelpWindow(shortcuts)
    window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(window)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    yield window
    shortcuts.deleteLater()


def test_pages_name_only_actions_and_pages_that_exist(language: str) -> None:
    for page in pages():
        _named, unknown = known_actions(page)
        assert not unknown, (page.name, unknown)
        assert set(re.findall(r"\]\(([\w-]+)\)", page.source)) <= set(PAGES)
        assert page.title


def test_languages_have_the_same_pages_with_the_same_parts(language: str) -> None:
    for name in PAGES:
        english = resource("help", "en", f"{name}.md").read_text(encoding="utf-8")
        other = resource("help", language, f"{name}.md").read_text(encoding="utf-8")
        for part in (r"^## ", r"^- ", r"^\d+\. ", r"\{[^}]+\}", r"\]\([\w-]+\)", r"\*\*"):
            ours, theirs = (re.findall(part, text, re.M) for text in (english, other))
            assert sorted(ours) == sorted(theirs), (name, part)


def test_every_page_is_shown_without_mark_up(language: str, window: HelpWindow) -> None:
    for row in range(window.index.count()):
        window.index.setCurrentRow(row)
        text = window.browser.toPlainText()
        assert len(text) > 200
        assert not re.search(r"[{}]|\*\*|^#|\]\(", text, re.M), text


def test_the_page_of_keys_is_made_from_the_live_table(window: HelpWindow, shortcuts: Shortcuts, qtbot: QtBot) -> None:
    window.show_page("keys")
    text = window.browser.toPlainText()
    for spec in ACTIONS:
        if spec.keys:
            assert spec.text.rstrip("…") in text
    shortcuts._settings.change(keys={"answer.same": ("F12",)})
    shortcuts.rebind()
    assert "F12" in window.browser.toPlainText()


def test_search_shows_the_pages_that_have_the_words(window: HelpWindow) -> None:
    window.search.setFocus()
    QTest.keyClicks(window.search, "relative to the image folder")
    shown = [row for row in range(window.index.count()) if not window.index.item(row).isHidden()]
    assert [window.index.item(row).data(Qt.ItemDataRole.UserRole) for row in shown] == ["export"]
    assert window.page == "export"
    assert window.browser.textCursor().selectedText() == "relative to the image folder"
    window.search.setText("no such words anywhere")
    assert window.nothing.isVisible()
    window.search.clear()
    assert not any(window.index.item(row).isHidden() for row in range(window.index.count()))


def test_links_lead_to_their_page(window: HelpWindow) -> None:
    window.show_page("first-steps")
    window._on_link(QUrl("answers"))
    assert window.page == "answers"


def test_escape_closes(window: HelpWindow) -> None:
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert not window.isVisible()
