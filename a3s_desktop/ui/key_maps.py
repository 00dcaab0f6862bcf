"""Sets of keys as a whole: presets for one hand, files to carry them to another computer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence

from a3s_desktop.actions import ACTIONS, by_id, clashes, effective_keys, normal_key
from a3s_desktop.errors import InputError
from a3s_desktop.i18n import mark, tr, trn
from a3s_desktop.storage.files import atomic_write_text
from a3s_desktop.strict_json import parse_json

Keys = dict[str, tuple[str, ...]]
FORMAT = "a3s-desktop-keys"
VERSION = 1
_LARGEST = 1 << 20  # bytes; a file of keys has two thousand


@dataclass(frozen=True, slots=True)
class Preset:
    """A set of keys: the defaults, but for some actions."""

    name: str
    text: str
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


PRESETS: tuple[Preset, ...] = (
    Preset("both", mark("Both hands")),
    Preset(
        "left",
        mark("Left hand only"),
        {
            "answer.same": ("F",),
            "answer.different": ("D",),
            "answer.incomparable": ("3",),
            "edit.undo": ("W", "Ctrl+Z"),
            "compare.original": ("Shift+W",),
            "view.fit": ("2", "Ctrl+0"),
            "view.zoom_out": ("4", "Ctrl+-"),
            "view.zoom_in": ("5", "Ctrl++"),
            "compare.overlay": ("T",),
            "compare.difference": ("Shift+D",),
            "compare.facts": ("Shift+F",),
        },
    ),
    Preset(
        "right",
        mark("Right hand only"),
        {
            "answer.same": ("J", "Left"),
            "answer.different": ("K", "Right"),
            "answer.junk_left": ("M",),
            "answer.junk_right": (",",),
            "answer.junk_both": (".",),
            "edit.undo": ("U", "Backspace", "Ctrl+Z"),
            "edit.redo": ("Y", "Ctrl+Y"),
            "compare.split": ("7",),
            "compare.difference": ("8",),
            "compare.tones": ("9",),
            "compare.more_contrast": ("Ctrl+Up",),
            "compare.less_contrast": ("Ctrl+Down",),
        },
    ),
)


def preset_keys(name: str) -> Keys:
    """Keys of every action in a preset; what the preset gives to one action, no other keeps.

    Raises `KeyError` for an unknown preset.
    """
    preset = {each.name: each for each in PRESETS}[name]
    keys = effective_keys(preset.keys)
    for shared, actions in clashes(keys).items():
        for action in actions:
            if action not in preset.keys:
                keys[action] = tuple(key for key in keys[action] if normal_key(key) != shared)
    return keys


def matching_preset(keys: Mapping[str, Sequence[str]]) -> str:
    """Name of the preset that these keys are, "" for none."""
    return next((each.name for each in PRESETS if _same(preset_keys(each.name), keys)), "")


def overrides(keys: Mapping[str, Sequence[str]]) -> Keys:
    """Only those actions whose keys are not the defaults, as the settings keep them."""
    defaults = effective_keys({})
    return {name: tuple(keys[name]) for name in defaults if name in keys and tuple(keys[name]) != defaults[name]}


def usable(sequence: str) -> bool:
    """Whether Qt understands a key sequence, and it is one key with its modifiers."""
    parsed = QKeySequence(sequence.strip(), QKeySequence.SequenceFormat.PortableText)
    if parsed.count() != 1:
        return False
    key = parsed[0].key()  # type: ignore[index]  # not in Qt's stubs
    return key not in (Qt.Key.Key_unknown, Qt.Key(0)) and bool(parsed.toString())


def write_keys(path: Path, keys: Mapping[str, Sequence[str]]) -> None:
    """Write the keys of all actions to a JSON file. Raises `StorageFailedError`."""
    content = {"format": FORMAT, "version": VERSION, "keys": {name: list(each) for name, each in keys.items()}}
    atomic_write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def read_keys(path: Path) -> tuple[Keys, tuple[str, ...]]:
    """Read a file of keys.

    Returns
    -------
    keys : dict
        Keys of every action: the file's, and the defaults for actions that it does not name.
    remarks : tuple of str
        Sentences about what in the file could not be used.

    Raises
    ------
    InputError
        The file cannot be read, or is not a file of keys.
    """
    hint = tr("Choose a file that was exported from the keyboard shortcuts of this program.")
    try:
        if path.stat().st_size > _LARGEST:
            raise InputError(tr("{name} is too large to be a file of keys.", name=path.name), hint)
        content = parse_json(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(tr("{path} cannot be read ({reason}).", path=path, reason=reason)) from error
    except ValueError as error:
        raise InputError(
            tr("{name} is not a file of keys: it is not JSON text ({reason}).", name=path.name, reason=error), hint
        ) from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(tr("{name} is not a file of keys.", name=path.name), hint)
    if content.get("version") != VERSION:
        raise InputError(
            tr("{name} was written by another version of the program.", name=path.name),
            tr("Export the keys there again, or set them by hand."),
        )
    return _parsed(content.get("keys"), path.name, hint)


def _parsed(entries: Any, name: str, hint: str) -> tuple[Keys, tuple[str, ...]]:
    if not isinstance(entries, dict):
        raise InputError(tr("{name} holds no keys.", name=name), hint)
    known = by_id()
    found: Keys = {}
    unknown, unusable = 0, []
    for action, keys in entries.items():
        if action not in known:
            unknown += 1
            continue
        if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
            raise InputError(tr("{name}: the keys of “{action}” are not a list of texts.", name=name, action=action))
        unusable += [key for key in keys if not usable(key)]
        found[action] = tuple(dict.fromkeys(key.strip() for key in keys if usable(key)))
    remarks = []
    if unknown:
        remarks.append(
            trn(
                "{n} action of the file is not known here and was left out.",
                "{n} actions of the file are not known here and were left out.",
                unknown,
            )
        )
    if unusable:
        listed = ", ".join(f"“{key[:30]}”" for key in unusable[:5])
        remarks.append(
            trn("This is no key and was left out: {keys}.", "These are no keys and were left out: {keys}.",
                len(unusable), keys=listed)
        )  # fmt: skip
    return effective_keys(found), tuple(remarks)


def _same(first: Mapping[str, Sequence[str]], second: Mapping[str, Sequence[str]]) -> bool:
    return all(
        {normal_key(key) for key in first[spec.id]} == {normal_key(key) for key in second.get(spec.id, ())}
        for spec in ACTIONS
    )
