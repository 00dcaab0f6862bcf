"""Find the images of a folder, and tell which of them cannot be shown."""

from __future__ import annotations

import fnmatch
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from a3s_desktop.errors import InputError
from a3s_desktop.i18n import tr
from a3s_desktop.storage import files
from a3s_desktop.storage.picture import PictureError, read_picture
from a3s_desktop.storage.picture_opening import check_stream
from a3s_desktop.task import Task

EXTENSIONS = frozenset(
    f".{name}"
    for name in (
        *("jpg", "jpeg", "jpe", "jfif", "png", "webp", "gif", "bmp", "dib", "tif", "tiff"),
        *("heic", "heif", "avif", "ppm", "pgm", "pbm", "pnm"),
    )
)
_HIDDEN = frozenset(
    (
        "thumbs.db",
        "desktop.ini",
        "__macosx",
        "$recycle.bin",
        "system volume information",
        "lost+found",
        "@eadir",
        "#recycle",
    )
)
_HIDDEN_ATTRIBUTES = getattr(stat, "FILE_ATTRIBUTE_HIDDEN", 2) | getattr(stat, "FILE_ATTRIBUTE_SYSTEM", 4)
_STEP = 64  # files between two looks at the task


@dataclass(frozen=True, slots=True)
class ImageProblem:
    """An image or folder that cannot be used, and why (a clause without a full stop)."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class ImageScan:
    """What a folder holds.

    Attributes
    ----------
    paths : tuple of str
        Images, relative to the folder, with ``/`` between the parts, in the order of Python's ``sorted``.
    skipped : int
        Files that are no images by their extension.
    problems : tuple of ImageProblem
        Folders that could not be read, broken links.
    left_out : int
        Images that the patterns leave out.
    """

    paths: tuple[str, ...]
    skipped: int
    problems: tuple[ImageProblem, ...]
    left_out: int = 0


def scan_images(
    root: Path, task: Task | None = None, include: Sequence[str] = (), exclude: Sequence[str] = ()
) -> ImageScan:
    """All images below a folder; hidden files and folders are left out, loops of symbolic links end.

    No file is opened. A folder that is reachable on several ways is entered once, by a real path rather than by a link.

    Parameters
    ----------
    root : Path
    task : Task, optional
    include, exclude : sequence of str
        Patterns with ``*``, ``?`` and ``[...]``, whatever the case: only images that fit one of the former, none that
        fits one of the latter. A pattern with ``/`` is of the whole relative path, another of the name of a file or
        folder.

    Raises
    ------
    InputError
        The folder does not exist or cannot be read.
    Cancelled
        The task was cancelled.
    """
    task = task or Task()
    try:
        _identity(root)
        with os.scandir(files.long_path(root)):
            pass
    except OSError as error:
        raise InputError(
            tr("The image folder {root} cannot be read: {reason}.", root=files.show(root), reason=_reason(error)),
            tr("Choose a folder with images."),
        ) from error
    walk = _Walk(root, task)
    walk.run()
    kept = walk.paths
    if include:
        wanted = patterns_of(include)
        kept = [path for path in kept if wanted(path)]
    if exclude:
        unwanted = patterns_of(exclude)
        kept = [path for path in kept if not unwanted(path)]
    problems = tuple(sorted(walk.problems, key=lambda problem: problem.path))
    return ImageScan(tuple(sorted(kept)), walk.skipped, problems, len(walk.paths) - len(kept))


def patterns_of(patterns: Sequence[str]) -> Callable[[str], bool]:
    """A test whether a relative path fits one of the patterns; see `scan_images`."""
    whole: list[str] = []
    parts: list[str] = []
    for pattern in patterns:
        text = unicodedata.normalize("NFC", pattern.strip().replace("\\", "/")).casefold()
        (whole if "/" in text.strip("/") else parts).append(fnmatch.translate(text.strip("/")))
    of_path = re.compile("|".join(whole)) if whole else None
    of_part = re.compile("|".join(parts)) if parts else None

    def fits(path: str) -> bool:
        text = unicodedata.normalize("NFC", path).casefold()
        if of_path is not None and of_path.match(text):
            return True
        return of_part is not None and any(of_part.match(part) for part in text.split("/"))

    return fits


class _Walk:
    """The state of one scan."""

    def __init__(self, root: Path, task: Task) -> None:
        self.root = os.fspath(files.long_path(root))
        self.task = task
        self.paths: list[str] = []
        self.skipped = 0
        self.problems: list[ImageProblem] = []
        self._visited: set[tuple[int, int]] = set()
        self._links: list[str] = []

    def run(self) -> None:
        """Real folders first, then those behind links, in a fixed order."""
        self._tree("")
        while self._links:
            links, self._links = sorted(self._links), []
            for link in links:
                self._tree(link)

    def _tree(self, start: str) -> None:
        stack = [start]
        while stack:
            self.task.check()
            stack.extend(self._folder(stack.pop()))

    def _folder(self, relative: str) -> list[str]:
        """Take in one folder; returns its sub-folders."""
        folder = os.path.join(self.root, *relative.split("/")) if relative else self.root
        subfolders: list[str] = []
        prefix = f"{relative}/" if relative else ""
        try:
            identity = _identity(folder)
            if identity in self._visited:
                return []
            self._visited.add(identity)
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._entry(entry, prefix + entry.name, subfolders)
        except OSError as error:
            self.problems.append(
                ImageProblem(relative or ".", tr("the folder cannot be read: {reason}", reason=_reason(error)))
            )
        return sorted(subfolders)

    def _entry(self, entry: os.DirEntry[str], path: str, subfolders: list[str]) -> None:
        name = entry.name
        if name.startswith(".") or name.lower() in _HIDDEN or _is_hidden(entry):
            return
        is_image = os.path.splitext(name)[1].rstrip().lower() in EXTENSIONS
        if entry.is_symlink():
            try:
                mode = entry.stat().st_mode
            except OSError:
                self.problems.append(ImageProblem(path, tr("the link leads nowhere")))
                return
            if stat.S_ISDIR(mode):
                self._links.append(path)
                return
            is_image = is_image and stat.S_ISREG(mode)
        elif entry.is_dir(follow_symlinks=False):
            subfolders.append(path)
            return
        elif is_image and not entry.is_file(follow_symlinks=False):
            is_image = False  # a pipe or device of an image's name
        if is_image:
            self.paths.append(path)
        else:
            self.skipped += 1


def _identity(folder: str | Path) -> tuple[int, int]:
    facts = os.stat(folder)
    if not stat.S_ISDIR(facts.st_mode):
        raise NotADirectoryError(20, "not a folder", str(folder))
    return facts.st_dev, facts.st_ino


def _is_hidden(entry: os.DirEntry[str]) -> bool:
    if os.name != "nt":
        return False
    attributes = getattr(entry.stat(follow_symlinks=False), "st_file_attributes", 0)
    return bool(attributes & _HIDDEN_ATTRIBUTES)


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return tr("it does not exist")
    if isinstance(error, NotADirectoryError):
        return tr("it is a file, not a folder")
    if isinstance(error, PermissionError):
        return tr("there is no permission to read it")
    return error.strerror or type(error).__name__


# ------------------------------------------------------------------------------------------------ probing


def probe_images(root: Path, paths: Sequence[str], task: Task | None = None) -> tuple[ImageProblem, ...]:
    """Which of the images cannot be decoded, by their first and last bytes; suspicious ones are decoded whole.

    Raises
    ------
    Cancelled
        The task was cancelled.
    """
    task = task or Task()
    problems: list[ImageProblem] = []
    base = os.fspath(files.long_path(root))
    for index, path in enumerate(paths):
        if index % _STEP == 0:
            task.step(index / len(paths))
        reason = _probe(os.path.join(base, *path.split("/")))
        if reason:
            problems.append(ImageProblem(path, reason))
    return tuple(problems)


def _probe(path: str) -> str:
    """Why an image cannot be shown; empty where it can."""
    try:
        with open(path, "rb") as file:
            size = check_stream(file, passes=False)
            if size == 0:
                return tr("the file is empty")
            file.seek(0)
            head = file.read(64)
            file.seek(max(0, size - 32))
            tail = file.read(32)
    except PictureError as error:
        return str(error)
    except OSError as error:
        return tr("the file cannot be read: {reason}", reason=_reason(error))
    return "" if _plausible(head, tail, size) else _decode(path)


def _plausible(head: bytes, tail: bytes, size: int) -> bool:
    """Whether a file begins and ends as a whole image of a common format does (so that it need not be decoded)."""
    if head.startswith(b"\xff\xd8\xff"):
        return b"\xff\xd9" in tail
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return head[12:16] == b"IHDR" and b"IEND" in tail
    if head.startswith((b"GIF87a", b"GIF89a")):
        return tail.rstrip(b"\0").endswith(b";") and size > 13
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return int.from_bytes(head[4:8], "little") + 8 <= size and size > 30
    if head.startswith(b"BM"):
        return size > 54 and int.from_bytes(head[2:6], "little") <= size
    return False


def _decode(path: str) -> str:
    """Decode an image that looks odd: the last word on whether it can be shown."""
    try:
        return read_picture(Path(path), (64, 64)).note
    except PictureError as error:
        return str(error)
