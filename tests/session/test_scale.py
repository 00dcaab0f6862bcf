"""The benchmark of size on the smallest sizes: a row for each run, and the growth between them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from a3s_desktop.session import kept_state
from a3s_desktop.session.scale import growth, measure, run_scale, wanted_of


def test_every_size_gets_a_row_and_the_growth_is_told(tmp_path):
    told: list[str] = []
    rows = run_scale([600, 300], ["easy"], tmp_path / "report", told.append)
    assert [row.samples for row in rows] == [300, 600]
    assert all(row.wall > 0 and row.exact > 0 and 0 < row.ari <= row.nmi <= 1 and row.recall == 1.0 for row in rows)
    assert growth(rows[:1]) is None
    assert "stage one grows as N^" in told[-1]
    assert all(0 < row.ari <= row.answering.ari <= 1 and row.whole > 1 for row in rows)
    assert [row.answering.answers for row in rows] == [10, 19]
    assert all(min(row.answering.opening, row.answering.cold, row.answering.resumed) > 0 for row in rows)
    assert all(row.answering.kept == 0.0 for row in rows), "small projects keep no state"
    assert all(row.answering.question[0] <= row.answering.question[1] for row in rows)
    assert (tmp_path / "report" / "scale.png").read_bytes().startswith(b"\x89PNG")
    written = json.loads((tmp_path / "report" / "scale.json").read_text("utf-8"))
    assert [row["samples"] for row in written] == [300, 600]
    assert sum(seconds for _, seconds in written[0]["stages"]) == pytest.approx(written[0]["wall"], rel=0.2)
    assert written[0]["answering"]["ari"] == rows[0].answering.ari
    # What the issue asks of a hundred thousand is told line by line, with whether it holds.
    large = replace(rows[1], samples=100_000, wall=30.0, exact=100.0, ari=0.9)
    lines = {line.name: line.holds for line in wanted_of(large, [large])}
    assert lines["stage one against exact neighbours"]
    assert not lines["first ARI"]
    million = replace(large, samples=1_000_000, wall=910.0)
    assert not {line.name: line.holds for line in wanted_of(million, [large, million])}["stage one against 100,000"]
    assert wanted_of(rows[0], rows) == []


def test_a_large_project_is_opened_by_its_kept_state(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_state, "KEPT_FROM", 0)
    row = measure(300, "easy", tmp_path)
    assert row.answering.kept > 0.0
    assert row.answering.snapshot[1] > 0.0
    assert row.answering.answers == 10
