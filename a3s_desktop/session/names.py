"""Names of clusters: what a name may be, and which cluster carries it while clusters merge and divide.

A name hangs on items (its anchors), not on a cluster: it belongs to the cluster that holds most of them. So it
survives every merge, division and re-clustering, and comes back when a merge of two named clusters is taken back.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Self

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import IntArray
from a3s_desktop.errors import InputError
from a3s_desktop.i18n import number, tr

LONGEST = 200
"""Most characters of a name."""

MOST_ANCHORS = 16
"""Items that a name hangs on at most."""

# They would turn around the text that follows the name on the screen.
_DIRECTION = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F}


def clean_name(text: str) -> str:
    """A name as it is kept: composed characters, single spaces, no control characters; empty where nothing is left.

    Raises
    ------
    InputError
        It is longer than `LONGEST` characters.
    """
    composed = unicodedata.normalize("NFC", text)
    visible = (
        " " if character.isspace() else character
        for character in composed
        if character.isspace()
        or (unicodedata.category(character) not in ("Cc", "Cs") and ord(character) not in _DIRECTION)
    )
    name = " ".join("".join(visible).split())
    if len(name) > LONGEST:
        raise InputError(
            tr("This name has {n} characters; a name may have at most {most}.", n=number(len(name)), most=LONGEST),
            tr("Choose a shorter name."),
        )
    return name


def name_key(name: str) -> str:
    """What two names that count as the same have in common: no regard to case, spaces and width of characters."""
    return "".join(unicodedata.normalize("NFKC", clean_name(name)).casefold().split())


@dataclass(frozen=True, slots=True)
class Names:
    """All names in force, oldest first; immutable.

    Attributes
    ----------
    by_key : mapping
        Key -> (name, anchors).
    """

    by_key: Mapping[str, tuple[str, tuple[int, ...]]] = field(default_factory=lambda: MappingProxyType({}))

    def __len__(self) -> int:
        return len(self.by_key)

    def given(self, name: str, anchors: tuple[int, ...], replaces: tuple[str, ...]) -> Self:
        """The names after one more; an empty one only removes."""
        kept = {key: value for key, value in self.by_key.items() if key not in replaces and key != name_key(name)}
        if name:
            kept[name_key(name)] = (name, anchors)
        return type(self)(MappingProxyType(kept))

    def given_all(self, known: Sequence[tuple[str, tuple[int, ...]]]) -> Self:
        """The names after several more, each with its anchors."""
        keys = {name_key(name): (name, anchors) for name, anchors in known}
        kept = {key: value for key, value in self.by_key.items() if key not in keys}
        return type(self)(MappingProxyType(kept | keys))

    def of_clusters(self, labels: IntArray, junk: npt.NDArray[np.bool_]) -> dict[int, str]:
        """Cluster id -> name. Where several names meet in a cluster, the newest one counts."""
        return {cluster: name for _, name, cluster in self._placed(labels, junk)}

    def in_cluster(self, cluster: int, labels: IntArray, junk: npt.NDArray[np.bool_]) -> tuple[str, ...]:
        """Keys of the names that a cluster carries, oldest first."""
        return tuple(key for key, _, home in self._placed(labels, junk) if home == cluster)

    def _placed(self, labels: IntArray, junk: npt.NDArray[np.bool_]) -> Iterator[tuple[str, str, int]]:
        for key, (name, anchors) in self.by_key.items():
            home = home_of(anchors, labels, junk)
            if home is not None:
                yield key, name, home


def home_of(anchors: tuple[int, ...], labels: IntArray, junk: npt.NDArray[np.bool_]) -> int | None:
    """The cluster that carries a name with these anchors; None where all of them are junk."""
    present = [int(labels[item]) for item in anchors if not junk[item]]
    # Most anchors; among equals the cluster of the first of them.
    return max(dict.fromkeys(present), key=present.count) if present else None
