"""Archives that would grow out of proportion are refused by what their directory says, before anything is unpacked."""

from __future__ import annotations

import io
import zipfile
from typing import IO

from a3s_desktop.i18n import tr

_END = (1 << 16) + 22  # bytes in which the directory's place and the longest comment are
_MOST_MEMBERS = 10_000
_FREE = 256 << 20  # bytes that an archive may unpack to, however short it is
_MOST_GROWTH = 200  # times its length, beyond that; numbers, the zeros among them included, pack far less


def open_archive(file: IO[bytes]) -> zipfile.ZipFile:
    """An archive in an open file.

    Its end is read here first: the reader of archives takes a drive that fails for a file that is no archive.

    Raises
    ------
    zipfile.BadZipFile, OSError
    """
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - _END))
    file.read()
    return zipfile.ZipFile(file)


def check_archive(archive: zipfile.ZipFile) -> None:
    """Look at the directory of an archive.

    Raises
    ------
    zipfile.BadZipFile
        It holds too much; the message is a clause.
    """
    infos = archive.infolist()
    if len(infos) > _MOST_MEMBERS:
        raise zipfile.BadZipFile(tr("it holds too many files"))
    packed = sum(info.compress_size for info in infos)
    if packed > archive.start_dir:
        raise zipfile.BadZipFile(tr("its parts overlap"))
    if sum(info.file_size for info in infos) > max(_FREE, packed * _MOST_GROWTH):
        raise zipfile.BadZipFile(tr("it would grow out of all proportion when unpacked"))
