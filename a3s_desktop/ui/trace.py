"""A debugging aid (``A3S_TRACE_FILE=path``): what the user saw and did, one JSON object a line, written at once.

Every line is in the operating system's hands before the window goes on, so the file also tells after a crash which
pairs had been on the screen. Lines:

``{"event": "painted", "question": id, "left": i, "right": j, "answers": n, "at": t}``
    Both images of this pair have just been painted; ``answers`` (skips included) are in force.
``{"event": "ready", "question": id, "at": t}``
    An answer to this pair is taken from now on.
``{"event": "changed", "kind": "answer" | "undo" | "redo" | "opened", "text": "Same", "answers": n, "at": t}``
    An operation is on disk and was published.
``{"event": "window", "id": n}``
    The native id of the main window, for programs that send it keys.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Slot

from a3s_desktop.session.state import Change, QuestionView, SessionState
from a3s_desktop.storage import files
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.label_page import LabelPage


class Trace(QObject):
    """Listens to the bridge and writes the file; see the module's text.

    Parameters
    ----------
    path : Path
        Appended to.
    bridge : Bridge
    """

    def __init__(self, path: Path, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._file = files.open_to_append(path)
        bridge.pairPainted.connect(self._on_painted)
        bridge.stateChanged.connect(self._on_changed)

    def window(self, native_id: int) -> None:
        """Note the main window's native id."""
        self._write("window", id=native_id)

    def watch(self, page: LabelPage) -> None:
        """Also note when answers are taken."""
        page.readyChanged.connect(self._on_ready)

    def close(self) -> None:
        """End the file."""
        self._file.close()

    @Slot(object)
    def _on_painted(self, question: QuestionView) -> None:
        self._write("painted", question=question.id, left=question.left, right=question.right, answers=self._in_force())

    @Slot(bool)
    def _on_ready(self, ready: bool) -> None:
        state = self._bridge.state
        if ready and state is not None and state.question is not None:
            self._write("ready", question=state.question.id)

    @Slot(object, object)
    def _on_changed(self, _state: SessionState, change: Change) -> None:
        self._write("changed", kind=change.kind.value, text=change.text, answers=self._in_force())

    def _in_force(self) -> int:
        state = self._bridge.state
        return state.answers + state.skipped if state is not None else 0

    def _write(self, event: str, **values: Any) -> None:
        if not self._file.closed:
            line = json.dumps({"event": event, **values, "at": round(time.time(), 4)})
            files.write_all(self._file, line.encode() + b"\n")
