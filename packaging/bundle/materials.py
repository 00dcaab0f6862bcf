"""The bill of materials: what is in the bundle, as CycloneDX JSON, checked by the schema."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

from cyclonedx.factory.license import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from bundle.notices import Collection
from bundle.versions import TITLE


def bill(collection: Collection, version: str, epoch: int) -> str:
    """The bill as text. Raises `ValueError` where the schema does not allow it.

    Parameters
    ----------
    collection : Collection
    version : str
        Of the program.
    epoch : int
        POSIX time that the bill bears.
    """
    licences = LicenseFactory()
    root = Component(
        name=TITLE, version=version, type=ComponentType.APPLICATION, bom_ref="a3s-desktop",
        licenses=[licences.make_from_string("MIT")], purl=PackageURL("generic", None, "a3s-desktop", version),
    )  # fmt: skip
    bom = Bom()
    bom.metadata.component = root
    bom.metadata.timestamp = datetime.fromtimestamp(epoch, UTC)
    parts, names = [], []
    for part in collection.sorted():
        component = Component(
            name=part.name.split(" ")[0], version=part.version, type=ComponentType.LIBRARY, bom_ref=part.url,
            purl=PackageURL.from_string(part.url), licenses=_licences(licences, part.licence),
        )  # fmt: skip
        inside = []
        for name, words in sorted(part.native.items()):
            inner = Component(
                name=name, type=ComponentType.LIBRARY, bom_ref=f"{part.url}#{name}", licenses=_licences(licences, words)
            )
            component.components.add(inner)
            inside.append(inner)
        bom.components.add(component)
        parts.append(component)
        names.append(part.url)
        for inner in inside:
            bom.register_dependency(inner)
        bom.register_dependency(component, inside)
    bom.register_dependency(root, parts)
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, "\n".join([version, *names]))
    text = JsonV1Dot6(bom).output_as_string(indent=1)
    problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if problem is not None:
        raise ValueError(f"The bill of materials does not fit its schema: {problem}")
    return text + "\n"


def _licences(factory: LicenseFactory, words: str) -> list:  # type: ignore[type-arg]
    # Debian's names of licences are no SPDX expressions; they are given as names.
    return [factory.make_from_string(words)] if "LicenseRef" not in words else [factory.make_with_name(words)]
