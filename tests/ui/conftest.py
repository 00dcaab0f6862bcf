"""What tests of several parts of the window share."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QApplication


@pytest.fixture
def dialog(qtbot) -> Callable[[type], object]:
    """Waits for a dialog of a kind."""

    def find(kind: type):
        def shown():
            return [w for w in QApplication.topLevelWidgets() if isinstance(w, kind) and w.isVisible()]

        qtbot.waitUntil(lambda: bool(shown()), timeout=20_000)
        return shown()[-1]

    return find
