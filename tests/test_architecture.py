"""The layers of the package, checked: who may import whom, and what stays out of headless runs."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "a3s_desktop"
MODULES = sorted(PACKAGE.rglob("*.py"))
# Slow to import (2-3 s) and useless before there is work: loaded inside the functions that need them.
LAZY = ("scipy", "sklearn", "dask", "distributed")
QT = ("PySide6", "shiboken6", "pyqtgraph")


def _contracts() -> list[dict[str, Any]]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        return list(tomllib.load(file)["tool"]["importlinter"]["contracts"])


def _modules() -> set[str]:
    """Names of the direct children of the package."""
    files = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    return files | {path.parent.name for path in PACKAGE.glob("*/__init__.py")}


def _layered() -> set[str]:
    (layers,) = (contract["layers"] for contract in _contracts() if contract["id"] == "layers")
    return {name.strip(" ()") for line in layers for name in line.split("|")}


def _headless_modules() -> list[str]:
    found = []
    for path in MODULES:
        parts = path.relative_to(ROOT).with_suffix("").parts
        if "ui" not in parts and parts[-1] != "__main__":
            found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return found


def test_import_contracts_hold() -> None:
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command; lint_imports_command()",
            "--no-cache",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_every_module_has_its_place_in_the_layers() -> None:
    assert _modules() - _layered() == set()


def test_every_headless_module_is_kept_from_qt() -> None:
    (sources,) = (contract["source_modules"] for contract in _contracts() if contract["id"] == "qt")
    guarded = {name.removeprefix("a3s_desktop.") for name in sources}
    # The command line and the entry point reach the window, inside the commands that show one.
    assert _modules() - guarded == _modules() & {"ui", "cli", "__main__"}


def test_headless_modules_import_without_qt_and_without_slow_libraries() -> None:
    program = f"""
import importlib, sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {QT!r}:
            raise ImportError("no window here: " + name)
sys.meta_path.insert(0, Refuse())
for name in {_headless_modules()!r}:
    importlib.import_module(name)
    slow = [library for library in {LAZY!r} if library in sys.modules]
    assert not slow, f"{{name}} imports {{slow}} at its top"
"""
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_modules_stay_readable() -> None:
    """About 400 lines a module is the alarm bell; the bell rings at 450."""
    lines = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8").count("\n") for path in MODULES}
    assert {path: count for path, count in lines.items() if count > 450} == {}


def test_the_start_page_waits_for_no_large_library() -> None:
    code = (
        "import sys; from pathlib import Path; from PySide6.QtWidgets import QApplication; app = QApplication([]);"
        "from a3s_desktop.settings import SettingsStore; from a3s_desktop.ui.program import Program;"
        "program = Program(SettingsStore(None), Path()); program.show(); window = program.window.grab();"
        f"print([name for name in {(*LAZY, 'pyqtgraph')!r} if name in sys.modules]); program.shutdown()"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT, env=os.environ | {"QT_QPA_PLATFORM": "offscreen"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.stdout.strip() == "[]", run.stdout + run.stderr


def test_the_first_page_needs_neither_numpy_nor_pillow() -> None:
    """It is on the screen before the rest of the program is imported, and would come much later with these."""
    large = (*LAZY, "pyqtgraph", "numpy", "PIL", "a3s_desktop.session")
    code = (
        "import sys; from PySide6.QtWidgets import QApplication; application = QApplication([]);"
        "import a3s_desktop.cli; from a3s_desktop.ui import app; from a3s_desktop.settings import SettingsStore;"
        "first = app.FirstPage(SettingsStore(None)); first.show(); picture = first.window.grab();"
        f"print([name for name in {large!r} if name in sys.modules]); first.window.close(); del first"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT, env=os.environ | {"QT_QPA_PLATFORM": "offscreen"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.stdout.strip() == "[]", run.stdout + run.stderr
