"""Pictures of every screen, to be looked at: ``python -m tests.ui.screenshots --out DIR``.

The real program off the screen, on the drawn ladybirds. Each screen is shown once and then photographed in every
theme and at every size that is asked for. ``--scale 2 --text 150 --language de`` show it as others see it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication, QDialog, QWidget

    from a3s_desktop.ui.program import Program

SIZES = {"1280x720": (1280, 720), "2560x1440": (2560, 1440)}
PATIENCE = 120.0  # seconds
LONG = "A very long project name, as people write them: Neuseelaendische Suedkaper 2019-2026 (flanks, left side only)"


class Studio:
    """Shows one screen after the other and takes pictures of each."""

    def __init__(self, app: QApplication, scratch: Path, options: argparse.Namespace) -> None:
        from a3s_desktop.settings import SettingsStore
        from a3s_desktop.ui.program import Program

        self.app, self.scratch, self.options = app, scratch, options
        self.taken = 0
        settings = SettingsStore(None)
        settings.change(last_folder=str(scratch), theme="light", text_size=options.text)
        self.program: Program = Program(settings, scratch / "demos")

    # Time

    def settle(self, seconds: float = 0.15) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.app.processEvents()
            time.sleep(0.002)

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not condition():
            self.app.processEvents()
            time.sleep(0.002)
            if time.monotonic() > end:
                raise SystemExit(f"waited in vain for {what}")

    # Pictures

    def take(self, name: str, dialog: QDialog | None = None) -> None:
        """The window, with a dialog of it on top, in every theme and size."""
        from PySide6.QtGui import QColor, QPainter

        from a3s_desktop.ui.pair_area import PairArea
        from a3s_desktop.ui.theme import apply_theme

        if self.options.only and not any(part in name for part in self.options.only):
            return
        window = self.program.window
        for size in self.options.sizes:
            for theme in self.options.themes:
                apply_theme(self.app, theme, self.options.text)
                self.program.shortcuts.retheme()
                window.resize(*SIZES[size])
                self.settle()
                for area in self.program.label.findChildren(PairArea):
                    area.stop_flash()
                self.settle(0.1)
                image = window.grab()
                if dialog is not None:
                    painter = QPainter(image)
                    painter.fillRect(window.rect(), QColor(0, 0, 0, 90))
                    left = (window.width() - dialog.width()) // 2
                    painter.drawPixmap(left, (window.height() - dialog.height()) // 2, dialog.grab())
                    painter.end()
                folder = self.options.out / f"{theme}-{size}"
                folder.mkdir(parents=True, exist_ok=True)
                image.save(str(folder / f"{name}.png"))
                self.taken += 1

    def dialog(self, action: Callable[[], object], name: str) -> None:
        """A dialog that an action opens."""
        from PySide6.QtWidgets import QDialog

        action()
        self.settle(0.2)
        found = [w for w in self.app.topLevelWidgets() if isinstance(w, QDialog) and w.isVisible()]
        if found:
            self.take(name, found[-1])
            found[-1].close()
            self.settle()

    # Screens

    def run(self) -> None:
        """All screens, one after the other."""
        program = self.program
        program.window.show()
        self.settle(0.3)
        self.take("01-start-empty")
        self.new_project()
        self.pair()
        self.panels()
        self.clusters()
        self.reviews()
        self.dialogs()
        self.finished()
        self.start_again()

    def new_project(self) -> None:
        from a3s_desktop.demo.project import demo_data
        from a3s_desktop.ui.jobs import Worker

        program, page = self.program, self.program.pages.new
        program.shortcuts.action("project.new").trigger()
        self.take("02-new-empty")
        made: list = []
        program.jobs.submit(Worker.BACKGROUND, demo_data, "ladybirds", self.scratch / "demos", done=made.append,
                            with_task=True)  # fmt: skip
        self.wait(lambda: bool(made), "the demo's pictures")
        data = made[0]
        page.images.set_path(data.images)
        page.features.add(str(data.labels))
        page.location.set_path(self.scratch)
        page.name.setText(LONG)
        self.settle(1.5)
        self.take("03-new-problem")
        page.features.set_paths((data.features,))
        page.order.set_path(data.order)
        page.advanced_button.setChecked(True)
        self.wait(page.create_button.isEnabled, "the check")
        self.take("04-new-ready")
        reports: list[object] = []
        program.creator.progressed.connect(reports.append)
        page.create_button.click()
        self.wait(lambda: len(reports) >= 3 or program.label.ready, "a stage")
        self.take("05-progress")
        self.wait(lambda: program.label.ready, "the first pair")

    def pair(self) -> None:
        program, action = self.program, self.program.shortcuts.action
        self.take("10-pair")
        action("answer.same").trigger()
        self.wait(lambda: program.label.ready, "the second pair")
        self.take("11-pair-answered")
        for name, spec in (("overlay", "compare.overlay"), ("split", "compare.split"), ("tones", "compare.tones"),
                           ("difference", "compare.difference"), ("facts", "compare.facts")):  # fmt: skip
            try:
                tool = action(spec)
            except KeyError:
                continue
            tool.trigger()
            self.settle(0.6)
            self.take(f"12-pair-{name}")
            tool.trigger()
            self.settle(0.2)
        action("view.legend").trigger()
        self.take("13-pair-without-keys")
        action("view.legend").trigger()

    def panels(self) -> None:
        from PySide6.QtWidgets import QDockWidget

        program = self.program
        for _ in range(12):
            program.shortcuts.action("answer.different").trigger()
            self.wait(lambda: program.label.ready, "a pair")
        for dock in program.window.findChildren(QDockWidget):
            dock.show()
            dock.raise_()
            self.settle(0.6)
            self.take(f"20-{dock.objectName().replace('.', '-')}")
        for dock in program.window.findChildren(QDockWidget):
            dock.hide()
        self.take("21-pair-alone")
        for dock in program.window.findChildren(QDockWidget):
            dock.show()

    def clusters(self) -> None:
        from a3s_desktop.ui.cluster_picker import ClusterPicker
        from a3s_desktop.ui.merge_preview import MergePreview

        program, page, do = self.program, self.program.clusters_page, self.program.corrections
        program.shortcuts.action("page.clusters").trigger()
        self.wait(lambda: bool(page.gallery.ids()), "the gallery")
        ids = page.gallery.ids()
        for act in (lambda: do.rename(ids[0], "Anna"), lambda: do.rename(ids[1], LONG), lambda: do.finish(ids[0]),
                    lambda: do.junk((3, 5, 9))):  # fmt: skip
            revision = program.bridge.state.revision  # type: ignore[union-attr]
            act()
            self.wait(lambda r=revision: program.bridge.state.revision > r, "a correction")  # type: ignore[union-attr,misc]
        self.settle(0.5)
        self.take("22-clusters")
        page.open_cluster(ids[1])
        self.wait(lambda: bool(page.pane.near.rows), "a cluster")
        page.pane.grid.choose([0, 1, 4], 4)
        self.settle(0.5)
        self.take("23-cluster")
        do.pick_merge(ids[1])
        self.settle(0.5)
        picker = program.window.findChildren(ClusterPicker)[-1]
        self.take("24-cluster-picker", picker)
        picker.reject()
        do.merge(ids[1], ids[2])
        self.settle(0.5)
        preview = program.window.findChildren(MergePreview)[-1]
        self.take("25-merge", preview)
        preview.reject()
        page.show_singles()
        self.wait(lambda: bool(page.singles.list.rows), "the single images")
        self.settle(0.5)
        self.take("26-single-images")
        page.show_junk()
        self.settle(0.3)
        self.take("27-junk")
        program.shortcuts.action("page.pair").trigger()
        self.wait(lambda: program.label.ready, "the pair")

    def reviews(self) -> None:
        """Old answers, contradictions, doubtful answers, the sample check."""
        from a3s_desktop.ui.contradiction_chain import ChainLink
        from a3s_desktop.ui.contradiction_dialog import ContradictionDialog

        program, action = self.program, self.program.shortcuts.action
        panel, items = program.history, program.bridge.items
        program.window.dock("history").show()
        program.window.dock("history").raise_()
        self.wait(lambda: panel.model.entry(8) is not None, "the history")
        panel.filter.more.setChecked(True)
        self.settle(0.4)
        self.take("28-history-filter")
        panel.filter.reset()
        panel.filter.more.setChecked(False)
        entries = [entry for entry in map(panel.model.entry, range(9)) if entry is not None and entry.right >= 0]
        assert items is not None
        program.old_answers.look_at(entries[0])
        look = program.old_answers.second_look
        self.wait(lambda: bool(look.view.seen), "the old answer")
        self.settle(0.3)
        self.take("28-old-answer", look)
        look.close()
        chain = [ChainLink(entry.left, entry.right, place < 2, entry) for place, entry in enumerate(entries[:3])]
        dialog = ContradictionDialog(program.loader, items, program.window)
        dialog.show_chain(ChainLink(chain[0].left, chain[-1].right, True, None, new=True), chain, 0)
        dialog.open()
        self.settle(0.8)
        self.take("28-contradiction", dialog)
        dialog.reject()
        self.dialog(action("history.doubtful").trigger, "29-doubtful")
        action("audit.open").trigger()
        self.settle(1.0)
        self.take("29-sample-check")
        action("audit.back").trigger()
        self.wait(lambda: program.label.ready, "the pair")

    def dialogs(self) -> None:
        from a3s_desktop.errors import InputError
        from a3s_desktop.ui.dialogs import show_error

        program, action = self.program, self.program.shortcuts.action
        self.dialog(action("project.export").trigger, "30-export")
        self.dialog(action("settings.keys").trigger, "31-keys")
        self.dialog(action("help.about").trigger, "32-about")
        error = InputError("Row 1,234 of features.npy holds a number that is not finite (column 17).", "Leave it out.")
        self.dialog(lambda: show_error(program.window, error), "33-error")
        self.dialog(lambda: program.help.say_language("de"), "34-language")
        for name in ("project.labels", "project.add", "project.replace", "project.merge", "settings.annotator"):
            self.dialog(action(name).trigger, f"35-{name.replace('.', '-')}")
        for page in ("first-steps", "answers", "keys", "trouble"):
            self.dialog(lambda page=page: self._help(page), f"35-help-{page}")
        action("help.tour").trigger()
        tour = program.help.tour
        for step in range(4):
            self.take(f"36-tour-{step + 1}")
            if tour is not None:
                tour.forward()
        self.settle()
        for entry in program.window.menuBar().actions():
            title, menu = entry.text(), entry.menu()
            menu.popup(program.window.mapToGlobal(program.window.rect().topLeft()))
            self.settle()
            self._menu(f"37-menu-{title.strip('&').lower()}", menu)
            menu.close()

    def _menu(self, name: str, menu: QWidget) -> None:
        from a3s_desktop.ui.theme import apply_theme

        for theme in self.options.themes:
            apply_theme(self.app, theme, self.options.text)
            self.settle()
            folder = self.options.out / f"{theme}-menus"
            folder.mkdir(parents=True, exist_ok=True)
            menu.grab().save(str(folder / f"{name}.png"))
            self.taken += 1

    def _help(self, page: str) -> None:
        self.program.help.show_help()
        self.program.help._help.show_page(page)

    def finished(self) -> None:
        from a3s_desktop.storage.matching import load_labels

        program = self.program
        if self.options.only and not any("40" in part or "finished" in part for part in self.options.only):
            return
        items = program.bridge.items
        assert items is not None
        data = next(self.scratch.glob("demos/**/labels*"))
        labels = load_labels(data, len(items), items.paths, "")
        for _ in range(600):
            self.wait(lambda: program.label.ready or program.bridge.phase == "finished", "a pair")
            question = program.label.question
            if question is None or program.bridge.phase == "finished":
                break
            same = labels.codes[question.left] == labels.codes[question.right]
            program.shortcuts.action("answer.same" if same else "answer.different").trigger()
        self.settle(0.3)
        self.take("40-finished")

    def start_again(self) -> None:
        program = self.program
        project = program.settings.value.recent[0]
        gone = self.scratch / "gone" / ("with a long path " * 6).strip()
        program.settings.change(recent=(project, str(gone)))
        program.shortcuts.action("project.close").trigger()
        self.settle(1.0)
        self.take("41-start")


def _platform(folder: Path) -> str:
    """Qt's platform without a screen, with one of 4K: sizes depend on the room that a screen gives."""
    config = folder / "screens.json"
    screen = {"name": "4k", "x": 0, "y": 0, "width": 3840, "height": 2160, "logicalDpi": 96, "logicalBaseDpi": 96,
              "dpr": 1.0}  # fmt: skip
    config.write_text(json.dumps({"screens": [screen]}))
    return f"offscreen:configfile={config}"


def _users(folder: Path) -> Iterator[tuple[str, str]]:
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        yield name, str(folder / name.lower())


def main(arguments: list[str] | None = None) -> int:
    """Take the pictures; see the module's text."""
    parser = argparse.ArgumentParser(prog="python -m tests.ui.screenshots", description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--themes", nargs="+", default=["light", "dark"],
                        choices=["light", "dark", "contrast"])  # fmt: skip
    parser.add_argument("--sizes", nargs="+", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--language", default="en")
    parser.add_argument("--text", type=int, default=100, choices=[100, 115, 130, 150])
    parser.add_argument("--scale", default="", help="QT_SCALE_FACTOR, such as 2")
    parser.add_argument("--only", nargs="*", default=[], help="parts of the names of the screens that are wanted")
    options = parser.parse_args(arguments)
    options.out = options.out.resolve()
    if options.scale:
        os.environ["QT_SCALE_FACTOR"] = options.scale
    with tempfile.TemporaryDirectory(prefix="a3s-pictures-", ignore_cleanup_errors=True) as scratch:
        os.environ["QT_QPA_PLATFORM"] = _platform(Path(scratch))
        os.environ.update(_users(Path(scratch)))
        from PySide6.QtWidgets import QApplication

        from a3s_desktop.ui.app import speak
        from a3s_desktop.ui.theme import apply_theme

        app = QApplication(sys.argv[:1])
        speak(app, options.language)
        apply_theme(app, "light", options.text)
        studio = Studio(app, Path(scratch), options)
        try:
            studio.run()
        finally:
            studio.program.shutdown()
            app.processEvents()
    print(f"{studio.taken} pictures in {options.out}")  # noqa: T201 - the product of the command
    return 0


if __name__ == "__main__":
    sys.exit(main())
