"""Names for files: every system takes them, no two meet, none leads anywhere."""

from __future__ import annotations

import warnings
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.storage.exports.safe_names import LONGEST, UniqueNames, safe_file_name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Anna", "Anna"),
        ("../../etc/passwd", "__.._etc_passwd"),
        ("..", "_"),
        (".", "_"),
        ("", "_"),
        (".hidden", "_hidden"),
        ("/abs", "_abs"),
        ("C:\\x", "C__x"),
        ("con", "_con"),
        ("NUL.txt", "_NUL.txt"),
        ("lpt¹", "_lpt¹"),
        ("console", "console"),
        ("dot. . ", "dot"),
        ("a\u202egpj.exe", "a_gpj.exe"),
        ("a\0b", "a_b"),
        ("A\u0308nne", "\u00c4nne"),
        ("raw\udcff.jpg", "raw_.jpg"),
        ("\U0001f41e", "\U0001f41e"),
    ],
)
def test_names_become_safe(text: str, name: str) -> None:
    assert safe_file_name(text) == name


@given(st.text(max_size=200))
def test_any_text_becomes_one_part_of_a_path(text: str) -> None:
    name = safe_file_name(text)
    assert 0 < len(name.encode()) <= LONGEST
    assert PurePosixPath(name).parts == (name,)
    windows = PureWindowsPath(name)
    assert windows.parts == (name,)
    assert not windows.drive
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the newer function is not in every Python
        assert not windows.is_reserved()
    assert name not in (".", "..")
    assert not name.endswith((".", " "))


def test_no_two_names_meet_where_case_and_composition_do_not_count() -> None:
    names = UniqueNames()
    taken = [names.take(text) for text in ("x.jpg", "X.JPG", "x.jpg", "\u00e9", "e\u0301", "a" * 300, "a" * 301)]
    assert taken[:5] == ["x.jpg", "X (2).JPG", "x (3).jpg", "\u00e9", "\u00e9 (2)"]
    assert len({name.casefold() for name in taken}) == 7
