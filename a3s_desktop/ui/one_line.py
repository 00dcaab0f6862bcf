"""Texts brought to one line that can be shown."""

from __future__ import annotations

LONGEST = 26
"""Letters of a text where nothing else is asked for."""


def shortened(text: str, letters: int = LONGEST) -> str:
    """One line without characters that cannot be shown, at most so many letters."""
    clean = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return clean if len(clean) <= letters else f"{clean[: letters - 1]}…"
