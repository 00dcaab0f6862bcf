#!/usr/bin/env python3
"""Proves the Windows installer: silent installation, what it wrote, the program, silent removal that keeps projects.

    python packaging/prove_windows.py setup.exe [--self-test]              on Windows
    python3 packaging/prove_windows.py --stand-in PAYLOAD [--keep FOLDER]  elsewhere, with makensis and 64-bit Wine

Elsewhere there is no Windows program to install. A stand-in takes its place: a small console program of Windows that is
part of setuptools, with the notices and pages of a bundle that was built here (PAYLOAD). That tries the installer's own
work: files, registry, links, the type .a3s, the uninstaller; and the payload not at all.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import build
from bundle import versions
from bundle.nsis import write_lists

WINDOWS = sys.platform == "win32"
UNINSTALL = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Uninstall\A3S Desktop"
KEYS = (
    UNINSTALL,
    r"HKCU\Software\A3S Desktop",
    r"HKCU\Software\Classes\A3SDesktop.Project",
    r"HKCU\Software\Classes\.a3s",
)


class Failed(Exception):
    """A step that did not hold."""


class Wine:
    """Windows, or what stands for it."""

    def __init__(self, folder: Path) -> None:
        self._environment = dict(os.environ)
        self._prefix: list[str] = []
        if not WINDOWS:
            program = next((p for p in ("wine64", "/usr/lib/wine/wine64", "wine") if shutil.which(p)), None)
            if program is None:
                raise Failed("Wine is missing.")
            self._prefix = [program]
            self._environment |= {"WINEPREFIX": str(folder / "wine"), "WINEDEBUG": "-all", "DISPLAY": ""}
            self._environment["WINEDLLOVERRIDES"] = "mscoree,mshtml="
            self.run("wineboot", "-i")
            self.drive = folder / "wine" / "drive_c"
            user = next((self.drive / "users").glob("[!P]*"))
            self.local, self.menu = (
                user / "AppData/Local",
                user / "AppData/Roaming/Microsoft/Windows/Start Menu/Programs",
            )
        else:
            self.local = Path(os.environ["LOCALAPPDATA"])
            self.menu = Path(os.environ["APPDATA"]) / "Microsoft/Windows/Start Menu/Programs"

    def run(self, *command: object) -> subprocess.CompletedProcess[str]:
        """Run a program of Windows and wait for it."""
        return subprocess.run(
            [*self._prefix, *map(str, command)],
            env=self._environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=600,
        )  # fmt: skip

    def pretend(self, version: str) -> None:
        """Which Windows Wine says it is."""
        self.run("reg", "add", r"HKCU\Software\Wine", "/v", "Version", "/d", version, "/f")

    def has_key(self, key: str) -> bool:
        """Whether a key is in the registry."""
        return self.run("reg", "query", key).returncode == 0

    def value(self, key: str, name: str) -> str:
        """A value of the registry; "" where there is none."""
        out = self.run("reg", "query", key, *(("/v", name) if name else ("/ve",))).stdout
        line = next((line for line in out.splitlines() if "REG_" in line), "")
        return line.split("REG_SZ")[-1].split("REG_DWORD")[-1].strip()


def stand_in(payload: Path, folder: Path) -> Path:
    """A folder as PyInstaller makes one on Windows, with small programs in the place of ours."""
    found = importlib.util.find_spec("setuptools")
    if found is None or not found.submodule_search_locations:
        raise Failed("setuptools, from which the stand-in comes, is missing.")
    programs = Path(found.submodule_search_locations[0])
    (folder / "_internal" / "base").mkdir(parents=True)
    shutil.copyfile(programs / "gui-64.exe", folder / "a3s-desktop.exe")
    shutil.copyfile(programs / "cli-64.exe", folder / "a3s-console.exe")
    (folder / "_internal" / "base" / "odd $name 'quoted' é.txt").write_text("a file name that scripts stumble over\n")
    for name in ("licences", "doc"):
        shutil.copytree(payload / name, folder / name)
    return folder


def compile_installer(payload: Path, icon: Path, work: Path) -> Path:
    """The installer of a payload, by the same script and warnings as errors."""
    write_lists(payload, work / "lists")
    setup = work / "a3s-desktop-test-setup.exe"  # Windows distrusts a bare "setup.exe"
    values = {
        "VERSION": versions.version(),
        "FOUR_NUMBERS": ".".join(map(str, versions.four_numbers(versions.version()))),
        "PAYLOAD": payload, "LISTS": work / "lists", "ICON": icon, "OUT": setup, "KILOBYTES": 1000,
    }  # fmt: skip
    options = [f"-D{key}={value}" for key, value in values.items()]
    # Debian's NSIS makes 64-bit installers, too, which 64-bit Wine can run.
    target = ["-XTarget amd64-unicode"]
    build.run(["makensis", "-V2", "-WX", *target, *options, build.PACKAGING / "windows" / "installer.nsi"])
    return setup


def prove(wine: Wine, setup: Path, run_self_test: bool) -> None:
    """Install, look, remove, look."""
    home = wine.local / "Programs" / "A3S Desktop"
    if not WINDOWS:
        wine.pretend("win7")
        expect(wine.run(setup, "/S").returncode == 3 and not home.exists(), "a Windows that is too old is refused")
        wine.pretend("win10")
        say("refused by a Windows that is too old, with exit code 3")
    begun = time.monotonic()
    done = wine.run(setup, "/S")
    expect(done.returncode == 0, f"the silent installation ends with 0 ({done.returncode}) {done.stderr[-300:]}")
    say(f"installed silently in {time.monotonic() - begun:.1f} s, for the user alone: {home.name}")
    files = [path for path in home.rglob("*") if path.is_file()]
    expect(
        (home / "a3s-desktop.exe").is_file() and (home / "uninstall.exe").is_file(), "program and uninstaller are there"
    )
    for key in KEYS:
        expect(wine.has_key(key), f"{key} is in the registry")
    expect(wine.value(UNINSTALL, "DisplayVersion") == versions.version(), "the version is in the list of programs")
    command = wine.value(r"HKCU\Software\Classes\A3SDesktop.Project\shell\open\command", "")
    expect("a3s-desktop.exe" in command and '"%1"' in command, f"projects are opened by the program ({command})")
    links = sorted(path.name for path in (wine.menu / "A3S Desktop").iterdir())
    expect(links == ["A3S Desktop.lnk", "Guide.lnk"], f"links in the start menu: {links}")
    say(f"{len(files)} files, {len(KEYS)} keys, links {links}")
    if run_self_test:
        expect(wine.run(home / "a3s-console.exe", "--self-test").returncode == 0, "the self-test ends with 0")
        say("the installed program's self-test is well")
    project = home / "my project"
    project.mkdir()
    (project / "project.json").write_text("{}")
    expect(wine.run(setup, "/S").returncode == 0, "the same version can be installed over itself")
    expect((project / "project.json").is_file(), "an upgrade leaves a project in the program's folder alone")
    removal = wine.run(home / "uninstall.exe", "/S")
    expect(removal.returncode == 0, "the silent removal ends with 0")
    wait_until(lambda: not (home / "a3s-desktop.exe").exists())
    time.sleep(1)
    left = sorted(path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file())
    expect(left == ["my project/project.json"], f"nothing but the project is left: {left}")
    for key in KEYS:
        expect(not wine.has_key(key), f"{key} is gone")
    expect(not (wine.menu / "A3S Desktop").exists(), "the links are gone")
    say("removed silently; keys and links are gone, the project that lay in the program's folder is still there")


def wait_until(condition, seconds: float = 30) -> None:
    """The uninstaller goes on in a copy of itself."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failed("the uninstaller did not finish")
        time.sleep(0.2)


def expect(holds: bool, what: str) -> None:
    if not holds:
        raise Failed(f"not so: {what}")


def say(text: str) -> None:
    print(text, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("setup", type=Path, nargs="?")
    parser.add_argument("--stand-in", type=Path, metavar="PAYLOAD", help="a bundle of this system, for its pages")
    parser.add_argument("--icon", type=Path, help="the .ico, with --stand-in")
    parser.add_argument("--self-test", action="store_true", help="also run the installed program's self-test")
    arguments = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="a3s-windows-", ignore_cleanup_errors=True) as folder:
            work = Path(folder)
            setup = arguments.setup
            if arguments.stand_in:
                payload = stand_in(arguments.stand_in.resolve(), work / "payload")
                setup = compile_installer(payload, arguments.icon.resolve(), work)
                say(f"compiled without warnings: {setup.stat().st_size / 1e6:.1f} MB")
            if setup is None:
                parser.error("setup.exe or --stand-in is needed")
            prove(Wine(work), setup, arguments.self_test)
    except (Failed, build.Problem) as failed:
        print(f"FAILED: {failed}", file=sys.stderr)
        return 1
    say("Proved.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
