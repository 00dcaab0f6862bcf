"""Finds texts for people that do not go through `i18n`, by reading the code: ``python -m tests.untranslated``."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "a3s_desktop"
# What talks to a terminal or to programmers speaks English; actions.py is collected as a table.
LEFT_OUT = (
    "cli/", "__main__.py", "actions.py", "i18n.py", "ui/auto_demo.py", "session/benchmark", "session/simulation",
    "session/oracle", "session/scale", "discretion.py", "ui/trace.py", "ui/heartbeat.py", "ui/self_test.py", "logs.py",
)  # fmt: skip
# Names of products and fonts, and keys that look like words.
NAMES = {
    "A3S Desktop", "Segoe UI", "SF Pro Text", "Noto Sans", "DejaVu Sans", "cluster view", "enlarged view", "hover card",
    "order file", "leave out", "system volume information", "second look", "known labels", "open cluster",
    "nearest clusters", "cluster picker", "single image", "single images", "No such file", "lock heartbeat",
    "database is locked", "rowid, used, width, height, cut, data",
    "Open this file with A3S Desktop. It belongs to the project folder it lies in.",
}  # fmt: skip
TRANSLATES = {"tr", "trn", "trc", "mark", "markn"}
SHOWS = {
    "QAction", "QCheckBox", "QDockWidget", "QGroupBox", "QLabel", "QMenu", "QPushButton", "QRadioButton", "addAction",
    "addItem", "addMenu", "addRow", "add_dock", "ask", "say", "setAccessibleDescription", "setAccessibleName",
    "setHeaderLabels", "setHorizontalHeaderLabels", "setInformativeText", "setPlaceholderText", "setPrefix",
    "setSpecialValueText", "setStatusTip", "setSuffix", "setTabText", "setText", "setTitle", "setToolTip",
    "setWhatsThis", "setWindowTitle", "showMessage", "show_error", "stage",
}  # fmt: skip
# What these are given is read by programs or programmers.
SILENT = {
    "debug", "info", "warning", "error", "exception", "critical", "log", "getLogger", "compile", "setProperty",
    "setObjectName", "setStyleSheet", "set_role", "ValueError", "TypeError", "KeyError", "RuntimeError",
    "AssertionError", "NotImplementedError", "IndexError", "LookupError", "execute", "executemany", "executescript",
    "strftime", "getattr", "ArgumentTypeError", "dtype", "namedtuple", "TypeVar", "cast",
}  # fmt: skip
_SENTENCE = re.compile(r"[A-Za-z]{2,}[,;:.]? [A-Za-z(“]{2,}|[A-Za-z]{3,}…")
_WORD = re.compile(r"[A-Za-z]{2,}")
_STYLE = re.compile(r"[{;]\s*[\w-]+: ?[^;]+;")
_MARKUP = re.compile(r"<[/?\w]+ |</|font-family|default-src|^merge preview|^\(\?:")
_SQL = re.compile(r"\s*(SELECT|INSERT|CREATE|PRAGMA|BEGIN|UPDATE|DELETE|DROP|ATTACH|COMMIT|ROLLBACK|VACUUM)\b")


@dataclass(frozen=True)
class Found:
    """A text and where it is."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text[:90]!r}"


def modules() -> Iterator[tuple[str, Path]]:
    """Modules whose texts people read."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith(LEFT_OUT):
            yield name, path


def untranslated(name: str, source: str) -> list[Found]:
    """Texts of one module that look as if people read them and do not go through `i18n`."""
    finder = _Finder(name)
    finder.visit(ast.parse(source))
    return finder.found


class _Finder(ast.NodeVisitor):
    def __init__(self, name: str) -> None:
        self.name = name
        self.found: list[Found] = []
        self._shown = False  # inside a call that shows its arguments

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        self.visit(node.func)
        if name in TRANSLATES:
            for value in node.keywords:  # the text itself is well; what is filled in may hold another
                self.visit(value.value)
            return
        if name in SILENT and not (name == "error" and not isinstance(node.func, ast.Attribute)):
            return
        before, self._shown = self._shown, name in SHOWS
        for value in (*node.args, *(keyword.value for keyword in node.keywords)):
            self.visit(value)
        self._shown = before

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        names = {base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in node.bases}
        for part in node.body:
            if not (isinstance(part, ast.Assign) and names & {"Enum", "StrEnum"}):  # values of a program, not words
                self.visit(part)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
            self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> None:
        self.visit(node.test)

    def visit_Compare(self, node: ast.Compare) -> None:
        pass

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        text = "".join(part.value for part in node.values if isinstance(part, ast.Constant))
        words = "".join(part.value if isinstance(part, ast.Constant) else " X " for part in node.values)
        self._judge(text if not _SENTENCE.search(text) else words, node.lineno, joined=True)
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.visit(part.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self._judge(node.value, node.lineno)

    def _judge(self, text: str, line: int, joined: bool = False) -> None:
        style = _STYLE.search(text) or _MARKUP.search(text)
        if text in NAMES or text == " – A3S Desktop" or _SQL.match(text) or style:
            return
        shown = self._shown and _WORD.search(text) and (" " in text or text[:1].isupper() or joined)
        if shown or _SENTENCE.search(text):
            self.found.append(Found(self.name, line, text))


def main() -> int:
    """List them."""
    found = [each for name, path in modules() for each in untranslated(name, path.read_text(encoding="utf-8"))]
    print("\n".join(map(str, found)))  # noqa: T201
    print(f"{len(found)} texts")  # noqa: T201
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
