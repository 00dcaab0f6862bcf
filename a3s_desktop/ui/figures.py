"""Numbers of the progress as people read them: ranges, rates, shares."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Sequence

from a3s_desktop.core.outlook import Outlook
from a3s_desktop.i18n import number, percent, tr
from a3s_desktop.session.audit import Precision

PAUSE = 120.0
"""Seconds between two answers from which on the person was away."""

RATED = 50
"""Answers that the rate is taken over."""


def rounded(count: int) -> int:
    """A number that does not look more exact than an estimate is: two digits, the second one even or five."""
    if count < 20:
        return count
    step = 5 if count < 100 else 10 if count < 300 else 50 if count < 2000 else 100
    return round(count / step) * step


def range_text(outlook: Outlook) -> str:
    """The range of the questions that are left."""
    low, high = rounded(outlook.low), rounded(outlook.high)
    return number(low) if low == high else tr("{low}–{high}", low=number(low), high=number(high))


def midnight(days: int = 0, today: datetime.date | None = None) -> float:
    """When the present day of this place began, or another one so many days later; POSIX seconds.

    Days have 23 or 25 hours where the clocks are changed: no offset of now holds for midnight.
    """
    day = (today or datetime.date.today()) + datetime.timedelta(days=days)
    return datetime.datetime.combine(day, datetime.time()).astimezone().timestamp()


def per_minute(times: Sequence[float]) -> float | None:
    """Answers a minute while the person was at work; None before there are a few.

    Parameters
    ----------
    times : sequence of float
        POSIX seconds, newest first. Longer pauses than `PAUSE` do not count.
    """
    newest = times[: RATED + 1]
    gaps = [later - earlier for later, earlier in itertools.pairwise(newest)]
    worked = [gap for gap in gaps if 0.0 <= gap <= PAUSE]
    return len(worked) * 60.0 / sum(worked) if len(worked) >= 3 and sum(worked) > 0.0 else None


def precision_texts(found: Precision) -> tuple[str, str]:
    """A share and its interval, each as a text; "" where the sample is empty."""
    if found.estimate is None:
        return "", ""
    digits = 0 if found.high - found.low > 0.02 else 1
    low, high = percent(found.low, digits), percent(found.high, digits)
    return percent(found.estimate, digits), tr("{low} to {high}", low=low, high=high)


def precision_text(found: Precision) -> str:
    """A share with its interval; "" where the sample is empty."""
    share, interval = precision_texts(found)
    return tr("{share} ({interval})", share=share, interval=interval) if share else ""
