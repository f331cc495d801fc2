"""All estimators of alpha and beta by name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from importlib import import_module

from purecover._validation import bad_type, bad_value
from purecover.estimation._base import EstimatorT, PriorEstimator

__all__ = ["prior_estimators", "register_prior_estimator"]

_REGISTERED: dict[str, type[PriorEstimator]] = {}

# Each of these registers its classes when imported.
_BUILT_IN = (
    "_alphamax",
    "_bbe",
    "_clustered",
    "_dedpul",
    "_dist_curve",
    "_elkan_noto",
    "_ensemble",
    "_fitted_roc",
    "_gaussian_mixture",
    "_kernel_mean",
    "_label_curve",
    "_noisy",
    "_patra_sen",
    "_pearson",
    "_penalized_l1",
    "_regrouping",
    "_roc_slope",
    "_subsampling",
    "_tice",
)


def register_prior_estimator(name: str) -> Callable[[EstimatorT], EstimatorT]:
    """Add an estimator to :func:`prior_estimators` under a name.

    Parameters
    ----------
    name : str
        The name, in small letters and digits, words joined by hyphens.

    Returns
    -------
    callable
        A decorator for a subclass of :class:`PriorEstimator` that can be made without
        arguments.

    See Also
    --------
    prior_estimators : All that are registered.

    Examples
    --------
    Twice the share of unlabeled scores above the median of the labeled ones is a crude upper
    bound of the share of positives. As an estimator:

    >>> import numpy as np
    >>> import purecover as pu
    >>> class Half(pu.PriorEstimator):
    ...     def _estimate(self, counts):
    ...         above = 2 * np.cumsum(counts.labeled) <= counts.n_labeled
    ...         share = counts.unlabeled[above].sum() / counts.n_unlabeled
    ...         return pu.Inclusions(min(1.0, 2 * share))
    >>> scores, labeled = [6, 5, 4, 3, 2, 1, 0, 0], [1, 0, 1, 1, 1, 0, 0, 0]
    >>> Half().fit(scores, labeled).proportions_
    MixtureProportions(alpha=0.5, beta=1.0, origin='Half', scenario='case-control')

    Written above the class, this adds it to the others:

    >>> decorator = pu.register_prior_estimator("half")
    """
    function = "register_prior_estimator"
    must = "a name of small letters and digits, words joined by hyphens"
    if not isinstance(name, str):
        raise bad_type(function, "name", must, name, "write @register_prior_estimator('my-name')")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise bad_value(function, "name", must, repr(name))

    def register(cls: EstimatorT) -> EstimatorT:
        given: object = cls  # decorators meet anything
        if not (isinstance(given, type) and issubclass(given, PriorEstimator)):
            raise bad_type(function, "cls", "a subclass of PriorEstimator", given)
        if inspect.isabstract(given):
            hint = "write a method _estimate(self, counts) that returns Inclusions"
            raise bad_value(function, "cls", "a class without abstract methods", repr(given), hint)
        if needed := _required(given):
            must = "a class that can be made without arguments"
            got = f"{given.__name__}, which needs {', '.join(needed)}"
            raise bad_value(function, "cls", must, got, "give each of them a default")
        taken = _REGISTERED.get(name)
        # The same class again, from a notebook cell or a reloaded module, is welcome.
        if taken is not None and _identity(taken) != _identity(given):
            raise bad_value(function, "name", "one that is not taken", f"{name!r} ({taken})")
        _REGISTERED[name] = given
        return cls

    return register


def prior_estimators() -> dict[str, type[PriorEstimator]]:
    """Every estimator of alpha and beta, by name.

    Returns
    -------
    dict of str to type
        Name to class, in alphabetical order: those of this package, and those added by
        :func:`register_prior_estimator`. Each can be made without arguments.

    See Also
    --------
    register_prior_estimator : Add one.

    Examples
    --------
    >>> import purecover as pu
    >>> pu.prior_estimators()["bbe"]()
    BBE()
    """
    for module in _BUILT_IN:
        import_module(f"purecover.estimation.{module}")
    return dict(sorted(_REGISTERED.items()))


def _required(cls: type) -> list[str]:
    """Parameters of ``__init__`` without a default."""
    wild = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(cls).parameters.values()
    return [p.name for p in parameters if p.default is p.empty and p.kind not in wild]


def _identity(cls: type) -> tuple[str, str]:
    return cls.__module__, cls.__qualname__
