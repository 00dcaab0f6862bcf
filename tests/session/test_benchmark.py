"""The benchmark as a whole, on small data: plan, runs in processes, report, interruption, failures."""

from __future__ import annotations

import dataclasses
import html.parser
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from a3s_desktop import cli
from a3s_desktop.cli import benchmark as command
from a3s_desktop.core.types import InitialOptions, StrategyOptions
from a3s_desktop.errors import Cancelled
from a3s_desktop.session import benchmark, benchmark_plots
from a3s_desktop.session.benchmark import Continue, Prepare, do, run_benchmark
from a3s_desktop.session.benchmark_data import Case, read_cases
from a3s_desktop.session.benchmark_plan import CHECKPOINTS, BenchmarkOptions, Run, make_plan, notes
from a3s_desktop.session.benchmark_report import as_html, as_markdown, write_report
from a3s_desktop.session.benchmark_tables import Section, Table
from a3s_desktop.session.benchmark_workers import attempt
from a3s_desktop.session.simulation import simulate
from a3s_desktop.task import Task

PAPER = BenchmarkOptions(("a3s-paper",), seeds=(0, 1), jobs=2)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two data sets of 40 rows, one of them in one and in two views."""
    rng = np.random.default_rng(3)
    classes = np.repeat(np.arange(5), 8)
    features = (rng.normal(0, 1, (5, 6))[classes] + rng.normal(0, 0.5, (40, 6))).astype(np.float32)
    for name, cases in (("odd <b>|$x", ["f"]), ("views", ["f", "f g"])):
        folder = tmp_path / "data" / name.partition(" ")[0]
        folder.mkdir(parents=True)
        np.save(folder / "f.npy", features)
        np.save(folder / "g.npy", features[:, :3].copy())
        np.save(folder / "labels.npy", classes)
        listed = [{"name": case, "features": [f"{view}.npy" for view in case.split()]} for case in cases]
        described = {"name": name, "labels": "labels.npy", "cases": listed}
        (folder / "dataset.json").write_text(json.dumps(described), encoding="utf-8")
    return tmp_path / "data"


def case(samples: int = 2000, classes: int = 10) -> Case:
    return Case("some", "some", (Path("f.npy"),), Path("labels.npy"), samples, classes)


def test_the_plan_compares_on_equal_terms() -> None:
    options = BenchmarkOptions(("a3s-paper", "cobra", "npu"), seeds=(0, 1), told_clusters=frozenset({"npu"}))
    runs, agreements = make_plan([case()], options)
    main = {(run.strategy, run.seed): run for run in runs if run.group == "main"}
    assert len(main) == 6
    assert main["npu", 1].options.clusters == 10
    assert main["cobra", 1].options.clusters is None
    assert main["npu", 1].initial == main["cobra", 1].initial == InitialOptions(seed=1, refine=False)
    assert main["a3s-paper", 0].initial.pseudo_labels == 10
    assert {name: main[name, 0].budget for name in options.strategies} == {"a3s-paper": 1200, "cobra": 1200, "npu": 600}
    assert [run.options.clusters for run in runs if run.group == "cobra-k"] == [10, 20, 30, 50, 80]
    assert len(agreements) == 1
    said = " ".join(notes(options, [case()]))
    assert "number of classes: npu" in said
    assert "600" in said
    assert len({run.title + run.group for run in runs}) == len(runs)


def test_ablations_vary_one_thing_each() -> None:
    strategies = ("a3s-paper",)
    plain, _ = make_plan([case()], BenchmarkOptions(strategies, seeds=(0,)))
    runs, _ = make_plan([case()], BenchmarkOptions(strategies, seeds=(0,), ablations=True))
    assert {run.group for run in plain} == {"main"}
    groups = {group: [run for run in runs if run.group == group] for group in ("initial", "tau", "oracle")}
    assert {(run.initial.initial, run.initial.ratio) for run in groups["initial"]} == {
        (name, ratio) for name in ("kmeans", "spectral", "agglomerative") for ratio in (1.0, 1.5, 2.0)
    }
    assert sorted(run.options.tau_offset for run in groups["tau"]) == [-0.2, 0.0]
    assert {(run.oracle.error, run.oracle.skip) for run in groups["oracle"]} == {(0.05, 0.0), (0.0, 0.1)}
    for run in (*groups["tau"], *groups["oracle"]):
        assert run.initial == plain[0].initial
    large, compared = make_plan([case(50_000)], BenchmarkOptions(strategies, seeds=(0,), ablations=True))
    assert {run.group for run in large} == {"main"}
    assert compared == []


def test_the_start_as_fpc_gives_it_is_an_ablation_of_what_regroups() -> None:
    runs, _ = make_plan([case()], BenchmarkOptions(("a3s",), seeds=(0,), ablations=True))
    main = next(run for run in runs if run.group == "main")
    (start,) = [run for run in runs if run.group == "start"]
    assert main.initial.regroup
    assert start.initial == dataclasses.replace(main.initial, regroup=False)
    assert start.options == main.options
    published, _ = make_plan([case()], BenchmarkOptions(("a3s-paper",), seeds=(0,), ablations=True))
    assert "start" not in {run.group for run in published}


def test_a_run_is_the_simulation_from_a_shared_start(data: Path, tmp_path: Path) -> None:
    found = read_cases(data, ["views/f g"])[0]
    runs, (agreement,) = make_plan([found], dataclasses.replace(PAPER, seeds=(0,)))
    place = tmp_path / "start"
    assert do(Prepare(found, runs[0].initial, place)) is None
    result = do(Continue(runs[0], place))
    views, labels = found.load()
    alone = simulate(views, labels, runs[0].initial, runs[0].options, budget=runs[0].budget, every=1, at=CHECKPOINTS)
    assert result["curve"] == alone["curve"]
    assert result["init"]["seconds"] > 0.0
    assert result["end"]["seconds"] >= result["init"]["seconds"]
    compared = do(Continue(agreement, place))
    matrix = np.array(compared["ari"])
    assert np.array_equal(matrix, matrix.T)
    assert np.all(np.diag(matrix) == 1.0)
    assert len(compared["names"]) == len(compared["classes"]) == 4


class Here:
    """In place of the processes, which take seconds to start: does each job when the results are looked at."""

    def __init__(self, size: int, do: Callable[[Any], Any]) -> None:
        self._do, self._jobs, self._size = do, [], size

    @property
    def has_room(self) -> bool:
        return len(self._jobs) < self._size

    def begin(self, job: Any) -> None:
        self._jobs.append(job)

    def finished(self, timeout: float) -> list[tuple[Any, Any]]:
        jobs, self._jobs = self._jobs, []
        return [(job, attempt(self._do, job)) for job in jobs]

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "Crew", Here)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "report"


def test_the_whole(data: Path, out: Path) -> None:
    cases = read_cases(data)
    lines: list[str] = []
    returned = run_benchmark(cases, PAPER, out, lines.append, Task())
    assert len(lines) == 9
    assert "6 of 9" in lines[5]
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert results["finished"] is True
    assert [run["failed"] for run in results["runs"]] == [None] * 6
    assert [(run["case"], run["seed"]) for run in results["runs"]] == [
        (title, seed) for title in (found.title for found in cases) for seed in (0, 1)
    ]
    assert results["runs"] == returned["runs"]
    row = results["summary"]["main"][cases[0].title]["a3s-paper"]
    assert row["seeds"] == 2
    assert set(row["at"]) == {"0", "20", "40"}
    assert len(results["summary"]["views"]) == 2
    page = (out / "index.html").read_text(encoding="utf-8")
    check_html(page)
    assert page.count("data:image/png;base64,") == 3
    assert "odd &lt;b&gt;|$x" in page
    assert "http" not in page
    assert r"odd &lt;b&gt;\|$x" in (out / "results.md").read_text(encoding="utf-8")
    pictures = sorted(path.name for path in out.glob("*.png"))
    assert pictures == ["01-odd-b-x-f.png", "02-views-f.png", "03-views-f-g.png"]
    assert all((out / name).read_bytes().startswith(b"\x89PNG") for name in pictures)
    assert not list(out.glob(".*"))
    write_report(out, results)  # once more over itself
    assert json.loads((out / "results.json").read_text(encoding="utf-8"))["runs"] == results["runs"]


class Tags(html.parser.HTMLParser):
    """Whether every tag is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check_html(page: str) -> None:
    tags = Tags()
    tags.feed(page)
    assert tags.open == []


@pytest.mark.usefixtures("here")
def test_failing_runs_are_reported_and_the_others_go_on(data: Path, out: Path) -> None:
    cases = read_cases(data, ["views"])
    (data / "views" / "g.npy").unlink()
    results = run_benchmark(cases, dataclasses.replace(PAPER, seeds=(0,)), out, lambda line: None, Task())
    assert [run["failed"] is None for run in results["runs"]] == [True, False]
    assert "g.npy" in results["runs"][1]["failed"]
    page = (out / "index.html").read_text(encoding="utf-8")
    check_html(page)
    assert "Runs that failed" in page
    assert "g.npy" in page
    assert "No run was finished" in page


@pytest.mark.usefixtures("here")
def test_an_interruption_leaves_what_is_finished(data: Path, out: Path) -> None:
    task = Task()
    with pytest.raises(Cancelled):
        run_benchmark(
            read_cases(data), dataclasses.replace(PAPER, jobs=1), out, lambda line: task.cancel(), task
        )  # fmt: skip
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert results["finished"] is False
    assert len(results["runs"]) + len(results["agreements"]) == 1
    page = (out / "index.html").read_text(encoding="utf-8")
    check_html(page)
    assert "interrupted" in page


@pytest.mark.usefixtures("here")
def test_what_is_finished_is_saved_meanwhile(data: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "_SAVE_EVERY", -1.0)
    seen: list[int] = []

    def look(line: str) -> None:
        if (out / "results.json").exists():
            seen.append(len(json.loads((out / "results.json").read_text(encoding="utf-8"))["runs"]))

    run_benchmark(read_cases(data, ["views/f"]), PAPER, out, look, Task())
    assert seen[0] == 1


@pytest.mark.usefixtures("here")
def test_without_matplotlib_there_are_tables(data: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark_plots, "available", lambda: False)
    run_benchmark(read_cases(data, ["views/f"]), dataclasses.replace(PAPER, seeds=(0,)), out, lambda line: None, Task())
    assert not list(out.glob("*.png"))
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "pip install" in page
    assert "a3s-paper" in page


def test_matplotlib_is_loaded_only_to_draw() -> None:
    program = "import sys, a3s_desktop.session.benchmark, a3s_desktop.cli; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_text_is_escaped_in_both_reports() -> None:
    table = Table("<t>", ("a|b", "c"), (("<i>x</i>", "1|2\n`3`"),), "n&m")
    sections = [Section("<h>", ("<p>",), (table,))]
    page, text = as_html(sections, ["<note>"], []), as_markdown(sections, ["<note>"], [])
    check_html(page)
    for raw in ("<t>", "<i>", "<h>", "<note>", "<p><p>"):
        assert raw not in page
        assert raw not in text
    assert r"1\|2 \`3\`" in text


# ------------------------------------------------------------------------------------------------ the command


@pytest.mark.usefixtures("here")
def test_the_command(data: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "--data",
        str(data),
        "--datasets",
        "views/f",
        "--strategies",
        "a3s-paper",
        "--seeds",
        "3",
        "--jobs",
        "1",
    ]
    assert cli.main(["benchmark", *arguments, "--face-like", "140,hard", "--budget", "5", "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert str(out / "index.html") in printed.out
    assert "views · f · a3s-paper · seed 3: NMI" in printed.err
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert [case["case"] for case in results["cases"]] == ["views · f", "face-like hard 140"]
    assert {run["result"]["end"]["queries"] for run in results["runs"]} <= set(range(6))
    assert {run["seed"] for run in results["runs"]} == {3}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--strategies", "guess"],
        ["--strategies", ","],
        ["--seeds", "4-1"],
        ["--seeds", "x"],
        ["--face-like", "many"],
        ["--face-like", "1000,odd"],
        ["--jobs", "0"],
        ["--budget", "-1"],
    ],
)
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(["benchmark", "--data", "d", "--out", "r", *arguments])
    assert capsys.readouterr().err


def test_known_problems_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["benchmark", "--out", str(tmp_path / "r")]) == 1
    assert "nothing to run on" in capsys.readouterr().err
    assert cli.main(["benchmark", "--data", str(tmp_path / "no"), "--out", str(tmp_path / "r")]) == 1
    assert "does not exist" in capsys.readouterr().err
    assert not (tmp_path / "r").exists()


def test_seeds_and_faces() -> None:
    assert command._seeds("0-4") == (0, 1, 2, 3, 4)
    assert command._seeds("7,0-2,1") == (7, 0, 1, 2)
    assert command._faces("10_000") == (10_000, "easy")
    assert command._faces("200,hard") == (200, "hard")


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl+C of another process cannot be sent")
def test_ctrl_c_in_the_real_program(data: Path, out: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    arguments = ["benchmark", "--data", str(data), "--seeds", "0-400", "--strategies", "a3s-paper", "--jobs", "1"]
    with subprocess.Popen(
        [sys.executable, "-m", "a3s_desktop", *arguments, "--out", str(out)],
        cwd=root,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # the signal goes to the group, as a terminal has it
    ) as running:
        assert running.stderr is not None
        assert "NMI" in running.stderr.readline()
        os.killpg(running.pid, signal.SIGINT)
        started = time.monotonic()
        said = running.stderr.read()
        assert running.wait(60) == 130
        assert time.monotonic() - started < 60.0
    assert "Stopped" in said
    assert "Traceback" not in said
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert 1 <= len(results["runs"]) < 401
    assert all(run["failed"] is None for run in results["runs"])


def test_a_run_is_one_value() -> None:
    run = make_plan([case()], PAPER)[0][0]
    assert isinstance(run, Run)
    assert run == dataclasses.replace(run, options=StrategyOptions(strategy="a3s-paper"))
    assert hash(run) == hash(dataclasses.replace(run))
