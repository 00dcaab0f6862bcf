"""From a session to what exports write: an immutable picture, so that the writing can go on while answers are given."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from a3s_desktop.core.types import InitialState, IntArray
from a3s_desktop.i18n import number, percent, tr
from a3s_desktop.session.chain import HistoryNode
from a3s_desktop.session.entries import RecordedAnswer, RecordedAudit
from a3s_desktop.session.history import History
from a3s_desktop.session.known_labels import spanning
from a3s_desktop.session.state import SessionState
from a3s_desktop.storage.exports.state import CurvePoint, ExportState, Link
from a3s_desktop.storage.journal_types import JournalProtocol
from a3s_desktop.storage.workspace import Workspace

_MOST_SNAPSHOTS = 40  # read for the curve; each is a whole state of the engine


def export_state(
    workspace: Workspace,
    initial: InitialState,
    journal: JournalProtocol,
    history: History,
    state: SessionState,
    doubts: np.ndarray,
) -> ExportState:
    """The project as ``state`` shows it, with what was said in ``history``."""
    nodes = list(history.nodes())[::-1]
    return ExportState(
        name=workspace.name,
        items=workspace.items,
        labels=state.labels,
        names=state.names,
        confirmed=state.confirmed,
        is_junk=state.is_junk,
        finished=state.finished,
        confidence=(1.0 - doubts).astype(np.float32),
        links=tuple(link for node in nodes for link in _links(node, state.conflicts)),
        times=tuple(
            entry.when
            for entry in (node.entry for node in nodes)
            if isinstance(entry, RecordedAnswer) and not entry.withdrawn
        ),
        curve=_curve(initial, journal, nodes, state),
        facts=_facts(workspace, state),
    )


def _links(node: HistoryNode, conflicts: Collection[int]) -> Iterator[Link]:
    entry = node.entry
    if entry.withdrawn or node.count in conflicts or isinstance(entry, RecordedAudit):
        return
    if isinstance(entry, RecordedAnswer):
        if entry.answer.is_constraint:
            yield Link(entry.left, entry.right, entry.answer.value == "same", entry.when, "asked", entry.author)
        return
    how = "known labels" if entry.correction.identities else "correction"
    for left, right in (*entry.correction.together, *spanning(entry.correction.identities)):
        yield Link(left, right, True, entry.when, how, entry.author)
    for left, right in entry.correction.apart:
        yield Link(left, right, False, entry.when, how, entry.author)


def _curve(
    initial: InitialState, journal: JournalProtocol, nodes: list[HistoryNode], state: SessionState
) -> tuple[CurvePoint, ...]:
    """Start, the states that are kept on the way here, and now."""
    points = {0: _point(0, initial.labels, np.zeros(0, np.int32))}
    shot = journal.newest_snapshot() if nodes else None
    for _ in range(_MOST_SNAPSHOTS):
        if shot is None:
            break
        node = nodes[-1].with_digest(str(shot.meta.get("digest")))
        if node is not None and {"labels", "junk"} <= shot.arrays.keys():
            at = node.tally.same + node.tally.different
            points[at] = _point(at, shot.arrays["labels"], shot.arrays["junk"])
        shot = journal.newest_snapshot(shot.seq - 1)
    points[state.answers] = CurvePoint(state.answers, state.clusters, state.singletons)
    return tuple(points[at] for at in sorted(points) if at <= state.answers)


def _point(answers: int, labels: IntArray, junk: IntArray) -> CurvePoint:
    sizes = np.bincount(np.asarray(labels, np.int64))
    return CurvePoint(answers, int((sizes > 1).sum()), int((sizes == 1).sum()) - len(junk))


def _facts(workspace: Workspace, state: SessionState) -> tuple[tuple[str, str], ...]:
    initial, strategy = workspace.initial_options, workspace.strategy_options
    facts = [
        (tr("Strategy"), strategy.strategy),
        (tr("Initial clusters"), initial.initial),
        (tr("Neighbours of each image"), number(initial.neighbors)),
        (tr("Feature files"), number(len(workspace.views()))),
        (tr("Same"), number(state.same)),
        (tr("Different"), number(state.different)),
        (tr("Skipped"), number(state.skipped)),
    ]
    audit = state.audit
    if audit.estimate is not None:
        share = tr(
            "{share} of {n} pairs are the same (95 % certain: {low} to {high})",
            share=percent(audit.estimate),
            n=number(audit.same + audit.different),
            low=percent(audit.low),
            high=percent(audit.high),
        )
        facts.append((tr("Sample check"), share))
    return tuple(facts)
