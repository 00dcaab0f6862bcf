"""Read files in processes of their own, each with little memory; started by the tests, one line of JSON for each file.

``python -m tests.hostile.reading FILE...``: how each way of the program that opens pictures ends, how much memory
they took at most above what the process had, in MB, and their CPU time.
"""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

MEMORY = 700_000_000  # bytes that reading a file may take: one that takes more fails, or is killed
SECONDS = 60  # of CPU time; a guard against hanging, no measure


def ways() -> dict[str, Callable[[Path], object]]:
    """Every way in which the program opens pictures that users give it."""
    from PIL import Image
    from PySide6.QtCore import QSize
    from PySide6.QtGui import QGuiApplication

    from a3s_desktop.storage import images, person_names, picture
    from a3s_desktop.ui import file_facts, image_decode

    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    ways.application = QGuiApplication([])  # type: ignore[attr-defined]
    # As after the first photo that was read: Pillow's own limits are off then.
    memory = io.BytesIO()
    Image.new("RGB", (4, 4)).save(memory, "PNG")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "first.png").write_bytes(memory.getvalue())
        picture.read_picture(Path(folder, "first.png"))
    return {
        "probe": lambda path: images.probe_images(path.parent, [path.name]),
        "read": lambda path: picture.read_picture(path, (300, 300)).size,
        "whole": lambda path: picture.read_picture(path).size,
        "size": picture.upright_size,
        "show": lambda path: image_decode.decode(path, QSize(900, 700)).isNull(),
        "show whole": lambda path: image_decode.decode(path, QSize()).isNull(),
        "facts": file_facts.read_facts,
        "people": person_names.people_in,
    }


def _in_child(known: dict[str, Callable[[Path], object]], path: Path) -> dict[str, object]:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        virtual = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (virtual + MEMORY, virtual + MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resident = _resident()
        said = {}
        for way, read in known.items():
            try:
                said[way] = repr(read(path))[:200]
            except BaseException as error:  # noqa: BLE001 - whatever it is goes to the parent
                said[way] = f"{type(error).__name__}: {error}"[:200]
        peak = int(_status("VmHWM")) - resident
        os.write(writer, json.dumps({"said": said, "mb": round(peak / 1000)}).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read()
    _, status, usage = os.wait4(child, 0)
    seconds = round(usage.ru_utime + usage.ru_stime, 2)
    if text:
        return {**json.loads(text), "s": seconds}
    return {"said": {"": f"killed by {signal.Signals(os.WTERMSIG(status)).name}"}, "mb": -1, "s": seconds}


def _status(field: str) -> str:
    text = Path("/proc/self/status").read_text()
    return next(line.split()[1] for line in text.splitlines() if line.startswith(f"{field}:"))


def _resident() -> int:
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    return int(_status("VmRSS"))


def main() -> None:
    """See the module."""
    known = ways()
    for name in sys.argv[1:]:
        print(json.dumps({"file": Path(name).name, **_in_child(known, Path(name))}), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
