"""What is said of an entry of the history: a title, a line below, a sign, and a sentence for screen readers."""

from __future__ import annotations

import datetime
from typing import Protocol

from a3s_desktop.core.types import Answer
from a3s_desktop.i18n import mark, number, percent, tr, trc, trn
from a3s_desktop.session.listing import DOUBTFUL
from a3s_desktop.session.state import EntryKind, HistoryEntry
from a3s_desktop.ui.theme_tokens import Tokens

_SIGNS = {
    Answer.SAME: "same",
    Answer.DIFFERENT: "different",
    Answer.SKIP: "skip",
    Answer.INCOMPARABLE: "incomparable",
    Answer.JUNK_LEFT: "junk-left",
    Answer.JUNK_RIGHT: "junk-right",
    Answer.JUNK_BOTH: "junk-both",
}
_CORRECTIONS = {
    "merge": "link",
    "split": "split-off",
    "move": "move-to",
    "junk": "trash",
    "restore": "undo",
    "name": "text",
    "finish": "check-circle",
    "reopen": "original",
    "requeue": "requeue",
    "parts": "different",
    "takeback": "undo",
}
ANSWER_TEXTS = {
    Answer.SAME: mark("Same"),
    Answer.DIFFERENT: mark("Different"),
    Answer.SKIP: mark("Skip"),
    Answer.INCOMPARABLE: mark("Not comparable"),
    Answer.JUNK_LEFT: mark("Junk left"),
    Answer.JUNK_RIGHT: mark("Junk right"),
    Answer.JUNK_BOTH: mark("Junk both"),
}


class NamedItems(Protocol):
    """What is asked of the project's items."""

    def name(self, item: int) -> str:
        """File name to show."""


def sign(entry: HistoryEntry) -> str:
    """Name of the icon of an entry."""
    if entry.kind is EntryKind.CORRECTION or entry.answer is None:
        return _CORRECTIONS.get(entry.what, "original")
    return _SIGNS[entry.answer]


def colour(entry: HistoryEntry, t: Tokens) -> str:
    """Colour of an entry's sign."""
    if entry.withdrawn:
        return t.disabled
    if entry.kind is not EntryKind.ANSWER:
        return t.accent
    return {Answer.SAME: t.same, Answer.DIFFERENT: t.different}.get(entry.answer or Answer.SKIP, t.skip)


def is_doubtful(entry: HistoryEntry) -> bool:
    """Whether an answer is more likely wrong than right by the images alone."""
    return entry.doubt >= DOUBTFUL


def remark(entry: HistoryEntry) -> str:
    """What is remarkable about an entry, or ""."""
    if entry.withdrawn:
        return tr("Taken back")
    if entry.conflict:
        return tr("Without effect")
    if entry.held:
        return tr("Undecided")
    if is_doubtful(entry):
        return trc("of an answer in the history", "Doubtful")
    return ""


def detail_text(entry: HistoryEntry) -> str:
    """Number and time of an entry, and who entered it where that was somebody else."""
    if entry.author:
        values = {"number": number(entry.number), "time": when_text(entry.when), "author": entry.author}
        return tr("No. {number}  ·  {time}  ·  {author}", **values)
    return tr("No. {number}  ·  {time}", number=number(entry.number), time=when_text(entry.when))


def doubt_text(entry: HistoryEntry) -> str:
    """How an answer stands to the images, in a sentence; "" where there is nothing to say."""
    if entry.withdrawn:
        return tr("This was taken back and has no effect.")
    if entry.conflict:
        return tr("This contradicts earlier entries and has no effect now.")
    if entry.held:
        return tr("This is another annotator's, and undecided: it has no effect now.")
    if entry.kind is not EntryKind.ANSWER:
        return ""
    share = percent(entry.doubt)
    if entry.answer is Answer.SAME:
        return tr("Judged by the images alone they are different, with a probability of {share}.", share=share)
    if entry.answer is Answer.DIFFERENT:
        return tr("Judged by the images alone they are the same, with a probability of {share}.", share=share)
    return ""


def spoken_text(entry: HistoryEntry, items: NamedItems | None) -> str:
    """All that is seen of an entry, for screen readers."""
    numbered = tr("Number {number}", number=number(entry.number))
    parts = [entry.text, numbered, when_text(entry.when), entry.author, remark(entry)]
    if items is not None:
        parts += [items.name(item) for item in entry.items[:2]]
    return ", ".join(part for part in parts if part)


def effect_text(conflicts: int) -> str:
    """What a change did to later answers."""
    if not conflicts:
        return tr("Changed. All later answers still count.")
    return trn(
        "{n} later answer contradicts this and is without effect now.",
        "{n} later answers contradict this and are without effect now.",
        conflicts,
    )


def later_text(later: int, same: int) -> str:
    """What depends on an entry."""
    if not later:
        return tr("It is the newest entry: nothing else depends on it.")
    if not same:
        return trn("{n} later entry is about other clusters.", "{n} later entries are all about other clusters.", later)
    return tr(
        "{later} Of these, {same}.",
        later=trn("{n} later entry is gone through again.", "{n} later entries are gone through again.", later),
        same=trn("{n} is about the same clusters", "{n} are about the same clusters", same),
    )


def when_text(when: float) -> str:
    """A POSIX time as local time of day, with the date where it is not today."""
    moment = datetime.datetime.fromtimestamp(when).astimezone()
    today = datetime.datetime.now().astimezone().date()
    return moment.strftime("%H:%M" if moment.date() == today else trc("date and time", "%Y-%m-%d %H:%M"))
