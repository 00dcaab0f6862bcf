"""Side-cars: other programs' fields stay, names are text, nothing is replaced unasked, all of them or none."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.errors import InputError, StorageFailedError
from a3s_desktop.storage import files
from a3s_desktop.storage.exports.formats import write_export
from a3s_desktop.storage.exports.sidecars import DC, OWN, PERSON, RDF, sidecar
from a3s_desktop.storage.exports.state import ExportOptions, ExportState, TargetExistsError

State = Callable[..., ExportState]
LIGHTROOM = """<?xpacket begin='\ufeff' id='W5M0MpCehiHzreSzNTczkc9d'?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><!-- kept -->
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="4"
    xmlns:dc="http://purl.org/dc/elements/1.1/">
   <dc:subject><rdf:Bag><rdf:li>beach</rdf:li></rdf:Bag></dc:subject>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
<?xpacket end='w'?>""".encode()


def bag(data: bytes, namespace: str, local: str) -> list[str]:
    root = ElementTree.fromstring(data)
    fields = list(root.iter(f"{{{namespace}}}{local}"))
    assert len(fields) <= 1
    return [item.text or "" for field in fields for item in field.iter(f"{{{RDF}}}li")]


def test_each_named_photo_gets_one_and_no_original_changes(state: State, out: Path) -> None:
    made = state()
    before = {path: path.read_bytes() for path in made.items.root.rglob("*") if path.is_file()}
    written = write_export("sidecars", made, made.items.root)
    assert written.count == 4
    assert {path: path.read_bytes() for path in before} == before
    data = (made.items.root / "a" / "x.jpg.xmp").read_bytes()
    assert bag(data, DC, "subject") == bag(data, PERSON, "PersonInImage") == bag(data, OWN, "identity") == ["CON"]
    part = (made.items.root / "g.png.xmp").read_bytes()
    assert bag(part, DC, "subject") == ["<script>alert(1)</script>"]
    assert not (made.items.root / "c.png.xmp").exists()


def test_they_can_go_to_another_folder_in_the_same_places(state: State, out: Path) -> None:
    write_export("sidecars", state(), out)
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*.xmp")) == [
        "a/x.jpg.xmp", "b/<img src=y>.png.xmp", "b/X.JPG.xmp", "g.png.xmp",
    ]  # fmt: skip


def test_one_that_is_there_stops_all_until_told_to_add(state: State, out: Path) -> None:
    (out / "a").mkdir()
    (out / "a" / "x.jpg.xmp").write_bytes(LIGHTROOM)
    with pytest.raises(TargetExistsError) as caught:
        write_export("sidecars", state(), out, overwrite=True)
    assert caught.value.names == ("a/x.jpg.xmp",)
    assert os.listdir(out) == ["a"]
    write_export("sidecars", state(), out, options=ExportOptions(merge=True))
    data = (out / "a" / "x.jpg.xmp").read_bytes()
    assert bag(data, DC, "subject") == ["beach", "CON"]
    assert b'xmp:Rating="4"' in data
    assert b"<!-- kept -->" in data
    write_export("sidecars", state(names={0: "Ann"}), out, options=ExportOptions(merge=True))
    data = (out / "a" / "x.jpg.xmp").read_bytes()
    assert bag(data, DC, "subject") == ["beach", "Ann"]  # the name from before went, the keyword stayed
    assert bag(data, PERSON, "PersonInImage") == ["Ann"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no xml",
        b"<a/>",
        b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>',
        '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'.encode("utf-16"),
        b"<x>" * 100_000,
        b"\xff\xfe\x00",
        b" " * 5_000_000,
    ],
)
def test_what_is_no_side_car_is_refused_and_kept(state: State, out: Path, data: bytes) -> None:
    (out / "g.png.xmp").write_bytes(data)
    with pytest.raises(InputError, match=r"g\.png\.xmp"):
        write_export("sidecars", state(), out, options=ExportOptions(merge=True))
    assert (out / "g.png.xmp").read_bytes() == data
    assert os.listdir(out) == ["g.png.xmp"]


def test_a_link_that_leads_elsewhere_is_not_written_through(state: State, out: Path) -> None:
    elsewhere = out.parent / "elsewhere"
    elsewhere.mkdir()
    (out / "a").symlink_to(elsewhere, target_is_directory=True)
    with pytest.raises(InputError, match="link"):
        write_export("sidecars", state(), out)
    assert os.listdir(elsewhere) == []
    (out / "a").unlink()
    (elsewhere / "mine").write_text("mine")
    (out / "g.png.xmp").symlink_to(elsewhere / "mine")
    with pytest.raises(InputError, match="link"):
        write_export("sidecars", state(), out, options=ExportOptions(merge=True))
    assert (elsewhere / "mine").read_text() == "mine"


def test_a_drive_that_fails_on_the_way_puts_all_back(state: State, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (out / "a").mkdir()
    (out / "a" / "x.jpg.xmp").write_bytes(LIGHTROOM)
    real, calls = files.atomic_write, [0]

    def failing(path: Path, data: bytes, overwrite: bool = True) -> None:
        calls[0] += 1
        if calls[0] == 3:
            raise files.write_failed(path, OSError(errno.ENOSPC, "full"))
        real(path, data, overwrite)

    monkeypatch.setattr(files, "atomic_write", failing)
    with pytest.raises(StorageFailedError, match="full"):
        write_export("sidecars", state(), out, options=ExportOptions(merge=True))
    assert [path.relative_to(out).as_posix() for path in out.rglob("*")] == ["a", "a/x.jpg.xmp"]
    assert (out / "a" / "x.jpg.xmp").read_bytes() == LIGHTROOM


def test_without_names_there_is_nothing_to_write(state: State, out: Path) -> None:
    with pytest.raises(InputError, match="name"):
        write_export("sidecars", state(names={}), out)


@given(st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=3, unique=True))
def test_any_name_is_text(names: list[str]) -> None:
    data = sidecar(names, sidecar(["before"]))
    assert len(bag(data, OWN, "identity")) <= len(names)
    assert bag(data, DC, "subject") == bag(data, OWN, "identity")
