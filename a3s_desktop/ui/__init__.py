"""The window. The only package that may import PySide6, shiboken6 and pyqtgraph."""
