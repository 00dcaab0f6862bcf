"""Private data are cleared from the command line while a real window is open; it goes on, and nothing comes back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from a3s_desktop.storage.places import user_places
from tests.e2e import machine
from tests.e2e.whole_run import make_images

pytestmark = [
    pytest.mark.xcb,
    pytest.mark.skipif(bool(machine.missing_tools()), reason=f"needs {', '.join(machine.TOOLS)}"),
]


def test_a_window_that_is_open_goes_on(tmp_path: Path) -> None:
    make_images(tmp_path / "photos", 0, 16)
    project, places = tmp_path / "project", user_places()
    machine.command("new", project, "--images", tmp_path / "photos", "--no-embeddings")
    with machine.display() as screen:
        program = machine.Running(screen, tmp_path / "trace.jsonl", "open", project)
        try:
            program.first_pair()
            assert str(project) in places.settings.read_text(encoding="utf-8")
            said = machine.command("clear").stdout
            assert "Log files" in said
            assert (places.logs / "a3s-desktop.log").read_bytes() == b""
            program.keys("f")
            program.wait(lambda _: program.ready() and program.last("painted")["answers"] == 1, "next pair")
            assert program.quit() == 0
        finally:
            program.close()
    assert "Traceback" not in program.output()
    assert str(project) not in places.settings.read_text(encoding="utf-8")  # which it wrote at its end
    assert json.loads(machine.command("info", project, "--json").stdout)["answers"] == 1
