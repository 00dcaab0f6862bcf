"""The work of two annotators on one project, as the session has it now: what merging would do, what is undecided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from a3s_desktop.core.engine import Engine
from a3s_desktop.errors import ProjectError
from a3s_desktop.i18n import tr
from a3s_desktop.session.chain import HistoryNode
from a3s_desktop.session.disagreements import Disagreement, disagreements
from a3s_desktop.session.history import History
from a3s_desktop.session.joint_names import JointNames
from a3s_desktop.session.merging import MergePlan, Other, plan_merge, read_journal_copy, read_other
from a3s_desktop.session.state import HistoryEntry
from a3s_desktop.storage.workspace import JOURNAL_FILE, Workspace


class Joint:
    """See the module.

    Parameters
    ----------
    workspace : Workspace or None
    engine : Engine
    history : History
    conflicts : sequence of int
    describe : callable
        An entry as views see it.
    behind : callable
        The entries that the links of a chain come from.
    """

    def __init__(
        self,
        workspace: Workspace | None,
        engine: Engine,
        history: History,
        conflicts: Sequence[int],
        describe: Callable[[HistoryNode], HistoryEntry],
        behind: Callable[[Sequence[tuple[int, int, str]]], tuple[HistoryEntry | None, ...]],
    ) -> None:
        self._workspace, self._engine, self._history = workspace, engine, history
        self._conflicts, self._describe, self._behind = conflicts, describe, behind

    def plan(self, folder: Path) -> MergePlan:
        """What merging another project, or a copy of our journal beside it, would do.

        Raises what `read_other`, `read_journal_copy` and `plan_merge` raise.
        """
        if self._workspace is None:
            raise ProjectError(tr("This session has no project folder whose images could be named."))
        if folder.suffix == Path(JOURNAL_FILE).suffix and folder.is_file():
            other = read_journal_copy(folder, self._workspace)
        else:
            other = read_other(folder, self._workspace.folder)
        return self.plan_of(other, self._workspace.items.paths, self._workspace.id)

    def plan_of(self, other: Other, paths: Sequence[str], project: str) -> MergePlan:
        """The same for a project that was read before; ``paths`` and ``project`` are ours."""
        names = JointNames(self._history.names, self._engine.labels, self._engine.junk.values)
        return plan_merge(self._history, paths, project, names, self._conflicts, other)

    def disagreements(self) -> tuple[Disagreement, ...]:
        """What nobody has decided on yet, oldest first."""
        return disagreements(self._engine, self._history, self._conflicts, self._describe, self._behind)
