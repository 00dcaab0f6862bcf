"""The readers of all files on small valid inputs, and on every input at which the fuzzer found something wrong once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz.harness import Parser, Runner
from tests.fuzz.parsers import PARSERS

CORPUS = Path(__file__).parent / "corpus"


@pytest.fixture(params=PARSERS)
def runner(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Runner]:
    made = Runner(PARSERS[request.param], tmp_path)
    yield made
    made.close()


def test_nothing_is_found_any_more(runner: Runner, tmp_path: Path) -> None:
    seeds = runner.parser.seeds(tmp_path)
    kept = sorted((CORPUS / runner.parser.name).glob("*"))
    inputs = [(f"seed {at}", data) for at, data in enumerate(seeds)] + [(path.name, path.read_bytes()) for path in kept]
    found = [f"{name}: {finding.text}" for name, data in inputs if (finding := runner.run(data)) is not None]
    assert not found, "\n\n".join(found)


def test_corpus_is_small_and_belongs_to_parsers() -> None:
    assert {folder.name for folder in CORPUS.iterdir()} <= set(PARSERS)
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < 300_000


def test_harness_tells_what_is_wrong(tmp_path: Path) -> None:
    """A harness that finds nothing must be one that would find something."""
    outside = tmp_path / "outside"

    def write(data: bytes, folder: Path) -> None:
        try:
            outside.write_bytes(data)
        except Exception:  # a reader that takes everything for damage
            return

    def fail(data: bytes, folder: Path) -> None:
        raise KeyError(data)

    for run, place in ((write, "Outside"), (fail, "KeyError")):
        base = tmp_path / place
        base.mkdir()
        runner = Runner(Parser("x", "", run, lambda _: []), base)
        found = runner.run(b"")
        runner.close()
        assert found is not None
        assert found.place.startswith(place)
    assert not outside.exists()
