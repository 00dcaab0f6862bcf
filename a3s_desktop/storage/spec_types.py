"""The description of a project to be made, and what the check of it found."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from a3s_desktop.core.types import InitialOptions, StrategyOptions
from a3s_desktop.errors import A3SError
from a3s_desktop.storage.embedding_options import EmbeddingOptions
from a3s_desktop.storage.features import FeatureFile
from a3s_desktop.storage.images import ImageProblem
from a3s_desktop.storage.matching import Labels, RowMatch, Unmatched


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
        None where the images are to be described by ``embedding``.
    order : Path or None
        A file that lists the images in row order.
    labels : Path or None
        True labels, for demos and experiments; the engine never sees them.
    initial, strategy : options of stage one and two
    name : str
        Shown to the user; empty for the folder's name.
    include, exclude : tuple of str
        Patterns of images to be taken and left out; see `images.scan_images`.
    parts : Path or None
        A table of rectangles: these parts of the photos are the items, photos without one are left out.
    parts_differ : bool
        Two parts of one photo show two individuals (see `parts.same_photo_pairs`).
    unmatched : Unmatched
        What to do with rows without an image and images without a row.
    embedding : EmbeddingOptions
        How images are described where there are no features, or some lack a row.
    """

    folder: Path
    images: Path
    features: tuple[Path, ...]
    order: Path | None = None
    labels: Path | None = None
    initial: InitialOptions = field(default_factory=InitialOptions)
    strategy: StrategyOptions = field(default_factory=StrategyOptions)
    name: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    parts: Path | None = None
    parts_differ: bool = False
    unmatched: Unmatched = field(default_factory=Unmatched)
    embedding: EmbeddingOptions | None = None


@dataclass(frozen=True, slots=True)
class SpecReport:
    """What the check of a `ProjectSpec` found.

    Attributes
    ----------
    errors : tuple of A3SError
        Everything that is in the way, in the order of the form; empty where the project can be made.
    warnings : tuple of str
        Sentences worth reading that are not in the way.
    problems : tuple of ImageProblem
        Images that cannot be shown (they are carried as placeholders), folders that could not be read.
    paths : tuple of str
        Images in row order; empty where they could not be matched.
    how : str
        "order file", "names" or "sorted"; a "sorted" match is to be confirmed by the user.
    pairs : tuple of (int, str)
        Row and image of the first and last three, for that confirmation.
    images, skipped : int
        Images found in the folder; other files.
    rows, columns : int, tuple of int
        Rows of the features; columns of each feature file.
    views : tuple of FeatureFile
    match : RowMatch or None
    labels : Labels or None
    unit_norm : tuple of bool
        For each feature file, whether all rows have length 1.
    rows_without_image, images_without_row : tuple of str
        All of them, whether they are in the way, left out or to be computed.
    """

    errors: tuple[A3SError, ...] = ()
    warnings: tuple[str, ...] = ()
    problems: tuple[ImageProblem, ...] = ()
    paths: tuple[str, ...] = ()
    how: str = ""
    pairs: tuple[tuple[int, str], ...] = ()
    images: int = 0
    skipped: int = 0
    rows: int = 0
    columns: tuple[int, ...] = ()
    views: tuple[FeatureFile, ...] = ()
    match: RowMatch | None = None
    labels: Labels | None = None
    unit_norm: tuple[bool, ...] = ()
    rows_without_image: tuple[str, ...] = ()
    images_without_row: tuple[str, ...] = ()

    @property
    def to_compute(self) -> bool:
        """Whether images are to be described before the project can be made (see `embedding.prepare`)."""
        return self.match is not None and (not self.views or self.match.missing)

    @property
    def ok(self) -> bool:
        """Whether the project can be made."""
        return not self.errors
