"""Names that would forge lines of the log, or act in a terminal."""

from __future__ import annotations

import io
import logging
import re
import sys
from pathlib import Path

import pytest

from a3s_desktop.cli import main
from a3s_desktop.cli.terminal import Console
from a3s_desktop.logs import start_logging
from a3s_desktop.printable import escaped

NASTY = "a\x1b[2J\x1b]0;title\x07\r\n2026-01-01 00:00:00,000 CRITICAL forged\x9b31m\u202egpj.b\u2066\u2028c\0"
ACTING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def test_the_log_has_one_line_for_an_entry(tmp_path: Path) -> None:
    log = start_logging(tmp_path)
    try:
        logger = logging.getLogger("a3s_desktop.hostile")
        logger.warning("cannot read %s", NASTY)
        try:
            raise ValueError(f"{NASTY}\n2026-01-01 00:00:00,000 CRITICAL forged")
        except ValueError:
            logger.exception("broken by %s", NASTY)
    finally:
        log.close()
    text = (tmp_path / "a3s-desktop.log").read_text(encoding="utf-8")
    assert not ACTING.search(text)
    assert len(re.findall(r"^\d{4}-\d\d-\d\d ", text, re.MULTILINE)) == 3  # the start, the warning, the exception
    assert "a\\x1b[2J\\x1b]0;title\\x07\\r\\n2026" in text
    assert "\\u202egpj.b" in text


def test_the_terminal_gets_text_only(capsys: pytest.CaptureFixture[str]) -> None:
    with Console() as console:
        for say in (console.say, console.complain, console.note, console.tell):
            say(NASTY)
    said = "".join(capsys.readouterr())
    assert not ACTING.search(said)
    assert said.count("\\x1b[2J") == 4


@pytest.mark.skipif(sys.platform == "win32", reason="such names cannot be there")
@pytest.mark.parametrize("command", [["info"], ["check"], ["export", "--out", "x.csv"]])
def test_no_command_acts_on_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    project = tmp_path / NASTY.replace("\0", "").replace("/", "")
    project.mkdir()
    (project / "project.json").write_text('{"format": "a3s-project", "version": "\\u001b[2J", "name": "x"}')
    assert main([command[0], str(project), *command[1:]]) != 0
    said = "".join(capsys.readouterr())
    assert said
    assert not ACTING.search(said)


@pytest.mark.parametrize("text", ["Größe 5 µm", "Zoë 🐞 👨‍👩‍👧", "ภาษาไทย", "שלום", "a‌b"])
def test_ordinary_text_of_any_script_stays(text: str) -> None:
    assert escaped(text) == text


def test_a_text_of_several_lines_keeps_them() -> None:
    assert escaped("a\n\tb\r\x1b", lines=True) == "a\n\tb\\r\\x1b"
    assert escaped("a\nb") == "a\\nb"
    memory = io.StringIO()
    memory.write(escaped("\ud800"))
    assert memory.getvalue() == "\\ud800"
