"""Values that cross the engine's boundary: questions, answers, the pair graph, options."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from types import UnionType
from typing import Any, Literal, Self, get_args, get_origin, get_type_hints

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

    def degrees(self, samples: npt.NDArray[np.integer[Any]]) -> IndexArray:
        """Number of edges of some samples, int64."""
        counts: IndexArray = self.indptr[samples + 1] - self.indptr[samples]
        return counts

    def edges_of(self, samples: npt.NDArray[np.integer[Any]]) -> IndexArray:
        """Positions of all edges that start at some samples, int64, sample by sample."""
        counts = self.degrees(samples)
        edges: IndexArray = np.repeat(self.indptr[samples] - (np.cumsum(counts) - counts), counts)
        edges += np.arange(len(edges))
        return edges

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
        """Inverse of `arrays` and `meta`; the arrays may be memory-mapped.

        Raises
        ------
        KeyError, TypeError, ValueError
            They do not belong together: a sample or neighbour that is not there would be met much later, or never.
        """
        graph = PairGraph(
            arrays["indptr"],
            arrays["indices"],
            arrays["distances"],
            arrays["logodds"],
            float(meta["miss"]),
            arrays.get("similarity"),
        )
        _check_graph(graph)
        labels = arrays["labels"]
        if labels.ndim != 1 or labels.dtype.kind not in "iu" or not _within(labels, len(labels)):
            raise ValueError("labels that are none")
        return cls(labels, graph, dict(meta["report"]))


def _check_graph(graph: PairGraph) -> None:
    """Raise `ValueError` where a graph that was read cannot be one."""
    indptr, indices, edges = graph.indptr, graph.indices, len(graph.indices)
    whole = all(array.ndim == 1 and array.dtype.kind in "iu" for array in (indptr, indices)) and len(indptr) > 0
    if (
        not whole
        or indptr[0] != 0
        or indptr[-1] != edges
        or (np.diff(indptr) < 0).any()
        or not _within(indices, graph.n)
    ):
        raise ValueError("neighbours that are none")
    rows = [graph.logodds] if graph.similarity is None else [graph.logodds, graph.similarity]
    if graph.distances.ndim != 2 or any(row.shape != (edges,) for row in (*rows, *graph.distances)):
        raise ValueError("neighbours without values")
    if any(values.dtype.kind != "f" for values in (*rows, graph.distances)) or not np.isfinite(graph.miss):
        raise ValueError("values that are no numbers")


def _within(values: npt.NDArray[Any], count: int) -> bool:
    return not len(values) or bool(values.min() >= 0 and values.max() < count)


def _from_json(cls: type[Any], values: Mapping[str, Any]) -> Any:
    known = {field.name for field in fields(cls)}
    unknown = sorted(set(values) - known)
    if unknown:
        raise InputError(tr("Unknown option {unknown} in {name}.", unknown=repr(unknown[0]), name=cls.__name__))
    hints = get_type_hints(cls)
    for name, value in values.items():
        if not _fits(value, hints[name]):
            raise InputError(tr("The option {name} cannot be {value}.", name=name, value=repr(value)[:60]))
    return cls(**values)


def _fits(value: object, hint: Any) -> bool:
    """Whether a value from a file is of the type of an option; whole numbers from 0, numbers that are finite."""
    if get_origin(hint) is Literal:
        return isinstance(value, str) and value in get_args(hint)
    if get_origin(hint) is UnionType:
        return any(_fits(value, one) for one in get_args(hint))
    if get_origin(hint) is tuple:
        return isinstance(value, list | tuple) and all(_fits(one, get_args(hint)[0]) for one in value)
    if hint is int:
        return type(value) is int and 0 <= value < 1 << 63
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
    return isinstance(value, hint)


@dataclass(frozen=True, slots=True)
class InitialOptions:
    """Options of stage one. Every option has a default that suits most data."""

    neighbors: int = 50
    normalisation: Literal["auto", "l2", "none"] = "auto"
    initial: Literal["fpc", "kmeans", "spectral", "agglomerative"] = "fpc"
    ratio: float = 1.0  # clusters of the last three = ratio x FPC's number
    pseudo_labels: int | None = None  # K0 of the calibration; None: 1.5 sqrt(N)
    refine: bool | None = None  # graph-context refinement; None: as the strategy wants it (see `for_strategy`)
    regroup: bool = True  # average linkage on the refined graph; False: its clustering as given, for comparisons
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
