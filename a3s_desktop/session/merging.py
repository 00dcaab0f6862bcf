"""What another annotator did to a copy of a project, or to another project of the same images, and what of it is new.

Entries are events: what was said, of which images, when. A copy shares those of its beginning, so that the same event
is never taken twice. What is new comes in its order behind what is there, as one operation (`Session.merge`); where it
contradicts, it has no effect until a person decides (`session.disagreements`).
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from a3s_desktop.core.correction import Correction
from a3s_desktop.core.types import Answer
from a3s_desktop.errors import InputError, ProjectError, StorageFailedError
from a3s_desktop.i18n import tr
from a3s_desktop.session.agreement import Agreement, Sayings, agreement
from a3s_desktop.session.chain import HistoryNode
from a3s_desktop.session.entries import (
    CorrectionKind,
    Entry,
    KnownName,
    RecordedAnswer,
    RecordedAudit,
    RecordedCorrection,
)
from a3s_desktop.session.history import History, MergeSource
from a3s_desktop.session.joint_names import JointNames
from a3s_desktop.storage.files import show
from a3s_desktop.storage.journal_opening import read_journal
from a3s_desktop.storage.workspace import JOURNAL_FILE, Workspace, open_workspace

Event = tuple[object, ...]
_Map = Callable[[int], int]


@dataclass(frozen=True, slots=True, eq=False)
class Other:
    """The other project, as it is on the disk at one moment.

    Attributes
    ----------
    name, project : str
        Its name and id.
    paths : tuple of str
        Keys of its items.
    history : History
    warning : str
        What of its journal is damaged; empty where nothing is.
    """

    name: str
    project: str
    paths: tuple[str, ...]
    history: History
    warning: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class MergePlan:
    """What merging would do; from `plan_merge`.

    Attributes
    ----------
    source : MergeSource
    entries : tuple of Entry
        What is new, by the numbers of our items.
    amendments : mapping of int to Answer or None
        What the other changed of his own that came by an earlier merge.
    known : int
        Entries that are here already.
    contradicting : int
        Of ``entries``: those that contradict what is here, and have no effect for now.
    held : int
        Of ``entries``: names, and what was taken back, that a person has to decide on.
    agreement : Agreement
    warning : str
    base : History
        What it was made for.
    """

    source: MergeSource
    entries: tuple[Entry, ...]
    amendments: Mapping[int, Answer | None]
    known: int
    contradicting: int
    held: int
    agreement: Agreement
    warning: str
    base: History = field(repr=False)

    @property
    def taken(self) -> int:
        """Entries that take effect at once."""
        return len(self.entries) - self.contradicting - self.held + len(self.amendments)

    @property
    def disagreements(self) -> int:
        """What has to be decided on."""
        return self.contradicting + self.held

    @property
    def empty(self) -> bool:
        """Whether there is nothing new."""
        return not self.entries and not self.amendments


def read_other(folder: Path, ours: Path | None = None) -> Other:
    """Read the other project as it is now; it may be open elsewhere, and is not changed.

    Raises
    ------
    InputError
        It is the very project that is open.
    ProjectError
        With its kin: it is no project, damaged, or of another version of the program.
    """
    if ours is not None and _same_place(folder, ours):
        raise InputError(
            tr("{folder} is the project that is open.", folder=show(folder)), tr("Choose the folder of the other one.")
        )
    try:
        with open_workspace(folder, read_only=True) as workspace:
            history = History.fold(workspace.journal.records())
            return Other(workspace.name, workspace.id, workspace.items.paths, history, workspace.recovery.text)
    except (ProjectError, StorageFailedError) as error:
        message = tr("{folder} cannot be merged. {problem}", folder=show(folder), problem=error.message)
        raise type(error)(message, error.hint) from error


def read_journal_copy(path: Path, workspace: Workspace) -> Other:
    """A copy of the journal of an open project, which lies beside it, as a sync tool leaves them; it is not changed.

    Raises
    ------
    InputError
        It is the project's own journal, or it lies elsewhere.
    ProjectError
        With its kin: it is of another version of the program, or holds what no journal can.
    StorageFailedError
        It cannot be read.
    """
    if not _same_place(path.parent, workspace.folder) or path.name == JOURNAL_FILE:
        raise InputError(
            tr("{path} is no copy of the journal of the project that is open.", path=show(path)),
            tr("Choose the folder of the other project, or a copy of the journal in the folder of this one."),
        )
    journal = read_journal(path)
    try:
        history = History.fold(journal.records())
        return Other(path.name, workspace.id, workspace.items.paths, history, journal.recovery.text)
    finally:
        journal.close()


def plan_merge(
    history: History, paths: Sequence[str], project: str, names: JointNames, conflicts: Sequence[int], other: Other
) -> MergePlan:
    """What of another project is new here, what contradicts, and how far the two agree. Changes nothing.

    Parameters
    ----------
    history : History
        Ours.
    paths : sequence of str
        Keys of our items.
    project : str
        Our project's id.
    names : JointNames
        Our names and clusters.
    conflicts : sequence of int
        Numbers of our entries that have no effect.
    other : Other

    Raises
    ------
    InputError
        An entry of the other names an image that is not here.
    """
    place = _places(paths, other, project)
    ours = list(history.nodes())[::-1]
    found = [node.entry for node in list(other.history.nodes())[::-1] if not _is_personal(node.entry)]
    theirs = [_mapped(entry, place) for entry in found]
    here = _Here(ours)
    fresh, amendments, known = _new(theirs, here)
    entries = names.sorted_out(fresh, other.history.names, place)
    kept = {event(entry) for entry in entries}
    known += sum(event(entry) not in kept for entry in fresh)  # names that say nothing new
    together = Sayings()
    for node in ours:
        if node.count not in amendments and node.count not in conflicts:
            together.add(node.entry)
    common = here.events & {event(entry) for entry in theirs}
    native = zip(theirs, found, strict=True)
    compared = agreement(
        [node.entry for node in ours if event(node.entry) not in common and not _is_foreign(node.entry)],
        [entry for entry, before in native if event(entry) not in common and not _is_foreign(before)],
    )
    return MergePlan(
        source=MergeSource(other.name, other.project, _author(entries), len(entries)),
        entries=tuple(entries),
        amendments=amendments,
        known=known,
        contradicting=sum(not together.add(entry) for entry in entries),
        held=sum(isinstance(entry, RecordedCorrection) and entry.held for entry in entries),
        agreement=compared,
        warning=other.warning,
        base=history,
    )


def _new(theirs: Sequence[Entry], here: _Here) -> tuple[list[Entry], dict[int, Answer | None], int]:
    """What was never said here; the other's changes of what came from there; and how many entries are known."""
    fresh: list[Entry] = []
    amendments: dict[int, Answer | None] = {}
    known, effective = 0, Sayings()
    for entry in theirs:
        if not effective.add(entry):
            continue  # it has no effect there either
        if here.has(entry):
            known += not entry.withdrawn
        elif (own := here.own(entry)) is not None:
            amendments[own.count] = None if entry.withdrawn or isinstance(entry, RecordedCorrection) else entry.answer
        elif not entry.withdrawn:
            fresh.append(replace(entry, given=None) if isinstance(entry, RecordedAnswer) else entry)
        elif (node := here.present(entry)) is not None:
            fresh.append(_taken_back(node, entry))
    return fresh, amendments, known


def event(entry: Entry) -> Event:
    """What tells an entry from all others, whatever became of it: what was asked or done, of which images, when."""
    if not isinstance(entry, RecordedCorrection):
        return (type(entry).__name__, entry.left, entry.right, entry.when)
    content = json.dumps(entry.correction.to_json(), sort_keys=True)
    if entry.what is CorrectionKind.PARTS:
        return (entry.what, content)  # each project says it anew when it is made
    return (entry.what, content, entry.name, entry.replaces, entry.when)


# --- helpers


class _Here:
    """What was ever said here, to be asked about entries of the other side."""

    def __init__(self, nodes: Sequence[HistoryNode]) -> None:
        self.events: set[Event] = set()
        self._said: set[tuple[Event, object]] = set()
        self._present: dict[Event, HistoryNode] = {}
        by_number = {node.count: node for node in nodes}
        for node in nodes:
            entry = node.entry
            if isinstance(entry, RecordedCorrection) and entry.about:
                about = by_number[entry.about].entry
                self._said.add((event(about), None))
                continue
            named = event(entry)
            self.events.add(named)
            self._said |= {(named, _first(entry)), (named, _now(entry))}
            self._present.setdefault(named, node)

    def has(self, entry: Entry) -> bool:
        """Whether the statement is known: it was made here, or is what was changed here since."""
        return (event(entry), _now(entry)) in self._said

    def present(self, entry: Entry) -> HistoryNode | None:
        """Our entry of the same event."""
        return self._present.get(event(entry))

    def own(self, entry: Entry) -> HistoryNode | None:
        """Our entry of the same event, where it is the other's own and nobody changed it here."""
        node = self.present(entry)
        if node is None or not _is_foreign(node.entry) or node.entry.author != entry.author:
            return None
        return node if _first(node.entry) == _now(node.entry) else None


def _first(entry: Entry) -> object:
    """What an entry said when it was made."""
    if isinstance(entry, RecordedAnswer):
        return entry.answer if entry.given is None else entry.given
    return "" if isinstance(entry, RecordedCorrection) else entry.answer


def _now(entry: Entry) -> object:
    """What it says now; None where it was taken back."""
    if entry.withdrawn:
        return None
    return "" if isinstance(entry, RecordedCorrection) else entry.answer


def _is_foreign(entry: Entry) -> bool:
    return not isinstance(entry, RecordedAudit) and entry.foreign


def _is_personal(entry: Entry) -> bool:
    """Whether an entry is about the other's own work: sample checks, skipped pairs asked again, open questions."""
    if isinstance(entry, RecordedCorrection):
        return entry.what in (CorrectionKind.REQUEUE, CorrectionKind.TAKEN_BACK) or entry.held
    return isinstance(entry, RecordedAudit)


def _taken_back(node: HistoryNode, entry: Entry) -> RecordedCorrection:
    return RecordedCorrection(
        CorrectionKind.TAKEN_BACK, Correction(), node.entry.shown, len(node.entry.shown), entry.when,
        author=entry.author, foreign=True, held=True, about=node.count,
    )  # fmt: skip


def _author(entries: Sequence[Entry]) -> str:
    found = Counter(entry.author for entry in entries if entry.author)
    return found.most_common(1)[0][0] if found else ""


def _same_place(a: Path, b: Path) -> bool:
    try:
        return os.path.samefile(a, b)
    except OSError:
        return False


def _places(paths: Sequence[str], other: Other, project: str) -> _Map:
    """From numbers of the other's items to ours."""
    number = {path: at for at, path in enumerate(paths)}

    def place(item: int) -> int:
        if not 0 <= item < len(other.paths):
            raise ProjectError(
                tr(
                    "The journal of {name} names image {number}, but that project has {count}.",
                    name=other.name,
                    number=item + 1,
                    count=len(other.paths),
                ),
                tr("Its files do not belong together; restore it from a backup."),
            )
        path = other.paths[item]
        found = number.get(path)
        # A copy keeps its items' numbers, also where images were added from a folder further up.
        if found is None and project == other.project and item < len(paths) and _is_tail(path, paths[item]):
            found = item
        if found is None:
            raise InputError(
                tr(
                    "{name} says something about {image}, which is not in this project.",
                    name=other.name,
                    image=show(path),
                ),
                tr("Only projects of the same images can be merged. Add that image first."),
            )
        return found

    return place


def _is_tail(a: str, b: str) -> bool:
    return a.endswith(f"/{b}") or b.endswith(f"/{a}")


def _mapped(entry: Entry, place: _Map) -> Entry:
    """An entry by the numbers of our items."""
    if isinstance(entry, RecordedAudit):
        return replace(entry, left=place(entry.left), right=place(entry.right))
    if isinstance(entry, RecordedAnswer):
        return replace(entry, left=place(entry.left), right=place(entry.right), foreign=True)

    def several(items: Sequence[int]) -> tuple[int, ...]:
        return tuple(place(item) for item in items)

    old = entry.correction
    correction = Correction(
        leave=tuple(several(group) for group in old.leave),
        together=tuple((place(a), place(b)) for a, b in old.together),
        apart=tuple((place(a), place(b)) for a, b in old.apart),
        junk=several(old.junk),
        restore=several(old.restore),
        finish=several(old.finish),
        reopen=several(old.reopen),
        requeue=old.requeue,
        identities=tuple(several(group) for group in old.identities),
        unified=tuple((place(a), place(b)) for a, b in old.unified),
    )
    known = tuple(KnownName(one.name, several(one.anchors)) for one in entry.known)
    return replace(
        entry,
        correction=correction,
        shown=several(entry.shown),
        anchors=several(entry.anchors),
        known=known,
        foreign=True,
    )
