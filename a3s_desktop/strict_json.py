"""JSON of which nothing is guessed: what Python's own reader would take silently for something else is refused."""

from __future__ import annotations

import json
import math
from typing import Any

from a3s_desktop.i18n import tr
from a3s_desktop.printable import escaped


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text.

    Raises
    ------
    ValueError
        It is no JSON, has a key twice, a number that is infinite or none, or is nested too deeply. The message is a
        clause on one line.
    """
    try:
        return json.loads(text, parse_constant=_refused, parse_float=_finite, object_pairs_hook=_unique)
    except RecursionError:
        raise ValueError(tr("it is nested too deeply")) from None
    except ValueError as error:  # UnicodeDecodeError among them
        raise ValueError(escaped(str(error))[:160]) from None


def _refused(name: str) -> Any:
    raise ValueError(tr("{value} is no number", value=name))


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refused(text[:40])


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise ValueError(tr("the key {name} is there twice", name=ascii(name[:60])))
            seen.add(name)
    return result
