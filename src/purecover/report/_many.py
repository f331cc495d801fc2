"""`evaluate_many`: one table over hundreds of tasks or models."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from purecover._given import GivenProportions
from purecover._typing import AreaRule, ArrayLike, RandomState, Repair, Scenario, Target
from purecover._validation import (
    bad_value,
    check_choice,
    check_flag,
    check_integer,
    check_names,
    check_progress,
    check_random_state,
    check_real,
    kept_seed,
    show,
)
from purecover.checks import CHECKS
from purecover.estimation._asked import check_estimator
from purecover.intervals._bootstrap import Progress
from purecover.intervals._interval import check_level
from purecover.models._engine import check_jobs
from purecover.proportions import check_target
from purecover.recovery._registry import METRICS, MetricOptions
from purecover.recovery._roc import REPAIRS
from purecover.report._many_parts import Part
from purecover.report._many_reports import ManyReports, ManyRow
from purecover.report._many_rows import name_columns, read_parts
from purecover.report._many_work import (
    Job,
    Settings,
    Shared,
    in_parallel,
    observed_auc,
    run_job,
    seed_of,
)

if TYPE_CHECKING:
    from purecover.estimation._base import PriorEstimator

__all__ = ["evaluate_many"]

_NAME = "evaluate_many"
_WAYS = ("bonferroni", "sidak")


def evaluate_many(
    data: Any,
    labeled: ArrayLike | str | Sequence[str],
    *,
    score: str | Sequence[str] | Mapping[str, str | Sequence[str]] | None = None,
    by: str | None = None,
    alpha: float | Mapping[Any, float] | None = None,
    beta: float | Mapping[Any, float] | None = None,
    scenario: Scenario | None = None,
    estimator: PriorEstimator | str | None = None,
    estimate_from: str | None = None,
    sample_weight: ArrayLike | str | None = None,
    positive_label: object = None,
    negative_label: object = None,
    metrics: Collection[str] = ("roc_auc", "auc_pr", "precision", "recall"),
    min_rows: int = 10,
    threshold: float | None = None,
    target: Target = "population",
    repair: Repair | None = None,
    area: AreaRule = "davis-goadrich",
    f_beta: float = 1.0,
    cost_fn: float = 1.0,
    cost_fp: float = 1.0,
    max_fpr: float = 0.1,
    top_k: int | None = None,
    simultaneous: Literal["bonferroni", "sidak"] | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 500,
    random_state: RandomState = 0,
    ignore_checks: Collection[str] = (),
    n_jobs: int | None = None,
    keep: bool = False,
    progress: Progress | None = None,
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
    scenario, estimator
        As in :func:`evaluate`.
    estimate_from : str, optional
        The score that alpha and beta of a task are estimated from, for all its scores; by default
        the one with the highest observed AUC, whose ends are purest.
    sample_weight : array-like of shape (n,) or str, optional
        Non-negative weights, or their column.
    positive_label, negative_label : object, optional
        As in :meth:`ScoreCounts.from_scores`.
    metrics : collection of str
        The metrics of the table, from ``METRICS``.
    min_rows : int, default=10
        Tasks with fewer labeled or fewer unlabeled rows are not evaluated.
    threshold : float, optional
        Where threshold metrics are taken; by default each row has its own, where the Youden
        index is highest.
    target, repair, area, f_beta, cost_fn, cost_fp, max_fpr, top_k
        As in :func:`evaluate`.
    simultaneous : {"bonferroni", "sidak"}, optional
        Whether the intervals of a metric hold for all rows at once, and by which correction. By
        default each holds by itself, and of hundreds some miss.
    confidence_level : float, default=0.95
        Nominal coverage of intervals.
    n_resamples : int, default=500
        Bootstrap replicates of each row; 0 for none, which leaves only the interval of the AUC.
    random_state : int, numpy.random.Generator or None, default=0
        Each row has a seed of its own, made of this, the task and the score: neither other rows,
        nor their order, nor ``n_jobs`` change a figure.
    ignore_checks : collection of str, default=()
        Codes of checks to silence.
    n_jobs : int, optional
        Rows worked on at the same time, as joblib takes it. ``joblib.parallel_config`` chooses
        other workers, such as those of a Dask, Ray or Spark cluster.
    keep : bool, default=False
        Whether to keep the whole report of each row.
    progress : callable, optional
        Called as ``progress(done, total)`` after each row.

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
    A row equals what :func:`evaluate` says of it, with ``random_state=row.seed``. Only where a
    task has several scores and alpha is estimated, one score provides the estimate; the
    replicates of the others meet its replicates of alpha and beta at random.

    For :math:`m` rows Bonferroni's correction takes each interval at level
    :math:`1 - (1 - c)/m`, Šidák's, for rows that are independent or vary together, at
    :math:`c^{1/m}`. Percentiles of few replicates do not reach so far into the tails: an end with
    fewer than ten replicates beyond it is taken where there are ten, and moved away from the
    estimate by the ratio of the quantiles of the normal distribution; its ``method`` says so. The
    interval of the AUC with known alpha has a closed form, and needs no replicates.

    Tasks of a frame in memory are split by one sort. A lazy frame is scanned once for all tasks
    of a score (``by``), or once for all scores or all columns of labels of one type.

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
    check_flag(_NAME, "keep", keep)
    check_progress(_NAME, progress)
    check_jobs(_NAME, n_jobs)
    min_rows = check_integer(_NAME, "min_rows", min_rows, low=1)
    level = check_level(_NAME, confidence_level)
    n_resamples = check_integer(_NAME, "n_resamples", n_resamples, low=0, high=10**7)
    if simultaneous is not None:
        check_choice(_NAME, "simultaneous", simultaneous, _WAYS)
    if threshold is not None:
        threshold = check_real(_NAME, "threshold", threshold)
    if repair is not None:
        check_choice(_NAME, "repair", repair, REPAIRS)
    check_target(_NAME, target)
    check_names(_NAME, "ignore_checks", ignore_checks, CHECKS)
    MetricOptions(f_beta, cost_fn, cost_fp, max_fpr, top_k, area).validated(_NAME)
    rng = check_random_state(_NAME, random_state)
    own_seed = kept_seed(random_state)
    seed = int(rng.integers(2**62)) if own_seed is None else own_seed
    columns = name_columns(_NAME, data, labeled, score, by, sample_weight)
    if estimate_from is not None:
        names = tuple(dict.fromkeys(pair[2] for pair in columns.pairs))
        check_choice(_NAME, "estimate_from", estimate_from, names)
    labels = {"positive_label": positive_label, "negative_label": negative_label}
    parts = read_parts(_NAME, data, columns, labeled, sample_weight, labels)
    given = _given(parts, alpha, beta, scenario, estimator)
    refused = {id(part): _refusal(part, min_rows) for part in parts}
    good = [part for part in parts if refused[id(part)] is None]
    settings = Settings(
        function=_NAME,
        metrics=_metrics(metrics, top_k),
        level=_row_level(level, simultaneous, len(good)),
        simultaneous=simultaneous is not None,
        n_resamples=n_resamples,
        ignore_checks=tuple(ignore_checks),
        threshold=threshold,
        options={
            "target": target,
            "repair": repair,
            "area": area,
            "f_beta": f_beta,
            "cost_fn": cost_fn,
            "cost_fp": cost_fp,
            "max_fpr": max_fpr,
            "top_k": top_k,
        },
        keep=bool(keep),
    )
    found = {id(part): _left_out(part, seed, refused[id(part)]) for part in parts}
    for part, row in _run(good, given, seed, settings, estimate_from, n_jobs, progress):
        found[id(part)] = row
    return ManyReports(
        rows=tuple(found[id(part)] for part in parts),
        metrics=settings.metrics,
        confidence_level=level,
        simultaneous=simultaneous,
        row_level=settings.level,
        n_resamples=n_resamples,
        random_state=own_seed,
    )


def _metrics(names: Any, top_k: int | None) -> tuple[str, ...]:
    wanted = tuple(dict.fromkeys(check_names(_NAME, "metrics", names, METRICS)))
    if not wanted:
        raise bad_value(_NAME, "metrics", "a list of one metric or more", "none")
    for name in wanted:
        if METRICS[name].kind == "top_k" and top_k is None:
            raise bad_value(_NAME, "top_k", f"given for {name!r}", "None")
    return wanted


def _row_level(level: float, how: str | None, n_rows: int) -> float:
    if how is None or n_rows < 2:
        return level
    return 1 - (1 - level) / n_rows if how == "bonferroni" else level ** (1 / n_rows)


def _refusal(part: Part, min_rows: int) -> str | None:
    """Why a part is not even tried."""
    if part.reason is not None:
        return part.reason
    if part.missing_side is not None:
        return part.missing_side
    if part.rows < min_rows:
        few = "labeled" if part.n_labeled <= part.n_unlabeled else "unlabeled"
        rows = "row" if part.rows == 1 else "rows"
        return f"only {part.rows:,} {few} {rows}, fewer than min_rows={min_rows}"
    return None


def _given(
    parts: Sequence[Part], alpha: Any, beta: Any, scenario: Any, estimator: Any
) -> dict[Any, dict[str, Any]]:
    """What is known of alpha and beta, by task, as arguments of `evaluate`."""
    tasks = list(dict.fromkeys(part.task for part in parts))
    both: dict[str, dict[Any, Any]] = {}
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not isinstance(value, Mapping):
            both[name] = dict.fromkeys(tasks, value)
            continue
        unknown = [task for task in value if task not in tasks]
        if unknown:
            shown = ", ".join(map(show, tasks[:10])) + (", ..." if len(tasks) > 10 else "")
            must = "a number, or a mapping from tasks to numbers"
            got = f"one for {show(unknown[0])}"
            raise bad_value(_NAME, name, must, got, f"the tasks are {shown}")
        both[name] = {task: value.get(task) for task in tasks}
    out = {}
    asked = None
    for task in tasks:
        one = {"alpha": both["alpha"][task], "beta": both["beta"][task], "scenario": scenario}
        mixed = isinstance(alpha, Mapping) and one["alpha"] is not None
        one["estimator"] = None if mixed else estimator
        GivenProportions(**one).validated(_NAME, can_estimate=True)
        if one["alpha"] is None:
            asked = check_estimator(_NAME, estimator) if asked is None else asked
            one["estimator"] = asked
        out[task] = one
    return out


def _run(
    parts: Sequence[Part],
    given: Mapping[Any, dict[str, Any]],
    seed: int,
    settings: Settings,
    estimate_from: str | None,
    n_jobs: int | None,
    progress: Progress | None,
) -> Iterator[tuple[Part, ManyRow]]:
    """Rows as they are finished: those that need no other, then those that wait for an estimate."""
    from joblib import delayed

    def job(part: Part, shared: Shared | None = None) -> Any:
        own_seed = seed_of(seed, part.task, part.score)
        return delayed(run_job)(Job(part.cut(), given[part.task], own_seed, settings, shared))

    references = _references(parts, given, estimate_from, n_jobs)
    first = [p for p in parts if references.get(p.task, p.score) == p.score]
    later = [p for p in parts if references.get(p.task, p.score) != p.score]
    shared: dict[Any, Shared | str] = {}
    n_done = 0
    for part, done in zip(first, in_parallel((job(p) for p in first), n_jobs), strict=True):
        if part.task in references:
            shared[part.task] = done.shared or str(done.row.reason)
        n_done += 1
        if progress is not None:
            progress(n_done, len(parts))
        yield part, done.row
    ready: list[tuple[Part, Shared]] = []
    for part in later:
        estimate = shared[part.task]
        if isinstance(estimate, Shared):
            ready.append((part, estimate))
            continue
        n_done += 1
        reason = f"alpha is not known from the scores in {show(references[part.task])}: {estimate}"
        yield part, _left_out(part, seed, reason)
    results = in_parallel((job(p, estimate) for p, estimate in ready), n_jobs)
    for (part, _), done in zip(ready, results, strict=True):
        n_done += 1
        if progress is not None:
            progress(n_done, len(parts))
        yield part, done.row


def _left_out(part: Part, seed: int, reason: str | None) -> ManyRow:
    """The row of what is not evaluated, or not yet."""
    return ManyRow(
        task=part.task,
        score=part.score,
        n_labeled=part.n_labeled,
        n_unlabeled=part.n_unlabeled,
        seed=seed_of(seed, part.task, part.score),
        reason=reason,
    )


def _references(
    parts: Sequence[Part],
    given: Mapping[Any, dict[str, Any]],
    estimate_from: str | None,
    n_jobs: int | None,
) -> dict[Any, str]:
    """The score to estimate from, for tasks with several scores and unknown alpha."""
    from joblib import delayed

    several: dict[Any, list[Part]] = {}
    for part in parts:
        if given[part.task]["alpha"] is None:
            several.setdefault(part.task, []).append(part)
    several = {task: own for task, own in several.items() if len(own) > 1}
    candidates = [
        part
        for own in several.values()
        for part in own
        if estimate_from is None or estimate_from not in {p.score for p in own}
    ]
    jobs = (delayed(observed_auc)(part.cut(), _NAME) for part in candidates)
    areas: dict[Any, dict[str, float]] = {}
    for part, area in zip(candidates, in_parallel(jobs, n_jobs), strict=True):
        areas.setdefault(part.task, {})[part.score] = -math.inf if math.isnan(area) else area
    found = {}
    for task in several:
        own = areas.get(task)
        found[task] = str(estimate_from) if own is None else max(own, key=own.__getitem__)
    return found
