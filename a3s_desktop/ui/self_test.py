"""The installed program looks at itself: libraries, image formats, the model, every screen, forty answers, an export.

What `a3s-desktop --self-test` runs, on the developer's machine and on that of a user whose installation is in doubt.
The window is the real one, off the screen, and gets key events; nothing is written but into a temporary folder, and
nothing may ask the network for anything.
"""

from __future__ import annotations

import importlib
import logging
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, features
from PySide6.QtCore import QEvent, QSize, qInstallMessageHandler
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QWidget

from a3s_desktop import __version__
from a3s_desktop.errors import A3SError
from a3s_desktop.resources import resource
from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui import auto_demo
from a3s_desktop.ui.auto_demo import Driver, Results
from a3s_desktop.ui.image_decode import decode
from a3s_desktop.ui.program import Program
from a3s_desktop.ui.theme import apply_theme

ANSWERS = 40
LIBRARIES = ("scipy.sparse.linalg", "sklearn.cluster", "sklearn.isotonic", "pyqtgraph", "pi_heif", "sqlite3")
# Action, and the file name of its picture.
_PAGES = (("page.clusters", "11-clusters"), ("page.pair", ""), ("audit.open", "12-sample"), ("page.pair", ""))
_DIALOGS = (("help.contents", "13-help"), ("settings.keys", "14-keys"), ("help.about", "15-about"))
_COLOUR = (200, 90, 40)
_NEAR = 24  # of 255, by which a lossy format may be off

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Report:
    """What was found, line by line."""

    say: Callable[[str], None]
    lines: list[str] = field(default_factory=list)
    failed: int = 0

    def check(self, name: str, look: Callable[[], str]) -> None:
        """Run one check; its text is what is said of it, its exception the reason why it failed."""
        started = time.monotonic()
        try:
            found = look()
        except Exception as error:
            self.failed += 1
            log.exception("Self-test: %s", name)
            found, sign = f"{type(error).__name__}: {error}", "FAILED"
        else:
            sign = "ok"
        self.tell(f"{sign:6} {name}: {found} ({time.monotonic() - started:.1f} s)")

    def tell(self, line: str) -> None:
        """One line."""
        self.lines.append(line)
        self.say(line)


class Network:
    """Notes every attempt to reach another machine by Python's sockets, and refuses it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.watching = True
        sys.addaudithook(self._hear)  # cannot be taken back, so it is told when it is over

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.watching or event not in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
            return
        address = arguments[1] if event != "socket.getaddrinfo" else arguments[0]
        if isinstance(address, str | bytes) and event != "socket.getaddrinfo":
            return  # a socket of this machine
        self.asked.append(f"{event} {address}")
        raise OSError("The self-test allows no network.")

    def result(self) -> str:
        """What `Report.check` wants to hear."""
        if self.asked:
            raise A3SError(f"asked for {', '.join(self.asked[:3])}")
        return "no attempt to reach it" + ("" if "ssl" in sys.modules else "; TLS is not loaded")


def self_test(folder: Path | None, say: Callable[[str], None]) -> bool:
    """Check everything; returns whether all is well.

    Parameters
    ----------
    folder : Path or None
        Where the pictures, the demo's table and ``self-test.txt`` go; None keeps nothing.
    say : callable
        Called with each line as it comes.
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    report, network = Report(say), Network()
    report.tell(f"A3S Desktop {__version__}, Python {sys.version.split()[0]}, {sys.platform}")
    logging.getLogger("qt").addHandler(logging.NullHandler())
    former = qInstallMessageHandler(auto_demo.log_qt)
    scratch = Path(tempfile.mkdtemp(prefix="a3s-self-test-"))
    out = folder if folder is not None else scratch / "out"
    try:
        out.mkdir(parents=True, exist_ok=True)
        existing = QApplication.instance()
        app = existing if isinstance(existing, QApplication) else QApplication(["a3s-desktop"])
        apply_theme(app, "light")
        report.check("libraries", _libraries)
        report.check("image formats", lambda: _formats(scratch))
        report.check("model", _model)
        report.check("window", lambda: _window(app, scratch, out))
        report.check("network", network.result)
        report.tell("All is well." if not report.failed else f"{report.failed} of the checks failed.")
        if folder is not None:
            (folder / "self-test.txt").write_text("\n".join(report.lines) + "\n", encoding="utf-8")
    finally:
        network.watching = False
        qInstallMessageHandler(former)
        shutil.rmtree(scratch, ignore_errors=True)
    return not report.failed


def _libraries() -> str:
    for name in LIBRARIES:
        importlib.import_module(name)
    left = np.random.default_rng(0).normal(size=(64, 64))
    if not np.allclose(np.linalg.inv(left) @ left, np.eye(64), atol=1e-6):
        raise A3SError("linear algebra gives wrong results")
    return f"{len(LIBRARIES)} loaded, NumPy {np.__version__}"


def sample_files(folder: Path) -> dict[str, Path]:
    """One small file of each format, by the format's name; all but HEIC are made here."""
    plain, box = Image.new("RGB", (48, 32), _COLOUR), (48, 32)
    grey = Image.fromarray(np.tile(np.linspace(0, 60000, box[0]).astype(np.uint16), (box[1], 1)))
    real = Image.fromarray(np.tile(np.linspace(0, 1, box[0], dtype=np.float32), (box[1], 1)))
    made: dict[str, tuple[Image.Image, str, dict[str, Any]]] = {
        "JPEG": (plain, "jpg", {"quality": 95}),
        "JPEG CMYK": (plain.convert("CMYK"), "cmyk.jpg", {"quality": 95}),
        "PNG": (plain, "png", {}),
        "WebP": (plain, "webp", {"lossless": True}),
        "GIF": (plain, "gif", {}),
        "BMP": (plain, "bmp", {}),
        "TIFF": (plain, "tif", {"compression": "tiff_lzw"}),
        "TIFF 16 bit": (grey, "16.tif", {}),
        "TIFF 32 bit": (real, "32.tif", {}),
    }
    if features.check("avif"):
        made["AVIF"] = (plain, "avif", {"quality": 95})
    files = {}
    for name, (picture, suffix, options) in made.items():
        files[name] = folder / f"sample.{suffix}"
        picture.save(files[name], **options)
    files["HEIC"] = resource("samples", "sample.heic")
    return files


def _formats(folder: Path) -> str:
    files = sample_files(folder)
    for name, path in files.items():
        image = decode(path, QSize(200, 200))
        if image.isNull() or image.width() < 16:
            raise A3SError(f"{name} gives no picture")
        if "bit" not in name and name not in ("HEIC", "JPEG CMYK"):
            seen = QColor(image.pixel(image.width() // 2, image.height() // 2)).getRgb()[:3]  # type: ignore[index]
            if max(abs(a - b) for a, b in zip(seen, _COLOUR, strict=True)) > _NEAR:
                raise A3SError(f"{name} shows {seen} instead of {_COLOUR}")
    if "AVIF" not in files:
        raise A3SError("AVIF cannot be read")
    return ", ".join(files)


def _model() -> str:
    from a3s_desktop.storage.embedding_options import LITE0, ModelOptions
    from a3s_desktop.storage.embedding_outlook import models_run, preset_there
    from a3s_desktop.storage.onnx_model import OnnxModel

    if not models_run():
        return "not part of this installation"
    if not preset_there():
        raise A3SError("the runtime is there, the weights of EfficientNet-Lite0 are not")
    model = OnnxModel(LITE0, ModelOptions())
    noise = np.random.default_rng(0).integers(0, 255, (2, model.size, model.size, 3), dtype=np.uint8)
    values = model.describe(noise)
    if len(values) != len(noise) or not np.isfinite(values).all() or np.allclose(values[0], values[1]):
        raise A3SError("its description of two images makes no sense")
    return f"{model.title} describes an image with {values.shape[1]:,} numbers"


def _window(app: QApplication, scratch: Path, out: Path) -> str:
    settings = SettingsStore(None)
    settings.change(theme="light", last_folder=str(scratch))
    program = Program(settings, scratch / "demos")
    results = Results("ladybirds")
    walk = _Walk(app, program, scratch, out, results)
    try:
        walk.run("ladybirds", ANSWERS)
    finally:
        program.shutdown()
        app.processEvents()
        app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    start, end = results.curve[0], results.curve[-1]
    return (
        f"{len(results.pictures)} screens, {end[0]} answers with undo and redo, export written, "
        f"NMI {start[3]:.3f} to {end[3]:.3f}"
    )


class _Walk(Driver):
    """The automatic demo, and the screens that it leaves out; it does not go on to the end."""

    def _to_the_end(self) -> None:
        answers = self._results.curve[-1][0]
        if answers != ANSWERS:
            raise A3SError(f"{answers} answers were counted instead of {ANSWERS}")
        program = self._program
        for action, name in _PAGES:
            self._trigger(action)
            self._settle(0.3)
            if name:
                self.picture(name)
        for action, name in _DIALOGS:
            known = set(self._shown())
            self._trigger(action)
            self.wait(lambda seen=known: bool(set(self._shown()) - seen), f"the window of {action}", 20)  # type: ignore[misc]
            self._settle(0.2)
            dialog = next(widget for widget in self._shown() if widget not in known)
            dialog.grab().save(str(self._out / f"{name}.png"))
            self._results.pictures.append(f"{name}.png")
            dialog.close()
            self.wait(lambda shown=dialog: not shown.isVisible(), f"the window of {action} to close", 20)  # type: ignore[misc]
        program.window.activateWindow()

    def _trigger(self, name: str) -> None:
        action = self._program.shortcuts.action(name)
        if not action.isEnabled():
            raise A3SError(f"{action.text()} cannot be chosen.")
        action.trigger()

    def _shown(self) -> list[QWidget]:
        return [w for w in QApplication.topLevelWidgets() if w.isVisible() and w is not self._program.window]
