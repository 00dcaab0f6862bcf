"""The self-test's own pieces; the whole of it is run by the build and by `packaging/prove_linux.py`."""

from __future__ import annotations

import socket

import pytest

from a3s_desktop.errors import A3SError
from a3s_desktop.ui import self_test
from a3s_desktop.ui.self_test import Network, Report


def test_every_format_is_decoded(qapp, tmp_path):
    found = self_test._formats(tmp_path)
    for name in ("JPEG", "CMYK", "PNG", "WebP", "GIF", "BMP", "TIFF 16 bit", "TIFF 32 bit", "AVIF", "HEIC"):
        assert name in found


def test_a_format_that_is_not_decoded_fails_it(qapp, tmp_path, monkeypatch):
    files = self_test.sample_files(tmp_path)
    files["PNG"].write_bytes(files["PNG"].read_bytes()[:40])
    monkeypatch.setattr(self_test, "sample_files", lambda _folder: files)
    lines = []
    report = Report(lines.append)
    report.check("image formats", lambda: self_test._formats(tmp_path))
    assert report.failed == 1
    assert lines[0].startswith("FAILED image formats: ")


def test_the_network_is_refused_and_told_of():
    network = Network()
    try:
        with pytest.raises(OSError, match="no network"):
            socket.getaddrinfo("localhost", 80)
        with socket.socket() as link, pytest.raises(OSError, match="no network"):
            link.connect(("127.0.0.1", 9))
        with pytest.raises(A3SError, match="127"):
            network.result()
    finally:
        network.watching = False
    socket.getaddrinfo("localhost", 80)


def test_without_an_attempt_it_is_content():
    network = Network()
    network.watching = False
    assert "no attempt" in network.result()
