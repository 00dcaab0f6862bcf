"""No program that these tests start has a network, and none may ask for one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.watched import Watch


@pytest.fixture(autouse=True)
def watch(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    """Every test of this folder, the window's too, fails where a socket was asked for that is not local."""
    one = Watch(tmp_path_factory.mktemp("watch"))
    for name, value in one.environment.items():
        monkeypatch.setenv(name, value)
    yield one
    assert one.sockets() == ""
    assert not any(one.qt_network())
