"""From an engine to what views may see: pure functions that build the frozen `SessionState`."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.engine import Engine
from a3s_desktop.core.types import Answer, IndexArray, IntArray, PairGraph, Question
from a3s_desktop.session.audit import precision
from a3s_desktop.session.chain import HistoryNode
from a3s_desktop.session.disagreements import unsettled
from a3s_desktop.session.entries import Entry, RecordedAnswer, RecordedAudit, RecordedCorrection
from a3s_desktop.session.history import History
from a3s_desktop.session.position import RECENT, Position
from a3s_desktop.session.state import (
    Consequence,
    EntryKind,
    HistoryEntry,
    LookAhead,
    Phase,
    QuestionView,
    SessionState,
    no_items,
)
from a3s_desktop.session.wording import entry_text, operation_text, question_text

STRIP = 12


class Copies:
    """Read-only copies of an engine's arrays, each made anew where the array is another: of a million images it is
    dear. Views may tell from the object that nothing changed."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[weakref.ref[Engine], tuple[int, ...], npt.NDArray[Any]]] = {}

    def of(
        self, name: str, engine: Engine, stamps: tuple[int, ...], live: Callable[[], npt.NDArray[Any]]
    ) -> npt.NDArray[Any]:
        """The copy of that name; where the engine and the stamps are those of the last call, the one of then."""
        known = self._made.get(name)
        if known is None or known[0]() is not engine or known[1] != stamps:
            values = live().copy()
            values.setflags(write=False)
            self._made[name] = known = weakref.ref(engine), stamps, values
        return known[2]


def session_state(position: Position, history: History, revision: int, read_only: bool, copies: Copies) -> SessionState:
    """One consistent picture of a position and its ``history``; shares no memory with them, only with other pictures
    by the same ``copies``."""
    engine = position.engine
    question, partition, tally = engine.question, engine.partition, history.tally
    recent = position.useful(RECENT)
    names = history.names.of_clusters(engine.labels, engine.junk.values)
    return SessionState(
        revision=revision,
        phase=Phase.FINISHED if question is None else Phase.ASKING,
        question=None if question is None else question_view(engine, question, revision, names),
        items=len(engine.labels),
        answers=tally.same + tally.different,
        same=tally.same,
        different=tally.different,
        skipped=tally.skipped,
        incomparable=tally.incomparable,
        clusters=partition.n_clusters,
        singletons=partition.n_singletons - engine.junk.count,
        junk=engine.junk.count,
        can_undo=history.past is not None,
        can_redo=history.next is not None,
        undo_text=operation_text(history.past) if history.past else "",
        redo_text=operation_text(history.next) if history.next else "",
        labels=copies.of("labels", engine, (partition.stamp,), lambda: engine.labels),
        confirmed=copies.of(
            "confirmed",
            engine,
            (engine.confirmed.stamp, engine.finished.stamp),
            lambda: engine.confirmed.values | engine.finished.values,
        ),
        is_junk=copies.of("is_junk", engine, (engine.junk.stamp,), lambda: engine.junk.values),
        names=MappingProxyType(names),
        finished=engine.finished_clusters(),
        conflicts=position.conflicts,
        useful=sum(recent),
        recent=len(recent),
        audit=precision(engine, history.audits),
        read_only=read_only,
        outlook=engine.outlook(),
        unsettled=unsettled(engine, history, position.conflicts),
    )


def history_entry(graph: PairGraph, node: HistoryNode, conflicts: Collection[int], own: str = "") -> HistoryEntry:
    """One entry as views see it; ``own``: the present annotator, whose name need not be told."""
    entry = node.entry
    answer = None if isinstance(entry, RecordedCorrection) else entry.answer
    kinds = {RecordedAnswer: EntryKind.ANSWER, RecordedCorrection: EntryKind.CORRECTION, RecordedAudit: EntryKind.AUDIT}
    return HistoryEntry(
        number=node.count,
        kind=kinds[type(entry)],
        text=entry_text(entry),
        items=entry.shown,
        answer=answer,
        reason=entry.reason if isinstance(entry, RecordedAnswer) else None,
        when=entry.when,
        doubt=doubt_of(graph, entry),
        withdrawn=entry.withdrawn,
        conflict=node.count in conflicts,
        what=entry.what.value if isinstance(entry, RecordedCorrection) else "",
        count=entry.count if isinstance(entry, RecordedCorrection) else 2,
        author=entry.author if entry.author != own else "",
        held=isinstance(entry, RecordedCorrection) and entry.held and not entry.withdrawn,
    )


def doubt_of(graph: PairGraph, entry: Entry) -> float:
    """P that an answer is wrong by the images alone, in [0, 1]; 0 for all that is not *same* or *different*."""
    if not isinstance(entry, RecordedAnswer) or not entry.answer.is_constraint or entry.withdrawn:
        return 0.0
    same = graph.probability(entry.left, entry.right)
    return round(1.0 - same if entry.answer is Answer.SAME else same, 4)


def question_view(engine: Engine, question: Question, question_id: int, names: Mapping[int, str]) -> QuestionView:
    """The pair with its sizes, its text and the strips of other members."""
    left_size = engine.partition.size(question.left_cluster)
    right_size = engine.partition.size(question.right_cluster)
    left_strip, right_strip = _strips(engine, question)
    return QuestionView(
        id=question_id,
        left=question.left,
        right=question.right,
        reason=question.reason,
        text=question_text(question, left_size, right_size, names),
        left_cluster=question.left_cluster,
        right_cluster=question.right_cluster,
        left_size=left_size,
        right_size=right_size,
        left_strip=left_strip,
        right_strip=right_strip,
        probability=float(question.probability),
    )


def consequence(engine: Engine, answer: Answer) -> tuple[Consequence, Question | None] | None:
    """What an answer would do, and the question that would follow it; None where nothing is asked."""
    question, before, now = engine.question, engine.labels.copy(), engine.outlook()
    if question is None:
        return None
    clusters = sorted({question.left_cluster, question.right_cluster})
    members = np.flatnonzero(np.isin(before, clusters))

    def look() -> tuple[Consequence, Question | None]:
        after, then = engine.labels, engine.outlook()
        moved = before != after
        found = Consequence(
            answer,
            _sizes(before[members]),
            _sizes(after[members]),
            int(moved.sum()),
            int(moved.sum() - moved[members].sum()),
            None if now is None or then is None else _saved(now.middle, then.middle),
        )
        return found, engine.question

    return engine.foresee(answer, look)


def look_ahead(engine: Engine, question_id: int) -> LookAhead:
    """Try both answers to the current question; an error leaves the engine as it was."""
    question, mark = engine.question, engine.mark()
    if question is None:
        return LookAhead()
    try:
        tried = [consequence(engine, answer) for answer in (Answer.SAME, Answer.DIFFERENT)]
    except BaseException:
        # An answer that was only tried must not stay.
        engine.restore(mark)
        raise
    found = [one for one in tried if one is not None]
    after = [following for _, following in found if following is not None]
    coming = dict.fromkeys(item for pair in after for item in (pair.left, pair.right))
    shown = (question.left, question.right)
    return LookAhead(question_id, tuple(i for i in coming if i not in shown), tuple(one for one, _ in found))


def _saved(now: int, then: int) -> int:
    """Questions that an answer makes superfluous besides itself; 0 where that is within the estimate's noise."""
    saved = now - 1 - then
    return saved if abs(saved) >= max(3, now / 40) else 0


def _sizes(labels: IntArray) -> tuple[int, ...]:
    return tuple(sorted(np.unique(labels, return_counts=True)[1].tolist(), reverse=True))


def _strips(engine: Engine, question: Question) -> tuple[tuple[int, ...], tuple[int, ...]]:
    pair = (question.left, question.right)
    if question.left_cluster != question.right_cluster:
        return (
            tuple(engine.representatives(question.left_cluster, pair, STRIP)),
            tuple(engine.representatives(question.right_cluster, pair, STRIP)),
        )
    # Inside one cluster each member goes to the side that it is more likely the same as; ties to the shorter strip.
    left: list[int] = []
    right: list[int] = []
    members = engine.representatives(question.left_cluster, pair, 2 * STRIP)
    for member, (to_left, to_right) in zip(members, engine.likeness(members, pair), strict=True):
        nearer_left = to_left > to_right or (to_left == to_right and len(left) <= len(right))
        strip = left if nearer_left else right
        if len(strip) < STRIP:
            strip.append(member)
    return tuple(left), tuple(right)


def moved_items(before: SessionState, after: SessionState) -> IndexArray:
    """Items whose cluster id differs between two states, int64, ascending."""
    return no_items() if before.labels is after.labels else np.flatnonzero(before.labels != after.labels)
