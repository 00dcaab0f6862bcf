"""Which runs a benchmark makes, and with which options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from a3s_desktop.core.types import INITIAL_CLUSTERINGS, InitialOptions, StrategyOptions
from a3s_desktop.session.benchmark_data import Case
from a3s_desktop.session.oracle import OracleOptions

OURS, PAPER, COBRA = "a3s", "a3s-paper", "cobra"

CHECKPOINTS = (0, 20, 40, 60, 83, 100, 120, 150, 200, 250, 300, 337, 400, 525, 600, 674, 800, 1000, 1170)
"""Answers at which every curve has a point; those that are no multiple of ten are the paper's and the prototype's."""

MAIN, COBRA_K, INITIAL, START, TAU, ORACLE = "main", "cobra-k", "initial", "start", "tau", "oracle"

AS_GIVEN, REGROUPED = "as FPC gives it", "regrouped (default)"
RATIOS = (1.0, 1.5, 2.0)
TAU_STEP = 0.1
COBRA_FACTORS = (1, 2, 3, 5, 8)
ORACLES = {"5 % wrong": OracleOptions(error=0.05), "10 % skipped": OracleOptions(skip=0.1)}
EXTRAS_UP_TO = 20_000  # samples; beyond, ablations and the other initial clusterings are left out
PCKMEANS_BUDGET = 600  # they cluster everything anew at every tenth answer
FINE_UP_TO = 200  # a budget up to which the curve has every answer
EVERY = 10


@dataclass(frozen=True, slots=True)
class Run:
    """One simulation.

    Attributes
    ----------
    case : Case
    group : str
        What it is for: "main", "cobra-k", or an ablation ("initial", "start", "tau", "oracle").
    variant : str
        Which of the group; empty for "main".
    budget, every : int
        See `simulate`.
    initial, options, oracle
        See `simulate`; the seed is in each.
    """

    case: Case
    group: str
    variant: str
    budget: int
    every: int
    initial: InitialOptions
    options: StrategyOptions
    oracle: OracleOptions

    @property
    def seed(self) -> int:
        """Of all chance in the run."""
        return self.options.seed

    @property
    def strategy(self) -> str:
        """Name of the strategy."""
        return self.options.strategy

    @property
    def title(self) -> str:
        """For progress and messages: "mk100 · a3s · seed 2"."""
        return " · ".join(part for part in (self.case.title, self.strategy, self.variant, f"seed {self.seed}") if part)

    def to_json(self) -> dict[str, Any]:
        """What identifies the run in the report."""
        return {
            "case": self.case.title,
            "strategy": self.strategy,
            "group": self.group,
            "variant": self.variant,
            "seed": self.seed,
            "budget": self.budget,
        }


@dataclass(frozen=True, slots=True)
class Agreement:
    """A comparison of the four initial clusterings of one case."""

    case: Case
    initial: InitialOptions

    @property
    def title(self) -> str:
        """For progress and messages."""
        return f"{self.case.title} · initial clusterings"


@dataclass(frozen=True, slots=True)
class BenchmarkOptions:
    """What to run.

    Attributes
    ----------
    strategies : tuple of str
    seeds : tuple of int
    budget : int or None
        Most answers of every run; None: each data set's own.
    ablations : bool
    jobs : int
        Processes that run simulations, each with one thread of linear algebra.
    told_clusters : frozenset of str
        Strategies that are given the true number of classes.
    """

    strategies: tuple[str, ...]
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    budget: int | None = None
    ablations: bool = False
    jobs: int = 1
    told_clusters: frozenset[str] = frozenset()

    @property
    def leading(self) -> str | None:
        """The strategy that ablations look at: ours, else the paper's, where it takes part."""
        return next((name for name in (OURS, PAPER) if name in self.strategies), None)


def make_plan(cases: Sequence[Case], options: BenchmarkOptions) -> tuple[list[Run], list[Agreement]]:
    """All runs in the order of their importance, and the comparisons of initial clusterings."""
    runs: list[Run] = []
    for case in cases:
        for seed in options.seeds:
            runs += [main_run(case, strategy, seed, options) for strategy in options.strategies]
    small = [case for case in cases if case.samples <= EXTRAS_UP_TO]
    if COBRA in options.strategies:
        for case in small:
            runs += _cobra_runs(case, options)
    if options.ablations and options.leading:
        for case in small:
            for seed in options.seeds:
                runs += _ablations(case, seed, options)
    agreements = [Agreement(case, InitialOptions(seed=options.seeds[0])) for case in small]
    return runs, agreements


def main_run(case: Case, strategy: str, seed: int, options: BenchmarkOptions) -> Run:
    """The run of a strategy as it is compared with the others."""
    budget = case.budget if options.budget is None else options.budget
    if strategy in options.told_clusters:
        budget = min(budget, PCKMEANS_BUDGET)
    return Run(
        case=case,
        group=MAIN,
        variant="",
        budget=budget,
        every=1 if budget <= FINE_UP_TO else EVERY,
        initial=initial_options(strategy, case, seed),
        options=StrategyOptions(
            strategy=strategy, clusters=case.classes if strategy in options.told_clusters else None, seed=seed
        ),
        oracle=OracleOptions(seed=seed),
    )


def initial_options(strategy: str, case: Case, seed: int) -> InitialOptions:
    """Stage one for a strategy: the defaults; the paper's own calibrates with the true K, as its authors' code does."""
    options = InitialOptions(seed=seed, pseudo_labels=case.classes if strategy == PAPER else None)
    return options.for_strategy(strategy)


def notes(options: BenchmarkOptions, cases: Iterable[Case]) -> list[str]:
    """What a reader must know to judge the comparison fairly, in sentences."""
    told = [name for name in options.strategies if name in options.told_clusters]
    found = []
    if PAPER in options.strategies:
        found.append(f"{PAPER} calibrates with as many pseudo labels as there are classes, as its authors' code does.")
    if told:
        found.append(f"Told the true number of classes: {', '.join(told)}; the others are not.")
        if options.budget is None and any(case.budget > PCKMEANS_BUDGET for case in cases):
            found.append(f"These stop after {PCKMEANS_BUDGET} answers, to bound the time of clustering anew.")
    if COBRA in options.strategies:
        found.append(f"{COBRA} takes the number of its super-instances from stage one.")
    found.append(
        "One set of default settings for all data; the features are the same for every strategy. Graph-context "
        "refinement is part of a3s; the published systems start from distances, as they do in their papers."
    )
    return found


def _cobra_runs(case: Case, options: BenchmarkOptions) -> list[Run]:
    base = main_run(case, COBRA, options.seeds[0], options)
    counts = sorted({factor * case.classes for factor in COBRA_FACTORS if factor * case.classes <= case.samples // 2})
    return [replace(base, group=COBRA_K, variant=f"k = {k}", options=replace(base.options, clusters=k)) for k in counts]


def _ablations(case: Case, seed: int, options: BenchmarkOptions) -> list[Run]:
    assert options.leading is not None
    base = main_run(case, options.leading, seed, options)
    runs = [
        replace(base, group=INITIAL, variant=initial_text(name, ratio), initial=_initial(base.initial, name, ratio))
        for name in INITIAL_CLUSTERINGS
        if name != "fpc"  # its number of clusters is what the others take as one; the main run has it
        for ratio in RATIOS
    ]
    if base.initial.refine:
        given = InitialOptions.from_json({**base.initial.to_json(), "regroup": False})
        runs.append(replace(base, group=START, variant=AS_GIVEN, initial=given))
    if PAPER in options.strategies:
        paper = main_run(case, PAPER, seed, options)
        for step in (-TAU_STEP, TAU_STEP):
            offset = round(paper.options.tau_offset + step, 6)
            changed = replace(paper.options, tau_offset=offset)
            runs.append(replace(paper, group=TAU, variant=tau_text(offset), options=changed))
    for name, oracle in ORACLES.items():
        runs.append(replace(base, group=ORACLE, variant=name, oracle=replace(oracle, seed=seed)))
    return runs


def _initial(options: InitialOptions, name: str, ratio: float) -> InitialOptions:
    return InitialOptions.from_json({**options.to_json(), "initial": name, "ratio": ratio})


def initial_text(name: str, ratio: float) -> str:
    """How a variant of the initial clustering is called."""
    return f"{name}, r = {ratio:g}"


def tau_text(offset: float) -> str:
    """How a variant of the density test's threshold is called."""
    return f"τ offset {offset:+.2f}"
