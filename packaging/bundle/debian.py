"""The Debian package: the folder under /opt, and what the desktop needs to know of it."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path

from bundle.pictures import SIZES
from bundle.versions import PUBLISHER, ROOT, SUMMARY, version

NAME = "a3s-desktop"
LINUX = ROOT / "packaging" / "linux"
MAINTAINER = f"{PUBLISHER} <a3s-desktop@localhost>"

DESCRIPTION = """\
 A3S Desktop shows two images at a time and asks whether they show the same
 individual, person, stamp or product. It asks the pair whose answer helps
 most, draws every conclusion that follows, and stores every answer before
 the next pair appears. It works without a network connection.
"""


def make_deb(folder: Path, out: Path, work: Path, when: int, quick: bool, run: Callable[..., None]) -> Path:
    """Pack the folder as a .deb; ``run`` runs a command."""
    tree = work / "deb"
    shutil.rmtree(tree, ignore_errors=True)
    place = tree / "opt" / NAME
    shutil.copytree(folder, place, symlinks=True)
    desktop_files(tree / "usr" / "share", work / "icons")
    (tree / "usr" / "bin").mkdir(parents=True)
    (tree / "usr" / "bin" / NAME).symlink_to(f"/opt/{NAME}/{NAME}")
    doc = tree / "usr" / "share" / "doc" / NAME
    doc.mkdir(parents=True)
    shutil.copyfile(folder / "licences" / "NOTICE.txt", doc / "copyright")
    changes = f"{NAME} ({version()}) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- {MAINTAINER}  "
    _gzip(doc / "changelog.gz", (changes + formatdate(when) + "\n").encode())
    packages, glibc = system_packages(place)
    size = sum(each.lstat().st_size for each in tree.rglob("*") if each.is_file()) // 1024
    control = tree / "DEBIAN"
    control.mkdir()
    fields = {
        "Package": NAME,
        "Version": version(),
        "Architecture": subprocess.run(
            ["dpkg", "--print-architecture"], capture_output=True, text=True, check=True
        ).stdout.strip(),
        "Maintainer": MAINTAINER,
        "Installed-Size": str(size),
        "Depends": ", ".join([f"libc6 (>= {glibc})", *packages]),
        # Any font will do, and a desktop has some.
        "Recommends": "fonts-dejavu-core | fonts-noto-core | fonts-liberation, shared-mime-info, desktop-file-utils",
        "Section": "science",
        "Priority": "optional",
        "Description": f"{SUMMARY}\n{DESCRIPTION.rstrip()}",
    }
    (control / "control").write_text("".join(f"{key}: {value}\n" for key, value in fields.items()), encoding="utf-8")
    for each in [tree, *tree.rglob("*")]:
        if not each.is_symlink():
            each.chmod(0o755 if each.is_dir() or (os.access(each, os.X_OK) and each.suffix == "") else 0o644)
            os.utime(each, (when, when))
    path = out / f"{NAME}_{version()}_{fields['Architecture']}.deb"
    effort = ["-Zgzip", "-z1"] if quick else ["-Zxz", "-z6"]
    run(
        ["dpkg-deb", "--root-owner-group", *effort, "--build", tree, path],
        env=os.environ | {"SOURCE_DATE_EPOCH": str(when)},
    )
    return path


def desktop_files(share: Path, icons: Path) -> None:
    """Menu entry, icons, MIME type, man page, description for software centres, below a ``share`` folder."""
    for source, target in (
        (LINUX / f"{NAME}.desktop", share / "applications" / f"{NAME}.desktop"),
        (LINUX / f"{NAME}-mime.xml", share / "mime" / "packages" / f"{NAME}.xml"),
        (LINUX / f"{NAME}.metainfo.xml", share / "metainfo" / f"{NAME}.metainfo.xml"),
        (ROOT / "resources" / "icons" / "app.svg", share / "icons/hicolor/scalable/apps" / f"{NAME}.svg"),
    ):
        target.parent.mkdir(parents=True, exist_ok=True)
        text = source.read_text(encoding="utf-8").replace("{version}", version())
        target.write_text(text, encoding="utf-8")
    for size in SIZES:
        folder = share / "icons" / "hicolor" / f"{size}x{size}"
        for kind, name in (("apps", NAME), ("mimetypes", "application-x-a3s-project")):
            (folder / kind).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(icons / f"{size}.png", folder / kind / f"{name}.png")
    manual = share / "man" / "man1" / f"{NAME}.1.gz"
    manual.parent.mkdir(parents=True)
    _gzip(manual, (LINUX / f"{NAME}.1").read_text(encoding="utf-8").replace("{version}", version()).encode())


def system_packages(folder: Path) -> tuple[list[str], str]:
    """Debian packages of the libraries that are not in the folder, and the least version of glibc, by its symbols."""
    inside = {path.name for path in folder.rglob("*") if ".so" in path.name}
    needed: set[str] = set()
    glibc = (2, 34)
    for path in folder.rglob("*"):
        if path.is_symlink() or not path.is_file() or path.read_bytes()[:4] != b"\x7fELF":
            continue
        text = subprocess.run(["objdump", "-p", path], capture_output=True, text=True, check=False).stdout
        needed |= set(re.findall(r"NEEDED +(\S+)", text)) - inside
        versions = [tuple(map(int, found.split("."))) for found in re.findall(r" GLIBC_([\d.]+)", text)]
        glibc = max([glibc, *(found[:2] for found in versions)])  # type: ignore[type-var]
    packages = set()
    for name in sorted(needed):
        run = subprocess.run(["dpkg", "-S", f"*/{name}"], capture_output=True, text=True, check=False)
        owner = run.stdout.partition(": ")[0].split(",")[0].split(":")[0]
        if run.returncode or not owner:
            raise ValueError(f"No package is known to have {name}.")
        packages.add(owner)
    return sorted(packages - {"libc6"}), ".".join(map(str, glibc))


def _gzip(path: Path, data: bytes) -> None:
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as file:
        file.write(data)
