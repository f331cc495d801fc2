"""Pickles that another version refuses."""

from __future__ import annotations

from typing import Any

from purecover import __version__
from purecover.exceptions import InvalidInputError

__all__ = ["VersionedPickle"]


class VersionedPickle:
    """A model whose pickle says which version made it, and is refused by any other.

    What a model predicts rests on code beside what it has learned; another version might predict
    something else in silence.
    """

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_purecover_version": __version__}  # type: ignore[dict-item]

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        version = state.pop("_purecover_version", "unknown")
        if version != __version__:
            raise InvalidInputError(
                f"This {type(self).__name__} was pickled by purecover {version}, and this is "
                f"{__version__}: what it would predict is not certain.\n"
                f"Hint: install purecover=={version} to use it, or fit anew with this version."
            )
        super().__setstate__(state)  # type: ignore[misc]
