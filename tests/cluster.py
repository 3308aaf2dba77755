"""Two processes of Spark on this machine, for the tests that are slow because of it."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

CLUSTER = "local-cluster[2,1,1024]"

#: For the modules whose tests need it.
MARKS = [
    pytest.mark.slow,
    # What PySpark thinks of the version of pandas is no matter: no row passes through pandas.
    pytest.mark.filterwarnings("ignore::FutureWarning:pyspark"),
    # Sockets and processes of PySpark's own, closed when the collector comes by.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@contextmanager
def two_workers() -> Iterator[Any]:
    """Give a session, which lives as long as the module's tests."""
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    quiet: dict[str, Any] = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    few: dict[str, Any] = {"spark.sql.shuffle.partitions": "8"}
    session = SparkSession.builder.master(CLUSTER).config(map=quiet | few).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def workers() -> set[int]:
    import psutil  # type: ignore[import-untyped]  # not there where slow tests are not run

    found = set()
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # a dead one is listed until its parent has looked at it
            if any("CoarseGrainedExecutorBackend" in part for part in process.cmdline()):
                found.add(process.pid)
    return found
