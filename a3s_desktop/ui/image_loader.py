"""Decoded images on demand: a few decoding threads, the most urgent first, and a cache bounded in bytes.

Besides the ordinary threads there is an express one that takes only the images of the pair on screen: a decode cannot
be interrupted, and thumbnails that have just begun must not hold up what the person waits for.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QImage

from a3s_desktop.i18n import tr
from a3s_desktop.storage.thumbnails import ThumbnailStore
from a3s_desktop.ui.darkroom import Darkroom
from a3s_desktop.ui.image_decode import DecodeError, fitted, scaled_copy, source_size
from a3s_desktop.ui.small_copies import small_or_whole

NOW = 100  # the pair on screen
NEXT = 60  # images the next pair may need
SOON = 40  # thumbnails in view
_DERIVE_PIXELS = 4_000_000  # a thumbnail is made from a decoded image up to this size instead of from the file
_MAX_FAILURES = 10_000

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _Job:
    key: str
    path: Path
    box: QSize
    groups: set[str] = field(default_factory=set)
    priority: int = 0
    source: QImage | None = None  # derive from this instead of reading the file
    taken: bool = False


@dataclass(frozen=True, slots=True)
class _Result:
    job: _Job
    image: QImage | None
    reason: str


class ImageLoader(QObject):
    """Loads images off the GUI thread. All methods are for the GUI thread; `shutdown` before the application ends.

    Parameters
    ----------
    max_bytes : int
        Bound of the decoded images kept.
    threads : int
        Ordinary decoding threads.
    copies : ThumbnailStore, optional
        Small copies on disk; closed with the loader.

    Signals
    -------
    loaded(str, QImage)
        Key as returned by `request`, and the image (RGB32 or premultiplied; see ``image_decode``).
    failed(str, str)
        Key, and the reason in plain words.

    Attributes
    ----------
    darkroom : Darkroom
        Arithmetic on decoded images, off the GUI thread; ends with the loader.
    """

    loaded = Signal(str, QImage)
    failed = Signal(str, str)
    _arrived = Signal(object)

    def __init__(
        self,
        max_bytes: int = 384_000_000,
        threads: int = 2,
        parent: QObject | None = None,
        copies: ThumbnailStore | None = None,
    ) -> None:
        super().__init__(parent)
        self._copies = copies
        self._max_bytes = max_bytes
        self._bytes = 0
        self._cache: OrderedDict[str, QImage] = OrderedDict()
        self._sizes: dict[str, set[str]] = {}  # path -> keys in the cache
        self._failures: OrderedDict[str, str] = OrderedDict()
        self._jobs: dict[str, _Job] = {}  # waiting or being decoded
        self._heap: list[tuple[int, int, _Job]] = []  # every waiting job
        self._urgent: list[tuple[int, int, _Job]] = []  # those of the pair on screen, once more
        self._order = itertools.count()
        self._wake = threading.Condition()
        self._closed = False
        self._waking = QTimer(self, singleShot=True, interval=0)  # who paints a hundred pictures is not held up by it
        self._waking.timeout.connect(self._rouse)
        self._arrived.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self.darkroom = Darkroom(parent=self)
        heaps = [self._heap] * threads + [self._urgent]
        self._threads = [
            threading.Thread(target=self._work, args=(heap,), name=f"a3s-decode-{i}", daemon=True)
            for i, heap in enumerate(heaps)
        ]
        for thread in self._threads:
            thread.start()

    @staticmethod
    def key(path: Path, box: QSize) -> str:
        """Name of a path at a size."""
        return f"{box.width()}x{box.height()}|{path}"

    def get(self, path: Path, box: QSize) -> QImage | None:
        """The image if it is decoded already; it counts as used."""
        key = self.key(path, box)
        image = self._cache.get(key)
        if image is not None:
            self._cache.move_to_end(key)
        return image

    def failure(self, path: Path, box: QSize) -> str | None:
        """Why the image could not be loaded, if that is known already."""
        return self._failures.get(self.key(path, box))

    def best(self, path: Path) -> QImage | None:
        """The largest decoded version of a file, to show something at once."""
        images = [self._cache[key] for key in self._sizes.get(str(path), ())]
        return max(images, key=lambda image: image.width() * image.height(), default=None)

    def request(self, path: Path, box: QSize, priority: int = SOON, group: str = "") -> str:
        """Ask for an image; ends in ``loaded`` or ``failed`` unless its group is cancelled first.

        Decoding of the pair begins at once, of all else with the event loop's next turn.

        Parameters
        ----------
        path : Path
        box : QSize
            Device pixels to fit into.
        priority : int
            Larger is sooner. Asking again raises the priority of a waiting request.
        group : str
            What `cancel` refers to.

        Returns
        -------
        str
            The key that the signals will name.
        """
        key = self.key(path, box)
        job = self._jobs.get(key)
        if job is None:
            job = _Job(key, path, QSize(box))
            known, reason = self.get(path, box), self._failures.get(key)
            if known is not None or reason is not None:
                self._arrived.emit(_Result(job, known, reason or ""))
                return key
            job.source = self._source_for(path, box)
            self._jobs[key] = job
        with self._wake:
            job.groups.add(group)
            if not job.taken and (priority > job.priority or job.priority == 0):
                job.priority = priority
                entry = (-priority, next(self._order), job)
                heapq.heappush(self._heap, entry)
                if priority >= NOW:
                    heapq.heappush(self._urgent, entry)
                    self._wake.notify_all()
                elif not self._waking.isActive():
                    self._waking.start()
        return key

    @Slot()
    def _rouse(self) -> None:
        with self._wake:
            self._wake.notify_all()

    def prefetch(self, paths: Iterable[Path], box: QSize, group: str = "prefetch") -> None:
        """Decode ahead, the first path first; replaces what this group was still waiting for."""
        wanted = list(paths)
        self.cancel(group, keep={self.key(path, box) for path in wanted})
        for i, path in enumerate(wanted):
            if self.get(path, box) is None and self.failure(path, box) is None:
                self.request(path, box, max(1, NEXT - i), group)

    def cancel(self, group: str, keep: Iterable[str] = ()) -> None:
        """Forget the waiting requests of a group, but those whose key is in ``keep``. Running decodes finish."""
        kept = set(keep)
        with self._wake:
            for key, job in list(self._jobs.items()):
                if group in job.groups and key not in kept:
                    job.groups.discard(group)
                    if not job.groups and not job.taken:
                        del self._jobs[key]

    def clear(self) -> None:
        """Forget all images and failures (another project, files that changed); waiting requests are dropped."""
        with self._wake:
            self._jobs = {key: job for key, job in self._jobs.items() if job.taken}
            self._heap.clear()
            self._urgent.clear()
        self._cache.clear()
        self._sizes.clear()
        self._failures.clear()
        self._bytes = 0

    @property
    def cached_bytes(self) -> int:
        """Bytes of the decoded images kept now."""
        return self._bytes

    def set_max_bytes(self, count: int) -> None:
        """Change the bound; shrinks at once."""
        self._max_bytes = count
        self._trim("")

    def shutdown(self) -> None:
        """Stop and wait for the threads; nothing is delivered any more. Harmless when called twice."""
        with self._wake:
            self._closed = True
            self._jobs.clear()
            self._heap.clear()
            self._urgent.clear()
            self._wake.notify_all()
        for thread in self._threads:
            thread.join()
        if self._copies is not None:
            self._copies.close()
        self.darkroom.shutdown()

    def _source_for(self, path: Path, box: QSize) -> QImage | None:
        for key in self._sizes.get(str(path), ()):
            image = self._cache[key]
            enough = fitted(source_size(image), box)
            if image.width() >= enough.width() and image.width() * image.height() <= _DERIVE_PIXELS:
                return image
        return None

    def _work(self, heap: list[tuple[int, int, _Job]]) -> None:
        while True:
            with self._wake:
                while not heap and not self._closed:
                    self._wake.wait()
                if self._closed:
                    return
                _, _, job = heapq.heappop(heap)
                if job.taken or not job.groups:
                    continue  # raised in priority and done already, or cancelled
                job.taken = True
            self._arrived.emit(self._decode(job))

    def _decode(self, job: _Job) -> _Result:
        try:
            if job.source is not None:
                image = scaled_copy(job.source, job.box)
            else:
                image = small_or_whole(job.path, job.box, self._copies)
        except DecodeError as error:
            return _Result(job, None, str(error))
        except Exception:
            _log.exception("decoding failed: %s", job.path.name)
            return _Result(job, None, tr("The image cannot be shown because of an error in the program."))
        return _Result(job, image, "")

    @Slot(object)
    def _deliver(self, result: _Result) -> None:
        if self._closed:
            return
        job = result.job
        if self._jobs.get(job.key) is job:
            del self._jobs[job.key]
        if result.image is None:
            self._failures[job.key] = result.reason
            if len(self._failures) > _MAX_FAILURES:
                self._failures.popitem(last=False)
            self.failed.emit(job.key, result.reason)
            return
        self._keep(job, result.image)
        self.loaded.emit(job.key, result.image)

    def _keep(self, job: _Job, image: QImage) -> None:
        if job.key not in self._cache:
            self._bytes += image.sizeInBytes()
            self._cache[job.key] = image
            self._sizes.setdefault(str(job.path), set()).add(job.key)
        self._trim(job.key)

    def _trim(self, newest: str) -> None:
        while self._bytes > self._max_bytes and self._cache:
            key, image = next(iter(self._cache.items()))
            if key == newest:
                return  # one image larger than the bound is still shown
            del self._cache[key]
            self._bytes -= image.sizeInBytes()
            path = key.partition("|")[2]
            keys = self._sizes.get(path, set())
            keys.discard(key)
            if not keys:
                self._sizes.pop(path, None)
