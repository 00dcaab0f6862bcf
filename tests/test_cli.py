"""The command line: what it prints, its exit codes, and that it needs no window."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from a3s_desktop import cli
from a3s_desktop.cli import showing, terminal
from a3s_desktop.cli.parser import make_parser
from a3s_desktop.errors import Cancelled
from a3s_desktop.task import Progress, Task

N, CLASSES = 40, 5
Run = Callable[..., int]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with images, features, an order file and labels in two forms; the working directory."""
    rng = np.random.default_rng(3)
    classes = np.repeat(np.arange(CLASSES), N // CLASSES)
    features = rng.normal(0, 1, (CLASSES, 6))[classes] + rng.normal(0, 0.5, (N, 6))
    names = [f"{k:02d}.png" for k in rng.permutation(N)]
    (tmp_path / "photos").mkdir()
    for name in names:
        Image.new("RGB", (6, 6), (90, 40, 30)).save(tmp_path / "photos" / name)
    np.save(tmp_path / "f.npy", features.astype(np.float32))
    np.save(tmp_path / "g.npy", features[:, :2].astype(np.float32))
    np.save(tmp_path / "labels.npy", classes)
    (tmp_path / "order.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    rows = "".join(f"{name},person {label}\n" for name, label in zip(names, classes, strict=True))
    (tmp_path / "labels.csv").write_text("file,label\n" + rows, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def new(*more: str) -> int:
    return cli.main(["new", "p", "--images", "photos", "--features", "f.npy", *more])


def answered(folder: Path, count: int) -> Any:
    from a3s_desktop.core.types import Answer
    from a3s_desktop.session.opening import open_session

    session, _ = open_session(folder)
    for _ in range(count):
        assert session.state.question is not None
        session.answer(session.state.question.id, Answer.DIFFERENT)
    session.undo()
    state = session.state
    session.close()
    return state


def test_new_info_export(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert new("--order", "order.txt", "--labels", "labels.csv", "--name", "Whales") == 0
    out, err = capsys.readouterr()
    names = (files / "order.txt").read_text(encoding="utf-8").split()
    assert f"{N} rows were matched to images by the order file" in out
    for row in (0, 1, 2, N - 3, N - 2, N - 1):
        assert f"row {row}: {names[row]}\n" in out
    assert "row 3:" not in out
    assert err == ""

    state = answered(files / "p", 3)
    assert cli.main(["info", "p", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts == {
        "items": N,
        "answers": 2,
        "skipped": 0,
        "incomparable": 0,
        "junk": 0,
        "clusters": state.clusters,
        "singletons": state.singletons,
        "can_undo": True,
        "can_redo": True,
        "question": {
            "left": state.question.left,
            "right": state.question.right,
            "reason": state.question.reason.value,
        },
    }
    assert cli.main(["info", "p"]) == 0
    text = capsys.readouterr().out
    assert "Whales" in text
    assert "2 answers, 0 skipped" in text
    assert names[state.question.left] in text

    assert cli.main(["export", "p", "--format", "csv", "--out", "groups.csv"]) == 0
    with (files / "groups.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["path"] for row in rows] == names
    assert [int(row["cluster"]) for row in rows] == state.labels.tolist()
    capsys.readouterr()
    assert cli.main(["export", "p", "--out", "groups.csv"]) == 1
    said = capsys.readouterr().err
    assert "groups.csv" in said
    assert "--overwrite" in said
    assert cli.main(["export", "p", "--out", "groups.csv", "--overwrite"]) == 0


@pytest.mark.usefixtures("files")
def test_without_an_order_file_the_sorted_order_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert new() == 0
    out = capsys.readouterr().out
    assert "by the sorted order of the files (check the pairs below)" in out
    assert "row 0: 00.png" in out


def test_simulate_writes_its_json(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["simulate", "--features", "f.npy", "--labels", "labels.npy", "--every", "5"]) == 0
    out, err = capsys.readouterr()
    result = json.loads(out)
    assert err == ""
    assert result["data"] == {"n": N, "classes": CLASSES, "dim": 6}
    assert result["curve"][1]["queries"] == 5
    arguments = ["simulate", "--features", "f.npy", "--labels", "labels.csv", "--json", "out.json", "--every", "5"]
    assert cli.main(arguments) == 0
    again = json.loads((files / "out.json").read_text(encoding="utf-8"))
    assert again["curve"] == result["curve"]
    assert "NMI" in capsys.readouterr().out


@pytest.mark.usefixtures("files")
def test_answers_may_be_wrong_or_skipped(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["simulate", "--features", "f.npy", "--labels", "labels.npy", "--seed", "3"]
    arguments += ["--oracle-error", "0.2", "--oracle-skip", "0.2"]
    assert cli.main([*arguments, "--json", "out.json"]) == 0
    result = json.loads(Path("out.json").read_text(encoding="utf-8"))
    end = result["end"]
    assert f"{end['wrong']} answers were wrong, {end['skipped']} pairs were skipped" in capsys.readouterr().out
    assert end["wrong"] > 0
    assert end["skipped"] > 0
    assert cli.main(arguments) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["curve"] == result["curve"]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "views",
    [
        ("--features", "f.npy", "--features", "g.npy"),
        ("--views", "f.npy", "g.npy"),
        ("--features", "f.npy", "--views", "g.npy"),
    ],
)
def test_several_views(capsys: pytest.CaptureFixture[str], views: tuple[str, ...]) -> None:
    assert cli.main(["simulate", *views, "--labels", "labels.npy", "--budget", "4"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["data"]["dim"] == 8
    assert result["end"]["queries"] == 4


@pytest.mark.usefixtures("files")
def test_options_of_the_method_reach_it(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        *("simulate", "--features", "f.npy", "--labels", "labels.npy", "--budget", "0", "--strategy", "a3s-paper"),
        *("--initial", "fpc", "--pseudo-labels", "7", "--aggregation", "product", "--seed", "3", "--neighbors", "9"),
        *("--normalisation", "l2", "--iterations", "4", "--no-purity-test", "--clusters", "5"),
        *("--ratio", "1.5", "--refine"),
    ]
    assert cli.main(arguments) == 0
    out, err = capsys.readouterr()
    settings = json.loads(out)["settings"]
    wanted = {
        "strategy": "a3s-paper",
        "initial": "fpc",
        "pseudo_labels": 7,
        "aggregation": "product",
        "seed": 3,
        "neighbors": 9,
        "normalisation": "l2",
        "iterations": 4,
        "purity_test": False,
        "ratio": 1.5,
        "refine": True,
        "budget": 0,
    }
    assert {name: settings[name] for name in wanted} == wanted
    assert "--clusters" in err  # unused by this strategy, and said so


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["info", "nowhere"], "nowhere"),
        (["info", "photos"], "photos"),
        (["export", "nowhere", "--out", "x.csv"], "nowhere"),
        (["simulate", "--features", "missing.npy", "--labels", "labels.npy"], "missing.npy"),
        (["simulate", "--features", "f.npy", "--labels", "missing.npy"], "missing.npy"),
        (["simulate", "--features", "f.npy", "--labels", "short.npy"], "short.npy"),
        (["simulate", "--features", "order.txt", "--labels", "labels.npy"], "order.txt"),
        (["simulate", "--features", "nan.npy", "--labels", "labels.npy"], "nan.npy"),
        (["simulate", "--features", "objects.npy", "--labels", "labels.npy"], "objects.npy"),
        (["new", "q", "--images", "nowhere", "--features", "f.npy"], "nowhere"),
        (["new", "q", "--images", "photos", "--features", "short.npy"], "short.npy"),
        (["new", "photos", "--images", "photos", "--features", "f.npy"], "photos"),
        (["simulate", "--features", "f.npy", "--labels", "labels.npy", "--json", "no/such/out.json"], "out.json"),
    ],
)
def test_a_known_problem_is_one_sentence_and_code_1(
    files: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], named: str
) -> None:
    np.save(files / "short.npy", np.ones((3, 4), np.float32).cumsum(axis=0))
    broken = np.load(files / "f.npy", allow_pickle=False)
    broken[4, 1] = np.nan
    np.save(files / "nan.npy", broken)
    np.save(files / "objects.npy", np.array([{}, []], object), allow_pickle=True)
    assert cli.main(arguments) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert named in err
    assert err.startswith("a3s-desktop: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert not (files / "q").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["fly"],
        ["open"],
        ["new", "p"],
        ["new", "p", "--images", "photos"],
        ["simulate", "--labels", "labels.npy"],
        ["simulate", "--features", "f.npy", "--labels", "labels.npy", "--every", "0"],
        ["simulate", "--features", "f.npy", "--labels", "labels.npy", "--budget", "-1"],
        ["simulate", "--features", "f.npy", "--labels", "labels.npy", "--budget", "many"],
        ["simulate", "--features", "f.npy", "--labels", "labels.npy", "--oracle-error", "1.5"],
        ["simulate", "--features", "f.npy", "--labels", "labels.npy", "--oracle-skip", "some"],
        ["simulate", "--features", "f.npy", "--labels", "labels.npy", "--ratio", "0"],
        ["simulate", "--features", "f.npy", "--labels", "labels.npy", "--strategy", "guess"],
        ["export", "p", "--format", "xlsx", "--out", "x"],
        ["demo", "--data", "whales"],
    ],
)
def test_wrong_usage_is_code_2(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(arguments)
    assert left.value.code == 2
    assert "usage" in capsys.readouterr().err


COMMANDS = ("gui", "open", "demo", "new", "info", "export", "labels", "simulate", "benchmark")


def test_help_names_every_command_and_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(["--help"])
    assert left.value.code == 0
    text = capsys.readouterr().out
    for word in (*COMMANDS, "exit codes", "130"):
        assert word in text


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_explained(capsys: pytest.CaptureFixture[str], command: str) -> None:
    with pytest.raises(SystemExit):
        cli.main([command, "--help"])
    assert capsys.readouterr().out.startswith("usage: a3s-desktop " + command)
    parser = make_parser()._subparsers._group_actions[0].choices[command]  # type: ignore[union-attr, index, call-overload]
    assert all(action.help for action in parser._actions)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert capsys.readouterr().out.startswith("a3s-desktop 0.")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("error", [Cancelled(), KeyboardInterrupt()])
def test_cancelled_is_silence_and_code_130(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def stop(*_: object) -> int:
        raise error

    monkeypatch.setattr("a3s_desktop.cli.commands.project_facts", stop)
    assert new() == 0
    capsys.readouterr()
    assert cli.main(["info", "p"]) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("files")
def test_a_fault_of_the_program_is_one_sentence_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise ZeroDivisionError("oh")

    assert new() == 0
    monkeypatch.setattr("a3s_desktop.cli.commands.project_facts", fail)
    capsys.readouterr()
    assert cli.main(["info", "p"]) == 1
    assert "ZeroDivisionError: oh" in capsys.readouterr().err


def test_ctrl_c_asks_the_task_to_stop() -> None:
    task = Task()
    former = signal.getsignal(signal.SIGINT)
    with terminal.cancel_on_interrupt(task):
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(Cancelled):
            task.check()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is former


def test_progress_is_one_line_on_a_terminal_and_none_elsewhere(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with terminal.Console() as console:
        console.task.stage("Comparing images")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with terminal.Console() as console:
        console.task.plan(2)
        console.task.stage("Comparing images")
        console.say("found 7")
        console.task.stage("Linking")
    out, err = capsys.readouterr()
    assert out == "found 7\n"
    assert "\r1 of 2 · Comparing images" in err
    assert "\r2 of 2 · Linking" in err
    assert err.endswith("\r")
    assert "\n" not in err


def test_progress_text() -> None:
    assert terminal.progress_text(Progress("Looking", 0, 0, 0.0, None)) == "Looking"
    assert terminal.progress_text(Progress("Looking", 1, 3, 0.5, 12.4)) == "2 of 3 · Looking · 50 % · about 12 s left"


@pytest.mark.parametrize("arguments", [[], ["gui"], ["open", "p"]])
def test_without_a_display_a_window_is_refused_in_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setattr(showing, "has_display", lambda: False)
    assert cli.main(arguments) == 1
    assert "no display" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="these systems always have a display")
def test_displays(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert not showing.has_display()
    monkeypatch.setenv("DISPLAY", ":0")
    assert showing.has_display()


NO_QT = """
import sys
class NoQt:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("PySide6", "shiboken6", "pyqtgraph"):
            raise ImportError(name + " must not be imported here")
sys.meta_path.insert(0, NoQt())
import runpy
sys.argv = ["a3s-desktop", *sys.argv[1:]]
runpy.run_module("a3s_desktop", run_name="__main__", alter_sys=True)
"""


def without_qt(files: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).resolve().parent.parent
    environment = dict(os.environ, PYTHONPATH=str(root))
    return subprocess.run(
        [sys.executable, "-c", NO_QT, *arguments],
        cwd=files, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_simulate_runs_where_qt_cannot_be_imported(files: Path) -> None:
    done = without_qt(files, "simulate", "--features", "f.npy", "--labels", "labels.npy", "--budget", "5")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["end"]["queries"] == 5


def test_projects_are_made_and_read_where_qt_cannot_be_imported(files: Path) -> None:
    done = without_qt(files, "new", "p", "--images", "photos", "--features", "f.npy", "--order", "order.txt")
    assert (done.returncode, done.stderr) == (0, "")
    done = without_qt(files, "info", "p", "--json")
    assert json.loads(done.stdout)["items"] == N
    done = without_qt(files, "info", "nowhere")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a process there cannot send Ctrl+C to one other process")
def test_ctrl_c_stops_the_real_program(files: Path) -> None:
    rng = np.random.default_rng(0)
    np.save(files / "big.npy", rng.normal(0, 1, (20_000, 256)).astype(np.float32))
    np.save(files / "big-labels.npy", np.arange(20_000) % 300)
    root = Path(__file__).resolve().parent.parent
    arguments = ["simulate", "--features", "big.npy", "--labels", "big-labels.npy"]
    code = (
        "import sys; from a3s_desktop.cli import main; import a3s_desktop.session.simulation; "
        "print('ready', flush=True); sys.exit(main(sys.argv[1:]))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=files, env=dict(os.environ, PYTHONPATH=str(root)), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1.0)  # in the middle of the work
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == b""


@pytest.mark.parametrize(("words", "folder"), [((), None), (("out",), Path("out"))])
def test_the_self_test_writes_only_where_it_is_told_to(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], folder: Path | None
) -> None:
    from a3s_desktop.ui import self_test

    asked = []
    monkeypatch.setenv("QT_QPA_PLATFORM", os.environ.get("QT_QPA_PLATFORM", "offscreen"))
    monkeypatch.setattr(self_test, "self_test", lambda where, _say: asked.append(where) or True)
    assert cli.main(["--self-test", *words]) == 0
    assert asked == [folder]
