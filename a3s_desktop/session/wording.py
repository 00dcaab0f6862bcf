"""Why a pair is asked, and what was done, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from a3s_desktop.core.types import Answer, Question, Reason
from a3s_desktop.i18n import mark, markn, tr, trn
from a3s_desktop.session.entries import CorrectionKind, Entry, RecordedAudit, RecordedCorrection
from a3s_desktop.session.history import Operation

_LONG_NAME = 40  # characters of a name within a sentence

CHANGED = mark("Change of an answer")


def question_text(
    question: Question, left_size: int, right_size: int, names: Mapping[int, str] = MappingProxyType({})
) -> str:
    """One or two sentences that say why ``question`` is asked.

    Parameters
    ----------
    question : Question
    left_size, right_size : int
        Images in the clusters of the two samples.
    names : mapping of int to str
        Cluster id -> name, of the clusters that have one.
    """
    left, right = question.left_cluster, question.right_cluster
    inside = left == right
    who = _who(left, left_size, names)
    if question.reason is Reason.PURITY and inside:
        return _purity_text(left, left_size, names)
    if question.reason is Reason.SPLIT:
        return tr("A mixed cluster is being sorted: do these two images belong together?")
    if question.reason is Reason.MEMBER and inside:
        return tr("Does this doubtful image belong to {cluster}?", cluster=who)
    if inside:
        return tr("Do these two images of {cluster} belong together?", cluster=who)
    if left_size == 1 and right_size == 1:
        return tr("Are these two single images the same?")
    if left_size == 1 or right_size == 1:
        cluster, size = (right, right_size) if left_size == 1 else (left, left_size)
        return tr("Does this single image belong to {cluster}?", cluster=_who(cluster, size, names))
    return tr("Are {cluster} and {other} the same?", cluster=who, other=_who(right, right_size, names))


def _purity_text(cluster: int, size: int, names: Mapping[int, str]) -> str:
    if cluster not in names:
        return tr(
            "Are the {images} of cluster {cluster} all the same? These two stand far apart in it.",
            images=_images(size),
            cluster=cluster,
        )
    return tr(
        "Are the {images} of {name} all the same? These two stand far apart among them.",
        images=_images(size),
        name=_short(names[cluster]),
    )


def _who(cluster: int, size: int, names: Mapping[int, str]) -> str:
    if cluster in names:
        return tr("{name} ({images})", name=_short(names[cluster]), images=_images(size))
    return tr("cluster {cluster} ({images})", cluster=cluster, images=_images(size))


def _short(name: str) -> str:
    return name if len(name) <= _LONG_NAME else f"{name[: _LONG_NAME - 1].rstrip()}…"


_ANSWERS = {
    Answer.SAME: mark("Same"),
    Answer.DIFFERENT: mark("Different"),
    Answer.SKIP: mark("Skip"),
    Answer.INCOMPARABLE: mark("Not comparable"),
    Answer.JUNK_LEFT: mark("Junk left"),
    Answer.JUNK_RIGHT: mark("Junk right"),
    Answer.JUNK_BOTH: mark("Junk both"),
}


def answer_text(answer: Answer) -> str:
    """An answer, as the history and the undo entry of the menu name it."""
    return tr(_ANSWERS[answer])


def entry_text(entry: Entry) -> str:
    """What an entry of the history did."""
    if isinstance(entry, RecordedAudit):
        if not entry.answer.is_constraint:
            return tr("Sample check: cannot tell")
        return tr("Sample check: {answer}", answer=answer_text(entry.answer))
    if isinstance(entry, RecordedCorrection):
        return _correction_text(entry)
    return answer_text(entry.answer)


def operation_text(operation: Operation) -> str:
    """What undo would take back, or redo bring back."""
    if operation.merge is not None:
        return tr("Merge of {name}", name=_short(operation.merge.name))
    return tr(CHANGED) if operation.entry is None else entry_text(operation.entry)


_CORRECTIONS = {
    CorrectionKind.SPLIT: markn("Split off {n} image", "Split off {n} images"),
    CorrectionKind.MOVE: markn("Move {n} image", "Move {n} images"),
    CorrectionKind.JUNK: markn("Junk {n} image", "Junk {n} images"),
    CorrectionKind.RESTORE: markn("Restore {n} image", "Restore {n} images"),
    CorrectionKind.FINISH: markn("Finish cluster of {n} image", "Finish cluster of {n} images"),
    CorrectionKind.REOPEN: markn("Reopen cluster of {n} image", "Reopen cluster of {n} images"),
    CorrectionKind.REQUEUE: markn("Ask {n} skipped pair again", "Ask {n} skipped pairs again"),
    CorrectionKind.LABELS: markn("Known names of {n} image", "Known names of {n} images"),
    CorrectionKind.PARTS: markn(
        "Parts of one photo are different: {n} pair", "Parts of one photo are different: {n} pairs"
    ),
}


def _correction_text(entry: RecordedCorrection) -> str:
    if entry.what is CorrectionKind.NAME:
        return tr("Name: {name}", name=entry.name) if entry.name else tr("Remove name")
    if entry.what is CorrectionKind.TAKEN_BACK:
        return tr("Taken back in the copy")
    if entry.what is CorrectionKind.MERGE:
        return tr("Merge clusters")
    return trn(*_CORRECTIONS[entry.what], entry.count)


def _images(count: int) -> str:
    return trn("{n} image", "{n} images", count)
