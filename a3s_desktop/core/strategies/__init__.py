"""Question strategies: each decides which pair to ask next and what an answer does to the partition."""

from __future__ import annotations

from a3s_desktop.core.context import Strategy
from a3s_desktop.core.strategies.a3s import A3S
from a3s_desktop.core.strategies.a3s_paper import A3SPaper
from a3s_desktop.core.strategies.cobra import COBRA
from a3s_desktop.core.strategies.ffqs import FFQS
from a3s_desktop.core.strategies.npu import NPU
from a3s_desktop.core.strategies.random_pairs import RandomPairs
from a3s_desktop.core.strategies.urasc import URASC
from a3s_desktop.core.types import StrategyOptions


def make_strategy(options: StrategyOptions) -> Strategy:
    """The strategy that the options name. Raises `InputError` as `StrategyOptions.check` does."""
    options.check()
    makers: dict[str, type[Strategy]] = {
        "a3s": A3S,
        "a3s-paper": A3SPaper,
        "cobra": COBRA,
        "random": RandomPairs,
        "ffqs": FFQS,
        "npu": NPU,
        "urasc": URASC,
    }
    return makers[options.strategy]()
