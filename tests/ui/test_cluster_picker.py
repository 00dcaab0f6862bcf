"""Choosing among very many clusters: rows are made of what is shown."""

from __future__ import annotations

import numpy as np

from a3s_desktop.ui.cluster_picker import ClusterRows

ROWS = ClusterRows(np.array([7, 3, 70, 9]), np.array([50, 20, 20, 1]), np.array([0, 4, 2, 8]),
                   {3: "Anna 7", 9: "Ännchen", 500: "gone 7"})  # fmt: skip


def test_the_largest_come_first_without_those_that_are_near() -> None:
    assert [(row.cluster, row.size, row.name, row.cover) for row in ROWS.largest(2, {7})] == [
        (3, 20, "Anna 7", 4), (70, 20, "", 2),
    ]  # fmt: skip
    assert [row.cluster for row in ROWS.largest(10, ())] == [7, 3, 70, 9]
    assert ROWS.largest(0, ()) == []


def test_a_cluster_is_found_by_its_number_or_by_a_part_of_its_name() -> None:
    assert [row.cluster for row in ROWS.found("7", ())] == [7, 3]
    assert [row.cluster for row in ROWS.found("änn", ())] == [9]
    assert [row.cluster for row in ROWS.found("7", {7})] == [3]
    assert ROWS.found("gone", ()) == []
    assert ROWS.found("9" * 40, ()) == []
