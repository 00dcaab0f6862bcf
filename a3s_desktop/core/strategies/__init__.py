"""Question strategies: each decides which pair to ask next and what an answer does to the partition."""

from __future__ import annotations

from a3s_desktop.core.context import Strategy
from a3s_desktop.core.strategies.a3s_paper import A3SPaper
from a3s_desktop.core.types import StrategyOptions
from a3s_desktop.errors import InputError


def make_strategy(options: StrategyOptions) -> Strategy:
    """The strategy that the options name. Raises `InputError` for an unknown name."""
    makers = {"a3s-paper": A3SPaper}
    if options.strategy not in makers:
        raise InputError(f"There is no strategy {options.strategy!r}.", f"Choose one of: {', '.join(sorted(makers))}.")
    return makers[options.strategy]()
