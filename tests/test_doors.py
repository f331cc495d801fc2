"""One answer to one question: every way into the package makes the same report of the same data.

Data, settings and doors are drawn from a seed. The first door, two arrays, is the reference; what
it refuses, all others refuse.
"""

from __future__ import annotations

import io
import json
import math
import sys
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.clusters import need
from tests.command_line import Result, call_main
from tests.open_duckdb import connect

import purecover as pu
from purecover import ScoreCounts
from purecover.app.jobs import ANSWERS, Evaluate, ReportRequest
from purecover.cli import _worker
from purecover.exceptions import PurecoverError
from purecover.report.settings import gathered

# DuckDB under narwhals and Dask at its end are not ours to mend.
pytestmark = [pytest.mark.filterwarnings("ignore")]

REFUSED = "refused"
METRICS = ("roc_auc", "auc_pr", "precision", "recall")


@dataclass
class Case:
    """Rows, their columns as a file or a frame has them, and settings of `evaluate`."""

    columns: dict[str, np.ndarray]
    labels: dict[str, Any]
    settings: dict[str, Any]
    place: Path
    capsys: Any
    monkeypatch: Any

    @property
    def table(self) -> pa.Table:
        return pa.table(self.columns)

    @property
    def weighted(self) -> bool:
        return "w" in self.columns

    @property
    def names(self) -> dict[str, str]:
        """Columns of a frame by parameter of `evaluate`."""
        return {"score": "s", "labeled": "y"} | ({"sample_weight": "w"} if self.weighted else {})

    def beside(self, convert: Callable[[np.ndarray], Any] = np.asarray) -> dict[str, Any]:
        return {"sample_weight": convert(self.columns["w"])} if self.weighted else {}

    def halves(self) -> list[pa.Table]:
        cut = len(self.table) // 3
        return [self.table[:cut], self.table[cut:]]

    def options(self, **changed: Any) -> list[str]:
        """The settings as they are typed."""
        words = ["--score=s", "--labeled=y"]
        for name, value in (self.labels | self.settings | changed).items():
            several = value if isinstance(value, list) else [value]
            if isinstance(value, tuple):
                several = [("/" if name == "hits" else "..").join(map(str, value))]
            words += [f"--{name.replace('_', '-')}={one}" for one in several]
        return words + (["--sample-weight=w"] if self.weighted else [])

    def typed(self, taken: str) -> list[str] | None:
        """The settings for a command with fewer options, which has the usual seed; or None."""
        named = self.settings.keys() - {"random_state"} <= set(taken.split())
        if not named or self.settings["random_state"]:
            return None
        return [word for word in self.options() if not word.startswith("--random")]

    def main(self, *words: object) -> Result:
        return call_main(self.capsys, *words)


def draw_case(seed: int, place: Path, capsys: Any, monkeypatch: Any) -> Case:
    """Rows with ties, weights, known negatives and groups, or without; settings as users vary."""
    rng = np.random.default_rng(seed)

    def one_of(*values: Any) -> Any:
        return values[rng.integers(len(values))]

    n = int(one_of(60, 150, 400))
    truth = rng.random(n) < one_of(0.3, 0.5)
    truth[[0, -1]] = True
    scores = rng.normal(size=n) + truth * one_of(0.3, 1.5, 2.5)
    scores = {
        "plain": lambda: scores,
        "ties": lambda: scores.round(1),
        "probability": lambda: 1 / (1 + np.exp(-scores)),
        "integer": lambda: (scores * 4).astype(np.int64),
        "float32": lambda: scores.astype(np.float32),
        "large": lambda: scores * 1e12,
        "zeros": lambda: np.where(np.abs(scores) < 0.5, -0.0, scores),
    }[one_of("plain", "ties", "probability", "integer", "float32", "large", "zeros")]()
    labeled = truth & (rng.random(n) < 0.4)
    labeled[[0, -1]] = True  # parts of the rows are counted where each has one
    spelling = one_of("numbers", "signs", "words", "own words", "negatives")
    known = ~truth & (rng.random(n) < 0.2)
    column, labels = {
        "numbers": (labeled.astype(np.int64), {}),
        "signs": (np.where(labeled, 1, -1), {}),
        "words": (np.where(labeled, "Positive", "unlabeled"), {}),
        "own words": (np.where(labeled, "yeast", "?"), {"positive_label": "yeast"}),
        "negatives": (
            np.where(labeled, "hit", np.where(known, "bad", "u")),
            {"positive_label": "hit", "negative_label": "bad"},
        ),
    }[spelling]
    columns = {"s": scores, "y": column}
    if rng.random() < 0.3:
        columns["w"] = rng.integers(1, 9, n) / 4  # which add up without rounding, in any order
    groups = one_of(["a", "b"], ["1", "01", "2"], ["x y", 'q"', "é"], ["0.5", "0.50"])
    own, first = rng.integers(0, len(groups), n), np.flatnonzero(known)[: len(groups)]
    own[first] = np.arange(first.size)  # arrays of rows without a known negative refuse its label
    columns["g"] = np.array(groups)[own]
    settings: dict[str, Any] = one_of(
        {}, {}, {"beta": 1.0}, {"alpha": 0.3}, {"alpha": 0.2, "beta": 0.9}, {"alpha": 0.95},
        {"prior": 0.4}, {"label_frequency": 0.4}, {"assume": ["pure-top"]},
        {"estimator": "alphamax-n"}, {"alpha": (0.1, 0.4)}, {"beta": (0.8, 1.0)},
        {"hits": (3, 5), "hits_from": "top:9"}, {"assume": ["random-verdicts"], "judged": "v"},
    ).copy()  # fmt: skip
    if "prior" in settings or rng.random() < 0.2:
        settings["scenario"] = one_of("case-control", "censoring")
    settings |= one_of(
        {}, {}, {"threshold": float(np.quantile(scores, 0.8))}, {"review": 9}, {"top_k": 7}
    )
    settings |= one_of({}, {"target": "deployment"}, {"target": 0.1}, {"confidence_level": 0.8})
    if "judged" in settings:
        columns["v"] = np.where(rng.random(n) < 0.2, np.where(truth, "yes", "no"), "")
    settings |= {"n_resamples": one_of(0, 0, 25), "random_state": int(one_of(0, rng.integers(100)))}
    return Case(columns, labels, settings, place, capsys, monkeypatch)


# One report of all rows.


def arrays(case: Case, convert: Callable[[np.ndarray], Any] = np.asarray) -> Any:
    return report_of(case, convert).to_dict()


def report_of(case: Case, convert: Callable[[np.ndarray], Any] = np.asarray) -> pu.PUReport:
    scores, labeled = (convert(case.columns[name]) for name in "sy")
    how = case.beside(convert) | case.labels | case.settings
    how |= {"judged": convert(case.columns["v"])} if "judged" in how else {}
    return pu.evaluate(scores, labeled, **gathered(how))


def of_frame(case: Case, frame: Any) -> Any:
    return pu.evaluate(frame, **case.names, **gathered(case.labels | case.settings)).to_dict()


def of_counts(case: Case, counts: ScoreCounts) -> Any:
    return pu.evaluate(counts, **gathered(case.settings)).to_dict()


def counted(case: Case, table: pa.Table) -> ScoreCounts:
    return ScoreCounts.from_frame(table, **case.names, **case.labels)


def duckdb_relation(table: pa.Table) -> Any:
    connection = connect()
    connection.register("doors", table)
    return connection.sql("SELECT * FROM doors")


def dask_frame(table: pa.Table) -> Any:
    need("dask", "'purecover[engines]'")
    import dask.dataframe as dd

    return dd.from_pandas(table.to_pandas(), npartitions=2)


def ibis_table(table: pa.Table) -> Any:
    need("ibis", "'purecover[engines]'")
    import ibis

    return ibis.memtable(table)


def write(table: pa.Table, path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    # The text of a short float names another number than the float is.
    frame = pl.from_arrow(table).cast({pl.Float32: pl.Float64})
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    elif path.suffix == ".jsonl":
        frame.write_ndjson(path)
    else:
        frame.write_csv(path, separator="\t" if path.suffix == ".tsv" else ",")
    return path


def scanned(case: Case, suffix: str) -> Any:
    for i, half in enumerate(case.halves()):
        write(half, case.place / "scanned" / f"{i}{suffix}")
    return of_frame(case, pu.engines.scan_files(str(case.place / "scanned" / f"*{suffix}")))


def of_command(case: Case, *words: object) -> Any:
    found = case.main("evaluate", *words, *case.options(), "--json")
    return REFUSED if found.code == 2 or not found.out else found.json


def one_file(case: Case, suffix: str) -> Any:
    return of_command(case, write(case.table, case.place / f"all{suffix}"))


def two_files(case: Case, suffix: str) -> Any:
    return of_command(
        case,
        *(write(half, case.place / f"part{i}{suffix}") for i, half in enumerate(case.halves())),
    )


def standard_input(case: Case) -> Any:
    content = write(case.table, case.place / "all.csv").read_bytes()
    stdin = SimpleNamespace(buffer=io.BytesIO(content))
    with case.monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", stdin)
        return of_command(case, "-")


def app(case: Case) -> Any:
    """What a worker of the local page leaves in its folder; the page has fewer settings."""
    known = set(ReportRequest.__struct_fields__)
    if case.settings.keys() - {"random_state"} - known or case.settings["random_state"]:
        return None
    given = {n: v for n, v in (case.labels | case.settings).items() if n in known}
    if case.weighted:
        given["sample_weight"] = "w"
    request = ReportRequest(file="A" * 32, score=["s"], labeled="y", **given)
    path = write(case.table, case.place / "dropped.csv")
    with case.monkeypatch.context() as patch:
        patch.chdir(case.place)
        _worker.make_report(Evaluate(str(case.place), str(path), request), lambda _: None)
    return json.loads(Path(case.place, "report.json").read_text())


def read_back(case: Case) -> Any:
    return pu.report.PUReport.from_json(report_of(case).to_json()).to_dict()


REPORTS: dict[str, Callable[[Case], Any]] = {
    "lists": lambda case: arrays(case, lambda column: column.tolist()),
    "series of pandas": lambda case: arrays(case, pd.Series),
    "series of polars": lambda case: arrays(case, pl.Series),
    "arrays of Arrow": lambda case: arrays(case, pa.array),
    "dict of columns": lambda case: of_frame(case, case.columns),
    "pandas": lambda case: of_frame(case, case.table.to_pandas()),
    "polars": lambda case: of_frame(case, pl.from_arrow(case.table)),
    "Arrow": lambda case: of_frame(case, case.table),
    "lazy polars": lambda case: of_frame(case, pl.from_arrow(case.table).lazy()),
    "DuckDB": lambda case: of_frame(case, duckdb_relation(case.table)),
    "Dask": lambda case: of_frame(case, dask_frame(case.table)),
    "Ibis": lambda case: of_frame(case, ibis_table(case.table)),
    "counts": lambda case: of_counts(case, counted(case, case.table)),
    "counts of a lazy frame": lambda case: of_counts(
        case, counted(case, duckdb_relation(case.table))
    ),
    "counts as JSON": lambda case: of_counts(
        case, ScoreCounts.from_dict(json.loads(json.dumps(counted(case, case.table).to_dict())))
    ),
    "counts of parts": lambda case: of_counts(
        case, sum(counted(case, half) for half in case.halves())
    ),
    "scanned CSV": lambda case: scanned(case, ".csv"),
    "scanned Parquet": lambda case: scanned(case, ".parquet"),
    "CSV file": lambda case: one_file(case, ".csv"),
    "TSV file": lambda case: one_file(case, ".tsv"),
    "JSON lines": lambda case: one_file(case, ".jsonl"),
    "Parquet file": lambda case: one_file(case, ".parquet"),
    "CSV files": lambda case: two_files(case, ".csv"),
    "Parquet files": lambda case: two_files(case, ".parquet"),
    "standard input": standard_input,
    "app": app,
    "report as JSON": read_back,
}
"""Whole reports."""

SEE_ROWS = {"lists", "series of pandas", "series of polars", "arrays of Arrow", "dict of columns",
            "pandas", "polars", "Arrow", "CSV file", "TSV file", "JSON lines", "Parquet file",
            "standard input", "report as JSON"}  # fmt: skip
"""Doors that take verdicts."""

# A report for each group, or figures of the groups.


def part_of(case: Case, group: str, **settings: Any) -> Case:
    rows = case.columns["g"] == group
    columns = {name: column[rows] for name, column in case.columns.items()}
    changed = case.settings | settings
    return Case(columns, case.labels, changed, case.place, case.capsys, case.monkeypatch)


def groups(case: Case) -> list[str]:
    return sorted(set(case.columns["g"].tolist()))


def expected_of_groups(case: Case, seeds: Mapping[str, int] | None = None) -> dict[str, Any]:
    """Reports of the rows of each group alone, or of some groups with the seeds of another door."""
    if seeds is None:
        return {group: outcome(arrays, part_of(case, group)) for group in groups(case)}
    return {
        group: outcome(arrays, part_of(case, group, random_state=seed))
        for group, seed in seeds.items()
    }


def by_command(case: Case) -> tuple[Any, Any]:
    path = write(case.table, case.place / "groups.csv")
    found = case.main("evaluate", path, "--by=g", *case.options(), "--json")
    if found.code == 2:
        return dict.fromkeys(groups(case), REFUSED), expected_of_groups(case)
    rows = {row["task"]: row["report"] or REFUSED for row in found.json["rows"]}
    return rows, expected_of_groups(case)


def by_counts(case: Case, frame: Any) -> tuple[Any, Any]:
    counts = ScoreCounts.from_frame(frame, **case.names, **case.labels, by="g")
    return (
        {group: outcome(of_counts, case, each) for group, each in counts.items()},
        expected_of_groups(case),
    )


MANY = {"alpha", "beta", "scenario", "estimator", "assume", "n_resamples", "random_state",
        "threshold", "review", "top_k", "target", "confidence_level"}  # fmt: skip
"""What `evaluate_many` takes, of all settings."""


def of_many(case: Case, frame: Any) -> tuple[Any, Any] | None:
    if not case.settings.keys() <= MANY:
        return None
    how = {name: "w" for name in ["sample_weight"] if case.weighted}
    found = pu.evaluate_many(
        frame,
        "y",
        score="s",
        by="g",
        keep=True,
        min_rows=1,
        **gathered(how | case.labels | case.settings),
    )
    reports = {
        row.task: REFUSED if row.report is None else row.report.to_dict() for row in found.rows
    }
    return reports, expected_of_groups(case, {row.task: row.seed for row in found.rows})


FEWEST = 10
"""Rows of each kind that a task of `purecover evaluate-many` needs."""


def of_many_command(case: Case) -> tuple[Any, Any] | None:
    words = case.typed("alpha beta scenario n_resamples")
    if words is None or case.weighted:
        return None
    path = write(case.table, case.place / "many.csv")
    found = case.main("evaluate-many", path, "--by=g", *words, "--json")
    if found.code == 2:
        return None
    rows, seeds = {}, {}
    for row in found.json["rows"]:
        if min(row["n_labeled"], row["n_unlabeled"]) < FEWEST:
            continue
        rows[row["task"]], seeds[row["task"]] = REFUSED, row["seed"]
        if row["reason"] is None:
            rows[row["task"]] = {
                "alpha": row["proportions"]["alpha"],
                **{name: row["recovered"][name] for name in METRICS},
                "intervals": {n: row["intervals"][n] for n in METRICS if n in row["intervals"]},
            }
    if not rows:
        return None
    reports = expected_of_groups(case, seeds)
    return rows, {
        group: REFUSED
        if report == REFUSED
        else {
            "alpha": report["proportions"]["alpha"],
            **{name: report["metrics"]["recovered"][name] for name in METRICS},
            "intervals": {n: report["intervals"][n] for n in METRICS if n in report["intervals"]},
        }
        for group, report in reports.items()
    }


def compared(case: Case, frame: Any) -> tuple[Any, Any] | None:
    """The report of one of two scores of which models are compared."""
    if case.weighted or "review" in case.settings:
        return None
    columns = {n: case.columns[n] for n in "sy"} | {"t": np.round(case.columns["s"])}
    how = case.labels | case.settings | {"score": ["s", "t"], "n_resamples": 0}
    if not {"prior", "label_frequency", "alpha"} & case.settings.keys():
        how["estimate_from"] = "s"
    found = pu.compare_scores(frame(pa.table(columns)), "y", **gathered(how))
    expected = arrays(replace(case, settings=case.settings | {"n_resamples": 0}))
    return tuple(
        {name: report[name] for name in ("metrics", "auc", "confusion", "proportions", "counts")}
        for report in (found.reports["s"].to_dict(), expected)
    )


def threshold_command(case: Case) -> tuple[Any, Any] | None:
    """Alpha, beta and their intervals, as all commands find them that need them."""
    words = case.typed("alpha beta scenario estimator n_resamples")
    if words is None or case.weighted:
        return None
    path = write(case.table, case.place / "threshold.csv")
    found = case.main("threshold", path, "--best=youden", *words, "--json")
    if found.code == 2:
        return REFUSED, outcome(arrays, case)
    report, names = arrays(case), ("proportions", "estimation", "contradicted")
    return tuple({name: each[name] for name in names} for each in (found.json, report))


KEPT = ("alpha", "beta", "prior", "label_frequency", "scenario", "estimator", "assume",
        "n_resamples", "confidence_level", "random_state")  # fmt: skip
"""Settings of a monitor."""


def of_monitor(case: Case) -> tuple[Any, Any] | None:
    if not case.settings.keys() <= set(KEPT) or "assume" in case.settings:
        return None
    monitor = pu.monitoring.ScoreMonitor(**case.settings)
    for group in groups(case):
        part = part_of(case, group)
        how = part.beside() | case.labels
        counts = ScoreCounts.from_scores(part.columns["s"], part.columns["y"], **how)
        monitor.add(group, counts)
    return partitions(case, monitor.to_dict()["partitions"])


def of_monitor_command(case: Case) -> tuple[Any, Any] | None:
    words = case.typed("alpha beta n_resamples")
    if words is None or case.weighted or "negative_label" in case.labels:
        return None
    state = case.place / "state.json"
    state.unlink(missing_ok=True)
    for i, group in enumerate(groups(case)):
        path = write(part_of(case, group).table, case.place / f"partition{i}.csv")
        found = case.main("monitor", state, path, "--name", group, *words, "--json")
    return partitions(case, found.json["partitions"])


def partitions(case: Case, found: list[Any]) -> tuple[Any, Any]:
    expected = {}
    for group, report in expected_of_groups(case).items():
        if report == REFUSED or report["contradicted"]:
            expected[group] = REFUSED
            continue
        known = report["estimation"]
        alpha = report["proportions"]["alpha"]
        expected[group] = {
            "auc_pu": report["auc_pu"],
            "auc": report["auc"],
            "beta": report["proportions"]["beta"],
            "alpha": alpha if known is None else known["proportions"]["alpha"],
        }
    made = {
        each["name"]: REFUSED
        if each["auc"] is None
        else {
            "auc_pu": each["auc_pu"]["estimate"],
            "auc": each["auc"]["estimate"],
            "beta": each["beta"],
            "alpha": each["alpha"]["estimate"],
        }
        for each in found
    }
    return made, expected


GROUPS: dict[str, Callable[[Case], tuple[Any, Any] | None]] = {
    "evaluate --by": by_command,
    "groups of a frame": lambda case: by_counts(case, pl.from_arrow(case.table)),
    "groups of DuckDB": lambda case: by_counts(case, duckdb_relation(case.table)),
    "groups of lazy polars": lambda case: by_counts(case, pl.from_arrow(case.table).lazy()),
    "evaluate_many": lambda case: of_many(case, case.table.to_pandas()),
    "evaluate_many, lazily": lambda case: of_many(case, duckdb_relation(case.table)),
    "evaluate-many": of_many_command,
    "compare_scores": lambda case: compared(case, pl.from_arrow),
    "compare_scores, lazily": lambda case: compared(case, duckdb_relation),
    "purecover threshold": threshold_command,
    "monitor": of_monitor,
    "purecover monitor": of_monitor_command,
}


# Comparing.


def outcome(door: Callable[..., Any], *args: Any) -> Any:
    try:
        return door(*args)
    except PurecoverError:
        return REFUSED


ABOUT = ("source", "checksum", "version")
"""Where a report came from, and not what it says."""


def differences(found: Any, expected: Any, place: str = "") -> list[str]:
    """Places where two documents differ by more than rounding."""
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        keys = [key for key in {**expected, **found} if key not in ABOUT]
        missing = object()
        return [
            line
            for key in keys
            for line in differences(
                found.get(key, missing), expected.get(key, missing), f"{place}.{key}"
            )
        ]
    if isinstance(found, (list, tuple)) and isinstance(expected, (list, tuple)):
        if len(found) != len(expected):
            return [f"{place}: {len(found)} and {len(expected)} items"]
        pairs = enumerate(zip(found, expected, strict=True))
        return [line for i, pair in pairs for line in differences(*pair, f"{place}[{i}]")]
    numbers = all(isinstance(v, (int, float)) for v in (found, expected))
    if numbers and math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-12):
        return []
    return [] if found == expected else [f"{place}: {found!r:.80} and {expected!r:.80}"]


def check_doors(case: Case, doors: list[str]) -> int:
    """Compare these doors with two arrays; return how many had something to say."""
    reference, compared = outcome(arrays, case), 0
    for name in doors:
        if "judged" in case.settings and name not in SEE_ROWS:
            continue
        if name in REPORTS:
            found, expected = outcome(REPORTS[name], case), reference
        else:
            pair = outcome(GROUPS[name], case)
            found, expected = (REFUSED, REFUSED) if pair == REFUSED else pair or (None, None)
        if found is None:
            continue
        wrong = differences(found, expected)
        about = f"{name}, {case.settings}, {case.labels}"
        assert not wrong, f"{about}: " + "; ".join(wrong[:5])
        compared += 1
    return compared


DOORS = [*REPORTS, *GROUPS]
SLOW = {"Dask", "Ibis"}


@pytest.mark.parametrize("seed", range(6))
def test_doors_agree(seed, tmp_path, capsys, monkeypatch):
    case = draw_case(seed, tmp_path, capsys, monkeypatch)
    quick = [name for name in DOORS if name not in SLOW]
    doors = np.random.default_rng(seed).choice(quick, 8, replace=False).tolist()
    assert check_doors(case, doors) >= (2 if "judged" in case.settings else 4)


def test_answers_in_a_file_are_met_by_all_doors(tmp_path, capsys, monkeypatch):
    """Answers beside the file: the shell, Python and the local page make the same report."""
    case = draw_case(1, tmp_path, capsys, monkeypatch)
    sample = pu.simulate.binormal(2.0).sample(100, 900, alpha=0.3, random_state=0)
    columns = {"s": sample.scores, "y": sample.labeled.astype(int)}
    case = replace(case, columns=columns, labels={}, settings={"n_resamples": 25})
    path = write(case.table, tmp_path / "dropped.csv")
    design = pu.audit.draw(sample.scores, sample.labeled, n=10)
    judged = design.answer(sample.truth[design.rows])
    expected = pu.evaluate(sample.scores, sample.labeled, judged=judged, n_resamples=25).to_dict()
    head, *lines = design.to_csv().splitlines()
    answers = [f"{line}{word}" for line, word in zip(lines, sample.truth[design.rows], strict=True)]
    for name in ("dropped.judged.csv", ANSWERS):
        Path(tmp_path, name).write_text("\n".join([head, *answers]))
    typed = case.options()
    for more in (["--judged"], [f"--judged={tmp_path / 'dropped.judged.csv'}"]):
        found = case.main("evaluate", path, *more, *typed, "--json").json
        assert not differences(found, expected)
    request = ReportRequest(file="A" * 32, score=["s"], labeled="y", judged=True, n_resamples=25)
    monkeypatch.chdir(tmp_path)
    _worker.make_report(Evaluate(str(tmp_path), str(path), request), lambda _: None)
    assert not differences(json.loads(Path("report.json").read_text()), expected)
    assert found["proportions"]["origin"].startswith("ReferencePosterior and audit")


def test_threads_make_one_report_and_touch_no_filter():
    rng = np.random.default_rng(0)
    labeled = rng.random(300) < 0.3
    scores = rng.normal(size=300) + labeled
    before = list(warnings.filters)

    def make(_: int) -> str:
        many = pu.evaluate_many({"s": scores, "y": labeled}, "y", score="s", n_resamples=20)
        return pu.evaluate(scores, labeled, alpha=0.3, n_resamples=20).to_json() + str(many)

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(make, range(24)))) == 1
    assert warnings.filters == before


@pytest.mark.slow
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=10, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
def test_fuzz_all_doors(seed, tmp_path, capsys, monkeypatch):
    """Every door with the same data: hundreds of comparisons, others each time by `make fuzz`."""
    case = draw_case(seed, tmp_path, capsys, monkeypatch)
    least = len(SEE_ROWS) if "judged" in case.settings else len(DOORS) - 9
    assert check_doors(case, DOORS) >= least
