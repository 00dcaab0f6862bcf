#!/usr/bin/env python3
"""Proves the Linux packages in a bare Debian without Python: installs, starts, presses real keys, measures, removes.

    sudo python3 packaging/prove_linux.py --deb dist/*.deb --tar dist/*.tar.gz [--base DIR] [--report FILE]

Needs root, debootstrap (or ``--base``: a folder that debootstrap made), Xvfb and xdotool. The program runs without any
network (a network namespace of its own), first as an ordinary user, then as a user whose home is read-only. Every file
that comes into being is listed: outside the home folder's own places there may be none. A step that fails ends it with
exit code 1.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

NAME = "a3s-desktop"
ANSWERS = 40
PATIENCE = 120.0  # seconds
# What the program may write below a home folder.
OWN_PLACES = (
    ".config/a3s-desktop/", ".local/state/a3s-desktop/", ".local/share/a3s-desktop/", ".cache/a3s-desktop/",
)  # fmt: skip
# Libraries of the graphics driver and of the desktop, not of this program, keep their own caches.
FOREIGN = (".cache/fontconfig/", ".cache/mesa_shader_cache")
# What a computer with a desktop has, and a bare system lacks: the .deb asks for it, for the .tar.gz it must be there.
FONTS = ("fonts-dejavu-core",)
DESKTOP = (
    "libegl1", "libfontconfig1", "libfreetype6", "libgl1", "libstdc++6", "libwayland-client0", "libwayland-cursor0",
    "libwayland-egl1", "libx11-6", "libx11-xcb1", "libxcb1",
)  # fmt: skip


class Failed(Exception):
    """A step that did not hold."""


def run(*command: object, **more: Any) -> str:
    """Run a command; its output, or `Failed` with it."""
    done = subprocess.run(
        [str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **more
    )
    if done.returncode:
        raise Failed(
            f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    return done.stdout


def wait(condition: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """Wait until a condition holds; gives its value."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise Failed(f"waited in vain for {what}")
        time.sleep(0.01)
    return value


class Proof:
    """The bare system, and what is found in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lines: list[str] = []
        self.screen = ""

    def say(self, text: str) -> None:
        """One line of the report."""
        self.lines.append(text)
        print(text, flush=True)

    def inside(self, *command: object, user: str = "root", environment: dict[str, str] | None = None) -> list[str]:
        """A command in the system, without network for all but root."""
        values = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8", **(environment or {})}
        pairs = [f"{key}={value}" for key, value in values.items()]
        place = ["chroot"] if user == "root" else ["unshare", "--net", "chroot", f"--userspec={user}"]
        return [*place, str(self.root), "env", "-i", *pairs, *map(str, command)]

    def apt(self, *arguments: str) -> str:
        """Run apt-get in the system."""
        environment = {"DEBIAN_FRONTEND": "noninteractive"}
        return run(*self.inside("apt-get", "-q", "-y", "--no-install-recommends", *arguments, environment=environment))

    def files(self, *without: str) -> dict[str, tuple[int, float]]:
        """Every file and folder of the system: size and time of change."""
        found = {}
        skipped = {"proc", "sys", "dev", "run", *without}
        for folder, names, files in os.walk(self.root):
            inside = os.path.relpath(folder, self.root)
            if inside == ".":
                names[:] = [name for name in names if name not in skipped]
            if inside == "tmp":
                names[:] = [name for name in names if name != ".X11-unix"]
            for name in (*names, *files):
                path = os.path.join(folder, name)
                with contextlib.suppress(FileNotFoundError):
                    state = os.lstat(path)
                    is_folder = os.path.isdir(path) and not os.path.islink(path)
                    found[os.path.normpath(os.path.join(inside, name))] = (0, 0.0) if is_folder else (
                        state.st_size, state.st_mtime,
                    )  # fmt: skip
        return found


@contextlib.contextmanager
def bare_system(base: Path | None) -> Iterator[Proof]:
    """A fresh bare Debian with a user "ann" (1000) and "ro" (1001), and a display for them."""
    with tempfile.TemporaryDirectory(prefix="a3s-proof-", ignore_cleanup_errors=True) as folder:
        root = Path(folder) / "root"
        if base is not None:
            run("cp", "-a", base, root)
        else:
            run("debootstrap", "--variant=minbase", "--include=ca-certificates", "bookworm", root)
        proof = Proof(root)
        mounts = []
        try:
            for kind, source, place in (
                ("proc", "proc", "proc"),
                ("bind", "/dev", "dev"),
                ("bind", "/dev/shm", "dev/shm"),
            ):
                target = root / place
                run("mount", *(("-t", "proc") if kind == "proc" else ("--bind",)), source, target)
                mounts.append(target)
            with display() as screen:
                sockets = root / "tmp" / ".X11-unix"
                sockets.mkdir(mode=0o1777)
                run("mount", "--bind", "/tmp/.X11-unix", sockets)
                mounts.append(sockets)
                proof.screen = screen
                for name, number in (("ann", 1000), ("ro", 1001)):
                    run("chroot", root, "useradd", "--create-home", "--uid", number, name)
                yield proof
                run("umount", mounts.pop())
        finally:
            for mount in reversed(mounts):
                subprocess.run(["umount", "-l", str(mount)], check=False)


@contextlib.contextmanager
def display() -> Iterator[str]:
    """A virtual display."""
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1440x900x24", "-nolisten", "tcp", "-ac", "-noreset"],
        pass_fds=[writer], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(writer)
    with os.fdopen(reader) as pipe:
        number = pipe.readline().strip()
        try:
            yield f":{number}"
        finally:
            server.terminate()
            server.wait(10)


class Window:
    """The program running in the bare system, followed by its trace file."""

    def __init__(self, proof: Proof, program: str, *arguments: str, user: int, home: str, trace: str) -> None:
        self._proof = proof
        self._trace = proof.root / trace.lstrip("/")
        environment = {"HOME": home, "DISPLAY": proof.screen, "A3S_TRACE_FILE": trace}
        self.output = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the window
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            proof.inside(program, *arguments, user=f"{user}:{user}", environment=environment),
            stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT, cwd="/",
        )  # fmt: skip

    def events(self) -> list[dict[str, Any]]:
        """What happened so far."""
        if not self._trace.exists():
            return []
        lines = self._trace.read_text().split("\n")[:-1]
        return [json.loads(line) for line in lines]

    def wait(self, condition: Callable[[list[dict[str, Any]]], Any], what: str) -> Any:
        """Wait for something in the trace."""

        def look() -> Any:
            if self.process.poll() is not None:
                raise Failed(f"the program ended ({self.process.returncode}) before {what}\n{self.said()}")
            return condition(self.events())

        try:
            return wait(look, what)
        except Failed as error:
            raise Failed(f"{error}\n{self.events()[-4:]}\n{self.said()}") from None

    def said(self) -> str:
        """What the program wrote to its streams."""
        self.output.seek(0)
        return self.output.read().decode(errors="replace")

    def answerable(self, events: list[dict[str, Any]]) -> bool:
        """Whether the newest pair takes an answer."""
        last = next((event for event in reversed(events) if event["event"] in ("ready", "changed")), None)
        return last is not None and last["event"] == "ready"

    def focus(self) -> None:
        """Give the keyboard to the window; there is no window manager here."""
        number = self.wait(lambda events: next((e["id"] for e in events if e["event"] == "window"), 0), "the window")
        self.tool("windowfocus", "--sync", str(number))

    def tool(self, *arguments: str) -> None:
        """Run xdotool on the display."""
        run("xdotool", *arguments, env={**os.environ, "DISPLAY": self._proof.screen})

    def answer(self, count: int) -> None:
        """Press F and J in turn, each when its pair can be answered; then undo once and answer again."""
        for number in range(count):
            self.wait(self.answerable, f"pair {number + 1}")
            before = sum(e["event"] == "changed" and e["kind"] == "answer" for e in self.events())
            self.tool("key", "f" if number % 3 else "j")
            self.wait(
                lambda events, old=before: sum(e["event"] == "changed" and e["kind"] == "answer" for e in events) > old,
                f"answer {number + 1}",
            )

    def quit(self) -> None:
        """Ctrl+Q, and a clean end."""
        self.tool("key", "ctrl+q")
        code = self.process.wait(60)
        if code:
            raise Failed(f"the program ended with {code}\n{self.said()}")


def memory(window: Window) -> float:
    """Proportional memory of the program in MB."""
    children = subprocess.run(
        ["pgrep", "-P", str(window.process.pid)], capture_output=True, text=True, check=False
    ).stdout.split()
    total = 0
    for number in (str(window.process.pid), *children):
        text = Path(f"/proc/{number}/smaps_rollup").read_text()
        total += int(re.search(r"^Pss: +(\d+)", text, re.MULTILINE)[1])  # type: ignore[index]
    return total / 1000


def strangers(before: dict[str, Any], after: dict[str, Any], home: str) -> list[str]:
    """Files that are new or changed, and lie in none of the program's own places."""
    changed = [path for path, state in after.items() if before.get(path) != state]
    own = tuple(f"{home}/{place}".rstrip("/") for place in (*OWN_PLACES, *FOREIGN))
    allowed = [*own, f"{home}/trace"]
    parents = {
        os.path.normpath(f"{home}/{part}") for part in (".config", ".local", ".local/share", ".local/state", ".cache")
    }
    return [
        path
        for path in changed
        if path not in parents and not any(path == one or path.startswith(one) for one in allowed)
    ]


def idle(proof: Proof, program: str) -> float:
    """Memory on the start page."""
    trace = "/home/ann/trace-idle"
    window = Window(proof, program, user=1000, home="/home/ann", trace=trace)
    window.focus()
    time.sleep(4)
    used = memory(window)
    window.quit()
    return used


def as_user(proof: Proof, program: str, what: str) -> None:
    """Start, demo, forty keys, undo, quit, and what is left on the disk; as an ordinary user without network."""
    before = proof.files()
    used = idle(proof, program)
    proof.say(f"{what}: on the start page the program takes {used:.0f} MB of memory")
    window = Window(proof, program, "demo", user=1000, home="/home/ann", trace="/home/ann/trace-demo")
    window.focus()
    window.answer(ANSWERS)
    window.wait(window.answerable, "the pair after the last answer")
    window.tool("key", "ctrl+z")
    window.wait(lambda events: any(e["event"] == "changed" and e["kind"] == "undo" for e in events), "the undo")
    window.wait(window.answerable, "the pair after the undo")
    window.answer(1)
    window.quit()
    facts = project_facts(proof, program, "/home/ann/.local/share/a3s-desktop/demos")
    if facts["answers"] != ANSWERS:
        raise Failed(f"{facts['answers']} answers are in the project instead of {ANSWERS}")
    left = strangers(before, proof.files(), "home/ann")
    if left:
        raise Failed("files outside the program's places: " + ", ".join(left[:20]))
    proof.say(f"{what}: demo, {ANSWERS} key presses, undo, quit; all stored; no file outside of its own places")


def project_facts(proof: Proof, program: str, below: str) -> dict[str, Any]:
    """``info --json`` of the one project below a folder."""
    (pointer,) = (proof.root / below.lstrip("/")).rglob("*.a3s")
    inside = "/" + str(pointer.relative_to(proof.root))
    text = run(*proof.inside(program, "info", inside, "--json", user="1000:1000", environment={"HOME": "/home/ann"}))
    return dict(json.loads(text))


def with_read_only_home(proof: Proof, program: str, what: str) -> None:
    """The same project from a shared folder, by a user whose home cannot be written to."""
    shared = proof.root / "srv" / "project"
    shutil.rmtree(shared.parent, ignore_errors=True)
    (pointer,) = (proof.root / "home/ann/.local/share/a3s-desktop/demos").rglob("*.a3s")
    shutil.copytree(pointer.parent, shared)
    for path in [shared, *shared.rglob("*")]:
        os.chown(path, 1001, 1001)
    images = proof.root / "home/ann"
    images.chmod(0o755)
    (proof.root / "srv").chmod(0o777)
    home = proof.root / "home/ro"
    run("mount", "--bind", home, home)
    run("mount", "-o", "remount,ro,bind", home)
    before = proof.files("srv")
    try:
        (pointer,) = shared.glob("*.a3s")
        inside = f"/srv/project/{pointer.name}"
        window = Window(proof, program, inside, user=1001, home="/home/ro", trace="/srv/trace")
        window.focus()
        window.answer(ANSWERS)
        window.wait(window.answerable, "the pair after the last answer")
        window.quit()
    finally:
        run("umount", "-l", home)
    changed = [path for path, state in proof.files("srv").items() if before.get(path) != state]
    if changed:
        raise Failed("files outside the project: " + ", ".join(changed[:20]))
    (proof.root / "srv/trace").unlink()
    proof.say(
        f"{what}: read-only home, project opened by its .a3s file, {ANSWERS} key presses, quit; no file but its own"
    )


def self_test(proof: Proof, program: str, what: str) -> None:
    """The packaged self-test, without network and without a display."""
    text = run(*proof.inside(program, "--self-test", user="1000:1000", environment={"HOME": "/home/ann"}))
    if "All is well." not in text:
        raise Failed(text)
    for line in text.splitlines():
        proof.say(f"{what}: {line}")


def prove_deb(proof: Proof, deb: Path) -> None:
    """Install, use, remove."""
    shutil.copy2(deb, proof.root / "tmp" / deb.name)
    proof.apt("install", *FONTS)
    proof.apt("install", f"/tmp/{deb.name}")
    (proof.root / "tmp" / deb.name).unlink()
    if shutil.which("python3", path=str(proof.root / "usr/bin")):
        raise Failed("the package drew Python in")
    size = int(run(*proof.inside("dpkg-query", "-W", "-f", "${Installed-Size}", NAME)))
    proof.say(
        f".deb: {deb.stat().st_size / 1e6:.0f} MB, installed {size * 1.024 / 1000:.0f} MB; no Python in the system"
    )
    for path in ("usr/share/applications/a3s-desktop.desktop", "usr/share/man/man1/a3s-desktop.1.gz"):
        if path not in proof.files():
            raise Failed(f"{path} is not there")
    look = "cd /opt/a3s-desktop/_internal; export LD_LIBRARY_PATH=$PWD:$PWD/PySide6/Qt/lib; find . -name '*.so*' | "
    look += "xargs ldd 2>/dev/null | grep 'not found' | sort -u | cut -d' ' -f1 || true"
    missing = run(*proof.inside("sh", "-c", look))
    proof.say(f".deb: libraries that are not found: {missing.split() or 'none'}")
    self_test(proof, NAME, ".deb")
    as_user(proof, NAME, ".deb")
    with_read_only_home(proof, NAME, ".deb")
    proof.apt("remove", "--purge", NAME)
    left = [
        path
        for path in proof.files()
        if NAME in path and not path.startswith(("home/", "var/lib/dpkg", "var/log", "srv"))
    ]
    if left:
        raise Failed("left after the removal: " + ", ".join(left[:20]))
    if not list((proof.root / "home/ann/.local/share/a3s-desktop/demos").rglob("*.a3s")):
        raise Failed("the removal took a project away")
    proof.say(".deb: removed; nothing of the package is left, the user's projects are")


def prove_tar(proof: Proof, tar: Path) -> None:
    """Unpack as a user, use, delete."""
    proof.apt("install", *FONTS, *DESKTOP)
    shutil.rmtree(proof.root / "home/ann/.local", ignore_errors=True)
    (proof.root / "home/ann/programs").mkdir()
    run("tar", "xf", tar, "-C", proof.root / "home/ann/programs")
    run("chown", "-R", "1000:1000", proof.root / "home/ann")
    program = f"/home/ann/programs/{NAME}/{NAME}"
    proof.say(f".tar.gz: {tar.stat().st_size / 1e6:.0f} MB")
    self_test(proof, program, ".tar.gz")
    for path in proof.root.glob("home/ann/trace*"):
        path.unlink()
    as_user(proof, program, ".tar.gz")
    with_read_only_home(proof, program, ".tar.gz")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deb", type=Path)
    parser.add_argument("--tar", type=Path)
    parser.add_argument("--base", type=Path, help="a bare system that debootstrap made; copied")
    parser.add_argument("--report", type=Path, help="also write the lines to this file")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        print("This needs root: it makes a system of its own and mounts in it.", file=sys.stderr)
        return 2
    for tool in ("Xvfb", "xdotool", "chroot", "unshare", *(() if arguments.base else ("debootstrap",))):
        if shutil.which(tool) is None:
            print(f"{tool} is missing.", file=sys.stderr)
            return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        with bare_system(arguments.base) as proof:
            if shutil.which("python3", path=str(proof.root / "usr/bin")):
                raise Failed("the bare system has Python")
            proof.apt("update")
            if arguments.deb:
                prove_deb(proof, arguments.deb)
            if arguments.tar:
                prove_tar(proof, arguments.tar)
            proof.say("Proved.")
    except Failed as failed:
        print(f"FAILED: {failed}", file=sys.stderr)
        return 1
    finally:
        if arguments.report and "proof" in locals():
            arguments.report.write_text("\n".join(proof.lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
