"""Metrics and curves of draws from a posterior: the same as of replicates, and no repair."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from purecover._progress import Progress, shown
from purecover._typing import FloatArray
from purecover.counts import ScoreCounts
from purecover.intervals.replicates import (
    GRID,
    NUMBERS,
    POSTERIOR,
    PROPORTIONS,
    BootstrapResult,
    highest_low_ends,
    numbers_of_rows,
    precision_line,
)
from purecover.intervals.resampling import BLOCK, GroupResampler
from purecover.posterior.draws import PROPOSED, Posterior
from purecover.posterior.knowledge import N_DRAWS, Knowledge, groups_with
from purecover.posterior.ratio import SEED
from purecover.proportions import is_pooled
from purecover.recovery import metrics as formulas
from purecover.recovery.curves import RecoveredRoc
from purecover.recovery.means import Masses
from purecover.recovery.metrics import (
    NO_ANSWERS,
    Answers,
    Metric,
    MetricKeywords,
    RecoveryOptions,
    View,
)
from purecover.recovery.rates import interpolated, trapezoids


def measure_posterior(
    counts: ScoreCounts,
    recovered: tuple[RecoveredRoc, RecoveredRoc],
    knowledge: Knowledge,
    *,
    metrics: Iterable[str] | None = None,
    threshold: float | None = None,
    answers: Answers = NO_ANSWERS,
    curves: bool = True,
    n_resamples: int = N_DRAWS,
    confidence_level: float = 0.95,
    resampler: GroupResampler | None = None,
    progress: Progress | None = None,
    **options: Unpack[MetricKeywords],
) -> BootstrapResult:
    """Measure draws from the posterior of alpha, beta and the positives of every group of scores.

    Estimates are medians of the draws. Only the AUC and means over the classes need no smooth
    ratio: they are those of the formula at the estimated alpha and beta. A threshold that was
    chosen as the best of these rows needs no correction, since draws do not know that it was.
    """
    roc, roc_pr = recovered
    proportions = roc.proportions
    given = RecoveryOptions.among(options).validated()
    wanted = formulas.resolve_metrics(metrics, counts, given, proportions)
    threshold = formulas.check_threshold(threshold, counts)
    if resampler is None:
        drawn = knowledge.posterior(n_resamples)
    else:
        samples = resampler.thinned(knowledge.counts)
        rng = np.random.default_rng(SEED)
        drawn = knowledge.of_samples(samples.draw_many(rng, PROPOSED * n_resamples))
    data = groups_with(counts, knowledge.counts, [threshold])
    drawn = drawn.split(data)
    place = formulas.position(data, threshold)
    job = _Measures(wanted, given, data, place, proportions.scenario, curves)
    parts, done = [], 0
    with shown(progress) as report:
        for block in _blocks(drawn):
            parts.append(job.of(block))
            done += len(block.shares)
            if report is not None:
                report(done, n_resamples)
    values, points, lines = (
        {key: np.concatenate([part[i][key] for part in parts]) for key in parts[0][i]}
        for i in range(3)
    )
    # What needs no smooth ratio is that of the formula, and its draws are moved there.
    prior = proportions.prior(given.target, counts)
    plain = tuple(each for each in wanted if each.name == "roc_auc" or each.kind == "probability")
    estimates = formulas.compute_metrics(plain, formulas.view_of(roc, roc_pr, counts), prior, given)
    middle = job.of(knowledge.at_mode(proportions.alpha, proportions.beta).split(data))[0]
    for name, estimate in estimates.items():
        values[name] = values[name] + np.nan_to_num(estimate - middle[name])

    numbers: dict[str, FloatArray] = {}
    of_rows: dict[str, FloatArray] = {}
    if points:
        target = formulas.target_of(prior, proportions, counts)
        positive, right = (
            (points[f"{side}_above"], points[f"{side}_below"]) for side in ("positive", "right")
        )
        rng = np.random.default_rng(SEED)
        found = numbers_of_rows(counts, _place(counts, threshold), positive, right, answers, rng)
        numbers = dict(zip(NUMBERS, found[0], strict=True))
        at = points["fpr"], points["tpr"]
        threshold_metrics = tuple(metric for metric in wanted if metric.kind == "threshold")
        of_rows = formulas.metrics_of_numbers(threshold_metrics, found, at, target, given)

    estimates |= {key: getattr(proportions, key) for key in PROPORTIONS}
    for metric in wanted:
        if metric.name not in estimates:
            own = of_rows.get(metric.name, values[metric.name])
            defined = own[~np.isnan(own)]
            estimates[metric.name] = float(np.median(defined)) if defined.size else math.nan
    order = [*(metric.name for metric in wanted), *PROPORTIONS]
    kept: dict[str, Any] = {}
    if curves:
        highest = highest_low_ends(counts, proportions, confidence_level, prior=prior)
        own_lines = {
            "roc": interpolated(GRID, roc.fpr, roc.tpr),
            "pr": precision_line(roc_pr.fpr[None], roc_pr.tpr[None], np.array([prior]))[0],
        }
        for (name, line), grid, most in zip(
            own_lines.items(), (GRID, GRID[1:]), highest, strict=True
        ):
            kept[name] = (grid.copy(), line, lines[name], most)
    return BootstrapResult(
        estimates={key: estimates[key] for key in order},
        replicates={key: values[key] for key in order},
        n_resamples=len(drawn.shares),
        confidence_level=float(confidence_level),
        method=POSTERIOR if resampler is None else f"{POSTERIOR}, groups",
        varied="scores and proportions" if knowledge.varies else "scores",
        _curves=kept,
        _numbers=numbers,
        _of_rows=of_rows,
    )


def _place(counts: ScoreCounts, threshold: float) -> int:
    return int(formulas.position(counts, threshold))


def _blocks(drawn: Posterior) -> Iterator[Posterior]:
    """Yield some draws at a time, so that what is computed of them stays in the cache."""
    size = max(1, BLOCK // drawn.unlabeled.shape[1])
    for start in range(0, len(drawn.shares), size):
        yield drawn.part(slice(start, start + size))


def _from_zero(passed: FloatArray) -> FloatArray:
    return np.concatenate((np.zeros((len(passed), 1)), passed), axis=1)


class _Measures:
    """Measures draws: metrics, numbers at the threshold, and lines of bands."""

    def __init__(
        self,
        wanted: tuple[Metric, ...],
        given: RecoveryOptions,
        data: ScoreCounts,
        place: int,
        scenario: Any,
        curves: bool,
    ) -> None:
        self.wanted, self.given, self.data = wanted, given, data
        self.place, self.scenario, self.curves = place, scenario, curves

    def of(self, drawn: Posterior) -> tuple[dict[str, FloatArray], ...]:
        """Return metrics, what numbers at the threshold follow from, and lines of bands."""
        fpr, tpr = drawn.rates
        alpha, beta = drawn.shares.T
        prior = self._priors(alpha, beta)
        flagged = _from_zero(np.cumsum(drawn.unlabeled, axis=1))
        curve = fpr, tpr, trapezoids(tpr, fpr)
        point = (fpr[:, self.place], tpr[:, self.place])
        view = View(
            curve=curve,
            curve_pr=curve,
            rates=(fpr, tpr),
            flagged_unlabeled=flagged,
            point=point,
            n_unlabeled=np.full(alpha.size, self.data.n_unlabeled),
            prior_at_k=alpha,
            counts=self.data,
        )
        of_rates = tuple(m for m in self.wanted if m.kind in ("ranking", "top_k"))
        values = formulas.compute_metrics(of_rates, view, prior, self.given)
        points: dict[str, FloatArray] = {}
        if at := [m for m in self.wanted if m.kind == "threshold"]:
            rates = point[1], point[0]
            for metric in at:
                value = np.array(metric.formula(*rates, prior, self.given), dtype=np.float64)
                values[metric.name] = np.where(np.isinf(value), np.nan, value)
            points = {"fpr": point[0], "tpr": point[1], **self._shares_at(drawn)}
        values |= self._of_probabilities(drawn, prior)
        values |= dict(zip(PROPORTIONS, (alpha, beta, beta - alpha), strict=True))
        lines = {}
        if self.curves:
            lines = {
                "roc": interpolated(GRID, fpr, tpr),
                "pr": precision_line(fpr, tpr, prior),
            }
        return values, points, lines

    def _shares_at(self, drawn: Posterior) -> dict[str, FloatArray]:
        """Return shares of positives at or above the threshold and below it, on both sides."""
        found = {}
        for name, groups in (("above", slice(0, self.place)), ("below", slice(self.place, None))):
            found[f"positive_{name}"] = drawn.share_positive(groups)
            found[f"right_{name}"] = drawn.share_right(groups)
        return found

    def _of_probabilities(self, drawn: Posterior, prior: FloatArray) -> dict[str, FloatArray]:
        """Return metrics of probabilities, draw by draw."""
        wanted = {m.name: m.formula for m in self.wanted if m.kind == "probability"}
        found = np.empty((len(wanted), prior.size))
        if wanted:
            n_labeled, n_unlabeled = self.data.n_labeled, self.data.n_unlabeled
            for i, (alpha, beta) in enumerate(drawn.shares.tolist()):
                own = replace(
                    self.data,
                    labeled=n_labeled * drawn.labeled[i],
                    unlabeled=n_unlabeled * drawn.unlabeled[i],
                )
                masses = Masses.of(own, alpha, beta)
                found[:, i] = [f(masses, float(prior[i]), self.given) for f in wanted.values()]
        return dict(zip(wanted, found, strict=True))

    def _priors(self, alpha: FloatArray, beta: FloatArray) -> FloatArray:
        """Return the share of positives in the population of the target, by draw."""
        target = self.given.target
        if not isinstance(target, str):
            return np.full(alpha.size, float(target))
        if is_pooled(target, self.scenario):
            share = self.data.labeled_share
            return share * beta + (1 - share) * alpha
        return alpha
