"""Parameters of estimators: declared and checked once, read and set as scikit-learn does.

``sklearn.base.BaseEstimator`` would do most of it, but its import takes longer than an estimate.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Self, TypeVar

from purecover import _validation as valid
from purecover._inputs import RESPONSES
from purecover._parameters import checked
from purecover._validation import public
from purecover.exceptions import PurecoverError

if TYPE_CHECKING:
    from sklearn.utils import Tags

T = TypeVar("T")


def _check_estimator(name: str, value: Any) -> None:
    """Refuse what is no estimator with good parameters that takes labels as clean."""
    kind = value.__name__ if isinstance(value, type) else type(value).__name__
    if isinstance(value, type) or not hasattr(value, "_estimate"):
        hint = "register your own as a subclass of PriorEstimator"
        if hasattr(value, "_estimate"):
            hint = f"this is the class; write {kind}()"
        elif isinstance(value, str):
            hint = f'write prior_estimators()["{value}"]()'
        raise valid.bad_type(name, "an estimator of alpha", value, hint)
    try:
        value._check_params()
    except PurecoverError as error:
        error.function = error.function or kind
        raise
    if value.estimates_beta:
        must, hint = "one that takes labels as clean", f"use {kind} by itself"
        raise valid.bad_value(name, must, f"{kind}, which estimates beta itself", hint)


def check_classifier(name: str, value: Any) -> None:
    """Refuse what cannot be trained, or gives no scores."""
    gives = any(hasattr(value, response) for response in RESPONSES)
    if isinstance(value, type) or not (hasattr(value, "fit") and gives):
        must = "a scikit-learn classifier with decision_function or predict_proba"
        raise valid.bad_type(name, must, value)


_CHECKS: dict[str, Callable[..., Any]] = {
    "integer": valid.check_integer,
    "real": valid.check_real,
    "choice": valid.check_choice,
    "flag": valid.check_flag,
    "random_state": valid.check_seeding,
    "estimator": _check_estimator,
    "classifier": check_classifier,
}


@public
def parameter(default: Any, kind: str, *, optional: bool = False, **limits: Any) -> Any:
    """Declare a parameter of an estimator that is a dataclass; ``fit`` checks its value.

    Parameters
    ----------
    default : object
        Default value; where it is None, None is always allowed.
    kind : {"integer", "real", "choice", "flag", "random_state", "estimator", "classifier"}
        Kind of value. An estimator is one that takes labels as clean, for a wrapper.
    optional : bool, default=False
        Whether None is allowed too.
    **limits : dict
        ``low`` and ``high`` of numbers, ``closed`` ("both", "left", "right" or "neither") of
        real numbers, ``choices`` of a choice.

    Returns
    -------
    dataclasses.Field
        Default and check of the field.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import purecover as pu
    >>> @dataclass(kw_only=True, eq=False, repr=False)
    ... class Constant(pu.estimators.PriorEstimator):
    ...     value: float = pu.estimators.parameter(0.5, "real", low=0, high=1)
    ...
    ...     def _estimate(self, counts):
    ...         return pu.estimators.Inclusions(self.value)
    >>> Constant(value=2).fit([3, 2, 1], [True, False, False])
    Traceback (most recent call last):
        ...
    purecover.exceptions.InvalidInputError: The 'value' parameter of Constant must be ...
    """
    valid.check_choice("kind", kind, tuple(_CHECKS))
    return checked(default, _CHECKS[kind], optional=optional, **limits)


def clone(value: T) -> T:
    """Copy an estimator without what it learned, as ``sklearn.base.clone`` does."""
    if isinstance(value, Parametrized):
        own = value.get_params(deep=False)
        return type(value)(**{name: clone(each) for name, each in own.items()})
    if hasattr(value, "get_params") and not isinstance(value, type):
        from sklearn.base import clone as clone_by_sklearn

        return clone_by_sklearn(value)
    return deepcopy(value)


class Parametrized:
    """Parameters by name, repr, clones and tags, as of ``sklearn.base.BaseEstimator``."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Names of the parameters of ``__init__``, in alphabetical order."""
        given = inspect.signature(cls).parameters.values()
        return sorted(each.name for each in given if each.kind != each.VAR_KEYWORD)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add the parameters of parameters, as ``<parameter>__<its parameter>``.

        Returns
        -------
        dict of str to object
            Names and values.
        """
        found: dict[str, Any] = {}
        for name in self._get_param_names():
            found[name] = value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                found |= {f"{name}__{key}": each for key, each in value.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters, named as by :meth:`get_params`.

        Parameters
        ----------
        **params : dict
            Names and values.

        Returns
        -------
        self
        """
        known = self._get_param_names()
        # Parameters of parameters last: the parameter itself may be among those that are set.
        for key in sorted(params, key=lambda key: key.count("__")):
            name, is_nested, inner = key.partition("__")
            if name not in known:
                # scikit-learn's words: its checks and its users look for them.
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. "
                    f"Valid parameters are: {known!r}."
                )
            if is_nested:
                getattr(self, name).set_params(**{inner: params[key]})
            else:
                setattr(self, name, params[key])
        return self

    def __repr__(self) -> str:
        """Return the name and the parameters that differ from their defaults."""
        defaults = inspect.signature(type(self)).parameters
        shown = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if repr(value) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __sklearn_clone__(self) -> Self:
        return clone(self)

    def __sklearn_tags__(self) -> Tags:
        from sklearn.base import BaseEstimator

        return BaseEstimator.__sklearn_tags__(self)
