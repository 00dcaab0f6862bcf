"""Catalogues of the translations: collect the texts of the code, keep the ``.po`` files in step, compile them.

    python packaging/translations.py            collect, update every .po, compile every .mo
    python packaging/translations.py --check    change nothing; say what is missing, doubtful or out of step

Needs Babel (``pip install -e .[dev]``); the program itself does not.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the table of actions is asked, installed or not
PACKAGE, LOCALE = ROOT / "a3s_desktop", ROOT / "resources" / "locale"
DOMAIN = "a3s"
KEYWORDS = {"tr": None, "mark": None, "markn": (1, 2), "trn": (1, 2), "trc": ((1, "c"), 2)}
# Headers that would change at each run, or say nothing.
_UNUSED = re.compile(
    rb'"(POT-Creation-Date|PO-Revision-Date|Report-Msgid-Bugs-To|Last-Translator|Language-Team|Generated-By): [^\n]*\n'
)
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_FIELD = re.compile(r"\{(\w*)[^{}]*\}")


def collect() -> Catalog:
    """Every text of the code, with the modules that say it."""
    catalogue = Catalog(project="A3S Desktop", charset="utf-8")
    from a3s_desktop.actions import grouped

    for title, specs in grouped():
        for text in (title, *(text for spec in specs for text in (spec.text, spec.tip, spec.legend))):
            if text:
                catalogue.add(text, locations=[("a3s_desktop/actions.py", None)])
    found = extract_from_dir(PACKAGE, [("**.py", "python")], {}, keywords=KEYWORDS, comment_tags=("Translators:",))
    for name, _line, text, comments, context in found:
        # Modules without line numbers: a moved line is no change of a text.
        catalogue.add(text, locations=[(f"a3s_desktop/{Path(name).as_posix()}", None)], auto_comments=comments,
                      context=context)  # fmt: skip
    return catalogue


def languages() -> list[str]:
    """Codes of the languages that have a catalogue."""
    return sorted(path.parent.parent.name for path in LOCALE.glob(f"*/LC_MESSAGES/{DOMAIN}.po"))


def po_file(language: str) -> Path:
    """The catalogue of a language."""
    return LOCALE / language / "LC_MESSAGES" / f"{DOMAIN}.po"


def read(language: str) -> Catalog:
    """A language's catalogue as it is on disk."""
    with po_file(language).open("rb") as file:
        return read_po(file, locale=language, domain=DOMAIN, charset="utf-8")


def compiled(catalogue: Catalog) -> bytes:
    """The ``.mo`` of a catalogue."""
    catalogue.creation_date = _EPOCH  # the .po names none, and Babel would take the time of the call
    buffer = io.BytesIO()
    write_mo(buffer, catalogue)
    return buffer.getvalue()


def update(language: str, template: Catalog) -> None:
    """Take new texts into a catalogue, drop those that are gone, compile."""
    path = po_file(language)
    catalogue = read(language)
    catalogue.update(template, no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    buffer = io.BytesIO()
    write_po(buffer, catalogue, width=110, sort_output=True, omit_header=False, include_lineno=False)
    text = _UNUSED.sub(b"", buffer.getvalue())
    path.write_bytes(text)
    path.with_suffix(".mo").write_bytes(compiled(read(language)))


def problems(language: str, template: Catalog) -> list[str]:
    """What is wrong with a catalogue: texts missing or empty, left over, or with other fields than the English."""
    catalogue = read(language)
    wrong = []
    for message in template:
        if not message.id:
            continue
        known = catalogue.get(message.id, message.context)
        if known is None or not _strings(known) or not all(_strings(known)):
            wrong.append(f"{language}: not translated: {_first(message)!r}")
            continue
        if known.fuzzy:
            wrong.append(f"{language}: doubtful: {_first(message)!r}")
        if known.pluralizable and len(_strings(known)) != catalogue.num_plurals:
            wrong.append(f"{language}: {len(_strings(known))} plural forms: {_first(message)!r}")
        wrong += _fields_differ(language, known)
    wrong += [
        f"{language}: left over: {_first(message)!r}"
        for message in catalogue
        if message.id and template.get(message.id, message.context) is None
    ]
    mo = po_file(language).with_suffix(".mo")
    if not mo.is_file() or mo.read_bytes() != compiled(catalogue):
        wrong.append(f"{language}: {mo.name} is older than {mo.stem}.po; run python packaging/translations.py")
    return wrong


def _fields_differ(language: str, message: Message) -> list[str]:
    originals = message.id if isinstance(message.id, (list, tuple)) else (message.id,)
    allowed = [set(_FIELD.findall(text)) for text in originals]
    everywhere = set.union(*allowed)
    wrong = []
    for i, text in enumerate(_strings(message)):
        wanted = allowed[min(i, len(allowed) - 1)]
        fields = set(_FIELD.findall(text))
        # A singular may say "one" where English writes the number, and the other way round.
        if fields - everywhere or (wanted - {"n"}) - fields or (i > 0 and wanted - fields):
            wrong.append(f"{language}: fields differ: {text!r}")
    return wrong


def _strings(message: Message) -> tuple[str, ...]:
    return tuple(message.string) if isinstance(message.string, (list, tuple)) else (message.string or "",)


def _first(message: Message) -> str:
    return message.id[0] if isinstance(message.id, (list, tuple)) else str(message.id)


def main(arguments: list[str] | None = None) -> int:
    """Update, or check."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing, say what is wrong")
    options = parser.parse_args(arguments)
    template = collect()
    if not options.check:
        for language in languages():
            update(language, template)
    wrong = [problem for language in languages() for problem in problems(language, template)]
    print("\n".join(wrong) if wrong else f"{len(template)} texts, complete in: en, {', '.join(languages())}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
