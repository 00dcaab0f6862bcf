"""All that the program writes goes through one small layer, where `tests.durability` puts faults in.

The faults themselves: `tests/durability/test_durability.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "a3s_desktop"
# The layer; and what lies below it or must not fail with it: each writes only what is no part of a project.
LAYER = {"storage/files.py", "storage/sqlite.py"}
APART = {
    "settings.py": "below the layer; atomic by itself, a failure is a warning",
    "logs.py": "below the layer; a log that cannot be written goes to the terminal",
    "ui/self_test.py": "the packaged program's test of itself, in a folder of its own",
    "ui/qt_files.py": "says where Qt writes by itself",
    "storage/lock.py": "the lock is the open file itself; what is written into it is for messages only",
}
CHANGING_OS = {
    *("open", "write", "replace", "rename", "renames", "remove", "unlink", "mkdir", "makedirs", "rmdir", "removedirs"),
    *("link", "symlink", "truncate", "ftruncate", "chmod", "utime", "fsync", "mknod", "mkfifo", "pwrite", "sendfile"),
}
# Not `replace`, `rename`, `touch`, `open`: strings, dataclasses and Qt have these, too; they are judged one by one.
CHANGING_PATH = {"write_text", "write_bytes", "mkdir", "rmdir", "unlink", "symlink_to", "hardlink_to"}
QT = {"QFile", "QSaveFile", "QSettings", "QTemporaryFile", "QTemporaryDir", "QLockFile"}
WRITING_NUMPY = {"save", "savez", "savez_compressed", "savetxt", "tofile", "memmap"}
READING_NUMPY = {"load", "loadtxt", "genfromtxt", "fromfile"}  # their errors are not the program's
HANDLERS = {"FileHandler", "RotatingFileHandler", "TimedRotatingFileHandler"}


def modules() -> list[Path]:
    found = sorted(PACKAGE.rglob("*.py"))
    return [path for path in found if path.relative_to(PACKAGE).as_posix() not in LAYER | APART.keys()]


def _mode(call: ast.Call, place: int) -> str:
    values = [*call.args[place : place + 1], *(k.value for k in call.keywords if k.arg == "mode")]
    return "".join(str(v.value) if isinstance(v, ast.Constant) else "w" for v in values)


def offences(source: str) -> Iterator[str]:
    """What in a module's source changes the disk by itself."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module in ("os", "shutil", "tempfile") and node.module != "os":
            yield f"line {node.lineno}: from {node.module} import"
        if isinstance(node, ast.Name) and node.id in QT:
            yield f"line {node.lineno}: {node.id}"
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
        owner = called.value.id if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) else ""
        path_open = isinstance(called, ast.Attribute) and name == "open" and owner not in ("os", "Image", "gzip")
        wrong = (
            (owner == "os" and name in CHANGING_OS)
            or (owner == "shutil" and name not in ("which", "get_terminal_size"))
            or (owner == "tempfile" and name != "gettempdir")
            or (owner in ("sqlite3", "dbapi2") and name == "connect")
            or (owner in ("np", "numpy") and name in WRITING_NUMPY and not _into_handle(node))
            or (owner in ("np", "numpy") and name in READING_NUMPY)
            or (name in CHANGING_PATH and owner not in ("files", "os"))
            or (name in ("rename", "touch") and owner in ("path", "folder", "target", "source", "out"))
            or (isinstance(called, ast.Name) and name == "open" and set(_mode(node, 1)) & set("wax+"))
            or (path_open and _is_writing_mode(node))
            or (name == "save" and bool(node.args) and not _into_handle(node) and owner in ("image", "picture"))
            or name in HANDLERS
        )
        if wrong:
            yield f"line {node.lineno}: {ast.unparse(called)}"


def _is_writing_mode(node: ast.Call) -> bool:
    """``path.open("w")``; what Qt or a zip archive open is not named by such a mode."""
    first = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "mode"), None)
    return isinstance(first, ast.Constant) and isinstance(first.value, str) and first.value[:1] in ("w", "a", "x")


def _into_handle(node: ast.Call) -> bool:
    """Whether the target is a file that the layer gave, or memory."""
    first = node.args[0] if node.args else None
    return isinstance(first, ast.Name) and first.id in ("file", "data", "buffer", "memory", "out", "writer", "member")


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_nothing_is_written_past_the_layer(path: Path) -> None:
    found = list(offences(path.read_text(encoding="utf-8")))
    assert found == [], f"{path.relative_to(ROOT)}: use a function of storage/files.py or storage/sqlite.py"


@pytest.mark.parametrize(
    "line",
    [
        "open(p, 'w')",
        "open(p, mode='ab')",
        "p.open('x')",
        "p.write_text('x')",
        "(a / b).mkdir()",
        "os.replace(a, b)",
        "os.makedirs(a)",
        "shutil.copyfile(a, b)",
        "tempfile.mkstemp()",
        "sqlite3.connect(p)",
        "np.save(p / 'x.npy', a)",
        "np.load(p)",
        "QSettings()",
        "logging.FileHandler(p)",
        "image.save(str(p))",
    ],
)
def test_the_watch_sees(line: str) -> None:
    assert list(offences(line)) != []


@pytest.mark.parametrize(
    "line", ["open(p)", "open(p, 'rb')", "p.open('rb')", "text.replace('a', 'b')", "dialog.open()"]
)
def test_the_watch_lets_pass(line: str) -> None:
    assert list(offences(line)) == []
