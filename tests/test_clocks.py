"""The clock on the wall jumps: it stamps, and nothing else. How long something takes is asked of one that goes on."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "a3s_desktop"

WALL = {
    *(("time", name) for name in ("time", "time_ns", "gmtime", "localtime", "ctime")),
    *(("datetime", name) for name in ("now", "utcnow", "today")),
    ("date", "today"),
    *((kind, name) for kind in ("QDateTime", "QTime", "QDate") for name in (
        "currentDateTime", "currentDateTimeUtc", "currentTime", "currentDate", "currentMSecsSinceEpoch",
        "currentSecsSinceEpoch",
    )),
}  # fmt: skip
"""What reads it. ``time.strftime`` without a time does, too."""

COMPARED = {
    "storage/lock.py": "the sign of life of another computer, of which nothing but its clock is known",
    "storage/backup.py": "the age of backups, by the dates in their names; those of the future count as that old",
    "storage/backup_file.py": "which backup is the newest",
    "storage/files.py": "the age of what a killed program left",
    "ui/recent_list.py": "how long ago a project was used, in words",
    "ui/figures.py": "when the present day began",
    "ui/history_text.py": "whether a day is today",
}
"""Where the time of now meets another stamp, with the reason; everywhere else it may only be kept or shown."""


def reads(node: ast.AST) -> bool:
    """Whether it is a call that reads the wall clock; ``time.gmtime`` of a given time does not."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    owner = node.func.value
    name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    called = (name, node.func.attr)
    if name == "time":
        return (called in WALL and not node.args) or (called == ("time", "strftime") and len(node.args) == 1)
    return called in WALL


def carries(node: ast.AST, names: set[str]) -> bool:
    """Whether the value of an expression is the time of now, or made of it."""
    if reads(node) or (isinstance(node, ast.Name) and node.id in names):
        return True
    if isinstance(node, ast.Attribute):
        return carries(node.value, names)
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in ("round", "int", "float", "min", "max", "abs"):
            return any(carries(one, names) for one in node.args)
        return isinstance(node.func, ast.Attribute) and carries(node.func.value, names)
    parts = ast.IfExp, ast.BinOp, ast.UnaryOp, ast.NamedExpr
    return isinstance(node, parts) and any(carries(one, names) for one in ast.iter_child_nodes(node))


def measured(tree: ast.AST) -> Iterator[int]:
    """Lines on which the time of now is computed with or compared, directly or by a name that it was given."""
    for scope in ast.walk(tree):
        if not isinstance(scope, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        names: set[str] = set()
        for node in ast.walk(scope):
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and carries(node.value, names):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names |= {one.id for one in targets if isinstance(one, ast.Name)}
        if isinstance(scope, ast.Module) and not any(reads(node) for node in ast.walk(scope)):
            return
        for node in ast.walk(scope):
            if isinstance(node, ast.BinOp | ast.AugAssign | ast.Compare):
                operands = (
                    [node.left, *node.comparators] if isinstance(node, ast.Compare)
                    else [node.left, node.right] if isinstance(node, ast.BinOp) else [node.target, node.value]
                )  # fmt: skip
                if any(carries(one, names if not isinstance(scope, ast.Module) else set()) for one in operands):
                    yield node.lineno


_WORDS = ("time.time", "gmtime", "localtime", "strftime", ".now(", ".utcnow(", ".today(", "QDateTime", "from time")


@functools.cache
def modules() -> dict[str, ast.Module]:
    """The modules that may read the clock at all."""
    texts = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    return {name: ast.parse(text) for name, text in texts.items() if any(word in text for word in _WORDS)}


def test_the_wall_clock_only_stamps() -> None:
    found = {name: lines for name, tree in modules().items() if (lines := sorted(set(measured(tree))))}
    assert not {name: lines for name, lines in found.items() if name not in COMPARED}, "use time.monotonic()"


def test_it_is_read_where_it_is_said_to_be_compared() -> None:
    read = {name for name, tree in modules().items() if any(reads(node) for node in ast.walk(tree))}
    assert set(COMPARED) <= read, "no longer needed"


def test_the_clock_is_not_read_under_another_name() -> None:
    hidden = [
        name
        for name, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "time"
        and any(one.name in ("time", "time_ns") for one in node.names)
    ]  # fmt: skip
    assert hidden == []


def test_measuring_by_the_wall_clock_would_be_seen() -> None:
    for text in (
        "began = time.time()\nwork()\nprint(time.time() - began)",
        "def f():\n    now = datetime.datetime.now()\n    return now > then",
        "def f():\n    end = time.time() + 5\n    while True:\n        pass",
    ):
        assert list(measured(ast.parse(text)))
    for text in ("entry = Entry(time.time())", "def f():\n    at = time.time()\n    return at", "time.monotonic() - x"):
        assert not list(measured(ast.parse(text)))
