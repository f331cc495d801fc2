"""`compare_scores`: several models on the same rows, and how far apart they really are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from purecover._frames import lazy_frame
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
from purecover.intervals._paired import PairedModel, paired_bootstrap
from purecover.intervals._replicates import BootstrapResult
from purecover.proportions import MixtureProportions, check_target
from purecover.recovery._registry import MetricOptions, resolve_metrics
from purecover.recovery._roc import REPAIRS
from purecover.report._compare_lazy import ComparedCells, ComparedFrame, read_lazy
from purecover.report._compare_rows import ComparedRows, read_compared
from purecover.report._comparison import ScoreComparison, find_differences
from purecover.report._completed import completed
from purecover.report._estimation import Estimation, as_seen_by, estimate_proportions
from purecover.report._evaluate import evaluate
from purecover.report._report import PUReport
from purecover.report._resampling import resampled

if TYPE_CHECKING:
    from purecover.estimation._base import PriorEstimator
    from purecover.estimation._estimate import PriorEstimate

__all__ = ["compare_scores"]

_NAME = "compare_scores"

USUAL, FEWEST, MOST_DRAWN = 2000, 200, 2**30
"""Replicates where nobody says how many: as usual, and fewer where rows times scores are many."""


def compare_scores(
    data: Any,
    labeled: ArrayLike | str,
    *,
    score: Sequence[str] | None = None,
    baseline: str | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    proportions: MixtureProportions | None = None,
    prior: float | None = None,
    label_frequency: float | None = None,
    scenario: Scenario | None = None,
    estimator: PriorEstimator | str | None = None,
    estimate_from: str | None = None,
    sample_weight: ArrayLike | str | None = None,
    groups: ArrayLike | str | None = None,
    truth: ArrayLike | str | None = None,
    positive_label: object = None,
    negative_label: object = None,
    threshold: float | Mapping[str, float] | None = None,
    target: Target = "population",
    repair: Repair | None = None,
    area: AreaRule = "davis-goadrich",
    f_beta: float = 1.0,
    cost_fn: float = 1.0,
    cost_fp: float = 1.0,
    max_fpr: float = 0.1,
    top_k: int | None = None,
    simultaneous: bool = False,
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    random_state: RandomState = 0,
    ignore_checks: Collection[str] = (),
    progress: Progress | None = None,
) -> ScoreComparison:
    r"""Compare models that scored the same rows: recovered figures and paired differences.

    Alpha and beta belong to the data, not to a model: one pair serves all scores.

    Parameters
    ----------
    data : data frame or dict
        A column of scores for each model, larger means more positive. Lazy frames (DuckDB,
        PySpark, Dask, Ibis, polars) are counted by their engine, without weights, ``groups`` and
        ``truth``; see Notes.
    labeled : array-like of shape (n,) or str
        True where the row carries the positive label, or the column of ``data`` that says so.
        ``sample_weight``, ``groups`` and ``truth`` may name columns too.
    score : sequence of str, optional
        The columns to compare; by default all that nothing else uses.
    baseline : str, optional
        The score that the others are compared with; the first by default.
    alpha, beta, proportions, prior, label_frequency, scenario, estimator
        What is known of the shares of positives, as in :func:`evaluate`; with nothing said alpha
        and beta are estimated, once.
    estimate_from : str, optional
        The score that alpha and beta are estimated from; by default the one with the highest
        observed AUC, whose ends are purest.
    sample_weight, groups, truth, positive_label, negative_label
        As in :func:`evaluate`.
    threshold : float or mapping of str to float, optional
        Where threshold metrics are taken, for all scores or for each; by default each score has
        its own, where its Youden index is highest.
    target, repair, area, f_beta, cost_fn, cost_fp, max_fpr, top_k
        As in :func:`evaluate`.
    simultaneous : bool, default=False
        Whether the intervals of the differences in one metric hold for all models at once, which
        makes them wider; without replicates, by Bonferroni's inequality. Otherwise each holds by
        itself, and with many models some miss.
    confidence_level : float, default=0.95
        Nominal coverage of intervals.
    n_resamples : int, optional
        Bootstrap replicates; 0 for none, which leaves only intervals of the AUC. By default
        2,000, or as many as draw :math:`2^{30}` rows over all scores, but at least 200.
    random_state : int, numpy.random.Generator or None, default=0
        Where the bootstrap takes its randomness from.
    ignore_checks, progress
        As in :func:`evaluate`.

    Returns
    -------
    ScoreComparison
        A report of each score, and differences from the baseline.

    See Also
    --------
    evaluate : One model.
    BestScorer : Chooses a model by its observed AUC.

    Notes
    -----
    A replicate draws rows with replacement, labeled and unlabeled apart (or whole groups), and
    measures all scores on them; intervals of differences are percentiles. Where alpha and beta are
    estimated, each replicate estimates them once. Scores with more than 2,048 distinct values are
    thinned before that, as in :func:`bootstrap`. With known alpha the difference in AUC has
    DeLong's paired interval, through :math:`A_1 - A_2 = (A_{pu,1} - A_{pu,2})/(\beta-\alpha)`.

    Of a lazy frame all scores are counted as :meth:`ScoreCounts.from_frame` does, which gives
    every figure, and for what is paired one group-by counts the rows in each cell of the ranks of
    all scores: some 256 ranks of each, and finer ones at the top. Resampling draws from those
    cells. A row's rank within a cell is not known: that moves DeLong's standard error of an
    observed difference by at most :math:`\sqrt{1/(n_L - 1) + 1/(n_U - 1)}/64`, mostly by far
    less.

    Thresholds stay fixed over replicates, and so does the score that alpha is estimated from.
    Intervals do not vary the training of the models.

    Examples
    --------
    >>> import numpy as np
    >>> from purecover import compare_scores, simulate
    >>> sample = simulate.binormal(1.5).sample(500, 5000, alpha=0.25, random_state=0)
    >>> noise = np.random.default_rng(0).normal(size=5500)
    >>> scores = {"good": sample.scores, "worse": sample.scores + noise}
    >>> found = compare_scores(scores, sample.labeled, alpha=0.25, n_resamples=200)
    >>> found.differences["roc_auc"]["worse"].high < 0
    True
    >>> found.best("auc_pr")
    'good'
    """
    check_flag(_NAME, "simultaneous", simultaneous)
    level = check_level(_NAME, confidence_level)
    if n_resamples is not None:
        n_resamples = check_integer(_NAME, "n_resamples", n_resamples, low=0, high=10**7)
    given = GivenProportions(
        alpha, beta, proportions, prior, label_frequency, scenario, estimator
    ).validated(_NAME, can_estimate=True)
    asked = None if given.ways else check_estimator(_NAME, estimator)
    if estimate_from is not None and asked is None:
        must = f"left out where {given.ways[0]!r} is given"
        raise bad_value(_NAME, "estimate_from", must, show(estimate_from))
    rng = check_random_state(_NAME, random_state)
    # What evaluate would refuse, in our own name and before any work.
    check_names(_NAME, "ignore_checks", ignore_checks, CHECKS)
    check_target(_NAME, target)
    check_progress(_NAME, progress)
    if repair is not None:
        check_choice(_NAME, "repair", repair, REPAIRS)
    parameters = MetricOptions(f_beta, cost_fn, cost_fp, max_fpr, top_k, area).validated(_NAME)
    parts = {"labeled": labeled, "sample_weight": sample_weight, "groups": groups, "truth": truth}
    labels: dict[str, Any] = {"positive_label": positive_label, "negative_label": negative_label}
    counted: ComparedRows | ComparedFrame
    if (frame := lazy_frame(data)) is None:
        counted = read_compared(_NAME, data, score, parts, **labels)
    else:
        counted = read_lazy(_NAME, frame, score, parts, labels, threshold)
    names = tuple(counted.counts)
    resolve_metrics(_NAME, None, counted.counts[names[0]], parameters)
    base = names[0] if baseline is None else check_choice(_NAME, "baseline", baseline, names)
    thresholds = _thresholds(threshold, names)
    reference = _reference(counted, estimate_from)
    estimation = None
    if asked is None:
        used = given.resolve(_NAME, counted.counts[reference])
    else:
        estimation = estimate_proportions(_NAME, counted.counts[reference], given, asked)
        used = estimation.estimate.proportions
    options: dict[str, Any] = {
        "target": target,
        "area": area,
        "f_beta": f_beta,
        "cost_fn": cost_fn,
        "cost_fp": cost_fp,
        "max_fpr": max_fpr,
        "top_k": top_k,
        "confidence_level": level,
    }
    reports = {
        name: evaluate(
            **counted.columns(name),
            **labels,
            proportions=used,
            threshold=thresholds[name],
            repair=repair,
            n_resamples=0,
            random_state=random_state,
            ignore_checks=ignore_checks,
            **options,
        )
        for name in names
    }
    rows = counted.paired({name: report.metrics.threshold for name, report in reports.items()})
    if n_resamples is None:
        fitting = MOST_DRAWN // (rows.n_rows * len(names))
        n_resamples = min(max(fitting, FEWEST), USUAL)
    replicates: dict[str, BootstrapResult] | None = None
    if n_resamples:
        draw = partial(
            paired_bootstrap,
            _paired_models(rows, reports, repair),
            used,
            estimator=None if estimation is None else estimation.estimator,
            reference=reference,
            seed=int(rng.integers(2**63)),
            n_resamples=n_resamples,
            progress=progress,
            **options,
        )
        replicates, estimation = resampled(draw, estimation)
    found = replicates or {}
    complete = {
        name: completed(
            report,
            _estimate(report, rows, found.get(name), estimation, reference, level),
            found.get(name),
            level=level,
            n_groups=None if rows.group is None else int(rows.group.max()) + 1,
            ignore_checks=ignore_checks,
        )
        for name, report in reports.items()
    }
    paired = rows.paired_rows()
    differences, better = find_differences(
        complete, paired, base, level=level, simultaneous=simultaneous
    )
    return ScoreComparison(
        reports=complete,
        baseline=base,
        differences=differences,
        better=better,
        estimated_from=None if estimation is None else reference,
        confidence_level=level,
        simultaneous=simultaneous,
        n_resamples=n_resamples if replicates else 0,
        random_state=kept_seed(random_state),
        _rows=paired,
    )


def _thresholds(value: Any, names: tuple[str, ...]) -> dict[str, float | None]:
    """A threshold for each score; None where its own is to be found."""
    if not isinstance(value, Mapping):
        if value is not None:
            check_real(_NAME, "threshold", value)
        return dict.fromkeys(names, value)
    if set(value) != set(names):
        must = f"a number, or a number for each of {', '.join(map(repr, names))}"
        raise bad_value(_NAME, "threshold", must, show(value))
    return {name: check_real(_NAME, "threshold", value[name]) for name in names}


def _reference(rows: ComparedRows | ComparedFrame, asked: Any) -> str:
    """The score to estimate from: as asked, or the one with the highest observed AUC."""
    if asked is not None:
        return check_choice(_NAME, "estimate_from", asked, tuple(rows.counts))
    return max(rows.counts, key=rows.observed)  # the first of equals


def _paired_models(
    rows: ComparedRows | ComparedCells, reports: Mapping[str, PUReport], repair: Repair | None
) -> dict[str, PairedModel]:
    models = {}
    for name, report in reports.items():
        threshold = report.metrics.threshold
        own = {"threshold": threshold, "repair": None if repair is None else report.roc.repair}
        models[name] = PairedModel(report.counts, rows.resampler(name, threshold), own)
    return models


def _estimate(
    report: PUReport,
    rows: ComparedRows | ComparedCells,
    replicates: BootstrapResult | None,
    estimation: Estimation | None,
    reference: str,
    level: float,
) -> PriorEstimate | None:
    """The estimate that all scores share, as the report of one tells it."""
    if estimation is None:
        return None
    found = estimation.with_replicates(replicates, level=level, independent=rows.group is None)
    return as_seen_by(found, report.auc_pu, reference)
