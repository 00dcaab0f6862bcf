"""Everything of the program that writes, each as a scenario that is run again and again on copies of one project."""

from __future__ import annotations

import contextlib
import itertools
import logging
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from a3s_desktop.core.types import Answer
from a3s_desktop.logs import start_logging
from a3s_desktop.session.adding import add_images
from a3s_desktop.session.opening import create_project, locate_images, open_session
from a3s_desktop.session.operations import Finish, Junk, Merge, Move, Rename, Reopen, Requeue, Restore, SplitOff
from a3s_desktop.session.replacing import ReplaceSpec, Replacing
from a3s_desktop.session.session import Session
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage import drives
from a3s_desktop.storage.backup import make_backup, restore_backup
from a3s_desktop.storage.embedding_blocks import BlockStore
from a3s_desktop.storage.exports.formats import FORMATS, Target
from a3s_desktop.storage.later_images import AddSpec
from a3s_desktop.storage.spec import ProjectSpec
from a3s_desktop.storage.thumbnails import Thumbnail, ThumbnailStore
from a3s_desktop.storage.workspace import create_workspace
from a3s_desktop.task import Task
from tests.session.conftest import make_blobs
from tests.session.test_adding import OLD, Grown

FIRST = 14  # answers in the project before anything goes wrong


@contextlib.contextmanager
def network_drive(folder: Path, wanted: bool) -> Iterator[None]:
    """Let the program take what is below a folder for a drive of the network, where that is wanted."""
    inside = str(folder.resolve())
    with contextlib.ExitStack() as stack:
        if wanted:
            stack.enter_context(
                mock.patch.object(drives, "is_network", lambda path: str(path.resolve()).startswith(inside))
            )
        yield


class Base:
    """A small project with a history, another annotator's copy, and what is added to it; never changed again.

    Parameters
    ----------
    folder : Path
        Outside of the folder where faults happen.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.grown = Grown(folder, make_blobs())
        self.project = self.grown.project
        self.empty = folder / "empty"
        shutil.copytree(self.project, self.empty)
        self.created = self.grown.spec
        self.grown.arrive()
        rng = np.random.default_rng(1)
        better = np.eye(9)[self.grown.classes[:OLD]] * 4 + rng.normal(0, 0.1, (OLD, 9))
        np.save(folder / "better.npy", better.astype(np.float32))
        shutil.copytree(self.grown.images, folder / "moved" / "images")
        self.raw = folder / "raw"  # made, but stage one was never run
        (folder / "few").mkdir()
        for name in self.grown.names[:OLD]:
            shutil.copy(self.grown.images / name, folder / "few" / name)
        self.spec = ProjectSpec(self.raw, folder / "few", (folder / "old.npy",), initial=self.created.initial)
        create_workspace(self.spec, task=Task()).close()
        self._history()

    def _history(self) -> None:
        session, _ = open_session(self.project)
        self.grown.answer(session, FIRST - 4)
        sizes = np.argsort(-np.bincount(session.state.labels))
        session.perform(Rename(int(sizes[0]), "Ada"))
        session.perform(Finish(int(sizes[1])))
        session.perform(Junk((int(np.flatnonzero(session.state.labels == sizes[2])[0]),)))
        self.grown.answer(session, 4)
        session.undo()
        session.close()
        self.later = self.folder / "later"
        shutil.copytree(self.project, self.later)
        add_images(self.later, AddSpec(self.grown.images, (self.folder / "new.npz",)))
        self.other = self.folder / "other"
        shutil.copytree(self.project, self.other)
        session, _ = open_session(self.other)
        session.author = "Bea"
        self.grown.answer(session, 6)
        session.close()


@dataclass
class Place:
    """A copy of the project where something is about to go wrong."""

    base: Base
    folder: Path
    session: Session | None = None
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def out(self) -> Path:
        return self.folder / "out"

    @property
    def live(self) -> Session:
        assert self.session is not None
        return self.session

    def close(self) -> None:
        """Release everything; what fails at the end is of no interest here."""
        if self.session is not None:
            self.session.close()


Act = Callable[[Place], object]


@dataclass(frozen=True, slots=True)
class Scenario:
    """Something that writes.

    Attributes
    ----------
    name : str
    act : callable
        Does it; may be called again after a failure.
    source : str
        Attribute of `Base`: the project that is copied.
    opened : bool
        Whether a session is open while it happens.
    before : callable, optional
        What is done first, without faults.
    quiet : bool
        It never fails: what it writes is a convenience (a snapshot, a cache, the log).
    """

    name: str
    act: Act
    source: str = "project"
    opened: bool = True
    before: Act | None = None
    quiet: bool = False


def _question(place: Place) -> int:
    question = place.live.state.question
    assert question is not None
    return question.id


def _answer(answer: Answer) -> Act:
    return lambda place: place.live.answer(_question(place), answer)


def _cluster(place: Place, rank: int = 0) -> int:
    """The largest cluster that is open and not junk, or a smaller one."""
    state = place.live.state
    sizes = np.bincount(state.labels[~state.is_junk])
    found = [int(c) for c in np.argsort(-sizes, kind="stable") if int(c) not in state.finished and sizes[c]]
    return found[rank]


def _members(place: Place, rank: int) -> tuple[int, ...]:
    return place.live.members(_cluster(place, rank))


def _strangers(place: Place) -> tuple[int, int]:
    """Two clusters of which nothing is known that concerns both."""
    engine, state = place.live.engine, place.live.state
    sizes = np.bincount(state.labels[~state.is_junk])
    found = [int(c) for c in np.argsort(-sizes, kind="stable") if int(c) not in state.finished and sizes[c]]
    for a, b in itertools.combinations(found, 2):
        pairs = itertools.product(place.live.members(a), place.live.members(b))
        if all(engine.store.relation(i, j) is None for i, j in pairs):
            return a, b
    raise AssertionError("no such clusters")


def _merge_two(place: Place) -> object:
    return place.live.perform(Merge(*_strangers(place)))


def _split(place: Place) -> object:
    return place.live.perform(SplitOff(_members(place, 0)[:1]))


def _move(place: Place) -> object:
    here, there = _strangers(place)
    return place.live.perform(Move(place.live.members(here)[:1], there))


def _restore(place: Place) -> object:
    return place.live.perform(Restore(tuple(np.flatnonzero(place.live.state.is_junk).tolist())))


def _oldest(place: Place) -> int:
    entries = [e for e in place.live.history() if e.answer in (Answer.SAME, Answer.DIFFERENT)]
    return entries[-1].number


def _change(place: Place) -> object:
    entry = next(e for e in place.live.history() if e.number == _oldest(place))
    other = Answer.DIFFERENT if entry.answer is Answer.SAME else Answer.SAME
    return place.live.change(entry.number, other)


def _audit(place: Place) -> object:
    return place.live.audit(0, 1, Answer.SAME)


def _snapshot(place: Place) -> object:
    place.live._snapshot_every = 1
    place.live._snapshot_at = 0
    return place.live.look_ahead()


def _far(place: Place) -> None:
    _snapshot(place)
    place.live._far = 0


def _checkpointing(place: Place) -> None:
    connection = place.live._journal._connection
    connection.execute("PRAGMA wal_autocheckpoint = 1")


def _merge_other(place: Place) -> object:
    return place.live.merge(place.live.joint.plan(place.base.other))


def _layout(place: Place) -> None:
    workspace = place.live.workspace
    assert workspace is not None
    workspace.save_layout(np.full((OLD, 2), len(place.more), np.float32))


def _export(name: str, target: Target, overwrite: bool) -> Act:
    def act(place: Place) -> object:
        return place.live.export(name, place.out, overwrite=overwrite)

    return act


def _folder_before(place: Place) -> None:
    place.out.mkdir()


def _written_before(name: str) -> Act:
    return lambda place: place.live.export(name, place.out)


def _open(place: Place) -> None:
    place.session, _ = open_session(place.project)


def _add(place: Place) -> object:
    return add_images(place.project, AddSpec(place.base.grown.images, (place.base.folder / "new.npz",)))


def _replace(place: Place) -> None:
    with Replacing(place.project, ReplaceSpec((place.base.folder / "better.npy",))) as replacing:
        replacing.commit()


def _relink(place: Place) -> object:
    return locate_images(place.project, place.base.folder / "moved")


def _create(place: Place) -> None:
    spec = place.base.spec
    create_project(
        ProjectSpec(place.project, spec.images, spec.features, initial=spec.initial), Task()
    ).close()  # fmt: skip


def _backup(place: Place) -> object:
    return make_backup(place.project, "by hand")


def _restore_backup(place: Place) -> object:
    return restore_backup(place.project, place.more["backup"])


def _backup_before(place: Place) -> None:
    place.more["backup"] = make_backup(place.project, "by hand")


def _settings_before(place: Place) -> None:
    place.more["settings"] = SettingsStore(place.folder / "settings.json")
    _settings(place)


def _settings(place: Place) -> None:
    store = place.more["settings"]
    store.change(text_size=115 if store.value.text_size == 100 else 100)


def _keys(place: Place) -> None:
    from a3s_desktop.ui.key_maps import write_keys

    write_keys(place.out, {"answer.same": ("F",)})


def _thumbnails(place: Place) -> None:
    store = ThumbnailStore(place.folder / "cache" / "copies.sqlite", 1 << 20)
    for k in range(3):
        store.put(bytes([k]) * 16, Thumbnail(b"x" * 5000, 8, 8, False))
        store.get(bytes([k]) * 16)
    store.close()


def _log(place: Place) -> None:
    level, raising = logging.getLogger().level, logging.raiseExceptions
    logging.raiseExceptions = False  # what a handler says of its own failure would only be noise here
    log = start_logging(place.folder / "logs")
    try:
        for k in range(3):
            logging.getLogger("durability").info("line %d", k)
    finally:
        log.close()
        logging.getLogger().setLevel(level)
        logging.raiseExceptions = raising


def _descriptions(place: Place) -> None:
    store = BlockStore(place.folder / "blocks", "fa")
    store.save(["a.png"], [(1, 2)], np.ones((1, 4), np.float32))


def _exports() -> list[Scenario]:
    found = []
    for each in FORMATS:
        into = each.target is Target.FILES_IN_FOLDER
        act = _export(each.id, each.target, False)
        found.append(Scenario(f"export {each.id}", act, before=_folder_before if into else None))
        if each.target is Target.FILE:
            act = _export(each.id, each.target, True)
            found.append(Scenario(f"export {each.id} over", act, before=_written_before(each.id)))
    return found


SCENARIOS: tuple[Scenario, ...] = (
    Scenario("answer same", _answer(Answer.SAME)),
    Scenario("answer and checkpoint", _answer(Answer.SAME), before=_checkpointing),
    Scenario("answer different", _answer(Answer.DIFFERENT)),
    Scenario("skip", _answer(Answer.SKIP)),
    Scenario("incomparable", _answer(Answer.INCOMPARABLE)),
    Scenario("junk answer", _answer(Answer.JUNK_LEFT)),
    Scenario("undo", lambda place: place.live.undo()),
    Scenario("redo", lambda place: place.live.redo()),
    Scenario("undo far", lambda place: place.live.undo(), before=_far),
    Scenario("merge clusters", _merge_two),
    Scenario("split off", _split),
    Scenario("move", _move),
    Scenario("junk", lambda place: place.live.perform(Junk(_members(place, 0)[:1]))),
    Scenario("restore", _restore),
    Scenario("rename", lambda place: place.live.perform(Rename(_cluster(place, 1), "Bob"))),
    Scenario("finish", lambda place: place.live.perform(Finish(_cluster(place, 1)))),
    Scenario("reopen", lambda place: place.live.perform(Reopen(min(place.live.state.finished)))),
    Scenario("requeue", lambda place: place.live.perform(Requeue()), before=_answer(Answer.SKIP)),
    Scenario("change of an old answer", _change),
    Scenario("change far", _change, before=_far),
    Scenario("old answer taken back", lambda place: place.live.change(_oldest(place), None)),
    Scenario("sample check", _audit),
    Scenario("snapshot", _snapshot, quiet=True),
    Scenario("merge projects", _merge_other),
    Scenario("layout", _layout),
    *_exports(),
    Scenario("open", _open, opened=False),
    Scenario("open with added images", _open, source="later", opened=False),
    Scenario("add images", _add, opened=False),
    Scenario("replace features", _replace, opened=False),
    Scenario("relink", _relink, opened=False),
    Scenario("create project", _create, source="", opened=False),
    Scenario("first initialization", _open, source="raw", opened=False),
    Scenario("backup", _backup),
    Scenario("restore a backup", _restore_backup, opened=False, before=_backup_before),
    Scenario("settings", _settings, before=_settings_before, opened=False, quiet=True),
    Scenario("key map", _keys, opened=False),
    Scenario("small copies", _thumbnails, opened=False, quiet=True),
    Scenario("log", _log, opened=False, quiet=True),
    Scenario("descriptions", _descriptions, opened=False),
)
