"""Reports of problems without what is the user's own: names of images, folders, projects, people.

Nobody can list all that a name may look like, so it is the other way round: what stays is known to be the program's.
That are places in code, numbers, and words that occur in the code of the program or in what Python and the system say;
everything else becomes "…".
"""

from __future__ import annotations

import builtins
import linecache
import os
import re
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType

# What Python, NumPy and Qt say from within compiled code.
_SAID = """
Traceback (most recent call last) During handling of the above exception, another exception occurred The above exception
was the direct cause of the following exception division by zero list tuple string index out of range object has no
attribute is not subscriptable callable iterable hashable unsupported operand type types and for missing required
positional argument arguments takes but were was given got an unexpected multiple values value keyword cannot unpack
non too many not enough values to expected invalid literal with base could convert to float maximum recursion depth
exceeded while calling in comparison local variable referenced before assignment access accessed associated name defined
No module named import must be str bytes int real number codec can't decode encode byte position start continuation
invalid integer required changed size during iteration dictionary set pop from empty generator already executing
operands could not be broadcast together shapes shape index bounds axis size array arrays contain infs NaNs input
contains ambiguous truth element elements more than one all any dimension dimensions mismatch core match dtype
Internal C++ object deleted libshiboken Fatal Python error Segmentation fault Aborted Bus Illegal instruction Current
thread Thread Threads Extension modules total first Stack garbage collecting unable allocate MiB GiB data type database
disk image malformed locked readonly full unable open file connection closed operation on truncated identify broken
stream when reading MainThread in a worker x86 aarch arm linux Linux Windows macOS Darwin glibc amd AMD microsoft
generic azure aws wsl WSL Python Errno NoneType Singular C
"""
_FILE = re.compile(r'([\s|+]*)File "([^"]*)", line (\d+)(,? in )?(.*)')
_KNOWN = re.compile(r"(?:^|[/\\])((?:a3s_desktop|site-packages|lib[/\\]python[\d.]*)[/\\][^\"]*|<frozen [\w.]+>)$")
_LOG = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ (?:DEBUG|INFO|WARNING|ERROR|CRITICAL) *")
_HEAD = re.compile(r"A3S Desktop [\w.+-]+, Python [\w.+-]+, (?:Linux|Windows|macOS|Darwin)[\w.+-]*")
_PATH = re.compile(r"(?:[A-Za-z]:)?[^\s'\"(<>|]*[/\\]+[^\n'\"<>|]*")  # to the end of the line: names may hold spaces
_QUOTED = re.compile(
    r"'[^'\n]*(?:'|$)|\"[^\"\n]*(?:\"|$)|“[^”\n]*(?:”|$)|„[^“\n]*(?:“|$)|»[^«\n]*(?:«|$)|«[^»\n]*(?:»|$)"
)
_TOKEN = re.compile(r"[^\s()\[\]{}<>,;:=|+*#\"'“”„‘’`…]+")
_PIECE = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"[-+]?(?:\d{1,6}(?:[.,]\d{1,6})*(?:e[-+]?\d+)?%?|0x[0-9a-f]+)\.?")
_TYPES = frozenset((*dir(builtins), "NoneType"))
_THREAD = re.compile(r"a3s-[a-z]+(?:[-_]\d+)?|Thread-\d+")


def without_names(text: str) -> str:
    """A log or traceback without the names of images, folders and projects; places in code stay.

    Takes a moment where it is called for the first time: the program's own words are gathered.
    """
    known = _words()
    lines, source = [], ""
    for line in text.splitlines():
        place = _FILE.fullmatch(line)
        if place is not None:
            lead, path, number, within, name = place.groups()
            source = linecache.getline(path, int(number)).strip()
            kept = _KNOWN.search(path)
            if kept is None:
                source = ""
            code = kept[1] if kept is not None else "…"
            named = name if name.isidentifier() and source else _filtered(name, known)
            lines.append(f'{lead}File "{code}", line {number}{within or ""}{named}')
        elif (source and line.strip(" |") == source) or not line.strip(" |^~-+") or _HEAD.fullmatch(line):
            lines.append(line)
        else:
            log = _LOG.match(line)
            start = log.end() if log is not None else 0
            lines.append(line[:start] + _filtered(line[start:], known))
    return "\n".join(lines)


def _filtered(text: str, known: frozenset[str]) -> str:
    bare = _QUOTED.sub(lambda match: match[0] if match[0][1:-1] in _TYPES else "'…'", text)
    bare = _PATH.sub("…", bare)
    bare = _TOKEN.sub(lambda match: match[0] if _is_known(match[0], known) else "…", bare)
    return re.sub(r"…(?:[\s.…]*…)+", "…", bare)


def _is_known(token: str, known: frozenset[str]) -> bool:
    if token in known or _NUMBER.fullmatch(token) or _THREAD.fullmatch(token):
        return True
    bare = token.rstrip(".!?")
    if any(letter.isdigit() for letter in bare):
        return bare in known
    return all(piece in known for piece in _PIECE.findall(bare))


def _words() -> frozenset[str]:
    """The words of all code of the program that is loaded, and of what others say."""
    found = set(re.findall(r"[\w+']+", _SAID)) | set(dir(builtins)) | {"…", "A3S"}
    for number in range(1, 134):
        found.update(_PIECE.findall(os.strerror(number)))
    for name, module in list(sys.modules.items()):
        found.update((name, *name.split(".")))
        if name.partition(".")[0] == "a3s_desktop" and name != __name__ and ".cli" not in name and ".demo" not in name:
            for text in _texts_of(module):
                found.add(text)
                found.update(_PIECE.findall(_QUOTED.sub("", text)))  # what is quoted is an example of a name
    for kind in _errors(BaseException):
        found.update((kind.__name__, f"{kind.__module__}.{kind.__name__}"))
    return frozenset(found)


def _texts_of(module: ModuleType) -> Iterator[str]:
    for value in list(vars(module).values()):
        if isinstance(value, FunctionType):
            yield from _texts_in(value.__code__)
        elif isinstance(value, type) and value.__module__ == module.__name__:
            yield value.__name__
            for part in list(vars(value).values()):
                inner = getattr(part, "fget", None) or getattr(part, "__func__", part)
                if isinstance(inner, FunctionType):
                    yield from _texts_in(inner.__code__)


def _texts_in(code: CodeType) -> Iterator[str]:
    yield from (code.co_name, *code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, CodeType):
            yield from _texts_in(constant)


def _errors(kind: type[BaseException]) -> Iterator[type[BaseException]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _errors(below)
