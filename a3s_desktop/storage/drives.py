"""Whether a folder is on a drive that other computers write to: memory cannot be shared through such a one.

SQLite's write-ahead log needs memory that all programs share, "so it does not work over a network filesystem"
(https://www.sqlite.org/wal.html). What is not known to be a drive of this computer counts as one of the network: the
other way of keeping the journal is right everywhere, and only slower.
"""

from __future__ import annotations

import ntpath
import os
import re
import sys
from pathlib import Path, PurePosixPath

MOUNTS = Path("/proc/self/mountinfo")

# Linux: what can only be of another computer, or of the one that this virtual machine runs on.
_SHARED = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "9p", "afs", "kafs", "ceph", "coda", "ncp", "ncpfs"),
        *("davfs", "davfs2", "webdav", "sshfs", "glusterfs", "lustre", "gpfs", "beegfs", "orangefs", "pvfs2"),
        *("ocfs2", "gfs2", "acfs", "panfs", "drvfs", "virtiofs", "vboxsf", "vmhgfs", "prl_fs", "autofs"),
    }
)
# A program serves these, and most such programs get the files from elsewhere; those that do not:
_PROGRAMS_HERE = frozenset(
    {
        *("ntfs", "ntfs-3g", "lowntfs-3g", "exfat", "mergerfs", "encfs", "gocryptfs", "cryfs", "securefs", "ecryptfs"),
        *("bindfs", "unionfs", "unionfs-fuse", "fuse-overlayfs", "overlayfs", "portal", "squashfuse", "lxcfs", "zfs"),
        *("veracrypt", "dislocker", "ext2", "apfs", "apfs-fuse", "hfsfuse", "vdfuse"),
    }
)
_OCTAL = re.compile(r"\\([0-7]{3})")
_REMOTE = 4  # DRIVE_REMOTE, https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-getdrivetypew


def is_network(path: Path) -> bool:
    """Whether a file or folder, there or not, is on a drive of the network; False where the system does not say.

    Asks the system each time: drives come and go.
    """
    real = os.path.realpath(path)
    if sys.platform == "win32":
        return is_remote_windows(real, _drive_type(real))
    if sys.platform == "darwin":
        return is_remote_mac(real, _mount_table())
    try:
        table = MOUNTS.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return False
    return is_remote_linux(real, table)


def is_remote_linux(path: str, table: str) -> bool:
    """Whether a real path is on a network drive, by the text of ``/proc/self/mountinfo``."""
    best, kind = -1, ""
    for line in table.splitlines():
        before, _, after = line.partition(" - ")
        fields, facts = before.split(" "), after.split(" ")
        if len(fields) < 5 or not facts[0]:
            continue
        place = _OCTAL.sub(lambda found: chr(int(found[1], 8)), fields[4])
        if len(place) >= best and _is_below(path, place):  # a later one lies over an earlier one at the same place
            best, kind = len(place), facts[0]
    main, _, program = kind.partition(".")
    if main == "fuse":
        return program not in _PROGRAMS_HERE
    return kind in _SHARED


def is_remote_mac(path: str, table: str) -> bool:
    """The same by what ``mount`` prints on macOS, such as ``//ann@nas/photos on /Volumes/photos (smbfs, nodev)``."""
    best, options = -1, "local"
    for line in table.splitlines():
        found = re.fullmatch(r".*? on (/.*) \(([^()]*)\)", line)
        if found and len(found[1]) >= best and _is_below(path, found[1]):
            best, options = len(found[1]), found[2]
    return "local" not in [one.strip() for one in options.split(",")]


def is_remote_windows(path: str, drive_type: int) -> bool:
    """The same by a path's beginning and what ``GetDriveTypeW`` says of its drive."""
    drive = ntpath.splitdrive(path)[0].replace("/", "\\")
    if drive_type == _REMOTE:
        return True
    if drive.startswith(("\\\\?\\", "\\\\.\\")):
        return drive[4:8].upper() == "UNC\\"
    return drive.startswith("\\\\")


def _is_below(path: str, place: str) -> bool:
    return place == "/" or path == place or PurePosixPath(place) in PurePosixPath(path).parents


def _mount_table() -> str:
    import subprocess  # not for the start of the program, which looks at this module, too

    try:
        done = subprocess.run(["/sbin/mount"], capture_output=True, timeout=5.0, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "surrogateescape")


if sys.platform == "win32":

    def _drive_type(path: str) -> int:
        import ctypes

        return int(ctypes.windll.kernel32.GetDriveTypeW(ntpath.splitdrive(path)[0] + "\\"))

else:

    def _drive_type(_path: str) -> int:
        return 0
