"""All estimators of alpha and beta by name."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from purecover._validation import bad_type, bad_value
from purecover.estimation._base import EstimatorT, PriorEstimator

__all__ = ["prior_estimators", "register_prior_estimator"]

_REGISTERED: dict[str, type[PriorEstimator]] = {}

# Each of these registers its classes when imported.
_BUILT_IN = ("_alphamax", "_bbe", "_dedpul", "_elkan_noto", "_ensemble", "_roc_slope")


def register_prior_estimator(name: str) -> Callable[[EstimatorT], EstimatorT]:
    """Add an estimator to :func:`prior_estimators` under a name.

    Parameters
    ----------
    name : str
        The name, in small letters, words joined by hyphens.

    Returns
    -------
    callable
        A decorator for a subclass of :class:`PriorEstimator`.
    """

    def register(cls: EstimatorT) -> EstimatorT:
        function = "register_prior_estimator"
        if not (isinstance(cls, type) and issubclass(cls, PriorEstimator)):
            raise bad_type(function, "cls", "a subclass of PriorEstimator", cls)
        if _REGISTERED.get(name, cls).__qualname__ != cls.__qualname__:
            raise bad_value(function, "name", "one that is not taken", repr(name))
        _REGISTERED[name] = cls
        return cls

    return register


def prior_estimators() -> dict[str, type[PriorEstimator]]:
    """Every estimator of alpha and beta, by name.

    Returns
    -------
    dict of str to type
        Name to class, in alphabetical order.

    Examples
    --------
    >>> import purecover as pu
    >>> "alphamax" in pu.prior_estimators()
    True
    """
    for module in _BUILT_IN:
        import_module(f"purecover.estimation.{module}")
    return dict(sorted(_REGISTERED.items()))
