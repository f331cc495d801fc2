"""The study of the paper: its data sets, design, runs, tables and figures.

``purecover paper`` is all one needs of it, but for running it on a cluster::

    import joblib
    from purecover.paper import Store, cells, run_study

    with joblib.parallel_config("dask"), Store("results") as store:
        run_study(cells(["bank", "wine"]), store=store)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from purecover.paper.design import StudySettings, cells
    from purecover.paper.run import run_study
    from purecover.paper.store import Store

__all__ = ["Store", "StudySettings", "cells", "run_study"]

# Loaded when first used: the data sets alone need none of it.
_HOMES = {"Store": "store", "StudySettings": "design", "cells": "design", "run_study": "run"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
