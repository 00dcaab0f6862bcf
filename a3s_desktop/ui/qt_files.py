"""Files that Qt makes on its own account."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSettings


def keep_in(folder: Path) -> None:
    """Let Qt keep its notes in ``folder``: its file dialogs remember which folders they showed.

    They would be in a file of all Qt programs otherwise, where nobody looks for them. Without effect on Windows and
    macOS, whose own dialogs are shown.
    """
    QSettings.setPath(QSettings.Format.NativeFormat, QSettings.Scope.UserScope, str(folder))
