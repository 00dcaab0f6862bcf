"""The random sample: drawn evenly from pairs within clusters, and what it says."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from a3s_desktop.core.types import Answer
from a3s_desktop.session.audit import draw_pair, wilson
from a3s_desktop.session.operations import Junk
from tests.session.conftest import Data


@pytest.mark.parametrize(
    ("same", "shown", "low", "high"),
    [
        (0, 0, 0.0, 1.0),
        (10, 10, 0.7225, 1.0),
        (0, 10, 0.0, 0.2775),
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
    ],
)
def test_the_interval_is_that_of_the_textbook(same: int, shown: int, low: float, high: float) -> None:
    """The last two are worked examples of Newcombe (1998)."""
    assert wilson(same, shown) == pytest.approx((low, high), abs=1e-4)


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    for share in (0.5, 0.9, 0.98):
        drawn = rng.binomial(60, share, 2_000)
        inside = np.mean([wilson(int(k), 60)[0] <= share <= wilson(int(k), 60)[1] for k in drawn])
        assert inside > 0.91


def test_every_pair_within_a_cluster_is_as_likely(blobs: Data) -> None:
    session = blobs.session()
    labels = session.state.labels
    inside = {(i, j) for i in range(48) for j in range(i + 1, 48) if labels[i] == labels[j]}
    drawn = Counter(
        tuple(sorted(pair)) for seed in range(60 * len(inside)) if (pair := draw_pair(session.engine, set(), seed))
    )
    assert set(drawn) == inside
    assert max(drawn.values()) < 3 * min(drawn.values())


def test_a_sample_measures_and_changes_nothing(blobs: Data) -> None:
    session = blobs.session()
    before, question = session.engine.digest(), session.state.question
    shown = set()
    while (pair := session.audit_pair()) is not None:
        assert frozenset(pair) not in shown
        shown.add(frozenset(pair))
        same = blobs.classes[pair[0]] == blobs.classes[pair[1]]
        session.audit(*pair, Answer.SAME if same else Answer.DIFFERENT)
    assert session.engine.digest() == before
    assert session.state.answers == 0
    assert question is not None
    assert session.state.question is not None
    assert (question.left, question.right) == (session.state.question.left, session.state.question.right)
    labels = session.state.labels
    pairs = [(i, j) for i in range(48) for j in range(i + 1, 48) if labels[i] == labels[j]]
    truth = np.mean([blobs.classes[i] == blobs.classes[j] for i, j in pairs])
    found = session.state.audit
    assert found.estimate == pytest.approx(truth, abs=0.02)  # nearly all pairs were shown
    assert found.low <= truth <= found.high
    session.undo()
    assert session.state.audit.same + session.state.audit.different == len(shown) - 1


def test_pairs_that_no_longer_share_a_cluster_do_not_count(blobs: Data) -> None:
    session = blobs.session()
    pair = session.audit_pair()
    assert pair is not None
    session.audit(*pair, Answer.DIFFERENT)
    assert session.state.audit.different == 1
    session.perform(Junk(pair[:1]))
    assert session.state.audit.different == 0
    assert session.state.audit.estimate is None
