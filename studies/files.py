"""From a file of a million rows to counts: DuckDB beside pandas and the csv module of Python.

``python -m studies.files`` writes distinct scores, a tenth of them labeled, beside an identifier
to a CSV in a temporary folder, plain and gzipped, and as JSON lines and Parquet. It times what the
command line does with each, then pandas and the csv module on the plain CSV. A ratio above 1 says
how many times as long they take. No figure is a pass or a fail.
"""

from __future__ import annotations

import csv
import gzip
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from studies._common import arguments, publish, table

import purecover as pu
from purecover.cli.options import DataOptions
from purecover.cli.rows import read_rows

SIZE = 10**6


def write_files(folder: Path, size: int) -> dict[str, Path]:
    """The same rows in each format."""
    sample = pu.simulate.binormal(1.5).sample(size // 10, size - size // 10, alpha=0.25)
    frame = pd.DataFrame({"id": range(size), "score": sample.scores, "labeled": sample.labeled + 0})
    paths = {kind: folder / f"rows.{kind}" for kind in ("csv", "csv.gz", "jsonl", "parquet")}
    frame.to_csv(paths["csv"], index=False)
    paths["csv.gz"].write_bytes(gzip.compress(paths["csv"].read_bytes(), 1))
    rows = zip(*(frame[name].tolist() for name in frame), strict=True)
    with paths["jsonl"].open("w", encoding="ascii") as file:
        file.writelines(json.dumps(dict(zip(frame, row, strict=True))) + "\n" for row in rows)
    frame.to_parquet(paths["parquet"])
    return paths


def by_purecover(path: Path) -> pu.ScoreCounts:
    """As the command line does it."""
    rows = read_rows(str(path), DataOptions())
    return pu.ScoreCounts.from_scores(rows.scores, rows.label_column)


def by_pandas(path: Path) -> pu.ScoreCounts:
    """With types that are guessed."""
    frame = pd.read_csv(path)
    return pu.ScoreCounts.from_scores(frame["score"].to_numpy(), frame["labeled"].to_numpy())


def by_csv(path: Path) -> pu.ScoreCounts:
    """Row by row."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = [(float(row["score"]), row["labeled"] == "1") for row in csv.DictReader(file)]
    scores, labeled = zip(*rows, strict=True)
    return pu.ScoreCounts.from_scores(np.array(scores), np.array(labeled))


def seconds(call: Callable[[Path], pu.ScoreCounts], path: Path, repeats: int) -> float:
    """The median of a few runs, after one that warms up."""
    call(path)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call(path)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    """Time and publish."""
    parser = arguments(str(__doc__), replicates=3)
    parser.add_argument("--size", type=int, default=SIZE, help="rows of the file")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = write_files(Path(folder), asked.size)
        found = {
            f"purecover, {kind}": seconds(by_purecover, path, asked.replicates)
            for kind, path in paths.items()
        }
        for name, call in (("pandas", by_pandas), ("the csv module", by_csv)):
            found[f"{name}, csv"] = seconds(call, paths["csv"], asked.replicates)
    ours = found["purecover, csv"]
    rows = [(name, f"{time_s:.2f}", f"{time_s / ours:.1f}") for name, time_s in found.items()]
    body = table(("reader and file", "seconds", "times purecover, csv"), rows)
    publish("files", f"{asked.size:,} rows of a file to counts", body, write=asked.write)


if __name__ == "__main__":
    main()
