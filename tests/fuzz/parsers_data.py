"""Readers of what a user brings: features, orders of rows, labels, rectangles, names in photos, images, models."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import numpy as np
from PIL import Image, PngImagePlugin

from a3s_desktop.storage import images, matching, onnx_file, person_names, picture, tables
from a3s_desktop.storage.feature_checks import check_features
from a3s_desktop.storage.feature_file import FeatureFile
from a3s_desktop.storage.features import load_features
from a3s_desktop.storage.keys import Part
from a3s_desktop.storage.label_file import load_known_labels
from a3s_desktop.storage.parts import load_parts, same_photo_pairs
from a3s_desktop.storage.row_match import Unmatched, match_rows
from a3s_desktop.storage.torch_weights import read_weights
from a3s_desktop.task import Task
from tests.fuzz import inputs
from tests.fuzz.harness import Parser, known

_PHOTOS = ("a.jpg", "b.jpg", "sub/c.jpg", "sub/d.png", "e.jpg#xywh=1,2,30,40")
_FEATURES = np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32)


def _features(path: Path) -> None:
    file = load_features(path)
    check_features(file)
    with known():
        match_rows(_PHOTOS, [file], unmatched=Unmatched("leave out", "leave out"))


# ------------------------------------------------------------------------------------------------ features


def _npy(data: bytes, folder: Path) -> None:
    path = folder / "f.npy"
    path.write_bytes(data)
    with known():
        _features(path)
    with known():
        matching.load_labels(path, 4)


def _npy_seeds(_folder: Path) -> list[bytes]:
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }"
    return [
        inputs.npy(_FEATURES),
        inputs.npy(np.asfortranarray(_FEATURES.astype(np.float64))),
        inputs.npy(np.arange(4)),
        inputs.npy(np.array(["a", "b", "a", "c"])),
        inputs.npy(np.array([b"a", b"b", b"a", b"c"])),
        inputs.npy(np.array([1.0, 2.5, np.nan, 3.0])),
        inputs.npy(np.array([1, 2, 3, 4], "M8[s]")),
        inputs.npy(np.zeros(4, [("a", "<f4"), ("b", "<i2", 2)])),
        inputs.npy_header(header, 2) + _FEATURES.tobytes(),
        inputs.npy_header(header, 3) + _FEATURES.tobytes(),
        inputs.npy_header(header.replace("(4, 3)", "(400000000000, 3)")) + _FEATURES.tobytes(),
        inputs.npy_header(header.replace("<f4", "|O")) + _FEATURES.tobytes(),
    ]


def _npz(data: bytes, folder: Path) -> None:
    path = folder / "f.npz"
    if data[:1] == b"Z":
        names, *members = inputs.parts_of(data[1:])
        path.write_bytes(inputs.zipped([f"{name}.npy" for name in inputs.text(names).split("/")], members))
    else:
        path.write_bytes(data)
    _features(path)


def _npz_seeds(_folder: Path) -> list[bytes]:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, features=_FEATURES, names=np.array(_PHOTOS[:4]))
    names = inputs.npy(np.array([name.encode() for name in _PHOTOS[:4]]))
    return [
        buffer.getvalue(),
        b"Z" + inputs.joined([b"features/names", inputs.npy(_FEATURES), inputs.npy(np.array(_PHOTOS[:4]))]),
        b"Z" + inputs.joined([b"x/paths", inputs.npy(_FEATURES.astype(np.float16)), names]),
        b"Z" + inputs.joined([b"features", inputs.npy_header("{'descr':'<f4','fortran_order':0,'shape':(9**9,2)}")]),
    ]


def _table(data: bytes, folder: Path) -> None:
    path = folder / ("f.tsv" if data[:1] == b"\t" else "f.csv")
    path.write_bytes(data.removeprefix(b"\t"))
    _features(path)


def _table_seeds(_folder: Path) -> list[bytes]:
    return [
        b"file,f0,f1\na.jpg,1,2\nb.jpg,3,4.5\nsub/c.jpg,-1e3,0\n",
        b"1;2,5;3\n4;5;6\n7;8;9\n",
        b"\ta\t1\t2\nb\t3\t4\nc\t5\t6\n",
        b",0,1,2\n0,1,2,3\n1,4,5,6\n2,7,8,9\n",
        '"file","label","x"\r\n"a.jpg","Anna",1\r\n"b.jpg","Béa",2\r\n"c.jpg","",nan\r\n'.encode(),
        b"\xff\xfe" + "1,2\n3,4\n5,inf\n".encode("utf-16-le"),
    ]


def _arrow(data: bytes, folder: Path) -> None:
    path = folder / ("f.parquet" if data[:4] == b"PAR1" else "f.feather")
    path.write_bytes(data)
    _features(path)


def _arrow_seeds(folder: Path) -> list[bytes]:
    try:
        import pyarrow
        from pyarrow import feather, parquet
    except ImportError:
        return []
    found = []
    for columns in (
        {"file": list(_PHOTOS[:4]), "x": [1.0, 2.0, 3.0, 4.0], "y": [1, 2, 3, 5]},
        {"features": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "label": ["a", "b", "c"]},
        {"name": pyarrow.array(["a", "b", "a"]).dictionary_encode(), "x": pyarrow.array([1, None, 3])},
        {"x": pyarrow.array([[1.0, 2.0]] * 3, pyarrow.list_(pyarrow.float16(), 2))},
    ):
        table = pyarrow.table(columns)
        path = folder / "seed"
        feather.write_feather(table, path, compression="uncompressed")
        found.append(path.read_bytes())
        if "float16" not in str(table.schema):
            parquet.write_table(table, path, compression="none")
            found.append(path.read_bytes())
    return found


# ------------------------------------------------------------------------------------------------ order, labels, parts


def _order(data: bytes, folder: Path) -> None:
    path = folder / {b"[": "o.json", b",": "o.csv", b"\t": "o.tsv"}.get(data[:1], "o.txt")
    path.write_bytes(data.removeprefix(b",").removeprefix(b"\t"))
    view = FeatureFile(_FEATURES, None, folder / "f.npy")
    with known():
        names = tables.load_order(path)
        many = FeatureFile(np.zeros((len(names), 1), np.float32), names, folder / "n.npz")
        for unmatched in (Unmatched(), Unmatched("leave out", "leave out"), Unmatched("leave out", "compute")):
            with known():
                match_rows(_PHOTOS, [many], None, "/photos", unmatched)
    match_rows(_PHOTOS, [view], path, str(folder))


def _order_seeds(_folder: Path) -> list[bytes]:
    return [
        b"a.jpg\nb.jpg\nsub/c.jpg\nsub/d.png\n",
        b'["a.jpg", "./b.jpg", "c", "sub\\\\d.png"]',
        b",file,n\na.jpg,1\nb.jpg,2\nc.jpg,3\nd.png,4\n",
        b"\tfile\tn\na.jpg\t1\n/photos/b.jpg\t2\nc.jpg\t3\nd\t4\n",
        b"\\udc80.jpg\ne.jpg\ne.jpg#xywh=1,2,30,40\n\xc3\xa9.jpg",
    ]


def _labels(data: bytes, folder: Path) -> None:
    path = folder / ("l.tsv" if data[:1] == b"\t" else "l.csv")
    path.write_bytes(data.removeprefix(b"\t"))
    for paths in (None, _PHOTOS):
        with known():
            matching.load_labels(path, len(_PHOTOS), paths, "/photos")


def _labels_seeds(_folder: Path) -> list[bytes]:
    rows = [f"{path},{path[-5]}".encode() for path in _PHOTOS[:4]]
    return [
        b"file,label\n" + b"\n".join(rows) + b"\ne,5\n",
        b"\n".join(rows) + b"\n/photos/e.jpg,x",
        b"\tlabel\na\nb\na\nc\nd\n",
        b"1\n2\n3\n1\n2",
    ]


def _names(data: bytes, folder: Path) -> None:
    path = folder / {b"{": "n.json", b"[": "n.json", b"\t": "n.tsv"}.get(data[:1], "n.csv")
    path.write_bytes(data.removeprefix(b"\t"))
    load_known_labels(path, _PHOTOS, "/photos")


def _names_seeds(_folder: Path) -> list[bytes]:
    own = {"path": "a.jpg", "cluster": 3, "name": "Anna", "status": "confirmed"}
    return [
        b"file,label\na.jpg,Anna\nb.jpg,'=Bea\nsub/c.jpg,\n",
        b"a.jpg,Anna\nb.jpg,Bea\n",
        b"path,cluster,name,status\na.jpg,1,Anna,confirmed\nb.jpg,2,,junk\nc,2,,\n",
        b"file,x,y,width,height,label\ne.jpg,1,2,30,40,Eva\na.jpg,,,,,Anna\n",
        b"\tfile\tid\na\t1\nb\t2\n",
        b'{"a.jpg": "Anna", "b.jpg": 12}',
        b'[{"file": "a.jpg", "label": "Anna"}, {"name": "b.jpg", "id": 3}]',
        inputs.as_json({"format": "a3s-clusters", "items": [own, own | {"status": "junk", "path": "b.jpg"}]}),
    ]


def _parts(data: bytes, folder: Path) -> None:
    path = folder / ("p.tsv" if data[:1] == b"\t" else "p.csv")
    path.write_bytes(data.removeprefix(b"\t"))
    same_photo_pairs(load_parts(path, ("a.jpg", "b.jpg", "sub/c.jpg"), "/photos").keys)


def _parts_seeds(_folder: Path) -> list[bytes]:
    return [
        b"file,x,y,width,height\na.jpg,1,2,3,4\na.jpg,10,20,30,40\nb.jpg,0,0,5.5,7.25\n",
        b"path,xmin,ymin,xmax,ymax,label\na.jpg,1,2,3,4,x\nc.jpg,-3,1,9,9,y\nz.jpg,1,1,2,2,z\n",
        b"\tfile\tleft\ttop\tright\tbottom\na\t1e3\t2\t2e3\t4\n",
        b"file,x,y,w,h\na.jpg,0.1,0.2,0.5,0.5\n",
    ]


# ------------------------------------------------------------------------------------------------ photos


def _photo(kind: str, **more: object) -> bytes:
    buffer = io.BytesIO()
    pixels = (np.arange(8 * 6 * 3) * 7 % 256).astype(np.uint8).reshape(6, 8, 3)
    mode = str(more.pop("mode", "RGB"))
    Image.fromarray(pixels).convert(mode).save(buffer, kind, **more)
    return buffer.getvalue()


_XMP = """<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/"
 xmlns:stDim="http://ns.adobe.com/xap/1.0/sType/Dimensions#" xmlns:stArea="http://ns.adobe.com/xmp/sType/Area#"
 xmlns:e="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"><mwg-rs:Regions rdf:parseType="Resource">
<mwg-rs:AppliedToDimensions stDim:w="6" stDim:h="8" stDim:unit="pixel"/><mwg-rs:RegionList><rdf:Bag><rdf:li>
<rdf:Description mwg-rs:Name="Anna" mwg-rs:Type="Face"><mwg-rs:Area stArea:x="0.5" stArea:y="0.4" stArea:w="0.2"
 stArea:h="0.3" stArea:unit="normalized"/></rdf:Description></rdf:li></rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions>
<e:PersonInImage><rdf:Bag><rdf:li>Bea</rdf:li></rdf:Bag></e:PersonInImage></rdf:Description></rdf:RDF></x:xmpmeta>"""
_XMP_MICROSOFT = """<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description xmlns:MP="http://ns.microsoft.com/photo/1.2/" xmlns:MPRI="http://ns.microsoft.com/photo/1.2/t/RegionInfo#"
 xmlns:MPReg="http://ns.microsoft.com/photo/1.2/t/Region#"><MP:RegionInfo rdf:parseType="Resource"><MPRI:Regions>
<rdf:Bag><rdf:li MPReg:PersonDisplayName="Eva" MPReg:Rectangle="0.1, 0.2, 0.3, 0.4"/></rdf:Bag></MPRI:Regions>
</MP:RegionInfo></rdf:Description></rdf:RDF></x:xmpmeta>"""


def _xmp(data: bytes, folder: Path) -> None:
    """The first byte is the orientation of the photo and whether the packet is in the photo or beside it."""
    code, packet = data[:1] or b"0", data[1:]
    photo = folder / "p.jpg"
    exif = Image.Exif()
    exif[0x0112] = code[0] % 9
    photo.write_bytes(_photo("JPEG", exif=exif, **({"xmp": packet[:60000]} if code[0] & 16 else {})))
    if not code[0] & 16:
        (folder / "p.xmp").write_bytes(packet)
    person_names.people_in(photo)
    person_names.known_people(folder, ("p.jpg", "p.jpg#xywh=3,2,2,3"), Task())
    person_names.region_table(folder, ("p.jpg",), Task())


def _xmp_seeds(_folder: Path) -> list[bytes]:
    return [code + text.encode() for code in (b"1", b"f", b"\x01") for text in (_XMP, _XMP_MICROSOFT)]


def _image(data: bytes, folder: Path) -> None:
    """PNG: with its checksums put right."""
    path = folder / "p.jpg"
    path.write_bytes(inputs.png_sums(data))
    images.probe_images(folder, ("p.jpg",))
    picture.upright_size(path)
    for box, part in (((64, 64), None), (None, None), ((5, 5), Part(1, 1, 4, 3))):
        with known():
            picture.read_picture(path, box, part).opaque()


def _image_seeds(_folder: Path) -> list[bytes]:
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "text"
    info = PngImagePlugin.PngInfo()
    info.add_text("Comment", "text", zip=True)
    deep = io.BytesIO()
    Image.fromarray((np.arange(48) * 999).astype(np.uint16).reshape(6, 8)).save(deep, "PNG")
    tiff = io.BytesIO()
    Image.fromarray(np.linspace(-1, 9, 48, dtype=np.float32).reshape(6, 8)).save(tiff, "TIFF")
    return [
        _photo("JPEG", exif=exif, xmp=b"<x/>"),
        _photo("JPEG", mode="CMYK", progressive=True),
        _photo("PNG", pnginfo=info),
        _photo("PNG", mode="P", transparency=1),
        deep.getvalue(),
        _rgb16(),
        tiff.getvalue(),
        _photo("TIFF", compression="tiff_lzw", exif=exif),
        _photo("TIFF", mode="LAB"),
        _photo("GIF", mode="P"),
        _photo("BMP"),
        _photo("WEBP", lossless=True),
        _photo("PPM"),
        _photo("DIB"),
        b"P5 8 6 65535\n" + bytes(96),
        _photo("AVIF"),
    ]


def _rgb16() -> bytes:
    import zlib

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + zlib.crc32(kind + body).to_bytes(4, "big")

    rows = b"".join(b"\0" + bytes(range(24)) for _ in range(3))
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 3, 16, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


# ------------------------------------------------------------------------------------------------ models


def _onnx(data: bytes, folder: Path) -> None:
    onnx_file.read_facts(data)


def _onnx_seeds(_folder: Path) -> list[bytes]:
    weights = onnx_file.tensor("w", np.ones((2, 3), np.float32))
    outside = onnx_file.field(8, "v") + onnx_file.field(13, onnx_file.field(1, "location") + onnx_file.field(2, "../v"))
    nodes = [onnx_file.node("Conv", ("x", "w"), "y", pads=(0, 1), group=1, auto_pad="SAME")]
    infos = [onnx_file.value_info("x", (1, 3, "h", 224))], [onnx_file.value_info("y", (1, 128))]
    return [
        onnx_file.model(nodes, [weights], *infos, {"size": "224"}),
        onnx_file.model(nodes, [weights, outside + onnx_file.field(14, 1)], *infos, {}),
    ]


def _torch(data: bytes, folder: Path) -> None:
    path = folder / "w.pth"
    if data[:1] == b"Z":
        pickled, *numbers = inputs.parts_of(data[1:])
        names = ["w/data.pkl", *(f"w/data/{at}" for at in range(len(numbers)))]
        path.write_bytes(inputs.zipped(names, [pickled, *numbers]))
    else:
        path.write_bytes(data)
    read_weights(path)


def _torch_seeds(_folder: Path) -> list[bytes]:
    storage = b"(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpuK\x06tQ"
    rebuilt = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"K\0K\x02K\x03\x86K\x03K\x01\x86\x89}tR"
    named = b"\x80\x02}X\x01\0\0\0w" + rebuilt + b"s."
    number = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
    system = b"\x80\x02}X\r\0\0\0little_endian\x88s."
    legacy = number + b"\x80\x02M\xe9\x03." + system + named + b"\x80\x02]X\x01\0\0\x000a."
    values = np.arange(6, dtype="<f4").tobytes()
    return [
        b"Z" + inputs.joined([named, values]),
        legacy + struct.pack("<q", 6) + values,
        inputs.zipped(["w/data.pkl", "w/data/0"], [named, values]),
        b"\x80\x02cposix\nsystem\nX\x02\0\0\0id\x85R.",
    ]


PARSERS = (
    Parser("npy", "features and labels in .npy", _npy, _npy_seeds, (b"descr", b"shape", b"'<f8'", b"'|O'")),
    Parser("npz", "features in .npz", _npz, _npz_seeds, (b"\n==\n", b"PK\x01\x02", b"features", b"names")),
    Parser("table", "features in .csv and .tsv", _table, _table_seeds, (b'"', b"1e400", b"nan", b"file", b"1_0")),
    Parser("arrow", "features in .parquet and .feather", _arrow, _arrow_seeds, (b"PAR1", b"ARROW1"), 8192),
    Parser("order", "order files, names of rows", _order, _order_seeds, (b"#xywh=", b"\\udc80", b"./", b"file,")),
    Parser("labels", "true labels in tables", _labels, _labels_seeds, (b"file,", b"label", b'"')),
    Parser("names", "known names in CSV and JSON", _names, _names_seeds, (b'"file":', b'"label":', b"1e999")),
    Parser("parts", "tables of rectangles", _parts, _parts_seeds, (b"file,", b"1e7", b"nan", b"-0.0", b"xmin,")),
    Parser("xmp", "persons in photos and side-cars", _xmp, _xmp_seeds, (b"rdf:li", b"mwg-rs:Area", b"<!ENTITY")),
    Parser("image", "images of all formats", _image, _image_seeds, (b"IHDR", b"iCCP", b"acTL", b"ftypavif"), 8192),
    Parser("onnx", "ONNX models", _onnx, _onnx_seeds, (b"\x3a\x02", b"\xff\xff\xff\xff\x0f", b"location")),
    Parser("torch", "weights saved by PyTorch", _torch, _torch_seeds, (b"\n==\n", b"ctorch\nFloatStorage\n")),
)  # fmt: skip
