"""What views may see of a session: frozen values, built on the engine thread, safe to read from any thread."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

from a3s_desktop.core.types import Answer, IndexArray, IntArray, Reason


class Phase(enum.Enum):
    """Whether there is something to ask."""

    ASKING = "asking"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class QuestionView:
    """The current pair with all that the pair page shows of it.

    Attributes
    ----------
    id : int
        Changes with every change of the session; an answer must name it.
    left, right : int
        Item indices.
    reason : Reason
    text : str
        Why it is asked, in words ("Are cluster 12 and cluster 31 the same?").
    left_cluster, right_cluster : int
    left_size, right_size : int
        Images in the two clusters.
    left_strip, right_strip : tuple of int
        Best other members of the two clusters, best first (at most 12 each; disjoint where the cluster is one).
    probability : float
        P(same), hidden in blind mode.
    """

    id: int
    left: int
    right: int
    reason: Reason
    text: str
    left_cluster: int
    right_cluster: int
    left_size: int
    right_size: int
    left_strip: tuple[int, ...]
    right_strip: tuple[int, ...]
    probability: float


@dataclass(frozen=True, slots=True)
class SessionState:
    """One consistent picture of the session.

    Attributes
    ----------
    revision : int
        Grows by one with every change, undo and redo included.
    phase : Phase
    question : QuestionView or None
    items, answers, same, different, skipped : int
        ``answers`` counts same + different that are in force (not undone); ``skipped`` the skips in force.
    clusters, singletons : int
        Clusters of two or more members; clusters of one.
    can_undo, can_redo : bool
    undo_text, redo_text : str
        "Same", "Different", "Skip"; empty where there is nothing.
    labels : int32, shape (N,), read-only
        Cluster id of every item; ids are stable (a merge keeps the larger cluster's id).
    read_only : bool
    """

    revision: int
    phase: Phase
    question: QuestionView | None
    items: int
    answers: int
    same: int
    different: int
    skipped: int
    clusters: int
    singletons: int
    can_undo: bool
    can_redo: bool
    undo_text: str
    redo_text: str
    labels: IntArray
    read_only: bool = False


class ChangeKind(enum.Enum):
    """What kind of operation made a change."""

    OPENED = "opened"
    ANSWER = "answer"
    UNDO = "undo"
    REDO = "redo"


@dataclass(frozen=True, slots=True)
class Change:
    """What one operation changed.

    Attributes
    ----------
    kind : ChangeKind
    text : str
        For the status line ("Same", "Undo Same").
    moved : int64, shape (m,)
        Items whose cluster id changed, ascending.
    """

    kind: ChangeKind
    text: str
    moved: IndexArray


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One answer in force, for the history list.

    ``number`` counts from 1 in the order of answering; ``when`` is a POSIX time in seconds (UTC).
    """

    number: int
    left: int
    right: int
    answer: Answer
    reason: Reason
    when: float


def no_items() -> IndexArray:
    """An empty ``Change.moved``."""
    return np.zeros(0, np.int64)
