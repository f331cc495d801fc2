"""Estimators made of others: noisy labels, the median, subsampling, regrouping and clusters."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from purecover import _validation as valid
from purecover._parameters import checked
from purecover._typing import CountArray, FloatArray, IntArray, RandomState
from purecover.counts import ScoreCounts
from purecover.estimators import base
from purecover.estimators.base import Inclusions, PriorEstimator, register_prior_estimator
from purecover.estimators.clean_labels import CLEAN_RULES, clean_many, clean_verdict
from purecover.estimators.estimate import LabelRates
from purecover.estimators.label_curve import LabelCurve
from purecover.estimators.out_of_fold import FAR, FOLDS, check_classifier, out_of_fold_scores
from purecover.estimators.rows import FeaturePriorEstimator, RowPriorEstimator, Rows
from purecover.exceptions import IdentifiabilityError, PurecoverError

LARGE_SPREAD = 0.1
"""Members that differ by more than this do not support each other."""


@register_prior_estimator("median")
@dataclass(eq=False, repr=False)
class MedianEnsemble(PriorEstimator):
    r"""Median of several estimators on the same scores.

    Assumes: what most of its members assume; labels are clean.

    Known to fail: where its members fail together.

    Each member errs in its own way: one is biased up by overlap, another by few labeled
    examples, a third by its grid. The median follows none of them into its worst case, and the
    spread of the members is a free sign of how reliable it is.

    Parameters
    ----------
    estimators : sequence of PriorEstimator, optional
        The members. Default: :class:`DEDPUL`, :class:`RocSlope` and :class:`AlphaMax` with the
        elbow of the paper.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold ``"members"``, the inclusion
        :math:`a` that each member finds, and ``"spread"``, the largest difference between
        them; a note says so where it exceeds 0.1.

    See Also
    --------
    NoisyLabels : The same with beta estimated too.

    Notes
    -----
    With the inclusion :math:`a_j` of member :math:`j`, :math:`a` is the median of
    :math:`a_1, \ldots, a_m`. Members that estimate beta too bring :math:`b_j`, whose median is
    :math:`b`; without such members labels are taken as clean. A member that finds no estimate
    does not vote.

    Examples
    --------
    >>> import purecover as pu
    >>> world = pu.simulate.binormal(separation=3)
    >>> sample = world.sample(500, 2000, alpha=0.25, random_state=0)
    >>> estimator = pu.estimators.MedianEnsemble(
    ...     [pu.estimators.BBE(), pu.estimators.RocSlope(), pu.estimators.RocSlope(error=0.2)]
    ... )
    >>> estimator = estimator.fit(sample.scores, sample.labeled)
    >>> sorted(estimator.diagnostics_["members"])
    ['BBE', 'RocSlope', 'RocSlope 2']
    """

    estimators: Sequence[PriorEstimator] | None = None

    def _check_params(self) -> None:
        if self.estimators is None:
            return
        if isinstance(self.estimators, (str, PriorEstimator)) or not isinstance(
            self.estimators, Iterable
        ):
            must = "a list of estimators of alpha"
            hint = "one is not an ensemble; write [AlphaMax(), BBE(), RocSlope()]"
            raise valid.bad_type("estimators", must, self.estimators, hint)
        if not len(self.estimators):
            raise valid.bad_value("estimators", "at least one estimator", "an empty list")
        for member in self.estimators:
            check_estimator_parameter("estimators", member)

    @property
    def estimates_beta(self) -> bool:
        """Whether a member estimates beta too."""
        return any(member.estimates_beta for member in self.estimators or ())

    def _members(self) -> list[PriorEstimator]:
        """Copies, so that an estimate leaves no trace in the parameters."""
        if self.estimators is not None:
            return [base.clone(member) for member in self.estimators]
        from purecover.estimators.alphamax import AlphaMax
        from purecover.estimators.dedpul import DEDPUL
        from purecover.estimators.ratios import RocSlope

        # The three whose median did best among simple ensembles: unlike in method and in errors.
        return [DEDPUL(), RocSlope(), AlphaMax(elbow="paper")]

    def _for_exchanged(self) -> PriorEstimator:
        return MedianEnsemble([_Exchanged(member) for member in self._members()])

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        found: dict[str, Inclusions] = {}
        lost: dict[str, str] = {}
        second: list[float] = []
        members = self._members()
        for name, member in zip(_names(members), members, strict=True):
            try:
                found[name] = member._estimate(counts)
            except IdentifiabilityError as error:
                lost[name] = str(error)
                continue
            if member.estimates_beta:
                second.append(found[name].b)
        if not found:
            name, text = next(iter(lost.items()))
            raise IdentifiabilityError(
                f"{type(self).__name__} has no member that finds an estimate. {name} says: {text}"
            )
        first = {name: float(inclusions.a) for name, inclusions in found.items()}
        a = float(np.median(list(first.values())))
        spread = max(first.values()) - min(first.values())
        b = float(np.median(second)) if second else 0.0
        # The one or two members in the middle, which make the median.
        ranked = sorted(first, key=first.__getitem__)
        decisive = [found[n] for n in ranked[(len(ranked) - 1) // 2 : len(ranked) // 2 + 1]]
        notes = [
            f"{name}: {note}" for name, inclusions in found.items() for note in inclusions.notes
        ]
        notes += [f"{name} finds no estimate and does not vote" for name in lost]
        if spread > LARGE_SPREAD:
            low, high = ranked[0], ranked[-1]
            notes.append(
                f"the members differ by {spread:.2f} ({low} {first[low]:.3g}, "
                f"{high} {first[high]:.3g}): the estimate is unreliable"
            )
        details: dict[str, Any] = {
            "members": first,
            "spread": spread,
            "at_edge": all(member.at_edge for member in decisive),
            "identifiable": all(member.identifiable for member in decisive),
        }
        return Inclusions(a, b, tuple(notes), details)

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        members = self._members()
        found = [member._estimate_once(counts, labeled, unlabeled) for member in members]
        first = np.stack([pair[:, 0] for pair in found])
        second = [pair[:, 1] for pair, m in zip(found, members, strict=True) if m.estimates_beta]
        b = _median_of_known(np.stack(second)) if second else np.zeros(len(labeled))
        return np.column_stack((_median_of_known(first), b))


@dataclass(eq=False, repr=False)
class _Exchanged(PriorEstimator):
    """Takes samples that were exchanged, which the other estimator turns around in its own way."""

    estimator: PriorEstimator

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        return self.estimator._estimate_flipped(base.flipped_counts(counts))

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        exchanged = unlabeled[:, ::-1], labeled[:, ::-1]
        return self.estimator._estimate_many_flipped(base.flipped_counts(counts), *exchanged)

    _estimate_once = _estimate_many  # nobody else sees samples that were exchanged


def check_estimator_parameter(parameter: str, value: object) -> None:
    """An estimator with good parameters, as a parameter of another one."""
    if not isinstance(value, PriorEstimator):
        hint = "register your own as a subclass of PriorEstimator"
        if isinstance(value, type) and issubclass(value, PriorEstimator):
            hint = f"this is the class; write {value.__name__}()"
        elif isinstance(value, str):
            hint = f'write prior_estimators()["{value}"]()'
        raise valid.bad_type(parameter, "made of estimators of alpha", value, hint)
    try:
        value._check_params()
    except PurecoverError as error:
        error.function = error.function or type(value).__name__
        raise


def _names(members: Sequence[PriorEstimator]) -> list[str]:
    """Class names, numbered where they repeat."""
    plain = [type(m.estimator if isinstance(m, _Exchanged) else m).__name__ for m in members]
    earlier = [plain[:i].count(name) for i, name in enumerate(plain)]
    return [f"{name} {n + 1}" if n else name for name, n in zip(plain, earlier, strict=True)]


def _median_of_known(values: FloatArray) -> FloatArray:
    """Median over the first axis of what is not NaN; NaN where nothing is."""
    known = ~np.isnan(values)
    middle = np.full(values.shape[1], np.nan)
    some = known.any(axis=0)
    middle[some] = np.nanmedian(values[:, some], axis=0)
    return middle


def inner_of(estimator: PriorEstimator | None) -> PriorEstimator:
    """A copy of the estimator to wrap, so that an estimate leaves no trace in the parameters."""
    return MedianEnsemble() if estimator is None else base.clone(estimator)


def check_one_sided(estimator: object, hint: str) -> None:
    """None, or an estimator that takes labels as clean, as a parameter of one that wraps it."""
    if estimator is None:
        return
    check_estimator_parameter("estimator", estimator)
    if isinstance(estimator, PriorEstimator) and estimator.estimates_beta:
        must, kind = "one that takes labels as clean", type(estimator).__name__
        raise valid.bad_value("estimator", must, f"{kind}, which estimates beta itself", hint)


# -- Any estimator of alpha becomes one of alpha and beta ----------------------------------------


@register_prior_estimator("noisy")
@dataclass(eq=False, repr=False)
class NoisyLabels(RowPriorEstimator):
    r"""Estimate beta too, with any estimator that takes labels as clean.

    Assumes: what the wrapped method assumes, at both ends.

    Known to fail: as the wrapped method; a weak classifier makes clean labels look wrong.

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
    >>> estimator = pu.estimators.NoisyLabels(pu.estimators.BBE()).fit(
    ...     sample.scores, sample.labeled
    ... )
    >>> estimator.diagnostics_["clean"]
    False
    >>> estimator.proportions_.beta < 0.9
    True
    """

    noisy: ClassVar[bool] = True
    reference: ClassVar[str] = "Jain, White & Radivojac, NIPS 2016"

    estimator: PriorEstimator | None = None
    _: KW_ONLY
    clean: Literal["test", "never", "always"] = checked(
        "test", valid.check_choice, choices=CLEAN_RULES
    )

    def _check_params(self) -> None:
        super()._check_params()
        hint = f"use {type(self.estimator).__name__} without {type(self).__name__}"
        check_one_sided(self.estimator, hint)

    def _reads_rows(self) -> bool:
        return self.estimator is not None and self.estimator.takes == "features"

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        inner = inner_of(self.estimator)
        return self._both_ways(
            inner._estimate(counts), lambda: inner._estimate_flipped(counts), lambda: counts
        )

    def _estimate_rows(self, rows: Rows, rng: np.random.Generator) -> Inclusions:
        inner: Any = inner_of(self.estimator)  # takes features: fit asks _reads_rows first
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
        verdict, said = clean_verdict(self.clean, scored)
        notes = [*run.notes, *said]
        details = {"a": run.a, "unlabeled_run": dict(run.details), **verdict, "labeled_run": None}
        runs, b = [run], 0.0
        if not verdict["clean"]:
            flipped = exchanged()
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
        inner = inner_of(self.estimator)
        found = inner._estimate_once(counts, labeled, unlabeled).copy()
        found[:, 1] = 0.0
        noisy = ~base.found_once(
            f"clean {self.clean}",
            (labeled, unlabeled),
            lambda: clean_many(counts, labeled, unlabeled, self.clean),
        )
        if noisy.any():
            flipped = inner._estimate_many_flipped(counts, labeled[noisy], unlabeled[noisy])
            found[noisy, 1] = flipped[:, 0]
        return found


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


# -- Remedies for scores without a pure region ---------------------------------------------------


@dataclass(eq=False, repr=False)
class AdjustedEstimator(PriorEstimator):
    """Estimate by another estimator, of samples that are changed before."""

    estimator: PriorEstimator | None = None

    def _check_params(self) -> None:
        super()._check_params()
        check_one_sided(
            self.estimator, f"for noisy labels write NoisyLabels({type(self).__name__}())"
        )

    def _for_exchanged(self) -> PriorEstimator:
        return replace(self, estimator=_Exchanged(inner_of(self.estimator)))


@register_prior_estimator("regrouping")
@dataclass(kw_only=True, eq=False, repr=False)
class Regrouping(AdjustedEstimator):
    r"""Copy the highest unlabeled scores into the labeled sample, then estimate (ReMPE).

    Assumes: negatives are found among the positives at every score; labels are clean.

    Known to fail: too low where a pure region does exist.

    Where negatives are found among the positives at every score, estimators of alpha come out
    too high, by as much as the negatives contain of the positives. Counting the negatives with
    the highest scores among the positives makes a new problem with a pure region, whose alpha
    is smaller.

    Parameters
    ----------
    estimator : PriorEstimator, optional
        The estimator to run on the regrouped samples. Default: :class:`MedianEnsemble`.
    share : float, default=0.1
        Share of the unlabeled examples, those with the highest scores, that are copied.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold ``"copied"``, the share of copies in
        the regrouped labeled sample, and ``"run"``, what the estimator has to show.

    See Also
    --------
    Subsampling : The same aim, if one knows how pure the highest scores are.

    Notes
    -----
    With the densities :math:`f` of the unlabeled, :math:`g` of the labeled, and the region
    :math:`S` of the highest scores that holds the share :math:`s` of the unlabeled, the
    regrouped labeled sample has a density proportional to :math:`g + f\,1_S`: a copy weighs as
    if there were as many unlabeled as labeled examples, as was roughly so in the study that
    proposed the method; where the labeled are more, a copy counts as one example. Without such
    a weight the estimate would tend to :math:`s`, whatever alpha is, as the unlabeled become
    many. If the largest share of :math:`g` inside :math:`f` is :math:`a`, and if it is reached
    within :math:`S`, large samples give

    .. math:: a' = \frac{1+s}{1+1/a},

    which is below :math:`a` whenever :math:`a > s`. So the estimate is lowered by an amount
    that does not depend on how much too high it was, since scores alone do not tell that. It
    helps where positives and negatives overlap everywhere, and it hurts where a pure region
    exists: of a true alpha of 0.25 as little as 0.22 may be left, of 0.5 as little as 0.37. Do
    not use it where the highest scores are known to be pure.

    References
    ----------
    Yao, Liu, Han, Gong, Niu, Sugiyama & Tao (2022), "Rethinking class-prior estimation for
    positive-unlabeled learning", ICLR.

    Examples
    --------
    >>> import purecover as pu
    >>> world = pu.simulate.laplace(separation=1)  # a third of the negatives look positive
    >>> sample = world.sample(5000, 5000, alpha=0.25, random_state=0)
    >>> plain = pu.estimators.BBE().fit(sample.scores, sample.labeled)
    >>> regrouped = pu.estimators.Regrouping(pu.estimators.BBE()).fit(sample.scores, sample.labeled)
    >>> round(plain.proportions_.alpha, 1), round(regrouped.proportions_.alpha, 1)
    (0.5, 0.4)
    """

    reference: ClassVar[str] = "Yao, Liu, Han, Gong, Niu, Sugiyama & Tao, ICLR 2022"

    share: float = checked(0.1, valid.check_real, low=0, high=1, closed="neither")

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        regrouped = self._regrouped(counts)
        run = inner_of(self.estimator)._estimate(regrouped)
        details: dict[str, Any] = {
            "copied": float(1 - counts.n_labeled / regrouped.n_labeled),
            "at_edge": run.at_edge,
            "identifiable": run.identifiable,
            "run": dict(run.details),
        }
        note = (
            f"the {self.share:.3g} of the unlabeled with the highest scores were taken as labeled: "
            "alpha is lowered, which is right only if negatives are among them"
        )
        return Inclusions(run.a, 0.0, (*run.notes, note), details)

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        more = labeled + self._copies(labeled, unlabeled)
        inner = inner_of(self.estimator)
        return inner._estimate_many(self._regrouped(counts), more, unlabeled)

    def _copies(self, labeled: CountArray, unlabeled: CountArray) -> FloatArray:
        """What is added to the labeled counts of each row."""
        tally = np.asarray(unlabeled, dtype=np.float64)
        reached = np.cumsum(tally, axis=1)
        totals = reached[:, -1:]
        # At the border a part of those that share the score.
        taken = np.clip(self.share * totals - (reached - tally), 0.0, tally)
        size = labeled.sum(axis=1, dtype=np.float64, keepdims=True)
        weight = np.divide(size, totals, out=np.zeros_like(totals), where=totals > 0)
        return taken * np.minimum(weight, 1.0)

    def _regrouped(self, counts: ScoreCounts) -> ScoreCounts:
        copies = self._copies(counts.labeled[None], counts.unlabeled[None])[0]
        squares = counts.labeled_sq
        if squares is not None and counts.unlabeled_sq is not None:
            some = counts.unlabeled > 0
            part = np.divide(copies, counts.unlabeled, out=np.zeros(copies.size), where=some)
            squares = squares + part**2 * counts.unlabeled_sq
        return replace(counts, labeled=counts.labeled + copies, labeled_sq=squares)


@register_prior_estimator("subsampling")
@dataclass(kw_only=True, eq=False, repr=False)
class Subsampling(AdjustedEstimator):
    r"""Reject unlabeled examples where negatives are known to be, then estimate (SuMPE).

    Assumes: the purity of the highest scores is known (``ceiling``); labels are clean.

    Known to fail: off by the factor by which the ceiling is off.

    Where negatives are found among the positives at every score, estimators of alpha come out
    too high. If one knows how pure the highest scores are, say since some of those examples
    were looked at, a part of the unlabeled with high scores can be rejected so that what is
    left has a pure region.

    Parameters
    ----------
    estimator : PriorEstimator, optional
        The estimator to run, on all and then on what is left. Default:
        :class:`MedianEnsemble`.
    ceiling : float, default=1.0
        Share of positives among the unlabeled examples where it is largest, at the highest
        scores. Scores and labels do not tell it. At 1 nothing is rejected, and the estimate is
        that of the estimator.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold ``"unadjusted"``, the estimate before
        rejection, ``"acceptance_rate"``, and ``"run"``, what the estimator has to show.

    See Also
    --------
    Regrouping : Needs no such knowledge, and has no guarantee.

    Notes
    -----
    With the densities :math:`f` of the unlabeled and :math:`g` of the labeled, the chance of
    being positive is :math:`p = \alpha g/f`. If the unlabeled are accepted with a probability
    :math:`A \ge p` that touches :math:`p` somewhere, the accepted ones hold no negatives there,
    the inclusion of :math:`g` in their density is :math:`a' = \alpha/c`, where :math:`c` is the
    rate of acceptance, and :math:`\alpha = c\,a'`. Of the functions that do, this one is
    smooth and keeps the order of the scores:

    .. math:: A = 1 - (1-q)\,\rho, \qquad \rho = \min(1, \hat a\,\hat r),

    with the ceiling :math:`q`, the estimate :math:`\hat a` before rejection and the ratio
    :math:`\hat r` of :math:`g` to :math:`f` from isotonic regression of the labels. It exceeds
    :math:`p = q\rho` by :math:`1-\rho`. Examples are not rejected at random but counted in
    part, which has the same mean and no further noise. In large samples the result is
    :math:`q \hat a`.

    The estimate is as good as the ceiling: one that is too low makes alpha too low by the same
    factor. Replicates of the bootstrap keep the ceiling and the acceptance of the data.

    References
    ----------
    Zhu, Fjeldsted, Holland, Landon, Lintereur & Scott (2023), "Mixture proportion estimation
    beyond irreducibility", ICML.

    Examples
    --------
    >>> import purecover as pu
    >>> world = pu.simulate.laplace(separation=1)  # the highest scores are 47 % positive
    >>> sample = world.sample(2000, 2000, alpha=0.25, random_state=0)
    >>> plain = pu.estimators.BBE().fit(sample.scores, sample.labeled)
    >>> known = pu.estimators.Subsampling(pu.estimators.BBE(), ceiling=0.47).fit(
    ...     sample.scores, sample.labeled
    ... )
    >>> round(plain.proportions_.alpha, 1), round(known.proportions_.alpha, 1)
    (0.5, 0.2)
    """

    reference: ClassVar[str] = "Zhu, Fjeldsted, Holland, Landon, Lintereur & Scott, ICML 2023"

    ceiling: float = checked(1.0, valid.check_real, low=0, high=1, closed="right")

    def _estimate(self, counts: ScoreCounts) -> Inclusions:
        inner = inner_of(self.estimator)
        first = run = inner._estimate(counts)
        rate = 1.0
        notes: tuple[str, ...] = ("the highest scores were taken as pure: nothing was rejected",)
        if self.ceiling < 1:
            left = _accepted(counts, self._acceptance(counts, first.a))
            run, notes = inner._estimate(left), ()
            rate = float(left.n_unlabeled / counts.n_unlabeled)
        details: dict[str, Any] = {
            "unadjusted": float(first.a),
            "acceptance_rate": rate,
            "at_edge": run.at_edge,
            "identifiable": run.identifiable,
            "run": dict(run.details),
        }
        return Inclusions(rate * run.a, 0.0, (*run.notes, *notes), details)

    def _estimate_many(
        self, counts: ScoreCounts, labeled: CountArray, unlabeled: CountArray
    ) -> FloatArray:
        inner = inner_of(self.estimator)
        if self.ceiling == 1:
            return inner._estimate_many(counts, labeled, unlabeled)
        accept = self._acceptance(counts, inner._estimate(counts).a)
        left = _accepted(counts, accept)
        found = inner._estimate_many(left, labeled, unlabeled * accept)
        # From inclusions in what was left to those in all.
        totals = unlabeled.sum(axis=1, dtype=np.float64)
        kept = np.asarray(unlabeled @ accept, dtype=np.float64)
        rate = np.divide(kept, totals, out=np.full(totals.size, np.nan), where=totals > 0)
        return np.asarray(found * rate[:, None])

    def _acceptance(self, counts: ScoreCounts, inclusion: float) -> FloatArray:
        """Probability of being kept, at each threshold."""
        return 1 - (1 - self.ceiling) * np.minimum(1.0, inclusion * _ratio(counts))


def _ratio(counts: ScoreCounts) -> FloatArray:
    """Ratio of the labeled to the unlabeled density, which never falls as scores rise."""
    share = base.falling_shares(
        counts.labeled / counts.n_labeled, counts.unlabeled / counts.n_unlabeled
    )
    # Where only labeled examples are, the ratio is as large as can be; it is cut anyway.
    return share / np.maximum(1 - share, 1e-12)


def _accepted(counts: ScoreCounts, accept: FloatArray) -> ScoreCounts:
    squares = None if counts.unlabeled_sq is None else counts.unlabeled_sq * accept**2
    return replace(counts, unlabeled=counts.unlabeled * accept, unlabeled_sq=squares)


# -- `ClusteredLabels`: alpha where some kinds of positives get labeled more often than others ---


MOST_CLUSTERS = 8
FEWEST_LABELED = 50
"""With as many labeled examples for each, another cluster is considered."""

MOST_CLUSTERED = 5_000
"""Of more labeled rows, as many drawn at random decide what the clusters are."""

OVERLAP = 0.05
"""Components of which so many rows would be taken for another's are merged with it."""

HELD_OUT = 0.3
"""Share of the labeled rows whose likelihood decides how many clusters there are."""

_MOST_FULL = 10


@register_prior_estimator("clustered")
@dataclass(eq=False, repr=False)
class ClusteredLabels(FeaturePriorEstimator):
    r"""Sum over clusters of the labeled positives, each estimated on its own.

    Assumes: labels are random within each cluster of positives, and each cluster is pure somewhere;
    labels are clean.

    Known to fail: kinds that were never labeled are missing; errors of overlapping clusters add up;
    wrong labels make a cluster of their own.

    Most estimators of alpha assume that labeled positives are a random sample of all positives.
    Here they need be one only within each cluster: some kinds of positives may be labeled often
    and others rarely.

    Parameters
    ----------
    estimator : PriorEstimator, optional
        The estimator to run on scores, once for each cluster. Default: ``LabelCurve`` with
        labels taken as clean.
    n_clusters : int or "auto", default="auto"
        Number of clusters of the labeled positives. If "auto", from 1 to 8 by how likely a
        Gaussian mixture makes rows that it was not fitted to, with 50 labeled examples for each
        at least, of which those that overlap are then merged; 1 for a single column, which may
        be a score: positives with low scores are no kind of their own.
    classifier : scikit-learn classifier, optional
        What tells labeled examples of a cluster from unlabeled ones; needs
        ``decision_function`` or ``predict_proba``. Default: logistic regression on the features,
        their squares and products; above 20 features, the better of one without the latter two
        and of quadratic discriminant analysis.
    random_state : int, numpy.random.Generator or None, default=0
        Draws folds and the starts of the clustering.

    Attributes
    ----------
    proportions_, interval_, diagnostics_
        See :class:`PriorEstimator`. The diagnostics hold ``"n_clusters"`` and, for each cluster,
        ``"labeled"``, its share of the labeled, and ``"alphas"``, its estimated share of the
        unlabeled.

    See Also
    --------
    scar_test : Whether there is reason to doubt that labels are random.

    Notes
    -----
    Let :math:`f_k` be the density of the positives of kind :math:`k`, :math:`k = 1, \ldots, K`,
    and :math:`\alpha_k` their share of the unlabeled. Labeled examples have the density
    :math:`g = \sum_k \lambda_k f_k` with shares :math:`\lambda_k` of their own. If
    :math:`\lambda_k \ne \alpha_k/\alpha`, the largest share of :math:`g` inside the unlabeled
    density is :math:`\min_k \alpha_k/\lambda_k < \alpha` at best, so that alpha comes out too
    low. Labeled examples of cluster :math:`k` against all unlabeled ones tell :math:`\alpha_k`,
    and

    .. math:: \alpha = \sum_{k=1}^K \alpha_k.

    Each classifier scores examples that it was not trained on.

    One kind that is not normal, say skewed, is described by several normal components side by
    side. Were each taken for a kind, each :math:`\alpha_k` would err upward. So with "auto",
    two components are merged as long as the probability that a row of one is assigned to the
    other, as estimated from the mixture, exceeds 0.05 for some pair, the largest first. Kinds
    that overlap as much are merged too: give their number.

    Assumed is that the clusters found are the kinds of positives; that within each labels are
    random; and that each has a region where neither negatives nor the other kinds are found.
    A kind that is never labeled cannot be found, and its share is missing from alpha. Negatives
    labeled by mistake make a cluster, and then nearly all negatives count as positives. Where
    clusters overlap, or where labels were random after all, each :math:`\alpha_k` errs upward
    on its own, and errors add up: prefer the plain estimator unless there is a reason.

    References
    ----------
    Kumar & Lambert (2023), "Positive unlabeled learning selected not at random", PeerJ Computer
    Science. Hennig (2010), "Methods for merging Gaussian mixture components", Advances in Data
    Analysis and Classification 4. Jain, Delano, Sharma & Radivojac (2020), "Class prior
    estimation with biased positives and unlabeled examples", AAAI.

    Examples
    --------
    Of two kinds of positives, equally frequent, one is labeled nine times as often.

    >>> import numpy as np
    >>> import purecover as pu
    >>> rng = np.random.default_rng(0)
    >>> centers = np.array([[4, 0], [0, 4], [0, 0]])
    >>> kind = np.repeat([0, 1, 0, 1, 2], [450, 50, 400, 400, 1200])
    >>> X, labeled = centers[kind] + rng.normal(size=(2500, 2)), np.arange(2500) < 500
    >>> estimator = pu.estimators.ClusteredLabels().fit(X, labeled)
    >>> estimator.diagnostics_["n_clusters"], round(estimator.proportions_.alpha, 1)
    (2, 0.4)
    """

    reference: ClassVar[str] = "Kumar & Lambert, PeerJ Computer Science 2023"

    estimator: PriorEstimator | None = None
    _: KW_ONLY
    n_clusters: int | Literal["auto"] = "auto"
    classifier: Any = None
    random_state: RandomState = checked(0, valid.check_seeding)

    def _check_params(self) -> None:
        super()._check_params()
        check_one_sided(self.estimator, "for noisy labels write NoisyLabels(ClusteredLabels())")
        if isinstance(self.n_clusters, str):
            if self.n_clusters != "auto":
                must = "'auto' or a whole number of at least 1"
                raise valid.bad_type("n_clusters", must, self.n_clusters)
        else:
            valid.check_integer("n_clusters", self.n_clusters, low=1)
        check_classifier(self.classifier)

    def _estimate_rows(self, rows: Rows, rng: np.random.Generator) -> Inclusions:
        cluster = self._clusters(rows.labeled, rng)
        names, sizes = np.unique(cluster, return_counts=True)
        runs = [
            self._run(Rows(rows.labeled[cluster == name], rows.unlabeled), rng) for name in names
        ]
        notes: list[str] = []
        for k, run in enumerate(runs):
            prefix = f"cluster {k + 1} of {len(names)}: " if len(names) > 1 else ""
            notes += [prefix + note for note in run.notes]
        if self.n_clusters != "auto" and len(names) < self.n_clusters:
            notes.append(f"only {len(names)} clusters could be told apart")
        alphas = tuple(float(run.a) for run in runs)
        details: dict[str, Any] = {
            "n_clusters": len(names),
            "labeled": tuple((sizes / sizes.sum()).tolist()),
            "alphas": alphas,
            "identifiable": all(run.identifiable for run in runs),
        }
        return Inclusions(float(np.sum(alphas)), 0.0, tuple(notes), details)

    def _run(self, rows: Rows, rng: np.random.Generator) -> Inclusions:
        """What part of the unlabeled is like the labeled of one cluster."""
        pool = np.concatenate(out_of_fold_scores(rows, self.classifier, rng))
        counts = ScoreCounts.from_scores(pool, np.arange(pool.size) < rows.n_labeled)
        return self._inner()._estimate(counts)

    def _label_rates(
        self, rows: Rows, sizes: tuple[int, int], rng: np.random.Generator
    ) -> LabelRates | None:
        """How often positives of each kind are labeled; None if features show one kind only.

        ``sizes`` are the numbers of labeled and unlabeled rows that these were drawn from.
        """
        cluster = self._clusters(rows.labeled, rng)
        names, seen = np.unique(cluster, return_counts=True)
        if names.size == 1:
            return None
        runs = [
            self._run(Rows(rows.labeled[cluster == name], rows.unlabeled), rng) for name in names
        ]
        # Unlabeled positives of each kind: the ends of an interval, and the estimate.
        shares = np.array([(*run.details["alpha_interval"], run.a) for run in runs])
        labeled = sizes[0] * seen / seen.sum()
        high, low, odds = (labeled[:, None] / np.maximum(shares * sizes[1], 0.5)).T
        rates = odds / (1 + odds)
        return LabelRates(
            n_kinds=names.size,
            lowest=float(rates.min()),
            highest=float(rates.max()),
            surely_unlike=float(low.max() / high.min()),
        )

    def _inner(self) -> PriorEstimator:
        return LabelCurve(clean="always") if self.estimator is None else base.clone(self.estimator)

    def _clusters(self, labeled: FloatArray, rng: np.random.Generator) -> IntArray:
        """Number of the cluster each labeled row belongs to."""
        from sklearn.preprocessing import StandardScaler

        X = np.clip(Rows(labeled.copy(), labeled[:0].copy()).scaled().labeled, -FAR, FAR)
        X = StandardScaler().fit_transform(X)
        distinct = len(np.unique(X, axis=0))
        if self.n_clusters == "auto":
            most = min(MOST_CLUSTERS, len(X) // FEWEST_LABELED, distinct) if X.shape[1] > 1 else 1
            numbers = list(range(1, max(most, 1) + 1))
        else:
            numbers = [min(self.n_clusters, distinct)]
        if numbers[-1] == 1:
            return np.zeros(len(X), dtype=np.int64)
        some = X[np.sort(rng.choice(len(X), min(len(X), MOST_CLUSTERED), replace=False))]
        with threadpool_limits(1):  # threads cost k-means and small algebra more than they gain
            best = _likeliest(some, numbers, rng)
            if self.n_clusters != "auto":
                return np.asarray(best.predict(X), dtype=np.int64)
            shares = merged(best.predict_proba(X), OVERLAP)
        # Rows of a component too small for a kind belong to the next likeliest.
        while (sizes := np.bincount(shares.argmax(axis=1), minlength=shares.shape[1])).size > 1:
            if sizes.min() >= FEWEST_LABELED:
                break
            shares = np.delete(shares, int(sizes.argmin()), axis=1)
        return shares.argmax(axis=1)


def merged(shares: FloatArray, limit: float) -> FloatArray:
    """Components merged until none is mistaken for another as often.

    Parameters
    ----------
    shares : ndarray of shape (n, n_components)
        Probability of each component, for each row.
    limit : float
        Largest probability, in [0, 1], that a row of one is assigned to another.
    """
    while shares.shape[1] > 1:
        n = shares.shape[1]
        given = np.arange(n) == shares.argmax(axis=1)[:, None]
        # Rows of the second, in expectation, that are given to the first.
        mistaken = (given.T.astype(np.float64) @ shares) / np.maximum(shares.sum(axis=0), 1e-300)
        np.fill_diagonal(mistaken, 0)
        to, gone = divmod(int(mistaken.argmax()), n)
        if mistaken[to, gone] <= limit:
            break
        shares = shares.copy()
        shares[:, to] += shares[:, gone]
        shares = np.delete(shares, gone, axis=1)
    return shares


def _likeliest(X: FloatArray, numbers: list[int], rng: np.random.Generator) -> Any:
    """The mixture that makes rows it has not seen likeliest, fitted to all."""
    held = rng.permutation(len(X)) < len(X) * HELD_OUT
    best, highest = (numbers[0], "full"), -np.inf
    for k in numbers:
        shapes = ["full"] if X.shape[1] <= _MOST_FULL else ["diag", "full"]
        found = {each: _mixture(k, each, X[~held], rng).score(X[held]) for each in shapes}
        shape = max(found, key=lambda each: found[each])
        if found[shape] <= highest:  # one more no longer helps, nor would two
            break
        best, highest = (k, shape), found[shape]
    return _mixture(*best, X, rng)


def _mixture(k: int, shape: str, X: FloatArray, rng: np.random.Generator) -> Any:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    mixture = GaussianMixture(
        k,
        covariance_type=shape,
        reg_covar=1e-2,
        n_init=2,
        random_state=int(rng.integers(2**31)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return mixture.fit(X)
