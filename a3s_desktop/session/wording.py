"""Why a pair is asked, and what was done, in plain words."""

from __future__ import annotations

from a3s_desktop.core.types import Answer, Question, Reason
from a3s_desktop.session.entries import CorrectionKind, Entry, RecordedAudit, RecordedCorrection
from a3s_desktop.session.history import Operation

CHANGED = "Change of an answer"


def question_text(question: Question, left_size: int, right_size: int) -> str:
    """One or two sentences that say why ``question`` is asked.

    Parameters
    ----------
    question : Question
    left_size, right_size : int
        Images in the clusters of the two samples.
    """
    left, right = question.left_cluster, question.right_cluster
    inside = left == right
    if question.reason is Reason.PURITY and inside:
        return f"Are the {_images(left_size)} of cluster {left} all the same? These two stand far apart in it."
    if question.reason is Reason.SPLIT:
        return "A mixed cluster is being sorted: do these two images belong together?"
    if question.reason is Reason.MEMBER and inside:
        return f"Does this doubtful image belong to cluster {left} ({_images(left_size)})?"
    if inside:
        return f"Do these two images of cluster {left} ({_images(left_size)}) belong together?"
    if left_size == 1 and right_size == 1:
        return "Are these two single images the same?"
    if left_size == 1 or right_size == 1:
        cluster, size = (right, right_size) if left_size == 1 else (left, left_size)
        return f"Does this single image belong to cluster {cluster} ({_images(size)})?"
    return f"Are cluster {left} ({_images(left_size)}) and cluster {right} ({_images(right_size)}) the same?"


def answer_text(answer: Answer) -> str:
    """An answer, as the history and the undo entry of the menu name it."""
    return {
        Answer.SAME: "Same",
        Answer.DIFFERENT: "Different",
        Answer.SKIP: "Skip",
        Answer.INCOMPARABLE: "Not comparable",
        Answer.JUNK_LEFT: "Junk left",
        Answer.JUNK_RIGHT: "Junk right",
        Answer.JUNK_BOTH: "Junk both",
    }[answer]


def entry_text(entry: Entry) -> str:
    """What an entry of the history did."""
    if isinstance(entry, RecordedAudit):
        return f"Sample check: {answer_text(entry.answer).lower()}"
    if isinstance(entry, RecordedCorrection):
        return _correction_text(entry)
    return answer_text(entry.answer)


def operation_text(operation: Operation) -> str:
    """What undo would take back, or redo bring back."""
    return CHANGED if operation.entry is None else entry_text(operation.entry)


def _correction_text(entry: RecordedCorrection) -> str:
    images = _images(entry.count)
    if entry.what is CorrectionKind.NAME:
        return f"Name: {entry.name}" if entry.name else "Remove name"
    if entry.what is CorrectionKind.REQUEUE:
        return f"Ask {'1 skipped pair' if entry.count == 1 else f'{entry.count} skipped pairs'} again"
    return {
        CorrectionKind.MERGE: "Merge clusters",
        CorrectionKind.SPLIT: f"Split off {images}",
        CorrectionKind.MOVE: f"Move {images}",
        CorrectionKind.JUNK: f"Junk {images}",
        CorrectionKind.RESTORE: f"Restore {images}",
        CorrectionKind.FINISH: f"Finish cluster of {images}",
        CorrectionKind.REOPEN: f"Reopen cluster of {images}",
    }[entry.what]


def _images(count: int) -> str:
    return "1 image" if count == 1 else f"{count} images"
