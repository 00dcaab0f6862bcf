"""A project whose strategy lacks what it needs is refused before anything is written."""

from __future__ import annotations

from a3s_desktop.core.types import InitialOptions, StrategyOptions
from a3s_desktop.storage.workspace import ProjectSpec, check_spec


def problems(tmp_path, strategy: StrategyOptions) -> list[str]:
    spec = ProjectSpec(
        folder=tmp_path / "project",
        images=tmp_path,
        features=(),
        order=None,
        labels=None,
        initial=InitialOptions(),
        strategy=strategy,
        name="x",
    )
    return [str(error) for error in check_spec(spec).errors]


def test_a_strategy_that_needs_the_number_of_groups_says_so(tmp_path):
    assert any("ffqs" in text and "--clusters" in text for text in problems(tmp_path, StrategyOptions("ffqs")))
    assert not any("ffqs" in text for text in problems(tmp_path, StrategyOptions("ffqs", clusters=5)))


def test_an_unknown_strategy_is_named_with_the_choices(tmp_path):
    assert any("'guess'" in text and "a3s-paper" in text for text in problems(tmp_path, StrategyOptions("guess")))
