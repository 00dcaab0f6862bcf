"""The description of a project to be made, and everything that is checked before anything is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from a3s_desktop.core.types import InitialOptions, StrategyOptions


@dataclass(frozen=True, slots=True)
class ProjectSpec:
    """What the user asked for.

    Attributes
    ----------
    folder : Path
        The project folder to be made; must not exist, or be empty.
    images : Path
        The image folder.
    features : tuple of Path
        Feature files, one for each view.
    order : Path or None
        A file that lists the images in row order.
    labels : Path or None
        True labels, for demos and experiments; the engine never sees them.
    initial, strategy : options of stage one and two
    name : str
        Shown to the user; empty for the folder's name.
    """

    folder: Path
    images: Path
    features: tuple[Path, ...]
    order: Path | None = None
    labels: Path | None = None
    initial: InitialOptions = field(default_factory=InitialOptions)
    strategy: StrategyOptions = field(default_factory=StrategyOptions)
    name: str = ""
