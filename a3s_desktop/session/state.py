"""What views may see of a session: frozen values, built on the engine thread, safe to read from any thread."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.outlook import Outlook
from a3s_desktop.core.types import Answer, IndexArray, IntArray, Reason
from a3s_desktop.session.audit import Precision

BoolArray = npt.NDArray[np.bool_]


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
class Consequence:
    """What an answer to the current question would do, tried out and taken back.

    Attributes
    ----------
    answer : Answer
        Same or different.
    before, after : tuple of int
        Sizes of the clusters of the two images, and of those that their members are in afterwards, largest first.
    moved : int
        Images whose cluster would change, wherever they are now.
    elsewhere : int
        Those of them that are in other clusters than the pair: the answer tips what the model joins by itself.
    saves : int or None
        Questions that it makes superfluous besides this one, about; negative where it brings up others. None where
        the strategy cannot tell.
    """

    answer: Answer
    before: tuple[int, ...]
    after: tuple[int, ...]
    moved: int
    elsewhere: int
    saves: int | None


@dataclass(frozen=True, slots=True)
class LookAhead:
    """What comes after the current question.

    Attributes
    ----------
    question : int
        Id of the current question; -1 where there is none.
    items : tuple of int
        What the next question would show, whichever answer is given, without what is shown now.
    consequences : tuple of Consequence
        Of *same* and of *different*.
    """

    question: int = -1
    items: tuple[int, ...] = ()
    consequences: tuple[Consequence, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionState:
    """One consistent picture of the session.

    Attributes
    ----------
    revision : int
        Grows by one with every change, undo and redo included.
    phase : Phase
    question : QuestionView or None
    items, answers, same, different, skipped, incomparable : int
        ``answers`` counts same + different that are in force (not undone); ``skipped`` the pairs that would be asked
        again if they were queued anew; ``incomparable`` those that never will.
    clusters, singletons, junk : int
        Clusters of two or more members; clusters of one; images that left the clustering, which are in neither.
    can_undo, can_redo : bool
    undo_text, redo_text : str
        "Same", "Different", "Skip", "Merge"...; empty where there is nothing.
    labels : int32, shape (N,), read-only
        Cluster id of every item; ids are stable (a merge keeps the larger cluster's id).
    confirmed, is_junk : bool, shape (N,), read-only
        Items that are must-linked with another, or finished; items that left the clustering.
    names : mapping of int to str
        Cluster id -> name, of the clusters that have one.
    finished : frozenset of int
        Ids of the clusters that are marked as finished.
    conflicts : tuple of int
        Numbers of the entries that contradict earlier ones and have no effect (`HistoryEntry.number`).
    useful, recent : int
        How many of the ``recent`` newest entries (at most 50) moved an item.
    audit : Precision
        What the random sample says so far.
    read_only : bool
    outlook : Outlook or None
        How many questions are left, the current one included; None where the strategy cannot tell.
    unsettled : tuple of int
        Numbers of entries of other annotators that disagree and wait for a decision; see `session.disagreements`.
    """

    revision: int
    phase: Phase
    question: QuestionView | None
    items: int
    answers: int
    same: int
    different: int
    skipped: int
    incomparable: int
    clusters: int
    singletons: int
    junk: int
    can_undo: bool
    can_redo: bool
    undo_text: str
    redo_text: str
    labels: IntArray
    confirmed: BoolArray
    is_junk: BoolArray
    names: Mapping[int, str]
    finished: frozenset[int]
    conflicts: tuple[int, ...]
    useful: int
    recent: int
    audit: Precision
    read_only: bool = False
    outlook: Outlook | None = None
    unsettled: tuple[int, ...] = ()


class ChangeKind(enum.Enum):
    """What kind of operation made a change."""

    OPENED = "opened"
    ANSWER = "answer"
    CORRECTION = "correction"
    CHANGE = "change"
    AUDIT = "audit"
    MERGE = "merge"
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


class EntryKind(enum.Enum):
    """What kind of thing an entry of the history is."""

    ANSWER = "answer"
    CORRECTION = "correction"
    AUDIT = "audit"


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One entry in force, for the history list.

    Attributes
    ----------
    number : int
        From 1 in the order of entering; `Session.change` takes it.
    kind : EntryKind
    text : str
        What was done, in words ("Same", "Split off 3 images", "Name: Anna").
    items : tuple of int
        Images to show: the pair, left one first, or some of those that were corrected.
    answer : Answer or None
        None for a correction.
    reason : Reason or None
        Why the pair was asked.
    when : float
        POSIX time in seconds (UTC).
    doubt : float
        For *same* and *different*: P that the answer is wrong by the images alone, in [0, 1]; else 0.
    withdrawn, conflict : bool
        It was taken back out of order; it contradicts earlier entries. Either way it has no effect.
    what : str
        What kind of correction it is (`session.entries.CorrectionKind`); empty for others.
    count : int
        How many images it is about; ``items`` may be only some of them.
    author : str
        Who entered it, where that is known and not the present annotator.
    held : bool
        Of another annotator: it waits for a decision and has no effect until then.
    """

    number: int
    kind: EntryKind
    text: str
    items: tuple[int, ...]
    answer: Answer | None
    reason: Reason | None
    when: float
    doubt: float = 0.0
    withdrawn: bool = False
    conflict: bool = False
    what: str = ""
    count: int = 2
    author: str = ""
    held: bool = False

    @property
    def left(self) -> int:
        """The first image; -1 where there is none."""
        return self.items[0] if self.items else -1

    @property
    def right(self) -> int:
        """The second image; -1 where there is none."""
        return self.items[1] if len(self.items) > 1 else -1


def no_items() -> IndexArray:
    """An empty ``Change.moved``."""
    return np.zeros(0, np.int64)
