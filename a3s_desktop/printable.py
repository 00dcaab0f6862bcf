"""Text from data, for logs and terminals: what would act there instead of being read is escaped."""

from __future__ import annotations

import unicodedata

_ACTING = ("Cc", "Cs", "Zl", "Zp")  # control characters, halves of characters, breaks of lines and paragraphs
# Marks, embeddings, overrides and isolates that turn the direction of what follows: a name could show backwards.
_TURNING = frozenset((0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)))


def escaped(text: str, lines: bool = False) -> str:
    """``text`` without control characters, breaks and turns of direction: they show as ``\\x1b``, ``\\n``, ``\\u202e``.

    Parameters
    ----------
    text : str
    lines : bool
        Whether line feeds and tabs stay: in a text of several lines.
    """
    if text.isprintable():
        return text
    return "".join(
        c
        if (lines and c in "\n\t") or not (unicodedata.category(c) in _ACTING or ord(c) in _TURNING)
        else c.encode("unicode_escape").decode("ascii")
        for c in text
    )
