#!/usr/bin/env python3
"""Sets A3S Desktop up in this folder and starts it, or its tests.

Needs nothing but Python 3.11, 3.12 or 3.13: the standard library is all that this file imports. It is written so that
much older interpreters can still read it and say that they are too old.
"""

import argparse
import ctypes
import hashlib
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import time

OLDEST, NEWEST = (3, 11), (3, 13)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "Scripts", "python.exe") if os.name == "nt" else os.path.join(VENV, "bin", "python")
STAMP = os.path.join(VENV, "a3s-setup.json")
REQUIREMENTS = os.path.join(ROOT, "packaging", "requirements")
LOCKS = {"demo": ("build.txt", "runtime.txt"), "test": ("build.txt", "runtime.txt", "dev.txt")}
OUTPUT = os.path.join(ROOT, "demo-output")

# Shared libraries that Qt's wheels expect of a Linux system, with the Debian package of each.
QT_LIBRARIES = (
    ("libglib-2.0.so.0", "libglib2.0-0"),
    ("libGL.so.1", "libgl1"),
    ("libEGL.so.1", "libegl1"),
    ("libxkbcommon.so.0", "libxkbcommon0"),
    ("libfontconfig.so.1", "libfontconfig1"),
    ("libdbus-1.so.3", "libdbus-1-3"),
)
X11_LIBRARIES = (
    ("libxcb-cursor.so.0", "libxcb-cursor0"),
    ("libxcb-icccm.so.4", "libxcb-icccm4"),
    ("libxcb-keysyms.so.1", "libxcb-keysyms1"),
    ("libxcb-image.so.0", "libxcb-image0"),
    ("libxcb-render-util.so.0", "libxcb-render-util0"),
    ("libxcb-shape.so.0", "libxcb-shape0"),
    ("libxcb-xkb.so.1", "libxcb-xkb1"),
    ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
    ("libxcb-randr.so.0", "libxcb-randr0"),
)
# Programs of the end-to-end tests: a virtual display, key presses, pictures of the screen, a window manager.
TEST_TOOLS = (("Xvfb", "xvfb"), ("xdotool", "xdotool"), ("scrot", "scrot"), ("openbox", "openbox"))


class Problem(Exception):
    """Something a person has to change, in one or two sentences."""


def say(text: str) -> None:
    print(text, flush=True)


# --- the right Python ------------------------------------------------------------------------------------------------


def supported(version: tuple) -> bool:
    return OLDEST <= tuple(version[:2]) <= NEWEST


def find_python() -> "str | None":
    """Another interpreter of this machine that is neither too old nor too new."""
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        name = f"3.{minor}"
        commands = [["python" + name]]
        if os.name == "nt":
            commands.append(["py", "-" + name])
        for command in commands:
            if shutil.which(command[0]) is None:
                continue
            question = f"import sys; print(sys.executable if sys.version_info[:2] == (3, {minor}) else '')"
            try:
                answer = subprocess.run(
                    [*command, "-c", question],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    timeout=20,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired):
                continue
            path = answer.stdout.decode(errors="replace").strip()
            if answer.returncode == 0 and path:
                return path
    return None


def ensure_python() -> None:
    """Go on under a supported Python, or say what is wrong with this one."""
    if supported(sys.version_info):
        return
    have = platform.python_version()
    other = find_python()
    if other is None:
        raise Problem(
            f"This is Python {have}, and A3S Desktop needs Python 3.11, 3.12 or 3.13. Please install one of them "
            "(Windows, macOS: python.org; Linux: your distribution) and run this command again with it."
        )
    say(f"This is Python {have}; going on with {other}.")
    again = [other, os.path.abspath(__file__), *sys.argv[1:]]
    raise SystemExit(subprocess.run(again, check=False).returncode)


# --- Debian packages -------------------------------------------------------------------------------------------------


def is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def apt_install(packages: list, why: str) -> None:
    """Install Debian packages as root, or name them."""
    if shutil.which("apt-get") is None:
        raise Problem("{} Please install what your distribution calls: {}.".format(why, ", ".join(packages)))
    line = "apt-get install --no-install-recommends " + " ".join(packages)
    if not is_root():
        raise Problem(f"{why} Please run: sudo {line}")
    say("{} Installing: {}".format(why, " ".join(packages)))
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    for command in (["apt-get", "update", "-q"], line.replace("install", "install -y -q", 1).split()):
        run = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            check=False,
        )
        # A failed update may still leave usable lists; a failed installation is the end.
        if run.returncode and command[1] == "install":
            tail = run.stdout.decode(errors="replace").strip().splitlines()[-6:]
            raise Problem(
                "apt-get could not install {} (is there a network connection?):\n  {}".format(
                    ", ".join(packages), "\n  ".join(tail)
                )
            )


def missing_libraries(libraries: tuple) -> list:
    """Debian packages of those shared libraries that cannot be loaded."""
    missing = []
    for library, package in libraries:
        try:
            ctypes.CDLL(library)
        except OSError:
            missing.append(package)
    return missing


def ensure_system(command: str, display: bool) -> None:
    """See to the libraries of the system that Qt needs, and to the programs of the tests."""
    if not sys.platform.startswith("linux"):
        return
    wanted = QT_LIBRARIES + (X11_LIBRARIES if display or command == "test" else ())
    libraries = missing_libraries(wanted)
    if libraries:
        apt_install(libraries, "The window needs system libraries that are missing.")
    still = missing_libraries(wanted)
    if still:
        raise Problem("Still missing after the installation: {}.".format(", ".join(still)))
    tools = [package for program, package in TEST_TOOLS if shutil.which(program) is None] if command == "test" else []
    if not tools:
        return
    try:
        apt_install(tools, "The end-to-end tests use programs that are missing.")
    except Problem as problem:  # the other tests do without
        say(f"{problem}\nUntil then the tests that need them are skipped.")


# --- the virtual environment -----------------------------------------------------------------------------------------


def fingerprint(command: str) -> str:
    """Changes whenever the set-up has to run again."""
    digest = hashlib.sha256()
    for path in [os.path.join(REQUIREMENTS, name) for name in LOCKS[command]] + [os.path.join(ROOT, "pyproject.toml")]:
        with open(path, "rb") as file:
            digest.update(file.read().replace(b"\r\n", b"\n"))
    digest.update(f"{sys.version_info[:2]}\n{ROOT}".encode())
    return digest.hexdigest()


def read_stamp() -> dict:
    try:
        with open(STAMP, encoding="utf-8") as file:
            return dict(json.load(file))
    except (OSError, ValueError, TypeError):
        return {}


def venv_works() -> bool:
    """Whether the environment's interpreter starts, is of this version and has pip."""
    if not os.path.exists(PYTHON):
        return False
    probe = f"import sys, pip; print(sys.version_info[:2] == {tuple(sys.version_info[:2])!r})"
    try:
        run = subprocess.run(
            [PYTHON, "-c", probe],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=clean_environment(),
            check=False,
        )
    except OSError:
        return False
    return run.returncode == 0 and run.stdout.strip() == b"True"


def clean_environment() -> dict:
    """The environment without what would lead a Python astray."""
    unwanted = ("PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_USER", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV")
    return {name: value for name, value in os.environ.items() if name not in unwanted}


def create_venv() -> None:
    if os.path.lexists(VENV):
        say("The virtual environment in .venv does not fit this Python; making it anew.")
        shutil.rmtree(VENV)
    else:
        say("Making a virtual environment in .venv ...")
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        # Debian and Ubuntu leave these parts of Python out.
        package = f"python3.{sys.version_info[1]}-venv"
        apt_install([package], "This Python comes without virtual environments.")
    run = subprocess.run(
        [sys.executable, "-m", "venv", VENV],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=clean_environment(),
        check=False,
    )
    if run.returncode or not venv_works():
        shutil.rmtree(VENV, ignore_errors=True)
        detail = run.stdout.decode(errors="replace").strip().splitlines()[-3:]
        raise Problem(
            "The virtual environment in {} could not be made (is the folder writable, is the disk full?):\n  {}".format(
                VENV, "\n  ".join(detail)
            )
        )


def pip_install(arguments: list, what: str) -> None:
    command = [PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "-q"]
    run = subprocess.run(
        command + arguments,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=clean_environment(),
        check=False,
    )
    if run.returncode == 0:
        return
    text = run.stdout.decode(errors="replace")
    tail = "\n  ".join(line for line in text.strip().splitlines()[-8:])
    signs = ("NewConnectionError", "NameResolutionError", "ConnectTimeout", "Temporary failure", "Max retries exceeded")
    if any(sign in text for sign in signs):
        raise Problem(
            f"{what} could not be downloaded: there seems to be no network connection, or a proxy is needed "
            "(HTTPS_PROXY). Please connect and run the command again; it goes on where it stopped."
        )
    if "No space left" in text:
        raise Problem(f"The disk is full: the set-up needs about 900 MB in {ROOT}.")
    if "No matching distribution" in text or "is not a supported wheel" in text:
        raise Problem(
            f"{what} is not offered for this system ({platform.platform()}, Python {platform.python_version()}). "
            "Needed are Windows 10, macOS 13, or a Linux with glibc 2.34 (Debian 12, Ubuntu 22.04) or newer, and a "
            f"64-bit Python:\n  {tail}"
        )
    raise Problem(f"{what} could not be installed:\n  {tail}")


def ensure_environment(command: str) -> None:
    """Make and fill the virtual environment where that has not been done for these very lock files."""
    stamp, now = read_stamp(), fingerprint(command)
    if stamp.get(command) == now and os.path.exists(PYTHON):
        return
    started = time.monotonic()
    if not venv_works():
        create_venv()
        stamp = {}
    if stamp:
        say("Bringing .venv up to date ...")
    else:
        say("Installing the locked packages into .venv (about 200 MB to download, once; a few minutes) ...")
    locks = []
    for name in LOCKS[command]:
        locks += ["-r", os.path.join(REQUIREMENTS, name)]
    pip_install(["--only-binary", ":all:", *locks], "A locked package")
    pip_install(["--no-deps", "--no-build-isolation", "-e", ROOT], "A3S Desktop itself")
    stamp[command] = now
    with open(STAMP, "w", encoding="utf-8") as file:
        json.dump(stamp, file, indent=1)
    say(f"Set up in {time.monotonic() - started:.0f} s.")


# --- the display -----------------------------------------------------------------------------------------------------


def x_server_answers(display: str) -> bool:
    """Whether something listens at an X display such as ``:0``, ``unix:0.0`` or ``host:10.0``."""
    host, _, rest = display.rpartition(":")
    number = rest.split(".")[0]
    if not number.isdigit():
        return display.startswith("/")  # a socket's path, as XQuartz gives
    if host in ("", "unix"):
        path = "/tmp/.X11-unix/X" + number
        for address in (path, "\0" + path):
            link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                link.connect(address)
                return True
            except OSError:
                continue
            finally:
                link.close()
        return False
    try:
        socket.create_connection((host, 6000 + int(number)), timeout=3).close()
    except OSError:
        return False
    return True


def has_display() -> bool:
    if os.environ.get("QT_QPA_PLATFORM", "").startswith(("offscreen", "minimal")):
        return False
    if not sys.platform.startswith("linux"):
        return True
    if os.environ.get("WAYLAND_DISPLAY"):
        return True
    display = os.environ.get("DISPLAY", "")
    return bool(display) and x_server_answers(display)


# --- commands --------------------------------------------------------------------------------------------------------


def run_program(arguments: list, environment: "dict | None" = None) -> int:
    try:
        return subprocess.run(
            [PYTHON, *arguments],
            cwd=ROOT,
            env=environment or clean_environment(),
            check=False,
        ).returncode
    except KeyboardInterrupt:
        return 130


def demo(rest: list, offscreen: bool) -> int:
    display = has_display() and not offscreen
    ensure_system("demo", display)
    ensure_environment("demo")
    if display:
        say("Starting the demo ...")
        return run_program(["-m", "a3s_desktop", "demo", *rest])
    say(
        "There is no display here, so the demo runs without one: 60 pairs are answered through the real window with\n"
        f"the true labels. Pictures of every screen and a table of results go to {OUTPUT} ..."
    )
    environment = dict(clean_environment(), QT_QPA_PLATFORM="offscreen")
    return run_program(["-m", "a3s_desktop", "demo", "--auto", OUTPUT, *rest], environment)


def test(rest: list, setup_only: bool) -> int:
    ensure_system("test", True)
    ensure_environment("test")
    if setup_only:
        return 0
    if not all(word.startswith("--") for word in rest):  # some of the tests, or in some way of their own
        return run_program(["-m", "pytest", *rest])
    # The processes share the cores: each computes with one thread, and what measures the window comes when all is calm.
    processes = str(min(4, os.cpu_count() or 1))
    environment = dict(clean_environment(), OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    many = run_program(["-m", "pytest", "-m", "not alone", "-n", processes, "--dist", "worksteal", *rest], environment)
    say("Now those that have the machine to themselves ...")
    alone = run_program(["-m", "pytest", "-m", "alone", *rest])
    return many or alone


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="run.py",
        description="Set A3S Desktop up in this folder, and start its demo or its tests. Everything goes into .venv "
        "inside this folder; the first run downloads about 200 MB, later runs start at once.",
        epilog="Further arguments are handed on, e.g. 'demo --data digits' or 'test tests/core -q'. On Debian and "
        "Ubuntu, as root, missing system packages are installed too; otherwise they are named.",
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    commands.required = True
    one = commands.add_parser(
        "demo",
        help="set up and open the program on made-up ladybird photographs",
        description="Set up and open the program on a demo project. Without a display, the same demo runs by itself "
        "and leaves pictures and a results table in demo-output/. Further arguments go to 'a3s-desktop demo'.",
    )
    one.add_argument("--offscreen", action="store_true", help="run without a display even where there is one")
    two = commands.add_parser(
        "test",
        help="set up and run all tests",
        description="Set up, with the tools for tests, and run all tests. Further arguments go to pytest.",
    )
    two.add_argument("--setup-only", action="store_true", help="set up and stop")
    return top


def main() -> int:
    if sys.stdin is None:  # closed: give the number to nothing else
        os.open(os.devnull, os.O_RDONLY)
    arguments, rest = parser().parse_known_args()
    try:
        ensure_python()
        if arguments.command == "demo":
            return demo(rest, arguments.offscreen)
        return test(rest, arguments.setup_only)
    except Problem as problem:
        print(f"run.py: {problem}", file=sys.stderr)
        return 2
    except PermissionError as error:
        print(f"run.py: No permission to write {error.filename}.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
