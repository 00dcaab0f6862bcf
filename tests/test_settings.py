"""Settings are typed and survive anything a file can hold."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.settings import MAX_RECENT, TEXT_SIZES, THEMES, Settings, SettingsStore, parse_settings

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
NAMES = st.sampled_from(["theme", "blind", "linked", "settle_ms", "keys", "recent", "image_cache_mb", "other"])


def test_a_change_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "settings.json"
    store = SettingsStore(path)
    store.change(theme="dark", keys={"answer.same": ("S",)}, settle_ms=100)
    again = SettingsStore(path).value
    assert again == store.value
    assert again.effective_keys()["answer.same"] == ("S",)
    assert again.effective_keys()["answer.skip"] == ("Space",)
    assert [p.name for p in path.parent.iterdir()] == ["settings.json"], "no temporary file is left"


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\x00", '{"theme": ' + "[" * 100_000])
def test_a_damaged_file_is_set_aside(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text)
    store = SettingsStore(path)
    assert store.value == Settings()
    assert "damaged" in store.problems[0]
    assert (tmp_path / "settings.json.broken").read_text() == text
    store.change(theme="light")
    assert SettingsStore(path).value.theme == "light"


@given(st.dictionaries(NAMES, JSON, max_size=6))
def test_any_json_gives_settings(values: dict[str, object]) -> None:
    settings, problems = parse_settings(values)
    assert settings.theme in THEMES
    assert settings.text_size in TEXT_SIZES
    assert settings.language in ("system", "en", "de")
    assert 0 <= settings.settle_ms <= 2000
    assert len(problems) <= len(values)


def test_a_wrong_value_falls_back_and_is_named(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"theme": "pink", "settle_ms": True, "linked": False}))
    store = SettingsStore(path)
    assert store.value.theme == "system"
    assert store.value.settle_ms == Settings().settle_ms
    assert store.value.linked is False
    assert [p.split("'")[1] for p in store.problems] == ["theme", "settle_ms"]


def test_fields_of_a_newer_version_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"version": 7, "hologram": [1], "theme": "dark"}))
    SettingsStore(path).change(linked=False)
    values = json.loads(path.read_text())
    assert values["version"] == 7
    assert values["hologram"] == [1]
    assert values["linked"] is False


def test_a_refused_value_changes_nothing(tmp_path: Path) -> None:
    store = SettingsStore(tmp_path / "s.json")
    for wrong in ({"theme": "pink"}, {"colour": "x"}, {"settle_ms": -1}):
        with pytest.raises(ValueError, match=r"setting|must be"):
            store.change(**wrong)
    assert store.value == Settings()
    assert not (tmp_path / "s.json").exists()


def test_recent_projects_are_newest_first_and_bounded() -> None:
    settings = Settings()
    for i in range(20):
        settings = settings.with_recent(f"/p{i}")
    settings = settings.with_recent("/p15")
    assert settings.recent[:3] == ("/p15", "/p19", "/p18")
    assert len(settings.recent) == MAX_RECENT
    assert "/p15" not in settings.without_recent("/p15").recent


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs a folder without write permission")
def test_a_folder_without_permission_is_survived(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert SettingsStore(tmp_path / "s.json").change(theme="dark").theme == "dark"


def test_a_path_that_cannot_be_written_is_survived(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    store = SettingsStore(tmp_path / "file" / "settings.json")
    assert store.change(theme="dark").theme == "dark"
    assert "not saved" in caplog.text
