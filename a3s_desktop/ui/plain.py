"""Texts that come from data, shown as they are: Qt takes a tool tip that looks like markup for markup."""

from __future__ import annotations

import html

from a3s_desktop.printable import escaped


def no_key(text: str) -> str:
    """A text for an action, button, menu or tab, which take an ``&`` for the sign of a key."""
    return text.replace("&", "&&")


def key_off(text: str) -> str:
    """The text of an action as it is read."""
    return text.replace("&&", "&")


def plain_tip(text: str) -> str:
    """A tool tip that shows ``text`` letter by letter, whatever file or cluster name is in it.

    Parameters
    ----------
    text : str
        Lines are kept. An empty text stays empty: no tool tip.
    """
    return f"<span>{html.escape(escaped(text, lines=True))}</span>".replace("\n", "<br>") if text else ""
