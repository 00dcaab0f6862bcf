"""All parsers under test."""

from __future__ import annotations

from tests.fuzz import parsers_data, parsers_project
from tests.fuzz.harness import Parser

PARSERS: dict[str, Parser] = {one.name: one for one in (*parsers_data.PARSERS, *parsers_project.PARSERS)}
