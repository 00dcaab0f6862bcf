"""Lists of known names: whatever a file says, images are only found by name, and nothing else is opened."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from a3s_desktop.errors import InputError
from a3s_desktop.storage.label_file import load_known_labels

PATHS = ("a/one.jpg", "b/two.jpg", "b/three.png", "c/same.jpg", "d/same.jpg", "=x.jpg")


def write(folder: Path, text: str, name: str = "names.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("said", "item"),
    [
        ("a/one.jpg", 0),
        ("./a/one.jpg", 0),
        ("a\\one.jpg", 0),
        ("one.jpg", 0),
        ("three", 2),
        ("/photos/b/two.jpg", 1),
        ("same.jpg", -1),
        ("c/same.jpg", 3),
        ("./=x.jpg", 5),
        ("../../etc/passwd", -1),
        ("/etc/hostname", -1),
        ("\\\\server\\share\\x", -1),
        ("NUL", -1),
        ("C:con", -1),
    ],
)
def test_images_are_found_by_name_only(tmp_path: Path, said: str, item: int) -> None:
    labels = load_known_labels(write(tmp_path, f"file,label\n{said},Ann\n"), PATHS, "/photos")
    assert [label.item for label in labels] == [item]
    assert labels[0].name == "Ann"


@pytest.mark.parametrize(
    "text",
    [
        "file,label\na/one.jpg,Ann\nb/two.jpg,\n",
        "path;identity\na/one.jpg;Ann\n",
        "a/one.jpg\tAnn\n",
        "name,person\na/one.jpg,Ann\n",
        "label,file,more\nAnn,a/one.jpg,x\n",
        "\ufefffile,label\r\na/one.jpg,Ann\r\n",
    ],
)
def test_tables_of_many_kinds(tmp_path: Path, text: str) -> None:
    labels = load_known_labels(write(tmp_path, text), PATHS)
    assert [(label.item, label.name) for label in labels] == [(0, "Ann")]


def test_an_export_of_this_program_counts_by_cluster_and_junk(tmp_path: Path) -> None:
    text = (
        "path,cluster,name,status,confidence\na/one.jpg,3,'=Ann,confirmed,1.000\nb/two.jpg,5,,automatic,0.500\n"
        "b/three.png,7,Bert,junk,0.000\n"
    )
    one, two, three = load_known_labels(write(tmp_path, text), PATHS)
    assert (one.name, one.group, one.junk) == ("=Ann", "3", False)
    assert (two.name, two.group, two.junk) == ("", "5", False)
    assert (three.name, three.group, three.junk) == ("", "", True)


@pytest.mark.parametrize("text", ["", "file,label\n", "file\nx", "label\nx", "file,label\na/one.jpg\n", '"x'])
def test_what_is_no_list_is_refused_with_its_name(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"names\.csv"):
        load_known_labels(write(tmp_path, text), ())


def test_a_device_is_not_read() -> None:
    device = Path("/dev/zero")
    if not device.exists():
        pytest.skip("no such device on this system")
    with pytest.raises(InputError, match="ordinary"):
        load_known_labels(device, PATHS)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), max_size=5), st.sampled_from(("csv", "json")))
def test_any_table_is_read_or_refused(tmp_path: Path, rows: list[tuple[str, str]], kind: str) -> None:
    memory = io.StringIO()
    csv.writer(memory).writerows([("file", "label"), *rows])
    path = tmp_path / f"x.{kind}"
    path.write_bytes(memory.getvalue().encode("utf-8", "surrogatepass"))
    try:
        labels = load_known_labels(path, PATHS)
    except InputError:
        return
    assert all(-1 <= label.item < len(PATHS) for label in labels)
