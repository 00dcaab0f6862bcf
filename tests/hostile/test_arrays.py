"""Arrays, archives and pickles that would run a program or fill the memory."""

from __future__ import annotations

import ast
import io
import pickle
import re
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from a3s_desktop.errors import InputError
from a3s_desktop.storage.array_files import load_array
from a3s_desktop.storage.features import load_features
from a3s_desktop.storage.torch_weights import read_weights
from tests.hostile.bombs import packed_zeros

PACKAGE = Path(__file__).resolve().parents[2] / "a3s_desktop"
READER = "torch_weights.py"  # knows five names, see there
# Of work on a cluster: what is unpickled comes through Dask, which runs what its scheduler sends anyway; never a file.
CLUSTER: dict[str, set[str]] = {"shared.py": set(), "worker.py": {"pickle.loads"}}
UNSAFE = {
    "pickle",
    "cPickle",
    "_pickle",
    "shelve",
    "marshal",
    "dill",
    "cloudpickle",
    "joblib",
    "torch",
    "pandas",
    "yaml",
}
RUNNING = {"eval", "exec", "compile", "read_pickle", "__import__"}


def _unsafe(tree: ast.Module) -> set[str]:
    """What in a module could run a file's content."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {one.name.partition(".")[0] for one in node.names} & UNSAFE
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module.partition(".")[0]} & UNSAFE
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            given = {one.arg: one.value for one in node.keywords}
            pickles = given.get("allow_pickle")
            denied = isinstance(pickles, ast.Constant) and pickles.value is False
            if called in ("np.load", "numpy.load", "np.lib.format.read_array", "np.fromfile") and not denied:
                found.add(called)
            if pickles is not None and not denied:
                found.add(f"{called}(allow_pickle)")
            if called in RUNNING or called.rpartition(".")[2] == "read_pickle":
                found.add(called)
            if called == "Image.open" and "formats" not in given:
                found.add("Image.open of any format")
    return found


def _suspicious() -> list[tuple[str, ast.Module]]:
    """Modules in which one of the words stands at all, parsed."""
    words = re.compile("|".join((*UNSAFE, *RUNNING, "load", "read_array", "fromfile", "allow_pickle", "Image.open")))
    texts = [(path.name, path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))]
    return [(name, ast.parse(text)) for name, text in texts if words.search(text)]


def test_no_module_can_unpickle_or_run_what_a_file_holds() -> None:
    modules = _suspicious()
    assert {(name, one) for name, tree in modules for one in _unsafe(tree)} == {
        (READER, "pickle"),
        ("pickle_limits.py", "pickle"),
        *((name, "pickle") for name in CLUSTER),
    }
    for name, tree in modules:
        called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        pickles = {one for one in called if one.startswith("pickle.")}
        assert pickles <= CLUSTER.get(name, {"pickle.UnpicklingError"}), name


@pytest.mark.parametrize(
    "source",
    [
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "np.lib.format.read_array(file, allow_pickle=bool(1))",
        "import pickle",
        "from torch import load",
        "pd.read_pickle(path)",
        "eval(text)",
        "Image.open(path)",
    ],
)
def test_the_search_finds_them(source: str) -> None:
    assert _unsafe(ast.parse(source))


class Mark:
    """Unpickled, it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_arrays_of_objects_are_not_loaded(tmp_path: Path, name: str) -> None:
    made = tmp_path / "made"
    array = np.array([[Mark(made), 1], [2, 3], [4, 5]], object)
    if name == "a.npy":
        np.save(tmp_path / name, array, allow_pickle=True)
        with pytest.raises(ValueError, match="objects"):
            load_array(tmp_path / name)
    else:
        np.savez(tmp_path / name, features=array)
    with pytest.raises(InputError, match="Python objects"):
        load_features(tmp_path / name)
    assert not made.exists()


@pytest.mark.parametrize("suffix", [".pt", ".pth", ".pkl", ".pickle", ".joblib"])
def test_pickles_are_no_feature_files(tmp_path: Path, suffix: str) -> None:
    made, path = tmp_path / "made", tmp_path / f"a{suffix}"
    path.write_bytes(pickle.dumps(Mark(made)))
    with pytest.raises(InputError, match="pickle"):
        load_features(path)
    assert not made.exists()


# ------------------------------------------------------------------------------------------------ archives


def header(shape: tuple[int, ...], kind: str = "<f4", length: int = 0) -> bytes:
    text = repr({"descr": kind, "fortran_order": False, "shape": shape}).encode().ljust(length) + b"\n"
    return b"\x93NUMPY\x02\0" + struct.pack("<I", len(text)) + text


def archive(*members: tuple[str, bytes]) -> bytes:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members:
            file.writestr(name, data)
    return memory.getvalue()


def directory(entries: list[tuple[str, int, int, int]], data: bytes, method: int = 8) -> bytes:
    """An archive by hand: name, place, packed and unpacked length of each member."""
    local = struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0, method, 0, 0, 0, len(data), 0, 12, 0) + b"features.npy"
    listed = b"".join(
        struct.pack("<IHHHHHHIII", 0x02014B50, 20, 20, 0, method, 0, 0, 0, packed, size)
        + struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, at)
        + name.encode()
        for name, at, packed, size in entries
    )
    start = len(local) + len(data)
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, len(entries), len(entries), len(listed), start, 0)
    return local + data + listed + end


def grown(rows: int, columns: int) -> bytes:
    """Features of zeros, a thousand to one."""
    head = header((rows, columns))
    packer = zlib.compressobj(0, zlib.DEFLATED, -15)
    data = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH) + packed_zeros(rows * columns * 4)[2:-4]
    return directory([("features.npy", 0, len(data), len(head) + rows * columns * 4)], data)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (grown(500_000, 512), "would grow out of all proportion"),
        (directory([(f"{n}.npy", 0, 2000, 3000) for n in range(500)], bytes(2000)), "overlap"),
        (archive(*((f"{n}.npy", b"") for n in range(10_001))), "too many files"),
        (archive(("features.npy", header((1 << 40, 1 << 20)))), "announces"),
        (archive(("features.npy", header((3, 2), length=60_000))), "too long"),
        (archive(("features.npy", b"\x93NUMPY\x02\0" + struct.pack("<I", 9000) + b"(" * 9000)), "damaged header"),
        (
            archive(("features.npy", header((3, 2)) + bytes(24)), ("names.npy", header((3,), "<U200000000"))),
            "announces",
        ),
    ],
    ids=["ratio", "overlap", "many", "shape", "header", "nested", "names"],
)
def test_archives_out_of_proportion_are_not_unpacked(tmp_path: Path, data: bytes, why: str) -> None:
    (tmp_path / "a.npz").write_bytes(data)
    with pytest.raises(InputError, match=why) as caught:
        load_features(tmp_path / "a.npz")
    assert "a.npz" in caught.value.message


def test_features_that_pack_well_are_read(tmp_path: Path) -> None:
    """One in a hundred numbers is not zero."""
    values = np.zeros((2000, 400), np.float32)
    values[::10, ::10] = 1.5
    np.savez_compressed(tmp_path / "a.npz", features=values)
    assert np.array_equal(load_features(tmp_path / "a.npz").values, values)


def test_a_row_of_millions_of_fields_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"," * 1_000_001 + b"\n")
    with pytest.raises(InputError, match=r"a\.csv', line 1: it has more than 1,000,000 fields"):
        load_features(tmp_path / "a.csv")


# ------------------------------------------------------------------------------------------------ pickles

LEGACY = pickle.dumps(119547037146038801333356, 2) + pickle.dumps(1001, 2) + pickle.dumps({"little_endian": True}, 2)


def text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def number(value: int) -> bytes:
    return b"\x8a\x09" + value.to_bytes(9, "little", signed=True)


def tensor(name: str, shape: tuple[int, ...], steps: tuple[int, ...], offset: int = 0) -> bytes:
    sides = [b"(" + b"".join(map(number, side)) + b"t" for side in (shape, steps)]
    storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text("0") + text("cpu") + number(4) + b"tQ"
    rebuild = b"ctorch._utils\n_rebuild_tensor_v2\n("
    return text(name) + rebuild + storage + number(offset) + b"".join(sides) + b"tRs"


def zipped(table: bytes, method: int = zipfile.ZIP_STORED) -> bytes:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", method) as file:
        file.writestr("a/data.pkl", table)
        file.writestr("a/data/0", np.arange(4, dtype="<f4").tobytes())
    return memory.getvalue()


def table(*tensors: bytes) -> bytes:
    return b"\x80\x02}" + b"".join(tensors) + b"."


DOUBLED = b")\x94" + b"".join(bytes((0x68, n, 0x68, n)) + b"\x86\x94" for n in range(60))
ATTACKS = {
    "function": (b"cos\nsystem\n(S'touch %s'\ntR.", "it asks for os.system"),
    "instance": (b"(S'touch %s'\nios\nsystem\n.", "it asks for os.system"),
    "new object": (b"\x80\x02cbuiltins\neval\n)\x81.", "it asks for builtins.eval"),
    "nested name": (b"\x80\x04\x8c\x0bcollections\x8c\x14OrderedDict.__init__\x93.", "it asks for collections.Ordered"),
    "number of a function": (b"\x80\x02\x82\x01.", "extension"),
    "attributes": (
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nN}" + text("__defaults__") + b")s\x86b.",
        "it would change the program",
    ),
    "place in memory": (b"\x80\x04Nr\xff\xff\xff\x7f.", "it asks for too much memory"),
    "length of text": (b"\x80\x04\x8d" + struct.pack("<Q", 1 << 40) + b".", "it is cut off"),
    "length of a frame": (b"\x80\x04\x95" + struct.pack("<Q", 1 << 40) + b"N.", "it is cut off"),
    "length of bytes": (b"\x80\x05\x96" + struct.pack("<Q", 1 << 33) + b"N.", "it is cut off"),
    "nested lists": (b"\x80\x04" + b"]" * 30_000 + b"a" * 29_999 + b".", "nested too deeply"),
    "nested key": (b"\x80\x04})" + b"\x85" * 100_000 + b"K\x01s.", "nested too deeply"),
    "doubled key": (b"\x80\x04}" + DOUBLED + b"K\x01s.", "nested too deeply"),
    "steps": (b"\x80\x04" + b"N0" * 101_000 + b"N.", "too large"),
    "no table": (b"\x80\x02K\x05.", "no table"),
    "not ended": (b"\x80\x02}", "no file of weights"),
    "digits": (b"I" + b"9" * 1_000_000 + b"\n.", "damaged"),
}


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("kind", ["stream", "archive"])
def test_a_pickle_builds_nothing_but_tensors(tmp_path: Path, name: str, kind: str) -> None:
    attack, why = ATTACKS[name]
    made = tmp_path / "made"
    attack = attack.replace(b"%s", str(made).encode())
    path = tmp_path / "a.pth"
    path.write_bytes(zipped(attack) if kind == "archive" else LEGACY + attack + pickle.dumps([], 2))
    with pytest.raises(InputError) as caught:
        read_weights(path)
    assert why in caught.value.message
    assert not made.exists()


@pytest.mark.parametrize(
    "tensors",
    [
        [tensor("a", (1 << 20, 1 << 10), (0, 0))],
        [tensor("a", (1 << 62, 1 << 62), (0, 0))],
        [tensor("a", (2,), (1,), offset=3)],
        [tensor("a", (0, 1 << 62), (1, 1))],
        [tensor("a", (1,) * 100, (1,) * 100)],
        [tensor(f"t{n}", (4,), (1,)) for n in range(40)],
    ],
)
def test_tensors_beyond_their_numbers_are_refused(tmp_path: Path, tensors: list[bytes]) -> None:
    (tmp_path / "a.pth").write_bytes(zipped(table(*tensors)))
    with pytest.raises(InputError, match="no file of weights"):
        read_weights(tmp_path / "a.pth")


def test_plain_tensors_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.pth").write_bytes(zipped(table(tensor("a", (2, 2), (2, 1)), tensor("b", (2,), (1,), offset=2))))
    weights = read_weights(tmp_path / "a.pth")
    assert np.array_equal(weights["a"], [[0, 1], [2, 3]])
    assert np.array_equal(weights["b"], [2, 3])
