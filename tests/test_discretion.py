"""A report has no names in it, whatever they look like and wherever they come from; what helps to find a bug stays."""

from __future__ import annotations

import sqlite3
import traceback
from pathlib import Path

import pytest

from a3s_desktop.actions import by_id
from a3s_desktop.discretion import without_names
from a3s_desktop.logs import describe_crash

NAME = "anna Wale"
FORMS = [
    "{n}.jpg", "{n} 12.jpg", "{n}", "{n}.CR2", "{n}.xmp", "'{n}.jpg'", '"{n}.jpg"', "“{n}”", "„{n}“", "»{n}«",
    "« {n} »", "‘{n}’", "`{n}`", "b'{n}'", "'{n}", "<PIL.ImageFile {n}.jpg>", "({n}.png)", "[{n}]", "x={n}", "x:{n}",
    "#{n}", "~{n}", "/home/{n}/1.jpg", "/home/x/{n}",
    "C:\\Users\\{n}\\1.jpg", "C:/Users/{n}", "\\\\server\\{n}", "//server/{n}",
    "images/{n}/1.jpg", "images\\{n}\\1.jpg", "file:///x/{n}", "/x/it's {n}/1.jpg", "/x: {n}/1.jpg", "/x/(1) {n}/1.jpg",
    "PosixPath('/x/{n}')", "WindowsPath('C:/{n}')", "process 17 on {n}-laptop", "{n}-017.TIFF", "{n}_017", "ä{n}ö",
    "'x\n{n}'", "x\n{n}.jpg", '  File "/home/{n}/a.py", line 3, in {n}', '| File "{n}.py", line 3',
    "The name “{n}” is taken.",
    'x\n  File "/x/a3s_desktop/ui/shell.py", line 3, in {n}\n    {n} = 3\nValueError: {n}',
]  # fmt: skip


def shown(text: str, name: str = NAME) -> list[str]:
    """The parts of the name that can be read in a text."""
    return [part for part in name.split() if part.lower() in text.lower()]


@pytest.mark.parametrize("form", FORMS)
def test_no_form_of_a_name_is_shown(form: str) -> None:
    for name in (NAME, "anna_Wale", "annaWale"):
        text = form.replace("{n}", name)
        for line in (
            text,
            f"ValueError: {text}",
            f"2026-01-01 10:00:00,123 WARNING MainThread a3s_desktop.x: {text}: cut",
        ):
            assert shown(without_names(line)) == [], line


@pytest.mark.parametrize(
    "name", ["IMG_0012", "DSC01234", "20240612_123456", "2024-06-12 17.33.21", "P1010017.RW2", "0123456789"]
)
def test_names_that_a_camera_gives_are_not_shown(name: str) -> None:
    assert name not in without_names(f"KeyError: {name}")


def broken(name: str) -> BaseException:
    """A bug with a name in everything that a traceback shows."""
    image = f"/home/x/{name}.jpg"
    try:
        try:
            try:
                open(image)  # noqa: SIM115
            except OSError as error:
                error.add_note(f"of {name}")
                raise KeyError(name) from error
        except KeyError:
            raise ValueError(f"no place for {name}") from None
    except ValueError as first:
        try:
            raise ExceptionGroup(f"images of {name}", [first, RuntimeError(name)])
        except ExceptionGroup as error:
            return error


def test_chains_notes_and_groups_show_no_name() -> None:
    error = broken(NAME)
    details = describe_crash(type(error), error, error.__traceback__).details
    assert shown(details)
    bare = without_names(details)
    assert shown(bare) == []
    for word in ("ExceptionGroup", "ValueError", "RuntimeError", "Traceback (most recent call last):"):
        assert word in bare


def test_a_chain_keeps_its_kinds_and_places() -> None:
    try:
        try:
            {}[NAME]
        except KeyError as error:
            raise OSError(2, "No such file or directory", f"/x/{NAME}.jpg") from error
    except OSError as error:
        text = "".join(traceback.format_exception(error))
    bare = without_names(text)
    assert shown(bare) == []
    assert "KeyError: '…'" in bare
    assert "The above exception was the direct cause of the following exception:" in bare
    assert "FileNotFoundError: [Errno 2] No such file or directory: '…'" in bare


def test_places_in_code_stay_and_folders_above_it_go() -> None:
    try:
        by_id(17)  # type: ignore[arg-type]
    except TypeError as error:
        text = "".join(traceback.format_exception(error))
    bare = without_names(text)
    here = Path(__file__).parent
    assert f'File "{Path("a3s_desktop", "actions.py")}", line ' in bare
    assert "in by_id" in bare
    assert "return {spec.id: spec for spec in actions}" in bare
    assert "TypeError: 'int' object is not iterable" in bare
    assert str(here) in text
    assert str(here) not in bare


@pytest.mark.parametrize(
    "line",
    [
        "ZeroDivisionError: division by zero",
        "KeyError: 17",
        "IndexError: index 17 is out of bounds for axis 0 with size 3",
        "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
        "RuntimeError: Internal C++ object already deleted.",
        f"{sqlite3.OperationalError.__module__}.OperationalError: database is locked",
        "A3S Desktop 1.2, Python 3.11.7, Linux-6.1.0-x86_64-with-glibc2.36",
        "in thread a3s-decode-1",
        "2026-01-01 10:00:00,123 WARNING MainThread a3s_desktop.logs: The crash could not be shown",
    ],
)
def test_the_programs_own_words_stay(line: str) -> None:
    assert without_names(line) == line
