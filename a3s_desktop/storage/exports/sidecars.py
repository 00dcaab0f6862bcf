"""The names as XMP side-cars, which photo programs read beside the photos; the photos themselves are not touched.

``photo.jpg.xmp`` beside, or in another folder in the same place as, ``photo.jpg``. The name goes where other programs
look for it: as a keyword (``dc:subject``; digiKam, Lightroom, darktable, Bridge) and as a person in the picture
(``Iptc4xmpExt:PersonInImage``). An own field ``a3s:identity`` keeps what was written, so that a later export takes its
old name out again. A side-car that is there already keeps all else that it holds.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from xml.dom import minidom
from xml.parsers.expat import ExpatError

from a3s_desktop.errors import InputError, StorageFailedError
from a3s_desktop.i18n import tr, trn
from a3s_desktop.storage import files
from a3s_desktop.storage.exports.state import ExportOptions, ExportState, TargetExistsError, Written
from a3s_desktop.storage.items import is_inside
from a3s_desktop.storage.keys import split_key
from a3s_desktop.task import Task

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XMP = "adobe:ns:meta/"
DC = "http://purl.org/dc/elements/1.1/"
PERSON = "http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
OWN = "urn:a3s-desktop:1.0/"
LARGEST = 4_000_000
_FIELDS = ((DC, "dc:subject"), (PERSON, "Iptc4xmpExt:PersonInImage"), (OWN, "a3s:identity"))
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_EMPTY = f'<x:xmpmeta xmlns:x="{XMP}"><rdf:RDF xmlns:rdf="{RDF}"><rdf:Description rdf:about=""/></rdf:RDF></x:xmpmeta>'


def write_sidecars(state: ExportState, out: Path, _overwrite: bool, options: ExportOptions, task: Task) -> Written:
    """Write one side-car for each photo of a named cluster into the folder ``out``; all of them or none.

    Raises
    ------
    TargetExistsError
        Some are there already and ``options.merge`` is off; it names them.
    InputError
        No cluster has a name, a side-car that is there is no XMP, or a link leads out of the folder.
    StorageFailedError, Cancelled
    """
    wanted = _wanted(state)
    if not wanted:
        raise InputError(tr("No cluster has a name: there is nothing to write."), tr("Name the clusters first."))
    task.plan(2)
    task.stage(tr("Looking for side-cars that are there"))
    targets = {photo: _target(out, photo) for photo in wanted}
    present = [photo for photo, target in targets.items() if os.path.lexists(target)]
    if present and not options.merge:
        raise TargetExistsError(
            out,
            trn("{n} side-car is there already.", "{n} side-cars are there already.", len(present)),
            tr("Add the names to them, or choose another folder."),
            tuple(f"{photo}.xmp" for photo in present),
        )
    new: dict[Path, bytes] = {}
    old: dict[Path, bytes] = {}
    for at, (photo, target) in enumerate(targets.items()):
        task.step(at / len(targets))
        if photo in present:
            old[target] = _read(target)
        new[target] = sidecar(wanted[photo], old.get(target), target)
    task.stage(tr("Writing the side-cars"))
    _write_all(new, old, task)
    return Written(out, len(new))


def _wanted(state: ExportState) -> dict[str, list[str]]:
    """Photo -> names of the clusters that it, or parts of it, are in."""
    found: dict[str, list[str]] = {}
    for item, label in enumerate(state.labels.tolist()):
        name = state.names.get(label, "")
        if name and not state.is_junk[item]:
            path = state.items.paths[item]
            photo = path if state.items.part(item) is None else split_key(path)[0]
            names = found.setdefault(photo, [])
            if name not in names:
                names.append(name)
    return found


def _target(out: Path, photo: str) -> Path:
    if not is_inside(photo):
        raise InputError(tr("{path} leads out of the image folder.", path=files.show(photo)))
    target = out.joinpath(*f"{photo}.xmp".split("/"))
    # A symbolic link below the folder may lead anywhere; what is written must stay where the user said.
    real, root = os.path.realpath(target), os.path.realpath(out)
    if target.is_symlink() or os.path.commonpath((real, root)) != root:
        raise InputError(
            tr("{path} would be written through a link that leads elsewhere.", path=files.show(target)),
            tr("Choose another folder for the side-cars."),
        )
    return files.long_path(target)


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST:
            raise _damaged(path, tr("it is too large"))
        return path.read_bytes()
    except OSError as error:
        raise _damaged(path, files.cause_of(error)[0]) from error


def _damaged(path: Path, why: str) -> InputError:
    return InputError(
        tr("The side-car {path} cannot be used: {why}.", path=files.show(path), why=why),
        tr("Remove it, or choose another folder."),
    )


def _write_all(new: dict[Path, bytes], old: dict[Path, bytes], task: Task) -> None:
    done: list[Path] = []
    made: list[Path] = []
    try:
        for at, (target, data) in enumerate(new.items()):
            task.step(at / len(new))
            made += _make_folders(target.parent)
            files.atomic_write(target, data, overwrite=target in old)
            done.append(target)
    except BaseException:
        for target in done:  # back to what they were, as far as the drive lets us
            with contextlib.suppress(StorageFailedError, OSError):
                if target in old:
                    files.atomic_write(target, old[target])
                else:
                    files.remove_file(target)
        for folder in reversed(made):
            files.remove_empty(folder)
        raise


def _make_folders(folder: Path) -> list[Path]:
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        if folder.parent == folder:
            break
        folder = folder.parent
    for one in reversed(missing):
        try:
            files.make_folder(one)
        except OSError as error:
            raise files.write_failed(one, error) from error
    return missing[::-1]


# ------------------------------------------------------------------------------------------------ one side-car


def sidecar(names: list[str], before: bytes | None = None, path: Path = Path("x.xmp")) -> bytes:
    """A side-car with ``names``; ``before`` is what it holds already.

    Raises
    ------
    InputError
        ``before`` is no XMP, or declares entities.
    """
    document = _parse(before if before is not None else _EMPTY.encode(), path)
    roots = document.getElementsByTagNameNS(RDF, "RDF")
    if not roots:
        raise _damaged(path, tr("it is no XMP"))
    place = next(
        (node for node in roots[0].childNodes if isinstance(node, minidom.Element) and node.localName == "Description"),
        None,
    )
    if place is None:
        place = document.createElementNS(RDF, "rdf:Description")
        place.setAttributeNS(RDF, "rdf:about", "")
        roots[0].appendChild(place)
        _declare(roots[0], "rdf", RDF)
    former = [text for node in _bags(roots[0], OWN, "identity") for text in _texts(node)]
    for namespace, qualified in _FIELDS:
        _set(document, roots[0], place, namespace, qualified, names, former)
    top = document.documentElement
    text = "" if top is None else top.toxml()
    return f'<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>\n{text}\n<?xpacket end="w"?>\n'.encode()


def _parse(data: bytes, path: Path) -> minidom.Document:
    lowered = data.lower().replace(b"\0", b"")  # also as UTF-16
    if b"<!doctype" in lowered or b"<!entity" in lowered:
        raise _damaged(path, tr("it declares entities"))
    try:
        return minidom.parseString(data)  # no entities are left; expat loads nothing from outside
    except (ExpatError, ValueError, LookupError, RecursionError, AttributeError) as error:
        raise _damaged(path, tr("it is no XML")) from error


def _bags(root: minidom.Element, namespace: str, local: str) -> list[minidom.Element]:
    return list(root.getElementsByTagNameNS(namespace, local))


def _texts(field: minidom.Element) -> list[str]:
    return [
        "".join(node.data for node in item.childNodes if node.nodeType in (node.TEXT_NODE, node.CDATA_SECTION_NODE))
        for item in field.getElementsByTagNameNS(RDF, "li")
    ]


def _set(
    document: minidom.Document,
    root: minidom.Element,
    place: minidom.Element,
    namespace: str,
    qualified: str,
    names: list[str],
    former: list[str],
) -> None:
    prefix, local = qualified.split(":")
    own = namespace == OWN
    present = _bags(root, namespace, local)
    kept = [text for field in present for text in _texts(field) if not own and text not in former]
    attribute = place.getAttributeNodeNS(namespace, local)
    if attribute is not None:
        kept.append(attribute.value)
        place.removeAttributeNode(attribute)
    for field in present:
        if field.parentNode is not None:
            field.parentNode.removeChild(field)
    field = document.createElementNS(namespace, qualified)
    _declare(field, prefix, namespace)
    _declare(field, "rdf", RDF)
    bag = document.createElementNS(RDF, "rdf:Bag")
    field.appendChild(bag)
    for text in dict.fromkeys((*kept, *(_plain(name) for name in names))):
        item = document.createElementNS(RDF, "rdf:li")
        item.appendChild(document.createTextNode(text))
        bag.appendChild(item)
    place.appendChild(field)


def _declare(element: minidom.Element, prefix: str, namespace: str) -> None:
    """minidom writes prefixes but declares none; a second declaration further in says the same."""
    element.setAttributeNS("http://www.w3.org/2000/xmlns/", f"xmlns:{prefix}", namespace)


def _plain(text: str) -> str:
    """Without what XML cannot hold."""
    return _NO_XML.sub("\ufffd", text)
