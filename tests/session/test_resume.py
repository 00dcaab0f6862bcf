"""Stage one that was ended in the middle goes on after the last step that was finished."""

from __future__ import annotations

from collections.abc import Callable
from unittest import mock

import pytest

from a3s_desktop.core import initialization
from a3s_desktop.core.types import InitialOptions
from a3s_desktop.errors import StorageFailedError
from a3s_desktop.session.opening import open_session
from a3s_desktop.storage.workspace import ProjectSpec, Workspace, create_workspace

# In the order in which `initialize` takes them.
FUNCTIONS = (
    "nearest_neighbors",
    "pseudo_labels",
    "union_edges",
    "refined_graph",
    "fpc",
    "initial_clustering",
    "regroup",
)


class EndedError(BaseException):
    """Stands for the end of the process."""


@pytest.fixture
def spec(make_spec: Callable[..., ProjectSpec]) -> ProjectSpec:
    return make_spec(initial=InitialOptions(initial="kmeans", neighbors=10))


@pytest.mark.parametrize("ended", FUNCTIONS)
def test_no_step_is_computed_twice(spec: ProjectSpec, make_spec: Callable[..., ProjectSpec], ended: str) -> None:
    create_workspace(spec).close()
    with mock.patch.object(initialization, ended, side_effect=EndedError), pytest.raises(EndedError):
        open_session(spec.folder)
    with mock.patch.multiple(
        initialization, **{name: mock.Mock(wraps=getattr(initialization, name)) for name in FUNCTIONS}
    ):
        session, _ = open_session(spec.folder)
        calls = {name: getattr(initialization, name).call_count for name in FUNCTIONS}
    at = FUNCTIONS.index(ended)
    assert calls == {name: int(index >= at) for index, name in enumerate(FUNCTIONS)}
    digest, report = session.engine.digest(), dict(session.initial.report)
    session.close()
    assert not list((spec.folder / "artifacts").glob("step-*"))
    other = make_spec("whole", initial=spec.initial)
    create_workspace(other).close()
    session, _ = open_session(other.folder)
    assert (session.engine.digest(), dict(session.initial.report)) == (digest, report)
    session.close()


def test_a_step_that_cannot_be_kept_is_no_failure(spec: ProjectSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    create_workspace(spec).close()
    real = Workspace.save_stage

    def full(self: Workspace, stage: str, *rest: object) -> None:
        if stage.startswith("step-"):
            raise StorageFailedError("The disk is full.", "")
        real(self, stage, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Workspace, "save_stage", full)
    session, _ = open_session(spec.folder)
    assert session.state.question is not None
    session.close()
