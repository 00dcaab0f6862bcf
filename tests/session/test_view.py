"""What views see: words for every kind of question, sizes, strips."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from a3s_desktop.core.types import Question, Reason
from a3s_desktop.session.view import STRIP, Copies, session_state
from a3s_desktop.session.wording import question_text
from tests.session.conftest import Data


@pytest.mark.parametrize(
    ("reason", "clusters", "sizes", "text"),
    [
        (Reason.MERGE, (12, 31), (8, 5), "Are cluster 12 (8 images) and cluster 31 (5 images) the same?"),
        (
            Reason.PURITY,
            (12, 12),
            (8, 8),
            "Are the 8 images of cluster 12 all the same? These two stand far apart in it.",
        ),
        (Reason.SPLIT, (12, 12), (8, 8), "A mixed cluster is being sorted: do these two images belong together?"),
        (Reason.OUTLIER, (12, 31), (8, 1), "Does this single image belong to cluster 12 (8 images)?"),
        (Reason.OUTLIER, (12, 31), (1, 2), "Does this single image belong to cluster 31 (2 images)?"),
        (Reason.OUTLIER, (12, 31), (1, 1), "Are these two single images the same?"),
        (Reason.MEMBER, (12, 12), (8, 8), "Does this doubtful image belong to cluster 12 (8 images)?"),
        (Reason.PAIR, (12, 12), (8, 8), "Do these two images of cluster 12 (8 images) belong together?"),
        (Reason.PAIR, (12, 31), (8, 5), "Are cluster 12 (8 images) and cluster 31 (5 images) the same?"),
    ],
)
def test_every_question_has_words(reason: Reason, clusters: tuple[int, int], sizes: tuple[int, int], text: str) -> None:
    assert question_text(Question(1, 2, reason, *clusters, 0.5), *sizes) == text


def test_the_question_shows_the_true_sizes(blobs: Data) -> None:
    session = blobs.session()
    while (question := session.state.question) is not None:
        assert question.left_size == len(session.members(question.left_cluster))
        assert question.right_size == len(session.members(question.right_cluster))
        assert 0.0 <= question.probability <= 1.0
        blobs.answer(session)


def test_strips_are_as_long_as_the_clusters_allow(blobs: Data) -> None:
    session = blobs.session()
    while (question := session.state.question) is not None:
        if question.left_cluster != question.right_cluster:
            assert len(question.left_strip) == min(STRIP, question.left_size - 1)
            assert len(question.right_strip) == min(STRIP, question.right_size - 1)
        blobs.answer(session)


def test_a_picture_shares_no_memory_with_the_engine(blobs: Data) -> None:
    session = blobs.session()
    state = session_state(session._position, session._history, 7, True, Copies())
    live = {"labels": session.engine.labels, "is_junk": session.engine.junk.values}
    live["confirmed"] = session.engine.confirmed.values
    for name, values in live.items():
        assert not np.shares_memory(getattr(state, name), values)
        assert not getattr(state, name).flags.writeable
    assert state.revision == 7
    assert state.read_only
    before = state.labels.copy()
    while session.state.question is not None:
        blobs.answer(session)
    assert (state.labels == before).all()


def test_pictures_share_an_array_as_long_as_it_is_the_same(blobs: Data) -> None:
    session = blobs.session()
    states = [session.state]
    while session.state.question is not None:
        session.look_ahead()
        blobs.answer(session)
        states.append(session.state)
    for _ in range(len(states) - 1):
        session.undo()
        states.append(session.state)
    for before, after in itertools.pairwise(states):
        for name in ("labels", "confirmed", "is_junk"):
            one, other = getattr(before, name), getattr(after, name)
            assert (one is other) == bool((one == other).all()), name
    assert len({id(state.is_junk) for state in states}) == 1
    assert len({id(state.labels) for state in states}) > 2


def test_a_named_cluster_is_called_by_its_name() -> None:
    names = {12: "Anna", 31: "x" * 60}
    merge = question_text(Question(1, 2, Reason.PAIR, 12, 31, 0.5), 8, 5, names)
    assert merge == f"Are Anna (8 images) and {'x' * 39}… (5 images) the same?"
    purity = question_text(Question(1, 2, Reason.PURITY, 12, 12, 0.5), 8, 8, names)
    assert purity == "Are the 8 images of Anna all the same? These two stand far apart among them."
    assert question_text(Question(1, 2, Reason.MEMBER, 12, 12, 0.5), 8, 8, {3: "Berta"}).endswith(
        "cluster 12 (8 images)?"
    )
