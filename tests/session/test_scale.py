"""The benchmark of size on the smallest sizes: a row for each run, and the growth between them."""

from __future__ import annotations

import json

import pytest

from a3s_desktop.session.scale import growth, run_scale


def test_every_size_gets_a_row_and_the_growth_is_told(tmp_path):
    told: list[str] = []
    rows = run_scale([4000, 2000], ["easy"], tmp_path / "report", told.append)
    assert [row.samples for row in rows] == [2000, 4000]
    assert all(row.wall > 0 and row.exact > 0 and 0 < row.ari <= row.nmi <= 1 and row.recall == 1.0 for row in rows)
    assert growth(rows[:1]) is None
    assert "stage one grows as N^" in told[-1]
    written = json.loads((tmp_path / "report" / "scale.json").read_text("utf-8"))
    assert [row["samples"] for row in written] == [2000, 4000]
    assert sum(seconds for _, seconds in written[0]["stages"]) == pytest.approx(written[0]["wall"], rel=0.2)
