"""Look at the values of features, so that the first offending row is named before anything runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from a3s_desktop.core.neighbors import UNIT_NORM_TOLERANCE
from a3s_desktop.errors import InputError
from a3s_desktop.i18n import number, tr
from a3s_desktop.storage import files
from a3s_desktop.storage.feature_file import FeatureFile
from a3s_desktop.task import Task

_BLOCK_VALUES = 1 << 20  # values looked at at a time


@dataclass(frozen=True, slots=True)
class FeatureCheck:
    """What the values of a file are like.

    Attributes
    ----------
    problems : tuple of InputError
        Each kind of problem with its first offending row: NaN or infinity, rows too large for single precision, rows of
        zeros, all rows equal.
    constant : int
        Columns that are the same in every row.
    unit_norm : bool
        Whether every row has length 1.
    """

    problems: tuple[InputError, ...]
    constant: int
    unit_norm: bool


def feature_problems(file: FeatureFile, task: Task | None = None) -> tuple[InputError, ...]:
    """Everything that is wrong with the values of a file; see `FeatureCheck`."""
    return examine(file, task).problems


def examine(file: FeatureFile, task: Task | None = None) -> FeatureCheck:
    """Look at all values of a file once, as float32, in blocks."""
    task = task or Task()
    rows, columns = file.values.shape
    step = max(1, _BLOCK_VALUES // columns)
    bad: list[int] = []
    zero: list[int] = []
    unit = True
    with np.errstate(all="ignore"):
        first = np.asarray(file.values[0], np.float32)
        constant = np.ones(columns, bool)
        for start in range(0, rows, step):
            task.step(start / rows)
            block = np.ascontiguousarray(file.values[start : start + step], np.float32)
            squares = np.einsum("ij,ij->i", block, block)
            if constant.any():
                same = np.flatnonzero(constant)
                constant[same] = (block[:, same] == first[same]).all(axis=0)
            unit = unit and bool((np.abs(np.sqrt(squares) - 1.0) <= UNIT_NORM_TOLERANCE).all())
            bad += (np.flatnonzero(~np.isfinite(squares)) + start).tolist()
            zero += (np.flatnonzero(squares == 0) + start).tolist()
    problems = [_bad_row(file, bad)] if bad else []
    if zero:
        problems.append(
            InputError(
                tr(
                    "{path}, {row} holds only zeros{more}.",
                    path=files.show(file.path),
                    row=file.row(zero[0]),
                    more=_more(zero),
                ),
                tr("Compute the features of that image again, or leave the image out."),
            )
        )
    if constant.all() and not bad and len(zero) < rows and rows > 2:  # two images that come later may be alike
        problems.append(
            InputError(
                tr(
                    "{path}: all {rows} rows are equal, so nothing can be told apart.",
                    path=files.show(file.path),
                    rows=number(rows),
                ),
                tr("Check how the features were computed."),
            )
        )
    return FeatureCheck(tuple(problems), int(constant.sum()), unit)


def _bad_row(file: FeatureFile, bad: list[int]) -> InputError:
    row = bad[0]
    values = np.asarray(file.values[row])
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        at = int(wrong[0])
        return InputError(
            tr(
                "{path}, {row}, column {at} is {what}{more}.",
                path=files.show(file.path),
                row=file.row(row),
                at=at,
                what=_word(float(values[at])),
                more=_more(bad),
            ),
            tr("Compute the features of that image again, or leave the image out."),
        )
    at = int(np.argmax(np.abs(values.astype(np.float64))))
    return InputError(
        tr(
            "{path}, {row}, column {at} is too large ({float}){more}.",
            path=files.show(file.path),
            row=file.row(row),
            at=at,
            float=format(float(values[at]), ".3g"),
            more=_more(bad),
        ),
        tr("Scale the features to ordinary size, or compute them again."),
    )


def _word(value: float) -> str:
    return tr("not a number (NaN)") if value != value else tr("infinite")


def _more(rows: list[int]) -> str:
    return tr(" ({count} rows in all)", count=number(len(rows))) if len(rows) > 1 else ""


def check_features(file: FeatureFile, task: Task | None = None) -> None:
    """Raise one `InputError` that names all problems of `feature_problems`, if there are any."""
    problems = feature_problems(file, task)
    if problems:
        raise joined(problems)


def joined(problems: Iterable[InputError]) -> InputError:
    """Several problems as one error, the hint being the first one's."""
    listed = list(problems)
    if len(listed) == 1:
        return listed[0]
    return InputError(" ".join(problem.message for problem in listed), listed[0].hint)
