"""The catalogues are complete and in step, nothing shown goes past them, and a bad one cannot stop the program."""

from __future__ import annotations

import gettext
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from a3s_desktop import i18n
from a3s_desktop.i18n import decimal, number, percent, preferred, tr, trc, trn
from a3s_desktop.resources import resource
from tests.untranslated import modules, untranslated

pytest.importorskip("babel", reason="the catalogues are checked by Babel")
ROOT = Path(__file__).resolve().parent.parent
OTHERS = [code for code in i18n.LANGUAGES if code != "en"]


@pytest.fixture
def german() -> Iterator[None]:
    assert i18n.use("de", resource("locale")) == "de"
    yield
    i18n.use("en")


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("translations", ROOT / "packaging" / "translations.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["translations"] = module
    spec.loader.exec_module(module)
    return module


def test_no_text_goes_past_the_catalogue() -> None:
    found = [each for name, path in modules() for each in untranslated(name, path.read_text(encoding="utf-8"))]
    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalogue_has_every_text_with_the_same_fields(tool: ModuleType, language: str) -> None:
    problems = tool.problems(language, tool.collect())
    assert not problems, "\n".join(problems)


def test_what_the_finder_finds() -> None:
    source = '''
class Page:
    """A doc string is read by programmers only."""
    def build(self, count):
        self.a.setText("Open")
        self.b.setToolTip(f"{count} files")
        raise InputError("The file is empty.")
    def well(self, count):
        self.a.setText(tr("Open"))
        log.warning("not stored in %s", count)
        self.setObjectName("dock.map and more")
        raise ValueError("for the programmer")
'''
    assert [each.text for each in untranslated("ui/page.py", source)] == ["Open", " files", "The file is empty."]


def test_the_tool_finds_what_is_wrong(tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "de" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "a3s.po").write_text(
        'msgid ""\nmsgstr ""\n"Language: de\\n"\n"Content-Type: text/plain; charset=utf-8\\n"\n'
        '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
        'msgid "Undo"\nmsgstr ""\n\nmsgid "no longer said"\nmsgstr "x"\n\n'
        'msgid "{n} image"\nmsgid_plural "{n} images"\nmsgstr[0] "{n} Bild"\nmsgstr[1] "{count} Bilder"\n',
        encoding="utf-8",
    )
    monkeypatch.setattr(tool, "LOCALE", tmp_path)
    text = "\n".join(tool.problems("de", tool.collect()))
    assert "not translated: 'Undo'" in text
    assert "left over: 'no longer said'" in text
    assert "fields differ: '{count} Bilder'" in text
    assert "a3s.mo is older" in text


def test_german(german: None) -> None:
    assert tr("Undo") == "Rückgängig"
    assert tr("Will be made: {folder}", folder="x/{y}") == "Wird angelegt: x/{y}"
    assert [trn("{n} image", "{n} images", n) for n in (0, 1, 2, 12345)] == [
        "0 Bilder", "1 Bild", "2 Bilder", "12.345 Bilder",
    ]  # fmt: skip
    assert (number(-1234567), decimal(1234.56, 1), percent(0.125, 1)) == ("-1.234.567", "1.234,6", "12,5 %")


def test_english_is_the_code_s_own() -> None:
    assert i18n.use("en") == "en"
    assert tr("Will be made: {folder}", folder="x") == "Will be made: x"
    assert [trn("{n} image", "{n} images", n) for n in (0, 1, 2345)] == ["0 images", "1 image", "2,345 images"]
    assert (number(1234), decimal(0.5, 2), percent(0.987)) == ("1,234", "0.50", "99%")
    assert tr("") == ""


@pytest.mark.parametrize(
    ("setting", "system", "language"),
    [
        ("system", "de_AT", "de"), ("system", "de", "de"), ("system", "DE-ch", "de"), ("system", "fr_FR", "en"),
        ("system", "C.UTF-8", "en"), ("en", "de_DE", "en"), ("de", "en_GB", "de"), ("xx", "de_DE", "de"),
    ],
)  # fmt: skip
def test_the_language_is_the_setting_s_or_the_system_s(setting: str, system: str, language: str) -> None:
    assert preferred(setting, system) == language


@pytest.mark.parametrize("content", [None, b"", b"not a catalogue", b"\xde\x12\x04\x95\xff\xff\xff\xff"])
def test_a_missing_or_damaged_catalogue_means_english(tmp_path: Path, content: bytes | None) -> None:
    folder = tmp_path / "de" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    if content is not None:
        (folder / "a3s.mo").write_bytes(content)
    assert i18n.use("de", tmp_path) == "en"
    assert tr("Undo") == "Undo"


def test_a_slip_in_a_catalogue_costs_no_answer() -> None:
    class Slip(gettext.NullTranslations):
        def gettext(self, message: str) -> str:
            return "{nothing of this name}"

        def ngettext(self, one: str, many: str, n: int) -> str:
            return "{0} {"

    i18n.use("xx", catalogue=Slip())
    try:
        assert tr("Opening {name}", name="seals") == "Opening seals"
        assert trn("{n} image", "{n} images", 3) == "3 images"
        assert trc("thousands separator", ",") == ","
    finally:
        i18n.use("en")
