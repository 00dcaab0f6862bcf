"""The real program on a real (virtual) display with a real keyboard: from ``new`` to the export after a restart."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from a3s_desktop.demo.data import DemoData
from a3s_desktop.demo.project import demo_data
from a3s_desktop.task import Task
from tests.e2e import machine
from tests.e2e.kill_many import Killer

pytestmark = [
    pytest.mark.xcb,
    pytest.mark.skipif(bool(machine.missing_tools()), reason=f"needs {', '.join(machine.TOOLS)}"),
]


@pytest.fixture(scope="module")
def screen() -> Iterator[str]:
    with machine.display() as name:
        yield name


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> DemoData:
    return demo_data("ladybirds", tmp_path_factory.mktemp("demo"), Task())


def truth(data: DemoData) -> list[str]:
    with data.labels.open(encoding="utf-8") as file:
        return [row["label"] for row in csv.DictReader(file)]


def new_project(data: DemoData, folder: Path) -> Path:
    machine.command(
        "new", folder, "--images", data.images, "--features", data.features, "--order", data.order
    )  # fmt: skip
    return folder


def answer(program: machine.Running, labels: list[str]) -> str:
    pair = program.last("painted")
    key = "f" if labels[pair["left"]] == labels[pair["right"]] else "j"
    program.keys(key)
    return key


def test_from_new_over_forty_answers_undo_quit_reopen_to_export(screen, data, tmp_path):
    labels = truth(data)
    project = new_project(data, tmp_path / "project")
    given = []
    program = machine.Running(screen, tmp_path / "first.jsonl", "open", project)
    try:
        program.first_pair()
        for number in range(1, 41):
            pair = program.last("painted")
            given.append((pair["left"], pair["right"], {"f": "same", "j": "different"}[answer(program, labels)]))
            program.wait(
                lambda _, number=number: program.ready() and program.last("painted")["answers"] == number,
                f"pair after answer {number}",
            )
        fortieth = program.last("painted")
        program.keys("ctrl+z")
        program.wait(lambda _: program.ready() and program.last("painted")["answers"] == 39, "undo")
        undone = program.last("painted")
        assert (undone["left"], undone["right"]) == given[-1][:2]
        assert program.quit() == 0
    finally:
        program.close()
    info = json.loads(machine.command("info", project, "--json").stdout)
    assert info["answers"] == 39
    assert info["can_undo"]
    assert info["can_redo"]
    assert (info["question"]["left"], info["question"]["right"]) == given[-1][:2]

    program = machine.Running(screen, tmp_path / "second.jsonl", "open", project)
    try:
        program.first_pair()  # the very pair where it was left
        again = program.last("painted")
        assert (again["left"], again["right"], again["answers"]) == (*given[-1][:2], 39)
        program.keys("ctrl+shift+z")
        program.wait(lambda _: program.ready() and program.last("painted")["answers"] == 40, "redo")
        after = program.last("painted")
        assert (after["left"], after["right"]) == (fortieth["left"], fortieth["right"])
        out = tmp_path / "from-window.csv"
        export_by_keyboard(program, out)
        assert program.quit() == 0
    finally:
        program.close()
    assert "Traceback" not in program.output()

    from_command = tmp_path / "from-command.csv"
    machine.command("export", project, "--format", "csv", "--out", from_command)
    assert out.read_bytes() == from_command.read_bytes()
    with out.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["path", "cluster", "name", "status", "confidence"]
    assert len(rows) == 240
    cluster = {row["path"]: row["cluster"] for row in rows}
    order = data.order.read_text().split()
    for left, right, said in given:
        assert (cluster[order[left]] == cluster[order[right]]) == (said == "same")


def shows(program: machine.Running, title: str) -> bool:
    return any(name.startswith(title) for name in program.titles())  # Qt adds the program's name


def export_by_keyboard(program: machine.Running, out: Path) -> None:
    program.keys("ctrl+e")
    deadline = time.monotonic() + 20
    while not shows(program, "Export"):
        assert time.monotonic() < deadline, program.titles()
        time.sleep(0.05)
    time.sleep(0.3)
    program.keys("Tab", "Tab")  # from the kind of file over its option to its path
    program.keys("ctrl+a")
    program.type(str(out))
    time.sleep(0.2)
    program.keys("Return")
    while not out.exists():
        assert time.monotonic() < deadline, program.titles()
        time.sleep(0.05)
    while shows(program, "Export"):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_five_kills_lose_no_answer_whose_next_pair_was_painted(screen, data, tmp_path):
    project = new_project(data, tmp_path / "project")
    killer = Killer(screen, project, truth(data), tmp_path, np.random.default_rng(5))
    for _ in range(5):
        killer.round()
    assert killer.answers > 0


def test_a_project_that_another_window_has_open_is_offered_read_only(screen, data, tmp_path):
    project = new_project(data, tmp_path / "project")
    first = machine.Running(screen, tmp_path / "first.jsonl", "open", project)
    second = None
    try:
        first.first_pair()
        second = machine.Running(screen, tmp_path / "second.jsonl", "open", project)
        deadline = time.monotonic() + 60
        while not shows(second, "Project in use"):
            assert time.monotonic() < deadline, second.titles()
            time.sleep(0.1)
        second.xdotool("search", "--onlyvisible", "--name", "Project in use", "windowactivate", "--sync")
        second.keys("Return")
        second.wait(lambda _: second.count("painted") > 0, "pair, read-only")
        second.keys("f")
        time.sleep(0.5)
        assert second.count("changed", kind="answer") == 0
        second.quit()
    finally:
        first.close()
        if second is not None:
            second.close()
