"""What the packaged program leaves out, and why. The spec reads these tables; a test keeps them true."""

from __future__ import annotations

from fnmatch import fnmatch

EXCLUDED_MODULES: dict[str, str] = {
    # The program makes no network connection; what could make one is not even there.
    "ssl": "no network; leaves libssl out",
    "_ssl": "no network; leaves libssl out",
    "PySide6.QtNetwork": "no network",
    # Under the GPL without exception, which the program's licence and those of others in the bundle do not go with.
    "readline": "line editing of consoles; GNU readline is GPL",
    # Other windows and tools of Python.
    "curses": "text terminals",
    "_curses": "text terminals",
    "tkinter": "another toolkit, which Pillow and pyqtgraph look for",
    "_tkinter": "another toolkit",
    "turtle": "drawing on tkinter",
    "idlelib": "an editor",
    "lib2to3": "a source converter",
    "ensurepip": "installs packages; this bundle is whole",
    "pip": "installs packages; this bundle is whole",
    "setuptools": "builds packages",
    "pkg_resources": "part of setuptools",
    "wheel": "builds packages",
    "PyInstaller": "builds this bundle",
    "IPython": "a console that NumPy and pyqtgraph look for",
    "jupyter_rfb": "notebooks, which pyqtgraph looks for",
    "pytest": "tests; scikit-learn and NumPy look for it",
    "hypothesis": "tests; NumPy looks for it",
    "jsonschema": "checks the bill of materials; nothing else looks for it here",
    "attr": "part of jsonschema",
    "attrs": "part of jsonschema",
    # Large packages that others look for where they are installed.
    "matplotlib": "only plots of the benchmark's report, which is written without them; 30 MB",
    "numba": "a compiler that pyqtgraph looks for; 246 MB",
    "cupy": "GPU arrays that pyqtgraph looks for",
    "OpenGL": "3-D plots of pyqtgraph; the map draws without it",
    "pandas": "tables that scikit-learn looks for; 60 MB",
    "polars": "tables that scikit-learn looks for",
    "dask": "`prepare` on a cluster, which only the source installation does; joblib looks for it",
    "distributed": "as dask; it speaks over the network, which this program never does",
    "pyarrow": "Parquet tables: 150 MB for one format; the source installation has it as the extra `parquet`",
    "torch": "scikit-learn and SciPy look for it",
    "onnx": "tools that write models; the program writes its own and needs only the runtime",
    "sympy": "tools of onnxruntime that change models",
    # Parts of packages that the program never reaches.
    "pyqtgraph.opengl": "3-D plots",
    "pyqtgraph.examples": "examples",
    "pyqtgraph.jupyter": "notebooks",
    "onnxruntime.quantization": "changes models",
    "onnxruntime.transformers": "changes models",
    "onnxruntime.tools": "changes models",
    "PySide6.QtQml": "the window is made of widgets",
    "PySide6.QtQuick": "the window is made of widgets",
    "PySide6.QtSql": "the journal uses Python's own SQLite",
    "PySide6.QtDesigner": "a tool of developers",
    "PySide6.QtUiTools": "forms from files; there are none",
    "PySide6.QtConcurrent": "the program has its own threads",
    "PIL.ImageTk": "Pillow's door to tkinter",
    "PIL.ImageQt": "Pillow's door to Qt; the program has its own",
}

EXCLUDED_FILES: dict[str, str] = {
    # Patterns on paths inside the bundle, with forward slashes.
    "*/plugins/tls/*": "no network",
    "*/plugins/networkinformation/*": "no network",
    "*/plugins/sqldrivers/*": "the journal uses Python's own SQLite",
    "*/plugins/qmltooling/*": "no QML",
    "*/plugins/generic/*": "input devices of machines without a desktop",
    "*/plugins/egldeviceintegrations/*": "screens of machines without a desktop",
    "*/plugins/platforms/*eglfs*": "screens of machines without a desktop",
    "*/plugins/platforms/*linuxfb*": "screens of machines without a desktop",
    "*/plugins/platforms/*minimal*": "Qt's own tests",
    "*/plugins/platforms/*vkkhrdisplay*": "screens of machines without a desktop",
    "*/plugins/platforms/*vnc*": "shows the window over the network",
    "*/plugins/platforminputcontexts/*virtualkeyboard*": "needs QML",
    "*/plugins/platformthemes/*gtk3*": "would bring the builder's GTK; the program has its own themes",
    "*/plugins/wayland-decoration-client/*adwaita*": "wants settings of GNOME; the plain frame stays",
    "*libQt6Network*": "no network",
    "*Qt6Network.dll": "no network",
    "*QtNetwork.framework*": "no network",
    "*libQt6Qml*": "no QML",
    "*libQt6Quick*": "no QML",
    "*libQt6VirtualKeyboard*": "needs QML",
    "*libQt6Egl*": "screens of machines without a desktop",
    "*opengl32sw.dll": "a software OpenGL of 20 MB; the window uses none",
    "*/translations/*": "all but German; English needs none (see KEPT_FILES)",
    "libgtk-3*": "see the gtk3 plugin",
    "*/sklearn/datasets/data/*": "sample data (see KEPT_FILES)",
    "*/sklearn/datasets/images/*": "sample data",
    "*/sklearn/datasets/descr/*": "texts on sample data (see KEPT_FILES)",
    "*/pyqtgraph/examples/*": "examples",
    "*/tests/*": "tests of packages",
    "*/onnxruntime/tools/*": "changes models",
    "*/onnxruntime/transformers/*": "changes models",
    "*/onnxruntime/quantization/*": "changes models",
}

KEPT_FILES: dict[str, str] = {
    "*/translations/qtbase_de.qm": "Qt's own dialogs in German",
    "*/sklearn/datasets/data/digits.csv.gz": "the demo of handwritten digits",
    "*/sklearn/datasets/data/__init__.py": "makes the folder a package",
    "*/sklearn/datasets/descr/digits.rst": "read together with the digits",
    "*/sklearn/datasets/descr/__init__.py": "makes the folder a package",
}

HIDDEN_IMPORTS: dict[str, str] = {
    "PySide6.QtSvg": "icons are SVGs; the plugin is found by it",
    "PySide6.QtOpenGLWidgets": "as QtOpenGL",
    "PySide6.QtOpenGL": "pyqtgraph's curves import it by name, though the map draws without it",
    "PySide6.QtTest": "the self-test presses keys",
    "sklearn.datasets.data": "found by name at run time",
    "sklearn.datasets.descr": "found by name at run time",
}

SYSTEM_LIBRARIES: dict[str, str] = {
    # Linux: libraries that must be those of the system, because they fit its drivers, display or fonts.
    "libGL.so*": "fits the graphics driver",
    "libEGL.so*": "fits the graphics driver",
    "libGLX.so*": "fits the graphics driver",
    "libGLdispatch.so*": "fits the graphics driver",
    "libOpenGL.so*": "fits the graphics driver",
    "libdrm.so*": "fits the graphics driver",
    "libgbm.so*": "fits the graphics driver",
    "libfontconfig.so*": "reads the system's font settings",
    "libfreetype.so*": "goes with fontconfig",
    "libexpat.so*": "goes with fontconfig",
    "libxcb.so*": "goes with the system's X11",
    "libX11*.so*": "goes with the system's X11",
    "libXau.so*": "goes with the system's X11",
    "libXdmcp.so*": "goes with the system's X11",
    "libwayland-*.so*": "goes with the system's compositor",
    "libstdc++.so*": "the graphics driver needs one at least as new",
    "libgcc_s.so*": "goes with libstdc++",
    "libc.so*": "the system's",
    "libm.so*": "the system's",
}


def left_out(path: str) -> bool:
    """Whether a file of the bundle is left out; ``path`` is inside the bundle."""
    path = "/" + path.replace("\\", "/")
    if any(fnmatch(path, pattern) for pattern in KEPT_FILES):
        return False
    return any(fnmatch(path, pattern if pattern.startswith("*") else "*/" + pattern) for pattern in EXCLUDED_FILES)


def of_the_system(path: str) -> bool:
    """Whether a library is left to the Linux system that the program runs on."""
    name = path.replace("\\", "/").rpartition("/")[2]
    return any(fnmatch(name, pattern) for pattern in SYSTEM_LIBRARIES)


def needed(binaries: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Leave out libraries of the build machine that only what was left out had asked for (GTK and its kin).

    Parameters
    ----------
    binaries : list of (path inside, source, kind)
        PyInstaller's table, after `left_out`.
    """
    from PyInstaller.depend.bindepend import get_imports

    loose = {
        entry[0]: entry for entry in binaries if "/" not in entry[0] and ".so" in entry[0] and entry[2] == "BINARY"
    }
    waiting = [entry for entry in binaries if entry[0] not in loose]
    kept = list(waiting)
    loose_python = [name for name in loose if name.startswith("libpython")]
    waiting += [loose[name] for name in loose_python]
    kept += [loose.pop(name) for name in loose_python]
    while waiting:
        _, source, kind = waiting.pop()
        if kind not in ("BINARY", "EXTENSION"):
            continue
        for name, _ in get_imports(source):
            if name in loose:
                entry = loose.pop(name)
                kept.append(entry)
                waiting.append(entry)
    return sorted(kept)
