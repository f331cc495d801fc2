r"""The figures of a partition, and whether it differs from those before it.

Under the hypothesis of no drift, labeled scores of all partitions have one distribution, and
unlabeled ones another. Look number :math:`t` may raise a false alarm with probability
:math:`\epsilon/(t(t+1))`; these sum to :math:`\epsilon`, so that the probability that any look
ever does is at most :math:`\epsilon`, whether or not the looks depend on each other. Figures that
are tested in one look share its part equally.

Bins cut at quantiles of each day would overlap those of the next; added up, overlapping bins are
one, and after some days little would be left. Here a bin is a cell of one fixed tree of nested
intervals, and cells of any two days are the same, nested or apart.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from purecover import _validation as valid
from purecover._codec import Saved, plain_fields
from purecover._inputs import is_equal
from purecover._typing import BoolArray, CountArray, FloatArray, Scenario
from purecover._validation import Frozen
from purecover.checks import CHECKS, CheckContext
from purecover.checks.catalog import warnings_of_data
from purecover.counts import ScoreCounts, pu_roc_curve
from purecover.estimators.choice import KnownBeta, check_estimator, with_clean_labels
from purecover.estimators.estimate import PriorEstimate
from purecover.exceptions import IdentifiabilityError, PurecoverError, RecoveryWarning
from purecover.intervals.interval import Interval, auc_interval
from purecover.intervals.replicates import bootstrap
from purecover.proportions import ASSUMABLE, GivenProportions, MixtureProportions
from purecover.recovery.curves import recover_roc
from purecover.recovery.rates import contradiction_of, effective_sizes, least_delta

if TYPE_CHECKING:
    from purecover.estimators.base import PriorEstimator


# -- What a monitor was told ---------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Settings(Saved):
    """The parameters of a monitor, as a state file keeps them."""

    alpha: float | None
    beta: float | None
    prior: float | None
    label_frequency: float | None
    scenario: Scenario | None
    estimator: str | None
    window: int
    false_alarms: float
    confidence_level: float
    n_resamples: int
    max_thresholds: int
    random_state: int
    columns: dict[str, str]
    threshold: float | None
    assume: tuple[str, ...]

    @property
    def given(self) -> GivenProportions:
        """What is known of alpha and beta."""
        return GivenProportions.among(vars(self)).validated(can_estimate=True)

    def require(self, wanted: Mapping[str, Any]) -> None:
        """Complain of settings that are not these; files may name their columns anew."""
        mine = self.to_dict()
        for key, value in wanted.items():
            if key == "assume":
                value = sorted(valid.check_names(key, value, ASSUMABLE))  # noqa: PLW2901
            if key != "columns" and not is_equal(value, mine[key]):
                must = f"{valid.show(mine[key])}, as in the state file"
                hint = "leave it out, or start a new state file"
                raise valid.bad_value(key, must, valid.show(value), hint)


# -- The figures of one partition ----------------------------------------------------------------


_OBSERVED = MixtureProportions(0.0, 1.0)
"""With these the recovered figures are the observed ones."""


def figures(counts: ScoreCounts, settings: Settings) -> dict[str, Any]:
    """AUCs, alpha and beta with intervals, and findings, as fields of a partition."""
    given, level = settings.given, settings.confidence_level
    found: dict[str, Any] = {
        "auc_pu": auc_interval(counts, _OBSERVED, confidence_level=level),
        "alpha": None,
        "beta": None,
        "auc": None,
    }
    if given.ways:
        used = given.resolve(counts)
        alpha = _made_interval(used.alpha, used.alpha, level, "given")
        found |= {"alpha": alpha, "beta": used.beta}
        if told := contradiction_of(counts, used):
            return found | {"note": f"{told}."}  # which says more than any check
        found["findings"] = _findings(counts, used, given)
        return found | {"auc": auc_interval(counts, used, confidence_level=level)}
    estimator = make_estimator(given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecoveryWarning)
        try:
            estimator.fit(counts)
            used = given.estimated(estimator.proportions_)
            direct = min(max(0.5 + (counts.auc_pu - 0.5) / used.delta, 0.0), 1.0)
            alpha, auc = (
                _made_interval(value, math.nan, level, "no interval")
                for value in (used.alpha, direct)
            )
            found |= {"alpha": alpha, "beta": used.beta, "auc": auc}
            own = given.beta is None and estimator.interval_method != "bootstrap"
            if own:
                found["alpha"] = estimator.interval(confidence_level=level)["alpha"]
            if settings.n_resamples:
                drawn = bootstrap(
                    counts,
                    used,
                    estimator=estimator if given.beta is None else KnownBeta(estimator, given.beta),
                    metrics=["roc_auc"],
                    curves=False,
                    n_resamples=settings.n_resamples,
                    confidence_level=level,
                    random_state=settings.random_state,
                )
                found["auc"] = drawn.interval("roc_auc")
                if not own:
                    found["alpha"] = drawn.interval("alpha")
        except IdentifiabilityError as error:
            found["note"] = str(error).partition("\n")[0]
    if (alpha := found["alpha"]) is not None:
        estimate = PriorEstimate(
            estimator=str(given.estimator or "reference"),
            proportions=used,
            intervals={"alpha": alpha} if math.isfinite(alpha.width) else {},
            # Other samples that allow no estimate make this one a guess.
            identifiable=bool(estimator.diagnostics_["identifiable"]) and "note" not in found,
        )
        found["findings"] = _findings(counts, used, given, estimate)
    return found


def _findings(
    counts: ScoreCounts,
    used: MixtureProportions,
    given: GivenProportions,
    estimate: PriorEstimate | None = None,
) -> tuple[str, ...]:
    """Codes of the checks that warn of a partition."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecoveryWarning)
        roc = recover_roc(counts, used)
        context = CheckContext(
            counts=counts,
            proportions=used,
            roc=roc,
            estimation=estimate,
            beta_given=given.says_beta,
        )
        found = warnings_of_data(check.run(context) for check in CHECKS.values())
        return tuple(each.code for each in found)


def make_estimator(given: GivenProportions) -> PriorEstimator:
    """A new estimator, told if labels are known to be clean."""
    estimator = check_estimator(given.estimator)
    with_clean_labels(estimator, given.beta)
    return estimator


def _made_interval(value: float, end: float, level: float, method: str) -> Interval:
    return Interval(estimate=value, low=end, high=end, confidence_level=level, method=method)


# -- What is kept of a partition, and of its comparison with those before it ---------------------


@dataclass(frozen=True, kw_only=True)
class DriftTest:
    """One figure of a partition beside that of the partitions before it.

    Attributes
    ----------
    value, before : float
        The figure, from the new partition and from those before it together. Of distributions
        of scores the value is their distance from those before, which have none.
    difference : float
        ``value - before``.
    z : float
        The difference, less what it would be on average without drift, in standard errors.
    p_value : float
        Probability of a difference at least so large without drift; larger than that of ``z`` by
        a normal distribution where areas are skewed.
    limit : float
        The difference counts as drift where ``p_value`` is at most this.
    """

    value: float
    before: float
    difference: float
    z: float
    p_value: float
    limit: float

    @property
    def drifted(self) -> bool:
        """Whether the difference is beyond chance."""
        return self.p_value <= self.limit

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return plain_fields(self, "drifted")


@dataclass(frozen=True, kw_only=True, eq=False)
class MonitorDrift(Frozen):
    """Whether a partition differs from those before it beyond chance.

    Attributes
    ----------
    look : int
        The how manyth comparison this was, among all that were ever made.
    n_before : int
        How many partitions it was compared with.
    spent : float
        The part of the false-alarm probability that this look may spend.
    tests : mapping of str to DriftTest
        By figure: ``"auc"``, the recovered AUC; where alpha is estimated also ``"alpha"`` and
        ``"auc_pu"``, the observed AUC; ``"flagged"``, the share of unlabeled scores at or above
        the threshold, if there is one; ``"labeled"`` and ``"unlabeled"``, the largest
        difference between the distribution functions of these scores and those before. Empty
        where nothing could be compared.
    note : str or None
        Why something could not be compared.
    """

    look: int
    n_before: int
    spent: float
    tests: Mapping[str, DriftTest] = field(default_factory=dict)
    note: str | None = None

    @property
    def drifted(self) -> bool:
        """Whether any figure differs beyond chance."""
        return any(test.drifted for test in self.tests.values())

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return plain_fields(self, "drifted")


@dataclass(frozen=True, kw_only=True, eq=False)
class MonitorPartition:
    """A partition of a :class:`ScoreMonitor`: its figures, and its counts while they are kept.

    Attributes
    ----------
    name : str
        What it was called, such as a date.
    added : str
        When it was added, in UTC.
    n_labeled, n_unlabeled, n_negative : float
        Its examples.
    auc_pu : Interval
        The observed AUC.
    alpha : Interval or None
        Share of positives among the unlabeled. Of a given one the ends are the value itself;
        None if there is no estimate.
    beta : float or None
        Share of positives among the labeled.
    auc : Interval or None
        The recovered AUC.
    flagged : float or None
        Share of unlabeled scores at or above the threshold, if there is one.
    drift : MonitorDrift or None
        How it compares with the partitions before it; None for the first.
    note : str or None
        Why there is no estimate or no interval, if so.
    findings : tuple of str
        Codes of the warnings that :func:`evaluate` gives, too, but for those of a threshold or of
        other estimators. After PU017 alpha is a guess, and ``auc`` the recovered AUC if it is
        right.
    counts : ScoreCounts or None
        The counts, in bins if there were many distinct scores; None once the partition has left
        the window and its counts are only part of the total.
    """

    name: str
    added: str
    n_labeled: float
    n_unlabeled: float
    n_negative: float
    auc_pu: Interval
    alpha: Interval | None
    beta: float | None
    auc: Interval | None
    flagged: float | None = None
    drift: MonitorDrift | None = None
    note: str | None = None
    findings: tuple[str, ...] = ()
    counts: ScoreCounts | None = None

    @property
    def contradicted(self) -> bool:
        """Whether its scores contradict the alpha and beta given, as ``note`` says."""
        return self.auc is None and self.alpha is not None and self.alpha.method == "given"

    def to_dict(self, *, counts: bool = False) -> dict[str, Any]:
        """Plain data, ready for JSON; with counts, if they are kept, only when asked."""
        document = plain_fields(self)
        if not counts:
            del document["counts"]
        return document


# -- Counts in bins of a grid that no data choose, so that those of different days add up --------


Keys = np.ndarray[Any, np.dtype[np.uint64]]

_SIGN = np.uint64(1 << 63)
_HALF = np.uint64(0x3FE0_0000_0000_0000 | 1 << 63)  # the key of 0.5
_SHIFT = np.uint64(52 << 52)  # how much room the numbers from 0.5 to 1 take beyond their own


def binned(counts: ScoreCounts, max_thresholds: int) -> ScoreCounts:
    """Counts in at most so many bins, none of which has much more than its share; or as they are.

    Bins are cells of the tree of all doubles (halved by sign, exponent and digits), as large as
    they can be with at most a certain share of the labeled and unlabeled examples. Where one
    score has more, it stays alone.
    """
    share = 1 / max_thresholds
    while counts.n_thresholds > max_thresholds:
        counts = counts._grouped(np.flatnonzero(_first_of_cells(counts, share)))
        share *= math.sqrt(2)
    return counts


def _first_of_cells(counts: ScoreCounts, share: float) -> BoolArray:
    """Which thresholds, from the highest, start a bin."""
    first = np.ones(counts.n_thresholds, dtype=np.bool_)
    if share >= 1:
        first[1:] = False
        return first
    tallies = [t for t in (counts.labeled, counts.unlabeled, counts.negative) if t is not None]
    mass = np.mean([t / max(t.sum(), 1e-300) for t in tallies], axis=0)
    total = np.append(0.0, np.cumsum(mass))
    low, high = _keys(counts.thresholds), _keys(counts._tops())
    for shift in range(64):
        level = np.uint64(shift)
        # A bin that lies across the end of a cell makes one of the two.
        joined = np.append(False, (high[1:] >> level) == (low[:-1] >> level))
        if not joined.any():
            continue
        starts = np.flatnonzero(~joined)
        small = np.diff(np.append(total[starts], total[-1])) <= share
        first &= ~(joined & small[np.cumsum(~joined) - 1])
    return first


def _keys(scores: FloatArray) -> Keys:
    """Whole numbers in the order of the scores, whose leading digits name cells of the tree.

    Doubles lie ever closer towards 0; between 0.5 and 1 cells shall do so towards 1, where
    probabilities crowd. There 1 - score is exact.
    """
    above = (scores >= 0.5) & (scores < 1)
    bits = np.where(above, 1 - scores, scores + 0.0).view(np.uint64)
    keys = np.where(bits & _SIGN, ~bits, bits | _SIGN)
    keys = np.where(above, _HALF + (_HALF - np.where(above, keys, _HALF)), keys)
    most = np.uint64(2**64 - 1) - _SHIFT
    return np.where(scores >= 1, np.minimum(keys, most) + _SHIFT, keys)


# -- How often chance alone makes a difference of areas so large, where areas are skewed ---------


_STRAIGHT = 1e-4
"""Skewness below which Pearson's curve and the normal one are the same to all that is shown."""


def two_sided(z: float, skewness: float) -> float:
    r"""The larger of two p-values: of a normal distribution, and of a skewed one.

    Parameters
    ----------
    z : float
        A difference in standard errors.
    skewness : float
        Third standardized cumulant :math:`\gamma` that such differences have by chance.

    Returns
    -------
    float
        Twice the smaller tail beyond ``z``, by whichever distribution has more there.

    Notes
    -----
    The skewed distribution is Pearson's type III, a shifted gamma distribution of shape
    :math:`k=4/\gamma^2` with mean 0 and variance 1. Its long tail is heavier than the normal one
    and its short tail lighter, of which the skewness, itself an estimate, gives no safe account:
    there the normal tail stands.

    Examples
    --------
    >>> from purecover.monitoring.drift import two_sided
    >>> [f"{two_sided(z, -0.6):.1g}" for z in (-4, 4)]
    ['0.002', '6e-05']
    """
    from scipy.special import gammainc, gammaincc

    normal = math.erfc(abs(z) / math.sqrt(2))
    if abs(skewness) < _STRAIGHT:
        return normal
    shape = 4 / skewness**2
    # As if the long tail were on the right.
    place = max(shape + math.copysign(math.sqrt(shape), skewness) * z, 0.0)
    skewed = 2 * min(float(gammainc(shape, place)), float(gammaincc(shape, place)))
    return min(max(normal, skewed), 1.0)


# -- Whether a partition differs from those before it, with a bound of false alarms over all looks


_DRAWS = 200
"""Most pairs of samples drawn for one comparison: enough for a standard error."""
FEWEST = 20
"""Labeled and unlabeled examples that either side must have: moments mean little below."""
_MAX_BINS = 2**11
"""Bins in which alpha is compared; it is estimated some hundred times in them."""


def share_of_look(look: int, false_alarms: float) -> float:
    """What a look may spend of the probability of a false alarm."""
    return false_alarms / (look * (look + 1))


def compare(
    new: ScoreCounts, before: list[ScoreCounts], settings: Settings, look: int
) -> MonitorDrift:
    """Compare the counts of a partition with the sum of those before it."""
    given, threshold = settings.given, settings.threshold
    spent = share_of_look(look, settings.false_alarms)
    reference = sum(before[1:], start=before[0])
    few = _too_few(new, reference)
    if few is not None:
        return MonitorDrift(look=look, n_before=len(before), spent=0.0, note=few)
    note = None
    if given.ways:
        deltas = [given.resolve(counts).delta for counts in (new, reference)]
        found = {"auc": _observed(new, reference, *deltas)}
        pairs = zip((new, reference), deltas, strict=True)
        if any(least_delta(counts) > delta for counts, delta in pairs):
            note = "alpha and beta contradict the scores: only the observed AUC is compared"
            found = {"auc_pu": _observed(new, reference, 1.0, 1.0)}
    else:
        found = {"auc_pu": _observed(new, reference, 1.0, 1.0)}
        if new.is_weighted or reference.is_weighted:
            note = "alpha of weighted rows is not compared, only the observed AUC"
        elif not settings.n_resamples:
            note = "alpha is not compared without resamples, only the observed AUC"
        else:
            rng = np.random.default_rng([settings.random_state, look])
            n_draws = min(settings.n_resamples, _DRAWS)
            try:
                estimator = make_estimator(given)
                quick = estimator._for_draws()
                found |= _estimated(new, reference, given, quick, n_draws, rng)
                if quick is not estimator:
                    note = "alpha and AUC are compared as label-curve, which is quick, finds them"
            except PurecoverError as error:
                note = f"alpha is not compared: {str(error).partition(chr(10))[0]}"
    found |= _distributions(new, reference)
    if threshold is not None:
        found["flagged"] = _flagged(new, reference, threshold)
    limit = spent / len(found)
    tests = {name: replace(test, limit=limit) for name, test in found.items()}
    moved = [tests[side].drifted for side in ("labeled", "unlabeled")]
    if note is None and given.alpha is not None and moved == [False, True]:
        note = f"alpha may have changed, and the recovered AUC takes it as {given.alpha:g}: "
        note += "positives look as before, the unlabeled do not"
    return MonitorDrift(look=look, n_before=len(before), spent=spent, tests=tests, note=note)


def _test(value: float, before: float, z: float, p_value: float) -> DriftTest:
    """A test whose limit is set once it is known how many share a look."""
    return DriftTest(
        value=value, before=before, difference=value - before, z=z, p_value=p_value, limit=0.0
    )


def _by_moments(value: float, before: float, variance: float, third: float) -> DriftTest:
    """A test by variance and third cumulant of the difference; nothing varies without variance."""
    if not variance > 0:
        return _test(value, before, math.copysign(0.0, value - before), 1.0)
    z = (value - before) / math.sqrt(variance)
    return _test(value, before, z, two_sided(z, third / variance**1.5))


def _too_few(new: ScoreCounts, reference: ScoreCounts) -> str | None:
    for which, counts in (("it has", new), ("those before it have", reference)):
        for kind, size in zip(("labeled", "unlabeled"), effective_sizes(counts), strict=True):
            if size < FEWEST:
                return f"{which} {size:.3g} {kind} rows, and {FEWEST} are needed to compare"
    return None


# -- the scores themselves --------------------------------------------------------------------


def _distributions(new: ScoreCounts, reference: ScoreCounts) -> dict[str, DriftTest]:
    r"""Kolmogorov's and Smirnov's distances of labeled and of unlabeled scores.

    Areas compare labeled with unlabeled scores and remain as they are where all scores move
    together. With :math:`n = n_1 n_2/(n_1+n_2)` the distance D has Kolmogorov's distribution of
    :math:`\sqrt{n}\,D`, which for small samples and for ties is too large a p-value, not too small.
    """
    from scipy.special import kolmogorov

    grid = new + reference
    found = {}
    sizes = zip(effective_sizes(new), effective_sizes(reference), strict=True)
    for side, (few, many) in zip(("labeled", "unlabeled"), sizes, strict=True):
        tallies = [_on_grid(grid, counts, side) for counts in (new, reference)]
        one, other = (np.cumsum(tally) / tally.sum() for tally in tallies)
        distance = float(np.abs(one - other).max())
        z = math.sqrt(few * many / (few + many)) * distance
        found[side] = _test(distance, 0.0, z, float(kolmogorov(z)))
    return found


def flagged(counts: ScoreCounts, threshold: float) -> float:
    """Share of unlabeled scores at or above a threshold."""
    return float(counts.unlabeled[counts.thresholds >= threshold].sum()) / counts.n_unlabeled


def _flagged(new: ScoreCounts, reference: ScoreCounts, threshold: float) -> DriftTest:
    """Shares at or above the threshold, by the spread and the skewness of both together."""
    value, before = (flagged(counts, threshold) for counts in (new, reference))
    few, many = (effective_sizes(counts)[1] for counts in (new, reference))
    share = (few * value + many * before) / (few + many)
    spread = share * (1 - share)
    third = spread * (1 - 2 * share) * (1 / few**2 - 1 / many**2)
    return _by_moments(value, before, spread / few + spread / many, third)


# -- where alpha is known ---------------------------------------------------------------------


def _observed(
    new: ScoreCounts, reference: ScoreCounts, delta_new: float, delta_reference: float
) -> DriftTest:
    r"""Recovered areas of two independent samples, by moments of both together.

    Without drift both samples have the variances :math:`S^2_{10}` and :math:`S^2_{01}` of the
    placements of all scores, by DeLong, which are known far better than those of a small partition
    alone. So have their third central moments :math:`M_{10}` and :math:`M_{01}`: the third
    cumulant of an area is :math:`M_{10}/n_L^2 + M_{01}/n_U^2`, and that of a difference the
    difference. Where few labeled scores stand above nearly all others, an area has a long lower
    tail, which a normal distribution has not.
    """
    pooled = new + reference
    roc = pu_roc_curve(pooled)
    below = 1 - (roc.fpr_pu[1:] + roc.fpr_pu[:-1]) / 2
    above = (roc.tpr_pu[1:] + roc.tpr_pu[:-1]) / 2
    moments = [
        _moments(below, pooled.labeled, pooled.labeled_sq),
        _moments(above, pooled.unlabeled, pooled.unlabeled_sq),
    ]
    values, variance, third = [], 0.0, 0.0
    for counts, delta in ((new, delta_new), (reference, -delta_reference)):
        values.append(0.5 + (counts.auc_pu - 0.5) / abs(delta))
        for (spread, cube), size in zip(moments, effective_sizes(counts), strict=True):
            variance += spread / size / delta**2
            third += cube / size**2 / delta**3
    found = _by_moments(values[0], values[1], variance, third)
    # By chance the direct AUC of an alpha that is right may be above 1, which none is.
    value, before = (min(max(each, 0.0), 1.0) for each in values)
    return replace(found, value=value, before=before, difference=value - before)


def _moments(
    values: FloatArray, tally: CountArray, squares: FloatArray | None
) -> tuple[float, float]:
    """Unbiased second and third central moments of values that occur so often."""
    weight: CountArray = tally if squares is None else squares
    size = float(tally.sum()) ** 2 / float(weight.sum())
    apart = values - float((tally * values).sum()) / float(tally.sum())
    second, third = (float((weight * apart**k).sum()) / float(weight.sum()) for k in (2, 3))
    return second * size / (size - 1), third * size**2 / ((size - 1) * (size - 2))


# -- where it is estimated --------------------------------------------------------------------


def _estimated(
    new: ScoreCounts,
    reference: ScoreCounts,
    given: GivenProportions,
    estimator: PriorEstimator,
    n_draws: int,
    rng: np.random.Generator,
) -> dict[str, DriftTest]:
    """Alpha and the recovered AUC beside what they are where pairs of samples have no drift.

    Pairs of the same sizes are drawn from both samples together, and all estimates are made the
    same way. So a bias that depends on the size of the sample, as estimators of alpha have it,
    is in the draws too and taken out.
    """
    pooled = binned(new + reference, _MAX_BINS)
    rows: dict[str, list[Any]] = {"labeled": [], "unlabeled": []}
    for counts in (new, reference):
        for side, found in rows.items():
            ours = np.rint(_on_grid(pooled, counts, side)).astype(np.int64)
            shares = getattr(pooled, side) / getattr(pooled, side).sum()
            found += [ours, *rng.multinomial(int(ours.sum()), shares, size=n_draws)]
    columns: tuple[CountArray, CountArray]
    columns = np.array(rows["labeled"]), np.array(rows["unlabeled"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecoveryWarning)
        estimator.fit(pooled)
        alpha, beta = _proportions(estimator, pooled, given, *columns).T
    observed = _areas(*columns)
    with np.errstate(divide="ignore", invalid="ignore"):
        auc = (0.5 + (observed - 0.5) / (beta - alpha)).clip(0, 1)
    half = n_draws + 1
    return {
        name: _beside_draws(values[:half], values[half:])
        for name, values in (("alpha", alpha), ("auc", auc))
    }


def _on_grid(grid: ScoreCounts, counts: ScoreCounts, side: str) -> FloatArray:
    """Counts in the bins of others that hold them."""
    place = np.searchsorted(-grid.thresholds, -counts.thresholds)
    found: Any = np.bincount(place, weights=getattr(counts, side), minlength=grid.n_thresholds)
    return np.asarray(found, dtype=np.float64)


def _proportions(
    estimator: PriorEstimator,
    pooled: ScoreCounts,
    given: GivenProportions,
    labeled: CountArray,
    unlabeled: CountArray,
) -> FloatArray:
    from purecover.estimators.base import proportions_of_many

    # Of the estimates alone: proportions_many may add what a posterior leaves open, which both
    # samples have in common.
    found = proportions_of_many(estimator._estimate_many(pooled, labeled, unlabeled))
    if given.beta is None:
        return found
    alpha, beta = found.T
    return np.column_stack((alpha / beta * given.beta, np.full(alpha.size, given.beta)))


def _areas(labeled: CountArray, unlabeled: CountArray) -> FloatArray:
    """The observed AUC of each row of counts, whose columns are in decreasing order of score."""
    few = labeled / labeled.sum(axis=1, keepdims=True)
    many = unlabeled / unlabeled.sum(axis=1, keepdims=True)
    above = np.cumsum(few, axis=1) - few / 2
    return np.asarray((above * many).sum(axis=1))


def _beside_draws(new: FloatArray, reference: FloatArray) -> DriftTest:
    """The first difference beside all others, by Student's distribution."""
    from scipy.special import stdtr

    differences = new - reference
    difference, drawn = float(differences[0]), differences[1:]
    drawn = drawn[np.isfinite(drawn)]
    if not math.isfinite(difference) or drawn.size < max(differences.size / 2, 20):
        raise PurecoverError("too few samples allow an estimate of alpha below beta")
    center = float(drawn.mean())
    # Draws with longer tails than a normal distribution must not look narrower than they are.
    ends = np.quantile(drawn, [0.025, 0.975]) - center
    scale = max(float(drawn.std(ddof=1)), float(np.abs(ends).max()) / 1.96)
    z = (difference - center) / scale if scale > 0 else 0.0
    p_value = 2 * float(stdtr(drawn.size - 1, -abs(z)))
    return _test(float(new[0]), float(reference[0]), z, p_value)
