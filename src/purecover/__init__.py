"""Recover how good a classifier really is from positive-unlabeled data.

The short story::

    import purecover as pu

    report = pu.evaluate(scores, labeled)  # or with alpha=0.25, where it is known
    print(report)
    pu.RecoveredRocDisplay(report.roc).plot()

Names are loaded when first used, so that ``import purecover`` and ``purecover --help`` cost
next to nothing.
"""

from purecover._imports import attach as _attach

__version__ = "0.2.0.dev0"

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
