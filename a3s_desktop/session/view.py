"""From an engine to what views may see: pure functions that build the frozen `SessionState`."""

from __future__ import annotations

import numpy as np

from a3s_desktop.core.engine import Engine
from a3s_desktop.core.types import Answer, IndexArray, PairGraph, Question
from a3s_desktop.session.history import ANSWER_NAMES, History
from a3s_desktop.session.state import Phase, QuestionView, SessionState
from a3s_desktop.session.wording import question_text

STRIP = 12


def session_state(engine: Engine, graph: PairGraph, history: History, revision: int, read_only: bool) -> SessionState:
    """One consistent picture of ``engine`` and ``history``; shares no memory with them."""
    question = engine.question
    labels = engine.labels.copy()
    labels.setflags(write=False)
    return SessionState(
        revision=revision,
        phase=Phase.FINISHED if question is None else Phase.ASKING,
        question=None if question is None else question_view(engine, graph, question, revision),
        items=len(labels),
        answers=history.same + history.different,
        same=history.same,
        different=history.different,
        skipped=history.skipped,
        clusters=engine.partition.n_clusters,
        singletons=engine.partition.n_singletons,
        can_undo=history.last is not None,
        can_redo=history.next is not None,
        undo_text=ANSWER_NAMES[history.last.answer] if history.last else "",
        redo_text=ANSWER_NAMES[history.next.answer] if history.next else "",
        labels=labels,
        read_only=read_only,
    )


def question_view(engine: Engine, graph: PairGraph, question: Question, question_id: int) -> QuestionView:
    """The pair with its sizes, its text and the strips of other members."""
    left_size = engine.partition.size(question.left_cluster)
    right_size = engine.partition.size(question.right_cluster)
    left_strip, right_strip = _strips(engine, graph, question)
    return QuestionView(
        id=question_id,
        left=question.left,
        right=question.right,
        reason=question.reason,
        text=question_text(question, left_size, right_size),
        left_cluster=question.left_cluster,
        right_cluster=question.right_cluster,
        left_size=left_size,
        right_size=right_size,
        left_strip=left_strip,
        right_strip=right_strip,
        probability=float(question.probability),
    )


def _strips(engine: Engine, graph: PairGraph, question: Question) -> tuple[tuple[int, ...], tuple[int, ...]]:
    pair = (question.left, question.right)
    if question.left_cluster != question.right_cluster:
        return (
            tuple(engine.representatives(question.left_cluster, pair, STRIP)),
            tuple(engine.representatives(question.right_cluster, pair, STRIP)),
        )
    # Inside one cluster each member goes to the side that it is more likely the same as; ties to the shorter strip.
    left: list[int] = []
    right: list[int] = []
    for member in engine.representatives(question.left_cluster, pair, 2 * STRIP):
        to_left, to_right = (_likeness(engine, graph, member, side) for side in pair)
        nearer_left = to_left > to_right or (to_left == to_right and len(left) <= len(right))
        strip = left if nearer_left else right
        if len(strip) < STRIP:
            strip.append(member)
    return tuple(left), tuple(right)


def _likeness(engine: Engine, graph: PairGraph, i: int, j: int) -> float:
    known = engine.store.relation(i, j)
    return graph.probability(i, j) if known is None else float(known is Answer.SAME)


def moved_items(before: SessionState, after: SessionState) -> IndexArray:
    """Items whose cluster id differs between two states, int64, ascending."""
    return np.flatnonzero(before.labels != after.labels)
