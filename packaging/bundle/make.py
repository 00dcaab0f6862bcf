"""What is made before bundling, with the program itself: icons, pictures of its screens, the pages for people."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from bundle.pages import write_pages
from bundle.pictures import draw_icons


def main() -> None:
    """Write icons and pages to the folders that `build.py` names."""
    icons, pages = Path(os.environ["A3S_ICONS"]), Path(os.environ["A3S_PAGES"])
    draw_icons(Path(os.environ["A3S_RESOURCES"]) / "icons" / "app.svg", icons)
    shots = Path(os.environ["A3S_WORK"]) / "screens"
    # The pictures are those of the program that is about to be bundled; a self-test that fails ends the build.
    subprocess.run([sys.executable, "-m", "a3s_desktop", "--self-test", str(shots)], check=True)
    write_pages(pages, shots)


if __name__ == "__main__":
    main()
