"""Texts that come from data, shown as they are: Qt takes a tool tip that looks like markup for markup."""

from __future__ import annotations

import html


def plain_tip(text: str) -> str:
    """A tool tip that shows ``text`` letter by letter, whatever file or cluster name is in it.

    Parameters
    ----------
    text : str
        Lines are kept. An empty text stays empty: no tool tip.
    """
    return f"<span>{html.escape(text)}</span>".replace("\n", "<br>") if text else ""
