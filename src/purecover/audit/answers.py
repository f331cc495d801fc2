r"""Posterior of alpha and beta given scores, judged rows, a past hit rate and ranges.

Draws of alpha and beta from the posterior of the scores are restricted to the ranges and weighted
by the likelihood of the verdicts. Where labels went to positives at random, a draw says how many
positives each stratum of the score has: of the positives a share :math:`F_1` lies in it, of the
unlabeled rows a share :math:`F_U`, of the labeled rows a share :math:`F_L`.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil
from typing import Any, ClassVar, NamedTuple, NoReturn

import numpy as np

from purecover import _validation as valid
from purecover._codec import plain_fields
from purecover._typing import ArrayLike, BoolArray, FloatArray, IntArray, RandomState
from purecover._validation import Frozen, public
from purecover.audit.designs import JudgedRows, ScoredLabels
from purecover.counts import ScoreCounts, auc_pu_variance, cut_of_top
from purecover.estimators.choice import check_estimator, full_name, with_clean_labels
from purecover.exceptions import ContradictionError
from purecover.intervals.ends import interval_ends
from purecover.intervals.interval import Interval, check_level
from purecover.proportions import TOP, Basis, GivenProportions, MixtureProportions
from purecover.recovery.rates import rounded_down

N_DRAWS = 8000
N_RESAMPLES = 1000
"""Draws from the posterior, and replicates of an estimator that draws none."""

ENOUGH, MANY_DRAWS = 1000, 2**17
"""Draws in a range that are enough, and draws of which those in a range are kept."""

ALMOST_SURE = 0.999
"""Confidence of the statement that a range contradicts the scores."""

ANYWHERE = 0.15
"""Weight of a uniform prior added to the posterior of the scores: verdicts that contradict the
scores win. By the interval scores after ten verdicts on the first part of the collection."""

CONFLICT = 0.05
"""Verdicts that the scores make less likely than this contradict them."""

DISAGREE = 0.9
"""Strata that disagree with a larger probability are reported."""

SCALE = 0.7
_SPREADS = np.append(0.0, SCALE * np.tan(np.pi / 2 * (np.arange(8) + 0.5) / 8))
_SPREAD_WEIGHTS = np.append(0.5, np.full(8, 0.5 / 8))
"""How far strata may lie from what the scores say: not at all with probability 1/2, else by a
half-Cauchy distribution, of which these are quantiles."""

_SHIFTS = np.linspace(-8, 8, 161)
_LEAST_PURITY = 1e-3
"""Shifts of the log odds begin no further out than at this share of positives or negatives."""

_EDGE = 1e-9

_NEAR = N_DRAWS // 100
"""Draws that are most like a replicate, of which it is met with one."""


class Strata(NamedTuple):
    """Numbers of rows in each stratum: all, judged, and judged positive."""

    n_unlabeled: IntArray
    n_labeled: IntArray
    judged: IntArray
    positive: IntArray
    labeled_judged: IntArray
    labeled_positive: IntArray
    cut: float = -np.inf
    """Where the first stratum ends."""

    @classmethod
    def above(cls, counts: ScoreCounts, cut: float, positive: int = 0, judged: int = 0) -> Strata:
        """Count the rows on both sides of a cut; the judged ones are unlabeled and above it."""
        high = counts.thresholds >= cut
        n_unlabeled, n_labeled = (
            np.round([side[high].sum(), side[~high].sum()]).astype(np.int64)
            for side in (counts.unlabeled, counts.labeled)
        )
        found, none = np.array([[judged, 0], [positive, 0]]), np.zeros(2, dtype=np.int64)
        return cls(n_unlabeled, n_labeled, found[0], found[1], none, none, cut)

    @classmethod
    def of(cls, judged: JudgedRows) -> Strata:
        """Count the rows of each stratum."""
        positive, n = judged.tally(labeled=False)
        labeled_positive, n_labeled = judged.tally(labeled=True)
        design = judged.design
        sizes = design.n_unlabeled, design.n_labeled
        return cls(*sizes, n, positive, n_labeled, labeled_positive, design.cuts[0])


class Purity(NamedTuple):
    """Shares of positives by draw and stratum, where labels went to positives at random."""

    of_unlabeled: FloatArray
    of_labeled: FloatArray
    share: FloatArray
    """Of the unlabeled rows in each stratum."""
    ratio: FloatArray
    """Of the labeled rows in each stratum, to that of the unlabeled ones."""
    possible: BoolArray
    """Whether a draw leaves no negative number of positives or negatives in a stratum."""

    @classmethod
    def of(cls, shares: FloatArray, strata: Strata, rng: np.random.Generator) -> Purity:
        """Follow from alpha and beta, with the sampling error of the counts."""
        alpha, beta = shares[:, :1], shares[:, 1:]
        f_u, f_l = (
            rng.dirichlet(sizes + 1 / sizes.size, len(shares)).clip(_EDGE)
            for sizes in (strata.n_unlabeled, strata.n_labeled)
        )
        f_1 = ((1 - alpha) * f_l - (1 - beta) * f_u) / (beta - alpha)
        hidden = alpha * strata.n_unlabeled.sum() * f_1
        hidden = rng.standard_gamma(hidden.clip(0) + 1 / f_1.shape[1])  # scaled: Dirichlet draws
        of_unlabeled = alpha * hidden / hidden.sum(axis=1, keepdims=True) / f_u
        of_labeled = np.where(beta == 1, 1.0, beta * f_1 / f_l)  # exact: one negative refutes it
        possible = ((f_1 >= 0) & (of_unlabeled <= 1)).all(axis=1)
        return cls(of_unlabeled.clip(0, 1), of_labeled.clip(0, 1), f_u, f_l / f_u, possible)


def log_binomial(positive: Any, judged: Any, share: FloatArray) -> FloatArray:
    """Logarithm of the probability of the verdicts, up to a constant."""
    from scipy.special import xlog1py, xlogy

    return np.asarray(xlogy(positive, share) + xlog1py(judged - positive, -share))


class Weighed(NamedTuple):
    """Draws from the posterior: alpha and beta, positives by stratum, and the spread of strata.

    ``ratio`` is that of the shares of labeled and unlabeled rows in the first stratum of verdicts.
    """

    shares: FloatArray
    purity: FloatArray
    spread: FloatArray
    ratio: FloatArray


def weigh(
    shares: FloatArray,
    weight: FloatArray,
    strata: Strata,
    n: int,
    rng: np.random.Generator,
    hits: Strata | None = None,
) -> Weighed | None:
    """Draw from the posterior; None if the verdicts are impossible for all shares."""
    purity = Purity.of(shares, strata, rng)
    ratio = purity.ratio[:, 0]
    with np.errstate(divide="ignore"):
        log = np.log(weight)
    log += log_binomial(strata.labeled_positive, strata.labeled_judged, purity.of_labeled).sum(1)
    if hits is not None:
        followed = Purity.of(shares, hits, rng)
        ratio = ratio if strata.judged.any() else followed.ratio[:, 0]
        likelihood = log_binomial(hits.positive, hits.judged, followed.of_unlabeled).sum(axis=1)
        log += np.where(followed.possible, likelihood, -np.inf)
    several = np.count_nonzero(strata.judged) > 1
    spreads, priors = (_SPREADS, _SPREAD_WEIGHTS) if several else (np.zeros(1), np.ones(1))
    moves, least = (_SHIFTS, _LEAST_PURITY) if several else (np.zeros(1), _EDGE)
    # The probability of each shift of the log odds, by spread.
    shifts = np.exp(-0.5 * (moves / np.maximum(spreads, _EDGE)[:, None]) ** 2)
    shifts /= shifts.sum(axis=1, keepdims=True)
    center = purity.of_unlabeled.clip(least, 1 - least)
    center = np.log(center / (1 - center))
    odds = log[:, None] + np.log(priors)
    likely = {}
    for s in np.flatnonzero(strata.judged).tolist():
        found = 1 / (1 + np.exp(-center[:, s, None] - moves))
        found = log_binomial(strata.positive[s], strata.judged[s], found)
        most = found.max(axis=1, keepdims=True)
        likely[s] = np.exp(found - most)
        with np.errstate(divide="ignore"):
            odds += most + np.log(likely[s] @ shifts.T)
    # Hidden positives that differ from the labeled ones may lie where these do not; others may not,
    # which is no evidence against them.
    odds[:, 0] -= np.log(max(weight[purity.possible].sum() / weight.sum(), _EDGE))
    odds[~purity.possible, 0] = -np.inf
    if not np.isfinite(odds.max()):
        return None
    odds = np.exp(odds - odds.max())
    place, spread = np.divmod(rng.choice(odds.size, n, p=odds.ravel() / odds.sum()), len(spreads))
    found = purity.of_unlabeled[place]
    for s in range(found.shape[1] if several else 0):
        cells = shifts[spread] * (likely[s][place] if s in likely else 1.0)
        reached = cells.cumsum(axis=1)
        at = (reached < reached[:, -1:] * rng.random((n, 1))).sum(axis=1)
        found[:, s] = 1 / (1 + np.exp(-center[place, s] - moves[at]))
    # The share of positives among all unlabeled rows, whatever the labels are like.
    alpha = (found * purity.share[place]).sum(axis=1)
    beta = shares[place, 1]
    kept = np.column_stack((np.minimum(alpha, beta * (1 - 1e-6)), beta))
    return Weighed(kept, found, spreads[spread], ratio[place])


class Outlook(NamedTuple):
    r"""How wide the interval of a figure is, and what answers about some rows would do to it.

    Let p be the share of positives among these rows. Its posterior mean and variance are those of
    a beta distribution worth :math:`m` answers. If p explains the share :math:`\rho^2` of the
    variance of the figure, the best linear estimate of the figure from n answers leaves the share
    :math:`1 - \rho^2 n / (n + m)` of its variance.
    """

    width: float
    explained: float
    worth: float
    n_left: int
    """Rows that can be judged."""

    @classmethod
    def of(cls, values: FloatArray, share: FloatArray, n_left: int, level: float) -> Outlook:
        """Of draws of the figure, with the share of positives among the rows in each of them."""
        low, high = interval_ends(values, level)
        mean, variance = share.mean(), max(share.var(), _EDGE**2)
        explained = np.cov(share, values)[0, 1] ** 2 / (variance * max(values.var(), _EDGE**2))
        worth = max(mean * (1 - mean) / variance - 1, 0.0)
        return cls(high - low, min(float(explained), 1.0), float(worth), n_left)

    def width_after(self, n: int) -> float:
        """Return how wide the interval is expected to be after so many answers."""
        left = 1 - self.explained * n / (n + self.worth) if n else 1.0
        return self.width * max(left, 0.0) ** 0.5

    def n_for(self, width: float) -> int | None:
        """How many answers make it so narrow; None if no number, or all rows, would not do."""
        if width >= self.width:
            return 0
        need = 1 - (width / self.width) ** 2
        if self.explained <= need:
            return None
        n = max(ceil(self.worth * need / (self.explained - need)), 1)
        return n if n <= self.n_left else None


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditPosterior(Frozen):
    """Alpha and beta from scores together with judged rows, a past hit rate or ranges.

    Attributes
    ----------
    proportions : MixtureProportions
        Posterior means.
    intervals : mapping of str to Interval
        Of ``"alpha"``, ``"beta"`` and ``"delta"``, which is beta - alpha.
    from_scores : Interval
        Alpha by the scores alone.
    purity : tuple of Interval
        Share of positives among the unlabeled rows of each stratum, from the highest scores down;
        of all unlabeled rows if none was judged.
    n_positive : tuple of Interval
        Numbers of positives among them.
    tail_probability : float
        Probability, by the scores alone, of verdicts, hits or ranges at least as far off, on both
        sides.
    disagreement : float or None
        Probability that the strata differ by more than chance from what one alpha makes of them,
        which labels at random do not do; None where the judged unlabeled rows are of one stratum.
    easier : float or None
        Probability that, of the labeled rows, a larger share lies in the highest stratum than of
        the hidden positives; None in the same case.
    judged : JudgedRows or None
        The verdicts, if there are any.
    ranges : mapping of str to tuple of float
        Ranges that were given, by parameter.
    hits : tuple of int or None
        Positives, and rows followed up, if they were given.
    wider : str
        Why the AUC is less certain than by the scores alone; empty if it is not.
    """

    estimates_beta: ClassVar[bool] = True
    interval_method: ClassVar[str] = "posterior"

    proportions: MixtureProportions
    intervals: Mapping[str, Interval]
    from_scores: Interval
    purity: tuple[Interval, ...]
    n_positive: tuple[Interval, ...]
    tail_probability: float
    disagreement: float | None
    easier: float | None
    judged: JudgedRows | None
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    hits: tuple[int, int] | None = None
    wider: str = ""
    _draws: FloatArray = field(repr=False)
    _seen: FloatArray | None = field(repr=False)
    """Ratio of labeled to unlabeled rows on top, as a logarithm, and observed AUC by chance; None
    where ranges alone restrict the draws."""
    _cut: float = field(repr=False)
    purity_draws: FloatArray = field(repr=False)

    @property
    def alpha(self) -> Interval:
        """The share of positives among the unlabeled."""
        return self.intervals["alpha"]

    @property
    def believed(self) -> MixtureProportions:
        """The proportions."""
        return self.proportions

    @property
    def conflict(self) -> bool:
        """Whether scores and judged rows contradict each other."""
        return self.tail_probability < CONFLICT

    @property
    def doubt(self) -> str:
        """Reason against a common posterior, as a sentence; empty if there is none."""
        if not self.conflict:
            return ""
        what = "what is given" if self.judged is None else "judged rows"
        chance = f"(p = {self.tail_probability:.2g})"
        return f"scores and {what} contradict each other {chance}"

    @property
    def unlike(self) -> str:
        """How hidden positives differ from labeled ones; empty if the strata fit one alpha."""
        if self.disagreement is None or self.easier is None or self.disagreement <= DISAGREE:
            return ""
        how = "lower" if self.easier > 0.5 else "higher"
        return (
            f"strata of the score do not fit one alpha (probability {self.disagreement:.2g}): "
            f"hidden positives score {how} than labeled ones"
        )

    @property
    def if_skipped(self) -> tuple[float, float] | None:
        """Alpha if all rows that judges skipped were negative, and if all were positive.

        None where no unlabeled row was skipped, or none judged.
        """
        if self.judged is None:
            return None
        strata, design = Strata.of(self.judged), self.judged.design
        here = ~design.labeled & (self.judged.verdicts < 0)
        skipped = np.bincount(design.stratum[here], minlength=strata.judged.size)
        if not skipped.any() or not strata.judged.any():
            return None
        low, high = (
            np.average(self._draws[:, 0], weights=(each.clip(_EDGE) ** skipped).prod(axis=1))
            for each in (1 - self.purity_draws, self.purity_draws)
        )
        return float(low), float(high)

    def draws(self, n: int, rng: np.random.Generator | None = None) -> FloatArray:
        """Draw alpha and beta from the posterior.

        Parameters
        ----------
        n : int
            Number of rows.
        rng : numpy.random.Generator, optional
            Where randomness comes from; a fixed seed by default.

        Returns
        -------
        ndarray of shape (n, 2)
            The draws.
        """
        rng = np.random.default_rng(0) if rng is None else rng
        return np.asarray(self._draws[rng.integers(len(self._draws), size=n)])

    def proportions_many(self, counts: ScoreCounts, labeled: Any, unlabeled: Any) -> FloatArray:
        """Draw alpha and beta for replicates of the counts, one row each.

        Verdicts show the share of positives above the cut, and alpha follows from it by the shares
        of labeled and unlabeled rows there. A replicate gets a draw with nearly the same ratio of
        these, and an observed AUC nearly as high by chance. Without verdicts and hits it gets one
        as by the scores alone, from the draws in the ranges.
        """
        from scipy.spatial import KDTree

        from purecover.estimators.reference import chance_of_auc, coupled

        if self._seen is None:
            return coupled(self._draws, counts, labeled, unlabeled)
        rng = np.random.default_rng(zlib.crc32(np.ascontiguousarray(labeled).tobytes()))
        high = counts.thresholds >= self._cut
        f_l, f_u = (side[:, high].sum(axis=1) / side.sum(axis=1) for side in (labeled, unlabeled))
        ratio = np.log(f_l.clip(_EDGE) / f_u.clip(_EDGE))
        seen = np.column_stack((ratio, chance_of_auc(counts, labeled, unlabeled)))
        scale = self._seen.std(axis=0).clip(_EDGE)
        near = KDTree(self._seen / scale).query(seen / scale, _NEAR)[1]
        chosen = near[np.arange(len(near)), rng.integers(_NEAR, size=len(near))]
        return np.asarray(self._draws[chosen])

    def figure(self, name: str, counts: ScoreCounts) -> FloatArray:
        """Return draws of a figure: recall and precision are those of unlabeled rows on top."""
        alpha, beta = self._draws.T
        if name == "auc" and self._seen is not None:
            seen = counts.auc_pu + _error_of_auc(counts) * self._seen[:, 1]
            return np.asarray((0.5 + (seen - 0.5) / (beta - alpha)).clip(0, 1))
        if name in ("alpha", "positives"):
            return alpha * (counts.n_unlabeled if name == "positives" else 1)
        top = self.purity_draws[:, 0]
        share = counts.unlabeled[counts.thresholds >= self._cut].sum() / counts.n_unlabeled
        return np.asarray((top * share / alpha.clip(_EDGE)).clip(0, 1) if name == "recall" else top)

    def interval(self, *, confidence_level: float) -> dict[str, Interval]:
        """Return the intervals of alpha, beta and delta, as an estimator does."""
        return _intervals(self._draws, confidence_level)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        if self.judged is None:
            return plain_fields(self, "conflict")
        design, counts = self.judged.design, Strata.of(self.judged)._asdict()
        del counts["cut"]
        judged = {"cuts": design.cuts, "design": design.kind, "skipped": self.judged.n_skipped}
        return plain_fields(self, "conflict", judged=judged | counts)

    def __str__(self) -> str:
        lines = [] if self.judged is None else self._lines_of(self.judged)
        if self.hits is not None:
            lines.append("{:,} of {:,} rows followed up were positive".format(*self.hits))
        for name, (low, high) in self.ranges.items():
            lines.append(f"{name} lies between {low:g} and {high:g}")
        alone = _in_words(self.from_scores)
        lines.append(f"alpha {_in_words(self.alpha)}; by the scores alone {alone}")
        lines.append(f"beta  {_in_words(self.intervals['beta'])}")
        if self.if_skipped is not None:
            skipped = "alpha is {:.3f} if all rows that were skipped are negative, {:.3f} if all"
            lines.append(f"{skipped} are positive".format(*self.if_skipped))
        if self.wider:
            lines.append(self.wider)
        for each in filter(None, (self.doubt, self.unlike)):
            lines.append(
                f"{each}: labels did not go to positives at random, or "
                f"{'what is given is' if self.judged is None else 'verdicts are'} wrong"
            )
        return "\n".join(lines)

    def _lines_of(self, judged: JudgedRows) -> list[str]:
        strata, design, lines = Strata.of(judged), judged.design, []
        for s, (purity, count) in enumerate(zip(self.purity, self.n_positive, strict=True)):
            if not strata.judged[s]:
                continue
            where = design.where(s)
            found = f"{strata.positive[s]:,} of {strata.judged[s]:,} judged unlabeled rows"
            lines.append(f"{found} with {where} are positive")
            numbers = f"{count.estimate:,.0f} ({count.low:,.0f} to {count.high:,.0f})"
            every = f"  of all {strata.n_unlabeled[s]:,} there: {numbers}"
            lines.append(f"{every}, precision {_in_words(purity)}")
        if (n := strata.labeled_judged.sum()) > 0:
            k = strata.labeled_positive.sum()
            lines.append(f"{k:,} of {n:,} judged labeled rows are positive")
        return lines


def _in_words(interval: Interval) -> str:
    return f"{interval.estimate:.3f} ({interval.low:.3f} to {interval.high:.3f})"


@public
def combine(
    judged: JudgedRows,
    scores: ArrayLike,
    labeled: ArrayLike,
    *,
    estimator: Any = None,
    beta: float | tuple[float, float] | None = None,
    negative_label: Any = None,
    confidence_level: float = 0.95,
    random_state: RandomState = 0,
) -> AuditPosterior:
    r"""Alpha and beta from judged rows and scores, in one posterior.

    Parameters
    ----------
    judged : JudgedRows
        The verdicts: ``draw(scores, labeled).answer(...)``, or ``JudgedRows.from_array(...)``.
    scores, labeled : array-like of shape (n,)
        The data that the rows were drawn from.
    estimator : PriorEstimator or str, optional
        What estimates alpha and beta from the scores; the default one if left out.
    beta : float or pair of floats, optional
        Share of positives among the labeled, or the range it lies in; 1 means clean labels.
    negative_label : object, optional
        The label of rows that are known to be negative, as in :func:`draw`.
    confidence_level : float, default=0.95
        Probability of the intervals.
    random_state : int, numpy.random.Generator or None, default=0
        Where randomness comes from.

    Returns
    -------
    AuditPosterior
        Proportions and intervals; pass it on as ``evaluate(..., proportions=...)``, whose
        intervals then include what is left open.

    Raises
    ------
    ContradictionError
        If no alpha and beta are possible after the verdicts.

    See Also
    --------
    draw : Which rows to judge.
    plan : How many.

    Notes
    -----
    Let :math:`F_U, F_L` be the shares of unlabeled and labeled rows in a stratum. Where labels
    went to positives at random, the share of the positives there is :math:`F_1`, and the shares of
    positives among its unlabeled and among its labeled rows are

    .. math::

        F_1 = \frac{(1-\alpha) F_L - (1-\beta) F_U}{\beta - \alpha}, \qquad
        \kappa = \frac{\alpha F_H}{F_U}, \qquad \lambda = \frac{\beta F_1}{F_L},

    where :math:`F_H` is the share of the positives among these unlabeled rows: it differs from
    :math:`F_1` as a sample of :math:`\alpha n_U` rows does. A draw of alpha and beta from the
    posterior of the scores, with shares drawn from Dirichlet distributions of the counts, gets the
    weight :math:`\kappa^k (1-\kappa)^{n-k} \lambda^h (1-\lambda)^{m-h}` if k of n judged unlabeled
    rows and h of m judged labeled rows are positive. One draw in seven is uniform over what the
    scores allow, so that verdicts that contradict the posterior of the scores win.

    With verdicts on unlabeled rows of two or more strata the odds of :math:`\kappa` are shifted in
    each by a normal :math:`\delta_s \sim N(0, \tau)`, with :math:`\tau = 0` (labels at random) or
    half-Cauchy of scale 0.7, with equal probabilities. Alpha is then :math:`\sum \kappa_s F_{U,s}`,
    right whatever the labels are like if there are verdicts enough in each stratum, and the
    probability of :math:`\tau > 0` is the ``disagreement``.

    A report gives each of its replicates a draw that goes with nearly the same ratio
    :math:`F_L/F_U` on top and an observed AUC nearly as high by chance: the first determines alpha
    for given :math:`\kappa`, and a sample whose AUC is high by chance calls for less correction.

    The verdicts must be right: judges who take a share e of the negatives for positives make alpha
    too large by up to e. Rows without a verdict count as not drawn; if these are the doubtful ones,
    alpha is wrong.

    Examples
    --------
    >>> import purecover as pu
    >>> sample = pu.simulate.binormal(2.0).sample(500, 5000, alpha=0.3, random_state=0)
    >>> design = pu.audit.draw(sample.scores, sample.labeled, n=10)
    >>> judged = design.answer(sample.truth[design.rows])
    >>> both = pu.audit.combine(judged, sample.scores, sample.labeled)
    >>> both.alpha.width < both.from_scores.width, 0.3 in both.alpha
    (True, True)
    """
    hint = "draw(scores, labeled).answer(verdicts), or JudgedRows.from_array(..., design='random')"
    valid.check_instance("judged", judged, JudgedRows, hint)
    data = ScoredLabels.read(scores, labeled, negative_label)
    judged.check_data(data)
    given = GivenProportions(beta=beta, estimator=estimator).validated(
        can_estimate=True, can_vary=True
    )
    how: Any = {"confidence_level": confidence_level, "random_state": random_state}
    return posterior_of(data.counts, given, judged, **how)


def posterior_of(
    counts: ScoreCounts,
    given: GivenProportions,
    judged: JudgedRows | None = None,
    *,
    strata: Strata | None = None,
    confidence_level: float = 0.95,
    random_state: RandomState = 0,
) -> AuditPosterior:
    """Return the posterior of alpha and beta given counted scores and all that is known.

    ``given`` has ranges, a past hit rate, a number for beta, or nothing. Without judged rows the
    purities are those of ``strata``, by default of all rows.
    """
    level = check_level(confidence_level)
    rng = valid.check_random_state(random_state)
    asked, beta = check_estimator(given.estimator), given.known_beta
    if judged is not None:
        strata = Strata.of(judged)
        if not strata.judged.any():
            hint = "fill in the column of verdicts, 'positive' in a drawn file, with yes or no"
            raise valid.bad_value("judged", "rows with a verdict on an unlabeled one", "none", hint)
    elif strata is None:
        strata = Strata(*(each[:1] for each in Strata.above(counts, -np.inf)[:6]))  # type: ignore[arg-type]
    hits = None
    if given.hits is not None:
        hits = Strata.above(counts, cut_of_hits(counts, *given.hits, given.hits_from), *given.hits)
    alone = judged is None and hits is None and not given.ranges
    known, shares, weight, tails = _prior_draws(asked, counts, given, rng, alone=alone)
    found = within = None
    if judged is None and hits is None and given.ranges:
        within = _draws_within(asked, counts, given, rng)
    if within is not None:
        purity = Purity.of(within, strata, rng)
        none = np.zeros(len(within))
        found = Weighed(within, purity.of_unlabeled, none, purity.ratio[:, 0])
    else:
        found = weigh(shares, weight, strata, N_DRAWS, rng, hits)
    if found is None:
        raise ContradictionError(
            "{function} finds no alpha and beta that the verdicts allow.\n"
            "Hint: leave beta out if labels may be wrong, or look at the verdicts again"
        )
    top = strata if hits is None or strata.judged.any() else hits
    left = np.maximum(strata.n_unlabeled - strata.judged, 0)
    positive = strata.positive + rng.binomial(left, found.purity)

    interval = partial(interval_of, level=level)
    origin = given.resolve(counts).origin if given.ways else full_name(asked)
    origin += "" if judged is None else " and audit"
    origin += "" if hits is None else " and hits"
    for name, (low, high) in given.ranges.items():
        word = ", beta between" if name == "beta" else f" and {name.replace('_', ' ')} of"
        to = "and" if name == "beta" else "to"
        origin += f"{word} {100 * low:.3g} {to} {100 * high:.3g} %"
    seen = {
        "judged": bool(strata.judged.any()),
        "judged-labeled": bool(strata.labeled_judged.any()),
        "hits": hits is not None,
    }
    basis = [Basis(what) for what, there in seen.items() if there]  # type: ignore[arg-type]
    basis += [Basis(name, low, high) for name, (low, high) in given.ranges.items()]  # type: ignore[arg-type]
    if beta is not None:
        basis.append(Basis("beta", beta, beta))
        origin += ", beta given"
    elif "beta" not in given.ranges and not strata.labeled_judged.any():
        origin += ", beta from the scores"
    for each in (strata, hits):
        if each is not None and (each.judged.any() or each.labeled_judged.any()):
            tails.append(_tail(known, each, rng))
    disagreement = easier = None
    if np.count_nonzero(strata.judged) > 1:
        disagreement, hidden = float((found.spread > 0).mean()), found.purity * strata.n_unlabeled
        on_top = hidden[:, 0] / np.maximum(hidden.sum(axis=1), _EDGE)
        easier = float((on_top < strata.n_labeled[0] / strata.n_labeled.sum()).mean())
    alpha_mean, beta_mean = map(float, found.shares.mean(axis=0))
    if (strata.judged > 0).tolist() == [True] + [False] * (strata.judged.size - 1):
        alpha_mean = _alpha_of_purity(
            float(found.purity[:, 0].mean()), beta_mean, strata, alpha_mean
        )
    beta_mean = min(beta_mean, 1.0)
    intervals = _intervals(found.shares, level)
    for name, value in (("alpha", alpha_mean), ("delta", beta_mean - alpha_mean)):
        intervals[name] = intervals[name]._around(value)
    from_scores, wider = interval(known[:, 0]), ""
    if not alone and auc_width(found.shares, counts, level) > auc_width(known, counts, level):
        wider = "The AUC is less certain than by the scores alone: " + (
            "alpha is larger, and the error of the observed AUC is divided by beta - alpha"
            if alpha_mean > from_scores.estimate
            else "what is given is not what the scores let expect"
        )
    return AuditPosterior(
        proportions=MixtureProportions(
            alpha_mean, beta_mean, origin, given.implied_scenario, tuple(basis)
        ),
        intervals=intervals,
        from_scores=from_scores,
        purity=tuple(map(interval, (positive / np.maximum(strata.n_unlabeled, 1)).T)),
        n_positive=tuple(map(interval, positive.T)),
        tail_probability=min(1.0, len(tails) * min(tails)) if tails else 1.0,
        disagreement=disagreement,
        easier=easier,
        judged=judged,
        ranges=given.ranges,
        hits=given.hits,
        wider=wider,
        _draws=found.shares,
        _seen=None if within is not None else _seen_with(found, known, counts, top, rng),
        _cut=top.cut,
        purity_draws=found.purity,
    )


def _alpha_of_purity(purity: float, beta: float, strata: Strata, otherwise: float) -> float:
    """Return the alpha by which a report finds this share of positives above the cut.

    The mean of alpha is larger, since few labeled rows above the cut make it large.
    """
    f_u, f_l = (side[0] / side.sum() for side in (strata.n_unlabeled, strata.n_labeled))
    linear = f_l - (1 - beta) * f_u + purity * f_u
    root = linear**2 - 4 * f_l * f_u * purity * beta
    if f_l == 0 or root < 0:
        return otherwise
    found = float((linear - root**0.5) / (2 * f_l))
    return found if 0 <= found < beta else otherwise


def interval_of(values: FloatArray, level: float) -> Interval:
    low, high = interval_ends(values, level)
    mean = float(values.mean())
    return Interval(
        estimate=mean,
        low=min(low, mean),
        high=max(high, mean),
        confidence_level=level,
        method="posterior quantiles",
        varied="scores and proportions",
    )


def auc_width(shares: FloatArray, counts: ScoreCounts, level: float) -> float:
    """Return the width of the interval of the AUC for draws of alpha and beta."""
    chance = np.random.default_rng(0).standard_normal(len(shares))
    excess = counts.auc_pu + _error_of_auc(counts) * chance - 0.5
    auc = (0.5 + excess / (shares[:, 1] - shares[:, 0])).clip(0, 1)
    return float(np.ptp(interval_ends(auc, level)))


def _intervals(shares: FloatArray, level: float) -> dict[str, Interval]:
    """Return intervals of alpha, beta and beta - alpha."""
    alpha, beta = shares.T
    values = {"alpha": alpha, "beta": beta, "delta": beta - alpha}
    return {name: interval_of(each, level) for name, each in values.items()}


def _error_of_auc(counts: ScoreCounts) -> float:
    return max(float(np.nan_to_num(auc_pu_variance(counts))), _EDGE) ** 0.5


def _seen_with(
    found: Weighed, known: FloatArray, counts: ScoreCounts, top: Strata, rng: np.random.Generator
) -> FloatArray:
    """Return what a sample shows with each draw: the ratio on top, and chance in its AUC.

    A sample whose AUC is high by chance has many labeled rows on top, and calls for less
    correction.
    """
    from scipy.special import ndtri

    from purecover.estimators.reference import COUPLING

    ratio = np.log(found.ratio.clip(_EDGE))
    deltas = np.sort(known[:, 1] - known[:, 0])
    place = np.searchsorted(deltas, found.shares[:, 1] - found.shares[:, 0]) + 0.5
    chance = COUPLING * ndtri(place / (deltas.size + 1))
    # Covariance of the observed AUC with the logarithm of the ratio, whose mean is the middle.
    high, (covariance, variance, middle) = counts.thresholds >= top.cut, np.zeros(3)
    sides = counts.labeled + _EDGE, counts.unlabeled + _EDGE
    for side, other, sign in zip(sides, sides[::-1], (1, -1), strict=True):
        above = (np.cumsum(other) - other / 2) / other.sum()
        n, share = side.sum(), side[high].sum() / side.sum()
        on_top = np.average(above[high], weights=side[high])
        covariance += (np.average(above, weights=side) - on_top) / n
        variance += (1 - share) / share / n
        middle += sign * np.log(share)
    error, linked = _error_of_auc(counts), 0.0
    if variance > _EDGE:
        chance += covariance / (variance * error) * (ratio - middle)
        linked = covariance**2 / variance / error**2
    rest = max(1 - COUPLING**2 - linked, 0.0) ** 0.5
    return np.column_stack((ratio, chance + rest * rng.standard_normal(ratio.size)))


def that_say_something(
    given: GivenProportions, counts: ScoreCounts, *, audited: bool
) -> GivenProportions:
    """Leave out the ranges that exclude nothing that would count without them, and empty hits.

    What says nothing changes nothing then, to the last digit.
    """
    from purecover.estimators.reference import N_DRAWS as DRAWN

    dropped: dict[str, Any] = {}
    if given.hits is not None and given.hits[1] == 0:
        dropped = {"hits": None, "hits_from": None}
    if given.ranges and not given.ways:
        rng, beta = np.random.default_rng(0), given.known_beta
        draws = posterior_draws(check_estimator(given.estimator), counts, beta, rng, DRAWN)
        if audited or (given.hits is not None and not dropped):
            anywhere = uniform_draws(counts, beta, DRAWN, rng, confidence_level=ALMOST_SURE)
            draws = np.concatenate((draws, anywhere))
        for name, values in given.implied(counts, draws).items():
            low, high = given.ranges[name]
            if low <= values.min() and values.max() <= high:
                dropped |= {name: None}
        if "label_frequency" in dropped:
            dropped["scenario"] = given.implied_scenario
    return replace(given, **dropped)


def _draws_within(
    estimator: Any, counts: ScoreCounts, given: GivenProportions, rng: np.random.Generator
) -> FloatArray | None:
    """Return the estimator's own draws in the ranges; None if it has none, or hardly any fits."""
    from purecover.estimators.reference import N_DRAWS as DRAWN

    if given.ways or not hasattr(estimator, "draws"):
        return None
    for n in (DRAWN, MANY_DRAWS):
        draws = posterior_draws(estimator, counts, given.known_beta, rng, n)
        inside = np.ones(len(draws), dtype=bool)
        for name, values in given.implied(counts, draws).items():
            low, high = given.ranges[name]
            inside &= (values >= low) & (values <= high)
        if inside.sum() >= ENOUGH:
            return draws[inside][:N_DRAWS]
    return None


def _prior_draws(
    estimator: Any,
    counts: ScoreCounts,
    given: GivenProportions,
    rng: np.random.Generator,
    *,
    alone: bool,
) -> tuple[FloatArray, FloatArray, FloatArray, list[float]]:
    """Return draws by the scores alone, then draws in the ranges with their weights.

    Of the latter few are uniform over what the scores allow. The last are tail probabilities of
    the ranges by the scores alone.
    """
    beta, n, anywhere, level = given.known_beta, N_DRAWS, N_DRAWS // 4, 0.95
    if given.ranges:  # of which many leave few
        n, anywhere, level = MANY_DRAWS, MANY_DRAWS, ALMOST_SURE
    known = posterior_draws(estimator, counts, beta, rng, n)
    if alone:
        return known, known, np.ones(len(known)), []
    sources = [known, uniform_draws(counts, beta, anywhere, rng, confidence_level=level)]
    parts: list[FloatArray] = []
    weights: list[FloatArray] = []
    tails: list[float] = []
    for draws, whole in zip(sources, (1 - ANYWHERE, ANYWHERE), strict=True):
        inside = np.ones(len(draws), dtype=bool)
        for name, values in given.implied(counts, draws).items():
            low, high = given.ranges[name]
            inside &= (values >= low) & (values <= high)
            if not parts:
                tails.append(2 * float(min((values <= high).mean(), (values >= low).mean())))
        kept = draws[inside][:N_DRAWS]
        parts.append(kept)
        weights.append(np.full(len(kept), whole * inside.mean() / max(len(kept), 1)))
    shares = np.concatenate(parts)
    weight = np.concatenate(weights)
    if given.ways:  # a number that alpha follows from, with a range of beta
        shares = np.column_stack((given.alpha_at(counts, shares[:, 1]), shares[:, 1]))
        fits = (shares[:, 0] >= 0) & (shares[:, 0] < shares[:, 1])
        shares, weight = shares[fits], weight[fits]
    if not weight.any():
        _refuse_ranges(counts, given)
    return known, shares, weight, tails


def _refuse_ranges(counts: ScoreCounts, given: GivenProportions) -> NoReturn:
    """Say which values the scores allow: those that a report shows."""
    from purecover.estimators.inclusion import allowed_shares

    ends = allowed_shares(counts, 0.95, given.known_beta)
    (_, alpha), (low_beta, beta) = ends["alpha"], ends["beta"]
    corners = np.array([(0.0, beta), (0.0, low_beta), (alpha, beta)])
    said = [
        f"{name} between {values.min():.3g} and {rounded_down(values.max()):g}, not "
        f"between {given.ranges[name][0]:g} and {given.ranges[name][1]:g}"
        for name, values in given.implied(counts, corners).items()
    ]
    raise ContradictionError(
        "{function} finds no alpha and beta in the range: the scores allow "
        f"{', and '.join(said)}.\nHint: check the label column, and whether the range is of "
        "another population"
    )


def cut_of_hits(counts: ScoreCounts, _positive: int, followed: int, where: Any) -> float:
    """Return the score from which on rows were followed up."""
    if isinstance(where, float):
        if not counts.unlabeled[counts.thresholds >= where].sum() > 0:
            must = "a score that an unlabeled row reaches"
            raise valid.bad_value("hits_from", must, f"{where:g}")
        return where
    size = followed if where is None else int(where.removeprefix(TOP))
    if size > counts.n_unlabeled:
        must = f"of at most {counts.n_unlabeled:,.10g} rows, the unlabeled ones"
        raise valid.bad_value("hits" if where is None else "hits_from", must, f"{size:,}")
    return cut_of_top(counts, size)


def posterior_draws(
    estimator: Any,
    counts: ScoreCounts,
    beta: float | None,
    rng: np.random.Generator,
    n: int,
) -> FloatArray:
    """Return alpha and beta by the scores alone, one row each."""
    from purecover.estimators.replicates import proportion_draws
    from purecover.intervals.resampling import resampler_for

    with_clean_labels(estimator, beta).fit(counts)
    if hasattr(estimator, "draws"):
        found = estimator.draws(n)
    else:
        found = proportion_draws(estimator, resampler_for(counts), N_RESAMPLES, rng)
    n, found = len(found), found[~np.isnan(found[:, 0])]
    if 2 * len(found) < n:
        raise ContradictionError(
            "{function} finds no estimate in most replicates of the scores.\n"
            "Hint: the default estimator always has one"
        )
    if beta is not None:
        found = np.column_stack((beta * found[:, 0] / found[:, 1], np.full(len(found), beta)))
    return found[found[:, 0] < found[:, 1]]


def uniform_draws(
    counts: ScoreCounts,
    beta: float | None,
    n: int,
    rng: np.random.Generator,
    *,
    confidence_level: float = 0.95,
) -> FloatArray:
    """Draw alpha and beta anywhere that the scores allow: half with clean labels, half without."""
    from purecover.estimators.inclusion import inclusion_bound
    from purecover.estimators.label_curve import alpha_of, beta_of

    a = rng.uniform(0, min(inclusion_bound(counts, confidence_level=confidence_level), 0.999), n)
    if beta is not None:
        return np.column_stack((a * beta, np.full(n, beta)))
    most = inclusion_bound(counts.flipped(), confidence_level=confidence_level)
    b = rng.uniform(0, min(most, 0.999), n)
    b *= np.arange(n) % 2
    return np.column_stack((alpha_of(a, b), beta_of(a, b)))


def _tail(known: FloatArray, strata: Strata, rng: np.random.Generator) -> float:
    """Probability of as many positives, or of as few, by the scores alone."""
    purity = Purity.of(known, strata, rng)
    here = purity.possible if purity.possible.any() else slice(None)
    sides = []
    for positive, judged, share in (
        (strata.positive, strata.judged, purity.of_unlabeled),
        (strata.labeled_positive, strata.labeled_judged, purity.of_labeled),
    ):
        if judged.any():
            drawn = rng.binomial(judged, share[here]).sum(axis=1)
            found = positive.sum()
            sides += [float((drawn <= found).mean()), float((drawn >= found).mean())]
    return min(1.0, len(sides) * min(sides))
