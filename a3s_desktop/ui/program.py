"""Every object of the window, built once and handed to each other, and taken down in the right order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from a3s_desktop.i18n import tr
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage.places import user_places
from a3s_desktop.storage.thumbnails import ThumbnailStore
from a3s_desktop.ui.audit_page import AuditPage
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.clear_flow import ClearFlow
from a3s_desktop.ui.cluster_view import ClusterView
from a3s_desktop.ui.clusters_desk import ClustersDesk
from a3s_desktop.ui.clusters_page import ClustersPage
from a3s_desktop.ui.corrections import Corrections
from a3s_desktop.ui.crash_report import CrashReport
from a3s_desktop.ui.creator import Creator
from a3s_desktop.ui.export_flow import ExportFlow
from a3s_desktop.ui.first_page import FirstPage
from a3s_desktop.ui.garbage import GarbageCollector
from a3s_desktop.ui.help_desk import HelpDesk
from a3s_desktop.ui.history_flow import HistoryFlow
from a3s_desktop.ui.history_panel import HistoryPanel
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.jobs import Jobs
from a3s_desktop.ui.label_page import LabelPage
from a3s_desktop.ui.labels_flow import LabelsFlow
from a3s_desktop.ui.later_flow import LaterFlow
from a3s_desktop.ui.map_corrections import MapCorrections
from a3s_desktop.ui.map_export import MapExport
from a3s_desktop.ui.map_panel import MapMaker, MapPanel
from a3s_desktop.ui.merge_flow import MergeFlow
from a3s_desktop.ui.new_project import NewProjectPage
from a3s_desktop.ui.next_steps import NextSteps
from a3s_desktop.ui.panels import Panels
from a3s_desktop.ui.parts import PartSwitch
from a3s_desktop.ui.progress_page import ProgressPage
from a3s_desktop.ui.progress_panel import ProgressPanel
from a3s_desktop.ui.shell import Pages, Shell
from a3s_desktop.ui.theme_switch import ThemeSwitch
from a3s_desktop.ui.trace import Trace

if TYPE_CHECKING:
    from a3s_desktop.ui.cluster_map import ClusterMap


def _copies(file: Path | None, megabytes: int) -> ThumbnailStore | None:
    return ThumbnailStore(file, megabytes * 1_000_000) if file is not None and megabytes else None


class Program:
    """The window and all that stands behind it.

    Parameters
    ----------
    settings : SettingsStore
    demo_folder : Path
        Where demos are kept.
    log_file : Path or None
    trace_file : Path or None
        See ``trace.py``.
    thumbnail_file : Path or None
        Where small copies of images are kept.
    first : FirstPage, optional
        The window that is shown already. With it nothing is built yet: go through `build` to its end, step by step.
    with_map : bool
        False in safe mode: the map is neither computed nor drawn.

    Attributes
    ----------
    window, shell, bridge, creator, jobs, loader, shortcuts, label, history, map, clusters, trace
        For `main`, the automatic demo and tests.
    """

    def __init__(
        self,
        settings: SettingsStore,
        demo_folder: Path,
        log_file: Path | None = None,
        trace_file: Path | None = None,
        thumbnail_file: Path | None = None,
        first: FirstPage | None = None,
        with_map: bool = True,
    ) -> None:
        self.settings = settings
        self._with_map = with_map
        self.first = first if first is not None else FirstPage(settings)
        self.shortcuts, self.window = self.first.shortcuts, self.first.window
        self._files = (demo_folder, log_file, trace_file, thumbnail_file)
        self._down = False
        if first is None:
            for _ in self.build():
                pass

    def build(self) -> Iterator[None]:
        """Build all that is behind the first page, in steps that are short enough for a window that is shown."""
        settings, (demo_folder, log_file, trace_file, thumbnail_file) = self.settings, self._files
        self.jobs = Jobs()
        copies = _copies(thumbnail_file, settings.value.thumbnail_cache_mb)
        self.loader = ImageLoader(max_bytes=settings.value.image_cache_mb * 1_000_000, copies=copies)
        self.bridge = Bridge(self.jobs, layout=self._with_map)
        self.creator = Creator(self.jobs)
        self.trace = Trace(trace_file, self.bridge) if trace_file is not None else None
        yield from self.shortcuts.draw_icons()
        self.label = LabelPage(self.bridge, self.loader, self.shortcuts, settings)
        yield
        self.map_panel = MapPanel(self.loader)
        self.clusters = ClusterView(self.loader)
        self.history = HistoryPanel(self.bridge, self.loader)
        yield
        self.audit = AuditPage(self.bridge, self.loader, self.shortcuts, settings)
        yield
        self.first.start.use_loader(self.loader)
        self.pages = Pages(
            start=self.first.start,
            new=NewProjectPage(self.creator, settings),
            progress=ProgressPage(),
            label=self.label,
        )
        for page in (self.pages.new, self.pages.progress, self.pages.label):
            self.window.add_page(page)
        yield
        if self._with_map:
            self.window.add_dock("map", tr("Map"), self.map_panel)
        else:
            self.shortcuts.action("panel.map").setEnabled(False)
        cluster_dock = self.window.add_dock("cluster", tr("Cluster images"), self.clusters)
        history_dock = self.window.add_dock("history", tr("History"), self.history)
        self.old_answers = HistoryFlow(
            self.window, history_dock, self.history, self.bridge, self.loader, self.shortcuts
        )
        self.progress = ProgressPanel(self.bridge, self.shortcuts)
        self.window.add_dock("progress", tr("Progress"), self.progress)
        self.window.arrange()  # in the same step: it hides the docks, which a window that is shown would show
        shown_map = self.map_panel if self._with_map else None
        self.panels = Panels(self.bridge, shown_map, self.clusters, cluster_dock, self.window)
        self.shell = Shell(
            self.window,
            self.pages,
            self.bridge,
            self.creator,
            self.jobs,
            self.shortcuts,
            settings,
            demo_folder,
        )
        yield
        self.window.add_page(self.audit)
        self.next_steps = NextSteps(self.window, self.bridge, self.label, self.audit, self.shortcuts)
        self.corrections = Corrections(self.bridge, self.loader, settings, self.window)
        yield
        self.clusters_page = ClustersPage(self.bridge, self.loader, self.shortcuts, self.corrections)
        self.window.add_page(self.clusters_page)
        self.clusters_desk = ClustersDesk(
            self.window, self.bridge, self.shortcuts, self.map_panel, self.label, self.clusters_page, self.corrections
        )
        yield
        self.theme = ThemeSwitch(self.shortcuts, settings, self.window)
        self.parts = PartSwitch(self.window, self.shortcuts)
        self.help = HelpDesk(self.window, self.label, self.shortcuts, settings)
        self.theme.languageChosen.connect(self.help.say_language)
        places = user_places()
        places = replace(places, demos=demo_folder, thumbnails=thumbnail_file or places.thumbnails)
        self.clear_flow = ClearFlow(self.window, self.bridge, self.jobs, self.shortcuts, settings, places, copies)
        self.clear_flow.recentForgotten.connect(self.shell.refresh_start)
        self.crashes = CrashReport(self.window, self.jobs, log_file)
        self.export_flow = ExportFlow(self.window, self.bridge, self.jobs, self.shortcuts, settings)
        self.later_flow = LaterFlow(self.window, self.bridge, self.jobs, self.loader, self.shortcuts)
        self.labels_flow = LabelsFlow(self.window, self.bridge, self.jobs, self.shortcuts, settings)
        yield
        self.merge_flow = MergeFlow(self.window, self.bridge, self.loader, self.shortcuts, settings)
        if self._with_map:
            self.map_corrections = MapCorrections(self.bridge, self.map_panel, self.corrections, self.window)
            self.map_export = MapExport(self.window, self.map_panel, self.jobs, settings)
        if self.trace is not None:
            self.trace.watch(self.label)
        self.label.exportWanted.connect(self.export_flow.begin)
        self.label.clustersWanted.connect(self.clusters_desk.show_clusters)
        if self._with_map:
            self.map_maker = MapMaker(self.map_panel, self.window.pages, self.pages.start, self.bridge, self.jobs)
        self.garbage = GarbageCollector()
        self.first.hand_over(self)

    @property
    def map(self) -> ClusterMap:
        """The map; made when it is first asked for."""
        return self.map_panel.map

    def show(self) -> None:
        """Show the window."""
        self.first.show()
        if self.trace is not None:
            self.trace.window(int(self.window.winId()))

    def shutdown(self) -> None:
        """Store what is on its way, stop the threads, destroy the window. Harmless when called twice."""
        if self._down:
            return
        self._down = True
        self.window.hide()
        self.bridge.close_project()
        self.jobs.shutdown(wait=True)
        self.loader.shutdown()
        if self.trace is not None:
            self.trace.close()
        self.garbage.stop()
        self.window.deleteLater()
