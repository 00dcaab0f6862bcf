"""Names from elsewhere: taken over in one step, never against an answer, never united by the program."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from a3s_desktop.core.types import STRATEGIES, Answer, StrategyOptions
from a3s_desktop.errors import ContradictionError, InputError, KnownApartError
from a3s_desktop.session.entries import RecordedCorrection, Without
from a3s_desktop.session.known_labels import KnownLabels, Trouble, plan_labels
from a3s_desktop.session.names import Names
from a3s_desktop.session.opening import create_project, open_session
from a3s_desktop.session.operations import Junk, Merge, Rename, SplitOff
from a3s_desktop.session.session import Session
from a3s_desktop.storage.journal_types import MemoryJournal
from a3s_desktop.storage.label_file import KnownLabel
from a3s_desktop.storage.workspace import ProjectSpec
from a3s_desktop.task import Task
from tests.session.conftest import Data


def rows(names: dict[int, str]) -> tuple[KnownLabel, ...]:
    return tuple(KnownLabel(item, f"{item}.png", name, "", False, f"row {item}") for item, name in names.items())


def groups_of(labels: np.ndarray, items: list[int]) -> set[frozenset[int]]:
    return {frozenset(item for item in items if labels[item] == label) for label in labels[items].tolist()}


def test_names_become_clusters_names_and_one_undo_step(blobs: Data) -> None:
    session = blobs.session()
    before = session.engine.digest()
    named = {item: f"Class {blobs.classes[item]}" for item in range(0, 48, 3)}
    plan = plan_labels(session.engine, rows(named))
    assert plan.conflicts == ()
    assert (plan.images, plan.names, plan.rows) == (16, 6, 16)
    assert plan.operation is not None
    state, change = session.perform(plan.operation)
    assert change.text == "Known names of 16 images"
    for a in named:
        assert state.names[int(state.labels[a])] == named[a]
        assert state.confirmed[a]
        for b in named:
            assert (state.labels[a] == state.labels[b]) == (named[a] == named[b])
    assert [entry.text for entry in session.history()] == ["Known names of 16 images"]
    assert session.history()[0].what == "labels"
    session.undo()
    assert session.engine.digest() == before
    assert session.state.names == {}
    session.redo()
    assert session.state.names == state.names


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_program_never_unites_two_names(blobs: Data, strategy: str) -> None:
    options = StrategyOptions(strategy=strategy, clusters=6)
    data = Data(blobs.views, blobs.classes, blobs.initial, options)
    session = data.session(snapshot_every=7)
    rng = np.random.default_rng(3)
    # Names at random: everything in the features speaks for uniting them.
    groups = tuple((f"N{at}", tuple(sorted(part.tolist()))) for at, part in enumerate(np.split(rng.permutation(24), 8)))
    session.perform(KnownLabels(groups))
    owner = {item: at for at, (_, items) in enumerate(groups) for item in items}
    for _ in range(60):
        if session.state.question is None:
            break
        question = session.state.question
        assert session.engine.store.relation(question.left, question.right) is None
        session.answer(question.id, Answer.SAME)
        labels = session.state.labels
        for a, at in owner.items():
            for b, other in owner.items():
                assert (labels[a] == labels[b]) == (at == other)


def test_a_restart_keeps_what_is_known(blobs: Data) -> None:
    journal = MemoryJournal()
    session = blobs.session(journal, snapshot_every=1)
    session.perform(KnownLabels((("A", (0, 9)), ("B", (1,)), ("", (2, 20)))))
    for _ in range(3):
        blobs.answer(session)
        session.look_ahead()  # takes the snapshot that is due
    again = blobs.session(journal)
    assert again.engine.digest() == session.engine.digest()
    assert again.engine.store.relation(9, 20) is Answer.DIFFERENT
    assert np.array_equal(again.state.confirmed, session.state.confirmed)
    assert again.state.names == session.state.names


def test_all_that_speaks_against_is_listed_and_left_out(blobs: Data) -> None:
    session = blobs.session()
    engine = session.engine
    for _ in range(25):
        blobs.answer(session)
    store = engine.store
    differing = next((left, right) for left, right, said in store.constraints() if said is Answer.DIFFERENT)
    roots = {store.find(item) for item in differing}
    same = next(
        (left, right)
        for left, right, said in store.constraints()
        if said is Answer.SAME and store.find(left) not in roots
    )
    free = [item for item in range(48) if not engine.store.is_touched(item)]
    session.perform(Junk((free[0],)))
    labels = (
        *rows(dict.fromkeys(differing, "One")),
        *rows({same[0]: "Two", same[1]: "Three"}),
        *rows({free[0]: "Four", free[1]: "Five", free[2]: "five ", free[3]: "x" * 300}),
        KnownLabel(free[1], "again.png", "Six", "", False, "row 90"),
        KnownLabel(-1, "../../etc/passwd", "Seven", "", False, "row 91"),
    )
    plan = plan_labels(session.engine, labels)
    found = {conflict.trouble: conflict for conflict in plan.conflicts}
    assert set(found) == set(Trouble)
    assert set(found[Trouble.DIFFERENT].items) == set(differing)
    assert set(found[Trouble.SAME].items) == set(same)
    assert found[Trouble.UNKNOWN].names == ("../../etc/passwd",)
    assert found[Trouble.TWICE].items == (free[1],)
    assert found[Trouble.TWICE].names == ("Five", "Six")
    assert plan.operation == KnownLabels((("Five", (free[2],)),))
    session.perform(plan.operation)  # what is left contradicts nothing


def test_what_a_plan_leaves_never_contradicts(blobs: Data) -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        session = blobs.session()
        for _ in range(int(rng.integers(0, 25))):
            if session.state.question is not None:
                session.answer(session.state.question.id, rng.choice([Answer.SAME, Answer.DIFFERENT]))
        for _ in range(3):
            items = rng.permutation(48)[: rng.integers(1, 48)].tolist()
            plan = plan_labels(session.engine, rows({item: f"N{rng.integers(0, 9)}" for item in items}))
            if plan.operation is not None:
                state, _ = session.perform(plan.operation)
                for name, members in plan.operation.groups:
                    assert len({int(state.labels[item]) for item in members}) == 1, name
                assert len({int(state.labels[members[0]]) for _, members in plan.operation.groups}) == plan.names


def test_merging_two_names_has_to_be_said_twice(blobs: Data) -> None:
    session = blobs.session()
    session.perform(KnownLabels((("Anna", (0, 9)), ("Ana", (1, 12)), ("Bert", (2,)))))
    anna, ana = int(session.state.labels[0]), int(session.state.labels[1])
    with pytest.raises(KnownApartError, match="Ana") as caught:
        session.perform(Merge(anna, ana))
    assert (caught.value.first, caught.value.second) == ("Anna", "Ana")
    state, _ = session.perform(Merge(anna, ana, sure=True))
    assert state.labels[9] == state.labels[12]
    assert session.engine.store.relation(9, 2) is Answer.DIFFERENT
    session.undo()
    assert session.engine.store.relation(9, 12) is Answer.DIFFERENT


def test_a_name_that_is_there_already_takes_the_images_in(blobs: Data) -> None:
    session = blobs.session()
    session.perform(Rename(int(session.state.labels[5]), "Anna"))
    anchor = next(iter(session._history.names.by_key.values()))[1][0]
    far = next(item for item in range(48) if session.state.labels[item] != session.state.labels[5])
    state, _ = session.perform(KnownLabels((("ANNA", (far,)),)))
    assert state.labels[far] == state.labels[anchor]
    assert list(state.names.values()).count("ANNA") == 1


def test_a_contradiction_leads_to_the_list(blobs: Data) -> None:
    session = blobs.session()
    session.perform(KnownLabels((("A", (0, 9)), ("B", (1, 12)))))
    chain = session.engine.store.chain(9, 12)
    behind = session.entries_behind(tuple((left, right, said.value) for left, right, said in chain))
    assert [entry.what for entry in behind if entry is not None] == ["labels"] * 3


def test_a_record_survives_its_journal_and_odd_ones_are_refused() -> None:
    entry = KnownLabels((("A", (0, 9)), ("", (1,)))).record
    assert entry is not None
    payload = {
        "what": "labels", "shown": [0], "count": 3, "known": [["A", [0, 9]]], "identities": [[0, 9], [1]],
    }  # fmt: skip
    record = RecordedCorrection.from_payload(payload, 1.0)
    assert json.loads(json.dumps(record.payload())) == payload
    assert record.largest_item() == 9
    for bad in ([[]], [[1, 1]], [["x"]], 5):
        with pytest.raises(Exception, match="cannot be read"):
            RecordedCorrection.from_payload({**payload, "identities": bad}, 1.0)


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_an_export_comes_back_as_the_same_partition(
    make_spec: Callable[..., ProjectSpec], blobs: Data, tmp_path: Path, kind: str
) -> None:
    from a3s_desktop.storage.label_file import load_known_labels

    def opened(name: str) -> Session:
        create_project(make_spec(name), Task()).close()
        return open_session(tmp_path / name)[0]

    session = opened("one")
    for _ in range(30):
        if session.state.question is not None:
            blobs.answer(session)
    session.perform(Rename(int(session.state.labels[0]), "=SUM(A1) 'odd', \"name\""))
    session.perform(Junk((7,)))
    session.export(kind, tmp_path / f"out.{kind}")
    other = opened("two")
    assert other.workspace is not None
    labels = load_known_labels(tmp_path / f"out.{kind}", other.workspace.items.paths)
    plan = plan_labels(other.engine, labels)
    assert plan.conflicts == ()
    assert plan.operation is not None
    other.perform(plan.operation)
    first, second = session.state, other.state
    assert np.array_equal(first.is_junk, second.is_junk)
    assert groups_of(first.labels, list(range(48))) == groups_of(second.labels, list(range(48)))
    assert {n: int((first.labels == c).sum()) for c, n in first.names.items()} == {
        n: int((second.labels == c).sum()) for c, n in second.names.items()
    }
    session.close()
    other.close()


def test_an_empty_list_is_refused(blobs: Data) -> None:
    with pytest.raises(InputError):
        blobs.session().perform(KnownLabels(()))


def test_one_image_of_a_list_is_put_right_and_the_others_stay(blobs: Data) -> None:
    journal = MemoryJournal()
    session = blobs.session(journal)
    named = {item: f"Class {blobs.classes[item]}" for item in range(0, 48, 3)}
    wrong = next(item for item in named if blobs.classes[item] != blobs.classes[0])
    named[wrong] = named[0]
    plan = plan_labels(session.engine, rows(named))
    assert plan.operation is not None
    session.perform(plan.operation)
    assert session.state.labels[wrong] == session.state.labels[0]
    with pytest.raises(ContradictionError) as caught:
        session.perform(SplitOff((wrong,)))
    behind = {entry.number for entry in session.entries_behind(caught.value.chain) if entry is not None}
    assert behind == {1}
    before = session.engine.digest()
    state, _ = session.perform(SplitOff((wrong,)), dropping=behind)
    assert state.labels[wrong] != state.labels[0]
    for item, name in named.items():
        if item != wrong:
            assert state.names[int(state.labels[item])] == name
            assert state.confirmed[item]
    assert [entry.text for entry in session.history()][-1] == "Known names of 15 images"
    after = session.engine.digest()
    assert blobs.session(journal).engine.digest() == after  # the journal says the same
    session.undo()
    assert session.engine.digest() == before
    session.redo()
    assert session.engine.digest() == after


def test_an_image_that_carries_its_name_alone_takes_it_along(blobs: Data) -> None:
    session = blobs.session()
    plan = plan_labels(session.engine, rows({0: "Anna", 3: "Anna", 6: "Bert"}))
    assert plan.operation is not None
    entry = plan.operation.record(session.engine, Names(), 0.0)
    assert isinstance(entry, RecordedCorrection)
    rest = entry.changed(Without((6, 0)))
    assert [(one.name, one.anchors) for one in rest.known] == [("Anna", (3,))]
    assert rest.correction.identities == ((3,),)
    assert rest.count == 1
    assert not rest.withdrawn
    assert rest.changed(Without((3,))).withdrawn
