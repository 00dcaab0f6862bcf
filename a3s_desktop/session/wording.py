"""Why a pair is asked, in plain words."""

from __future__ import annotations

from a3s_desktop.core.types import Question, Reason


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


def _images(count: int) -> str:
    return "1 image" if count == 1 else f"{count} images"
