"""The set-up script: what it says when something is missing, and that the lock files are complete."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "packaging" / "run.py"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    specification = importlib.util.spec_from_file_location("a3s_run", SCRIPT)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def _locked(*names: str) -> dict[str, str]:
    pins = {}
    for name in names:
        for line in (ROOT / "packaging" / "requirements" / name).read_text(encoding="utf-8").splitlines():
            if line and not line.startswith(("#", "-r")):
                package, version = line.partition(";")[0].strip().split("==")
                pins[_canonical(package)] = version
    return pins


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("arguments", [["--help"], ["demo", "--help"], ["test", "--help"]])
def test_help(arguments: list[str]) -> None:
    shown = subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=True)
    assert "demo" in shown.stdout or "pytest" in shown.stdout


def test_the_script_needs_nothing_but_the_standard_library() -> None:
    program = f"import runpy; runpy.run_path({str(SCRIPT)!r}, run_name='probe')"
    subprocess.run([sys.executable, "-I", "-S", "-c", program], check=True)


def test_an_unsupported_python_is_named(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "supported", lambda version: False)
    monkeypatch.setattr(run, "find_python", lambda: None)
    monkeypatch.setattr(sys, "argv", ["run.py", "demo"])
    assert run.main() == 2
    said = capsys.readouterr().err
    assert "needs Python 3.11, 3.12 or 3.13" in said
    assert "Traceback" not in said


def test_supported_versions(run: ModuleType) -> None:
    assert [minor for minor in range(8, 16) if run.supported((3, minor, 1))] == [11, 12, 13]


def test_missing_packages_are_named_to_an_ordinary_user(run: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "is_root", lambda: False)
    monkeypatch.setattr(run.shutil, "which", lambda name: "/usr/bin/" + name)
    with pytest.raises(run.Problem, match=r"sudo apt-get install .*libegl1"):
        run.apt_install(["libegl1"], "Missing.")
    monkeypatch.setattr(run.shutil, "which", lambda name: None)
    with pytest.raises(run.Problem, match="libegl1"):
        run.apt_install(["libegl1"], "Missing.")


def test_missing_libraries_are_found_by_loading(run: ModuleType) -> None:
    assert run.missing_libraries((("libno-such-thing.so.77", "libno-such-thing"),)) == ["libno-such-thing"]


def test_pip_without_network_is_explained(run: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = tmp_path / "fake.py"
    fake.write_text("print('NewConnectionError: Temporary failure in name resolution'); raise SystemExit(1)")
    monkeypatch.setattr(run, "PYTHON", shutil.which("false") or sys.executable)

    def answer(command: list[str], **options: object) -> subprocess.CompletedProcess[bytes]:
        return subprocess.CompletedProcess(command, 1, fake.read_bytes())

    monkeypatch.setattr(run.subprocess, "run", answer)
    with pytest.raises(run.Problem, match="no network"):
        run.pip_install(["-r", "runtime.txt"], "A locked package")


def test_a_second_run_sets_nothing_up(run: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(run, "STAMP", str(tmp_path / "stamp.json"))
    monkeypatch.setattr(run, "PYTHON", sys.executable)
    installed: list[str] = []
    monkeypatch.setattr(run, "venv_works", lambda: True)
    monkeypatch.setattr(run, "pip_install", lambda arguments, what: installed.append(what))
    run.ensure_environment("demo")
    assert len(installed) == 2
    run.ensure_environment("demo")
    assert len(installed) == 2
    stamp = json.loads((tmp_path / "stamp.json").read_text())
    (tmp_path / "stamp.json").write_text(json.dumps(dict(stamp, demo="older lock files")))
    run.ensure_environment("demo")
    assert len(installed) == 4


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="X11 is a matter of Linux")
def test_a_display_that_does_not_answer_is_no_display(run: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("DISPLAY", raising=False)
    assert not run.has_display()
    monkeypatch.setenv("DISPLAY", ":9876")
    assert not run.has_display()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0/tmp/.X11-unix/X9876")
        server.listen()
        assert run.has_display()
        monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
        assert not run.has_display()


def test_lock_files_cover_what_pyproject_asks_for() -> None:
    """Every dependency, direct or not, is pinned, and the pins are what the tests run on."""
    locked = _locked("build.txt", "runtime.txt", "dev.txt")
    runtime = _locked("build.txt", "runtime.txt")
    for name, version in locked.items():
        assert importlib.metadata.version(name) == version, name
        for requirement in importlib.metadata.requires(name) or []:
            clause, _, marker = requirement.partition(";")
            needed = _canonical(re.split(r"[\s<>=!~(\[]", clause.strip())[0])
            applies = not re.search(r"extra\s*==|python_version < ['\"]3\.1[01]['\"]", marker)
            if applies:
                assert needed in (runtime if name in runtime else locked), f"{name} needs {needed}"
