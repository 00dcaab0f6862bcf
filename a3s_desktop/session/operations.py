"""What an annotator can set right by hand, each as a value that says it in terms of what is on the screen.

`Operation.record` turns it into constraints between images, which stay true however the clusters change later.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from a3s_desktop.core.correction import Correction, Pairs
from a3s_desktop.core.engine import Engine
from a3s_desktop.errors import InputError, KnownApartError, NameTakenError
from a3s_desktop.i18n import tr
from a3s_desktop.session.entries import CorrectionKind, RecordedCorrection
from a3s_desktop.session.names import MOST_ANCHORS, Names, clean_name, name_key

_SHOWN = 12  # pictures kept with a record
_MOST_PAIRS = 20_000  # cannot-links of one correction; beyond, the rest of a cluster is stood for by one image


class Operation(Protocol):
    """A correction that can be performed."""

    def record(self, engine: Engine, names: Names, when: float) -> RecordedCorrection:
        """The constraints that it amounts to now. Raises `InputError` where there is nothing to do."""
        ...


@dataclass(frozen=True, slots=True)
class Merge:
    """Two clusters are one identity.

    Attributes
    ----------
    first, second : int
    sure : bool
        Also where a list that was taken over has them as two.
    """

    first: int
    second: int
    sure: bool = False

    def record(self, engine: Engine, names: Names, when: float) -> RecordedCorrection:
        """One must-link between the two; where members are known to differ, between those.

        Raises `KnownApartError` where they are known identities and ``sure`` is off.
        """
        if self.first == self.second:
            raise InputError(tr("A cluster cannot be merged with itself."), tr("Choose two different clusters."))
        for cluster in (self.first, self.second):
            _members(engine, cluster)
        apart = _held_apart(engine, self.first, self.second)
        unified = apart is not None and all(engine.store.is_identity(item) for item in apart)
        if unified and not self.sure:
            named = names.of_clusters(engine.labels, engine.junk.values)
            raise KnownApartError(named.get(self.first, ""), named.get(self.second, ""))
        pair = apart or (_face(engine, self.first), _face(engine, self.second))
        count = engine.partition.size(self.first) + engine.partition.size(self.second)
        correction = Correction(together=(pair,), unified=(pair,) if unified else ())
        return RecordedCorrection(CorrectionKind.MERGE, correction, pair, count, when)


@dataclass(frozen=True, slots=True)
class SplitOff:
    """Some images do not belong to their clusters.

    Attributes
    ----------
    items : tuple of int
    each : bool
        Every one becomes a cluster of its own; otherwise they are one new cluster, of one identity.
    """

    items: tuple[int, ...]
    each: bool = False

    def record(self, engine: Engine, names: Names, when: float) -> RecordedCorrection:  # noqa: ARG002
        """Cannot-links to what stays behind, must-links between those that leave together."""
        items = _chosen(engine, self.items)
        behind = _behind(engine, items)
        if not behind and (len(np.unique(engine.labels[list(items)])) == 1) and not (self.each and len(items) > 1):
            raise InputError(
                tr("All images of this cluster are selected: nothing would stay behind."),
                tr("Select only the images that do not belong to it."),
            )
        if self.each:
            groups: tuple[tuple[int, ...], ...] = tuple((item,) for item in items)
            together: Pairs = ()
            apart = _each_apart(items, behind)
        else:
            groups, together = (items,), tuple(itertools.pairwise(items))
            apart = tuple((items[0], other) for other in behind)
        correction = Correction(leave=groups, together=together, apart=apart)
        return RecordedCorrection(CorrectionKind.SPLIT, correction, items[:_SHOWN], len(items), when)


@dataclass(frozen=True, slots=True)
class Move:
    """Some images belong to another cluster."""

    items: tuple[int, ...]
    cluster: int

    def record(self, engine: Engine, names: Names, when: float) -> RecordedCorrection:  # noqa: ARG002
        """Must-links to the cluster, cannot-links to what stays behind; junk comes back by it."""
        there = set(_members(engine, self.cluster).tolist())
        items = tuple(dict.fromkeys(item for item in self.items if item not in there))
        if not items:
            raise InputError(tr("These images are in that cluster already."), tr("Choose another cluster."))
        junk = tuple(item for item in items if engine.junk[item])
        behind = _behind(engine, tuple(item for item in items if not engine.junk[item]))
        links = (*itertools.pairwise(items), (items[0], _face(engine, self.cluster)))
        done = engine.finished.values[sorted(there)].all()
        correction = Correction(
            leave=(items,),
            together=links,
            apart=tuple((items[0], other) for other in behind),
            restore=junk,
            finish=items if done else (),
        )
        return RecordedCorrection(CorrectionKind.MOVE, correction, items[:_SHOWN], len(items), when)


@dataclass(frozen=True, slots=True)
class Junk:
    """Some images are of no use: they leave the clustering."""

    items: tuple[int, ...]

    def record(self, engine: Engine, names: Names, when: float) -> RecordedCorrection:  # noqa: ARG002
        """The images that are not junk yet."""
        items = _chosen(engine, self.items)
        return RecordedCorrection(CorrectionKind.JUNK, Correction(junk=items), items[:_SHOWN], len(items), when)


@dataclass(frozen=True, slots=True)
class Restore:
    """Some images are no junk after all."""

    items: tuple[int, ...]

    def record(self, engine: Engine, names: Names, when: float) -> RecordedCorrection:  # noqa: ARG002
        """The images that are junk now."""
        items = tuple(dict.fromkeys(item for item in self.items if engine.junk[item]))
        if not items:
            raise InputError(tr("None of these images is junk."), tr("Select images of the junk group."))
        return RecordedCorrection(CorrectionKind.RESTORE, Correction(restore=items), items[:_SHOWN], len(items), when)


@dataclass(frozen=True, slots=True)
class Rename:
    """A cluster gets a name, or loses it (an empty one)."""

    cluster: int
    name: str

    def record(self, engine: Engine, names: Names, when: float) -> RecordedCorrection:
        """The name, hung on the cluster's confirmed images. Raises `NameTakenError` where another cluster has it."""
        members = _members(engine, self.cluster)
        name = clean_name(self.name)
        labels, junk = engine.labels, engine.junk.values
        old = names.in_cluster(self.cluster, labels, junk)
        if not name and not old:
            raise InputError(tr("A name must have at least one letter."), tr("Type a name."))
        taken = names.of_clusters(labels, junk).items()
        holder = next((cluster for cluster, other in taken if name_key(other) == name_key(name)), None)
        if name and holder is not None and holder != self.cluster:
            raise NameTakenError(dict(taken)[holder], holder, len(engine.partition.members(holder)))
        anchors = tuple(engine.representatives(self.cluster, (), MOST_ANCHORS)) if name else ()
        return RecordedCorrection(
            CorrectionKind.NAME, Correction(), tuple(members[:1].tolist()), len(members), when, name, anchors, old
        )


@dataclass(frozen=True, slots=True)
class Finish:
    """Nothing more is to be asked about a cluster, and nothing but the annotator changes it."""

    cluster: int

    def record(self, engine: Engine, names: Names, when: float) -> RecordedCorrection:  # noqa: ARG002
        """Its images, marked."""
        items = tuple(_members(engine, self.cluster).tolist())
        return RecordedCorrection(CorrectionKind.FINISH, Correction(finish=items), items[:_SHOWN], len(items), when)


@dataclass(frozen=True, slots=True)
class Reopen:
    """Questions about a cluster may be asked again."""

    cluster: int

    def record(self, engine: Engine, names: Names, when: float) -> RecordedCorrection:  # noqa: ARG002
        """Its images, no longer marked."""
        items = tuple(_members(engine, self.cluster).tolist())
        return RecordedCorrection(CorrectionKind.REOPEN, Correction(reopen=items), items[:_SHOWN], len(items), when)


@dataclass(frozen=True, slots=True)
class Requeue:
    """Skipped pairs may be asked again."""

    def record(self, engine: Engine, names: Names, when: float) -> RecordedCorrection:  # noqa: ARG002
        """Raises `InputError` where none was skipped."""
        count = sum(not for_good for *_, for_good in engine.store.skipped())
        if not count:
            raise InputError(tr("No pair was skipped."), tr("There is nothing to ask again."))
        return RecordedCorrection(CorrectionKind.REQUEUE, Correction(requeue=True), (), count, when)


@dataclass(frozen=True, slots=True)
class PartsDiffer:
    """Parts of one photo show two individuals: pairs of images as `storage.parts.same_photo_pairs` gives them."""

    pairs: Pairs

    def record(self, engine: Engine, names: Names, when: float) -> RecordedCorrection:  # noqa: ARG002
        """Cannot-links between the parts of each photo."""
        return parts_differ(self.pairs, when)


def parts_differ(pairs: Sequence[tuple[int, int]], when: float) -> RecordedCorrection:
    """The entry that keeps pairs of parts apart; ``count`` is the number of pairs. Raises `InputError` for none."""
    if not pairs:
        raise InputError(
            tr("No photo has two parts that are apart."), tr("Parts that cover each other may be of one individual.")
        )
    apart = tuple((int(left), int(right)) for left, right in pairs)
    shown = tuple(dict.fromkeys(itertools.chain.from_iterable(apart[:_SHOWN])))[:_SHOWN]
    return RecordedCorrection(CorrectionKind.PARTS, Correction(apart=apart), shown, len(apart), when)


# --- helpers


def _members(engine: Engine, cluster: int) -> np.ndarray:
    members = engine.partition.members(cluster)
    if not len(members):
        raise InputError(
            tr("This cluster is no longer there."), tr("It was merged or divided meanwhile; choose another.")
        )
    return members


def _chosen(engine: Engine, items: Sequence[int]) -> tuple[int, ...]:
    """The items that are not junk, each once, ascending."""
    chosen = tuple(sorted({item for item in items if not engine.junk[item]}))
    if not chosen:
        raise InputError(tr("No image is selected."), tr("Select one or more images first."))
    return chosen


def _face(engine: Engine, cluster: int) -> int:
    return engine.representatives(cluster, (), 1)[0]


def _behind(engine: Engine, items: tuple[int, ...]) -> tuple[int, ...]:
    """One image of every must-link component that stays in the clusters which ``items`` leave."""
    leaving = set(items)
    behind: dict[int, int] = {}
    for cluster in np.unique(engine.labels[list(items)]).tolist() if items else ():
        for member in engine.partition.members(cluster).tolist():
            if member not in leaving:
                behind.setdefault(engine.store.find(member), member)
    return tuple(behind.values())


def _each_apart(items: tuple[int, ...], behind: tuple[int, ...]) -> Pairs:
    """Cannot-links of every item to what stays behind, and to the item before it."""
    others = behind if len(items) * len(behind) <= _MOST_PAIRS else behind[:1]
    return (*itertools.product(items, others), *itertools.pairwise(items))


def _held_apart(engine: Engine, a: int, b: int) -> tuple[int, int] | None:
    """A pair of images, one of each cluster, that are known to differ; None where there is none."""
    store, labels = engine.store, engine.labels
    if engine.partition.size(a) > engine.partition.size(b):
        a, b = b, a

    def shown(root: int) -> int:
        """A sample that is in the clustering, where the root itself is junk."""
        return next((i for i in store.component(root) if not engine.junk[i]), root)

    for root in sorted(store.roots(engine.partition.members(a).tolist())):
        others = store.separated_from(root)  # of one component there may be a hundred thousand
        likely = others[(labels[others] == b) | engine.junk.values[others]]
        other = next((i for i in map(shown, likely.tolist()) if labels[i] == b), None)
        if other is not None:
            return shown(root), other
    return None
