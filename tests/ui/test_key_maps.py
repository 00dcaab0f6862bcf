"""Presets that clash with nothing, and files of keys that are read strictly but never crash."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.actions import ACTIONS, clashes, effective_keys
from a3s_desktop.errors import A3SError, InputError
from a3s_desktop.ui.key_maps import (
    FORMAT,
    PRESETS,
    VERSION,
    matching_preset,
    overrides,
    preset_keys,
    read_keys,
    usable,
    write_keys,
)

LEFT_HAND = set("QWERTASDFGZXCVB12345") | {"Space"}
RIGHT_HAND = set("YUIOPHJKLNM67890,.") | {"Space", "Left", "Right", "Up", "Down", "Backspace"}


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_a_preset_clashes_with_nothing_and_is_recognised(preset) -> None:  # type: ignore[no-untyped-def]
    keys = preset_keys(preset.name)
    assert clashes(keys) == {}
    assert matching_preset(keys) == preset.name
    defaults = effective_keys({})
    assert [action for action, given in keys.items() if defaults[action] and not given] == [], "lost its only key"


@pytest.mark.parametrize(("name", "hand"), [("left", LEFT_HAND), ("right", RIGHT_HAND)])
def test_one_hand_can_give_every_answer_and_take_it_back(name: str, hand: set[str]) -> None:
    keys = preset_keys(name)
    needed = [spec.id for spec in ACTIONS if spec.id.startswith("answer.") or spec.id in ("edit.undo", "edit.redo")]
    for action in needed:
        assert {key.split("+")[-1] for key in keys[action]} & hand, f"{action} is out of reach: {keys[action]}"


def test_defaults_are_usable_keys() -> None:
    assert all(usable(key) for keys in effective_keys({}).values() for key in keys)
    assert not usable("no such key")
    assert not usable("")
    assert not usable("Ctrl+K, Ctrl+B"), "one key, not a sequence"


def test_written_and_read_again(tmp_path: Path) -> None:
    keys = effective_keys({"answer.same": ("S", "?"), "answer.skip": ()})
    write_keys(tmp_path / "keys.json", keys)
    assert read_keys(tmp_path / "keys.json") == (keys, ())
    assert overrides(keys) == {"answer.same": ("S", "?"), "answer.skip": ()}


def test_what_cannot_be_used_is_said(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    entries = {"answer.same": ["G", "no such key"], "answer.of_a_later_version": ["H"]}
    path.write_text(json.dumps({"format": FORMAT, "version": VERSION, "keys": entries}))
    keys, remarks = read_keys(path)
    assert keys["answer.same"] == ("G",)
    assert keys["answer.different"] == ("J", "Right"), "not named: the default"
    assert "1 action" in remarks[0]
    assert "no such key" in remarks[1]


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\xff\xfe\x00", b"[1, 2]", b"{", b'{"format": "other"}', b"[" * 100_000,
        json.dumps({"format": FORMAT, "version": 99, "keys": {}}).encode(),
        json.dumps({"format": FORMAT, "version": VERSION}).encode(),
        json.dumps({"format": FORMAT, "version": VERSION, "keys": {"answer.same": "F"}}).encode(),
        json.dumps({"format": FORMAT, "version": VERSION, "keys": {"answer.same": [1]}}).encode(),
        b" " * ((1 << 20) + 1),
    ],
)  # fmt: skip
def test_a_bad_file_gives_a_sentence_with_its_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "keys.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"keys\.json"):
        read_keys(path)


def test_a_missing_file_and_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read_keys(tmp_path / "none.json")
    with pytest.raises(A3SError):
        write_keys(tmp_path / "none" / "keys.json", effective_keys({}))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


@given(ANYTHING)
def test_anything_as_keys_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, keys: object) -> None:
    path = tmp_path_factory.mktemp("keys") / "keys.json"
    path.write_text(json.dumps({"format": FORMAT, "version": VERSION, "keys": keys}))
    try:
        found, _ = read_keys(path)
    except InputError:
        return
    assert set(found) == {spec.id for spec in ACTIONS}
