"""Names of files and folders that every system takes, and that never lead anywhere else."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 120
"""Most bytes of a name in UTF-8: every file system takes them, with room for a number."""

_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
_RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])\s*(\..*)?", re.IGNORECASE)


def safe_file_name(text: str) -> str:
    """A name for one file or folder made from any text: no separators, no device, not hidden, not too long."""
    name = unicodedata.normalize("NFC", text)
    # Characters that cannot be seen turn the text around or are halves of others; systems differ in what they take.
    name = "".join("_" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp") else c for c in name)
    name = _FORBIDDEN.sub("_", name).strip().rstrip(". ")
    if name.startswith("."):
        name = "_" + name.lstrip(".")
    if _RESERVED.fullmatch(name):
        name = "_" + name
    return _shortened(name) or "_"


class UniqueNames:
    """Hands out names of which no two are the same on a system that looks at neither case nor composition."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, text: str) -> str:
        """A safe name for ``text``; with a number behind it where the name itself is taken."""
        name = safe_file_name(text)
        stem, ending = _split(name)
        number = 1
        while _key(name) in self._taken:
            number += 1
            name = f"{stem} ({number}){ending}"
        self._taken.add(_key(name))
        return name


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", name).casefold())


def _split(name: str) -> tuple[str, str]:
    stem, dot, ending = name.rpartition(".")
    return (stem, dot + ending) if stem and len(ending) <= 5 else (name, "")


def _shortened(name: str) -> str:
    if len(name.encode()) <= LONGEST:
        return name
    stem, ending = _split(name)
    room = LONGEST - len(ending.encode())
    return stem.encode()[:room].decode(errors="ignore").rstrip(". ") + ending
