"""Small stand-ins for the data sets of the paper, and for the services that have them."""

from __future__ import annotations

import csv
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from purecover_paper.datasets import DATASETS

# Targets of a positive and of a negative example.
TARGETS = {
    "bank": ("yes", "no"),
    "concrete": ("80", "1"),
    "gas": ("1", "5"),
    "housing": ("50", "5"),
    "landsat": ("7", "3"),
    "mushroom": ("p", "e"),
    "pageblock": ("2", "1"),
    "pendigit": ("0", "8"),
    "pima": ("1", "0"),
    "shuttle": ("4", "1"),
    "spambase": ("1", "0"),
    "wine": ("6", "5"),
}
BANK_ROW = [
    "58", "management", "married", "tertiary", "no", "2143", "yes", "no", "unknown", "5", "may",
    "261", "1", "-1", "0", "unknown",
]  # fmt: skip


def made_up(name, seed=0):
    """Header and rows, in the layout of our files, with as many as the paper says."""
    spec = DATASETS[name]
    names = spec.columns or tuple(f"x{i}" for i in range(spec.n_columns))
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(spec.n):
        if name == "bank":
            row = list(BANK_ROW)
        elif name == "mushroom":
            row = [some[i % len(some)] for some in spec.categories.values()]
        else:
            row = [f"{x:.3f}" for x in rng.normal(size=spec.n_columns)]
        rows.append([*row, TARGETS[name][i >= spec.n_positive]])
    return [*names, "target"], rows


def write_made_up(folder, name):
    """A plain CSV file of a made-up table."""
    header, rows = made_up(name)
    path = Path(folder) / f"{name}.csv"
    with path.open("w", encoding="ascii", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def answer_openml(monkeypatch, tables):
    """Answer scikit-learn's ``fetch_openml`` from data frames of text by number.

    Returns the list of numbers asked for.
    """
    asked = []

    def fetch_openml(*, data_id, target_column, as_frame, read_csv_kwargs, **_):
        assert (target_column, as_frame, read_csv_kwargs) == (None, True, {"dtype": str})
        asked.append(data_id)
        if data_id not in tables:
            raise ValueError(f"Dataset with data_id {data_id} not found.")
        return SimpleNamespace(frame=tables[data_id])

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    return asked


def uci_answer(features, target):
    """What ucimlrepo returns, as far as we read it; `target` has one column."""
    import pandas as pd

    data = SimpleNamespace(features=pd.DataFrame(features), targets=pd.DataFrame(target))
    return SimpleNamespace(data=data)
