"""Small stand-ins for the data sets of the paper, and for the services that have them."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from email.message import Message
from pathlib import Path
from types import SimpleNamespace
from urllib.error import HTTPError

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


class Answer(io.BytesIO):
    """What urllib gives for an address."""

    def info(self):
        return {}


def answer_openml(monkeypatch, tables):
    """Let scikit-learn's own code meet recorded answers of OpenML, and no network.

    `tables` has, by number, the text of an ARFF file; an unknown number is answered as OpenML
    does. Returns the list of addresses asked for.
    """
    asked = []

    def urlopen(request):
        url = getattr(request, "full_url", request)
        asked.append(url)
        number = int(re.findall(r"\d+", url.partition("/data/")[2].replace("v1/", ""))[0])
        if number not in tables:
            raise HTTPError(url, 412, "Precondition Failed", Message(), io.BytesIO())
        arff = tables[number].encode()
        head, _, data = tables[number].partition("@data\n")
        if "download" in url:
            return Answer(arff)
        if "/features/" in url:
            found = {"data_features": {"feature": list(_features(head))}}
        elif "/qualities/" in url:
            n_rows = str(len(data.splitlines()))
            quality = [{"name": "NumberOfInstances", "value": n_rows}]
            found = {"data_qualities": {"quality": quality}}
        else:
            found = {
                "data_set_description": {
                    "id": str(number), "name": "small", "version": "1", "format": "ARFF",
                    "status": "active", "description": "A recorded answer.", "file_id": str(number),
                    "url": f"https://www.openml.org/data/v1/download/{number}/small.arff",
                    "md5_checksum": hashlib.md5(arff).hexdigest(),  # noqa: S324 - OpenML's choice
                }
            }  # fmt: skip
        return Answer(json.dumps(found).encode())

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", urlopen)
    return asked


def _features(head):
    lines = re.findall(r"(?im)^@attribute\s+('[^']*'|\S+)\s+(.+)$", head)
    for i, (name, kind) in enumerate(lines):
        feature = {
            "index": str(i), "name": name.strip("'"), "is_target": "false", "is_ignore": "false",
            "is_row_identifier": "false", "number_of_missing_values": "0",
            "data_type": "nominal" if kind.startswith("{") else "numeric",
        }  # fmt: skip
        if kind.startswith("{"):
            feature["nominal_value"] = [v.strip(" '") for v in kind.strip("{} ").split(",")]
        yield feature


def uci_answer(features, target):
    """What ucimlrepo returns, as far as we read it; `target` has one column."""
    import pandas as pd

    data = SimpleNamespace(features=pd.DataFrame(features), targets=pd.DataFrame(target))
    return SimpleNamespace(data=data)
