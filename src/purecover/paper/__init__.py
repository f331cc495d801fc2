"""The study of the paper: its data sets, design, runs, tables and figures.

``purecover paper`` is all one needs of it, but for running it on a cluster::

    import joblib
    from purecover.paper.cells import cells
    from purecover.paper.run import run_study
    from purecover.paper.cells import Store

    with joblib.parallel_config("dask"), Store("results") as store:
        run_study(cells(["bank", "wine"]), store=store)
"""

from purecover._imports import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
