"""The undo log: rewinding to a mark gives back the very state."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.core.undo import LoggedDict, LoggedRows, UndoLog

KEYS = st.integers(0, 4)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("set"), KEYS, st.integers(0, 9)),
        st.tuples(st.just("discard"), KEYS),
        st.tuples(st.just("mark")),
        st.tuples(st.just("rewind"), st.integers(0, 5)),
    ),
    max_size=40,
)


def test_what_was_forgotten_is_not_taken_back_and_the_rest_is() -> None:
    log = UndoLog()
    table = LoggedDict(log, {0: 0})
    marks = []
    for value in range(1, 10):
        marks.append(log.mark())
        table[0] = value
    log.forget(marks[4])
    log.forget(marks[2])  # long forgotten
    log.rewind(marks[6])
    assert table[0] == 6
    log.rewind(marks[4])
    assert table[0] == 4
    with pytest.raises(ValueError, match="forgotten"):
        log.rewind(marks[3])
    assert log.mark() == marks[4]


@given(st.dictionaries(KEYS, st.integers(0, 9)), OPERATIONS)
def test_dictionary_equals_a_plain_one_with_copies(start: dict[int, int], operations: list[tuple]) -> None:
    log = UndoLog()
    table = LoggedDict(log, start)
    plain = dict(start)
    marks: list[tuple[int, dict[int, int]]] = []
    for operation, *arguments in operations:
        if operation == "set":
            key, value = arguments
            table[key] = value
            plain[key] = value
        elif operation == "discard":
            table.discard(arguments[0])
            plain.pop(arguments[0], None)
        elif operation == "mark":
            marks.append((log.mark(), dict(plain)))
        elif marks:
            at = arguments[0] % len(marks)
            mark, plain = marks[at][0], dict(marks[at][1])
            del marks[at + 1 :]
            log.rewind(mark)
        assert list(table.sorted_items()) == sorted(plain.items())
        assert len(table) == len(plain)
        assert all((key in table) == (key in plain) and table.get(key, -1) == plain.get(key, -1) for key in range(5))
    log.rewind(0)
    assert dict(table.sorted_items()) == start


def test_dictionary_does_not_share_the_mapping_it_starts_from() -> None:
    start = {1: 1}
    table = LoggedDict(UndoLog(), start)
    table[1] = 2
    assert start == {1: 1}
    with pytest.raises(KeyError):
        table[7]


def test_entries_are_taken_back_newest_first() -> None:
    log = UndoLog()
    seen: list[int] = []
    marks = []
    for number in range(4):
        marks.append(log.mark())
        log.push(seen.append, number)
    log.rewind(marks[2])
    assert seen == [3, 2]
    log.rewind(log.mark())
    assert seen == [3, 2]
    log.rewind(0)
    assert seen == [3, 2, 1, 0]


def test_a_mark_of_the_future_is_refused() -> None:
    log = UndoLog()
    log.push(print)
    mark = log.mark()
    log.rewind(0)
    with pytest.raises(ValueError, match="future"):
        log.rewind(mark)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("append"), st.integers(0, 9)),
            st.tuples(st.just("mark"), st.just(0)),
            st.tuples(st.just("rewind"), st.integers(0, 5)),
        ),
        max_size=40,
    )
)
def test_rows_equal_a_plain_list_with_copies(operations: list[tuple[str, int]]) -> None:
    log = UndoLog()
    rows = LoggedRows(log, 2)
    plain: list[list[float]] = []
    marks: list[tuple[int, list[list[float]]]] = []
    for operation, number in operations:
        if operation == "append":
            rows.append((number, 0.5))
            plain.append([float(number), 0.5])
        elif operation == "mark":
            marks.append((log.mark(), list(plain)))
        elif marks:
            del marks[len(marks) - number % len(marks) :]
            mark, plain = marks.pop()
            log.rewind(mark)
        assert len(rows) == len(plain)
        assert rows.array().tolist() == plain
        assert rows.array(3).tolist() == plain[-3:]
        assert [list(rows[k]) for k in range(len(rows))] == plain
        again = LoggedRows(UndoLog(), 2)
        again.adopt(rows.array())
        assert again.array().tolist() == plain


def test_whole_rows_stay_whole() -> None:
    rows = LoggedRows(UndoLog(), 2, whole=True)
    assert rows.array().dtype == np.int32
    rows.append((2**31 - 1, 0))
    with pytest.raises(TypeError):
        rows.append((0.5, 1))
    assert rows.array().tolist() == [[2**31 - 1, 0]]
    assert rows[0][0] == 2**31 - 1
    for number in (-1, 1):
        with pytest.raises(IndexError):
            rows[number]


def test_rows_have_one_width_and_a_shape_when_empty() -> None:
    rows = LoggedRows(UndoLog(), 3)
    assert rows.array().shape == (0, 3)
    assert rows.array().dtype == np.float64
    with pytest.raises(ValueError, match="2 numbers where 3"):
        rows.append((1.0, 2.0))
    assert len(rows) == 0
