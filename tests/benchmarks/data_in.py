"""Times of data coming in: ``python tests/benchmarks/data_in.py`` prints a table. Not a test: figures vary by machine.

Wall seconds: scan and check of 10,000 images with 10,000 x 512 features; descriptions and reading of photos; how long a
cancelled description takes to stop.
"""

from __future__ import annotations

import io
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image

from a3s_desktop.errors import Cancelled
from a3s_desktop.storage.embedding import describe_images, sources_of
from a3s_desktop.storage.embedding_options import EmbeddingOptions
from a3s_desktop.storage.features import examine, load_features
from a3s_desktop.storage.images import probe_images, scan_images
from a3s_desktop.storage.picture import read_picture
from a3s_desktop.storage.spec import ProjectSpec, check_spec
from a3s_desktop.task import Task

ITEMS, COLUMNS = 10_000, 512


def timed(work: Callable[[], object], times: int = 3) -> float:
    """Median wall seconds."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def photo(side: int, quality: int = 88) -> bytes:
    """A JPEG file with the detail of a photograph, 4:3."""
    rng = np.random.default_rng(0)
    size = (side, side * 3 // 4)
    layers = [
        np.asarray(Image.fromarray(rng.integers(0, 256, (n * 3 // 4, n, 3), np.uint8)).resize(size), np.float32)
        / weight
        for n, weight in ((12, 2), (120, 4), (side // 3, 8))
    ]
    file = io.BytesIO()
    Image.fromarray(np.clip(sum(layers), 0, 255).astype(np.uint8)).save(file, "JPEG", quality=quality)
    return file.getvalue()


def folder_of(root: Path, data: bytes, count: int) -> list[str]:
    """``count`` copies in sub-folders of a hundred."""
    names = [f"{number // 100:03d}/{number:05d}.jpg" for number in range(count)]
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return names


def limit(paths: list[Path]) -> float:
    """Images a second of the decoder alone, on two threads: nothing but libjpeg at the nearest scale."""

    def bare(path: Path) -> None:
        with Image.open(path) as image:
            image.draft("RGB", (256, 256))
            image.load()

    return rate(bare, paths)


def rate(work: Callable[[Path], object], paths: list[Path]) -> float:
    """Images a second on two threads."""
    with ThreadPoolExecutor(2) as pool:
        seconds = timed(lambda: list(pool.map(work, paths)), 3)
    return len(paths) / seconds


def cancelling(root: Path, names: list[str], options: EmbeddingOptions, blocks: Path) -> float:
    """Worst seconds from a request to stop to the stop, of five."""
    worst = 0.0
    sources = sources_of(options)
    for attempt in range(5):
        task, asked = Task(), [0.0]

        def stop(task: Task = task, asked: list[float] = asked) -> None:
            asked[0] = time.perf_counter()
            task.cancel()

        timer = threading.Timer(0.5 + attempt * 0.13, stop)
        timer.start()
        try:
            describe_images(root, names, sources, blocks / str(attempt), task)
        except Cancelled:
            worst = max(worst, time.perf_counter() - asked[0])
        timer.join()
    return worst


def main() -> None:
    """Print the table."""
    out = sys.stdout.write
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        small = home / "small"
        folder_of(small, photo(96), ITEMS)
        np.save(home / "f.npy", np.random.default_rng(0).normal(size=(ITEMS, COLUMNS)).astype(np.float32))
        scan_images(small)
        paths = scan_images(small).paths
        out(f"scan of {ITEMS:,} images: {timed(lambda: scan_images(small)):.2f} s\n")
        out(f"look at the ends of each: {timed(lambda: probe_images(small, paths)):.2f} s\n")
        file = load_features(home / "f.npy")
        out(f"validation of {ITEMS:,} x {COLUMNS}: {timed(lambda: examine(file)):.2f} s\n")
        spec = ProjectSpec(home / "p", small, (home / "f.npy",))
        out(f"the whole check of a project: {timed(lambda: check_spec(spec)):.2f} s\n")
        large = home / "large"
        names = folder_of(large, photo(4000), 40)
        files = [large / name for name in names]
        best, ours = limit(files), rate(lambda path: read_picture(path, (256, 256)), files)
        out(f"thumbnails of 12 MP JPEG: {ours:.1f} a second, {ours / best:.2f} of the decoder alone ({best:.1f})\n")
        many = folder_of(home / "many", photo(1000), 200)
        for options in (EmbeddingOptions(), EmbeddingOptions(model="lite0")):
            what = f"{options.model or 'the built-in description'}"
            sources = sources_of(options)
            start = time.perf_counter()
            describe_images(home / "many", many, sources, home / f"blocks-{what[:5]}", Task())
            each = (time.perf_counter() - start) / len(many)
            worst = cancelling(large, names, options, home / f"cancel-{what[:5]}")
            out(f"describing by {what}: {each * 1000:.0f} ms an image; cancelling, worst of 5: {worst:.2f} s\n")


if __name__ == "__main__":
    main()
