"""The engine is pulled: it holds one question; ``record`` takes the answer and runs to the next question.

Undo re-runs: a `Mark` is the undo log's token at the boundary of the strategy's current step, and the answers given
within the step. To restore it, the log is rewound to the boundary and the step is run again with the same answers; it
stops at the very question that was marked. Steps are deterministic functions of the state, so nothing else is needed.
"""

from __future__ import annotations

import hashlib
import json
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.constraints import ConstraintStore
from a3s_desktop.core.context import Context, Keeper, Step, Strategy
from a3s_desktop.core.correcting import Corrector
from a3s_desktop.core.correction import Correction
from a3s_desktop.core.members import likeness, representatives
from a3s_desktop.core.outlook import Forecaster, Outlook
from a3s_desktop.core.partition import Partition
from a3s_desktop.core.saved import check_saved, tables_of
from a3s_desktop.core.strategies import make_strategy
from a3s_desktop.core.types import Answer, InitialState, IntArray, Question, StrategyOptions
from a3s_desktop.core.undo import LoggedFlags
from a3s_desktop.errors import ContradictionError
from a3s_desktop.i18n import tr, trn
from a3s_desktop.task import Task

Seen = TypeVar("Seen")

_TAKEN, _CHANGED = 0.25, 0.6  # shares of a correction until its constraints are taken, and its samples moved
_TOLD = 1_024  # constraints after which progress is told

_FACTS = "facts."  # how the names of arrays begin that are derived from the others


@dataclass(frozen=True, slots=True)
class Mark:
    """A place to come back to: the step's boundary in the undo log, and the answers given within the step since.

    ``settled`` is False where no step had begun; see `Engine.settle`.
    """

    boundary: int
    answers: tuple[Answer, ...]
    settled: bool = True


class Engine:
    """Active clustering of one data set by one strategy.

    Parameters
    ----------
    initial : InitialState
        Result of stage one.
    views : sequence of arrays, each (N, D_v)
        The features, rows as in ``initial``; may be memory-mapped.
    options : StrategyOptions
    saved : (arrays, meta), optional
        A state that `dump` gave for the same data and options; default: nothing was answered yet.
    tell : callable, optional
        Hears which share is done, for much may have to be derived from large data; it may raise `Cancelled`.

    Raises
    ------
    InputError
        The strategy is unknown or its options do not fit the data.
    Cancelled
    """

    def __init__(
        self,
        initial: InitialState,
        views: Sequence[npt.NDArray[Any]],
        options: StrategyOptions,
        saved: tuple[Mapping[str, npt.NDArray[Any]], Mapping[str, Any]] | None = None,
        tell: Callable[[float], None] | None = None,
    ) -> None:
        self._strategy: Strategy = make_strategy(options)
        labels, next_id = (initial.labels, None) if saved is None else (saved[0]["labels"], int(saved[1]["next_id"]))
        self._context = Context(initial.graph, views, options, labels, next_id, tell)
        weakref.finalize(self, self._context.release).atexit = False
        self._step: Step | None = None
        self._question: Question | None = None
        self._settled = True
        self._boundary = 0
        self._answers: list[Answer] = []
        if saved is None:
            self._strategy.begin(self._context)
            self._begin_step()
        else:
            self._take_up(*saved)
        self._context.made()

    # --- reading

    @property
    def question(self) -> Question | None:
        """The pair to be answered; None where nothing is left to ask, or before `settle`."""
        return self._question

    @property
    def labels(self) -> IntArray:
        """Cluster id of every sample, int32 (N,), a read-only view of the live array."""
        return self._context.partition.labels

    @property
    def partition(self) -> Partition:
        """The partition, for reading."""
        return self._context.partition

    @property
    def confirmed(self) -> LoggedFlags:
        """Samples that are must-linked with another, for reading."""
        return self._context.confirmed

    @property
    def junk(self) -> LoggedFlags:
        """Samples that left the clustering, for reading."""
        return self._context.junk

    @property
    def finished(self) -> LoggedFlags:
        """Samples marked as finished, for reading."""
        return self._context.finished

    def finished_clusters(self) -> frozenset[int]:
        """Ids of the clusters all of whose samples are marked as finished."""
        junk = self.junk.values
        barred = self._context.barred().tolist()
        return frozenset(c for c in barred if not junk[int(self.partition.members(c)[0])])

    @property
    def store(self) -> ConstraintStore:
        """The constraint store, for reading."""
        return self._context.store

    def representatives(self, cluster: int, exclude: Collection[int], count: int) -> list[int]:
        """Members of a cluster that show best what it holds: confirmed ones first, then by centrality.

        Parameters
        ----------
        cluster : int
        exclude : collection of int
            Samples that are shown already.
        count : int
            How many at most.
        """
        return representatives(self._context, cluster, exclude, count)

    def likeness(self, members: Sequence[int], others: Sequence[int]) -> list[list[float]]:
        """P(same class) of each of some samples and each of some others; 0 or 1 where the relation is known."""
        return likeness(self._context, members, others)

    def outlook(self) -> Outlook | None:
        """How many questions are left, the current one included; None where the strategy cannot tell."""
        if self._question is None:
            return Outlook(0, 0, 0)
        return self._strategy.outlook(self._context) if isinstance(self._strategy, Forecaster) else None

    def renew_outlook(self) -> None:
        """Where `outlook` is of some answers ago because it takes long, make it anew: nothing else is to be done."""
        if self._question is not None and isinstance(self._strategy, Forecaster):
            self._strategy.renew_outlook(self._context)

    # --- answering

    def record(self, answer: Answer) -> None:
        """Take the answer to the current question and run to the next.

        Raises
        ------
        ValueError
            There is no question.
        """
        if self._question is None:
            raise ValueError("there is no question to answer")
        left, right = self._question.left, self._question.right
        if junk := answer.junked(left, right):
            self.correct(Correction(junk=junk))
            return
        self._take(left, right, answer)
        self._answers.append(answer)
        self._resume(answer if answer.is_constraint else Answer.SKIP)

    def impose(self, left: int, right: int, answer: Answer, settle: bool = True) -> None:
        """Take an answer that was not asked for now, and make the partition agree with it.

        The step in progress is left where it is; a new one starts from the result. See `correct` for ``settle``.

        Raises
        ------
        ContradictionError
            Earlier answers imply the opposite; nothing was changed.
        """
        pair = ((left, right),)
        if answer is Answer.SAME:
            self.correct(Correction(together=pair), settle)
        elif answer is Answer.DIFFERENT:
            self.correct(Correction(apart=pair), settle)
        elif junk := answer.junked(left, right):
            self.correct(Correction(junk=junk), settle)
        else:
            self._take(left, right, answer)
            self._begin_step(settle)

    def correct(self, correction: Correction, settle: bool = True, task: Task | None = None) -> None:
        """Take a correction that the annotator made by hand, and make the partition agree with it.

        The step in progress is left where it is; a new one starts from the result.

        Parameters
        ----------
        correction : Correction
        settle : bool
            False: more follows at once, and which pair to ask next is not looked for until `settle`. Of thousands of
            answers that come in one go this saves nearly all the time.
        task : Task, optional
            Progress, for a correction may be of a hundred thousand samples, and cancellation.

        Raises
        ------
        ContradictionError
            Earlier answers imply the opposite; nothing was changed.
        Cancelled
            Some of it was changed: the caller takes it back, see `restore`.
        """
        context, start, task = self._context, self._context.log.mark(), task or Task()
        try:
            for _, sample in correction.unified:
                context.store.disown(sample)
            said = (correction.together, Answer.SAME), (correction.apart, Answer.DIFFERENT)
            count = len(correction.together) + len(correction.apart)
            for done, (pair, answer) in enumerate((pair, answer) for pairs, answer in said for pair in pairs):
                if done % _TOLD == 0:
                    task.step(_TAKEN * done / count)
                self._take(*pair, answer)
            self._identify(correction.identities)
        except ContradictionError:
            context.log.rewind(start)
            raise
        with self._telling(lambda share: task.step(_TAKEN + (_CHANGED - _TAKEN) * share)):
            Corrector(context).carry_out(correction)
            self._strategy.reconsider(context)
        # What is derived is brought up to date as a whole: nothing may stop that.
        with self._telling(lambda share: task.tell(_CHANGED + (1.0 - _CHANGED) * share)):
            self._begin_step(settle)

    def settle(self) -> None:
        """Go on to the next question where that was put off; see `correct`."""
        if not self._settled:
            self._begin_step()

    def mark(self) -> Mark:
        """The present place, to be taken before an answer."""
        return Mark(self._boundary, tuple(self._answers), self._settled)

    def restore(self, mark: Mark, tell: Callable[[float], None] | None = None) -> None:
        """Come back to a mark: the complete state, and the very question; ``tell`` hears which share is done."""
        self._context.log.rewind(mark.boundary)
        with self._telling(tell):
            self._begin_step(mark.settled)
        for answer in mark.answers:
            self.record(answer)

    def forget(self, mark: Mark) -> None:
        """Give up every mark that is older than this one, and the memory that they take."""
        self._context.log.forget(mark.boundary)

    def look_ahead(self) -> list[Question]:
        """The questions that would follow *same* and *different* (at most two); the state is left as it was."""
        after = (self.foresee(answer, lambda: self._question) for answer in (Answer.SAME, Answer.DIFFERENT))
        return list(dict.fromkeys(question for question in after if question is not None))

    def foresee(self, answer: Answer, look: Callable[[], Seen]) -> Seen | None:
        """What ``look`` sees after an answer to the current question, which is only tried; None without a question."""
        if self._question is None:
            return None
        mark = self.mark()
        try:
            self.record(answer)
            return look()
        finally:
            self.restore(mark)

    # --- the whole state

    def digest(self) -> str:
        """SHA-256 of the complete state, hexadecimal; equal for equal states."""
        arrays, meta = self.dump()
        total = hashlib.sha256(json.dumps(meta, sort_keys=True).encode())
        for name in sorted(arrays):
            total.update(
                name.encode() + str(arrays[name].dtype).encode() + np.ascontiguousarray(arrays[name]).tobytes()
            )
        return total.hexdigest()

    def dump(self, facts: bool = False) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """The complete state as arrays and JSON-able values; inverse of `load`.

        The state is taken at the boundary of the current step, together with the answers given within it. With
        ``facts`` also what the strategy derived from it, so that it need not be derived again: much larger.
        """
        self.settle()
        mark, question = self.mark(), self._question
        self._context.log.rewind(mark.boundary)
        try:
            arrays, plain = tables_of(self._context)
            if facts and isinstance(self._strategy, Keeper):
                arrays |= {_FACTS + name: array for name, array in self._strategy.facts(self._context).items()}
            next_id = self.partition.next_id
        finally:
            self.restore(mark)
        meta = {
            "next_id": next_id,
            "values": plain,
            "answers": [str(answer) for answer in mark.answers],
            "question": None if question is None else [question.left, question.right, str(question.reason)],
        }
        return arrays, meta

    @classmethod
    def load(
        cls,
        initial: InitialState,
        views: Sequence[npt.NDArray[Any]],
        options: StrategyOptions,
        arrays: Mapping[str, npt.NDArray[Any]],
        meta: Mapping[str, Any],
        tell: Callable[[float], None] | None = None,
    ) -> Self:
        """An engine in the state that `dump` gave; anything is raised for another. Marks taken before are not valid."""
        check_saved(arrays, meta, len(initial.labels))
        return cls(initial, views, options, (arrays, meta), tell)

    # --- inner workings

    @contextmanager
    def _telling(self, tell: Callable[[float], None] | None) -> Iterator[None]:
        """Somebody hears how far what is done meanwhile is."""
        if tell is not None:
            self._context.tell = tell
        try:
            yield
        finally:
            self._context.made()

    def _take_up(self, arrays: Mapping[str, npt.NDArray[Any]], meta: Mapping[str, Any]) -> None:
        context = self._context
        for left, right, code in arrays["constraints"].tolist():
            context.store.add(left, right, Answer.SAME if code else Answer.DIFFERENT)
            if code:
                context.confirmed.put((left, right), True)
        for left, right, for_good in arrays["skipped"].tolist():
            context.store.skip(left, right, bool(for_good))
        for sample in arrays["identities"].tolist() if "identities" in arrays else ():
            context.store.identify(sample)
            context.confirmed.put(context.store.component(sample), True)
        context.junk.put(arrays["junk"].tolist(), True)
        context.finished.put(arrays["finished"].tolist(), True)
        for key, value in arrays["leaders"].tolist():
            context.leaders[key] = value
        for name, array in arrays.items():
            kind, _, rest = name.partition(".")
            if kind == "table":
                context.table(rest).adopt(dict(zip(*array.T.tolist(), strict=True)))
            elif kind == "rows":
                context.growing(rest, array.shape[1], array.dtype.kind == "i").adopt(array)
            elif kind == "value":
                context.values[rest] = array
        for name, value in meta["values"].items():
            context.values[name] = value
        context.facts = {
            name[len(_FACTS) :]: array for name, array in arrays.items() if name.startswith(_FACTS)
        } or None
        self._begin_step()
        for text in meta["answers"]:
            self.record(Answer(text))

    def _take(self, left: int, right: int, answer: Answer) -> None:
        if not answer.is_constraint:
            self._context.store.skip(left, right, for_good=answer is Answer.INCOMPARABLE)
        else:
            self._context.store.add(left, right, answer)
            if answer is Answer.SAME:
                self._context.confirmed.put((left, right), True)
            for watcher in self._context.watchers:
                watcher.constrained(left, right)

    def _identify(self, groups: Sequence[Sequence[int]]) -> None:
        """Take known labels: groups of one identity each, no two of the same."""
        store = self._context.store
        for group in groups:
            for left, right in pairwise(group):
                self._take(left, right, Answer.SAME)
        first: dict[int, int] = {}
        for group in groups:
            other = first.setdefault(store.find(group[0]), group[0])
            if other != group[0]:
                chain = store.chain(group[0], other)
                raise ContradictionError(
                    trn("This contradicts {n} earlier answer.", "This contradicts {n} earlier answers.", len(chain)),
                    tuple((left, right, str(said)) for left, right, said in chain),
                    tr("Change or drop one of them first."),
                )
            store.identify(group[0])
            self._context.confirmed.put(group, True)

    def _begin_step(self, settle: bool = True) -> None:
        """Leave the step in progress for a new one; it goes on to its question, or waits for `settle`."""
        self._boundary = self._context.log.mark()
        self._answers.clear()
        self._step, self._question, self._settled = None, None, settle
        if settle:
            self._resume(None)

    def _resume(self, answer: Answer | None) -> None:
        """Run the current step, and steps after it, until one asks or none is left."""
        while True:
            if self._step is None:
                self._boundary = self._context.log.mark()
                self._answers.clear()
                self._step = self._strategy.next_step(self._context)
                answer = None
                if self._step is None:
                    self._question = None
                    return
            try:
                self._question = next(self._step) if answer is None else self._step.send(answer)
            except StopIteration:
                self._step = None
            else:
                return
