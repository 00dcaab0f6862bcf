"""The real window where something is missing that every machine has: it starts, shows a pair, and keeps an answer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from PIL import Image

from tests.e2e import machine
from tests.e2e.watched import in_front
from tests.ui.pair_project import make_project

pytestmark = [
    pytest.mark.xcb,
    pytest.mark.skipif(bool(machine.missing_tools()), reason=f"needs {', '.join(machine.TOOLS)}"),
    pytest.mark.skipif(sys.platform != "linux", reason="what is missing here is missing on Linux"),
]
NO_FONTS = '<?xml version="1.0"?>\n<fontconfig><cachedir>{}</cachedir></fontconfig>\n'
USERS = ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("made"))


@pytest.fixture
def project(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "project")


def works(
    screen: str,
    project: Path,
    trace: Path,
    environment: Mapping[str, str | None] | None = None,
    before: Sequence[str] = (),
) -> str:
    """Start, answer, look at the screen, quit; returns what the program said on its standard streams."""
    program = machine.Running(screen, trace, "open", project, environment=environment, before=before)
    try:
        program.first_pair()
        program.keys("f")
        program.wait(lambda _: program.ready() and program.last("painted")["answers"] == 1, "next pair")
        program.picture(trace.with_suffix(".png"))
        assert program.quit() == 0
    finally:
        program.close()
    assert "Traceback" not in program.output()
    assert json.loads(machine.command("info", project, "--json").stdout)["answers"] == 1
    return program.output()


def colours(picture: Path) -> int:
    """How many colours are on a screen; a window that was not drawn has few."""
    with Image.open(picture) as opened:
        return len(opened.convert("RGB").getcolors(1 << 24) or ())


def test_a_remote_desktop_of_few_colours_without_a_graphics_card(project: Path, tmp_path: Path) -> None:
    none = {"QT_XCB_GL_INTEGRATION": "none", "LIBGL_DRIVERS_PATH": str(tmp_path / "none")}
    with machine.display("1280x720", 16, ("-extension", "GLX")) as screen:
        works(screen, project, tmp_path / "trace.jsonl", none)
    assert colours(tmp_path / "trace.png") > 100


def test_a_display_on_which_nothing_can_be_drawn_is_said(project: Path) -> None:
    """Qt draws nothing on a display of 256 colours: a black window would take answers to pairs that nobody sees."""
    with machine.display("1280x720", 8) as screen:
        done = subprocess.run(
            [*in_front(), sys.executable, "-m", "a3s_desktop", "open", str(project)],
            env={**os.environ, "DISPLAY": screen, "QT_QPA_PLATFORM": "xcb"},
            capture_output=True, text=True, check=False, timeout=170,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("a3s-desktop: This display has too few colours (8 bits)")
    assert "15 bits" in done.stderr


def test_no_fonts(project: Path, tmp_path: Path) -> None:
    config = tmp_path / "fonts.conf"
    config.write_text(NO_FONTS.format(tmp_path / "fonts"))
    with machine.display() as screen:
        works(screen, project, tmp_path / "trace.jsonl", {"FONTCONFIG_FILE": str(config)})


def read_only(folder: Path) -> list[str]:
    """Words in front of a command, for which a folder cannot be written; none where no way is open."""
    unshare = shutil.which("unshare")
    if os.getuid():
        folder.chmod(0o555)
        return ["env"]
    mount = 'mount -t tmpfs -o ro none "$0" && exec "$@"'
    words = [str(unshare), "-m", "sh", "-c", mount, str(folder)]
    allowed = unshare and not subprocess.run([*words, "true"], capture_output=True, check=False).returncode
    return words if allowed else []


def test_a_home_that_is_read_only(project: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    before = read_only(home)
    if not before:
        pytest.skip("this system does not let the tests make a folder read-only")
    nowhere = {**dict.fromkeys(USERS), "HOME": str(home), "TMPDIR": str(tmp_path / "none")}
    with machine.display() as screen:
        works(screen, project, tmp_path / "trace.jsonl", nowhere, before)
    assert list(home.iterdir()) == []


def test_no_home_and_nowhere_to_keep_anything(project: Path, tmp_path: Path) -> None:
    """Settings, logs and caches would be below a file; nor is there a folder for temporary files."""
    (tmp_path / "file").write_text("")
    place = str(tmp_path / "file" / "below")
    nowhere: dict[str, str | None] = {**dict.fromkeys(USERS, place), "HOME": place, "TMPDIR": place}
    with machine.display() as screen:
        works(screen, project, tmp_path / "trace.jsonl", nowhere)


def test_home_is_not_set(project: Path, tmp_path: Path) -> None:
    with machine.display() as screen:
        works(screen, project, tmp_path / "trace.jsonl", {"HOME": None})
