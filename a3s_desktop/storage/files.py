"""The one small layer through which everything is written to disk.

A file or folder appears under its name only when it is complete and on the disk: it is built under a temporary name in
the same folder, synchronised, and renamed. Every failure of the operating system leaves as a `StorageFailedError` that
names the cause. The primitives (`write_all`, `sync_file`, `rename`, ...) are looked up in this module at each call, so
that tests can put faults in any of them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, BinaryIO

from a3s_desktop.errors import InputError, StorageFailedError
from a3s_desktop.i18n import mark, tr

TEMPORARY = ".a3s-new-"
_CHUNK = 1 << 20
_STALE_SECONDS = 60.0
_DAY = 86_400.0

_CAUSES = {
    errno.ENOSPC: (mark("the disk is full"), mark("Free some space and try again.")),
    errno.EDQUOT: (mark("your disk quota is used up"), mark("Free some space and try again.")),
    errno.EACCES: (mark("there is no permission"), mark("Choose another folder, or change its permissions.")),
    errno.EPERM: (mark("there is no permission"), mark("Choose another folder, or change its permissions.")),
    errno.EROFS: (mark("the drive is read-only"), mark("Choose another folder.")),
    errno.EIO: (mark("the drive reported an error"), mark("Check the drive and its cable, then try again.")),
    errno.ENODEV: (mark("the drive is gone"), mark("Connect the drive and try again.")),
    errno.ENOENT: (mark("its folder does not exist (any more)"), mark("Connect the drive, or choose another folder.")),
    errno.ENOTDIR: (mark("a part of its path is a file, not a folder"), mark("Choose another folder.")),
    errno.EISDIR: (mark("a folder of that name is there"), mark("Choose another name.")),
    errno.EEXIST: (mark("something of that name is there already"), mark("Choose another name.")),
    errno.ENOTEMPTY: (mark("a folder of that name is there already"), mark("Choose another name.")),
    errno.ENAMETOOLONG: (
        mark("its name or path is too long"),
        mark("Choose a shorter name or a folder nearer to the root."),
    ),
    errno.EMFILE: (mark("too many files are open"), mark("Close other programs and try again.")),
    errno.EFBIG: (mark("the file is too large for this drive"), mark("Choose another drive.")),
}


def show(path: Path | str) -> str:
    """A path for a message: quoted, on one line, with unprintable characters escaped, shortened in the middle."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in str(path))
    return f"'{text}'" if len(text) <= 200 else f"'{text[:90]}…{text[-100:]}'"


def cause_of(error: OSError) -> tuple[str, str]:
    """Cause and hint of an error of the operating system, in plain words."""
    known = _CAUSES.get(error.errno or 0)
    if known is not None:
        return tr(known[0]), tr(known[1])
    return (error.strerror or type(error).__name__, tr("Check the drive, then try again."))


def write_failed(path: Path | str, error: OSError) -> StorageFailedError:
    """The `StorageFailedError` for an error while writing ``path``."""
    cause, hint = cause_of(error)
    return StorageFailedError(tr("Writing {path} failed: {cause}.", path=show(path), cause=cause), hint)


def read_failed(path: Path | str, error: OSError) -> StorageFailedError:
    """The `StorageFailedError` for an error while reading ``path``."""
    cause, hint = cause_of(error)
    return StorageFailedError(tr("Reading {path} failed: {cause}.", path=show(path), cause=cause), hint)


def long_path(path: Path) -> Path:
    """``path`` in the form that Windows accepts beyond 260 characters; unchanged elsewhere."""
    if os.name != "nt":
        return path
    text = os.path.abspath(path)
    if len(text) < 240 or text.startswith("\\\\?\\"):
        return path
    return Path("\\\\?\\UNC\\" + text[2:] if text.startswith("\\\\") else "\\\\?\\" + text)


def keep_others_out() -> None:
    """Let no file or folder of this process be writable by everybody, whatever the user's umask; it holds otherwise."""
    former = os.umask(0o077)
    os.umask(former | 0o002)


# ------------------------------------------------------------------------------------------------ primitives


def open_new(path: Path) -> BinaryIO:
    """Open a file that must not exist yet, for writing.

    Buffered: a short write is then completed also where a library writes to the file, which may not look.
    """
    return open(path, "xb")


def open_to_append(path: Path) -> BinaryIO:
    """Open a file for lines that are added at its end, each at once."""
    return open(path, "ab", buffering=0)


def write_all(file: BinaryIO, data: bytes | memoryview) -> None:
    """Write all of ``data``, however short the single writes are."""
    view = memoryview(data).cast("B")
    while len(view):
        written = file.write(view[: 1 << 30])
        if not written:
            raise OSError(errno.EIO, tr("nothing was written"))
        view = view[written:]


def sync_file(file: BinaryIO) -> None:
    """Bring a file's content to the disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> bool:
    """Bring a folder's entries to the disk; False where the system cannot (Windows needs not)."""
    if os.name == "nt":
        return True
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):  # some network drives
            raise
        return False
    finally:
        os.close(handle)
    return True


def rename(source: Path, target: Path) -> None:
    """Rename, replacing a file at ``target``."""
    os.replace(source, target)


def rename_new(source: Path, target: Path) -> None:
    """Rename a file without replacing one at ``target``; raises `FileExistsError`."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:  # a drive without hard links
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "exists", str(target)) from None
        os.replace(source, target)
    else:
        with contextlib.suppress(OSError):  # the file is there under its name; the other name is swept later
            os.unlink(source)


def make_folder(folder: Path) -> None:
    """Make one folder that must not exist yet."""
    os.mkdir(folder)


def make_folders(folder: Path) -> None:
    """Make a folder and those above it, as far as they are missing. Raises `StorageFailedError`."""
    try:
        os.makedirs(long_path(folder), exist_ok=True)
    except OSError as error:
        raise write_failed(folder, error) from error


def scratch_folder() -> tempfile.TemporaryDirectory[str]:
    """A private folder for what need not survive, among the system's temporary files; removed at the end."""
    return tempfile.TemporaryDirectory(prefix="a3s-", ignore_cleanup_errors=True)


def scratch_file() -> IO[bytes]:
    """A file without a name, for a moment."""
    return tempfile.TemporaryFile(prefix="a3s-")


def remove_file(path: Path) -> None:
    """Remove a file; absent is fine."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def cut(path: Path) -> None:
    """Leave nothing in a file, also where a program has it open and adds to it; absent is fine. Raises `OSError`."""
    with contextlib.suppress(FileNotFoundError):
        os.truncate(path, 0)


def remove_empty(folder: Path) -> None:
    """Remove a folder, if nothing is in it."""
    with contextlib.suppress(OSError):
        os.rmdir(folder)


def remove_empty_now(folder: Path) -> None:
    """Remove a folder in which nothing is. Raises `OSError`."""
    os.rmdir(folder)


def remove_tree(folder: Path) -> None:
    """Remove a folder with all it holds; absent is fine. Symbolic links are removed, not followed."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder)


# ------------------------------------------------------------------------------------------------ atomic writing


def temporary_name(folder: Path) -> Path:
    """A new temporary path in ``folder``, short enough for every file system."""
    return folder / f"{TEMPORARY}{os.urandom(6).hex()}"


@contextlib.contextmanager
def atomic_file(path: Path, overwrite: bool = True) -> Iterator[BinaryIO]:
    """A binary file that appears at ``path`` complete, at the end of the block; nothing stays behind on an error.

    Raises
    ------
    StorageFailedError
        The system refused a step, or something is at ``path`` and ``overwrite`` is False.
    """
    path = long_path(path)
    temporary = temporary_name(path.parent)
    try:
        with open_new(temporary) as file:
            yield file
            sync_file(file)
        if overwrite:
            rename(temporary, path)
        else:
            rename_new(temporary, path)
        sync_folder(path.parent)
    except OSError as error:
        _quietly_remove(temporary)
        raise write_failed(path, error) from error
    except BaseException:
        _quietly_remove(temporary)
        raise


def atomic_write(path: Path, data: bytes, overwrite: bool = True) -> None:
    """Write a whole file atomically; see `atomic_file`."""
    with atomic_file(path, overwrite) as file:
        write_all(file, data)


def write_scratch(path: Path, data: bytes) -> None:
    """Write a file that need not survive: a private copy in a temporary folder."""
    with open_new(path) as file:
        write_all(file, data)


def tell_system(path: Path, data: bytes) -> None:
    """Write to one of the system's own files, below ``/proc``; raises `OSError`."""
    with open(path, "wb", buffering=0) as file:
        write_all(file, data)


def atomic_write_text(path: Path, text: str, overwrite: bool = True) -> None:
    """Write a whole UTF-8 file atomically; see `atomic_file`."""
    atomic_write(path, text.encode("utf-8"), overwrite)


@contextlib.contextmanager
def atomic_folder(folder: Path) -> Iterator[Path]:
    """A folder that appears at ``folder`` complete, at the end of the block.

    The block fills the temporary sibling folder that it is given, through this module's functions. An *empty* folder at
    ``folder`` is replaced. On any error, cancellation included, nothing stays behind.

    Raises
    ------
    StorageFailedError
        The system refused a step, or ``folder`` is not empty.
    """
    temporary = temporary_name(folder.parent)
    try:
        make_folder(long_path(temporary))
        yield temporary
        sync_folder(temporary)
        with contextlib.suppress(FileNotFoundError):
            remove_empty_now(folder)  # Windows does not rename onto an empty folder; a filled one raises ENOTEMPTY
        rename(temporary, folder)
        sync_folder(folder.parent)
    except OSError as error:
        _quietly_remove(temporary)
        raise write_failed(folder, error) from error
    except BaseException:
        _quietly_remove(temporary)
        raise


def _quietly_remove(path: Path) -> None:
    """Remove a temporary file or folder after a failure, whose own error is the one worth reporting."""
    try:
        if path.is_dir() and not path.is_symlink():
            remove_tree(path)
        else:
            remove_file(path)
    except OSError:
        return  # swept at the next start


def sweep(folder: Path, now: float | None = None) -> int:
    """Remove what a killed program left under temporary names in ``folder``; returns how many were removed.

    Only entries that have not changed for a minute, so that another program's work under way stays. A drive's clock may
    be ahead of this one; a date a day ahead is of a clock that was set back.
    """
    now = time.time() if now is None else now
    removed = 0
    try:
        entries = [entry for entry in os.scandir(folder) if entry.name.startswith(TEMPORARY)]
    except OSError:
        return 0
    for entry in entries:
        with contextlib.suppress(OSError):
            age = now - _newest(Path(entry.path))
            if age > _STALE_SECONDS or age < -_DAY:
                _quietly_remove(Path(entry.path))
                removed += 1
    return removed


def keep_fresh(path: Path) -> None:
    """Say that a temporary file or folder is in use, so that no sweep removes it."""
    os.utime(path)


def _newest(path: Path) -> float:
    newest = path.lstat().st_mtime
    if path.is_dir() and not path.is_symlink():
        for child in path.rglob("*"):
            newest = max(newest, child.lstat().st_mtime)
    return newest


# ------------------------------------------------------------------------------------------------ hashes


def children(folder: Path) -> list[Path]:
    """What is in a folder, sorted; nothing where it cannot be listed."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def hash_file(path: Path) -> str:
    """Hex SHA-256 of a file's content."""
    import hashlib  # loads OpenSSL: not for the first picture of the program

    with open(long_path(path), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_bytes(path: Path) -> bytes:
    """A file's content; empty where there is no such file."""
    try:
        return long_path(path).read_bytes()
    except FileNotFoundError:
        return b""


def trouble_in(folder: Path) -> OSError | None:
    """What the system says when a small file is written into ``folder``, synchronised and removed; None if nothing."""
    path = temporary_name(folder)
    try:
        with open_new(path) as file:
            write_all(file, bytes(_CHUNK >> 8))
            sync_file(file)
    except OSError as error:
        return error
    finally:
        _quietly_remove(path)
    return None


def free_bytes(folder: Path) -> int:
    """Room left on the drive of a folder."""
    try:
        return shutil.disk_usage(folder).free
    except OSError as error:
        raise write_failed(folder, error) from error


def hard_link(source: Path, target: Path) -> None:
    """Give a file one more name; a symbolic link is followed first. Raises `OSError`."""
    os.link(os.path.realpath(long_path(source)), target)


def symlink(to: str, target: Path) -> None:
    """Make a symbolic link. Raises `OSError`."""
    os.symlink(to, target)


def copy_plain(source: Path, target: Path, check: Callable[[], None]) -> None:
    """Copy a file's content and time to a new file inside a temporary folder.

    Raises
    ------
    InputError
        The source cannot be read.
    OSError
        The target cannot be written.
    """
    try:
        reader = open(long_path(source), "rb")  # noqa: SIM115 - its errors are told from those of the target
    except OSError as error:
        raise InputError(cause_of(error)[0]) from error
    with reader, open_new(target) as writer:
        while True:
            check()
            try:
                chunk = reader.read(_CHUNK)
            except OSError as error:
                raise InputError(cause_of(error)[0]) from error
            if not chunk:
                break
            write_all(writer, chunk)
        sync_file(writer)
        found = os.fstat(reader.fileno())
    with contextlib.suppress(OSError):
        os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))


def copy_file(source: Path, target: Path) -> None:
    """Copy a file's content atomically to ``target``."""
    with open(long_path(source), "rb") as reader, atomic_file(target) as writer:
        while chunk := reader.read(_CHUNK):
            write_all(writer, chunk)
