"""What an annotator sets right by hand, as constraints and as samples that move."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from typing import Any, Self

Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Correction:
    """A change of the clustering that was not asked for by a question; all of it or nothing is carried out.

    It names samples, never clusters, so that it means the same when it is replayed on another partition.

    Attributes
    ----------
    leave : tuple of tuples of int
        Groups of samples that leave their clusters first, each group together, with all that is must-linked with it.
    together, apart : tuple of (int, int)
        Must-links and cannot-links. The clusters of the former are united, those of the latter divided.
    junk, restore : tuple of int
        Samples that leave the clustering, and that come back to it.
    finish, reopen : tuple of int
        Samples marked as finished, and no longer so; a cluster is finished when all its samples are.
    requeue : bool
        Skipped pairs may be asked again.
    identities : tuple of tuples of int
        Groups of samples, each of one identity, no two of the same: known labels. They are never united by anything
        but the annotator.
    unified : tuple of (int, int)
        Two such identities that are one after all; the pair is also in ``together``.
    """

    leave: tuple[tuple[int, ...], ...] = ()
    together: Pairs = ()
    apart: Pairs = ()
    junk: tuple[int, ...] = ()
    restore: tuple[int, ...] = ()
    finish: tuple[int, ...] = ()
    reopen: tuple[int, ...] = ()
    requeue: bool = False
    identities: tuple[tuple[int, ...], ...] = ()
    unified: Pairs = ()

    def to_json(self) -> dict[str, Any]:
        """The fields that are not empty, as JSON-able values."""
        found: dict[str, Any] = {}
        for name in ("junk", "restore", "finish", "reopen"):
            if getattr(self, name):
                found[name] = list(getattr(self, name))
        for name in ("leave", "together", "apart", "identities", "unified"):
            if getattr(self, name):
                found[name] = [list(pair) for pair in getattr(self, name)]
        if self.requeue:
            found["requeue"] = True
        return found

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Inverse of `to_json`. Raises `TypeError` or `ValueError` for what it cannot have written."""
        read: dict[str, Any] = {}
        for name in ("junk", "restore", "finish", "reopen"):
            read[name] = samples_of(values.get(name, ()))
        for name in ("together", "apart", "unified"):
            read[name] = tuple(pair_of(pair) for pair in values.get(name, ()))
        for name in ("leave", "identities"):
            read[name] = tuple(samples_of(group) for group in values.get(name, ()))
        if not all(group and len(set(group)) == len(group) for group in read["identities"]):
            raise ValueError("a group without samples, or with one twice")
        return cls(**read, requeue=bool(values.get("requeue", False)))

    def without(self, samples: Set[int]) -> Correction:
        """Known labels without what they say of some samples."""
        identities = (tuple(one for one in group if one not in samples) for group in self.identities)
        return replace(
            self,
            together=tuple(pair for pair in self.together if not samples & set(pair)),
            junk=tuple(one for one in self.junk if one not in samples),
            identities=tuple(group for group in identities if group),
        )

    def samples(self) -> set[int]:
        """All samples that are named."""
        found = {*self.junk, *self.restore, *self.finish, *self.reopen}
        found.update(
            sample
            for group in (*self.leave, *self.together, *self.apart, *self.identities, *self.unified)
            for sample in group
        )
        return found


def samples_of(values: Any) -> tuple[int, ...]:
    """Samples that a file names. Raises `TypeError`, `ValueError` for what are none: NumPy would count from the end."""
    found = tuple(values)
    if not all(type(value) is int and value >= 0 for value in found):
        raise ValueError("what should be the number of an image is none")
    return found


def pair_of(values: Any) -> tuple[int, int]:
    """Two samples that a file names. Raises `TypeError` or `ValueError` for what are not two."""
    left, right = samples_of(values)
    if left == right:
        raise ValueError("an image and itself are no pair")
    return left, right
