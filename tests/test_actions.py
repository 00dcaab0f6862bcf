"""The table of actions is consistent: unique ids, no key bound twice, nothing that changes data repeats."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.actions import ACTIONS, by_id, clashes, effective_keys, normal_key
from a3s_desktop.resources import resource


def test_ids_are_unique_and_defaults_do_not_clash() -> None:
    assert len(by_id()) == len(ACTIONS)
    assert clashes(effective_keys({})) == {}


def test_keys_of_the_product() -> None:
    keys = effective_keys({})
    assert keys["answer.same"] == ("F", "Left")
    assert keys["answer.different"] == ("J", "Right")
    assert keys["answer.skip"] == ("Space",)
    assert {"Ctrl+Z", "U"} <= set(keys["edit.undo"])
    assert "Ctrl+Shift+Z" in keys["edit.redo"]


def test_nothing_that_changes_data_repeats() -> None:
    repeating = {spec.id for spec in ACTIONS if spec.repeat}
    assert {"view.zoom_in", "view.zoom_out"} <= repeating
    assert all(name.startswith(("view.", "compare.")) for name in repeating), "looking changes no data"


def test_every_icon_exists() -> None:
    for spec in ACTIONS:
        assert not spec.icon or resource("icons", f"{spec.icon}.svg").is_file(), spec.id


def test_overrides_clash_where_a_key_is_taken() -> None:
    found = clashes(effective_keys({"answer.skip": ("f", "Ctrl+9")}))
    assert found == {"f": ("answer.same", "answer.skip")}


def test_one_key_bound_twice_to_one_action_is_no_clash() -> None:
    assert clashes({"a": ("Ctrl+Shift+Z", "shift+ctrl+z")}) == {}


def test_plus_is_a_key() -> None:
    assert normal_key("+") == "+"
    assert normal_key("Ctrl++") == "ctrl++"
    assert normal_key("") == ""


@given(st.permutations(["Ctrl", "Alt", "Shift"]), st.sampled_from(["A", "Left", "+", "F11"]))
def test_order_of_modifiers_does_not_matter(modifiers: list[str], key: str) -> None:
    assert normal_key("+".join([*modifiers, key])) == normal_key(f"Ctrl + Alt + Shift + {key}")
