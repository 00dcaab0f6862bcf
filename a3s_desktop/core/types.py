"""Values that cross the engine's boundary: questions, answers, the pair graph, options."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from a3s_desktop.errors import InputError
from a3s_desktop.i18n import tr

IntArray = npt.NDArray[np.int32]
IndexArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]

INITIAL_CLUSTERINGS = ("fpc", "kmeans", "spectral", "agglomerative")
STRATEGIES = ("a3s", "a3s-paper", "cobra", "random", "ffqs", "npu", "urasc")
NEED_CLUSTERS = frozenset(("random", "ffqs", "npu", "urasc"))
"""Strategies that must be told the number of clusters."""

USE_CLUSTERS = NEED_CLUSTERS | {"cobra"}
"""Strategies that make use of a number of clusters; COBRA takes it as its number of super-instances."""

AGGREGATIONS = ("mean", "product")
NORMALISATIONS = ("auto", "l2", "none")


class Answer(enum.StrEnum):
    """What the annotator can say of a pair."""

    SAME = "same"  # must-link
    DIFFERENT = "different"  # cannot-link
    SKIP = "skip"  # no constraint; the pair is not asked again until skipped pairs are queued anew
    INCOMPARABLE = "not comparable"  # no constraint; this pair is never asked again
    JUNK_LEFT = "junk left"  # the left sample leaves the clustering
    JUNK_RIGHT = "junk right"
    JUNK_BOTH = "junk both"

    def junked(self, left: int, right: int) -> tuple[int, ...]:
        """The samples of a pair that leave the clustering by this answer."""
        both = {Answer.JUNK_LEFT: (left,), Answer.JUNK_RIGHT: (right,), Answer.JUNK_BOTH: (left, right)}
        return both.get(self, ())

    @property
    def is_constraint(self) -> bool:
        """Whether the answer is a must-link or a cannot-link."""
        return self in (Answer.SAME, Answer.DIFFERENT)


class Reason(enum.StrEnum):
    """Why a pair is asked."""

    MERGE = "merge"  # are these two clusters one identity? (Algorithm 1, aggregation)
    PURITY = "purity"  # is this cluster one identity? (Eq. 5-6)
    SPLIT = "split"  # which part of an impure cluster does this member belong to? (Algorithm 2)
    OUTLIER = "outlier"  # where does this single image belong?
    MEMBER = "member"  # does this doubtful member belong to its cluster?
    PAIR = "pair"  # a baseline's choice, without further meaning


@dataclass(frozen=True, slots=True)
class Question:
    """A pair to be answered.

    Attributes
    ----------
    left, right : int
        Sample indices, ``left != right``.
    reason : Reason
    left_cluster, right_cluster : int
        Cluster ids at the moment of asking (equal for questions inside one cluster).
    probability : float
        P(same class) by the model, in [0, 1].
    """

    left: int
    right: int
    reason: Reason
    left_cluster: int
    right_cluster: int
    probability: float


@dataclass(frozen=True, slots=True)
class PairGraph:
    """Sparse symmetric graph of pairwise probabilities (CSR, rows sorted by column, no diagonal).

    Attributes
    ----------
    indptr : int64, shape (N + 1,)
    indices : int32, shape (E,)
    distances : float32, shape (V, E)
        Distance of each edge in each of the V views.
    logodds : float32, shape (E,)
        ``l_ij = log(p_ij / (1 - p_ij))``, p clipped to [1e-4, 1 - 1e-4].
    miss : float
        Log-odds taken for every pair that is not an edge.
    similarity : float32, shape (E,), optional
        How much of their neighbourhoods the two samples share, in [0, 1], mean over views; None without refinement.
    """

    indptr: IndexArray
    indices: IntArray
    distances: FloatArray
    logodds: FloatArray
    miss: float
    similarity: FloatArray | None = None

    @property
    def n(self) -> int:
        """Number of samples N."""
        return len(self.indptr) - 1

    def row(self, i: int) -> tuple[IntArray, FloatArray]:
        """Neighbours of sample ``i`` and the log-odds to them, both of shape (degree,)."""
        a, b = self.indptr[i], self.indptr[i + 1]
        return self.indices[a:b], self.logodds[a:b]

    def probability(self, i: int, j: int) -> float:
        """P(same class) of samples ``i`` and ``j``, in [0, 1]."""
        columns, logodds = self.row(i)
        at = int(np.searchsorted(columns, j))
        value = float(logodds[at]) if at < len(columns) and columns[at] == j else self.miss
        return 1.0 / (1.0 + float(np.exp(-value)))


@dataclass(frozen=True, slots=True)
class InitialState:
    """Result of stage one (adaptive initialization).

    Attributes
    ----------
    labels : int32, shape (N,)
        Initial clustering, ids 0 .. k-1 without gaps.
    graph : PairGraph
    report : mapping
        JSON-able facts for the user: seconds per stage, pseudo-label count, number of clusters, ...
    """

    labels: IntArray
    graph: PairGraph
    report: Mapping[str, Any]

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The state as named arrays, for storage; inverse of `from_arrays` (with ``report`` and ``miss`` as JSON)."""
        graph = self.graph
        arrays: dict[str, npt.NDArray[Any]] = {
            "labels": self.labels,
            "indptr": graph.indptr,
            "indices": graph.indices,
            "distances": graph.distances,
            "logodds": graph.logodds,
        }
        if graph.similarity is not None:
            arrays["similarity"] = graph.similarity
        return arrays

    def meta(self) -> dict[str, Any]:
        """The JSON-able rest of the state; see `arrays`."""
        return {"miss": self.graph.miss, "report": dict(self.report)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], meta: Mapping[str, Any]) -> Self:
        """Inverse of `arrays` and `meta`; the arrays may be memory-mapped."""
        graph = PairGraph(
            arrays["indptr"],
            arrays["indices"],
            arrays["distances"],
            arrays["logodds"],
            float(meta["miss"]),
            arrays.get("similarity"),
        )
        return cls(arrays["labels"], graph, dict(meta["report"]))


def _from_json(cls: type[Any], values: Mapping[str, Any]) -> Any:
    known = {field.name for field in fields(cls)}
    unknown = sorted(set(values) - known)
    if unknown:
        raise InputError(tr("Unknown option {unknown} in {name}.", unknown=repr(unknown[0]), name=cls.__name__))
    return cls(**values)


@dataclass(frozen=True, slots=True)
class InitialOptions:
    """Options of stage one. Every option has a default that suits most data."""

    neighbors: int = 50
    normalisation: Literal["auto", "l2", "none"] = "auto"
    initial: Literal["fpc", "kmeans", "spectral", "agglomerative"] = "fpc"
    ratio: float = 1.0  # clusters of the last three = ratio x FPC's number
    pseudo_labels: int | None = None  # K0 of the calibration; None: 1.5 sqrt(N)
    refine: bool | None = None  # graph-context refinement; None: as the strategy wants it (see `for_strategy`)
    seed: int = 0
    weights: tuple[float, ...] = ()  # of the views, by which their log-odds count; empty: 1 each

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", tuple(self.weights))  # JSON has lists

    def to_json(self) -> dict[str, Any]:
        """The options as JSON-able values."""
        return {**asdict(self), "weights": list(self.weights)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Inverse of `to_json`. Raises `InputError` for an unknown option."""
        return _from_json(cls, values)  # type: ignore[no-any-return]

    def for_strategy(self, strategy: str) -> Self:
        """The options with what was left to the strategy filled in: ``a3s`` refines, the published systems do not."""
        return self if self.refine is not None else replace(self, refine=strategy == "a3s")


@dataclass(frozen=True, slots=True)
class StrategyOptions:
    """Options of stage two."""

    strategy: str = "a3s"
    aggregation: Literal["mean", "product"] = "mean"
    iterations: int = 2  # L2 of the paper
    purity_test: bool = True  # may be left out with several views (paper, multi-view section)
    tau_offset: float = -0.1  # tau of Eq. 5 = mean density over clusters + this
    clusters: int | None = None  # K, for strategies that need it
    seed: int = 0

    def check(self) -> None:
        """Raise `InputError` where the strategy is unknown or was not told the number of clusters that it needs."""
        if self.strategy not in STRATEGIES:
            raise InputError(
                tr("There is no strategy {strategy}.", strategy=repr(self.strategy)),
                tr("Choose one of: {value}.", value=", ".join(STRATEGIES)),
            )
        if self.strategy in NEED_CLUSTERS and self.clusters is None:
            raise InputError(
                tr("The strategy {strategy} needs to know the number of identities.", strategy=repr(self.strategy)),
                tr(
                    "Give the number of groups (Advanced, or --clusters), or choose a strategy that finds it by itself."
                ),
            )

    def to_json(self) -> dict[str, Any]:
        """The options as JSON-able values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Inverse of `to_json`. Raises `InputError` for an unknown option."""
        return _from_json(cls, values)  # type: ignore[no-any-return]
