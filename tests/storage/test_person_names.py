"""Names that photo programs left in photos and side-cars, and the table of parts that is made of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image, PngImagePlugin

from a3s_desktop.storage.label_file import load_known_labels
from a3s_desktop.storage.parts import load_parts
from a3s_desktop.storage.person_names import known_people, people_in, region_table
from a3s_desktop.task import Task

HEAD = '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
TAIL = "</rdf:RDF></x:xmpmeta>"
SPACES = (
    'xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/" '
    'xmlns:stArea="http://ns.adobe.com/xmp/sType/Area#" xmlns:stDim="http://ns.adobe.com/xap/1.0/sType/Dimensions#"'
)


def region(name: str, x: float, y: float, wide: float, high: float, kind: str = "Face") -> str:
    """As Lightroom writes it: everything in attributes."""
    return (
        f'<rdf:li><rdf:Description mwg-rs:Name="{name}" mwg-rs:Type="{kind}"><mwg-rs:Area stArea:x="{x}" '
        f'stArea:y="{y}" stArea:w="{wide}" stArea:h="{high}" stArea:unit="normalized"/></rdf:Description></rdf:li>'
    )


def long_region(name: str, x: float, y: float, wide: float, high: float) -> str:
    """As digiKam and exiftool write it: everything in elements."""
    area = "".join(f"<stArea:{k}>{v}</stArea:{k}>" for k, v in zip("xywh", (x, y, wide, high), strict=True))
    return (
        f'<rdf:li rdf:parseType="Resource"><mwg-rs:Area rdf:parseType="Resource">{area}'
        f"<stArea:unit>normalized</stArea:unit></mwg-rs:Area><mwg-rs:Name>{name}</mwg-rs:Name>"
        f"<mwg-rs:Type>Face</mwg-rs:Type></rdf:li>"
    )


def packet(*regions: str, applied: tuple[int, int] = (400, 300)) -> bytes:
    wide, high = applied
    return (
        f'{HEAD}<rdf:Description rdf:about="" {SPACES}><mwg-rs:Regions rdf:parseType="Resource">'
        f'<mwg-rs:AppliedToDimensions stDim:w="{wide}" stDim:h="{high}" stDim:unit="pixel"/>'
        f"<mwg-rs:RegionList><rdf:Bag>{''.join(regions)}</rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions>"
        f"</rdf:Description>{TAIL}"
    ).encode()


def photo(path: Path, xmp: bytes = b"", orientation: int = 1, size: tuple[int, int] = (400, 300)) -> Path:
    data = Image.Exif()
    data[0x0112] = orientation
    image = Image.new("RGB", size, "grey")
    if xmp and path.suffix == ".png":
        info = PngImagePlugin.PngInfo()
        info.add_itxt("XML:com.adobe.xmp", xmp.decode())
        image.save(path, pnginfo=info)
    elif xmp and path.suffix == ".tif":
        image.save(path, tiffinfo={700: xmp})
    else:
        image.save(path, exif=data, **({"xmp": xmp} if xmp else {}))
    return path


def shares(path: Path) -> dict[str, tuple[float, ...] | None]:
    return {
        person.name: None if person.share is None else tuple(round(value, 6) for value in person.share)
        for person in people_in(path)
    }


@pytest.mark.parametrize("suffix", ["jpg", "tif", "png", "webp"])
@pytest.mark.parametrize("write", [region, long_region])
def test_regions_are_read_from_photos(tmp_path: Path, suffix: str, write: object) -> None:
    xmp = packet(write("Anna Ä", 0.25, 0.5, 0.2, 0.4), write("Bert", 0.75, 0.5, 0.3, 0.4))  # type: ignore[operator]
    found = shares(photo(tmp_path / f"a.{suffix}", xmp))
    assert found == {"Anna Ä": (0.15, 0.3, 0.2, 0.4), "Bert": (0.6, 0.3, 0.3, 0.4)}


@pytest.mark.parametrize(
    ("orientation", "expected"),
    [
        (1, (0.0, 0.1, 0.2, 0.3)),
        (2, (0.8, 0.1, 0.2, 0.3)),
        (3, (0.8, 0.6, 0.2, 0.3)),
        (4, (0.0, 0.6, 0.2, 0.3)),
        (5, (0.1, 0.0, 0.3, 0.2)),
        (6, (0.6, 0.0, 0.3, 0.2)),
        (7, (0.6, 0.8, 0.3, 0.2)),
        (8, (0.1, 0.8, 0.3, 0.2)),
    ],
)
def test_rectangles_turn_with_the_photo(tmp_path: Path, orientation: int, expected: tuple[float, ...]) -> None:
    xmp = packet(region("Anna", 0.1, 0.25, 0.2, 0.3))
    assert shares(photo(tmp_path / "a.jpg", xmp, orientation)) == {"Anna": pytest.approx(expected)}


def test_rectangles_that_were_measured_upright_stay(tmp_path: Path) -> None:
    xmp = packet(region("Anna", 0.1, 0.25, 0.2, 0.3), applied=(300, 400))
    assert shares(photo(tmp_path / "a.jpg", xmp, 6)) == {"Anna": (0.0, 0.1, 0.2, 0.3)}


def test_microsoft_regions_and_persons_without_a_place(tmp_path: Path) -> None:
    microsoft = (
        f'{HEAD}<rdf:Description xmlns:MP="http://ns.microsoft.com/photo/1.2/" '
        'xmlns:MPRI="http://ns.microsoft.com/photo/1.2/t/RegionInfo#" '
        'xmlns:MPReg="http://ns.microsoft.com/photo/1.2/t/Region#"><MP:RegionInfo rdf:parseType="Resource">'
        '<MPRI:Regions><rdf:Bag><rdf:li MPReg:PersonDisplayName="Cleo" MPReg:Rectangle="0.1, 0.2, 0.3, 0.4"/>'
        f'<rdf:li MPReg:PersonDisplayName="Dora"/></rdf:Bag></MPRI:Regions></MP:RegionInfo></rdf:Description>{TAIL}'
    )
    somewhere = (
        f'{HEAD}<rdf:Description xmlns:e="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"><e:PersonInImage><rdf:Bag>'
        f"<rdf:li>Emil</rdf:li><rdf:li>Frida</rdf:li></rdf:Bag></e:PersonInImage></rdf:Description>{TAIL}"
    )
    assert shares(photo(tmp_path / "m.jpg", microsoft.encode())) == {"Cleo": (0.1, 0.2, 0.3, 0.4), "Dora": None}
    assert shares(photo(tmp_path / "s.jpg", somewhere.encode())) == {"Emil": None, "Frida": None}


def test_a_side_car_comes_before_the_photo(tmp_path: Path) -> None:
    path = photo(tmp_path / "a.jpg", packet(region("Old", 0.5, 0.5, 0.2, 0.2)))
    (tmp_path / "a.xmp").write_bytes(packet(region("Lightroom", 0.5, 0.5, 0.2, 0.2)))
    assert list(shares(path)) == ["Lightroom"]
    (tmp_path / "a.jpg.xmp").write_bytes(packet(region("digiKam", 0.5, 0.5, 0.2, 0.2)))
    assert list(shares(path)) == ["digiKam"]


@pytest.mark.parametrize(
    "xmp",
    [
        b"\xff\xfe nonsense",
        b"<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><x>&b;</x>",
        packet(region("", 0.5, 0.5, 0.2, 0.2)),
        packet(region("Focus", 0.5, 0.5, 0.2, 0.2, "Focus")),
        packet(region("Far", float("nan"), 0.5, 0.2, 0.2)),
        HEAD.encode() + b"<rdf:li>" * 5000,
    ],
)
def test_what_says_nothing_of_persons_is_nothing(tmp_path: Path, xmp: bytes) -> None:
    path = photo(tmp_path / "a.jpg")
    (tmp_path / "a.jpg.xmp").write_bytes(xmp)
    assert people_in(path) == ()
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xff" + xmp)
    assert people_in(tmp_path / "broken.jpg") == ()
    assert people_in(tmp_path / "missing.jpg") == ()


def test_whole_photos_and_parts_get_their_names(tmp_path: Path) -> None:
    photo(tmp_path / "one.jpg", packet(region("Anna", 0.5, 0.5, 0.2, 0.2)))
    photo(tmp_path / "two.jpg", packet(region("Anna", 0.25, 0.5, 0.2, 0.4), region("Bert", 0.75, 0.5, 0.3, 0.4)))
    photo(tmp_path / "none.jpg")
    paths = ["one.jpg", "two.jpg", "none.jpg", "two.jpg#xywh=58,95,82,115", "two.jpg#xywh=0,0,40,40"]
    found = [(label.item, label.name) for label in known_people(tmp_path, paths, Task())]
    assert found == [(0, "Anna"), (1, "Anna"), (1, "Bert"), (3, "Anna")]


def test_the_table_of_regions_makes_parts_and_names_them(tmp_path: Path) -> None:
    photo(tmp_path / "two.jpg", packet(region("=Anna", 0.25, 0.5, 0.2, 0.4), region("Bert", 0.75, 0.5, 0.3, 0.4)))
    table, count = region_table(tmp_path, ["two.jpg"], Task())
    assert count == 2
    (tmp_path / "regions.csv").write_bytes(table)
    assert b"\n=" not in table
    assert b",=" not in table
    keys = load_parts(tmp_path / "regions.csv", ["two.jpg"]).keys
    assert keys == ("two.jpg#xywh=60,90,80,120", "two.jpg#xywh=240,90,120,120")
    labels = load_known_labels(tmp_path / "regions.csv", keys)
    assert [(label.item, label.name) for label in labels] == [(0, "=Anna"), (1, "Bert")]
