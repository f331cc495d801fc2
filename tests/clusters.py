"""Packages that only some machines have, and the one Spark session that tests share."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.util import find_spec
from typing import Any

import pytest


def need(package: str, remedy: str) -> None:
    """Skip what cannot run here, and say what to install."""
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed; remedy: pip install {remedy}")


@cache
def spark_session() -> Any:
    """Two workers on this machine; left running, as Python ends them."""
    need("pyspark", "'purecover[spark]'")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    try:
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.driver.memory", "1g")
            # Code that runs for a second is not worth what its best translation takes.
            .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
            .getOrCreate()
        )
    except Exception as error:  # noqa: BLE001 - whatever a machine without Java says
        pytest.skip(f"Spark does not start ({str(error)[:80]}); remedy: install Java 17")
    session.sparkContext.setLogLevel("ERROR")
    return session
