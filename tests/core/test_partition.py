"""The partition against plain sets of members."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.core.partition import Partition
from a3s_desktop.core.undo import UndoLog

NUMBERS = st.integers(0, 10**6)
OPERATIONS = st.lists(
    st.tuples(st.sampled_from(("merge", "merge", "split", "regroup", "relabel", "mark", "rewind")), NUMBERS),
    max_size=25,
)


def check(partition: Partition, clusters: dict[int, set[int]]) -> None:
    n = len(partition.labels)
    assert partition.labels.dtype == np.int32
    for cluster, members in clusters.items():
        assert partition.members(cluster).tolist() == sorted(members)
        assert partition.members(cluster).dtype == np.int32
        assert partition.size(cluster) == len(members)
        assert all(partition.cluster_of(i) == cluster for i in members)
    assert partition.cluster_ids().tolist() == sorted(clusters)
    assert sum(len(members) for members in clusters.values()) == n
    assert partition.n_clusters == sum(len(members) > 1 for members in clusters.values())
    assert partition.n_singletons == sum(len(members) == 1 for members in clusters.values())
    for cluster in range(-1, partition.next_id + 2):
        if cluster not in clusters:
            assert partition.size(cluster) == 0
            assert len(partition.members(cluster)) == 0


@given(st.lists(st.integers(0, 6), min_size=2, max_size=14), OPERATIONS)
def test_partition_equals_plain_sets(labels: list[int], operations: list[tuple[str, int]]) -> None:
    n = len(labels)
    log = UndoLog()
    partition = Partition(np.array(labels, np.int32), log)
    clusters = {c: {i for i in range(n) if labels[i] == c} for c in set(labels)}
    next_id = max(labels) + 1
    whole = (log.mark(), dict(clusters), next_id)
    marks = [whole]
    for operation, number in operations:
        rng = np.random.default_rng(number)
        ids = sorted(clusters)
        if operation == "merge" and len(ids) > 1:
            a, b = (int(c) for c in rng.choice(ids, 2, replace=False))
            kept = partition.merge(a, b)
            assert kept == min((a, b), key=lambda c: (-len(clusters[c]), c))
            clusters[kept] = clusters.pop(a) | clusters.pop(b)
        elif operation == "split":
            cluster = int(rng.choice(ids))
            members = rng.permutation(sorted(clusters[cluster])).astype(np.int32)
            cuts = np.unique(rng.integers(1, len(members), rng.integers(0, 3))) if len(members) > 1 else []
            parts = np.split(members, cuts)
            given_ids = partition.split(cluster, parts)
            largest = int(np.argmax([len(part) for part in parts]))
            del clusters[cluster]
            for k, (part, new) in enumerate(zip(parts, given_ids, strict=True)):
                if k == largest:
                    assert new == cluster
                else:
                    assert new == next_id
                    next_id += 1
                clusters[new] = set(part.tolist())
        elif operation == "regroup":
            next_id = regroup(partition, clusters, rng, next_id)
        elif operation == "relabel":
            wanted = rng.integers(0, 5, n).astype(np.int32)
            before = partition.labels.copy()
            partition.relabel(wanted)
            after = partition.labels
            groups = {frozenset(np.flatnonzero(wanted == c).tolist()) for c in set(wanted.tolist())}
            assert {frozenset(np.flatnonzero(after == c).tolist()) for c in set(after.tolist())} == groups
            fresh = sorted(set(after.tolist()) - set(before.tolist()))
            assert fresh == list(range(next_id, next_id + len(fresh)))  # a vanished id does not come back
            next_id += len(fresh)
            clusters = {c: set(np.flatnonzero(after == c).tolist()) for c in set(after.tolist())}
        elif operation == "mark":
            marks.append((log.mark(), dict(clusters), next_id))
        elif operation == "rewind":
            del marks[1 + number % len(marks) :]
            mark, kept_clusters, next_id = marks[-1]
            clusters = dict(kept_clusters)
            log.rewind(mark)
        check(partition, clusters)
        assert partition.next_id == next_id
    log.rewind(0)
    check(partition, whole[1])
    assert partition.labels.tolist() == labels
    assert partition.next_id == whole[2]


def regroup(partition: Partition, clusters: dict[int, set[int]], rng: np.random.Generator, next_id: int) -> int:
    """Make groups of samples from anywhere clusters of their own; returns the next new id."""
    n = len(partition.labels)
    samples = rng.permutation(n)[: rng.integers(0, n + 1)].astype(np.int32)
    cuts = np.unique(rng.integers(1, len(samples), rng.integers(0, 4))) if len(samples) > 1 else []
    groups = [set(group.tolist()) for group in np.split(samples, cuts) if len(group)]
    before, version = dict(clusters), partition.version
    old, new = partition.regroup([np.array(sorted(group), np.int32) for group in groups])
    assert (partition.version == version) is (not old)  # an answer that moves nothing is told by it
    wanted = {frozenset(group) for group in groups}
    wanted |= {frozenset(members.difference(*groups)) for members in before.values()} - {frozenset()}
    labels = partition.labels.tolist()
    clusters.clear()
    for sample, cluster in enumerate(labels):
        clusters.setdefault(cluster, set()).add(sample)
    assert set(map(frozenset, clusters.values())) == wanted
    assert old == sorted(cluster for cluster, members in before.items() if clusters.get(cluster) != members)
    assert new == sorted(cluster for cluster, members in clusters.items() if before.get(cluster) != members)
    for cluster, members in clusters.items():
        if cluster in before:  # an id stays with the largest piece, and of several with the largest of these
            pieces = [members & other for other in before.values()]
            kept = members & before[cluster]
            assert len(kept) == max(len(other & before[cluster]) for other in clusters.values())
            rivals = [
                piece
                for other, piece in zip(before, pieces, strict=True)
                if other not in clusters and len(piece) == max(len(one & before[other]) for one in clusters.values())
            ]
            assert all(len(piece) <= len(kept) for piece in rivals)
    fresh = sorted(set(clusters) - set(before))
    assert fresh == list(range(next_id, next_id + len(fresh)))
    return next_id + len(fresh)


def test_a_new_clustering_keeps_the_ids_it_shares_most_with() -> None:
    partition = Partition(np.array([3, 3, 3, 5, 5, 8], np.int32), UndoLog())
    partition.relabel(np.array([0, 0, 1, 1, 1, 2], np.int32))
    assert partition.labels.tolist() == [3, 3, 5, 5, 5, 8]
    partition.relabel(np.array([0, 0, 0, 0, 1, 2], np.int32))
    assert partition.labels.tolist() == [3, 3, 3, 3, 5, 8]
    partition.relabel(np.arange(6, dtype=np.int32))
    assert partition.labels.tolist() == [3, 9, 10, 11, 5, 8]


def test_labels_cannot_be_written_to_and_the_input_is_not_shared() -> None:
    labels = np.array([0, 0, 1], np.int32)
    partition = Partition(labels, UndoLog())
    live = partition.labels
    with pytest.raises(ValueError, match="read-only"):
        live[0] = 1
    partition.merge(0, 1)
    assert live.tolist() == [0, 0, 0]
    assert labels.tolist() == [0, 0, 1]


def test_numbering_goes_on_where_a_saved_partition_left_off() -> None:
    partition = Partition(np.array([0, 0, 1], np.int32), UndoLog(), next_id=7)
    assert partition.split(0, (np.array([1], np.int32), np.array([0], np.int32))) == [0, 7]
    assert partition.next_id == 8


def test_what_is_no_merge_or_split_is_refused() -> None:
    log = UndoLog()
    partition = Partition(np.array([0, 0, 1], np.int32), log)
    one, both = np.array([0], np.int32), np.array([0, 1], np.int32)
    with pytest.raises(ValueError, match="itself"):
        partition.merge(1, 1)
    with pytest.raises(ValueError, match="no such cluster: 4"):
        partition.merge(0, 4)
    for parts in ([], [one], [both, one[:0]]):
        with pytest.raises(ValueError, match="parts of a split"):
            partition.split(0, parts)
    assert log.mark() == 0
    assert partition.labels.tolist() == [0, 0, 1]
