"""The program's language: every text that a person reads goes through `tr` and its kin.

The text in the code is English and is the key of the catalogue (``resources/locale/<language>/LC_MESSAGES/a3s.mo``,
made from the ``.po`` beside it by ``packaging/translations.py``)::

    tr("Open project…")                                             plain
    tr("Will be made: {folder}", folder=path)                       with values; never an f-string
    trn("{n} image", "{n} images", count)                           plural; {n} is the count, written as people write it
    trc("key on the keyboard", "Space")                             context, where one English word has two meanings
    mark("Merge")                                                   in a constant: marks now, `tr(constant)` when shown

The language is chosen once, before the window is built (`use`); another choice applies at the next start. Texts that
are stored (the journal, project files) or compared are never translated ones. Modules without Qt use the same
functions. Numbers inside texts: `number`, `decimal`, `percent`.
"""

from __future__ import annotations

import gettext
import locale
import os
import struct
from pathlib import Path
from typing import Final

DOMAIN: Final = "a3s"
LANGUAGES: Final = {"en": "English", "de": "Deutsch"}  # each by its own name
_CONTEXT = "\x04"  # as GNU gettext joins context and text


class _Language:
    """What is in force. One for the process, as the system's own language is; set before any window exists."""

    code = "en"
    catalogue: gettext.NullTranslations = gettext.NullTranslations()


def use(code: str, folder: Path | None = None, catalogue: gettext.NullTranslations | None = None) -> str:
    """Choose the language of the process.

    Parameters
    ----------
    code : str
        Of `LANGUAGES`; anything else means English, the language of the code.
    folder : Path, optional
        Where the catalogues are (``resources/locale``).
    catalogue : gettext.NullTranslations, optional
        To be used instead of the file's (tests).

    Returns
    -------
    str
        The language now in force: English where the catalogue is missing or damaged.
    """
    chosen = catalogue
    if chosen is None and code in LANGUAGES and code != "en" and folder is not None:
        try:
            chosen = gettext.translation(DOMAIN, folder, [code])
        except (OSError, ValueError, LookupError, struct.error):  # missing, or damaged in one way or another
            chosen = None
    _Language.catalogue = chosen or gettext.NullTranslations()
    _Language.code = code if chosen is not None else "en"
    return _Language.code


def language() -> str:
    """Code of the language in force."""
    return _Language.code


def preferred(setting: str, system: str = "") -> str:
    """The language to use: the setting, or for "system" the system's where the program speaks it, else English.

    Parameters
    ----------
    setting : str
        "system" or a code.
    system : str
        The system's language ("de_DE", "de"); empty: found out from the environment.
    """
    if setting in LANGUAGES:
        return setting
    code = (system or _system()).replace("-", "_").split("_")[0].split(".")[0].lower()
    return code if code in LANGUAGES else "en"


def _system() -> str:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if os.environ.get(name):
            return os.environ[name]
    return locale.getlocale()[0] or ""


def mark(text: str) -> str:
    """Mark a text of a constant for translation; it is translated by `tr` where it is shown."""
    return text


def markn(one: str, many: str) -> tuple[str, str]:
    """Mark a text that depends on a count, for ``trn(*texts, count)`` where it is shown."""
    return one, many


def tr(text: str, **values: object) -> str:
    """A text in the language in force, with ``{name}`` filled in from ``values``."""
    translated = _Language.catalogue.gettext(text) if text else ""
    return _filled(translated, text, values) if values else translated


def trn(one: str, many: str, n: int, **values: object) -> str:
    """A text that depends on a count, by the plural rules of the language; ``{n}`` is the count, written out."""
    translated = _Language.catalogue.ngettext(one, many, n)
    return _filled(translated, one if n == 1 else many, {"n": number(n), **values})


def trc(context: str, text: str, **values: object) -> str:
    """A text whose English is ambiguous; ``context`` tells the translator (and the catalogue) which is meant."""
    translated = _Language.catalogue.pgettext(context, text)
    return _filled(translated, text, values) if values else translated


def number(value: int) -> str:
    """A whole number with the language's thousands separator."""
    return f"{value:,}".replace(",", trc("thousands separator", ","))


def decimal(value: float, digits: int = 1) -> str:
    """A number with a fixed count of decimals."""
    whole, _, rest = f"{value:,.{digits}f}".partition(".")
    text, point = whole.replace(",", trc("thousands separator", ",")), trc("decimal point", ".")
    return f"{text}{point}{rest}" if rest else text


def percent(share: float, digits: int = 0) -> str:
    """A share of one as a percentage."""
    return trc("percentage", "{value}%", value=decimal(share * 100, digits))


def _filled(translated: str, original: str, values: dict[str, object]) -> str:
    try:
        return translated.format(**values)
    except (KeyError, IndexError, ValueError):  # a catalogue with a slip must not cost an answer
        return original.format(**values)
