"""Lists of files for the Windows installer: what it installs is what it takes away, and nothing else."""

from __future__ import annotations

from pathlib import Path


def write_lists(payload: Path, folder: Path) -> None:
    """Write ``install.nsh`` and ``uninstall.nsh`` for the files of ``payload`` into ``folder``.

    Each file is named. The uninstaller deletes these and then the folders that are empty: whatever else a person put
    into the program's folder, a project even, stays.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = sorted((path for path in payload.rglob("*") if path.is_file()), key=lambda path: path.as_posix())
    parents = {parent for path in files for parent in path.relative_to(payload).parents}
    folders = sorted((path for path in parents if path != Path(".")), key=lambda path: path.as_posix())
    install, here = [], None
    for path in files:
        place = path.relative_to(payload).parent
        if place != here:
            install.append(f'SetOutPath "$INSTDIR{_below(place)}"')
            here = place
        # The source is read while compiling, where nothing is expanded; the name to write is.
        install.append(f'File "/oname={_quoted(path.name)}" "{path}"')
    remove = [f'Delete "$INSTDIR{_below(path.relative_to(payload))}"' for path in files]
    remove += [f'RMDir "$INSTDIR{_below(path)}"' for path in reversed(folders)]
    for name, lines in (("install.nsh", install), ("uninstall.nsh", remove)):
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8-sig", newline="\n")


def _below(path: Path) -> str:
    return "" if path == Path(".") else "\\" + _quoted("\\".join(path.parts))


def _quoted(text: str) -> str:
    return text.replace("$", "$$").replace('"', '$\\"')
