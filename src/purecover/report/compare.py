"""`compare_scores`: several models on the same rows, and how far apart they really are.

Reports are read with their counts, and differences as they were written.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from purecover import _inputs as inputs
from purecover import _validation as valid
from purecover._codec import Source, document_text, restored, written
from purecover._progress import part_of, shown
from purecover._typing import ArrayLike, FloatArray
from purecover._validation import Frozen, public
from purecover.exceptions import Words
from purecover.intervals import paired
from purecover.intervals.interval import Interval, ends_of
from purecover.intervals.paired import PairedRows
from purecover.intervals.replicates import BootstrapResult, default_resamples
from purecover.intervals.resampling import Replayed
from purecover.proportions import KnownKeywords, MixtureProportions, ProportionEstimator
from purecover.recovery.metrics import METRICS
from purecover.report import pipeline
from purecover.report.compared_rows import count_compared, read_compared, thresholds_of
from purecover.report.pages import Paged
from purecover.report.results import PUReport
from purecover.report.saving import read_fields
from purecover.report.settings import SettingKeywords

if TYPE_CHECKING:
    from purecover.audit.designs import JudgedRows

SCHEMA = "purecover.comparison/1"
"""Name and version of what is written: fields may be added to it, none goes or turns."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreComparison(Paged, Frozen):
    """The result of :func:`compare_scores`.

    Attributes
    ----------
    reports : mapping of str to PUReport
        A report of each score, all with the same alpha and beta.
    baseline : str
        The score that the others are compared with.
    differences : mapping of str to mapping of str to Interval
        By metric and score: the recovered value minus that of the baseline, with an interval
        from replicates that draw the same rows for both.
    better : mapping of str to mapping of str to float
        By metric and score: the share of replicates in which it is better than the baseline,
        ties counted one half. Neither a p-value nor the probability that it is better.
    estimated_from : str or None
        The score that alpha and beta were estimated from; None if they were given.
    confidence_level : float
        Nominal coverage of each interval.
    n_resamples : int
        Number of replicates.
    random_state : int or None
        The seed, if there was one.
    """

    _renderer = "render_comparison"

    reports: Mapping[str, PUReport]
    baseline: str
    differences: Mapping[str, Mapping[str, Interval]]
    better: Mapping[str, Mapping[str, float]]
    estimated_from: str | None
    confidence_level: float
    n_resamples: int
    random_state: int | None

    @property
    def names(self) -> tuple[str, ...]:
        """The scores, in the order given."""
        return tuple(self.reports)

    @property
    def headline(self) -> tuple[str, ...]:
        """The answer in a few sentences: which score is ahead, and by how much."""
        from purecover.documents.comparison import comparison_headline

        return tuple(comparison_headline(self).lines)

    @property
    def proportions(self) -> MixtureProportions:
        """Alpha and beta, the same for all."""
        return self.reports[self.baseline].proportions

    @public
    def best(self, metric: str = "roc_auc") -> str | None:
        """The score with the best recovered value; None if the metric is undefined for all.

        Scores that contradict alpha and beta are left out.

        The best of several is best partly by luck: see whether its difference from the others
        is more than that.

        Parameters
        ----------
        metric : str, default="roc_auc"
            Name of a metric.

        Returns
        -------
        str or None
            The name of the score, the first of equals.
        """
        valid.check_choice("metric", metric, self.differences)
        sign = 1 if METRICS[metric].greater_is_better else -1
        right = {name: each for name, each in self.reports.items() if not each.contradicted}
        values = {name: sign * each.metrics[metric] for name, each in right.items()}
        defined = {name: value for name, value in values.items() if not math.isnan(value)}
        return max(defined, key=lambda name: defined[name]) if defined else None

    @public
    def frame(self, backend: Any = None) -> Any:
        """A row for each metric and score; see :meth:`PUReport.frame`.

        ``low`` and ``high`` are the ends of the interval of the recovered value; ``difference``
        and its ends are shown for all scores but the baseline.
        """
        rows = []
        for metric, found in self.differences.items():
            for name, report in self.reports.items():
                gap = found.get(name)
                rows.append(
                    {
                        "metric": metric,
                        "score": name,
                        "observed": report.metrics.observed[metric],
                        "recovered": report.metrics[metric],
                        **ends_of(report.intervals.get(metric)),
                        "difference": math.nan if gap is None else gap.estimate,
                        **ends_of(gap, "difference_"),
                        "better": self.better.get(metric, {}).get(name, math.nan),
                    }
                )
        return inputs.row_frame(inputs.columns_of(rows), backend)

    def to_dict(self, *, counts: bool = False) -> dict[str, Any]:
        """Plain data, ready for JSON.

        Parameters
        ----------
        counts : bool, default=False
            Whether the reports include counted scores; see :meth:`PUReport.to_dict`.

        Returns
        -------
        dict
            Differences, shares and the report of each score. Fields may be added without a new
            version of the schema, so readers should pass over those they do not know.
        """
        from msgspec import UNSET

        from purecover.report.document import SavedComparison

        return written(
            SavedComparison,
            self,
            schema=SCHEMA,
            version=sys.modules["purecover"].__version__,
            scores=self.names,
            reports={name: each.to_dict(counts=counts) for name, each in self.reports.items()},
            simultaneous=False,
            checksum=UNSET,
        )

    @public
    def to_json(self, *, counts: bool = False, indent: int | None = 2) -> str:
        """:meth:`to_dict` as strict JSON text."""
        return document_text(self.to_dict(counts=counts), indent)

    @classmethod
    @public
    def from_dict(cls, data: Mapping[str, Any]) -> ScoreComparison:
        """A comparison from plain data; see :meth:`from_json`.

        Parameters
        ----------
        data : mapping
            What :meth:`to_dict` made, with ``counts=True``.

        Returns
        -------
        ScoreComparison
            The comparison.
        """
        return read_comparison(_source("data"), data)

    @classmethod
    @public
    def from_json(cls, text: str | bytes) -> ScoreComparison:
        """A comparison from JSON text.

        Parameters
        ----------
        text : str or bytes
            What :meth:`to_json` wrote, with ``counts=True``.

        Returns
        -------
        ScoreComparison
            The comparison, with the same values. Replicates are not kept.
        """
        source = _source("text")
        return read_comparison(source, source.parse(text))

    def __str__(self) -> str:
        from purecover.documents.comparison import comparison_document
        from purecover.documents.text import text_of

        return text_of(comparison_document(self).summary)

    def __repr__(self) -> str:
        areas = ", ".join(f"{name} {report.auc:.4f}" for name, report in self.reports.items())
        return f"ScoreComparison(auc: {areas}; baseline {self.baseline})"


def find_differences(
    reports: Mapping[str, PUReport],
    replicates: Mapping[str, BootstrapResult] | None,
    rows: PairedRows,
    baseline: str,
    level: float,
) -> dict[str, Any]:
    """Return intervals of differences and shares of better replicates, by metric and score."""
    base, sides = reports[baseline], ("labeled", "unlabeled")
    known = base.estimation is None
    drawn = None if replicates is None else replicates[baseline]
    how: dict[str, Any] = {
        "level": level,
        "method": "none" if drawn is None else f"bootstrap percentile, {drawn.method}",
        "varied": "scores" if known else "scores and proportions",
    }
    found: dict[str, Any] = {"differences": {}, "better": {}}
    for metric in base.metrics:
        gaps: dict[str, Interval] = {}
        shares: dict[str, float] = {}
        for name, report in reports.items():
            if name == baseline:
                continue
            gain = _value(report, metric) - _value(base, metric)
            draws = None
            if replicates is not None and drawn is not None:
                known_here = not (report.contradicted or base.contradicted)
                draws = _gaps(replicates[name], drawn, metric, gain) if known_here else _none(drawn)
            same = all(
                np.array_equal(getattr(report.counts, side), getattr(base.counts, side))
                for side in sides
            ) and np.array_equal(rows.place[name], rows.place[baseline])
            gaps[name] = paired.difference_interval(gain, draws, same=same, **how)
            if metric == "roc_auc" and (draws is None or known):
                gaps[name] = _area_interval(report, base, gaps[name], rows, (name, baseline), same)
            if draws is not None:
                shares[name] = _share(draws if METRICS[metric].greater_is_better else -draws)
        found["differences"][metric] = gaps
        if shares:
            found["better"][metric] = shares
    return found


def _value(report: PUReport, metric: str) -> float:
    # The direct AUC, whose difference is that of the observed ones over beta - alpha.
    direct = metric == "roc_auc" and not report.contradicted
    return report.auc_direct if direct else report.metrics[metric]


def _gaps(report: BootstrapResult, base: BootstrapResult, metric: str, gain: float) -> FloatArray:
    """Return differences between replicates, around the difference between the reports."""
    with np.errstate(invalid="ignore"):
        gaps = report.replicates[metric] - base.replicates[metric]
        apart = gain - (report.estimates[metric] - base.estimates[metric])
    return np.where(np.isfinite(gaps), gaps, math.nan) + np.nan_to_num(apart)


def _none(drawn: BootstrapResult) -> FloatArray:
    return np.full(drawn.n_resamples, math.nan)


def _share(gains: FloatArray) -> float:
    """Return the share of replicates with a gain, ties counted one half."""
    defined = gains[~np.isnan(gains)]
    if defined.size < 0.95 * gains.size:
        return math.nan
    return float(np.mean(defined > 0) + np.mean(defined == 0) / 2)


def _area_interval(
    report: PUReport,
    base: PUReport,
    found: Interval,
    rows: PairedRows,
    names: tuple[str, str],
    same: bool,
) -> Interval:
    r"""Return DeLong's interval of a difference, through the linear map.

    .. math:: A_1 - A_2 = (A_{pu,1} - A_{pu,2})/\Delta, \qquad se = se_{pu}/\Delta.
    """
    if math.isnan(found.estimate):  # alpha and beta contradict the scores
        return found
    from scipy.special import ndtri

    gain, error = report.auc_pu - base.auc_pu, rows.error(*names)
    delta = report.proportions.delta
    reach = float(ndtri((1 + found.confidence_level) / 2)) * error / delta
    if error == 0 and not same:
        reach = math.nan  # both separate all rows: too little data, not certainty
    return Interval(
        estimate=gain / delta,
        low=gain / delta - reach,
        high=gain / delta + reach,
        confidence_level=found.confidence_level,
        method="paired DeLong" if rows.group is None else "paired DeLong, groups",
        varied="scores",
    )


FEWEST, MOST_DRAWN = 200, 2**30
"""Replicates where the caller does not say how many: fewer where rows times scores are many."""


def draw_pairs(
    found: Mapping[str, pipeline.Recovery],
    rows: PairedRows,
    estimator: ProportionEstimator | None,
    reference: str,
    n_resamples: int,
) -> dict[str, BootstrapResult]:
    """Return replicates of every model, the i-th of each from the same rows.

    Where the proportions are estimated, each replicate estimates them once, from the scores of
    ``reference``, and all models are measured with them. What that rejects is rejected for all.
    """
    settings = found[reference].settings
    seed = int(settings.rng.integers(2**63))
    shared = paired.SharedDraws(rows, np.random.default_rng(seed))
    estimates = None if estimator is None else paired.SharedEstimates(estimator)
    drawn: dict[str, BootstrapResult] = {}
    with shown(settings.progress) as progress:
        for i, name in enumerate(sorted(found, key=lambda key: key != reference)):
            one, again = found[name], estimates
            if estimates is not None and name != reference:
                again = Replayed(np.concatenate(estimates.found))  # type: ignore[assignment]
            drawn_again: Any = paired.ScoreDraws(shared, name)
            one = replace(
                one,
                rows=replace(one.rows, resampler=drawn_again),
                settings=replace(one.settings, progress=part_of(progress, i, len(found))),
            )
            result = one.resample(again, n_resamples, seed)
            what = "rows" if rows.group is None else "groups"
            drawn[name] = replace(result, method=f"the same {what} for all")
    return {name: drawn[name] for name in found}


def draw_apart(
    found: Mapping[str, pipeline.Recovery],
    estimator: Any,
    reference: str,
    n_resamples: int,
) -> dict[str, BootstrapResult]:
    """Return draws of each model as a report of its own has them, with the same alpha and beta."""
    drawn = {}
    for name, one in found.items():
        own = estimator
        if name != reference:
            own = pipeline.SharedPairs.like(estimator.knowledge, one.rows.counts, n_resamples)
        drawn[name] = one.resample(own, n_resamples, 0)
    return drawn


class CompareKeywords(KnownKeywords, SettingKeywords, total=False):
    """Alpha and beta as far as they are known, and how the reports are made."""

    hits: tuple[int, int] | None
    assume: Collection[str]


@public
def compare_scores(
    data: Any,
    labeled: ArrayLike | str,
    *,
    score: Sequence[str] | None = None,
    baseline: str | None = None,
    estimate_from: str | None = None,
    sample_weight: ArrayLike | str | None = None,
    groups: ArrayLike | str | None = None,
    truth: ArrayLike | str | None = None,
    judged: JudgedRows | ArrayLike | str | None = None,
    threshold: float | Mapping[str, float] | None = None,
    n_resamples: int | None = None,
    **options: Unpack[CompareKeywords],
) -> ScoreComparison:
    r"""Compare models that scored the same rows: corrected metrics and paired differences.

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
    estimate_from : str, optional
        The score that alpha and beta are estimated from; by default the one with the highest
        observed AUC, whose ends are purest.
    sample_weight : array-like of shape (n,) or str, optional
        Non-negative weights, or their column.
    groups : array-like of shape (n,) or str, optional
        Which rows depend on each other, or their column; whole groups are resampled then.
    truth : array-like of shape (n,) or str, optional
        True classes, shown next to the corrected metrics. They are used for nothing else.
    judged : JudgedRows, array-like of shape (n,) or str, optional
        Verdicts on rows, as in :func:`evaluate`. Alpha and beta are then estimated from the score
        by which the rows were drawn.
    threshold : float or mapping of str to float, optional
        Where threshold metrics are taken, for all scores or for each; by default each score has
        its own, where its Youden index is highest.
    n_resamples : int, optional
        Bootstrap replicates; 0 for none, which leaves only intervals of the AUC. By default
        2,000, or 1,000 of more than 32,768 distinct scores; fewer of many rows with weights or
        groups, but at least 200.
    **options

    Returns
    -------
    ScoreComparison
        A report of each score, and differences from the baseline.

    See Also
    --------
    evaluate : One model.

    Notes
    -----
    A replicate draws rows with replacement, labeled and unlabeled apart (or whole groups), and
    measures all scores on them; intervals of differences are percentiles. Where alpha and beta are
    estimated, each replicate estimates them once. With known alpha the difference in AUC has
    DeLong's paired interval, through :math:`A_1 - A_2 = (A_{pu,1} - A_{pu,2})/(\beta-\alpha)`.
    Each interval covers by itself. For intervals of :math:`m` differences that cover all at once,
    pass Bonferroni's ``confidence_level=1 - 0.05 / m``.

    Replicates and paired errors see the ranks of each score in some 256 cells, 128 of more than
    32,768 rows, and finer ones at the top: a replicate draws the number of rows in each joint cell
    of all scores. That moves DeLong's standard error of an observed difference by at most
    :math:`\sqrt{1/(n_L - 1) + 1/(n_U - 1)}/32`, mostly by far less. Scores of a lazy frame are
    counted as :meth:`ScoreCounts.from_frame` does, and one group-by counts their joint cells, with
    the same results as in memory.

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
    asked = pipeline.Request.among({**options, "n_resamples": n_resamples})
    asked.check_design(judged)
    settings = asked.settings
    if estimate_from is not None and asked.given.ways:
        must = Words("left out where ", asked.given.ways[0], " is given")
        raise valid.bad_value("estimate_from", must, valid.show(estimate_from))
    parts = {"labeled": labeled, "sample_weight": sample_weight, "groups": groups, "truth": truth}
    parts["judged"] = judged
    labels = vars(asked.labels)
    frame = inputs.lazy_frame(data)
    if frame is None:
        compared = read_compared(data, score, parts, labels)
    else:
        compared = count_compared(frame, score, parts, labels, threshold)
    counted = compared.rows
    names = tuple(counted)
    base = names[0] if baseline is None else valid.check_choice("baseline", baseline, names)
    thresholds = thresholds_of(threshold, names)
    if estimate_from is not None:
        valid.check_choice("estimate_from", estimate_from, names)
    # By default from the score with the highest observed AUC, the first of equals.
    reference = estimate_from or max(names, key=lambda name: counted[name].counts.auc_pu)
    verdicts = None
    if judged is not None and compared.marks is not None:
        if estimate_from is None:
            reference = compared.drawn_by(judged) or reference
        verdicts = compared.marks.judged_rows(compared.scores[reference])
    shares = asked.shares(counted[reference].counts, verdicts)
    estimation = shares.estimation
    found = {
        name: pipeline.recover(counted[name], shares, replace(settings, threshold=thresholds[name]))
        for name in names
    }
    rows = compared.paired({name: one.threshold for name, one in found.items()})
    if n_resamples is None:
        most = min(default_resamples(each.counts) for each in counted.values())
        n_resamples = min(max(MOST_DRAWN // (rows.rows.size * len(names)), FEWEST), most)
    replicates: dict[str, BootstrapResult] | None = None
    own: Mapping[str, BootstrapResult] | None = None
    if n_resamples:
        again = shares.repeated(counted[reference], settings.rng)
        draw = partial(draw_pairs, found, rows, again, reference, n_resamples)
        replicates, estimation = pipeline.draw_replicates(draw, estimation)
        own = replicates
        if getattr(again, "knowledge", None) is not None and replicates is not None:
            own = draw_apart(found, again, reference, n_resamples)
    reports = {}
    for name, one in found.items():
        drawn = None if own is None else own[name]
        seen_in = f"the scores in {valid.show(reference)}"
        reports[name] = one.report(estimation, drawn, reference=seen_in)
    return ScoreComparison(
        reports=reports,
        baseline=base,
        **find_differences(reports, replicates, rows, base, settings.confidence_level),
        estimated_from=None if estimation is None else reference,
        confidence_level=settings.confidence_level,
        n_resamples=n_resamples if replicates else 0,
        random_state=valid.kept_seed(settings.random_state),
    )


def _source(parameter: str) -> Source:
    writer = "comparison.to_json(counts=True)"
    return Source(parameter, "a comparison", SCHEMA, writer)


def read_comparison(source: Source, data: object) -> ScoreComparison:
    """The comparison in plain data."""
    from purecover.report.document import SavedComparison

    saved = source.read(SavedComparison, data)
    reports, differences, better = {}, {}, {}
    try:
        for name in saved.scores:
            inner = replace(source, path=f"reports.{name}.")
            reports[name] = PUReport(**read_fields(inner, saved.reports[name]))
        base = reports[saved.baseline]
        others = {name: each for name, each in reports.items() if name != saved.baseline}
        known = saved.reports[saved.baseline].metrics.recovered
        level = saved.confidence_level
        none: Any = {"same": False, "level": level, "method": "none", "varied": "scores"}
        for metric in base.metrics:
            if metric in known:
                differences[metric] = {name: saved.differences[metric][name] for name in others}
            else:  # younger than the document, which has no replicates of it
                own = _value(base, metric)
                differences[metric] = {
                    name: paired.difference_interval(_value(each, metric) - own, None, **none)
                    for name, each in others.items()
                }
            if metric in saved.better:
                better[metric] = {name: saved.better[metric][name] for name in others}
        if saved.estimated_from is not None:
            reports[saved.estimated_from]
    except KeyError as error:
        must = "a list of scores, each with its report, differences and shares"
        raise source.complaint("scores", must, f"nothing of {error}") from error
    for metric, found in differences.items():
        for name, gap in found.items():
            value = _value(reports[name], metric) - _value(base, metric)
            if abs(gap.estimate - value) > 1e-6:
                must = f"{value:.9g}, as its reports imply"
                path = f"differences.{metric}.{name}.estimate"
                raise source.complaint(path, must, f"{gap.estimate:.9g}")
    return restored(ScoreComparison, saved, reports=reports, differences=differences, better=better)
