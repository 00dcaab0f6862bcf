"""The list of a project's images, as it is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from a3s_desktop.errors import ProjectError
from a3s_desktop.storage import items as items_module
from a3s_desktop.storage.items import Items

PART = st.text('ab", \n\\[]{}:é\udc80', min_size=1, max_size=12)


@given(
    st.lists(PART, max_size=30), st.dictionaries(st.integers(0, 5), PART, max_size=3), st.sampled_from((1, 7, 1 << 20))
)
@example(['a", "b', "c\\", '"],\n"problems": {', '\\",\n"'], {0: '"],\n"problems": {'}, 1)
@example([":::", ", "], {}, 7)  # a name that is nothing but what may stand between two
@example([",\n", ",\n", ","], {}, 1)
def test_what_is_kept_is_read_whatever_the_names(names: list[str], problems: dict[int, str], piece: int) -> None:
    """Long lists are read in pieces, which must not begin or end within a name."""
    problems = {at: reason for at, reason in problems.items() if at < len(names)}
    text = Items(Path("root"), tuple(names), problems).to_json().encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(items_module, "_PIECE", piece)
        found = Items.from_json(text, Path("root"), Path("items.json"))
    assert found.paths == tuple(names)
    assert found.problems == problems


@pytest.mark.parametrize(
    "text",
    [
        '{"paths": ["a",\n5,\n"b"],\n"problems": {}}',
        '{"paths": ["a",\n"b",\n"problems": {}}',
        '{"paths": ["a"],\n"x": ["b"],\n"problems": {',
        '{"paths": ["a",\n"b"],\n"problems": {},\n"paths": []}',
        '{"paths": ["a",\n"../b"],\n"problems": {}}',
        '{"paths": ["a",\n],\n"problems": {}}',
        '{"paths": [ ,\n"a"],\n"problems": {}}',
    ],
)
@pytest.mark.parametrize("piece", [1, 1 << 20])
def test_a_damaged_list_is_refused_in_pieces_and_whole(text: str, piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(items_module, "_PIECE", piece)
    with pytest.raises(ProjectError, match="The list of images"):
        Items.from_json(text.encode(), Path("root"), Path("items.json"))
