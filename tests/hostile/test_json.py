"""JSON that says more than numbers and names: every reader refuses it in one sentence that names the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from a3s_desktop.errors import A3SError
from a3s_desktop.session import benchmark_data
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage.items import Items
from a3s_desktop.storage.label_file import load_known_labels
from a3s_desktop.storage.project_file import PROJECT_FILE, read_project_file
from a3s_desktop.storage.tables import load_order
from a3s_desktop.strict_json import parse_json
from a3s_desktop.ui.key_maps import read_keys

PROJECT = json.dumps(
    {
        "format": "a3s-project",
        "version": 1,
        "id": "x",
        "name": "x",
        "images": {"absolute": "/x", "relative": None},
        "features": [{"columns": 4, "sha256": "x"}],
        "initial": {},
        "strategy": {},
    }
)
READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "project": (PROJECT, lambda path: read_project_file(path.parent)),
    "items": ('{"paths": ["a.jpg"], "problems": {}}', lambda path: Items.from_json(path.read_bytes(), path, path)),
    "order": ('["a.jpg", "b.jpg"]', load_order),
    "labels": ('{"a.jpg": "Anna", "b.jpg": "Bert"}', lambda path: load_known_labels(path, ["a.jpg", "b.jpg"])),
    "keys": ('{"format": "a3s-desktop-keys", "version": 1, "keys": {}}', read_keys),
    "data set": (
        '{"name": "x", "labels": "l.npy", "cases": [{"name": "c", "features": ["f.npy"]}]}',
        benchmark_data._description,
    ),
}
ATTACKS: dict[str, Callable[[str], str]] = {
    "not a number": lambda good: good[:-1] + (', "more": NaN}' if good.endswith("}") else ", NaN]"),
    "infinite": lambda good: good[:-1] + (', "more": -Infinity}' if good.endswith("}") else ", Infinity]"),
    "beyond numbers": lambda good: good[:-1] + (', "more": 1e999}' if good.endswith("}") else ", 1e999]"),
    "digits": lambda good: good[:-1] + (', "more": ' if good.endswith("}") else ", ") + "9" * 100_000 + good[-1],
    "deep": lambda good: (
        good[:-1] + (', "more": ' if good.endswith("}") else ", ") + "[" * 99_999 + "]" * 99_999 + good[-1]
    ),
    "twice": lambda good: good[:-1] + ', "twice": 1, "twice": 2}' if good.endswith("}") else '[{"a": 1, "a": 2}]',
    "cut off": lambda good: good[:-2],
    "no text": lambda good: "\x00\x01" + good,
    "another kind": lambda good: "[1, 2]" if good.endswith("}") else '{"a": 1}',
    "only a number": lambda good: "17",
    "nothing": lambda good: "null",
}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("reader", READERS)
def test_it_is_refused_in_one_sentence(tmp_path: Path, reader: str, attack: str) -> None:
    good, read = READERS[reader]
    path = tmp_path / (PROJECT_FILE if reader == "project" else "a.json")
    text = ATTACKS[attack](good)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(A3SError) as caught:
        read(path)
    assert path.name in caught.value.message or str(tmp_path) in caught.value.message
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 600
    assert path.read_text(encoding="utf-8") == text  # nothing is lost


@pytest.mark.parametrize("reader", READERS)
def test_what_is_right_is_read(tmp_path: Path, reader: str) -> None:
    good, read = READERS[reader]
    path = tmp_path / (PROJECT_FILE if reader == "project" else "a.json")
    path.write_text(good, encoding="utf-8")
    assert read(path)


def test_the_key_that_is_there_twice_is_named() -> None:
    with pytest.raises(ValueError, match=r"the key 'a\\u202e' is there twice"):
        parse_json('{"b": [{"a\u202e": 1, "a\u202e": 1}]}')


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", 3),
        ("images", {"absolute": 3}),
        ("images", {"absolute": "/x", "relative": []}),
        ("features", []),
        ("features", [{"columns": "4", "sha256": "x"}]),
        ("features", {"columns": 4}),
        ("initial", {"neighbors": -1}),
        ("initial", {"unknown": 1}),
        ("strategy", {"seed": 1 << 70}),
        ("choices", [1]),
        ("choices", {"include": "*.jpg"}),
        ("choices", {"exclude": [3]}),
        ("epoch", 1 << 40),
        ("epoch", True),
    ],
)
def test_the_field_at_fault_is_named(tmp_path: Path, field: str, value: object) -> None:
    (tmp_path / PROJECT_FILE).write_text(json.dumps({**json.loads(PROJECT), field: value}))
    with pytest.raises(A3SError, match=rf"project\.json': the field .*'{field}'"):
        read_project_file(tmp_path)


@pytest.mark.parametrize("version", [3, 10**30, 1.5, "2", None, -1, [1], {"a": 1}])
def test_a_project_from_the_future_is_politely_refused(tmp_path: Path, version: object) -> None:
    text = json.dumps({**json.loads(PROJECT), "version": version, "new": {"field": 1}})
    (tmp_path / PROJECT_FILE).write_text(text)
    with pytest.raises(A3SError, match="has format version") as caught:
        read_project_file(tmp_path)
    newer = isinstance(version, int) and version > 2
    assert ("Update the program." in caught.value.hint) == newer
    assert (tmp_path / PROJECT_FILE).read_text() == text


@pytest.mark.parametrize("attack", ATTACKS)
def test_settings_never_stop_the_program(tmp_path: Path, attack: str) -> None:
    path = tmp_path / "settings.json"
    text = ATTACKS[attack]('{"theme": "dark", "settle_ms": 50}')
    path.write_text(text, encoding="utf-8")
    store = SettingsStore(path)
    assert store.value.theme in ("dark", "system")
    store.change(blind=False)
    assert SettingsStore(path).value.blind is False
    kept = [file.read_text(encoding="utf-8") for file in tmp_path.iterdir()]
    assert store.value.theme == "dark" or text in kept  # set aside, not lost


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**30, -1, True, None, [], {}, "x" * 100_000])
def test_a_setting_of_the_wrong_kind_is_named(tmp_path: Path, value: object) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"settle_ms": value, "theme": "dark"}))
    store = SettingsStore(path)
    assert store.value.theme == "dark"
    assert store.value.settle_ms == 40
    assert len(store.problems) == 1
    assert "'settle_ms'" in store.problems[0]
