"""With how many examples a property is tried."""

from __future__ import annotations

from hypothesis import settings

USUAL = 60


def examples(count: int) -> settings:
    """Decorator of a costly property: so many examples instead of the `USUAL` ones; more where the profile has more."""
    return settings(max_examples=count * settings.default.max_examples // USUAL)
