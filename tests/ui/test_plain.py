"""Names from data are never taken for markup."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from PySide6.QtGui import Qt, QTextDocument

from a3s_desktop.ui.plain import plain_tip

UI = Path(__file__).resolve().parents[2] / "a3s_desktop" / "ui"
FIXED = {"tr", "trn", "trc"}
FIGURES = {"number", "decimal", "percent", "len"}


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _fits(node: ast.expr | None) -> bool:
    """Whether a tool tip is the program's own words with figures, or passed through `plain_tip`."""
    if node is None or isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.IfExp):
        return _fits(node.body) and _fits(node.orelse)
    if not isinstance(node, ast.Call):
        return False
    called = _name(node.func)
    if called in FIXED:  # a field may hold a name; a figure cannot
        return all(isinstance(one.value, ast.Call) and _name(one.value.func) in FIGURES for one in node.keywords)
    return called in {"plain_tip", "toolTip"}


def _raw_tips(tree: ast.Module) -> list[int]:
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) == "setToolTip" and not _fits(node.args[-1]):
            lines.append(node.lineno)
        if isinstance(node, ast.Call) and _name(node.func) == "setData":
            role = any(_name(one) == "ToolTipRole" for one in node.args)
            lines += [node.lineno] if role and not all(_fits(one) for one in node.args[-1:]) else []
        if isinstance(node, ast.If) and any(
            isinstance(one, ast.Attribute) and one.attr == "ToolTipRole" for one in ast.walk(node.test)
        ):
            lines += [
                one.lineno
                for line in node.body
                for one in ast.walk(line)
                if isinstance(one, ast.Return) and not _fits(one.value)
            ]
    return lines


def test_every_tool_tip_is_fixed_or_plain() -> None:
    # The one of shortcuts.py is made of the table of actions and of key names.
    found = {
        (path.name, line)
        for path in sorted(UI.glob("*.py"))
        if path.name != "shortcuts.py"
        for line in _raw_tips(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == set()


@pytest.mark.parametrize(
    "source",
    [
        "w.setToolTip(name)",
        "w.setToolTip(f'{a}')",
        "w.setToolTip(tr('In {folder}', folder=path))",
        "w.setToolTip(0, name)",
        "w.setData(Qt.ItemDataRole.ToolTipRole, name)",
        "def data(role):\n    if role == Qt.ItemDataRole.ToolTipRole:\n        return name",
    ],
)
def test_the_search_finds_raw_tips(source: str) -> None:
    assert _raw_tips(ast.parse(source))


@pytest.mark.parametrize("name", ['<img src=x onerror=1><b>"&.png', "a\nb < c", "&lt;", "<script>x</script>"])
def test_a_name_is_shown_letter_by_letter(name: str) -> None:
    assert Qt.mightBeRichText(plain_tip(name))
    document = QTextDocument()
    document.setHtml(plain_tip(name))
    assert document.toPlainText() == name
    assert plain_tip("") == ""


def test_nothing_takes_its_text_from_a_tool_tip() -> None:
    """There it is markup; the tips of actions are words of the program's own."""
    found = {
        (path.name, ast.unparse(node.func))
        for path in sorted(UI.glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and _name(node.func) == "toolTip" and "action" not in ast.unparse(node.func)
    }
    assert found == set()
