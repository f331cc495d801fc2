"""Parameters as scikit-learn knows them, without scikit-learn, which takes a second to import."""

from __future__ import annotations

import inspect
import textwrap
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from sklearn.utils import Tags

_Anything = TypeVar("_Anything")


def clone(value: _Anything) -> _Anything:
    """A copy with the same parameters and nothing learned, as ``sklearn.base.clone`` makes it."""
    found: Any = value
    if isinstance(value, (list, tuple)):
        found = type(value)([clone(each) for each in value])
    elif isinstance(value, Parametrized):
        own = value.get_params(deep=False)
        found = type(value)(**{name: clone(each) for name, each in own.items()})
    elif hasattr(value, "get_params") and not isinstance(value, type):
        from sklearn.base import clone as theirs

        found = theirs(value)
    else:
        found = deepcopy(value)
    copy: _Anything = found
    return copy


class Parametrized:
    """What ``sklearn.base.BaseEstimator`` gives: parameters by name, their repr, clones, tags."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Names of the parameters of ``__init__``, in alphabetical order."""
        given = inspect.signature(cls).parameters.values()
        return sorted(each.name for each in given if each.kind != each.VAR_KEYWORD)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with ``deep`` also those of parameters that have some.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add them, as ``<parameter>__<its parameter>``.

        Returns
        -------
        dict of str to object
            Names and values.
        """
        found: dict[str, Any] = {}
        for name in self._get_param_names():
            found[name] = value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                inner = value.get_params().items()
                found |= {f"{name}__{key}": each for key, each in inner}
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
        nested: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            name, is_nested, inner = key.partition("__")
            if name not in known:
                # scikit-learn's words: its checks and its users look for them.
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. "
                    f"Valid parameters are: {known!r}."
                )
            if is_nested:
                nested.setdefault(name, {})[inner] = value
            else:
                setattr(self, name, value)
        for name, inner_params in nested.items():  # of parameters that may just have been set
            getattr(self, name).set_params(**inner_params)
        return self

    def __repr__(self) -> str:
        """The name and the parameters that differ from their defaults."""
        defaults = inspect.signature(type(self)).parameters
        shown = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if repr(value) != repr(defaults[name].default)
        ]
        start = f"{type(self).__name__}("
        line = start + ", ".join(shown) + ")"
        if len(line) <= _WIDTH:
            return line
        return start + textwrap.indent(",\n".join(shown), " " * len(start)).lstrip() + ")"

    def __sklearn_clone__(self) -> Self:
        return clone(self)

    def __sklearn_tags__(self) -> Tags:
        from sklearn.base import BaseEstimator

        return BaseEstimator.__sklearn_tags__(self)


_WIDTH = 80
"""Longer ones have a line for each parameter."""
