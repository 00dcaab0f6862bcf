"""The version and the names of the program, in the words of each system; the number comes from one place."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
IDENTIFIER = "org.a3s_desktop.A3SDesktop"
PUBLISHER = "A3S Desktop contributors"
TITLE = "A3S Desktop"
SUMMARY = "Sort images by identity with few answers"
PROJECT_TYPE = "application/x-a3s-project"
SUFFIX = "a3s"


def version() -> str:
    """The version, read from the package without importing it."""
    text = (ROOT / "a3s_desktop" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    if found is None:
        raise ValueError("a3s_desktop/__init__.py holds no version")
    return found[1]


def four_numbers(text: str) -> tuple[int, int, int, int]:
    """A version as Windows wants it: 0.1.0rc1 is (0, 1, 0, 0)."""
    plain = re.sub(r"[^\d.].*", "", text)
    numbers = [int(part) for part in plain.split(".") if part]
    first, second, third, fourth = (numbers + [0] * 4)[:4]
    return first, second, third, fourth


def windows_resource(text: str, name: str, folder: Path) -> str:
    """Write the version resource of a Windows program; returns the path of the file."""
    numbers = four_numbers(text)
    strings = {
        "CompanyName": PUBLISHER,
        "FileDescription": TITLE,
        "FileVersion": text,
        "InternalName": name,
        "LegalCopyright": f"{PUBLISHER}. MIT licence; see the folder licences.",
        "OriginalFilename": f"{name}.exe",
        "ProductName": TITLE,
        "ProductVersion": text,
    }
    pairs = ", ".join(f"StringStruct({key!r}, {value!r})" for key, value in strings.items())
    path = folder / f"{name}-version.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"VSVersionInfo(ffi=FixedFileInfo(filevers={numbers}, prodvers={numbers}, mask=0x3F, flags=0, OS=0x40004, "
        f"fileType=1, subtype=0, date=(0, 0)), kids=[StringFileInfo([StringTable('040904B0', [{pairs}])]), "
        "VarFileInfo([VarStruct('Translation', [0x409, 1200])])])\n",
        encoding="utf-8",
    )
    return str(path)


def mac_properties(text: str) -> dict[str, object]:
    """Info.plist of the macOS program, beyond what PyInstaller writes."""
    return {
        "CFBundleName": TITLE,
        "CFBundleDisplayName": TITLE,
        "CFBundleShortVersionString": text,
        "LSMinimumSystemVersion": "13.0",  # as PySide6 6.11 needs
        "LSApplicationCategoryType": "public.app-category.graphics-design",
        "NSHighResolutionCapable": True,
        "NSPrincipalClass": "NSApplication",
        "CFBundleDocumentTypes": [
            {
                "CFBundleTypeName": "A3S project",
                "CFBundleTypeRole": "Editor",
                "LSHandlerRank": "Owner",
                "LSItemContentTypes": [f"{IDENTIFIER}.project"],
            }
        ],
        "UTExportedTypeDeclarations": [
            {
                "UTTypeIdentifier": f"{IDENTIFIER}.project",
                "UTTypeDescription": "A3S project",
                "UTTypeConformsTo": ["public.data"],
                "UTTypeTagSpecification": {"public.filename-extension": [SUFFIX], "public.mime-type": [PROJECT_TYPE]},
            }
        ],
    }
