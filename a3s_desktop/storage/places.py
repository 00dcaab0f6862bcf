"""Where the program keeps what is the user's: settings, log, demos, small copies of images."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import platformdirs

NAME = "a3s-desktop"


@dataclass(frozen=True, slots=True)
class Places:
    """Paths of one user; none of them needs to exist.

    Attributes
    ----------
    settings : Path
        The file.
    qt_settings : Path
        What Qt notes of the folders that were shown in its file dialogs.
    logs : Path
        The folder of the log.
    demos : Path
        The folder of the demos' images and projects.
    thumbnails : Path
        The file of small copies of images, of all projects together.
    """

    settings: Path
    qt_settings: Path
    logs: Path
    demos: Path
    thumbnails: Path


def user_places() -> Places:
    """The places of whoever runs the program."""
    config = Path(platformdirs.user_config_dir(NAME, appauthor=False))
    return Places(
        settings=config / "settings.json",
        qt_settings=config / "QtProject.conf",
        logs=Path(platformdirs.user_log_dir(NAME, appauthor=False)),
        demos=Path(platformdirs.user_data_dir(NAME, appauthor=False)) / "demos",
        thumbnails=Path(platformdirs.user_cache_dir(NAME, appauthor=False)) / "thumbnails.sqlite",
    )
