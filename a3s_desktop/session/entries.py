"""What a history is made of: answers, corrections by hand, and checks of a sample; each as the journal holds it."""

from __future__ import annotations

import enum
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any, Self

from a3s_desktop.core.correction import Correction, pair_of, samples_of
from a3s_desktop.core.types import Answer, Question, Reason
from a3s_desktop.errors import InputError, ProjectError
from a3s_desktop.i18n import tr
from a3s_desktop.printable import escaped

_LONGEST_AUTHOR = 200


class CorrectionKind(enum.StrEnum):
    """What an annotator can set right by hand."""

    MERGE = "merge"
    SPLIT = "split"
    MOVE = "move"
    JUNK = "junk"
    RESTORE = "restore"
    NAME = "name"
    FINISH = "finish"
    REOPEN = "reopen"
    REQUEUE = "requeue"
    LABELS = "labels"  # names that came from a file
    PARTS = "parts"  # parts of one photo are different: said of all of them when the project is made
    TAKEN_BACK = "takeback"  # another annotator took back, in a copy, what was said here


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """One answer to a question.

    Attributes
    ----------
    left, right : int
        Item indices, in the order in which they were shown.
    answer : Answer
    reason : Reason
        Why the pair was asked.
    when : float
        POSIX time of the answer in seconds (UTC).
    withdrawn : bool
        It was taken back later, out of order: it has no effect.
    author : str
        Who said it; empty where that is not known.
    given : Answer or None
        What was said first, where it was changed or taken back later.
    foreign : bool
        It came from another project by a merge.
    """

    left: int
    right: int
    answer: Answer
    reason: Reason
    when: float
    withdrawn: bool = False
    author: str = ""
    given: Answer | None = None
    foreign: bool = False

    @classmethod
    def of(cls, question: Question, answer: Answer, when: float, author: str = "") -> Self:
        """The record of ``answer`` given to ``question``."""
        return cls(question.left, question.right, answer, question.reason, when, author=author)

    def payload(self) -> dict[str, Any]:
        """The JSON-able journal payload; the time is the record's own."""
        pair = {"left": self.left, "right": self.right, "answer": self.answer.value, "reason": self.reason.value}
        return pair | by(self.author)

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any], when: float) -> Self:
        """Inverse of `payload`. Raises `ProjectError` for a record that this program cannot have written."""
        try:
            left, right = pair_of((payload["left"], payload["right"]))
            return cls(
                left,
                right,
                Answer(payload["answer"]),
                Reason(payload["reason"]),
                when,
                author=author_of(payload),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ProjectError(tr("The journal holds an answer that cannot be read ({error}).", error=error)) from error

    @property
    def shown(self) -> tuple[int, ...]:
        """The items that it is about."""
        return (self.left, self.right)

    def effect(self) -> str:
        """What it does to the engine, as text: equal texts do the same."""
        return "-" if self.withdrawn else f"{self.left} {self.right} {self.answer.value}"

    def changed(self, answer: Amendment) -> Self:
        """The same with another answer; None: withdrawn."""
        if isinstance(answer, Without):
            answer = None
        given = self.answer if self.given is None else self.given
        if answer is None:
            return replace(self, withdrawn=True, given=given)
        return replace(self, answer=answer, withdrawn=False, given=given)

    def largest_item(self) -> int:
        """The largest item index that is named."""
        return max(self.left, self.right)


@dataclass(frozen=True, slots=True)
class Without:
    """A list of known labels counts on, but for what it says of these items."""

    items: tuple[int, ...]


Amendment = Answer | Without | None
"""How an old entry is changed; None: it is withdrawn."""


@dataclass(frozen=True, slots=True)
class KnownName:
    """A name that came from a file, and the items that it hangs on."""

    name: str
    anchors: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RecordedCorrection:
    """One correction by hand.

    Attributes
    ----------
    what : CorrectionKind
    correction : Correction
        Its constraints and moves; empty for a name.
    shown : tuple of int
        Some of the items that it is about, for pictures.
    count : int
        How many items it is about.
    when : float
    name : str
        The name given; empty: the names in ``replaces`` are taken away.
    anchors : tuple of int
        Items that the name hangs on.
    replaces : tuple of str
        Keys (`names.name_key`) of the names that this one takes the place of.
    withdrawn : bool
    known : tuple of KnownName
        Names that came from a file.
    author : str
    foreign : bool
        It came from another project by a merge.
    held : bool
        It disagrees with what holds here and has no effect: a person decides.
    about : int
        Number of the entry that was taken back, for `CorrectionKind.TAKEN_BACK`; else 0.
    """

    what: CorrectionKind
    correction: Correction
    shown: tuple[int, ...]
    count: int
    when: float
    name: str = ""
    anchors: tuple[int, ...] = ()
    replaces: tuple[str, ...] = ()
    withdrawn: bool = False
    known: tuple[KnownName, ...] = ()
    author: str = ""
    foreign: bool = False
    held: bool = False
    about: int = 0

    def payload(self) -> dict[str, Any]:
        """The JSON-able journal payload."""
        found: dict[str, Any] = {"what": self.what.value, "shown": list(self.shown), "count": self.count}
        if self.what is CorrectionKind.NAME:
            found |= {"name": self.name, "anchors": list(self.anchors), "replaces": list(self.replaces)}
        if self.known:
            found["known"] = [[one.name, list(one.anchors)] for one in self.known]
        if self.held:
            found["held"] = True
        if self.about:
            found["about"] = self.about
        return found | self.correction.to_json() | by(self.author)

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any], when: float) -> Self:
        """Inverse of `payload`. Raises `ProjectError` for a record that this program cannot have written."""
        try:
            return cls(
                CorrectionKind(payload["what"]),
                Correction.from_json(payload),
                samples_of(payload["shown"]),
                samples_of((payload["count"],))[0],
                when,
                str(payload.get("name", "")),
                samples_of(payload.get("anchors", ())),
                tuple(str(key) for key in payload.get("replaces", ())),
                known=tuple(KnownName(str(name), samples_of(anchors)) for name, anchors in payload.get("known", ())),
                author=author_of(payload),
                held=bool(payload.get("held", False)),
                about=samples_of((payload.get("about", 0),))[0],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ProjectError(
                tr("The journal holds a correction that cannot be read ({error}).", error=error)
            ) from error

    def effect(self) -> str:
        """What it does to the engine, as text; a name does nothing."""
        if self.withdrawn or self.what is CorrectionKind.NAME:
            return "-"
        return json.dumps(self.correction.to_json(), sort_keys=True)

    def changed(self, answer: Amendment) -> Self:
        """Withdrawn, or known labels without some images. Raises `InputError` for an answer: a correction has none."""
        if isinstance(answer, Without):
            return self._without(frozenset(answer.items))
        if answer is not None:
            raise InputError(tr("A correction can only be taken back, not answered differently."))
        return replace(self, withdrawn=True)

    def _without(self, items: frozenset[int]) -> Self:
        correction = self.correction.without(items)
        if not correction.samples():
            return replace(self, withdrawn=True)
        group_of = {item: group for group in self.correction.identities for item in group}
        known = []
        for one in self.known:
            rest = tuple(item for item in one.anchors if item not in items)
            group = group_of.get(one.anchors[0], ()) if one.anchors else ()
            anchors = rest or tuple(item for item in group if item not in items)[:1]
            if anchors:
                known.append(KnownName(one.name, anchors))
        gone = len(items & (group_of.keys() | set(self.correction.junk)))
        shown = tuple(item for item in self.shown if item not in items)
        return replace(self, correction=correction, known=tuple(known), count=self.count - gone, shown=shown)

    def largest_item(self) -> int:
        """The largest item index that is named."""
        named = (item for one in self.known for item in one.anchors)
        return max((*self.correction.samples(), *self.shown, *self.anchors, *named), default=-1)


@dataclass(frozen=True, slots=True)
class RecordedAudit:
    """What was said of a pair of a random sample. It changes nothing: it measures.

    Attributes
    ----------
    left, right : int
        Items of one cluster.
    answer : Answer
        SAME, DIFFERENT, or SKIP where the annotator could not tell.
    when : float
    withdrawn : bool
    author : str
    """

    left: int
    right: int
    answer: Answer
    when: float
    withdrawn: bool = False
    author: str = ""

    def payload(self) -> dict[str, Any]:
        """The JSON-able journal payload."""
        return {"left": self.left, "right": self.right, "answer": self.answer.value} | by(self.author)

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any], when: float) -> Self:
        """Inverse of `payload`. Raises `ProjectError` for a record that this program cannot have written."""
        try:
            pair = pair_of((payload["left"], payload["right"]))
            return cls(*pair, Answer(payload["answer"]), when, author=author_of(payload))
        except (KeyError, TypeError, ValueError) as error:
            raise ProjectError(tr("The journal holds a check that cannot be read ({error}).", error=error)) from error

    @property
    def shown(self) -> tuple[int, ...]:
        """The items that it is about."""
        return (self.left, self.right)

    def effect(self) -> str:
        """Nothing."""
        return "-"

    def changed(self, answer: Amendment) -> Self:
        """The same with another answer; None: withdrawn."""
        if isinstance(answer, Without):
            answer = None
        return replace(self, withdrawn=True) if answer is None else replace(self, answer=answer, withdrawn=False)

    def largest_item(self) -> int:
        """The largest item index that is named."""
        return max(self.left, self.right)


Entry = RecordedAnswer | RecordedCorrection | RecordedAudit


def by(author: str) -> dict[str, str]:
    """An author as part of a journal payload; nothing for none."""
    return {"by": author} if author else {}


def author_of(payload: Mapping[str, Any]) -> str:
    """Inverse of `by`. Raises `TypeError` for what this program cannot have written."""
    author = payload.get("by", "")
    if not isinstance(author, str):
        raise TypeError("an author that is no text")
    return escaped(author)[:_LONGEST_AUTHOR]  # of another person's copy, or by hand


def links_among(entry: Entry, wanted: Collection[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """Those of the ``wanted`` (smaller item, larger item, "same" or "different") that an entry says."""
    if isinstance(entry, RecordedAudit):
        return
    if isinstance(entry, RecordedAnswer):
        pairs = [(entry.left, entry.right, entry.answer.value)]
    else:
        correction = entry.correction
        same = chain(correction.together, *map(pairwise, correction.identities))
        pairs = [(left, right, Answer.SAME.value) for left, right in same]
        pairs += [(left, right, Answer.DIFFERENT.value) for left, right in correction.apart]
        group_of = {item: at for at, group in enumerate(correction.identities) for item in group}
        for left, right, said in wanted if group_of else ():  # the pairs of known identities are too many to list
            a, b = group_of.get(left, -1), group_of.get(right, -1)
            if said == Answer.DIFFERENT.value and a != b and -1 not in (a, b):
                pairs.append((left, right, said))
    for left, right, said in pairs:
        key = (min(left, right), max(left, right), said)
        if key in wanted:
            yield key
