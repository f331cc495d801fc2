"""A read-only dictionary for results."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class FrozenDict(dict[Key, Value]):
    """A dictionary that refuses change; unlike a mapping proxy it can be pickled and copied."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("results are read-only; make a dict of it to change it")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)
