"""Dask clusters on this computer; without Dask these tests are skipped.

A cluster ends with the tests of its module: its threads and processes would be found by others that look for such.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

distributed = pytest.importorskip("distributed", reason="the extra 'distributed' (Dask) is not installed")


@pytest.fixture(scope="module")
def two_processes() -> Iterator[str]:
    """The address of a cluster of two workers, each a process of its own."""
    with two_workers() as cluster:
        yield _warm(cluster)


@pytest.fixture(scope="module")
def in_process() -> Iterator[str]:
    """The address of a cluster of one worker in this process."""
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        dashboard_address=":0",
        silence_logs=50,
    ) as cluster:
        yield _warm(cluster)


def two_workers() -> Any:
    """A cluster of two workers, each a process of its own; a context manager."""
    return distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    )


def _warm(cluster: Any) -> str:
    """Its threads belong to the cluster, not to the first test that uses it."""
    with distributed.Client(cluster, set_as_default=False) as client:
        client.submit(abs, -1).result()
    return str(cluster.scheduler_address)
