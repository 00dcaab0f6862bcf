"""Stage one on a Dask cluster: the same project as on one computer, and sentences where the cluster fails."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import distributed
import numpy as np
import pytest
from PIL import Image
from threadpoolctl import threadpool_limits

from a3s_desktop import cli
from a3s_desktop.cli import terminal
from a3s_desktop.core import initialization
from a3s_desktop.core.initialization import initialize
from a3s_desktop.core.metrics import ari
from a3s_desktop.core.types import InitialOptions, InitialState
from a3s_desktop.distributed import cluster, worker
from a3s_desktop.distributed.cluster import at_work
from a3s_desktop.errors import Cancelled, DaskError, InputError
from a3s_desktop.session.benchmark_data import face_like
from a3s_desktop.storage.workspace import open_workspace
from a3s_desktop.task import Progress, Task, at_once
from tests.distributed.conftest import two_workers

ROOT = Path(__file__).resolve().parent.parent.parent
ROWS = 2000
OPTIONS = InitialOptions().for_strategy("a3s")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with face-like features, their order file, and true labels."""
    folder = tmp_path_factory.mktemp("faces")
    features, labels = face_like(ROWS, "hard")
    np.save(folder / "features.npy", features)
    np.save(folder / "labels.npy", labels)
    (folder / "order.txt").write_text("\n".join(names()), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def alone(data: Path) -> InitialState:
    """What one computer finds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(initialization, "EXACT_UP_TO", 500)
        return initialize([np.load(data / "features.npy")], OPTIONS, Task())


@pytest.fixture(autouse=True)
def cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search by cells, as for large data."""
    monkeypatch.setattr(initialization, "EXACT_UP_TO", 500)


def names() -> list[str]:
    return [f"{row % 7}/{row:05}.jpg" for row in range(ROWS)]


def prepare(data: Path, folder: Path, address: str, *more: str) -> int:
    features, order = str(data / "features.npy"), str(data / "order.txt")
    return cli.main(["prepare", str(folder), "--features", features, "--order", order, "--scheduler", address, *more])


def test_a_cluster_makes_the_project_that_one_computer_makes(
    data: Path, alone: InitialState, two_processes: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prepare(data, tmp_path / "p", two_processes) == 0
    assert "locate" in capsys.readouterr().out
    with open_workspace(tmp_path / "p") as workspace:
        assert workspace.items.paths == tuple(names())
        found = workspace.load_initial()
        assert found is not None
        mine, theirs = (edges(state) for state in (found, alone))
        assert np.isin(theirs, mine).mean() >= 0.99
        truth = np.load(data / "labels.npy")
        assert abs(ari(found.labels, truth) - ari(alone.labels, truth)) <= 0.005
    assert [path.name for path in tmp_path.iterdir()] == ["p"]  # what was shared with the workers is gone
    assert not list((tmp_path / "p" / "artifacts").glob("step-*"))
    without_dask(tmp_path)


def edges(state: InitialState) -> np.ndarray:
    """The edges as numbers."""
    rows = np.repeat(np.arange(state.graph.n), np.diff(state.graph.indptr))
    return rows * state.graph.n + state.graph.indices


def without_dask(folder: Path) -> None:
    """A laptop reads the project, answers its first question and exports it."""
    program = (
        "import sys; sys.modules['dask'] = sys.modules['distributed'] = None\n"
        "from a3s_desktop import cli\n"
        "from a3s_desktop.core.types import Answer\n"
        "from a3s_desktop.session.opening import Path, open_session\n"
        "assert cli.main(['info', 'p', '--json']) == 0\n"
        "session, _ = open_session(Path('p'))\n"
        "session.answer(session.state.question.id, Answer.SAME)\n"
        "session.close()\n"
        "assert cli.main(['export', 'p', '--format', 'csv', '--out', 'groups.csv']) == 0\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout.splitlines()[0])["items"] == ROWS
    with (folder / "groups.csv").open(newline="", encoding="utf-8") as file:
        assert [row["path"] for row in csv.DictReader(file)] == names()


def test_neither_the_number_of_workers_nor_their_order_matters(
    data: Path, alone: InitialState, in_process: str, two_processes: str, tmp_path: Path
) -> None:
    """Bit for bit: on one computer all products are made by the same library."""
    features = np.load(data / "features.npy", mmap_mode="r")
    for address in (in_process, two_processes):
        task = Task()
        with at_work(address, tmp_path, task) as runner, threadpool_limits(1, user_api="blas"):
            found = initialize([features], OPTIONS, task)
            assert {"_look", "_search_cells", "_weighed", "_shared"} == runner.traffic.keys()
            assert runner.traffic["_look"].written < features.nbytes  # the features stay where they are
        for name, array in alone.arrays().items():
            np.testing.assert_array_equal(found.arrays()[name], array, err_msg=name)
        assert task.runner is None


def double(shared: np.ndarray, job: int) -> np.ndarray:
    return 2 * shared[job : job + 1]


def fail(error: BaseException, _job: int) -> None:
    raise error


def run(work: object, jobs: range, address: str, folder: Path) -> list[object]:
    task = Task()
    with at_work(address, folder, task):
        return list(at_once(work, jobs, task, (0.0, 1.0)))  # type: ignore[arg-type]


def test_results_come_in_the_order_of_the_jobs(in_process: str, tmp_path: Path) -> None:
    shared = np.arange(50_000)
    found = run(partial(double, shared), range(1000), in_process, tmp_path)
    assert np.concatenate(found).tolist() == list(range(0, 2000, 2))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (FileNotFoundError(2, "No such file or directory"), "could not read the project"),
        (MemoryError(), "too little memory"),
    ],
    ids=["file", "memory"],
)
def test_what_fails_on_a_worker_is_said(error: Exception, sentence: str, in_process: str, tmp_path: Path) -> None:
    with pytest.raises(DaskError, match=sentence):
        run(partial(fail, error), range(3), in_process, tmp_path)
    assert list(tmp_path.iterdir()) == []


def end_once(folder: Path, job: int) -> int:
    """Ends its process at one job, the first time."""
    if job == 5 and not (folder / "ended").exists():
        (folder / "ended").touch()
        os._exit(1)
    return job


def test_what_a_lost_worker_did_is_done_again(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    with two_workers() as cluster:  # of its own: a lost worker is replaced
        found = run(partial(end_once, tmp_path), range(40), cluster.scheduler_address, shared)
    assert found == list(range(40))
    assert (tmp_path / "ended").exists()
    assert list(shared.iterdir()) == []


def test_workers_that_end_again_and_again_are_said() -> None:
    error = cluster._of_worker(distributed.KilledWorker("task", SimpleNamespace(address="tcp://other:1"), 3))
    assert isinstance(error, DaskError)
    assert "again and again" in error.message


def test_a_fault_of_the_program_stays_one(in_process: str, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        run(partial(fail, ZeroDivisionError()), range(3), in_process, tmp_path)


@pytest.mark.parametrize("address", ["", "cluster", "http://host:8786", "tcp://host", "tcp://:1", "tcp://host:x"])
def test_an_address_that_is_none(address: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert prepare(data, tmp_path / "p", address) == 1
    assert "tcp://HOST:8786" in capsys.readouterr().err
    assert not (tmp_path / "p").exists()


def test_no_scheduler(data: Path, tmp_path: Path, in_process: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert prepare(data, tmp_path / "p", "tcp://127.0.0.1:9") == 1
    assert "There is no Dask scheduler at tcp://127.0.0.1:9" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_without_dask_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"a3s-desktop\[distributed\]"):
        cluster.check_address("tcp://host:8786")


def test_workers_that_cannot_help(in_process: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = worker.facts("nowhere", b"")
    assert not mine.sees
    monkeypatch.setattr(cluster, "_facts_of_workers", lambda *_: {"tcp://other:1": mine})
    with pytest.raises(DaskError, match=r"1 of 1 workers do not see .*tcp://other:1"):
        run(abs, range(3), in_process, tmp_path)
    older = worker.Facts((("numpy", "1.0"),), True)
    monkeypatch.setattr(cluster, "_facts_of_workers", lambda *_: {"tcp://other:1": older})
    with pytest.raises(DaskError, match=r"tcp://other:1 has numpy 1\.0, this computer"):
        run(abs, range(3), in_process, tmp_path)
    monkeypatch.setattr(cluster, "_facts_of_workers", lambda *_: {})
    with pytest.raises(DaskError, match="no workers yet"):
        run(abs, range(3), in_process, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_stopped_work_goes_on_after_the_last_step(
    data: Path, in_process: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Stopped(terminal.Console):
        def __init__(self) -> None:
            super().__init__()
            self.task = Task(self._stop_at_links, 0.0)

        def _stop_at_links(self, progress: Progress) -> None:
            if progress.stage == "Comparing neighbourhoods" and progress.fraction > 0.1:
                self.task.cancel()

    with monkeypatch.context() as patch:
        patch.setattr(cli, "Console", Stopped)
        assert prepare(data, tmp_path / "p", in_process) == 130
    assert "the same command goes on from there" in capsys.readouterr().err
    with open_workspace(tmp_path / "p", read_only=True) as workspace:
        assert workspace.load_initial() is None
    assert {path.name.split("-")[1] for path in (tmp_path / "p" / "artifacts").iterdir()} >= {"compared", "linked"}

    assert prepare(data, tmp_path / "p", in_process, "--seed", "1") == 1
    assert "other features or options" in capsys.readouterr().err

    def again(*_: object) -> None:
        raise AssertionError("the neighbours were kept")

    monkeypatch.setattr(initialization, "approximate_neighbors", again)
    assert prepare(data, tmp_path / "p", in_process) == 0
    assert "goes on after the last step" in capsys.readouterr().out
    assert prepare(data, tmp_path / "p", in_process) == 1
    assert "is a project already" in capsys.readouterr().err


def test_cancelling_takes_the_jobs_back(in_process: str, tmp_path: Path) -> None:
    task = Task()
    with at_work(in_process, tmp_path, task) as runner:
        results = at_once(abs, range(5000), task, (0.0, 1.0))
        assert next(results) == 0
        task.cancel()
        with pytest.raises(Cancelled):
            list(results)
    assert runner.traffic["abs"].jobs < 5000
    assert list(tmp_path.iterdir()) == []


def test_with_the_images_they_are_checked_as_by_new(
    in_process: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "photos").mkdir()
    for number in range(40):
        Image.new("RGB", (6, 6), (90, 40, number)).save(tmp_path / "photos" / f"{number:02}.png")
    np.save(tmp_path / "f.npy", np.random.default_rng(0).standard_normal((40, 6)).astype(np.float32))
    words = ["prepare", str(tmp_path / "p"), "--features", str(tmp_path / "f.npy"), "--scheduler", in_process]
    assert cli.main([*words, "--images", str(tmp_path / "nowhere")]) == 1
    assert "nowhere" in capsys.readouterr().err
    assert cli.main([*words, "--images", str(tmp_path / "photos")]) == 0
    assert "sorted order of the files" in capsys.readouterr().out
    with open_workspace(tmp_path / "p", read_only=True) as workspace:
        assert workspace.warnings == ()
        assert workspace.items.file(7).is_file()


@pytest.mark.parametrize(
    ("order", "sentence"), [(None, "which images"), ("/etc/passwd\n" * ROWS, "inside an image folder")]
)
def test_images_by_names_alone_need_names(
    order: str | None, sentence: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = []
    if order is not None:
        (tmp_path / "order.txt").write_text(order, encoding="utf-8")
        more = ["--order", str(tmp_path / "order.txt")]
    words = ["prepare", str(tmp_path / "p"), "--features", str(data / "features.npy"), "--scheduler", "tcp://host:1"]
    assert cli.main([*words, *more]) == 1
    assert sentence in capsys.readouterr().err
