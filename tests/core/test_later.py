"""Samples that come later: the same lists and graph as from the beginning, and all that was learnt stays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.core.carrying import with_more_samples, without_answers
from a3s_desktop.core.engine import Engine
from a3s_desktop.core.initialization import initialize
from a3s_desktop.core.later import extended_graph, extended_neighbors, listed_neighbors, stage_count
from a3s_desktop.core.neighbors import nearest_neighbors
from a3s_desktop.core.placing import place
from a3s_desktop.core.types import Answer, InitialOptions, InitialState, StrategyOptions
from a3s_desktop.errors import Cancelled
from a3s_desktop.task import Progress, Task

OPTIONS = InitialOptions(neighbors=12)


def points(seed: int, classes: int = 8, each: int = 10, dim: int = 6) -> tuple[npt.NDArray[np.float32], list[int]]:
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(classes), each)
    centres = rng.normal(0.0, 1.0, (classes, dim))
    values = (centres[truth] + rng.normal(0.0, 0.35, (len(truth), dim))).astype(np.float32)
    order = rng.permutation(len(truth))
    return values[order], truth[order].tolist()


@given(
    seed=st.integers(0, 1000), old=st.integers(2, 40), new=st.integers(1, 30), k=st.integers(1, 20), whole=st.booleans()
)
def test_neighbour_lists_are_those_of_a_search_from_the_beginning(
    seed: int, old: int, new: int, k: int, whole: bool
) -> None:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(old + new, 3)).astype(np.float32)
    if whole:
        features = features.round()  # many equal distances
    known = nearest_neighbors(features[:old], k, Task())
    found = extended_neighbors(known, features, k, Task())
    wanted = nearest_neighbors(features, k, Task())
    np.testing.assert_array_equal(found[0], wanted[0])
    np.testing.assert_array_equal(found[1], wanted[1])


@pytest.mark.parametrize("refine", [True, False])
@pytest.mark.parametrize("views", [1, 2])
def test_the_graph_is_that_of_all_samples_but_for_the_curve(refine: bool, views: int) -> None:
    features, _ = points(1)
    tables = [features, (features @ np.diag([3, 1, 1, 0.2, 1, 1])).astype(np.float32)][:views]
    options = InitialOptions(neighbors=12, refine=refine)
    before = initialize([table[:65] for table in tables], options, Task())
    for (listed, far), table in zip(listed_neighbors(before.graph, 12), tables, strict=True):
        wanted = nearest_neighbors(table[:65], 12, Task())
        np.testing.assert_array_equal(listed, wanted[0])
        np.testing.assert_array_equal(far, wanted[1])
    stages: list[Progress] = []
    grown = extended_graph(before.graph, tables, before.labels, options, Task(stages.append))
    whole = initialize(tables, options, Task()).graph
    np.testing.assert_array_equal(grown.indptr, whole.indptr)
    np.testing.assert_array_equal(grown.indices, whole.indices)
    np.testing.assert_array_equal(grown.distances, whole.distances)
    if refine:
        np.testing.assert_array_equal(grown.similarity, whole.similarity)
    else:
        assert grown.similarity is None
    assert np.isfinite(grown.logodds).all()
    assert max(stage.index for stage in stages) + 1 == stage_count(views, refine)


def test_it_can_be_cancelled() -> None:
    features, _ = points(1)
    before = initialize([features[:65]], OPTIONS, Task())
    task = Task()
    task.cancel()
    with pytest.raises(Cancelled):
        extended_graph(before.graph, [features], before.labels, OPTIONS, task)


def grown(seed: int, answers: int, old: int = 65) -> tuple[Engine, Engine, list[int], npt.NDArray[np.int32]]:
    """An engine, the same with more samples, the truth, and where these were placed."""
    features, truth = points(seed)
    options = InitialOptions(neighbors=12, refine=True)
    before = initialize([features[:old]], options, Task())
    engine = Engine(before, [features[:old]], StrategyOptions())
    for _ in range(answers):
        if engine.question is None:
            break
        engine.record(said(truth, engine.question.left, engine.question.right))
    graph = extended_graph(before.graph, [features], engine.labels.copy(), options, Task())
    arrays, meta = engine.dump()
    homes = place(graph, engine.labels.copy(), (), int(meta["next_id"]), 0, Task())
    state = with_more_samples(arrays, meta, homes)
    initial = InitialState(state[0]["labels"], graph, {})
    return engine, Engine.load(initial, [features], StrategyOptions(), *state), truth, homes


def said(truth: list[int], left: int, right: int) -> Answer:
    return Answer.SAME if truth[left] == truth[right] else Answer.DIFFERENT


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("answers", [0, 7, 40])
def test_what_was_known_stays_and_the_engine_goes_on_to_the_truth(seed: int, answers: int) -> None:
    engine, larger, truth, _ = grown(seed, answers)
    known = list(engine.store.constraints())
    for left, right, answer in known:
        assert larger.store.relation(left, right) is answer
    asked = {frozenset((left, right)) for left, right, _ in known}
    for _ in range(400):
        question = larger.question
        if question is None:
            break
        pair = frozenset((question.left, question.right))
        assert pair not in asked
        asked.add(pair)
        larger.record(said(truth, question.left, question.right))
    assert larger.question is None
    for left, right, answer in known:
        assert (larger.labels[left] == larger.labels[right]) == (answer is Answer.SAME)


def test_old_samples_keep_their_clusters_and_most_new_ones_find_theirs() -> None:
    engine, larger, truth, homes = grown(0, 60)
    np.testing.assert_array_equal(larger.labels[:65], engine.labels)
    labels = engine.labels
    placed = [(truth[65 + at], home) for at, home in enumerate(homes.tolist()) if home <= labels.max()]
    right = [name for name, home in placed if truth[int(np.flatnonzero(labels == home)[0])] == name]
    assert len(placed) >= 10
    assert len(right) >= 0.9 * len(placed)


def test_nothing_is_placed_into_closed_clusters() -> None:
    features, _ = points(0)
    before = initialize([features[:65]], InitialOptions(neighbors=12, refine=True), Task())
    graph = extended_graph(before.graph, [features], before.labels, InitialOptions(neighbors=12, refine=True), Task())
    open_homes = place(graph, before.labels, (), 500, 0, Task())
    closed = {int(home) for home in open_homes if home < 500}
    assert closed
    homes = place(graph, before.labels, closed, 500, 0, Task())
    assert not closed & set(homes.tolist())
    new = np.unique(homes[homes >= 500])
    np.testing.assert_array_equal(new, np.arange(500, 500 + len(new)))


def test_a_new_identity_becomes_a_cluster_of_its_own() -> None:
    features, _ = points(0)
    strangers = (np.full(6, 9.0) + np.random.default_rng(0).normal(0, 0.2, (5, 6))).astype(np.float32)
    options = InitialOptions(neighbors=12, refine=True)
    before = initialize([features], options, Task())
    everything = np.concatenate((features, strangers))
    graph = extended_graph(before.graph, [everything], before.labels, options, Task())
    homes = place(graph, before.labels, (), 500, 0, Task())
    assert homes.tolist() == [500] * 5


def test_a_guess_can_be_taken_apart_by_an_answer() -> None:
    engine, larger, _, homes = grown(0, 60)
    at = next(65 + at for at, home in enumerate(homes.tolist()) if home <= engine.labels.max())
    mate = int(np.flatnonzero(engine.labels == homes[at - 65])[0])
    larger.impose(at, mate, Answer.DIFFERENT)
    assert larger.labels[at] != larger.labels[mate]
    assert larger.labels[mate] == engine.labels[mate]


def test_without_answers_nothing_binds_but_clusters_stay() -> None:
    _, larger, _, _ = grown(0, 60)
    arrays, meta = larger.dump()
    initial = InitialState(arrays["labels"], larger._context.graph, {})
    free = Engine.load(initial, larger._context.views, StrategyOptions(), without_answers(arrays), meta)
    assert not list(free.store.constraints())
    assert not free.confirmed.count
    np.testing.assert_array_equal(free.labels, larger.labels)
