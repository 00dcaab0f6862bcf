"""What a sync tool's copy of an open project holds that is not in the project, so that it can be merged."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from a3s_desktop.errors import A3SError
from a3s_desktop.i18n import tr, trn
from a3s_desktop.session.entries import RecordedAnswer
from a3s_desktop.session.merging import MergePlan
from a3s_desktop.session.session import Session
from a3s_desktop.storage.conflicts import holds_answers, undecided
from a3s_desktop.storage.files import show


@dataclass(frozen=True, slots=True, eq=False)
class ConflictCopy:
    """A copy that nobody has decided on.

    Attributes
    ----------
    project, path : Path
        The folder of the project, and the copy.
    plan : MergePlan or None
        None where it cannot be merged.
    problem : str
        Why not; empty otherwise.
    """

    project: Path
    path: Path
    plan: MergePlan | None = field(default=None, repr=False)
    problem: str = ""

    def text(self) -> str:
        """One sentence."""
        name = show(self.path.name)
        if self.plan is None:
            return tr("A sync tool left a second copy that cannot be merged: {name}.", name=name)
        if self.plan.empty:
            return tr("A sync tool left a second copy, {name}. All that it holds is here already.", name=name)
        answers = sum(isinstance(entry, RecordedAnswer) for entry in self.plan.entries)
        count = len(self.plan.entries) + len(self.plan.amendments)
        if answers == count:
            return trn(
                "A sync tool left a second copy with {n} answer that is not in this one.",
                "A sync tool left a second copy with {n} answers that are not in this one.",
                count,
            )
        return trn(
            "A sync tool left a second copy with {n} entry that is not in this one.",
            "A sync tool left a second copy with {n} entries that are not in this one.",
            count,
        )


def next_copy(session: Session, later: Collection[Path] = ()) -> ConflictCopy | None:
    """The first copy of the session's project that can hold answers, is undecided, and not put off until later."""
    workspace = session.workspace
    if workspace is None or workspace.read_only:
        return None
    for path in undecided(workspace.folder):
        if holds_answers(path) and path not in later:
            try:
                plan = session.joint.plan(path)
            except A3SError as error:
                return ConflictCopy(workspace.folder, path, problem=str(error))
            if plan.empty and plan.warning:  # damaged: nothing new was found, which does not say that there is nothing
                return ConflictCopy(workspace.folder, path, problem=plan.warning)
            return ConflictCopy(workspace.folder, path, plan)
    return None
