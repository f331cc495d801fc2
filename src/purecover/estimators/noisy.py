"""Noisy labels: any estimator of alpha becomes one of alpha and beta."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from purecover._typing import ArrayLike, CountArray, FloatArray
from purecover.counts import ScoreCounts
from purecover.estimators.base import Inclusions, PriorEstimator, register_prior_estimator
from purecover.estimators.bbe import BBE
from purecover.estimators.clean_labels import CLEAN_RULES, clean_many, clean_verdict
from purecover.estimators.parameters import clone, parameter


@register_prior_estimator("noisy")
@dataclass(eq=False, repr=False)
class NoisyLabels(PriorEstimator):
    r"""Estimate beta too, with any estimator that takes labels as clean.

    Assumes: what the wrapped method assumes, at both ends.

    Known to fail: as the wrapped method; a weak classifier makes clean labels look wrong.

    Parameters
    ----------
    estimator : PriorEstimator, optional
        The estimator to run twice. Default: :class:`BBE`.
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
    >>> estimator = pu.estimators.NoisyLabels(pu.estimators.BBE()).fit(
    ...     sample.scores, sample.labeled
    ... )
    >>> estimator.diagnostics_["clean"]
    False
    >>> estimator.proportions_.beta < 0.9
    True
    """

    noisy: ClassVar[bool] = True

    estimator: PriorEstimator | None = parameter(None, "estimator")
    _: KW_ONLY
    clean: Literal["test", "never", "always"] = parameter("test", "choice", choices=CLEAN_RULES)

    def _inner(self) -> Any:
        """Copy the estimator, so that an estimate leaves no trace in the parameters."""
        return BBE() if self.estimator is None else clone(self.estimator)

    def _read(self, scores: Any, labeled: ArrayLike | None, sample_weight: ArrayLike | None) -> Any:
        return self._inner()._read(scores, labeled, sample_weight)

    def _half(self, data: Any, rng: np.random.Generator) -> Any:
        return self._inner()._half(data, rng)

    def _usual_method(self, resampler: object) -> str:
        usual = self._inner()._usual_method(resampler)
        return "bootstrap" if usual == "posterior" else usual

    def _estimate(self, data: Any) -> Inclusions:
        inner = self._inner()
        run = inner._estimate(data)
        verdict, said = clean_verdict(self.clean, lambda: inner._count(data))
        notes = [*run.notes, *said]
        details = {"a": run.a, "unlabeled_run": dict(run.details), **verdict, "labeled_run": None}
        runs, b = [run], 0.0
        if not verdict["clean"]:
            flipped = inner._estimate_flipped(data)
            b = flipped.a
            notes += [f"with the samples exchanged, for beta: {note}" for note in flipped.notes]
            details["labeled_run"] = dict(flipped.details)
            runs.append(flipped)
        details |= {
            "b": b,
            "at_edge": any(each.at_edge for each in runs),
            "identifiable": all(each.identifiable for each in runs),
        }
        return Inclusions(run.a, b, tuple(notes), details)

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        inner = self._inner()
        found = inner._estimate_many(counts, labeled, unlabeled)
        found[:, 1] = 0.0
        noisy = ~clean_many(counts, labeled, unlabeled, self.clean)
        if noisy.any():
            flipped = inner._estimate_many_flipped(counts, labeled[noisy], unlabeled[noisy])
            found[noisy, 1] = flipped[:, 0]
        return found
