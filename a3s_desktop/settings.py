"""The user's settings: a typed, versioned schema in one JSON file, read leniently and written atomically.

A settings file can never stop the program: an unreadable file is set aside, a wrong value falls back to its default,
and both are said in ``SettingsStore.problems``. Fields that this version does not know are carried along unchanged,
so that going back and forth between two versions loses nothing.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from a3s_desktop.actions import ACTIONS, effective_keys
from a3s_desktop.i18n import LANGUAGES, tr
from a3s_desktop.printable import escaped

VERSION = 1
MAX_RECENT = 12
LONGEST_NAME = 60  # characters of an annotator's name
THEMES = ("system", "light", "dark", "contrast")
TEXT_SIZES = (100, 115, 130, 150)  # per cent of the system's

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, with defaults that suit most people.

    Attributes
    ----------
    theme : str
        "system", "light", "dark" or "contrast" (high contrast).
    text_size : int
        Size of all text in per cent of the system's; one of `TEXT_SIZES`.
    language : str
        "system" or a code of `i18n.LANGUAGES`; applies at the next start.
    tour_done : bool
        The first-run tour was seen to its end or skipped.
    blind : bool
        Hide probabilities and suggestions on the pair page.
    linked : bool
        Zoom and move both images of a pair together.
    legend : bool
        Show the list of keys on the pair page.
    confirm_from : int
        From how many images that an answer or a correction moves on it has to be confirmed; 0: never. 0 .. 1,000,000.
    settle_ms : int
        Milliseconds that a pair must have been on screen before a key counts; catches double taps. 0 .. 2000.
    image_cache_mb : int
        Memory for decoded images, in MB. 64 .. 8192.
    thumbnail_cache_mb : int
        Disk for small copies of images, of all projects together, in MB; 0: none are kept. 0 .. 100,000.
    keys : mapping of action id to key sequences
        Only the actions whose keys the user changed.
    recent : tuple of str
        Project folders, the newest first.
    forgotten : int
        How often the recent projects were forgotten: a window that learns of it in the file forgets its own, too.
    last_folder : str
        Where file dialogs start.
    annotator : str
        Who gives the answers, kept with each of them; empty: nobody's name is kept.
    window_geometry, window_state : str
        Base64 of what Qt saves of the main window.
    """

    theme: str = "system"
    text_size: int = 100
    language: str = "system"
    tour_done: bool = False
    blind: bool = True
    linked: bool = True
    legend: bool = True
    confirm_from: int = 200
    settle_ms: int = 40
    image_cache_mb: int = 384
    thumbnail_cache_mb: int = 1000
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    recent: tuple[str, ...] = ()
    forgotten: int = 0
    last_folder: str = ""
    annotator: str = field(default_factory=lambda: system_user())
    window_geometry: str = ""
    window_state: str = ""

    def with_recent(self, folder: Path | str) -> Settings:
        """A copy with ``folder`` as the newest recent project."""
        text = str(folder)
        return replace(self, recent=(text, *(r for r in self.recent if r != text))[:MAX_RECENT])

    def without_recent(self, folder: Path | str) -> Settings:
        """A copy that has forgotten ``folder``."""
        return replace(self, recent=tuple(r for r in self.recent if r != str(folder)))

    def without_places(self) -> Settings:
        """A copy that has forgotten all recent projects and folders."""
        return replace(self, recent=(), last_folder="", forgotten=self.forgotten + 1)

    def effective_keys(self) -> dict[str, tuple[str, ...]]:
        """Keys of every action, the user's or the defaults."""
        return effective_keys(self.keys)


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(tr("must be true or false"))
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(tr("must be a text"))
    return value


def _name(value: Any) -> str:
    return escaped(" ".join(_text(value).split()))[:LONGEST_NAME]


def system_user() -> str:
    """What the system calls the user; empty where it does not tell."""
    try:
        return getpass.getuser()[:LONGEST_NAME]
    except (OSError, KeyError, ImportError):
        return ""


def _one_of(choices: tuple[str, ...]) -> Callable[[Any], str]:
    def parse(value: Any) -> str:
        if value not in choices:
            raise ValueError(tr("must be one of {choices}", choices=", ".join(choices)))
        return str(value)

    return parse


def _one_number(choices: tuple[int, ...]) -> Callable[[Any], int]:
    def parse(value: Any) -> int:
        if isinstance(value, bool) or value not in choices:
            raise ValueError(tr("must be one of {choices}", choices=", ".join(map(str, choices))))
        return int(value)

    return parse


def _integer(low: int, high: int) -> Callable[[Any], int]:
    def parse(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(tr("must be a whole number from {low} to {high}", low=low, high=high))
        return value

    return parse


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(part, str) for part in value):
        raise ValueError(tr("must be a list of texts"))
    return tuple(value)


def _recent(value: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_texts(value)))[:MAX_RECENT]


def _keys(value: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, Mapping):
        raise ValueError(tr("must map action names to lists of keys"))
    known = {spec.id for spec in ACTIONS}
    return {action: _texts(keys) for action, keys in value.items() if action in known}


_PARSERS: dict[str, Callable[[Any], Any]] = {
    "theme": _one_of(THEMES),
    "text_size": _one_number(TEXT_SIZES),
    "language": _one_of(("system", *LANGUAGES)),
    "tour_done": _boolean,
    "blind": _boolean,
    "linked": _boolean,
    "legend": _boolean,
    "confirm_from": _integer(0, 1_000_000),
    "settle_ms": _integer(0, 2000),
    "image_cache_mb": _integer(64, 8192),
    "thumbnail_cache_mb": _integer(0, 100_000),
    "keys": _keys,
    "recent": _recent,
    "forgotten": _integer(0, 1 << 53),
    "last_folder": _text,
    "annotator": _name,
    "window_geometry": _text,
    "window_state": _text,
}


def parse_settings(values: Mapping[str, Any]) -> tuple[Settings, tuple[str, ...]]:
    """Settings from JSON values, with a sentence for each value that could not be used."""
    used: dict[str, Any] = {}
    problems: list[str] = []
    for name, parse in _PARSERS.items():
        if name not in values:
            continue
        try:
            used[name] = parse(values[name])
        except ValueError as error:
            problems.append(tr("Setting '{name}' {problem}; the default is used.", name=name, problem=error))
    return Settings(**used), tuple(problems)


class SettingsStore:
    """The settings of one run, kept in a file.

    Parameters
    ----------
    path : Path or None
        The JSON file; None keeps the settings in memory only (tests, ``--safe-mode``).

    Attributes
    ----------
    value : Settings
    problems : tuple of str
        What was wrong with the file when it was read, in sentences.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.value = Settings()
        self.problems: tuple[str, ...] = ()
        self._foreign: dict[str, Any] = {}
        if path is not None:
            self._load(path)

    def change(self, **values: Any) -> Settings:
        """Change some fields and save. Raises `ValueError` for a value the schema refuses; returns the new settings.

        A failed save is logged, not raised: settings are never worth an interruption.
        """
        names = {f.name for f in fields(Settings)}
        unknown = sorted(set(values) - names)
        if unknown:
            raise ValueError(f"Unknown setting {unknown[0]!r}.")
        parsed = {name: _PARSERS[name](value) for name, value in values.items()}
        return self.replace(replace(self.value, **parsed))

    def replace(self, value: Settings) -> Settings:
        """Take over whole settings and save them."""
        if value != self.value:
            self.value = self._forgetting(value)
            self._save()
        return self.value

    def _forgetting(self, value: Settings) -> Settings:
        """``value`` without the recent projects that another window, or a command, has forgotten meanwhile."""
        if self.path is None:
            return value
        try:
            found, _ = parse_settings(json.loads(self.path.read_text(encoding="utf-8")))
        except (OSError, ValueError, RecursionError, AttributeError, TypeError):
            return value
        if found.forgotten <= value.forgotten:
            return value
        new = tuple(folder for folder in value.recent if folder not in self.value.recent)
        folder = value.last_folder if value.last_folder != self.value.last_folder else found.last_folder
        kept = _recent([*new, *found.recent])
        return replace(value, recent=kept, last_folder=folder, forgotten=found.forgotten)

    def _load(self, path: Path) -> None:
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(raw, dict):
                raise ValueError("not a JSON object")
        except FileNotFoundError:
            return
        except OSError as error:
            self.problems = (
                tr(
                    "The settings file {path} cannot be read ({reason}); defaults are used.",
                    path=path,
                    reason=error.strerror,
                ),
            )
            return
        except (ValueError, RecursionError):
            aside = path.with_name(path.name + ".broken")
            with contextlib.suppress(OSError):
                os.replace(path, aside)
            self.problems = (
                tr("The settings file was damaged; it was set aside as {name}, defaults are used.", name=aside.name),
            )
            return
        self.value, self.problems = parse_settings(raw)
        self._foreign = {name: value for name, value in raw.items() if name not in _PARSERS}

    def _save(self) -> None:
        if self.path is None:
            return
        values = {f.name: getattr(self.value, f.name) for f in fields(Settings)}
        version = self._foreign.get("version", VERSION)
        newest = max(version, VERSION) if isinstance(version, int) else VERSION
        text = json.dumps({**self._foreign, "version": newest, **values}, indent=2, default=dict)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            name = self.path.with_name(f"{self.path.name}.{os.urandom(6).hex()}.tmp")
            try:
                with open(name, "x", encoding="utf-8") as file:  # with the rights that the user's umask gives
                    file.write(text + "\n")
                    file.flush()
                    os.fsync(file.fileno())  # or an empty file could be all that a power cut leaves
                os.replace(name, self.path)
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(name)
                raise
        except OSError as error:
            _log.warning("settings not saved to %s: %s", self.path, error)
