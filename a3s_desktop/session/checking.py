"""Verify a whole project and repair it: the files, and what its entries lead to.

Source of the rules: an engine that is given all entries anew must come to the very state that the snapshots hold; each
image is in exactly one cluster; no two answers contradict each other; names are unique and on clusters that exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np

from a3s_desktop.core.engine import Engine
from a3s_desktop.core.types import Answer
from a3s_desktop.errors import A3SError
from a3s_desktop.i18n import tr, trn
from a3s_desktop.session.names import name_key
from a3s_desktop.session.opening import load_base, open_session
from a3s_desktop.session.session import Session
from a3s_desktop.storage import files
from a3s_desktop.storage.backup import backup_before, drop_snapshots, mend_description
from a3s_desktop.storage.check import Finding, Level, check_files
from a3s_desktop.storage.journal_types import JournalProtocol, MemoryJournal
from a3s_desktop.storage.lock import project_lock
from a3s_desktop.storage.pointer import project_folder
from a3s_desktop.storage.workspace import Workspace, open_workspace
from a3s_desktop.task import Task

_STAGES = 2  # of a check: the files, the answers
_REPAIR_STAGES = 2 * _STAGES + 2  # between two checks: what is mended at once, and opening the project


def check_project(folder: Path, task: Task | None = None, repair: bool = False) -> tuple[Finding, ...]:
    """Verify a project; with ``repair`` also mend it, which needs that it is open nowhere.

    Returns
    -------
    tuple of Finding
        With ``repair``: what was done, then what is found afterwards.

    Raises
    ------
    ProjectLockedError
        It is to be repaired and is open in another window.
    NoProjectError, ProjectVersionError
        There is none, or a newer version of the program wrote it.
    StorageFailedError, Cancelled
    """
    task = task or Task()
    folder = project_folder(folder)
    task.plan(_REPAIR_STAGES if repair else _STAGES)
    found = tuple(_check(folder, task))
    if not repair or is_whole(found):
        return found
    task.plan(_REPAIR_STAGES, _STAGES)
    done = tuple(_repair(folder, found, task))
    task.plan(_REPAIR_STAGES, _REPAIR_STAGES - _STAGES)
    return (*done, *_check(folder, task))


def is_whole(findings: tuple[Finding, ...]) -> bool:
    """Whether nothing is damaged."""
    return all(one.level is not Level.DAMAGED for one in findings)


def _check(folder: Path, task: Task) -> Iterator[Finding]:
    found: list[Finding] = []
    for one in check_files(folder, task):
        found.append(one)
        yield one
    if any(one.level is Level.DAMAGED and one.part in ("description", "features") for one in found):
        return  # there is nothing to give the entries to
    task.stage(tr("Giving all answers again"))
    try:
        with open_workspace(folder, read_only=True) as workspace:
            yield from _replay(workspace, task)
    except A3SError as error:
        yield Finding(Level.DAMAGED, str(error), "clusters", folder)


def _replay(workspace: Workspace, task: Task) -> Iterator[Finding]:
    initial = workspace.load_initial()
    if initial is None:
        text = tr("The initial clustering is missing or damaged; it is computed again when the project is opened.")
        yield Finding(Level.DAMAGED, text, "results")
        return
    views, options, base = workspace.views(), workspace.strategy_options, load_base(workspace)

    def session(journal: JournalProtocol) -> Session:
        return Session(initial, views, options, journal, base=base, read_only=True, snapshot_every=0, task=task)

    anew = session(_without_snapshots(workspace))
    quick = Session(
        initial, views, options, workspace.journal, workspace=workspace, base=base, read_only=True, snapshot_every=0
    )
    yield from _snapshots(anew, quick, workspace.folder)
    yield from _clusters(anew.engine)
    yield from _names(anew)


def _snapshots(anew: Session, quick: Session, folder: Path) -> Iterator[Finding]:
    """Whether opening by the newest snapshot comes to what the entries lead to; and if not, what is wrong there."""
    unusable = [text for text in quick.warnings if text not in anew.warnings]
    for text in unusable:
        yield Finding(Level.DAMAGED, text, "snapshots", folder)
    if anew.engine.digest() != quick.engine.digest():
        text = tr("The newest snapshot holds another state than the one that the entries lead to.")
        yield Finding(Level.DAMAGED, text, "snapshots", folder)
        for one in (*_clusters(quick.engine), *_names(quick)):
            if one.level is Level.DAMAGED:
                yield Finding(one.level, tr("In the newest snapshot: {what}", what=one.text), "snapshots", folder)
    elif not unusable:
        yield Finding(Level.FINE, tr("The snapshots hold what the entries lead to."), "snapshots")


def _without_snapshots(workspace: Workspace) -> MemoryJournal:
    bare = MemoryJournal()
    for record in workspace.journal.records():
        bare.append(record.kind, record.payload, record.at)
    return bare


def _clusters(engine: Engine) -> Iterator[Finding]:
    partition, labels = engine.partition, engine.labels
    parts = [partition.members(int(cluster)) for cluster in partition.cluster_ids()]
    everyone = np.sort(np.concatenate(parts)) if parts else np.zeros(0, np.int32)
    if np.array_equal(everyone, np.arange(len(labels))):
        text = trn(
            "{n} cluster; each image is in exactly one.", "{n} clusters; each image is in exactly one.", len(parts)
        )
        yield Finding(Level.FINE, text, "clusters")
    else:
        yield Finding(Level.DAMAGED, tr("Not every image is in exactly one cluster."), "clusters")
    contradictions, broken = _contradictions(engine)
    if contradictions:
        text = trn("{n} answer contradicts others.", "{n} answers contradict others.", contradictions)
        yield Finding(Level.DAMAGED, text, "clusters")
    if broken:
        text = trn("{n} answer is not kept by the clusters.", "{n} answers are not kept by the clusters.", broken)
        yield Finding(Level.DAMAGED, text, "clusters")
    if not contradictions and not broken:
        yield Finding(Level.FINE, tr("No two answers contradict each other."), "clusters")


def _contradictions(engine: Engine) -> tuple[int, int]:
    """How many pairs are said to differ though other answers make them the same; how many the clusters do not keep.

    By a closure of its own, not by the store that is checked.
    """
    leader = list(range(len(engine.labels)))

    def find(item: int) -> int:
        while leader[item] != item:
            leader[item] = leader[leader[item]]
            item = leader[item]
        return item

    constraints = list(engine.store.constraints())
    for left, right, answer in constraints:
        if answer is Answer.SAME:
            leader[find(left)] = find(right)
    contradictions = sum(find(left) == find(right) for left, right, answer in constraints if answer is Answer.DIFFERENT)
    labels, junk = engine.labels, engine.junk
    broken = sum(
        (labels[left] == labels[right]) != (answer is Answer.SAME)
        for left, right, answer in constraints
        if not (junk[left] or junk[right])
    )
    return contradictions, broken


def _names(session: Session) -> Iterator[Finding]:
    names = session.state.names
    there = {int(cluster) for cluster in session.engine.partition.cluster_ids()}
    keys = [name_key(name) for name in names.values()]
    if set(names) - there:
        yield Finding(Level.DAMAGED, tr("A name is on a cluster that does not exist."), "names")
    elif len(set(keys)) != len(keys):
        yield Finding(Level.DAMAGED, tr("Two clusters have the same name."), "names")
    else:
        yield Finding(
            Level.FINE, trn("{n} name, on one cluster.", "{n} names, each on one cluster.", len(names)), "names"
        )
    conflicts = session.state.conflicts
    if conflicts:
        text = trn(
            "{n} entry contradicts earlier ones and has no effect until it is decided on.",
            "{n} entries contradict earlier ones and have no effect until they are decided on.",
            len(conflicts),
        )
        yield Finding(Level.NOTE, text, "clusters")


# ------------------------------------------------------------------------------------------------ repair


def _repair(folder: Path, found: tuple[Finding, ...], task: Task) -> Iterator[Finding]:
    task.stage(tr("Repairing"))
    parts = {one.part for one in found if one.level is Level.DAMAGED}
    lock = project_lock(folder)
    lock.acquire()
    try:
        if "description" in parts:
            for name in mend_description(folder):
                yield Finding(Level.REPAIRED, tr("Put back from a backup: {name}.", name=name), "description")
        if "journal" not in parts and backup_before(folder, "repair") is not None:
            yield Finding(Level.REPAIRED, tr("A backup of the present state was made."), "backups")
        for one in found:
            if one.level is Level.DAMAGED and one.place is not None and one.part in ("results", "backups"):
                yield _put_aside(one)
        if "snapshots" in parts and "journal" not in parts:
            drop_snapshots(folder)
            yield Finding(Level.REPAIRED, tr("The snapshots were dropped; new ones will be taken."), "snapshots")
    finally:
        lock.release()
    if not parts & {"journal", "results", "snapshots", "clusters"}:
        return
    try:
        session, report = open_session(folder, task=task)  # which repairs the journal and computes what is missing
    except A3SError as error:
        yield Finding(Level.NOTE, str(error), "clusters")
        return
    with closing(session):
        if report.recovered:
            yield Finding(Level.REPAIRED, report.recovered, "journal")
        if "results" in parts:
            yield Finding(Level.REPAIRED, tr("What was missing was computed again."), "results")


def _put_aside(one: Finding) -> Finding:
    """Results can be computed again and go; a damaged backup stays under another name."""
    assert one.place is not None
    try:
        if one.part == "results":
            files.remove_tree(one.place)
            return Finding(Level.REPAIRED, tr("The damaged result {name} was removed.", name=one.place.name), one.part)
        aside = one.place.with_name(one.place.name + ".damaged")
        files.rename(one.place, aside)
    except OSError as error:
        raise files.write_failed(one.place, error) from error
    return Finding(Level.REPAIRED, tr("The damaged backup was put aside as {name}.", name=aside.name), one.part)
