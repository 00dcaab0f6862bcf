"""The three kinds of failure: known problems (``A3SError``), cancellation (``Cancelled``), and bugs (anything else)."""

from __future__ import annotations

from a3s_desktop.i18n import tr, trn
from a3s_desktop.printable import escaped


class A3SError(Exception):
    """A known problem, said to a person.

    Parameters
    ----------
    message : str
        One sentence that names the file, row or field at fault.
    hint : str
        One sentence that says what to do about it; may be empty.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        message = escaped(message)
        super().__init__(message)
        self.message = message
        self.hint = escaped(hint)

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InputError(A3SError):
    """A file, row or field that the user supplied cannot be used as it is."""


class ProjectError(A3SError):
    """A project folder cannot be created, opened or written."""


class ProjectLockedError(ProjectError):
    """Another process holds the project's writer lock; it can still be opened read-only.

    Parameters
    ----------
    stale : bool
        It is of another computer that has given no sign of life for long: it may be taken over.
    """

    def __init__(self, message: str, hint: str = "", stale: bool = False) -> None:
        super().__init__(message, hint)
        self.stale = stale


class NoProjectError(ProjectError):
    """There is no project in the folder, nor anything that it could be repaired or restored from."""


class ProjectVersionError(ProjectError):
    """The project was written by a version of the program that this one does not understand."""


class ReadOnlyError(A3SError):
    """A change was asked of a project that is open read-only."""


class StorageFailedError(A3SError):
    """Writing to disk failed (full, no rights, unplugged); nothing of the change was kept."""


class DaskError(A3SError):
    """A Dask cluster cannot be used, or failed; what was finished of the work is kept."""


class ContradictionError(A3SError):
    """An answer contradicts earlier answers; nothing was changed.

    Parameters
    ----------
    chain : tuple of (int, int, str)
        The earlier answers ``(left, right, "same" | "different")`` that together imply the opposite, as a path
        from one sample of the refused pair to the other.
    """

    def __init__(self, message: str, chain: tuple[tuple[int, int, str], ...], hint: str = "") -> None:
        super().__init__(message, hint)
        self.chain = chain


class StaleAnswerError(A3SError):
    """An answer to a question that is no longer the current one; it is dropped."""


class NothingToUndoError(A3SError):
    """There is no answer left to undo or redo."""


class Cancelled(Exception):  # noqa: N818 - not an error: the user asked for it
    """The user cancelled a task; nothing half-made is left behind."""


class NameTakenError(InputError):
    """Another cluster has this name already; the two might be one.

    Parameters
    ----------
    name : str
    cluster : int
        Id of the cluster that has it.
    size : int
        Images in that cluster.
    """

    def __init__(self, name: str, cluster: int, size: int) -> None:
        super().__init__(
            trn(
                "Another cluster, of {n} image, is named “{name}” already.",
                "Another cluster, of {n} images, is named “{name}” already.",
                size,
                name=name,
            ),
            tr("Merge the two, or choose another name."),
        )
        self.name = name
        self.cluster = cluster


class KnownApartError(InputError):
    """Two clusters have different names from a file; to merge them, that has to be said.

    Parameters
    ----------
    first, second : str
        Their names; empty where they have none.
    """

    def __init__(self, first: str, second: str) -> None:
        message = (
            tr("“{first}” and “{second}” are two names of a list that was taken over.", first=first, second=second)
            if first and second
            else tr("These two are different groups of a list that was taken over.")
        )
        super().__init__(message, tr("Merge them only if the list is wrong."))
        self.first = first
        self.second = second
