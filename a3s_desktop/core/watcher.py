"""What follows the partition and the store of an engine."""

from __future__ import annotations

from collections.abc import Sequence


class Watcher:
    """Follows the partition and the store: told after each change, once it is made. It logs what it changes itself."""

    def constrained(self, left: int, right: int) -> None:
        """A pair was said to be the same or different; the partition does not agree with it yet."""

    def merged(self, kept: int, gone: int) -> None:
        """Two clusters became one."""

    def divided(self, old: Sequence[int], parts: Sequence[int]) -> None:
        """Some clusters became others, of the same samples; some of them may have kept an id."""

    def release(self) -> None:
        """The engine is gone: let go of everything. See `Context.release`."""
        vars(self).clear()
