"""A pickle is walked through before it is loaded: what it would build must be small, flat, and there.

Python's own reader believes what it reads: an index of ten bytes makes it take gigabytes for its memory of objects, and
a tuple that is nested a million deep, or holds another twice, and that one another twice, sixty times over, overflows
the stack or takes for ever as soon as it is the key of a dictionary.
"""

from __future__ import annotations

import pickle
import pickletools
from typing import IO, Any, cast

from a3s_desktop.i18n import tr

_MOST_STEPS = 200_000  # a large network takes a quarter
_DEEPEST = 60
_HEAVIEST = 10_000_000
_Size = tuple[int, int]  # how deep an object is, and how many parts it has, shared ones counted each time
_LEAF: _Size = (1, 1)


class BoundedReader:
    """A file for reading pickles, in which no piece is longer than what is left; memory is taken only then."""

    def __init__(self, file: IO[bytes], length: int) -> None:
        self._file = file
        self._length = length

    def read(self, count: int = -1) -> bytes:
        """So many bytes. Raises `pickle.UnpicklingError` where there are not as many."""
        left = self._length - self._file.tell()
        if count > left:
            raise pickle.UnpicklingError(tr("it is cut off"))
        return self._file.read(left if count < 0 else count)

    def readline(self) -> bytes:
        """A line."""
        return self._file.readline()

    def tell(self) -> int:
        """The place in the file."""
        return self._file.tell()


def check_pickle(file: IO[bytes], length: int) -> None:
    """Walk through one pickle of a file of ``length`` bytes, and go back to its beginning.

    Raises
    ------
    pickle.UnpicklingError
        It is damaged, or would build something huge; the message is a clause.
    """
    start = file.tell()
    stack: list[_Size | None] = []  # None: a mark
    memory: dict[int, _Size] = {}
    steps = 0
    try:
        for operation, argument, _ in pickletools.genops(cast(IO[bytes], BoundedReader(file, length))):
            steps += 1
            if steps > _MOST_STEPS:
                raise pickle.UnpicklingError(tr("it is too large"))
            _follow(operation, argument, stack, memory, steps)
    except (ValueError, IndexError, TypeError) as error:
        raise pickle.UnpicklingError(tr("it is damaged")) from error
    file.seek(start)


def _follow(
    operation: pickletools.OpcodeInfo, argument: Any, stack: list[_Size | None], memory: dict[int, _Size], steps: int
) -> None:
    """Do to the sizes what an operation would do to the objects."""
    name = operation.name
    if name == "MEMOIZE" or name.endswith("PUT"):
        index = len(memory) if name == "MEMOIZE" else int(argument)
        if not 0 <= index <= steps:
            raise pickle.UnpicklingError(tr("it asks for too much memory"))
        memory[index] = stack[-1] or _LEAF
    elif name in ("GET", "BINGET", "LONG_BINGET"):
        stack.append(memory.get(int(argument), _LEAF))
    elif name == "MARK":
        stack.append(None)
    elif name == "DUP":
        stack.append(stack[-1])
    elif name == "POP":
        stack.pop()
    else:
        _build(operation, stack)


def _build(operation: pickletools.OpcodeInfo, stack: list[_Size | None]) -> None:
    taken: list[_Size] = []
    if pickletools.markobject in operation.stack_before:
        while (one := stack.pop()) is not None:
            taken.append(one)
        before = operation.stack_before.index(pickletools.markobject)
    else:
        before = len(operation.stack_before)
    taken.extend(stack.pop() or _LEAF for _ in range(before))
    if not operation.stack_after:
        return
    size = 1 + max((one[0] for one in taken), default=0), 1 + sum(one[1] for one in taken)
    if size[0] > _DEEPEST or size[1] > _HEAVIEST:
        raise pickle.UnpicklingError(tr("it is nested too deeply"))
    stack.append(size)
