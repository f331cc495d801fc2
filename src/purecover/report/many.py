"""`evaluate_many`: one table over hundreds of tasks or models."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Unpack

import numpy as np

from purecover import _inputs as inputs
from purecover import _validation as valid
from purecover._codec import json_text, picked, plain_fields, restored
from purecover._inputs import LabelMeaning
from purecover._progress import results_of, shown
from purecover._typing import ArrayLike, Scenario
from purecover._validation import Frozen, public
from purecover.counts import ScoreCounts
from purecover.estimators.choice import check_estimator
from purecover.exceptions import PurecoverError
from purecover.intervals.interval import Interval, ends_of, hardly_known
from purecover.proportions import GivenProportions, MixtureProportions
from purecover.recovery.metrics import METRICS
from purecover.report import pipeline
from purecover.report.pages import Paged
from purecover.report.results import PUReport
from purecover.report.settings import ReportSettings, SettingKeywords, spread
from purecover.report.tasks import Part, first_line, name_columns, read_parts, refusal

USUAL_METRICS = ("roc_auc", "auc_pr", "precision", "recall")


@dataclass(frozen=True, kw_only=True, eq=False)
class ManyRow(Frozen):
    """One task and one score in :class:`ManyReports`.

    Attributes
    ----------
    task : object
        The value of the column that names tasks, or the column of labels.
    score : str
        The column of scores.
    n_labeled, n_unlabeled : float
        Rows, or total weights.
    reason : str or None
        Why there are no results; None if there are.
    proportions : MixtureProportions or None
        Alpha and beta.
    estimated_from : str or None
        The score that alpha and beta were estimated from; None if they were given.
    observed, recovered : mapping of str to float
        Metrics as seen, labeled against unlabeled, and recovered.
    intervals : mapping of str to Interval
        Intervals of recovered metrics, and of ``"alpha"`` and ``"beta"`` where they were
        estimated.
    threshold : float
        Where threshold metrics are taken.
    findings : tuple of (str, str)
        Code and severity of the checks that found something, by severity.
    seed : int
        The seed of the bootstrap: ``evaluate(..., random_state=row.seed)`` draws the same.
    report : PUReport or None
        The whole report, if reports were to be kept.
    contradicted : bool
        Whether alpha and beta contradict the scores, so that recovered metrics are NaN; see
        :class:`PUReport`.
    """

    task: Any
    score: str
    n_labeled: float
    n_unlabeled: float
    seed: int
    reason: str | None = None
    proportions: MixtureProportions | None = None
    estimated_from: str | None = None
    observed: Mapping[str, float] = field(default_factory=dict)
    recovered: Mapping[str, float] = field(default_factory=dict)
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    threshold: float = math.nan
    findings: tuple[tuple[str, str], ...] = ()
    report: PUReport | None = field(default=None, repr=False)
    contradicted: bool = False

    @property
    def hardly_known(self) -> tuple[str, ...]:
        """Metrics whose intervals are too wide for a value; see :class:`PUReport`."""
        return hardly_known(self.intervals)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        task = self.task if isinstance(self.task, (str, int, float, bool)) else str(self.task)
        findings = [{"code": code, "severity": how} for code, how in self.findings]
        names = [field.name for field in fields(self) if field.name != "report"]
        return picked(self, *names, "hardly_known") | {"task": task, "findings": findings}


@dataclass(frozen=True, kw_only=True, eq=False)
class ManyReports(Paged):
    """The result of :func:`evaluate_many`, a row for each task and score.

    Attributes
    ----------
    rows : tuple of ManyRow
        In order of task and then of score. A task that could not be evaluated has rows too,
        which say why.
    metrics : tuple of str
        The metrics of the table.
    confidence_level : float
        Nominal coverage of each interval.
    n_resamples : int
        Bootstrap replicates of each row.
    random_state : int or None
        The seed, if there was one.
    """

    _renderer = "render_many"

    rows: tuple[ManyRow, ...]
    metrics: tuple[str, ...]
    confidence_level: float
    n_resamples: int
    random_state: int | None

    @classmethod
    @public
    def of_groups(
        cls, counts: Mapping[Any, ScoreCounts], *, score: str = "score", **options: Any
    ) -> ManyReports:
        """The whole report of each group of rows that were counted, all with the same seed.

        Parameters
        ----------
        counts : mapping of object to ScoreCounts
            Counts by group. A group without labeled or without unlabeled rows has no report, and a
            row that says so.
        score : str, default="score"
            The name of the score.
        **options
            Arguments of :func:`evaluate`; with 500 replicates and the seed 0 by default.

        Returns
        -------
        ManyReports
            A row for each group, with its report.

        Examples
        --------
        >>> from purecover import simulate
        >>> from purecover.report import ManyReports
        >>> world = simulate.binormal(1.5)
        >>> days = {day: world.sample(100, 900, alpha=0.2, random_state=day) for day in (1, 2)}
        >>> counts = {day: sample.counts for day, sample in days.items()}
        >>> ManyReports.of_groups(counts, alpha=0.2, n_resamples=0).reports[2, "score"].alpha
        0.2
        """
        settings = {"n_resamples": 500, "confidence_level": 0.95, "random_state": 0} | options
        rows: list[ManyRow] = []
        for group, own in counts.items():
            sizes = own.labeled.sum().item(), own.unlabeled.sum().item()
            part = Part(group, score, *sizes, own, refusal(*sizes), settings["random_state"])
            rows += run_job(Job([part], settings, USUAL_METRICS, keep=True))
        how = {name: settings[name] for name in ("n_resamples", "confidence_level", "random_state")}
        return cls(rows=tuple(rows), metrics=USUAL_METRICS, **how)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ManyRow]:
        return iter(self.rows)

    @public
    def __getitem__(self, key: tuple[Any, str]) -> ManyRow:
        """The row of a task and a score."""
        for row in self.rows:
            if (row.task, row.score) == key:
                return row
        must = "a pair of a task and a score, in brackets"
        hint = f"the first is {valid.show((self.rows[0].task, self.rows[0].score))}"
        raise valid.bad_value("key", must, valid.show(key), hint)

    @property
    def evaluated(self) -> tuple[ManyRow, ...]:
        """Rows with results."""
        return tuple(row for row in self.rows if row.reason is None)

    @property
    def failed(self) -> tuple[ManyRow, ...]:
        """Rows without, which say why."""
        return tuple(row for row in self.rows if row.reason is not None)

    @property
    def reports(self) -> dict[tuple[Any, str], PUReport]:
        """Whole reports by task and score; empty unless they were to be kept."""
        return {(r.task, r.score): r.report for r in self.rows if r.report is not None}

    @public
    def top(self, n: int | None = None, metric: str = "roc_auc") -> tuple[ManyRow, ...]:
        """The rows with the best recovered values, the best first.

        The best of many is best partly by luck.

        Parameters
        ----------
        n : int, optional
            How many rows; all by default.
        metric : str, default="roc_auc"
            A metric of the table.

        Returns
        -------
        tuple of ManyRow
            Rows in which the metric is defined.
        """
        valid.check_choice("metric", metric, self.metrics)
        if n is not None:
            n = valid.check_integer("n", n, low=0)
        sign = -1 if METRICS[metric].greater_is_better else 1
        defined = [r for r in self.evaluated if not math.isnan(r.recovered[metric])]
        return tuple(sorted(defined, key=lambda row: sign * row.recovered[metric])[:n])

    @public
    def frame(self, backend: Any = None) -> Any:
        """All rows as a table; see :meth:`PUReport.frame`.

        For each metric there are four columns: ``roc_auc`` (recovered), ``roc_auc_observed``,
        ``roc_auc_low`` and ``roc_auc_high``. ``findings`` lists the codes of checks.
        """
        return inputs.row_frame(self._columns(), backend)

    def _columns(self) -> dict[str, Any]:
        rows = []
        for row in self.rows:
            cells = {
                name: getattr(row, name) for name in ("task", "score", "n_labeled", "n_unlabeled")
            }
            for name in ("alpha", "beta"):
                cells[name] = getattr(row.proportions, name, math.nan)
                cells |= ends_of(row.intervals.get(name), f"{name}_")
            for name in self.metrics:
                cells[name] = row.recovered.get(name, math.nan)
                cells[f"{name}_observed"] = row.observed.get(name, math.nan)
                cells |= ends_of(row.intervals.get(name), f"{name}_")
            cells |= {
                "threshold": row.threshold,
                "estimated_from": row.estimated_from or "",
                "findings": " ".join(code for code, _ in row.findings),
                "reason": row.reason or "",
                "seed": row.seed,
            }
            rows.append(cells)
        return inputs.columns_of(rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; without the reports."""
        n_evaluated = len(self.evaluated)
        return {"schema": "purecover.many/1", "n_evaluated": n_evaluated, **plain_fields(self)}

    @public
    def to_json(self, *, indent: int | None = 2) -> str:
        """:meth:`to_dict` as strict JSON text."""
        return json_text(self.to_dict(), indent)

    def __str__(self) -> str:
        from purecover.documents.many import many_document
        from purecover.documents.text import text_of

        return text_of(many_document(self).summary)

    def __repr__(self) -> str:
        return f"ManyReports({len(self.evaluated):,} of {len(self.rows):,} rows evaluated)"


@dataclass(frozen=True, eq=False)
class Job:
    """Rows of one task; ``options`` are arguments of :func:`evaluate`.

    Where there are several, alpha and beta are estimated from one of them, that with the highest
    observed AUC or the one in the scores ``estimate_from``.
    """

    parts: Sequence[Part]
    options: Mapping[str, Any]
    metrics: tuple[str, ...]
    keep: bool = False
    estimate_from: str | None = None


def seed_of(seed: int, task: object, score: str) -> int:
    """A seed for one row: the same whatever other rows there are, and in which order."""
    text = f"{seed}\0{task!r}\0{score}".encode(errors="surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=6).digest(), "big")


def left_out(part: Part, reason: str | None) -> ManyRow:
    """The row of what is not evaluated."""
    return restored(ManyRow, part, reason=reason)


def run_job(job: Job) -> list[ManyRow]:
    """Return the rows of a job; a complaint becomes the reason why there are no results."""
    first, *others = [p for p in job.parts if p.score == job.estimate_from] or job.parts
    if others:
        first = max(job.parts, key=lambda part: part.counts.auc_pu)  # type: ignore[union-attr]
    rows = [_evaluated(first, job)]
    for part in job.parts:
        if part is first:
            continue
        if rows[0].report is None:
            where = f"the scores in {valid.show(first.score)}"
            rows.append(left_out(part, f"alpha is not known from {where}: {rows[0].reason}"))
        else:
            rows.append(_evaluated(part, job, rows[0]))
    return [row if job.keep else replace(row, report=None) for row in rows]


def _evaluated(part: Part, job: Job, first: ManyRow | None = None) -> ManyRow:
    """Return one row, with its report; ``first`` is the row that alpha is estimated from."""
    if part.counts is None or part.reason is not None:
        return left_out(part, part.reason)
    try:
        # Of hundreds of rows many warn of the same; checks of each row say it too.
        with valid.unheard_repairs():
            report = _report(part.counts, part.seed, job, first)
    except PurecoverError as error:
        error.function = error.function or "evaluate"
        return left_out(part, first_line(error))
    shown, intervals = (*job.metrics, "alpha", "beta"), report.intervals
    return replace(
        left_out(part, None),
        proportions=report.proportions,
        estimated_from=None if report.estimation is None else (first or part).score,
        observed={name: report.metrics.observed[name] for name in job.metrics},
        recovered={name: report.metrics[name] for name in job.metrics},
        intervals={name: intervals[name] for name in shown if name in intervals},
        threshold=report.metrics.threshold,
        findings=tuple((check.code, check.severity) for check in report.findings),
        report=report,
        contradicted=report.contradicted,
    )


def _report(counts: ScoreCounts, seed: int, job: Job, first: ManyRow | None) -> PUReport:
    """Evaluate counts as `evaluate` does, with no more metrics than are asked for.

    Where alpha and beta were estimated from another score of the task, draws of this score have
    those of alpha and beta.
    """
    asked = pipeline.Request.among({**job.options, "random_state": seed})
    only = None if job.keep else job.metrics
    known = None if first is None else first.report
    if first is None or known is None or known.estimation is None:
        return asked.report(pipeline.ScoredRows(counts), only=only)
    shares = pipeline.Shares(asked.given, known.estimation.proportions)
    found = pipeline.recover(pipeline.ScoredRows(counts), shares, asked.settings, only=only)
    replicates = None
    if known.bootstrap is not None:
        drawn = known.bootstrap.replicates
        pairs = np.stack([drawn["alpha"], drawn["beta"]], axis=1)
        replicates = found.resample(pipeline.SharedPairs.of(counts, pairs), len(pairs), seed)
    seen_in = f"the scores in {valid.show(first.score)}"
    return found.report(known.estimation, replicates, reference=seen_in)


class ManyKeywords(SettingKeywords, total=False):
    """How the reports of all rows are made."""

    threshold: float | None


@public
def evaluate_many(
    data: Any,
    labeled: ArrayLike | str | Sequence[str],
    *,
    score: str | Sequence[str] | Mapping[str, str | Sequence[str]] | None = None,
    by: str | None = None,
    alpha: float | Mapping[Any, float] | None = None,
    beta: float | Mapping[Any, float] | None = None,
    scenario: Scenario | None = None,
    assume: Collection[str] = (),
    estimate_from: str | None = None,
    sample_weight: ArrayLike | str | None = None,
    metrics: Collection[str] = USUAL_METRICS,
    min_rows: int = 10,
    n_resamples: int = 500,
    n_jobs: int | None = None,
    keep: bool = False,
    **options: Unpack[ManyKeywords],
) -> ManyReports:
    r"""Recover the performance of many models, on many tasks, as one table.

    Parameters
    ----------
    data : data frame or dict
        The table, of any engine. Lazy frames (DuckDB, PySpark, Dask, Ibis, polars) are counted
        by their engine; see :meth:`ScoreCounts.from_frame`.
    labeled : str, list of str or array-like of shape (n,)
        The column that says who carries the positive label; a list of columns, each a task of
        its own (such as GO terms); or the labels themselves.
    score : str, list of str or mapping, optional
        The columns of scores; by default all that nothing else uses. A mapping gives each
        column of labels its own: ``{"GO:1": "score of GO:1", ...}``.
    by : str, optional
        The column that says which task a row belongs to.
    alpha, beta : float or mapping, optional
        Shares of positives among the unlabeled and among the labeled, as in :func:`evaluate`:
        one for all, or by task. Where alpha is not said it is estimated, once for each task.
    scenario : {"case-control", "censoring"}, optional
        How the data were drawn.
    assume : collection of {"pure-top", "clean-labels"}, default=()
        What you know where alpha is estimated, as in :func:`evaluate`.
    estimate_from : str, optional
        The score that alpha and beta of a task are estimated from, for all its scores; by default
        the one with the highest observed AUC, whose ends are purest.
    sample_weight : array-like of shape (n,) or str, optional
        Non-negative weights, or their column.
    metrics : collection of str
        The metrics of the table, from ``METRICS``.
    min_rows : int, default=10
        Tasks with fewer labeled or fewer unlabeled rows are not evaluated.
    n_resamples : int, default=500
        Bootstrap replicates of each row; 0 for none, which leaves only the interval of the AUC.
    n_jobs : int, optional
        Tasks (rows where alpha is given) worked on at the same time, as joblib takes it.
        ``joblib.parallel_config`` chooses other workers, such as those of a Dask, Ray or Spark
        cluster.
    keep : bool, default=False
        Whether to keep the whole report of each row.
    **options

    Returns
    -------
    ManyReports
        A row for each task and score. One that cannot be evaluated (no labeled row, too few,
        missing scores, no estimate of alpha) says so; none is lost.

    See Also
    --------
    compare_scores : A few models on the same rows, and their differences.
    evaluate : One model.

    Notes
    -----
    Each row has a seed of its own, made of ``random_state``, the task and the score: neither other
    rows, nor their order, nor ``n_jobs`` change a figure. Where there is no ``threshold`` each row
    has its own as well.

    A row equals what :func:`evaluate` says of it, with ``random_state=row.seed``. Only where a
    task has several scores and alpha is estimated, one score provides the estimate; the
    replicates of the others meet its replicates of alpha and beta at random.

    Of many intervals some miss. For intervals of :math:`m` rows that cover all at once, with
    known alpha or enough replicates, pass Bonferroni's ``confidence_level=1 - 0.05 / m``.

    Tasks of a frame in memory are split by one sort. A lazy frame is scanned once for all tasks
    of a score (``by``), or for each pair of a column of labels and a column of scores.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover import evaluate_many, simulate
    >>> world = simulate.binormal(1.5)
    >>> one, two = (world.sample(100, 1000, alpha=0.2, random_state=seed) for seed in (0, 1))
    >>> table = {
    ...     "term": ["GO:1"] * 1100 + ["GO:2"] * 1100 + ["GO:3"] * 5,
    ...     "s": np.concatenate([one.scores, two.scores, np.arange(5.0)]),
    ...     "y": np.concatenate([one.labeled, two.labeled, np.zeros(5, dtype=bool)]),
    ... }
    >>> found = evaluate_many(table, "y", score="s", by="term", alpha=0.2, n_resamples=0)
    >>> [(row.task, round(row.recovered["roc_auc"], 2)) for row in found.evaluated]
    [('GO:1', 0.9), ('GO:2', 0.86)]
    >>> found["GO:3", "s"].reason
    'no labeled row among 5'
    """
    valid.check_flag("keep", keep)
    valid.check_jobs(n_jobs)
    min_rows = valid.check_integer("min_rows", min_rows, low=1)
    n_resamples = valid.check_integer("n_resamples", n_resamples, low=0, high=10**7)
    every = spread({**options, "n_resamples": n_resamples})
    checked = ReportSettings.among(every).validated()
    own_seed = valid.kept_seed(checked.random_state)
    seed = int(checked.rng.integers(2**62)) if own_seed is None else own_seed
    columns = name_columns(data, labeled, score, by, sample_weight)
    if estimate_from is not None:
        valid.check_choice("estimate_from", estimate_from, columns.every_score)
    labels = vars(LabelMeaning.among(every))
    parts = [
        replace(part, seed=seed_of(seed, part.task, part.score))
        for part in read_parts(data, columns, labeled, sample_weight, labels, min_rows)
    ]
    how = {"estimator": every["estimator"], "hits_from": every["hits_from"], "assume": assume}
    given = _given(parts, (alpha, beta), scenario, how)
    names = _metrics(metrics, checked.top_k)
    if any(METRICS[name].kind == "probability" for name in names):
        checked = replace(checked, probabilities=True)
    rows = {(part.task, part.score): left_out(part, part.reason) for part in parts}
    together: dict[Any, list[Part]] = {}
    for part in parts:
        if part.reason is None:  # scores of one task share an estimate
            shared = given[part.task]["alpha"] is None
            together.setdefault((part.task, "" if shared else part.score), []).append(part)
    common = {**vars(checked), "progress": False}
    jobs = [
        Job(own, {**common, **given[task]}, names, keep, estimate_from)
        for (task, _), own in together.items()
    ]
    from joblib import Parallel, delayed

    # Sent with each job rather than left in shared memory, which a killed process leaves behind.
    workers = valid.useful_jobs(n_jobs, len(jobs))
    tasks = (delayed(run_job)(job) for job in jobs)
    n_done, n_good = 0, sum(len(job.parts) for job in jobs)
    with shown(checked.progress) as tell:
        for found in results_of(Parallel, tasks, workers, max_nbytes=None):
            rows |= {(row.task, row.score): row for row in found}
            n_done += len(found)
            if tell is not None:
                tell(n_done, n_good)
    return ManyReports(
        rows=tuple(rows.values()),
        metrics=names,
        confidence_level=checked.confidence_level,
        n_resamples=n_resamples,
        random_state=own_seed,
    )


def _metrics(names: Any, top_k: int | None) -> tuple[str, ...]:
    wanted = tuple(dict.fromkeys(valid.check_names("metrics", names, METRICS)))
    if not wanted:
        raise valid.bad_value("metrics", "a list of one metric or more", "none")
    for name in wanted:
        if METRICS[name].kind == "top_k" and top_k is None:
            raise valid.bad_value("top_k", f"given for {name!r}", "None")
    return wanted


def _given(
    parts: Sequence[Part], shares: tuple[Any, Any], scenario: Any, how: Mapping[str, Any]
) -> dict[Any, dict[str, Any]]:
    """Return arguments of `evaluate` by task: alpha and beta as far as they are known."""
    tasks = list(dict.fromkeys(part.task for part in parts))
    said = dict(zip(("alpha", "beta"), shares, strict=True))
    by_task = {name: value for name, value in said.items() if isinstance(value, Mapping)}
    for name, value in by_task.items():
        unknown = [task for task in value if task not in tasks]
        if unknown:
            shown = ", ".join(map(valid.show, tasks[:10])) + (", ..." if len(tasks) > 10 else "")
            must = "a number, or a mapping from tasks to numbers"
            got = f"one for {valid.show(unknown[0])}"
            raise valid.bad_value(name, must, got, f"the tasks are {shown}")
    out = {}
    for task in tasks:
        own = {name: value.get(task) for name, value in by_task.items()}
        one = {**said, **own, "scenario": scenario}
        if own.get("alpha") is None:
            one |= how
        known = GivenProportions(**one).validated(can_estimate=True, can_vary=True)
        if known.alpha is None:
            check_estimator(known.estimator)
        out[task] = one
    return out
