"""The report's two drawings, as SVG inside the page: no style attributes, which its policy would not let through."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from a3s_desktop.i18n import decimal, number, tr
from a3s_desktop.storage.exports.state import ExportState

_WIDTH, _HEIGHT = 720, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 150, 24, 40
_HOURS = 3  # from which on time is counted in hours
_MOST = 400  # points of a line

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class _Line:
    title: str
    style: str
    points: Sequence[Point]


def curves(state: ExportState) -> str:
    """Both drawings, each where there is something to draw; else nothing."""
    parts = []
    if len(state.curve) > 1:
        lines = (
            _Line(tr("clusters"), "a", [(p.answers, p.clusters) for p in state.curve]),
            _Line(tr("single images"), "b", [(p.answers, p.singles) for p in state.curve]),
        )
        parts.append(_drawing(tr("Clusters over the answers"), tr("answers"), lines))
    if len(state.times) > 1:
        times = sorted(state.times)  # a clock that jumped back draws no loop
        long = times[-1] - times[0] > _HOURS * 3600
        since = [(when - times[0]) / (3600 if long else 60) for when in times]
        step = max(1, len(since) // _MOST)
        points = [(since[k], k + 1.0) for k in range(0, len(since), step)] + [(since[-1], float(len(since)))]
        below = tr("hours since the first answer") if long else tr("minutes since the first answer")
        parts.append(_drawing(tr("Answers over time"), below, (_Line(tr("answers"), "a", points),)))
    return "\n".join(parts)


def _drawing(title: str, below: str, lines: Sequence[_Line]) -> str:
    wide = max(max(x for x, _ in line.points) for line in lines) or 1.0
    high = max(max(y for _, y in line.points) for line in lines) or 1.0
    inner_width, inner_height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def place(point: Point) -> tuple[float, float]:
        return _LEFT + point[0] / wide * inner_width, _TOP + (1 - point[1] / high) * inner_height

    base = _TOP + inner_height
    parts = [
        f'<path d="M{_LEFT} {_TOP}V{base}H{_LEFT + inner_width}" fill="none" stroke="currentColor" stroke-width="1"/>',
        _text(_LEFT - 8, _TOP + 5, number(round(high)), "end"),
        _text(_LEFT - 8, base + 5, "0", "end"),
        _text(_LEFT + inner_width, base + 20, _short(wide), "end"),
        _text(_LEFT + inner_width / 2, base + 34, below, "middle"),
    ]
    last_y = -100.0
    for line in sorted(lines, key=lambda line: -line.points[-1][1]):
        places = [place(point) for point in line.points]
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline class="line-{line.style}" points="{way}" fill="none" stroke-width="2"/>')
        last_y = max(places[-1][1] + 5, last_y + 18)
        value = f"{line.title} {number(round(line.points[-1][1]))}"
        parts.append(_text(places[-1][0] + 8, last_y, value, "start", f"text-{line.style}"))
    heading = html.escape(title)
    return (
        f'<h2>{heading}</h2><svg role="img" aria-label="{heading}" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}">{"".join(parts)}</svg>'
    )


def _short(value: float) -> str:
    return number(round(value)) if value >= 10 or value == int(value) else decimal(value, 1)


def _text(x: float, y: float, text: str, anchor: str, style: str = "") -> str:
    kind = f' class="{style}"' if style else ""
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(text)}</text>'
