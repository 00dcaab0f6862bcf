"""The file that makes a folder a project: what it holds, and how it is checked before anything in it is believed."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from a3s_desktop.core.types import InitialOptions, StrategyOptions
from a3s_desktop.errors import InputError, NoProjectError, ProjectError, ProjectVersionError
from a3s_desktop.i18n import tr
from a3s_desktop.storage import backup_file, files
from a3s_desktop.storage.embedding_options import EmbeddingOptions
from a3s_desktop.storage.spec import ProjectSpec, SpecReport
from a3s_desktop.strict_json import parse_json

FORMAT = "a3s-project"
VERSION = 1
LATER_VERSION = 2
"""Of a project that images were added to, or whose features were replaced: see `epoch_of`."""

PROJECT_FILE = "project.json"
_MOST_EPOCHS = 1_000_000


def project_text(spec: ProjectSpec, folder: Path, report: SpecReport, described: list[dict[str, Any]]) -> str:
    """The content of ``project.json`` for a new project; ``described`` holds a description of each feature file."""
    facts = {
        "format": FORMAT,
        "version": VERSION,
        "id": uuid.uuid4().hex,
        "name": spec.name.strip() or folder.name,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "images": images_facts(spec.images, folder),
        "matched": report.how,
        "features": described,
        "choices": _choices(spec, report),
        "initial": spec.initial.to_json(),
        "strategy": spec.strategy.to_json(),
    }
    return json.dumps(facts, ensure_ascii=True, indent=1)


def _choices(spec: ProjectSpec, report: SpecReport) -> dict[str, Any]:
    """What else was chosen, so that images that come later are taken alike."""
    return {
        "include": list(spec.include),
        "exclude": list(spec.exclude),
        "parts": spec.parts is not None,
        "parts_differ": spec.parts is not None and spec.parts_differ,
        "embedding": _embedding(spec.embedding),
        "rows_without_image": list(report.rows_without_image),
        "images_without_row": list(report.images_without_row),
    }


def _embedding(options: EmbeddingOptions | None) -> dict[str, Any] | None:
    if options is None:
        return None
    if options.model_path is not None:
        options = dataclasses.replace(options, model=os.path.abspath(options.model_path))
    return options.to_json()


def read_project_file(folder: Path) -> dict[str, Any]:
    """The checked content of ``project.json``.

    Raises
    ------
    ProjectVersionError
        A newer version of the program wrote it.
    NoProjectError
        There is no such folder, or no project in it.
    ProjectError
        It is absent, unreadable or damaged; the field is named.
    """
    path = folder / PROJECT_FILE
    if not folder.is_dir():
        if folder.exists():
            text = tr("{folder} is a file, not a project folder.", folder=files.show(folder))
        else:
            text = tr("{folder} does not exist.", folder=files.show(folder))
        raise NoProjectError(text, tr("Choose a project folder."))
    try:
        raw = files.long_path(path).read_bytes()
    except FileNotFoundError:
        if backup_file.paths_in(folder):
            raise ProjectError(
                tr("{path} is missing.", path=files.show(path)), tr("Restore it from a backup.")
            ) from None
        raise NoProjectError(
            tr(
                "{folder} is not a project (it has no {project_file}).",
                folder=files.show(folder),
                project_file=PROJECT_FILE,
            ),
            tr("Choose a project folder."),
        ) from None
    except OSError as error:
        raise ProjectError(
            tr("{path} cannot be read: {cause_of}.", path=files.show(path), cause_of=files.cause_of(error)[0]),
            tr("Check the folder."),
        ) from error
    try:
        facts = parse_json(raw)
    except ValueError as error:
        raise ProjectError(
            tr("{path} is damaged ({reason}).", path=files.show(path), reason=error), tr("Restore it from a backup.")
        ) from error
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise ProjectError(
            tr("{path} is not of a project of this program.", path=files.show(path)), tr("Choose a project folder.")
        )
    version = facts.get("version")
    if version not in (VERSION, LATER_VERSION):
        hint = (
            tr("Update the program.")
            if isinstance(version, int) and version > LATER_VERSION
            else tr("Restore it from a backup.")
        )
        raise ProjectVersionError(
            tr(
                "The project {folder} has format version {version}; this program knows {version2}.",
                folder=files.show(folder),
                version=f"{version!r:.40}",
                version2=LATER_VERSION,
            ),
            hint,
        )
    problem = _field_problem(facts)
    if problem:
        raise ProjectError(
            tr("{path}: the field {problem} is missing or damaged.", path=files.show(path), problem=problem),
            tr("Restore it from a backup."),
        )
    return facts


def epoch_of(facts: Mapping[str, Any]) -> int:
    """Which files of the folder count: 1 for those it was made with, one more after each change; 0 where damaged."""
    number = facts.get("epoch", 1)
    return number if isinstance(number, int) and not isinstance(number, bool) else 0


def feature_name(index: int, epoch: int) -> str:
    """Name of a feature file of a project."""
    return f"features-{index}.npy" if epoch == 1 else f"features-{epoch}-{index}.npy"


def items_name(epoch: int) -> str:
    """Name of the list of images of a project."""
    return "items.json" if epoch == 1 else f"items-{epoch}.json"


def images_facts(images: Path, folder: Path) -> dict[str, str | None]:
    """Where the images are: as an absolute path, and from the project folder, for when both are moved."""
    absolute = os.path.abspath(images)
    try:
        relative: str | None = Path(os.path.relpath(absolute, folder)).as_posix()
    except ValueError:  # another drive
        relative = None
    return {"absolute": absolute, "relative": relative}


def _field_problem(facts: Mapping[str, Any]) -> str:
    """Name of the first field of ``project.json`` that is not as it must be; empty where all are."""
    for name, kind in {
        "name": str,
        "id": str,
        "images": dict,
        "features": list,
        "initial": dict,
        "strategy": dict,
    }.items():
        if not isinstance(facts.get(name), kind):
            return repr(name)
    if not 1 <= epoch_of(facts) <= _MOST_EPOCHS:
        return "'epoch'"
    images = facts["images"]
    if not isinstance(images.get("absolute"), str) or not isinstance(images.get("relative"), str | None):
        return "'images'"
    for index, view in enumerate(facts["features"]):
        if (
            not isinstance(view, dict)
            or not isinstance(view.get("columns"), int)
            or not isinstance(view.get("sha256"), str)
        ):
            return f"'features' (entry {index})"
    if not facts["features"]:
        return "'features'"
    for name, kinds in (("choices", dict | None), ("changes", list | None)):
        if not isinstance(facts.get(name), kinds):
            return repr(name)
    for name in ("include", "exclude"):
        patterns = (facts.get("choices") or {}).get(name) or []
        if not isinstance(patterns, list) or not all(isinstance(pattern, str) for pattern in patterns):
            return f"{name!r} of 'choices'"
    for name, cls in (("initial", InitialOptions), ("strategy", StrategyOptions)):
        try:
            cls.from_json(facts[name])
        except (InputError, TypeError, ValueError):
            return repr(name)
    return ""
