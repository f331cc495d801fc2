"""Provenance of results: settings, versions, time and command."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from purecover_paper.store import Store, StoredCell

_SETTINGS = {
    "seed": "seed",
    "n_networks": "networks",
    "preset": "preset",
    "n_resamples": "replicates",
    "device": "device",
    "protocol": "protocol",
}
"""Names in a configuration, and in a text; other names are shown unchanged."""
_NO_PACKAGES = ("command", "system", "card", "data")
"""Notes of a cell that are not versions of packages."""


class Study(NamedTuple):
    """Cells of one store that share their settings."""

    settings: str
    cells: tuple[StoredCell, ...]

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in _settings(self.settings).items())


def studies(store: Store) -> list[Study]:
    """Return the studies in a store, the largest first."""
    found: dict[str, list[StoredCell]] = {}
    for cell in store.cells():
        found.setdefault(cell.settings, []).append(cell)
    made = [Study(settings, tuple(cells)) for settings, cells in found.items()]
    return sorted(made, key=lambda study: (-len(study.cells), study.settings))


def provenance(study: Study) -> dict[str, str]:
    """Return how the results of a study were made, as pairs to print.

    Examples
    --------
    >>> from purecover_paper.provenance import Study, provenance
    >>> from purecover_paper.store import StoredCell
    >>> cell = StoredCell(
    ...     "6f0c", "bank", 1.0, 0, '{"seed":7}', 90.0, {"numpy": "2.4.0"}, "2026-01-02T03:04:05"
    ... )
    >>> provenance(Study(cell.settings, (cell, cell)))
    {'Runs': '2', 'Seed': '7', 'Computing time': '3 min', 'Finished': '2026-01-02',
     'Runs made with': 'numpy 2.4.0'}
    """
    found = {"Runs": f"{len(study.cells):,}"}
    found |= {name.capitalize(): value for name, value in _settings(study.settings).items()}
    found["Computing time"] = in_time(sum(cell.seconds for cell in study.cells))
    days = sorted(cell.finished[:10] for cell in study.cells)
    found["Finished"] = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    for name in _NO_PACKAGES:
        values = [cell.about[name] for cell in study.cells if name in cell.about]
        if values:
            found[name.capitalize()] = _values(values)
    versions = [_versions(cell) for cell in study.cells]
    if any(versions):
        found["Runs made with"] = _values(versions)
    return found


def _versions(cell: StoredCell) -> str:
    packages = [name for name in cell.about if name not in _NO_PACKAGES]
    return ", ".join(f"{name} {cell.about[name]}" for name in packages)


def in_time(seconds: float) -> str:
    """Return a duration as text.

    Examples
    --------
    >>> from purecover_paper.provenance import in_time
    >>> in_time(8), in_time(185), in_time(9000)
    ('8 s', '3 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _settings(text: str) -> dict[str, str]:
    values = json.loads(text)
    known = {word: str(values.pop(name)) for name, word in _SETTINGS.items() if name in values}
    return known | {name: str(value) for name, value in values.items()}


def _values(values: Sequence[str]) -> str:
    """Return the only value, or each value with its number of runs."""
    counts = Counter(values).most_common()
    if len(counts) == 1:
        return counts[0][0]
    return "; ".join(f"{value} ({count:,} runs)" for value, count in counts)
