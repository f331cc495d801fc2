"""Any estimator of alpha becomes one of alpha and beta: two runs, roles exchanged in one."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal

import numpy as np
from sklearn.base import clone

from purecover._typing import CountArray, FloatArray
from purecover._validation import bad_value, check_choice
from purecover.counts import ScoreCounts
from purecover.estimation._base import Inclusions, PriorEstimator
from purecover.estimation._clean import CLEAN_RULES, clean_by_rule, clean_verdict
from purecover.estimation._ensemble import MedianEnsemble, check_estimator_parameter
from purecover.estimation._registry import register_prior_estimator
from purecover.estimation._rows import RowPriorEstimator, Rows
from purecover.exceptions import IdentifiabilityError

__all__ = ["NoisyLabels"]


@register_prior_estimator("noisy")
class NoisyLabels(RowPriorEstimator):
    r"""Estimate beta too, with any estimator that takes labels as clean.

    Parameters
    ----------
    estimator : PriorEstimator, optional
        The estimator to run twice. Default: :class:`MedianEnsemble`.
    clean : {"test", "never", "always"}, default="test"
        When to take labels as clean, which is beta = 1 exactly: if a test does not reject it,
        never, or always. Without the test clean labels would hardly ever be found clean, since
        an estimate of a share that is 0 errs upward only.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold ``"a"`` and ``"b"``, what each run has
        to show (``"unlabeled_run"``, ``"labeled_run"``; the latter is None where labels were
        taken as clean), ``"clean"`` and, if tested, ``"clean_p_value"``.

    Notes
    -----
    With the densities :math:`f` of the unlabeled and :math:`g` of the labeled, the estimator
    finds :math:`a`, the largest share of :math:`g` inside :math:`f`; with the roles of the two
    samples exchanged and the scores turned around it finds :math:`b`, the largest share of
    :math:`f` inside :math:`g`. If positives and negatives are mutually irreducible,
    :math:`a = \alpha/\beta` and :math:`b = (1-\beta)/(1-\alpha)`, hence

    .. math:: \alpha = \frac{a(1-b)}{1-ab}, \qquad \beta = \frac{1-b}{1-ab}.

    Around an estimator that takes features, ``fit(X, labeled)`` takes them too. The test then
    looks at scores of the label by the features, of a logistic regression or of boosted trees,
    whichever predicts better, each from a fit without the fold the row is in.

    Bootstrap replicates repeat all of it, the test included, so that the interval of beta
    knows that another sample might have been found noisy.

    References
    ----------
    Jain, White & Radivojac (2016), "Estimating the class prior and posterior from noisy
    positives and unlabeled data", NIPS.

    Examples
    --------
    >>> import purecover as pu
    >>> world = pu.simulate.binormal(separation=3)
    >>> sample = world.sample(2000, 8000, alpha=0.25, beta=0.8, random_state=0)
    >>> estimator = pu.NoisyLabels(pu.BBE()).fit(sample.scores, sample.labeled)
    >>> estimator.diagnostics_["clean"]
    False
    >>> estimator.proportions_.beta < 0.9
    True
    """

    noisy: ClassVar[bool] = True
    reference: ClassVar[str] = "Jain, White & Radivojac, NIPS 2016"

    def __init__(
        self,
        estimator: PriorEstimator | None = None,
        *,
        clean: Literal["test", "never", "always"] = "test",
    ) -> None:
        self.estimator = estimator
        self.clean = clean

    @property
    def estimates_beta(self) -> bool:
        """Whether beta can come out below 1."""
        return self.clean != "always"

    def _check_params(self) -> None:
        name = type(self).__name__
        check_choice(name, "clean", self.clean, CLEAN_RULES)
        if self.estimator is None:
            return
        check_estimator_parameter(name, "estimator", self.estimator)
        if self.estimator.estimates_beta:
            kind = type(self.estimator).__name__
            raise bad_value(
                name,
                "estimator",
                "one that takes labels as clean",
                f"{kind}, which estimates beta itself",
                f"use {kind} without {name}",
            )

    def _inner(self) -> PriorEstimator:
        """A copy, so that an estimate leaves no trace in the parameters."""
        return MedianEnsemble() if self.estimator is None else clone(self.estimator)

    def _reads_rows(self) -> bool:
        return self.estimator is not None and self.estimator.takes == "features"

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        inner = self._inner()
        return self._both_ways(
            inner._estimate(counts), lambda: inner._estimate_flipped(counts), lambda: counts
        )

    def _estimate_rows(self, rows: Rows, rng: np.random.Generator) -> Inclusions:
        inner = self._inner()
        if not isinstance(inner, RowPriorEstimator):  # fit asks _reads_rows first
            raise TypeError(type(inner))
        run = inner._estimate_rows(rows, rng)
        return self._both_ways(
            run, lambda: inner._estimate_rows(rows.flipped(), rng), lambda: out_of_fold(rows)
        )

    def _both_ways(
        self,
        run: Inclusions,
        exchanged: Callable[[], Inclusions],
        scored: Callable[[], ScoreCounts],
    ) -> Inclusions:
        """Put the two runs together; the second one only where labels are not clean."""
        verdict = clean_verdict(self.clean, scored)
        notes = [*run.notes, *verdict.notes]
        details = {"a": run.a, "unlabeled_run": dict(run.details), **verdict.details}
        runs = [run]
        if verdict.clean:
            b = 0.0
            details["labeled_run"] = None
        else:
            flipped = exchanged()
            b = flipped.a
            notes += [f"with the samples exchanged, for beta: {note}" for note in flipped.notes]
            details["labeled_run"] = dict(flipped.details)
            runs.append(flipped)
        details |= {
            "b": b,
            "at_edge": any(bool(r.details.get("at_edge", False)) for r in runs),
            "identifiable": all(bool(r.details.get("identifiable", True)) for r in runs),
        }
        return Inclusions(run.a, b, tuple(notes), details)

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        inner = self._inner()
        found = inner._estimate_many(counts, labeled, unlabeled)
        found[:, 1] = 0.0
        noisy = ~clean_by_rule(self.clean, counts, labeled, unlabeled)
        if noisy.any():
            flipped = inner._estimate_many_flipped(counts, labeled[noisy], unlabeled[noisy])
            found[noisy, 1] = flipped[:, 0]
        return found


FOLDS = 5
TREES = 50


def out_of_fold(rows: Rows) -> ScoreCounts:
    """Counts of scores of labeled against unlabeled, each from a fit without the row's fold.

    A line sees nothing of a ring, and samples that look alike throughout look noisy. So a
    logistic regression and boosted trees both try, and the lower held-out log loss decides.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from threadpoolctl import threadpool_limits

    folds = min(FOLDS, rows.n_labeled, rows.n_unlabeled)
    if folds < 2:
        raise IdentifiabilityError(
            "Whether labels are clean cannot be tested with one example on a side.\n"
            "Hint: clean='always' takes them as clean, clean='never' estimates beta untested"
        )
    tame = rows.scaled()
    # Every fifth row of each sample: reproducible, and the samples are in no order that matters.
    sides = [np.arange(n) % folds for n in (rows.n_labeled, rows.n_unlabeled)]
    X = np.concatenate((tame.labeled, tame.unlabeled))
    fold = np.concatenate(sides)
    ours = np.arange(fold.size) < rows.n_labeled
    models = [
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        HistGradientBoostingClassifier(max_iter=TREES, early_stopping=False, random_state=0),
    ]
    found = np.empty((len(models), fold.size))
    with threadpool_limits(1):  # fits as small as these spend more on threads than they gain
        for k in range(folds):
            held = fold == k
            for model, scores in zip(models, found, strict=True):
                model.fit(X[~held], ours[~held])
                scores[held] = model.predict_proba(X[held])[:, 1]
    return ScoreCounts.from_scores(min(found, key=lambda each: float(log_loss(ours, each))), ours)
