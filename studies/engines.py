"""Counts of Parquet files beside DuckDB's own GROUP BY of 65,536 bins.

For 10^6 to 10^8 rows with as many distinct scores: CPU seconds and peak memory of our counts, which
include both bounds of the AUC, of the bare query, and of a report with intervals after the counts.
Each measurement has a process of its own; both ways take turns, the fastest of a few counts.

``python -m studies.engines`` measures and prints. Promised at the largest size: at most
1.5 times the time of the bare query, less than 3 GiB, a report in at most 5 seconds.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from studies._common import arguments, conclude, progress, publish, table

import purecover as pu

MAX_RATIO = 1.5
MAX_MEMORY = 3 * 2**30
MAX_REPORT = 5.0

BARE = "SELECT floor(s * 65536)::BIGINT AS bin, y, count(*) AS n FROM '{path}' GROUP BY ALL"
# A tenth labeled; positives, of whom a fifth is among the unlabeled, have higher scores.
ROWS = """
COPY (
    SELECT 1 / (1 + exp(-(shift + sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())))) AS s, y
    FROM (
        SELECT y, CASE WHEN y OR random() < 0.2 THEN 1.0 ELSE -0.5 END AS shift
        FROM (SELECT random() < 0.1 AS y FROM range({n}))
    )
) TO '{path}' (FORMAT parquet)
"""


def make_rows(path: Path, n: int, seed: int) -> None:
    """Write the scores, by DuckDB itself."""
    import duckdb

    connection = duckdb.connect(":memory:", config={"threads": 1})  # so that the seed decides
    connection.execute("SELECT setseed($1)", [(seed % 1000) / 1000])
    connection.execute(ROWS.format(n=n, path=path))


def measure(path: str, way: str) -> dict[str, Any]:
    """Return one measurement, in the process it is made in."""
    out: dict[str, Any] = {}
    few = _run(str(Path(path).with_name("few.parquet")), way)  # imports are not what is timed
    if few is not None:
        pu.evaluate(few, alpha=0.2, n_resamples=10)
    start = time.process_time()
    counts = _run(path, way)
    out["seconds"] = time.process_time() - start
    if counts is not None:
        out |= {"bins": counts.n_thresholds, "width": pu.recovery.binning_bounds(counts).width}
        start = time.process_time()
        pu.evaluate(counts, alpha=0.2)
        out["report"] = time.process_time() - start
    out["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return out


def _run(path: str, way: str) -> pu.ScoreCounts | None:
    """Count by purecover with both bounds of the AUC, or run the bare query."""
    if way == "bare":
        import duckdb

        duckdb.connect(":memory:").execute(BARE.format(path=path)).fetchnumpy()
        return None
    counts = pu.ScoreCounts.from_frame(pu.scan_files(path), score="s", labeled="y")
    pu.recovery.binning_bounds(counts)
    return counts


def in_a_process(path: Path, way: str) -> dict[str, Any]:
    """Measure in a process of its own, whose memory is all that is measured."""
    command = [sys.executable, "-m", "studies.engines", "--measure", str(path), way]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


def main() -> int:
    """Measure and print."""
    parser = arguments(__doc__.splitlines()[0], replicates=3)
    parser.add_argument("--largest", type=int, default=8, help="rows, as a power of ten")
    parser.add_argument("--measure", nargs=2, help="path and way: one measurement, as JSON")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(*options.measure)))
        return 0
    lines, failures = [], []
    with tempfile.TemporaryDirectory() as folder:
        make_rows(Path(folder, "few.parquet"), 1000, options.seed)
        for power in range(6, options.largest + 1):
            path = Path(folder, f"rows{power}.parquet")
            progress(f"writing 10^{power} rows")
            make_rows(path, 10**power, options.seed)
            found: dict[str, list[dict[str, Any]]] = {"bare": [], "ours": []}
            for _ in range(options.replicates):
                for way, runs in found.items():
                    runs.append(in_a_process(path, way))
            ours = min(found["ours"], key=lambda run: run["seconds"])
            bare = min(found["bare"], key=lambda run: run["seconds"])
            ratio = ours["seconds"] / bare["seconds"]
            lines.append(_line(f"10^{power}", ours, bare, ratio))
            if power == options.largest:
                failures = _broken(ours, ratio)
            path.unlink()
    headers = ["rows", "ours, CPU s", "bare, CPU s", "ratio", "ours, MiB", "bare, MiB", "bins",
               "width of AUC bounds", "report, CPU s"]  # fmt: skip
    body = table(headers, lines)
    body += (
        "\n\nCPU seconds to the counts with bounds, or to the groups of the bare "
        "query (bin, label, count). The report "
        "has the usual number of bootstrap replicates. Peak memory of the process, report included."
    )
    publish("engines", "Counts of files", body, write=options.write)
    return conclude(failures)


def _line(name: str, ours: dict[str, Any], bare: dict[str, Any], ratio: float) -> list[str]:
    return [
        name,
        f"{ours['seconds']:.2f}",
        f"{bare['seconds']:.2f}",
        f"{ratio:.2f}",
        f"{ours['memory'] / 2**20:.0f}",
        f"{bare['memory'] / 2**20:.0f}",
        f"{ours['bins']:,}",
        f"{ours['width']:.1e}",
        f"{ours['report']:.1f}",
    ]


def _broken(ours: dict[str, Any], ratio: float) -> list[str]:
    promises = {
        f"{ratio:.2f} times the bare query, more than {MAX_RATIO}": ratio <= MAX_RATIO,
        f"{ours['memory'] / 2**30:.2f} GiB of memory": ours["memory"] < MAX_MEMORY,
        f"{ours['report']:.1f} s for the report": ours["report"] <= MAX_REPORT,
        f"bounds of the AUC {ours['width']:.1e} apart": ours["width"] <= 1e-4,
    }
    return [promise for promise, kept in promises.items() if not kept]


if __name__ == "__main__":
    sys.exit(main())
