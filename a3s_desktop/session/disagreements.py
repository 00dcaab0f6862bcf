"""What two annotators said differently and nobody has decided on yet."""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from a3s_desktop.core.engine import Engine
from a3s_desktop.core.types import Answer
from a3s_desktop.errors import ContradictionError
from a3s_desktop.session.chain import HistoryNode
from a3s_desktop.session.entries import CorrectionKind, RecordedAnswer, RecordedAudit, RecordedCorrection
from a3s_desktop.session.history import History
from a3s_desktop.session.names import home_of, name_key
from a3s_desktop.session.state import HistoryEntry


class About(enum.StrEnum):
    """What a disagreement is about."""

    PAIR = "pair"  # whether two images are the same
    TAKEN_BACK = "taken back"  # whether something that was said counts
    NAME = "name"  # what a cluster is called
    SAME_NAME = "same name"  # whether two clusters of one name are one


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One statement of the other annotator that has no effect, and what stands against it.

    Attributes
    ----------
    about : About
    entry : HistoryEntry
        Theirs; its number is what the decision is told by.
    left, right : int
        The two images that it is about; ``right`` is -1 for `About.NAME`.
    same : bool
        What theirs says of the pair.
    chain : tuple of (int, int, str)
        For a pair: what was said here and implies the opposite, as in `ContradictionError`.
    behind : tuple of HistoryEntry or None
        The entry that each link of the chain comes from; for `About.TAKEN_BACK` the one that was taken back.
    ours, theirs : str
        Names; empty: none.
    cluster, other : int
        Of `About.NAME`: the cluster. Of `About.SAME_NAME`: theirs, and ours.
    """

    about: About
    entry: HistoryEntry
    left: int
    right: int
    same: bool = True
    chain: tuple[tuple[int, int, str], ...] = ()
    behind: tuple[HistoryEntry | None, ...] = ()
    ours: str = ""
    theirs: str = ""
    cluster: int = -1
    other: int = -1


@dataclass(frozen=True, slots=True)
class _NameQuestion:
    about: About
    ours: str
    cluster: int
    other: int


def unsettled(engine: Engine, history: History, conflicts: Collection[int]) -> tuple[int, ...]:
    """Numbers of the other annotators' entries that wait for a decision, ascending."""
    return tuple(node.count for node in _open(_Naming(engine, history), history, conflicts))[::-1]


def disagreements(
    engine: Engine,
    history: History,
    conflicts: Collection[int],
    describe: Callable[[HistoryNode], HistoryEntry],
    behind: Callable[[Sequence[tuple[int, int, str]]], tuple[HistoryEntry | None, ...]],
) -> tuple[Disagreement, ...]:
    """All of them, oldest first, as a person has to see them.

    Parameters
    ----------
    engine : Engine
        Left as it is.
    history : History
    conflicts : collection of int
    describe : callable
        An entry as views see it.
    behind : callable
        The entries that a chain comes from.
    """
    naming, found = _Naming(engine, history), []
    for node in _open(naming, history, conflicts):
        entry, shown = node.entry, describe(node)
        if isinstance(entry, RecordedAudit):
            continue
        if not (isinstance(entry, RecordedCorrection) and entry.held):
            chain = _against(engine, entry)
            left, right = (chain[0][0], chain[-1][1]) if chain else (*entry.shown, -1, -1)[:2]
            same = not all(said == Answer.SAME.value for *_, said in chain)
            found.append(Disagreement(About.PAIR, shown, left, right, same, chain, behind(chain)))
        elif entry.what is CorrectionKind.TAKEN_BACK:
            left, right = (*entry.shown, -1, -1)[:2]
            ours = describe(node.numbered([entry.about])[0])
            found.append(Disagreement(About.TAKEN_BACK, shown, left, right, behind=(ours,)))
        elif (asked := naming.question(entry)) is not None:
            right = int(engine.partition.members(asked.other)[0]) if asked.other >= 0 else -1
            left = entry.anchors[0] if entry.anchors else int(engine.partition.members(asked.cluster)[0])
            found.append(
                Disagreement(
                    asked.about,
                    shown,
                    left,
                    right,
                    ours=asked.ours,
                    theirs=entry.name,
                    cluster=asked.cluster,
                    other=asked.other,
                )
            )
    return tuple(found[::-1])


def _open(naming: _Naming, history: History, conflicts: Collection[int]) -> Iterator[HistoryNode]:
    """Newest first. Called after every answer: only what has no effect is looked at."""
    newest = history.entries
    if newest is None or not history.tally.merged:
        return
    numbers = frozenset(conflicts)
    withdrawn: set[int] = set()
    found: list[HistoryNode] = []
    candidates = {*newest.ineffective(), *newest.numbered(n for n in numbers if n <= newest.count)}
    for node in sorted(candidates, key=lambda node: node.count, reverse=True):
        entry = node.entry
        if entry.withdrawn:
            withdrawn.add(node.count)
        elif isinstance(entry, RecordedAudit) or not entry.foreign:
            continue
        elif node.count in numbers or (isinstance(entry, RecordedCorrection) and entry.held):
            found.append(node)
    for node in found:
        entry = node.entry
        if not isinstance(entry, RecordedCorrection) or not entry.held:
            yield node
        elif entry.what is CorrectionKind.TAKEN_BACK:
            if entry.about not in withdrawn:
                yield node
        elif naming.question(entry) is not None:
            yield node


class _Naming:
    """Where names are now; found out when it is first asked for."""

    def __init__(self, engine: Engine, history: History) -> None:
        self._engine, self._names = engine, history.names
        self._placed: dict[int, str] | None = None
        self._holders: dict[str, int] = {}

    def question(self, entry: RecordedCorrection) -> _NameQuestion | None:
        """What has to be decided about a name that is held back; None where nothing is any more."""
        labels, junk = self._engine.labels, self._engine.junk.values
        if not entry.name:
            for key in entry.replaces:
                name, anchors = self._names.by_key.get(key, ("", ()))
                home = home_of(anchors, labels, junk)
                if home is not None:
                    return _NameQuestion(About.NAME, name, home, -1)
            return None
        home = home_of(entry.anchors, labels, junk)
        if home is None:
            return None
        if self._placed is None:
            self._placed = self._names.of_clusters(labels, junk)
            self._holders = {name_key(name): cluster for cluster, name in self._placed.items()}
        ours, key = self._placed.get(home, ""), name_key(entry.name)
        if ours and name_key(ours) == key:
            return None
        if key in self._holders:
            return _NameQuestion(About.SAME_NAME, ours, home, self._holders[key])
        return _NameQuestion(About.NAME, ours, home, -1)


def _against(engine: Engine, entry: RecordedAnswer | RecordedCorrection) -> tuple[tuple[int, int, str], ...]:
    """The chain that speaks against an entry; empty where nothing does any more."""
    mark = engine.mark()
    try:
        if isinstance(entry, RecordedCorrection):
            engine.correct(entry.correction)
        else:
            engine.impose(entry.left, entry.right, entry.answer)
    except ContradictionError as error:
        return error.chain
    engine.restore(mark)
    return ()
