"""Names that come from elsewhere: what speaks against them, and how they become constraints in one step.

Images of one name are must-linked in a chain. Images of different names are known to differ: `ConstraintStore.identify`
says so of all of them at once. Cannot-links between representatives would be a square of the number of names (half a
million for 1,000), and links only between names that are neighbours in the graph would not be enough: two names
could still meet in a cluster that both are near to. So nothing but the annotator ever unites two of these groups.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from a3s_desktop.core.correction import Correction
from a3s_desktop.core.engine import Engine
from a3s_desktop.core.types import Answer
from a3s_desktop.errors import InputError
from a3s_desktop.i18n import mark, number, tr
from a3s_desktop.session.entries import CorrectionKind, KnownName, RecordedCorrection
from a3s_desktop.session.names import MOST_ANCHORS, Names, clean_name, name_key
from a3s_desktop.storage.files import show
from a3s_desktop.storage.label_file import KnownLabel

_SHOWN = 12
_NAMED = 4  # images and names in a sentence


class Trouble(enum.Enum):
    """What can be wrong with a row."""

    UNKNOWN = "unknown"  # no image of that name
    TWICE = "twice"  # one image has two names
    DIFFERENT = "different"  # one name on images that are known to differ
    SAME = "same"  # two names on images that are known to be the same
    JUNK = "junk"  # the image was put away here
    UNUSABLE = "unusable"  # the name is too long


_TROUBLES = {
    Trouble.UNKNOWN: mark("{where}: there is no image {names}, or it is not certain which one is meant."),
    Trouble.TWICE: mark("{where}: {images} has several names: {names}."),
    Trouble.DIFFERENT: mark("{where}: the name {names} is on images that are known to differ: {images}."),
    Trouble.SAME: mark("{where}: images that are known to be the same have several names ({names}): {images}."),
    Trouble.JUNK: mark("{where}: {images} is junk here; its name {names} is not taken over."),
    Trouble.UNUSABLE: mark("{where}: the name of {images} is too long."),
}


@dataclass(frozen=True, slots=True)
class Conflict:
    """Rows that cannot be taken as they are.

    Attributes
    ----------
    trouble : Trouble
    items : tuple of int
        Images concerned; none for `Trouble.UNKNOWN`.
    names : tuple of str
        Names concerned; the file, for `Trouble.UNKNOWN`.
    where : str
        Place of the first row in the file.
    """

    trouble: Trouble
    items: tuple[int, ...]
    names: tuple[str, ...]
    where: str = ""


@dataclass(frozen=True, slots=True)
class LabelsPlan:
    """What a file of names would do; from `plan_labels`.

    Attributes
    ----------
    operation : KnownLabels or None
        With all conflicts left out; None where nothing remains.
    conflicts : tuple of Conflict
    images, names : int
        Images that get a name or a group, and how many there are of these.
    rows : int
        Rows of the file that say something.
    """

    operation: KnownLabels | None
    conflicts: tuple[Conflict, ...]
    images: int
    names: int
    rows: int


@dataclass(frozen=True, slots=True)
class KnownLabels:
    """Groups of images, each of one identity and no two of the same; an operation of `Session.perform`.

    Attributes
    ----------
    groups : tuple of (str, tuple of int)
        Name (may be empty) and images.
    junk : tuple of int
        Images that are of no use.
    """

    groups: tuple[tuple[str, tuple[int, ...]], ...]
    junk: tuple[int, ...] = ()

    def record(self, engine: Engine, names: Names, when: float) -> RecordedCorrection:
        """Identities, names, and a must-link to the cluster that carries the same name already."""
        groups = tuple((name, tuple(dict.fromkeys(items))) for name, items in self.groups if items)
        if not groups and not self.junk:
            raise InputError(tr("There is no name to take over."), tr("Choose another file."))
        identities = tuple(items for _, items in groups)
        known = tuple(
            KnownName(clean_name(name), _spread(items, MOST_ANCHORS)) for name, items in groups if clean_name(name)
        )
        everyone = [item for items in identities for item in items]
        correction = Correction(
            identities=identities,
            together=tuple(_same_name(engine, names, groups)),
            junk=tuple(item for item in self.junk if not engine.junk[item]),
        )
        shown = tuple(items[0] for items in identities[:_SHOWN]) or self.junk[:_SHOWN]
        count = len(everyone) + len(correction.junk)
        return RecordedCorrection(CorrectionKind.LABELS, correction, shown, count, when, known=known)


def plan_labels(engine: Engine, labels: Sequence[KnownLabel]) -> LabelsPlan:
    """What the rows of a file would do, and what speaks against some of them. Changes nothing."""
    conflicts: list[Conflict] = []
    rows: dict[int, KnownLabel] = {}
    twice: dict[int, set[str]] = {}
    titles: dict[str, str] = {}  # key of a group -> its name
    for label in labels:
        if label.item < 0:
            conflicts.append(Conflict(Trouble.UNKNOWN, (), (label.file,), label.where))
            continue
        try:
            titles.setdefault(_key(label), clean_name(label.name))
        except InputError:
            conflicts.append(Conflict(Trouble.UNUSABLE, (label.item,), (label.name,), label.where))
            continue
        before = rows.setdefault(label.item, label)
        if _key(before) != _key(label):
            twice.setdefault(label.item, {_title(before)}).add(_title(label))
    for item, both in twice.items():
        conflicts.append(Conflict(Trouble.TWICE, (item,), tuple(sorted(both)), rows.pop(item).where))
    away = [item for item, label in rows.items() if label.junk]
    rows = {item: label for item, label in rows.items() if not label.junk}
    for item in [item for item in rows if engine.junk[item]]:
        conflicts.append(Conflict(Trouble.JUNK, (item,), (_title(rows[item]),), rows[item].where))
        del rows[item]
    conflicts += _two_names(engine, rows)
    conflicts += _held_apart(engine, rows)
    groups: dict[str, list[int]] = {}
    for item, label in sorted(rows.items()):
        groups.setdefault(_key(label), []).append(item)
    made = tuple((titles[key], tuple(items)) for key, items in groups.items())
    operation = KnownLabels(made, tuple(sorted(away))) if made or away else None
    return LabelsPlan(operation, tuple(conflicts), len(rows) + len(away), len(made), len(labels))


def spanning(identities: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    """The must-links within groups."""
    for group in identities:
        yield from pairwise(group)


def conflict_text(conflict: Conflict, paths: Sequence[str]) -> str:
    """A conflict as a sentence with its place in the file; ``paths`` are the images'."""
    images = ", ".join(show(paths[item]) for item in conflict.items[:_NAMED])
    if len(conflict.items) > _NAMED:
        images = tr("{images} and {n} more", images=images, n=number(len(conflict.items) - _NAMED))
    listed = ", ".join(f"“{one}”" for one in conflict.names[:_NAMED])
    return tr(_TROUBLES[conflict.trouble], where=conflict.where, images=images, names=listed)


# --- helpers


def _key(label: KnownLabel) -> str:
    if label.junk:
        return "junk"
    return f"name {name_key(label.name)}" if name_key(label.name) else f"group {label.group}"


def _title(label: KnownLabel) -> str:
    return label.name or label.group


def _two_names(engine: Engine, rows: dict[int, KnownLabel]) -> list[Conflict]:
    """Takes out of ``rows`` what is known to be the same and has two names."""
    store = engine.store
    components: dict[int, list[int]] = {}
    for item in sorted(rows):
        if store.is_touched(item):
            components.setdefault(store.find(item), []).append(item)
    found = []
    for items in components.values():
        titles = {_key(rows[item]): _title(rows[item]) for item in items}
        if len(titles) > 1:
            found.append(Conflict(Trouble.SAME, tuple(items), tuple(titles.values()), rows[items[0]].where))
            for item in items:
                del rows[item]
    return found


def _held_apart(engine: Engine, rows: dict[int, KnownLabel]) -> list[Conflict]:
    """Takes out of ``rows`` what has one name and is known to differ: which of them is wrong, nobody can tell here."""
    store = engine.store
    groups: dict[str, dict[int, list[int]]] = {}
    for item, label in sorted(rows.items()):
        groups.setdefault(_key(label), {}).setdefault(store.find(item), []).append(item)
    found = []
    for roots in groups.values():
        apart = set()
        if len(roots) > 1:
            for root in roots:
                others = roots.keys() & set(store.separated_from(root).tolist())
                apart |= {root, *others} if others else set()
        items = sorted(item for root in apart for item in roots[root])
        if items:
            found.append(Conflict(Trouble.DIFFERENT, tuple(items), (_title(rows[items[0]]),), rows[items[0]].where))
            for item in items:
                del rows[item]
    return found


def _same_name(
    engine: Engine, names: Names, groups: Sequence[tuple[str, tuple[int, ...]]]
) -> Iterator[tuple[int, int]]:
    """A must-link from each group to the image that the same name hangs on here, where nothing speaks against it."""
    store = engine.store
    owner = {store.find(item): at for at, (_, items) in enumerate(groups) for item in items}
    for at, (name, items) in enumerate(groups):
        _, anchors = names.by_key.get(name_key(name), ("", ())) if name_key(name) else ("", ())
        free = [anchor for anchor in anchors if not engine.junk[anchor]]
        if not free or any(owner.get(store.find(anchor)) == at for anchor in free):
            continue
        roots = {store.find(item) for item in items}
        for anchor in free:
            root = store.find(anchor)
            taken = root in owner or any(store.relation(root, other) is Answer.DIFFERENT for other in roots)
            if not taken:
                owner[root] = at
                yield items[0], anchor
                break


def _spread(items: tuple[int, ...], most: int) -> tuple[int, ...]:
    step = max(1, -(-len(items) // most))
    return items[::step]
